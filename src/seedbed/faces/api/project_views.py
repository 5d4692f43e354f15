"""What the API answers with about projects, their classes and labels."""

from typing import Self

from pydantic import Field

from seedbed.faces.api.views import View

_UUID = "01936d2e-7a10-7c3e-9d51-0c6a5f3a7b21"
_IMAGE = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"


class SettingsView(View):
    """What a project wants."""

    goal: int = Field(description="Labels of each class before training is offered.", examples=[25])
    grouping: bool = Field(description="Alike images are grouped by themselves.")
    train_by_itself: bool = Field(description="Training begins when every class has its number.")
    chooser: str = Field(description="How the next images to label are chosen.", examples=["auto"])


class ProjectView(View):
    """A project."""

    id: str = Field(examples=[_UUID])
    name: str = Field(examples=["bean leaves"])
    created: float
    owner: str
    data: str = Field(description="uuid of its data set, or empty.")
    kind: str = Field(description="classes, binary, or bins of a percentage.", examples=["classes"])
    settings: SettingsView


class ClassView(View):
    """One of a project's classes."""

    name: str = Field(examples=["rust"])
    position: int
    colour: str = Field(examples=["#1f77b4"])
    key: str = Field(description="The key on the keyboard that gives this label.")
    value: float | None = Field(description="The percentage that it stands for, in a project of bins.")
    other: bool = Field(description="It is for everything that is none of the others.")


class LabelView(View):
    """What was said of an image."""

    id: str
    image: str
    label: str = Field(examples=["rust"])
    mark: str = Field(description="Empty, skipped or unsure; the label is empty then.", examples=[""])
    by: str
    at: float
    source: str = Field(examples=["person"])


class KeptView(View):
    """How many labels were new, and the number of the project's newest event."""

    count: int
    last: int


class CountView(View):
    """How many there were."""

    count: int


class ChangeView(View):
    """One event of the feed of labels."""

    number: int
    id: str
    image: str = Field(examples=[_IMAGE])
    index: int = Field(description="The image's row in the data set; -1: it is not in it.")
    label: str = Field(examples=["rust"])
    mark: str = Field(description="Empty, skipped or unsure.")
    by: str
    at: float


class ChangesView(View):
    """What was said after a number."""

    last: int = Field(description="Give this as `after` next time.")
    classes: int = Field(
        description="Number of the newest change of a class. Where it has grown, earlier answers are to be read anew."
    )
    more: bool = Field(description="There is more than this answer holds.")
    events: list[ChangeView]


class DisagreementView(View):
    """An image that people call by different classes."""

    image: str = Field(examples=[_IMAGE])
    index: int = Field(description="Its row in the data set; -1: it is not in it.")
    said: dict[str, str] = Field(description="Person: class.", examples=[{"ada": "rust", "bob": "well"}])


class ImportedView(View):
    """What came of a file of labels."""

    format: str = Field(examples=["coco"])
    read: int = Field(description="Labels in the file.")
    count: int = Field(description="Labels that were news.")
    classes_added: list[str]
    skipped: int = Field(description="Labels of images that are not there.")

    @classmethod
    def of(cls, thing: object) -> Self:
        """The record of an import."""
        return cls.model_validate({**vars(thing), "classes_added": list(getattr(thing, "classes_added", ()))})
