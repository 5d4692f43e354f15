"""Kinds: typed views of a bundle's folder, the same for what a step is given and for what it makes.

A bundle's files lie at `<folder>/<array>/<file>`; its plain values (numbers, texts) are in `values`. `open` looks at a
bundle that is checked out; a step makes an output by filling a fresh folder and putting a kind around it. Import them
from their modules: a worker loads numpy only for a step that needs it.
"""

from seedbed.base.registry import Registry
from seedbed.flows.kinds.kind import Kind

KINDS: Registry[type[Kind]] = Registry(
    "kind",
    {
        "data-set": "seedbed.flows.kinds.data:DataSet",
        "decoded": "seedbed.flows.kinds.data:Decoded",
        "embeddings": "seedbed.flows.kinds.embeddings:Embeddings",
        "groups": "seedbed.flows.kinds.embeddings:Groups",
        "labels": "seedbed.flows.kinds.labels:Labels",
        "files": "seedbed.flows.kinds.labels:Files",
        "count": "seedbed.flows.kinds.labels:Count",
        "weights": "seedbed.flows.kinds.models:Weights",
        "model": "seedbed.flows.kinds.models:Model",
        "signature": "seedbed.flows.kinds.zoo:Signature",
        "shortlist": "seedbed.flows.kinds.zoo:Shortlist",
        "ranking": "seedbed.flows.kinds.zoo:Ranking",
        "start": "seedbed.flows.kinds.zoo:Start",
        "similarity": "seedbed.flows.kinds.zoo:Similarity",
        "outcome": "seedbed.flows.kinds.zoo:Outcome",
        "report": "seedbed.flows.kinds.models:Report",
        "predictions": "seedbed.flows.kinds.models:Predictions",
        "download": "seedbed.flows.kinds.models:Download",
    },
)
