"""Every unit of work, thin: read bundles, call a method, write bundles. A row here makes a step known.

Step modules import no torch: the service reads their declarations to check jobs before they run. What needs torch is
fetched from `methods.METHODS` when a step's function runs, in a worker.
"""

from seedbed.base.registry import Registry
from seedbed.flows.step import Step

STEPS: Registry[Step] = Registry(
    "step",
    {
        "draw-leaves": "seedbed.flows.steps.draw_leaves:draw_leaves",
        "ingest": "seedbed.flows.steps.ingest:ingest_images",
        "decode": "seedbed.flows.steps.decode:decode_images",
        "tune": "seedbed.flows.steps.tune:tune_weights",
        "embed": "seedbed.flows.steps.embed:embed_images",
        "group": "seedbed.flows.steps.group:group_images",
        "sample-labels": "seedbed.flows.steps.sample_labels:sample_labels",
        "signature": "seedbed.flows.steps.signature:make_signature",
        "rank-weights": "seedbed.flows.steps.rank_weights:rank_weights",
        "compare-data": "seedbed.flows.steps.compare_data:compare_data",
        "import-weights": "seedbed.flows.steps.import_weights:import_weights",
        "train": "seedbed.flows.steps.train:train_model",
        "evaluate": "seedbed.flows.steps.evaluate:evaluate_model",
        "label-all": "seedbed.flows.steps.label_all:label_all",
        "export": "seedbed.flows.steps.export:export_model",
        "predict": "seedbed.flows.steps.predict:predict_images",
        "publish-files": "seedbed.flows.steps.publish_files:publish_files",
        "sleep-and-count": "seedbed.flows.steps.sleep_and_count:sleep_and_count",
    },
)
