"""Paths and uploads that a request names: each is resolved inside its root, or refused."""

import re
import shutil
from pathlib import Path

from seedbed.base.errors import InvalidInput, NotFound, Unsafe
from seedbed.base.files import inside
from seedbed.base.settings import Settings

_UPLOAD = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_WHOLE = (".zip", ".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tar.xz", ".csv")


def server_path(settings: Settings, text: str) -> Path:
    """A place of the server that the settings allow to be used over REST; whether something is there is not said."""
    path = Path(text)
    if not path.is_absolute():
        raise InvalidInput(f"'{text}' is not an absolute path.", hint="Write the path from / on, or upload the files.")
    for root in settings.import_roots:
        try:
            return inside(root, path)
        except Unsafe:
            continue
        except (OSError, RuntimeError) as error:  # a name that is too long; links that lead in circles
            raise InvalidInput(f"'{text}' cannot be a path: {error}.") from None
    allowed = ", ".join(str(root) for root in settings.import_roots) or "none"
    raise Unsafe(
        f"'{text}' is in no folder that may be used over REST (allowed: {allowed}).",
        hint="Upload the files, or let the operator add the folder to the setting import_roots.",
    )


def existing_path(settings: Settings, text: str) -> Path:
    """The same, where something is there to be read."""
    path = server_path(settings, text)
    try:
        path.stat()
    except OSError as error:
        raise InvalidInput(f"'{text}' cannot be read: {error.strerror}.") from None
    return path


def upload_path(settings: Settings, number: str) -> Path:
    """What an upload left: its one archive, list or folder, or else the folder of its files."""
    folder = settings.home / "uploads" / number
    if not _UPLOAD.fullmatch(number) or not folder.is_dir():
        raise NotFound(f"There is no upload '{number}'.", hint="POST /api/v1/uploads first; uploads are used once.")
    return content_of(folder)


def content_of(folder: Path) -> Path:
    """The one archive, list or folder that an upload consists of, or else the folder of its files."""
    found = list(folder.iterdir())
    whole = len(found) == 1 and (found[0].is_dir() or found[0].name.lower().endswith(_WHOLE))
    return found[0] if whole else folder


def source_path(settings: Settings, path: str, upload: str) -> Path:
    """What a request brings: a path of the server, or an upload; exactly one of them."""
    if bool(path) == bool(upload):
        raise InvalidInput("Give either 'path' (a folder of the server) or 'upload' (the id of an upload).")
    return existing_path(settings, path) if path else upload_path(settings, upload)


def is_list(text: str) -> bool:
    """Whether a text names a CSV file rather than a bundle."""
    return text.lower().endswith(".csv")


def labels_path(settings: Settings, labels: str, upload: str) -> str:
    """The labels that a request brings: a bundle's name as it is, or the path of a CSV that may be read."""
    if labels and upload:
        raise InvalidInput("Give either 'labels' (a bundle, or a CSV of the server) or 'labels_upload'.")
    if not upload:
        return str(existing_path(settings, labels)) if is_list(labels) else labels
    path = upload_path(settings, upload)
    if not is_list(path.name) or not path.is_file():
        raise InvalidInput(f"The upload '{upload}' is not one CSV file.", hint="Send one file whose name ends in .csv.")
    return str(with_plain_suffix(path))


def with_plain_suffix(path: Path) -> Path:
    """An upload whose name is LABELS.CSV as one whose name is LABELS.csv; any other as it is."""
    return path.rename(path.with_suffix(".csv")) if is_list(path.name) and path.suffix != ".csv" else path


def files_of_upload(settings: Settings, number: str) -> list[Path]:
    """Every file of an upload."""
    source = upload_path(settings, number)
    return sorted(path for path in source.rglob("*") if path.is_file()) if source.is_dir() else [source]


def drop_upload(settings: Settings, number: str) -> None:
    """Remove an upload that was used: what was made of it is in the store."""
    if _UPLOAD.fullmatch(number):
        shutil.rmtree(settings.home / "uploads" / number, ignore_errors=True)
