"""What the API is asked with about projects, their classes and labels."""

from typing import Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from seedbed.assets.projects.classes import Kind, NewClass
from seedbed.assets.projects.labels import Mark, Source
from seedbed.faces.api.examples import UUID
from seedbed.faces.api.requests import Asked, Text
from seedbed.flows.asked import Name, Ref

Colour = Annotated[str, Field(max_length=20, examples=["#0072b2"])]
Key = Annotated[str, Field(max_length=20, description="One letter, digit or sign.", examples=["1"])]
Value = Annotated[float | None, Field(ge=0, le=100, description="The percentage that it stands for.")]
Settings = Annotated[
    dict[str, Any],
    Field(
        description="goal, grouping, proposals, train_by_itself, chooser, honeypots; null brings a default back.",
        examples=[{"goal": 40}],
    ),
]


class ClassAsked(Asked):
    """A new class; what is left empty is chosen for it."""

    name: Name = Field(examples=["rust"])
    colour: Colour = ""
    key: Key = ""
    value: Value = None
    other: bool = Field(False, description="It is for everything that is none of the others.")

    def new(self) -> NewClass:
        """As the rooms below have it."""
        return NewClass(**self.model_dump())


class ProjectAsked(Asked):
    """A new project."""

    name: Name = Field(examples=["bean leaves"])
    classes: list[Name | ClassAsked] = Field(
        default_factory=list, max_length=10_000, description="Names, or more.", examples=[["rust", "well"]]
    )
    kind: Kind = Kind.CLASSES
    bins: list[Annotated[float, Field(ge=0, le=100)]] = Field(
        default_factory=list,
        max_length=1000,
        description="Edges between bins of a percentage, which become classes: 0, 25, 50, 100.",
    )
    settings: Settings = Field(default_factory=dict)


class ProjectChange(Asked):
    """What changes of a project."""

    name: Name | None = Field(None, examples=["bean leaves of 2025"])
    kind: Kind | None = None
    settings: Settings = Field(default_factory=dict)


class ClassChange(Asked):
    """What changes of a class; what is left out stays."""

    name: Name = Field("", examples=["leaf rust"])
    colour: Colour = ""
    key: Key = ""
    value: Value = None


class OrderAsked(Asked):
    """The classes in another order."""

    order: list[Name] = Field(max_length=10_000, description="Every class once.", examples=[["rust", "well"]])


class MergeAsked(Asked):
    """The class that another is merged into."""

    into: Name = Field(examples=["well"])


class LabelAsked(Asked):
    """What somebody says of an image; an empty label takes it back."""

    id: Name = Field(description="Chosen by the sender: sending twice counts once.", examples=[UUID])
    image: Annotated[str, Field(max_length=1000)] = Field(
        "", description="Its id, or the name of its file.", examples=["a/leaf.jpg"]
    )
    index: int | None = Field(None, ge=0, le=1 << 31, description="Or its row in the data set.")
    label: Annotated[str, Field(max_length=200)] = Field(examples=["rust"])
    mark: Mark = Field(Mark.NONE, description="With an empty label: skipped, or unsure.")
    source: Literal[Source.PERSON, Source.IMPORT] = Source.PERSON

    @model_validator(mode="after")
    def _names_one_image(self) -> Self:
        if bool(self.image) == (self.index is not None):
            raise ValueError("give either image (its id or file) or index (its row in the data set)")
        return self


class LabelsAsked(Asked):
    """Label events, all or none."""

    labels: list[LabelAsked] = Field(min_length=1, max_length=100_000)
    data: Ref = Field("", description="uuid of the data set that `index` counts in; empty: the project's.")


class ImportAsked(Asked):
    """Labels to take from a file, folder or archive, or from the images themselves."""

    path: Text = Field("", description="A file, folder or archive of the server.", examples=["/srv/images/labels.csv"])
    upload: Ref = Field("", description="Or the id of an upload.")
    format: Annotated[str, Field(max_length=50)] = Field(
        "auto",
        description="auto, csv, label-studio, coco, yolo, huggingface, folders; data: the classes that the project's "
        "images came with.",
    )
    add_classes: bool = Field(True, description="Make the classes that the project lacks; else they refuse all.")
    skip_missing: bool = Field(False, description="Pass over labels of images that are not there.")
    golden: bool = Field(False, description="They are sure: others can be asked the same, to see how well they do.")
