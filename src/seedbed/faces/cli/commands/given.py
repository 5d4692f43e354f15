"""What commands are given that lies on this machine."""

from pathlib import Path

from seedbed.base.errors import NotFound
from seedbed.faces.cli.session import Session


def labels_of(here: Session, labels: str, project: str) -> dict[str, str]:
    """A CSV of this machine goes over as an upload, also within one process; anything else is a bundle."""
    if not labels.lower().endswith(".csv"):
        return {"labels": labels}
    path = Path(labels).expanduser()
    if not path.is_file():
        raise NotFound(f"There is no file {path}.", hint="--labels takes a CSV file or the name of a labels bundle.")
    return {"labels_upload": here.client.data.upload(path, project=project)["upload"]}
