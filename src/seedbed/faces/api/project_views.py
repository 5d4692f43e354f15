"""What the API answers with about projects, their classes and labels."""

from typing import Self

from pydantic import Field

from seedbed.faces.api.examples import DIGEST, OTHER
from seedbed.faces.api.views import Time, Uuid, View


class SettingsView(View):
    """What a project wants."""

    goal: int = Field(description="Labels of each class before training is offered.", examples=[25])
    grouping: bool = Field(description="Alike images are grouped by themselves.")
    proposals: bool = Field(description="What the model so far takes each image for is proposed.")
    train_by_itself: bool = Field(description="Training begins when every class has its number.")
    chooser: str = Field(description="How the next images to label are chosen.", examples=["auto"])
    honeypots: float = Field(
        description="Share of the images shown whose golden label is known, to see how well people do.", examples=[0.05]
    )


class ProjectView(View):
    """A project."""

    id: Uuid
    name: str = Field(examples=["bean leaves"])
    created: Time
    owner: str = Field(examples=["ada"])
    data: str = Field(description="uuid of its data set, or empty.", examples=[OTHER])
    kind: str = Field(description="classes, binary, or bins of a percentage.", examples=["classes"])
    settings: SettingsView


class ClassView(View):
    """One of a project's classes."""

    name: str = Field(examples=["rust"])
    position: int = Field(examples=[0])
    colour: str = Field(examples=["#1f77b4"])
    key: str = Field(description="The key on the keyboard that gives this label.", examples=["1"])
    value: float | None = Field(description="The percentage that it stands for, in a project of bins.", examples=[12.5])
    other: bool = Field(examples=[False], description="It is for everything that is none of the others.")


class LabelView(View):
    """What was said of an image."""

    id: Uuid
    image: str = Field(examples=[DIGEST])
    label: str = Field(examples=["rust"])
    mark: str = Field(description="Empty, skipped or unsure; the label is empty then.", examples=[""])
    by: str = Field(examples=["ada"])
    at: Time
    source: str = Field(examples=["person"])


class KeptView(View):
    """How many labels were new, and the number of the project's newest event."""

    count: int = Field(examples=[2])
    last: int = Field(examples=[84])


class CountView(View):
    """How many there were."""

    count: int = Field(examples=[12])


class ChangeView(View):
    """One event of the feed of labels."""

    number: int = Field(examples=[84])
    id: Uuid
    image: str = Field(examples=[DIGEST])
    index: int = Field(description="The image's row in the data set; -1: it is not in it.", examples=[7])
    label: str = Field(examples=["rust"])
    mark: str = Field(description="Empty, skipped or unsure.", examples=[""])
    by: str = Field(examples=["ada"])
    at: Time


class ChangesView(View):
    """What was said after a number."""

    last: int = Field(description="Give this as `after` next time.", examples=[84])
    classes: int = Field(
        description="Number of the newest change of a class. Where it has grown, earlier answers are to be read anew.",
        examples=[3],
    )
    more: bool = Field(examples=[False], description="There is more than this answer holds.")
    events: list[ChangeView]


class DisagreementView(View):
    """An image that people call by different classes."""

    image: str = Field(examples=[DIGEST])
    index: int = Field(description="Its row in the data set; -1: it is not in it.", examples=[7])
    said: dict[str, str] = Field(description="Person: class.", examples=[{"ada": "rust", "bob": "well"}])


class AgreedView(View):
    """Two people, and the images that both have labelled."""

    first: str = Field(examples=["ada"])
    second: str = Field(examples=["bob"])
    images: int = Field(description="Images that both have labelled.", examples=[50])
    agreed: int = Field(description="Of which they say the same.", examples=[47])
    kappa: float = Field(description="Cohen's kappa: 1 all alike, 0 as good as chance.", examples=[0.91])
    sentence: str = Field(examples=["ada and bob agree on 47 of 50 images that both labelled."])


class CheckedView(View):
    """How somebody did on images whose golden label is known."""

    person: str = Field(examples=["bob"])
    asked: int = Field(description="Of so many they have said what they show.", examples=[10])
    right: int = Field(examples=[9])
    low: float = Field(description="With so few answers, their share of right ones is from here ...", examples=[0.61])
    high: float = Field(description="... to here, 19 times of 20.", examples=[0.99])
    sentence: str = Field(examples=["bob got 9 of 10 checks right."])


class QualityView(View):
    """How well a project is labelled."""

    pairs: list[AgreedView]
    images: int = Field(description="Images that two people or more have labelled.", examples=[50])
    alpha: float | None = Field(
        description="Krippendorff's alpha over all of them; null: there are none.", examples=[0.88]
    )
    golden: int = Field(description="Images with a golden label.", examples=[20])
    checks: list[CheckedView] = Field(description="By person; who is no trainer sees their own.")


class ImportedView(View):
    """What came of a file of labels."""

    format: str = Field(examples=["coco"])
    read: int = Field(description="Labels in the file.", examples=[120])
    count: int = Field(description="Labels that were news.", examples=[118])
    classes_added: list[str] = Field(examples=[["rust"]])
    skipped: int = Field(description="Labels of images that are not there.", examples=[2])

    @classmethod
    def of(cls, thing: object) -> Self:
        """The record of an import."""
        return cls.model_validate({**vars(thing), "classes_added": list(getattr(thing, "classes_added", ()))})
