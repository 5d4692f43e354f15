"""Images in."""

import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict

from pydantic import Field

from seedbed.assets.data.cache import cache_name
from seedbed.assets.data.decode import PIXEL_LIMIT
from seedbed.assets.data.limits import Limits
from seedbed.assets.store.bundle import Bundle
from seedbed.base.errors import InvalidInput
from seedbed.base.resources import Resources
from seedbed.base.run import RunContext, Stopped
from seedbed.flows.kinds.data import FACTS, RECORDS, DataSet, Decoded
from seedbed.flows.kinds.labels import Files
from seedbed.flows.outside import fingerprint
from seedbed.flows.step import Params, step
from seedbed.flows.steps.methods import METHODS
from seedbed.methods.learn.settings import TrainSettings

if TYPE_CHECKING:
    from seedbed.assets.data.ingest import IngestResult

_KEEP_EVERY = 2000  # files between checkpoints


class IngestParams(Params):
    """Where the images are, and at which size they are decoded."""

    source: str = Field("", description="A folder, archive or CSV manifest of the machine that runs the job.")
    size: int = Field(TrainSettings().size, ge=8, le=1024, description="Side of the decoded cache in pixels.")
    pixel_limit: int = Field(PIXEL_LIMIT, gt=0, description="Largest image in pixels; larger ones are findings.")


class Ingested(TypedDict):
    """The data set, and its images decoded."""

    data: DataSet
    decoded: Decoded


def _paths(params: IngestParams) -> list[str]:
    return [params.source] if params.source else []


def _outside(params: IngestParams) -> Mapping[str, str]:
    return {path: fingerprint(Path(path)) for path in _paths(params)}


@step(
    "ingest",
    methods=("seedbed.assets.data",),
    resources=Resources(cpus=2, memory=1 << 30),
    outside=_outside,
    paths=_paths,
)
def ingest_images(
    params: IngestParams, run: RunContext, data: DataSet | None = None, files: Files | None = None
) -> Ingested:
    """Brings in the images of a folder, an archive, a CSV manifest or a bundle; with `data`, as its new version."""
    source = _source(params, files)
    place = run.folder / "ingest"
    if run.resume:
        shutil.copytree(run.resume, place, copy_function=_take_over)
    progress = _Progress(run, place)
    try:
        result = METHODS.get("ingest")(
            source,
            place,
            name="the upload" if source.parent.name == "uploads" else source.name,
            cache_size=params.size,
            limits=Limits(pixels=params.pixel_limit),
            on_progress=progress,
            should_stop=run.should_stop,
            existing=data.opened if data else None,
        )
    except Stopped:
        progress.keep()
        raise
    return _bundles(result, params.size, run, data)


def _source(params: IngestParams, files: Files | None) -> Path:
    if bool(params.source) == bool(files):
        raise InvalidInput("ingest takes either the parameter 'source' or the input 'files'; give one of them.")
    if not files:
        return Path(params.source)
    inner = sorted((files.folder / "files").iterdir())
    return inner[0] if len(inner) == 1 else files.folder / "files"  # one archive or folder, or the images themselves


class _Progress:
    """Tells how far it is, and keeps a checkpoint now and then."""

    def __init__(self, run: RunContext, place: Path) -> None:
        self._run = run
        self._place = place
        self._done = 0
        self._kept = 0

    def __call__(self, done: int, total: int) -> None:
        self._done = done
        self._run.report(step=done, total=total, doing="reading images")
        if done - self._kept >= _KEEP_EVERY and done < total:
            self.keep()

    def keep(self) -> None:
        """A checkpoint: what was read so far."""
        self._kept = self._done
        self._run.checkpoint(lambda folder: _copy_all(self._place, folder), step=self._done)


def _copy_all(place: Path, folder: Path) -> None:
    ignored = shutil.ignore_patterns(".unpacked")
    shutil.copytree(place, folder, copy_function=_take_over, dirs_exist_ok=True, ignore=ignored)


def _take_over(source: str, target: str) -> None:
    """Images are never changed, so a link does; what grows is copied."""
    if Path(source).parent.name == "images":
        os.link(source, target)
    else:
        shutil.copyfile(source, target)


def _bundles(result: "IngestResult", size: int, run: RunContext, earlier: DataSet | None) -> Ingested:
    data = DataSet(run.folder / "data", _values(result))
    decoded = Decoded.of(run.folder / "decoded", size, result.images)
    for place in (data.folder / FACTS, decoded.folder / FACTS, decoded.folder / "decoded"):
        place.mkdir(parents=True)
    shutil.copyfile(result.folder / RECORDS, decoded.folder / FACTS / RECORDS)
    (result.folder / cache_name(size)).rename(decoded.folder / "decoded" / cache_name(size))
    (result.folder / "images").rename(data.folder / "images")
    for path in result.folder.glob("*.json*"):
        path.rename(data.folder / FACTS / path.name)
    if earlier:
        data.stored["images"] = Bundle.read(earlier.folder).arrays["images"].files
    return {"data": data, "decoded": decoded}


def _values(result: "IngestResult") -> dict[str, tuple[int | str, ...]]:
    return {
        "classes": tuple(sorted(result.statistics.classes)),
        "count": (result.images,),
        "findings": (len(result.findings),),
    }
