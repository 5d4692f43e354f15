"""Kinds: typed views of a bundle's folder, the same for what a step is given and for what it makes.

A bundle's files lie at `<folder>/<array>/<file>`; its plain values (numbers, texts) are in `values`. `open` looks at a
bundle that is checked out; a step makes an output by filling a fresh folder and putting a kind around it.
"""

from seedbed.base.registry import Registry
from seedbed.flows.kinds.data import DataSet, Decoded, by_id
from seedbed.flows.kinds.kind import Kind
from seedbed.flows.kinds.labels import Count, Files, Labels, read_labels
from seedbed.flows.kinds.models import Download, Model, Predictions, Report, Weights

KINDS: Registry[type[Kind]] = Registry("kind", {})
for _kind in (DataSet, Decoded, Labels, Weights, Model, Report, Predictions, Download, Files, Count):
    KINDS.add(_kind.kind, _kind)

__all__ = [
    "KINDS",
    "Count",
    "DataSet",
    "Decoded",
    "Download",
    "Files",
    "Kind",
    "Labels",
    "Model",
    "Predictions",
    "Report",
    "Weights",
    "by_id",
    "read_labels",
]
