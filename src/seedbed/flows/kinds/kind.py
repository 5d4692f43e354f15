"""What every kind has: a folder, values, and how a bundle is read from it and drafted of it."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import ClassVar, Self

from seedbed.assets.store.bundle import (
    ArrayType,
    Bundle,
    Draft,
    DraftArray,
    DraftFile,
    DraftItem,
    FileLink,
    Lineage,
    Scalar,
)
from seedbed.base.errors import Damaged, InvalidInput

Values = Mapping[str, Sequence[Scalar]]

_TYPES: dict[type, ArrayType] = {
    bool: ArrayType.BOOL,
    int: ArrayType.INT,
    float: ArrayType.FLOAT,
    str: ArrayType.STR,
}


class _Kept(dict[str, Sequence[Scalar]]):
    """Values by name; one that is missing is told in a sentence: anybody can publish files under any kind."""

    def __init__(self, values: Values, of: str) -> None:
        super().__init__(values)
        self._of = of

    def __missing__(self, name: str) -> Sequence[Scalar]:
        raise Damaged(f"{self._of} has no '{name}', so it is not what its kind says.", hint="Take another bundle.")


class Kind:
    """A bundle's folder and values. Subclasses add the words of their kind; constructors only store."""

    kind: ClassVar[str] = ""
    about: ClassVar[str] = ""
    derived: ClassVar[bool] = False  # can be rebuilt from its inputs, and goes when they go
    derived_from: ClassVar[str] = ""  # an output of the same step that it is rebuilt from and goes with

    def __init__(self, folder: Path, values: Values | None = None, *, name: str = "", uuid: str = "") -> None:
        self.folder = folder
        self.values: Values = _Kept(values or {}, f"'{name or folder.name}' ({self.kind})")
        self.name = name
        self.uuid = uuid
        self.stored: dict[str, tuple[FileLink, ...]] = {}  # files of an output that the store has already, by array

    @staticmethod
    def kind_in(folder: Path) -> str:
        """The kind of the bundle that is checked out in a folder."""
        return Bundle.read(folder).kind

    @classmethod
    def open(cls, folder: Path) -> Self:
        """The bundle that is checked out in a folder, which must be of this kind."""
        bundle = Bundle.read(folder)
        if bundle.kind != cls.kind:
            raise InvalidInput(f"'{bundle.name}' is of kind '{bundle.kind}'; this takes '{cls.kind}'.")
        values = {
            name: tuple(item for item in array.items if isinstance(item, int | float | str))
            for name, array in bundle.arrays.items()
            if array.type is not ArrayType.FILE
        }
        return cls(folder, values, name=bundle.name, uuid=bundle.uuid)

    def at(self, folder: Path) -> Self:
        """The same, in another folder."""
        moved = type(self)(folder, self.values, name=self.name, uuid=self.uuid)
        moved.stored = self.stored
        return moved

    def draft(
        self,
        *,
        name: str,
        key: str = "",
        lineage: Lineage | None = None,
        project: str = "",
        tags: Mapping[str, str] | None = None,
    ) -> Draft:
        """What the store publishes: every folder in the bundle's folder is an array of files."""
        arrays = {array: DraftArray(_type_of(items), tuple(items)) for array, items in self.values.items()}
        for place in sorted(path for path in self.folder.iterdir() if path.is_dir()):
            files = sorted(path for path in place.rglob("*") if path.is_file())
            items: tuple[DraftItem, ...] = tuple(DraftFile(path, path.relative_to(place).as_posix()) for path in files)
            arrays[place.name] = DraftArray(ArrayType.FILE, (*self.stored.get(place.name, ()), *items))
        return Draft(
            name=name,
            kind=self.kind,
            arrays=arrays,
            key=key,
            tags=dict(tags or {}),
            lineage=lineage or Lineage(),
            derived=self.derived,
            project=project,
        )

    def file(self, array: str, name: str) -> Path:
        """One file of it, which must be there."""
        path = self.folder / array / name
        if not path.is_file():
            raise Damaged(f"'{self.name or self.folder.name}' ({self.kind}) has no file {array}/{name}.")
        return path


def _type_of(items: Sequence[Scalar]) -> ArrayType:
    return _TYPES[type(items[0])] if items else ArrayType.STR


def put(path: Path, text: str) -> None:
    """Write a text into a fresh folder."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
