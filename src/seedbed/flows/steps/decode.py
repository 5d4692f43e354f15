"""A data set's images as pixels at another size."""

import shutil

from pydantic import Field

from seedbed.assets.data.cache import build_cache
from seedbed.base.resources import Resources
from seedbed.base.run import RunContext
from seedbed.flows.kinds.data import FACTS, RECORDS, DataSet, Decoded
from seedbed.flows.step import Params, step
from seedbed.flows.steps.progress import stoppable
from seedbed.methods.learn.settings import TrainSettings


class DecodeParams(Params):
    """At which size."""

    size: int = Field(TrainSettings().size, ge=8, le=1024, description="Side of the images in pixels.")


@step("decode", methods=("seedbed.assets.data",), resources=Resources(cpus=2, memory=1 << 30))
def decode_images(data: DataSet, params: DecodeParams, run: RunContext) -> Decoded:
    """Decodes every image of a data set to pixels at one size, once."""
    decoded = Decoded.of(run.folder / "decoded", params.size, len(data.records))
    paths = [data.opened.path(record) for record in data.records]
    build_cache(paths, decoded.folder / "decoded", params.size, on_progress=stoppable(run, "decoding images"))
    (decoded.folder / FACTS).mkdir()
    shutil.copyfile(data.file(FACTS, RECORDS), decoded.folder / FACTS / RECORDS)
    return decoded
