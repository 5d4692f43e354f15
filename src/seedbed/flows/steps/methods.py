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
        "train": "seedbed.methods.learn.launch:train_on_ranks",
        "predict": "seedbed.methods.learn.predict:predict",
        "evaluate": "seedbed.methods.learn.evaluate:evaluate",
        "model": "seedbed.methods.learn.model:Model",
        "export": "seedbed.methods.learn.export:export_all",
    },
)
