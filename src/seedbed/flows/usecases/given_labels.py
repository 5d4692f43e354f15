"""Labels that somebody brings as a CSV file, as a bundle that is yet to be published."""

from dataclasses import replace
from pathlib import Path

from seedbed.assets.access.roles import Identity
from seedbed.assets.store.bundle import Draft, Lineage
from seedbed.base.files import expanded
from seedbed.base.ids import new_id
from seedbed.flows.kinds.labels import Labels, read_labels
from seedbed.flows.outside import Roots


def is_table(given: str) -> bool:
    """Whether labels are named by a file rather than by a bundle."""
    return given.endswith(".csv")


def draft_of_table(given: str, folder: Path, *, name: str, project: str, roots: Roots, by: Identity) -> Draft:
    """A draft with its own uuid, whose files lie in the folder; refused where somebody may not read the file."""
    path = expanded(given)
    roots.check([path], by)
    labels = Labels.write(folder, read_labels(path))
    draft = labels.draft(name=name, project=project, lineage=Lineage(step="import-labels"))
    return replace(draft, uuid=new_id())
