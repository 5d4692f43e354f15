"""Names that can stand in an address: of bundles, of contexts, and of the jobs that bundles are named after."""

_NOT_IN_NAMES = "/\\?#"  # where an address is taken apart, by servers, proxies and browsers
DOTS = (".", "..")  # and what they take for a folder


def problems_of_name(what: str, name: str) -> list[str]:
    """Why a name could not be asked for over the network, a sentence at most; none: it can."""
    if not name.isprintable():
        return [f"{what} must be printable (given: {name[:40]!r})"]
    if name in DOTS or any(sign in name for sign in _NOT_IN_NAMES):
        return [f"{what} cannot be '.' or '..', nor have one of {' '.join(_NOT_IN_NAMES)} in it (given: {name[:40]!r})"]
    return []


def in_a_name(text: str) -> str:
    """A text as it can be a name or the beginning of one: what cannot stand there becomes a dash."""
    changed = "".join("-" if sign in _NOT_IN_NAMES or not sign.isprintable() else sign for sign in text).strip()
    return "-" if changed in ("", *DOTS) else changed
