"""/projects/{ref}/...: what the labelling page asks while people label."""

from typing import Annotated

from fastapi import Path, Query

from seedbed.faces.api.access import Here, Labeller, Rules, Trainer, Viewer
from seedbed.faces.api.labelling_requests import DroppedAsked, PresenceAsked, SuggestionsAsked
from seedbed.faces.api.labelling_views import (
    BoardView,
    DoubtView,
    GainView,
    OrderView,
    PeopleView,
    PersonView,
    SeenView,
    SimilarView,
    SuggestionsView,
)
from seedbed.faces.api.paths import drop_upload, files_of_upload
from seedbed.faces.api.routing import router
from seedbed.faces.api.views import JobView
from seedbed.flows.usecases.labelling import By

labelling = router("labelling", "projects")
ProjectRef = Annotated[str, Path(description="The project's id or name.", max_length=500)]
Index = Annotated[int, Path(ge=0, le=1 << 31, description="The image's number in the project's data set.")]


@labelling.get("/{ref}/board")
def board(ref: ProjectRef, here: Here, by: Viewer) -> BoardView:
    """Everything around the images: classes with their counts, groups, who is here, the training."""
    return BoardView.of(here.labelling.board(ref, by=by))


@labelling.get("/{ref}/order")
def order(
    ref: ProjectRef,
    here: Here,
    asker: Viewer,
    by: Annotated[By, Query(description="What comes first.")] = "worth",
    klass: Annotated[str, Query(alias="class", max_length=200, description="With by=class: the likeliest first.")] = "",
    seed: Annotated[int, Query(ge=0, lt=1 << 63)] = 0,
) -> OrderView:
    """All images in an order; what it needs and is not there yet is done without, so that nobody waits."""
    return OrderView.of(here.labelling.order(ref, by, klass=klass, seed=seed, by=asker))


@labelling.post("/{ref}/suggestions")
def suggestions(ref: ProjectRef, asked: SuggestionsAsked, here: Here, by: Labeller) -> SuggestionsView:
    """What the labels and the newest model say of some images; before anything can be said, none, with the reason."""
    return SuggestionsView.of(here.labelling.suggestions(ref, asked.indexes, by=by))


@labelling.get("/{ref}/similar/{index}")
def similar(
    ref: ProjectRef,
    index: Index,
    here: Here,
    by: Labeller,
    count: Annotated[int, Query(ge=1, le=1000, description="How many.")] = 60,
) -> SimilarView:
    """The images most like one; none before the images were looked at."""
    indexes, similarities = here.labelling.similar(ref, index, count=count, by=by)
    return SimilarView(indexes=indexes, similarities=similarities)


@labelling.get("/{ref}/gains")
def gains(ref: ProjectRef, here: Here, by: Labeller) -> list[GainView]:
    """Which classes more labels would help, the most first."""
    return [GainView.of(gain) for gain in here.labelling.gains(ref, by=by)]


@labelling.get("/{ref}/mistakes")
def mistakes(ref: ProjectRef, here: Here, by: Labeller) -> list[DoubtView]:
    """Labels that are probably wrong, the surest first."""
    return [DoubtView.of(doubt) for doubt in here.labelling.mistakes(ref, by=by)]


@labelling.post("/{ref}/presence")
def presence(ref: ProjectRef, asked: PresenceAsked, here: Here, by: Labeller) -> PeopleView:
    """Say that you are here, for half a minute; who is."""
    return PeopleView(people=[PersonView.of(person) for person in here.labelling.here(ref, asked.where, by=by)])


@labelling.post("/{ref}/predict")
def predict(ref: ProjectRef, asked: DroppedAsked, here: Here, rules: Rules, by: Labeller) -> list[SeenView]:
    """What is on images that are not in the project, and which of its images are most like them."""
    root = rules.home / "uploads" / asked.upload
    files = {path.relative_to(root).as_posix(): path for path in files_of_upload(rules, asked.upload)}
    try:
        return [SeenView(**result) for result in here.labelling.predict(ref, files, by=by)]
    finally:
        drop_upload(rules, asked.upload)


@labelling.post("/{ref}/grouping", status_code=202)
def group(ref: ProjectRef, here: Here, by: Trainer) -> list[JobView]:
    """Have alike images grouped, once more if need be; it begins by itself where the project's settings say so."""
    return [JobView.of(job) for job in here.labelling.group(ref, by=by)]
