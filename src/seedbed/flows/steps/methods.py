"""The methods that need heavy libraries, by name: loaded when a step runs, never when it is declared."""

from typing import Any

from seedbed.base.registry import Registry

METHODS: Registry[Any] = Registry(
    "method",
    {
        "ingest": "seedbed.assets.data.ingest:ingest",
        "embed": "seedbed.methods.label.embed:embed",
        "group": "seedbed.methods.label.groups:group",
        "scan": "seedbed.methods.label.scan:scan",
        "scan-settings": "seedbed.methods.label.scan:ScanSettings",
        "tune": "seedbed.methods.label.tune:tune",
        "tune-settings": "seedbed.methods.label.tune:TuneSettings",
        "onnx-model": "seedbed.flows.onnx:OnnxModel",
        "signature-of": "seedbed.methods.similarity.signature:signature_of",
        "signature": "seedbed.methods.similarity.signature:Signature",
        "pixel-features": "seedbed.methods.similarity.features:pixel_features",
        "pixel-space": "seedbed.methods.similarity.features:pixel_space",
        "distance-matrix": "seedbed.methods.similarity.dsd:distance_matrix",
        "rank-starts": "seedbed.methods.similarity.starts:rank_starts",
        "outcomes-of": "seedbed.methods.similarity.starts:outcomes_of",
        "outcome": "seedbed.methods.similarity.evidence:Outcome",
        "measured-starts": "seedbed.assets.zoo.measured:measured_starts",
        "source": "seedbed.methods.similarity.starts:Source",
        "target": "seedbed.methods.similarity.starts:Target",
        "time": "seedbed.methods.similarity.starts:Time",
        "card-of": "seedbed.assets.zoo.importers:card_of",
        "keep-file": "seedbed.assets.zoo.importers:keep_file",
        "keep-from-hub": "seedbed.assets.zoo.importers:keep_from_hub",
        "about": "seedbed.assets.zoo.importers:About",
        "depends-on-size": "seedbed.assets.zoo.builder:depends_on_size",
        "train": "seedbed.methods.learn.launch:train_on_ranks",
        "predict": "seedbed.methods.learn.predict:predict",
        "evaluate": "seedbed.methods.learn.evaluate:evaluate",
        "model": "seedbed.methods.learn.model:Model",
        "export": "seedbed.methods.learn.export:export_all",
    },
)
