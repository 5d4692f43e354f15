"""A model for others."""

from seedbed.base.resources import Resources
from seedbed.base.run import RunContext
from seedbed.flows.edge import write_edge
from seedbed.flows.kinds.models import Download, Model
from seedbed.flows.step import Params, step
from seedbed.flows.steps.methods import METHODS


class ExportParams(Params):
    """Nothing to choose yet."""


@step(
    "export",
    methods=("seedbed.methods.learn", "seedbed.assets.zoo", "seedbed.flows.edge", "seedbed.assets.data.decode"),
    resources=Resources(cpus=1, memory=3 << 30),  # the ONNX of a base ViT takes more than 2
)
def export_model(model: Model, params: ExportParams, run: RunContext) -> Download:
    """Writes a model for others: ONNX, safetensors, a PyTorch state dict, and a folder that runs anywhere.

    Where its network cannot be written as ONNX, the other files are made, and README.txt says why.
    """
    download = Download(run.folder / "download", {"classes": model.classes, "size": (model.size,)})
    run.report(step=0, total=1, doing="writing ONNX")
    METHODS.get("export")(METHODS.get("model").load(model.place, device="cpu"), download.place)
    if download.has_onnx:
        write_edge(download.place)
    run.report(step=1, total=1, doing="exported" if download.has_onnx else "exported, but not as ONNX")
    return download
