"""What the API answers with while people label. `faces/client/labelling.py` mirrors them."""

from typing import Any, Self

from pydantic import Field

from seedbed.faces.api.examples import OTHER
from seedbed.faces.api.views import Time, Uuid, View
from seedbed.flows.packing import packed
from seedbed.flows.usecases.labelling import Board, Doubt, Gain, Order, Suggestions


class BoardClassView(View):
    """A class on the labelling page."""

    name: str = Field(examples=["rust"])
    colour: str = Field(examples=["#0072b2"])
    key: str = Field(description="The key on the keyboard that gives this label.", examples=["1"])
    value: float | None = Field(description="The percentage that it stands for, in a project of bins.", examples=[12.5])
    other: bool = Field(examples=[False], description="It is for everything that is none of the others.")
    count: int = Field(description="Images that have this label.", examples=[25])


class PersonView(View):
    """Somebody who has the project open."""

    name: str = Field(examples=["ada"])
    where: int = Field(description="The number of the image that they are at; -1: none.", examples=[12])
    at: Time


class TrainingView(View):
    """Where the newest training stands, in words."""

    state: str = Field(description="none, waiting, running, stopped, done, failed or cancelled.", examples=["running"])
    sentence: str = Field(examples=["It is learning; about 6 minutes left."])
    labels: int = Field(description="The labels that it began with; 0: nothing was trained yet.", examples=[84])


class BoardView(View):
    """Everything around the images on the labelling page."""

    project: Uuid
    name: str = Field(examples=["bean leaves"])
    kind: str = Field(description="classes, binary or bins.", examples=["classes"])
    data: str = Field(description="uuid of its data set, or empty.", examples=[OTHER])
    images: int = Field(examples=[1200])
    classes: list[BoardClassView]
    goal: int = Field(description="Labels per class that are asked for.", examples=[25])
    grouping: str = Field(description="off, none, waiting, running, ready or failed.", examples=["ready"])
    grouping_done: float = Field(description="The share of the grouping that is done.", examples=[1.0])
    grouping_sentence: str = Field(description="The same in words.", examples=["Alike images are grouped."])
    proposals: bool = Field(description="What the model so far takes each image for is proposed.")
    looked_at: bool = Field(description="Whether the images were looked at: proposals and orders can go by that.")
    last: int = Field(description="The number of the newest label event.", examples=[84])
    people: list[PersonView] = Field(description="Who has the project open.")
    training: TrainingView
    may_label: bool
    may_train: bool

    @classmethod
    def of(cls, thing: object) -> Self:
        """The record of a board."""
        assert isinstance(thing, Board)
        project, alike = thing.project, thing.alike
        plain = {name: getattr(thing, name) for name in ("images", "last", "may_label", "may_train")}
        return cls(
            **plain,
            project=project.id,
            name=project.name,
            kind=str(project.kind),
            data=project.data if thing.images else "",
            classes=[_class_view(one, count) for one, count in thing.classes],
            goal=project.settings.goal,
            grouping=alike.stage,
            grouping_done=alike.done,
            grouping_sentence=alike.sentence,
            proposals=project.settings.proposals,
            looked_at=alike.embeddings is not None,
            people=[PersonView.of(person) for person in thing.people],
            training=TrainingView.model_validate(thing.training),
        )


def _class_view(one: object, count: int) -> BoardClassView:
    names = [name for name in BoardClassView.model_fields if name != "count"]
    return BoardClassView(**{name: getattr(one, name) for name in names}, count=count)


class RunView(View):
    """A run of alike images in an order."""

    size: int = Field(examples=[40])
    name: str = Field(examples=["Group 1"])


class OrderView(View):
    """All images of a project in an order."""

    by: str = Field(
        description="What they are really ordered by: until what was asked for is there, 'random' or 'typical'.",
        examples=["worth"],
    )
    groups: list[RunView] = Field(description="Where alike images stand together: the runs, in order.")
    order: str = Field(
        description="The images' numbers: little-endian 32-bit integers in base64.", examples=["AAAAAA=="]
    )

    @classmethod
    def of(cls, thing: object) -> Self:
        """The record of an order."""
        assert isinstance(thing, Order)
        runs = [RunView(size=size, name=name) for size, name in thing.groups]
        return cls(by=thing.by, groups=runs, order=packed(thing.rows))


class SuggestionView(View):
    """What the labels so far, and the newest model, say of an image."""

    index: int = Field(examples=[7])
    label: str = Field(examples=["rust"])
    confidence: float = Field(examples=[0.93])


class SuggestionsView(View):
    """What the labels so far, and the newest model, say of some images."""

    suggestions: list[SuggestionView]
    labels: int = Field(alias="from", description="How many labels that goes by.", examples=[40])
    reason: str = Field(description="Why nothing can be said yet; else empty.", examples=[""])

    @classmethod
    def of(cls, thing: object) -> Self:
        """The record of suggestions."""
        assert isinstance(thing, Suggestions)
        found = [SuggestionView.of(one) for one in thing.suggestions]
        return cls(**{"suggestions": found, "from": thing.labels, "reason": thing.reason})


class SimilarView(View):
    """The images most like one, the most alike first."""

    indexes: list[int] = Field(examples=[[7, 31]])
    similarities: list[float] = Field(description="1: the same.", examples=[[0.97, 0.95]])


class GainView(View):
    """A class that more labels would help."""

    label: str = Field(alias="class", examples=["rust"])
    labels: int = Field(description="About so many.", examples=[20])
    points: float = Field(description="Points, of 100, that the class may get better by.", examples=[3.5])
    sentence: str = Field(examples=["About 20 more labels would help rust."])

    @classmethod
    def of(cls, thing: object) -> Self:
        """The record of a gain."""
        assert isinstance(thing, Gain)
        told: dict[str, Any] = {"labels": thing.labels, "points": thing.points, "sentence": thing.sentence}
        return cls(**{"class": thing.label}, **told)


class DoubtView(View):
    """A label that is probably wrong."""

    index: int = Field(examples=[7])
    given: str = Field(examples=["rust"])
    likely: str = Field(examples=["healthy"])
    confidence: float = Field(description="How likely the label is wrong.", examples=[0.4])

    @classmethod
    def of(cls, thing: object) -> Self:
        """The record of a doubt."""
        assert isinstance(thing, Doubt)
        return cls(**vars(thing))


class PeopleView(View):
    """Who has a project open."""

    people: list[PersonView]


class SeenView(View):
    """What is on an image that was dropped in."""

    file: str = Field(examples=["leaf.jpg"])
    label: str = Field("", examples=["rust"])
    confidence: float = Field(0.0, examples=[0.93])
    probabilities: dict[str, float] = Field(default_factory=dict, examples=[{"rust": 0.93, "healthy": 0.07}])
    similar: list[int] = Field(default_factory=list, description="The project's images that are most like it.")
    similar_labels: list[str] = Field(default_factory=list, description="What people said of those.")
    problem: str = Field("", description="Why it could not be looked at; else empty.")
