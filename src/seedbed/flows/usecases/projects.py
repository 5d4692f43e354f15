"""Projects as people use them: classes, labels, members, snapshots of labels into bundles."""

from collections.abc import Sequence

from seedbed.assets.access.roles import Identity
from seedbed.assets.projects.projects import Label, LabelEvent, Project
from seedbed.assets.store.bundle import Bundle


class Projects:
    """What people do with projects; somebody who is no member does not even see one."""

    def create(self, name: str, *, classes: Sequence[str] = (), by: Identity) -> Project:
        """A new project; its maker becomes a member with the trainer's role."""
        raise NotImplementedError

    def list(self, *, by: Identity) -> "list[Project]":
        """The projects that `by` may see."""
        raise NotImplementedError

    def get(self, ref: str, *, by: Identity) -> Project:
        """One project by id or name."""
        raise NotImplementedError

    def rename(self, ref: str, name: str, *, by: Identity) -> Project:
        """Another name; the id stays."""
        raise NotImplementedError

    def delete(self, ref: str, *, by: Identity) -> None:
        """The project and its labels go; its bundles stay in the store."""
        raise NotImplementedError

    def classes(self, ref: str, *, by: Identity) -> "list[object]":
        """Its classes in order."""
        raise NotImplementedError

    def add_class(self, ref: str, name: str, *, by: Identity) -> object:
        """One more class."""
        raise NotImplementedError

    def rename_class(self, ref: str, old: str, new: str, *, by: Identity) -> None:
        """Another name for a class and its labels."""
        raise NotImplementedError

    def remove_class(self, ref: str, name: str, *, by: Identity) -> None:
        """Take a class away."""
        raise NotImplementedError

    def set_data(self, ref: str, bundle: str, *, by: Identity) -> Project:
        """Which data set the project is about."""
        raise NotImplementedError

    def add_labels(self, ref: str, events: Sequence[LabelEvent], *, by: Identity) -> int:
        """Append label events; on disk when it returns. How many were new."""
        raise NotImplementedError

    def labels(self, ref: str, *, by: Identity) -> dict[str, Label]:
        """Image to what counts of it."""
        raise NotImplementedError

    def history(self, ref: str, image: str, *, by: Identity) -> "list[LabelEvent]":
        """Everything that was ever said of one image."""
        raise NotImplementedError

    def snapshot_labels(self, ref: str, *, by: Identity) -> Bundle:
        """The labels as they are now, as a labels bundle."""
        raise NotImplementedError
