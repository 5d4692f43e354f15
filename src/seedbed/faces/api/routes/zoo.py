"""/zoo: pretrained weights, their cards and rankings, and what is in memory."""

from pathlib import Path as FilePath
from typing import Annotated

from fastapi import Path, Query

from seedbed.base.errors import InvalidInput
from seedbed.base.settings import Settings
from seedbed.faces.api.access import Here, Operator, Rules, Trainer, Viewer
from seedbed.faces.api.paths import drop_upload, existing_path, files_of_upload, labels_path
from seedbed.faces.api.routing import router
from seedbed.faces.api.views import DeletionView, JobView
from seedbed.faces.api.zoo_requests import CompareAsked, ImportAsked, RankAsked
from seedbed.faces.api.zoo_views import (
    CacheView,
    CardDetail,
    CardView,
    ComparableView,
    MatrixView,
    RankingView,
    SimilarityView,
    StartView,
)

zoo = router("zoo")
CardName = Annotated[str, Path(description="A card's name.", max_length=200)]
RankingRef = Annotated[str, Path(description="uuid or name of a ranking, or a data set: its newest.", max_length=500)]
JobId = Annotated[str, Path(description="The job's id or the beginning of it.", max_length=100)]


@zoo.get("/cards")
def cards(here: Here, by: Viewer) -> list[CardView]:
    """Every card: those that come with Seedbed, then those that are kept."""
    return [CardView.of(card) for card in here.zoo.cards(by=by)]


@zoo.post("/cards", status_code=202)
def add(asked: ImportAsked, here: Here, rules: Rules, by: Trainer) -> list[JobView]:
    """Take weights into the zoo: of a model or a finished training, a file, or timm's hub."""
    path = _file(rules, asked)
    more = asked.model_dump(exclude={"model", "path", "upload"})
    return [JobView.of(job) for job in here.zoo.add(asked.model, path=path, **more, by=by)]


@zoo.get("/cards/{name}")
def show(name: CardName, here: Here, by: Viewer) -> CardDetail:
    """One card."""
    return CardDetail.of(here.zoo.show(name, by=by))


@zoo.delete("/cards/{name}")
def remove(name: CardName, here: Here, by: Trainer) -> DeletionView:
    """Take a kept card out of the zoo for good; models that started from it stay."""
    return DeletionView.of(here.zoo.remove(name, by=by))


@zoo.post("/rankings", status_code=202)
def rank(asked: RankAsked, here: Here, rules: Rules, by: Trainer) -> list[JobView]:
    """Compare a data set with those behind the weights for a network; no jobs: there is nothing to choose from."""
    labels = labels_path(rules, asked.labels, asked.labels_upload)
    how = asked.model_dump(exclude={"labels", "labels_upload"})
    made = here.zoo.rank(**how, labels=labels, by=by)
    drop_upload(rules, asked.labels_upload)  # the labels are a bundle by now
    return [JobView.of(job) for job in made]


@zoo.get("/rankings/{ref}")
def ranking(ref: RankingRef, here: Here, by: Viewer) -> RankingView:
    """What a ranking says."""
    return RankingView.of(here.zoo.ranking(ref, by=by))


@zoo.get("/matrix")
def matrix(here: Here, by: Viewer) -> MatrixView:
    """How far data sets are from those behind the weights, as a table."""
    return MatrixView.of(here.zoo.matrix(by=by))


@zoo.get("/similarity")
def similarity(here: Here, by: Viewer, ref: Annotated[str, Query(max_length=500)] = "") -> SimilarityView:
    """How far apart data sets are: the newest table, or one by the uuid or name of its bundle."""
    return SimilarityView.of(here.similarities.show(ref, by=by))


@zoo.post("/similarity", status_code=202)
def compare(asked: CompareAsked, here: Here, by: Trainer) -> list[JobView]:
    """Measure the distance of every pair of some data sets; signatures that are missing are made first."""
    return [JobView.of(job) for job in here.similarities.compare(asked.data, by=by)]


@zoo.get("/similarity/data")
def comparable(here: Here, by: Viewer) -> list[ComparableView]:
    """Which data sets can be compared."""
    return [ComparableView.of_one(one) for one in here.similarities.known(by=by)]


@zoo.get("/starts/{job_id}")
def start(job_id: JobId, here: Here, by: Viewer) -> StartView:
    """What a training starts or started from, and why."""
    return StartView.of(here.zoo.start_of(job_id, by=by))


@zoo.get("/cache")
def cache(here: Here, by: Viewer) -> CacheView:
    """What weights this machine has in memory, why, and the seconds that this saved."""
    return CacheView.of(here.zoo.cache(by=by))


@zoo.delete("/cache")
def empty_cache(here: Here, by: Operator) -> CacheView:
    """Let go what is in memory; it is read again when it is needed."""
    return CacheView.of(here.zoo.empty_cache(by=by))


def _file(rules: Settings, asked: ImportAsked) -> FilePath | None:
    """The file that a request brings, if it brings one."""
    if asked.path and asked.upload:
        raise InvalidInput("Give either 'path' (a file of the server) or 'upload' (the id of an upload).")
    if asked.path:
        return existing_path(rules, asked.path)
    if not asked.upload:
        return None
    files = files_of_upload(rules, asked.upload)
    if len(files) != 1:
        raise InvalidInput(f"The upload '{asked.upload}' has {len(files)} files; weights are one file.")
    return files[0]
