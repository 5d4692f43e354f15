"""The look: the style sheet, the script of the browser's side, the icons."""

from functools import cache
from pathlib import Path

from seedbed.base.ids import digest_of_bytes, digest_of_file
from seedbed.faces.ui.joined import joined

ASSETS = Path(__file__).parent / "assets"
ADDRESS = "/_seedbed"  # where the assets are served
LABELLING = ASSETS / "labelling"  # the modules of the labelling page
_EARLY = "early.js"  # is no module, but part of the page

_ICONS = {
    "sprout": '<path d="M12 21v-9"/><path d="M12 14c0-4.500 2.800-7.300 8.500-7.800.2 5.400-3 8.300-8.500 7.800z"/>'
    '<path d="M12 17c0-3.600-2.400-5.900-7.500-6.300-.2 4.500 2.700 6.800 7.500 6.300z"/>',
    "home": '<path d="M4 11l8-7 8 7"/><path d="M6 9.500V20h12V9.500"/>',
    "queue": '<path d="M4 6h16"/><path d="M4 12h11"/><path d="M4 18h6"/>',
    "bundle": '<path d="M12 3l8 4.500v9L12 21l-8-4.500v-9z"/><path d="M4 7.500l8 4.500 8-4.500"/><path d="M12 12v9"/>',
    "data": '<rect x="4" y="4" width="16" height="16" rx="2.500"/><circle cx="9" cy="9.500" r="1.600"/>'
    '<path d="M4.500 17l5-4.500 3.500 3 3-2.500 4 3.500"/>',
    "machine": '<path d="M4 13h3.500l2-6 4 11 2.500-7 1 2H20"/>',
    "people": '<circle cx="9" cy="8" r="3.200"/>'
    '<path d="M3.500 19.500c.4-3.600 2.600-5.500 5.500-5.500s5.100 1.900 5.500 5.500"/>'
    '<path d="M15.500 5.200a3.200 3.200 0 0 1 0 5.700"/><path d="M17.200 14.400c1.900.8 3 2.500 3.300 5.100"/>',
    "bell": '<path d="M6.500 16.500V11a5.500 5.500 0 0 1 11 0v5.500l1.500 1.500H5z"/><path d="M10 20.500h4"/>',
    "theme": '<circle cx="12" cy="12" r="8"/><path d="M12 4a8 8 0 0 1 0 16z" fill="currentColor"/>',
    "keys": '<rect x="3" y="6" width="18" height="12" rx="2.500"/><path d="M7 10h.01M12 10h.01M17 10h.01M8 14h8"/>',
    "menu": '<path d="M4 7h16M4 12h16M4 17h16"/>',
    "leave": '<path d="M14 4H6v16h8"/><path d="M11 12h9"/><path d="M17 8.500l3.500 3.500-3.500 3.500"/>',
    "zoo": '<circle cx="7" cy="7" r="2.600"/><circle cx="17" cy="8.500" r="2.600"/>'
    '<circle cx="9.500" cy="17" r="2.600"/>'
    '<path d="M9.500 7.400l5 .8M15.600 10.700l-4.500 4.400M7.600 9.500l1.300 5"/>',
    "project": '<path d="M5 20V9"/><path d="M12 20V4"/><path d="M19 20v-7"/><path d="M3 20h18"/>',
}


def icon(name: str) -> str:
    """One icon as markup; the names are ours, never a person's."""
    return f'<svg viewBox="0 0 24 24" aria-hidden="true" focusable="false">{_ICONS[name]}</svg>'


def favicon() -> str:
    """The little picture of a browser's tab, inline: one request less."""
    return (ASSETS / "favicon.svg").read_text()


def head() -> str:
    """What goes into every page's head; the theme is set before anything is painted."""
    script, style = (_address(name) for name in ("seedbed.js", "seedbed.css"))
    return f'<script src="{script}"></script><link rel="stylesheet" href="{style}">'


@cache
def labelling_script() -> str:
    """The labelling page's modules as one."""
    return joined(LABELLING, "main")


@cache
def labelling_address() -> str:
    """Where that is served."""
    return f"{ADDRESS}-labelling/{digest_of_bytes(labelling_script().encode())[:12]}.js"


def labelling_head() -> str:
    """The labelling page's style and script."""
    style = f'<link rel="stylesheet" href="{_address("labelling.css")}">'
    early = f"<script>{(LABELLING / _EARLY).read_text()}</script>"
    return f'{early}{style}<script type="module" src="{labelling_address()}"></script>'


def way_head() -> str:
    """What the pages around labelling need besides: places to drop files on, and the look of the way's steps."""
    scripts = "".join(f'<script src="{_address(name)}"></script>' for name in ("drop.js", "tryout.js"))
    return f'<link rel="stylesheet" href="{_address("way.css")}">{scripts}'


def zoo_head() -> str:
    """The look of the zoo's pages."""
    return f'<link rel="stylesheet" href="{_address("zoo.css")}">'


def _address(name: str) -> str:
    # the digest lets browsers keep the file for good and still see a new one at once
    return f"{ADDRESS}/{name}?v={digest_of_file(ASSETS / name)[:12]}"
