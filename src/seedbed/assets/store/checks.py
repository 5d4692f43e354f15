"""What a draft must be before anything is written; everything wrong with it is said at once."""

import json
import re
import uuid as uuids
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import PurePosixPath

from seedbed.assets.store.bundle import (
    PYTHON_TYPES,
    SHEET,
    ArrayType,
    Bundle,
    Draft,
    DraftArray,
    DraftFile,
    DraftItem,
    FileLink,
)
from seedbed.base.errors import Damaged, InvalidInput, Unsafe
from seedbed.base.ids import canonical_json
from seedbed.base.names import problems_of_name

_LONGEST = 255  # bytes of a name, as file systems have it
_MOST_PROBLEMS = 20
_DIGEST = re.compile(r"[0-9a-f]{64}")


def check_drafts(drafts: Sequence[Draft]) -> None:
    """Refuse drafts that cannot be published, with every reason."""
    problems = [f"{draft.name!r}: {problem}" for draft in drafts for problem in _problems(draft)]
    if problems:
        shown, more = problems[:_MOST_PROBLEMS], len(problems) - _MOST_PROBLEMS
        raise InvalidInput("This cannot be published.", problems=[*shown, f"and {more} more"] if more > 0 else shown)


def name_problems(what: str, name: object) -> Iterable[str]:
    """What is wrong with a name that people give: of a kind, a tag."""
    if not isinstance(name, str) or not name.strip() or name != name.strip():
        yield f"{what} must be a text that is not blank and has no blanks around it (given: {name!r})"
    elif len(name.encode("utf-8", "replace")) > _LONGEST or not name.isprintable():
        yield f"{what} must be printable and at most {_LONGEST} bytes long (given: {name[:40]!r}…)"


def address_problems(what: str, name: object) -> Iterable[str]:
    """The same for what is asked for by its name over the network: a bundle, a context."""
    wrong = list(name_problems(what, name))
    yield from wrong or problems_of_name(what, str(name))


def tag_problems(tags: Mapping[str, str | None]) -> Iterable[str]:
    """What is wrong with tags."""
    for tag, value in tags.items():
        yield from name_problems("a tag", tag)
        if not isinstance(value, str | None) or (value is not None and len(value) > 4096):
            yield f"the value of tag {tag!r} must be a text of at most 4096 characters"


def _problems(draft: Draft) -> Iterable[str]:
    yield from address_problems("the name", draft.name)
    yield from name_problems("the kind", draft.kind)
    yield from tag_problems(draft.tags)
    if draft.uuid and not is_uuid(draft.uuid):
        yield f"{draft.uuid!r} is not a uuid"
    for name, uuid in draft.lineage.inputs:
        if not is_uuid(uuid):
            yield f"input {name!r} is not a bundle's uuid (given: {uuid!r})"
    try:
        canonical_json(dict(draft.lineage.params))
    except (TypeError, ValueError) as error:
        yield f"the parameters are not plain JSON: {error}"
    for name, array in draft.arrays.items():
        yield from _array_problems(name, array)


def _array_problems(name: str, array: DraftArray) -> Iterable[str]:
    if not safe_name(name) or "/" in name or name == SHEET:
        yield f"an array cannot be named {name!r}: letters, digits, '.', '_' and '-' are safe"
    if array.type is ArrayType.FILE:
        yield from _file_problems(name, array.items)
        return
    wanted = PYTHON_TYPES[array.type]
    for item in array.items:
        if type(item) is not wanted:
            yield f"array {name!r} is of {array.type} and has {item!r}"
        elif array.type is ArrayType.BUNDLE and not is_uuid(item):
            yield f"array {name!r} links to bundles and has {item!r}, which is not a uuid"


def _file_problems(array: str, items: Iterable[DraftItem]) -> Iterable[str]:
    names: set[str] = set()
    folders: set[str] = set()
    for item in items:
        if not isinstance(item, DraftFile | FileLink):
            yield f"array {array!r} is of files and has {item!r}"
            continue
        if not safe_name(item.name):
            yield f"a file of array {array!r} cannot be named {item.name!r}"
        elif isinstance(item, FileLink) and not is_digest(item.digest):
            yield f"{item.digest!r} is not the digest of a file"
        elif item.name in names:
            yield f"array {array!r} has two files named {item.name!r}"
        elif isinstance(item, DraftFile) and not item.path.is_file():
            yield f"there is no file {item.path}"
        names.add(item.name)
        if "/" in item.name:
            folders.update(str(parent) for parent in PurePosixPath(item.name).parents)
    for name in sorted(names & folders):
        yield f"in array {array!r}, {name!r} is both a file and a folder"


def safe_name(name: object) -> bool:
    """Whether a relative path stays where it is put: no '..', nothing absolute, nothing that a file system refuses."""
    if not isinstance(name, str) or not name or "\\" in name or "\0" in name or not name.isprintable():
        return False
    parts = name.split("/")
    return all(part not in ("", ".", "..") and len(part.encode("utf-8", "replace")) <= _LONGEST for part in parts)


def is_uuid(value: object) -> bool:
    """Whether a text is a uuid in its usual form."""
    try:
        return isinstance(value, str) and str(uuids.UUID(value)) == value
    except ValueError:
        return False


def is_digest(value: object) -> bool:
    """Whether a text is a sha256 in hex digits."""
    return isinstance(value, str) and bool(_DIGEST.fullmatch(value))


def check_manifest(content: bytes, uuid: str, tags: bytes | None = None) -> Bundle:
    """The bundle of a manifest that comes from outside, refused when it lies or names what leads out of its place."""
    try:
        bundle = Bundle.from_json(json.loads(content))
        if tags is not None:
            bundle = replace(bundle, tags={str(tag): str(value) for tag, value in json.loads(tags).items()})
    except (ValueError, AttributeError) as error:
        raise Damaged(f"it is not JSON: {error}.") from error
    if bundle.uuid != uuid:
        raise Damaged(f"it is that of {bundle.uuid}.")
    bad = [name for name in (*bundle.arrays, *(link.name for link in bundle.files)) if not safe_name(name)]
    bad += [link.digest for link in bundle.files if not is_digest(link.digest)]
    if bad or SHEET in bundle.arrays or any("/" in name for name in bundle.arrays):
        raise Unsafe(f"it has names that lead out of their place, such as {(bad or list(bundle.arrays))[0]!r}.")
    return bundle
