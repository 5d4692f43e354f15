"""Writes the tables of docs/training.md from the code: python scripts/training_page.py"""

import json
import re
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

from seedbed.flows.algorithms import algorithm_options, algorithms
from seedbed.flows.backbones import backbones
from seedbed.methods.learn import settings
from seedbed.methods.learn.settings import ON_A_GPU, TrainSettings

PAGE = Path(__file__).parents[1] / "docs" / "training.md"
RESULTS = Path(__file__).parents[1] / "benchmarks" / "RESULTS.md"
ALGORITHMS = "| algorithm | what it does | options |"
BACKBONES = "| backbone | what it is |"
HEAD, RULE = "| setting | option | default | meaning |", "|---|---|---|---|"
NAMED = (
    "values",
    "good",
    "algorithm",
    "weights",
    "size",
    "steps",
    "epochs",
    "patience",
    "unlabelled_batch",
    "ranks",
    "nodes",
    "scaling",
)
OPTIONS = {name: f"--{name.replace('_', '-')}" for name in NAMED}
OPTIONS |= {"start": "--backbone", "learning_rate": "--lr", "labelled_batch": "--batch"}
MEANING = {
    "weights": "`pretrained`: from the weights that `--weights` chooses ([the zoo](zoo.md)); `none`: from scratch",
    "algorithm": "how it learns from the images without labels",
    "steps": "how long it trains at most",
    "labelled_batch": "labelled images of a step",
    "unlabelled_batch": "unlabelled images of a step",
    "learning_rate": "the highest one; it rises over `warmup` and then falls; less for smaller batches, unless given",
    "weight_decay": "how strongly weights are pulled to 0",
    "ema": "memory of the running average of the weights, which is the model that is kept",
    "evaluate_every": "steps from one evaluation to the next",
    "report_every": "steps from one point of the curves to the next",
    "checkpoint_every": "steps from one checkpoint to the next",
    "strong_zoom": "strong: relative",
    "shear": "strong: how far the top slides against the bottom, as a share",
    "device": "`cpu`, `cuda`; auto: a GPU where there is one",
}
EVIDENCE = "| defaults | the question | measured by |"
QUESTIONS = (
    (
        "`algorithm` and its options, `steps`, `held_out`, `few`, `patience`",
        "how good is a model from so few labels?",
        "ssl_accuracy",
    ),
    ("`start`, `weights`, `size`", "which network, and is it worth starting from weights?", "ssl_backbones"),
    ("`precision`, `compile`, batches", "how fast is a step, and what else takes time in it?", "ssl_speed"),
    ("`learning_rate` of other batches", "at which rate does a network not forget what it knew?", "ssl_batches"),
    ("`learning_rate` on a CPU", "would half of it, or twice, lead to better models?", "ssl_defaults laptop"),
    ("`ema` on a GPU", "which memory of the average leads to the best model?", "ssl_defaults"),
    ("`ranks`, `scaling`", "do two ranks learn what one does, and how much faster?", "scaling"),
    ("`backend` on GPUs", "what would more GPUs gain?", "scaling_gpu"),
    ("`checkpoint_every`", "does a killed training end with the same weights?", "durability"),
)
_LINE = re.compile(r"^    (\w+): [^#\n]*?(?:\(\n[^#\n]*?)?#\s*(.+)$", re.MULTILINE)


def algorithms_table() -> str:
    """Every algorithm with what can be set of it."""
    rows = [f"| `{name}` | {about} | {_options(name)} |" for name, about in sorted(algorithms().items())]
    return "\n".join([ALGORITHMS, "|---|---|---|", *rows]) + "\n"


def backbones_table() -> str:
    """Every short name of a network."""
    rows = [f"| `{name}` | {about} |" for name, about in backbones().items()]
    return "\n".join([BACKBONES, "|---|---|", *rows]) + "\n"


def _options(name: str) -> str:
    return ", ".join(f"`{option}={default}`" for option, default in algorithm_options(name).items())


def defaults_table() -> str:
    """Every setting with its default."""
    return "\n".join([HEAD, RULE, *_rows(TrainSettings(), _comments())]) + "\n"


def _rows(values: Any, comments: dict[str, str], whole: str = "") -> list[str]:
    rows = []
    for field in fields(values):
        value, name = getattr(values, field.name), f"{whole}{field.name}"
        value = values.rate() if name == "learning_rate" else value
        if is_dataclass(value):
            rows += _rows(value, comments, f"{name}.")
        elif name != "classes":  # they come from the labels
            meaning = (MEANING.get(field.name) or comments.get(field.name, "")).replace("|", "\\|")
            other = ON_A_GPU.get(name, value)
            on_gpu = f"; on a GPU `{_shown(other)}`" if other != value else ""
            rows.append(f"| `{name}` | {_option(name)} | `{_shown(value)}`{on_gpu} | {meaning} |")
    return rows


def _option(name: str) -> str:
    return f"`{OPTIONS[name]}`" if name in OPTIONS else "`--set`"


def _shown(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(list(value) if isinstance(value, tuple) else value)


def _comments() -> dict[str, str]:
    """What is written behind each setting in the code."""
    return dict(_LINE.findall(Path(settings.__file__).read_text()))


def evidence_table() -> str:
    """Which benchmark a default rests on, with the section of its last full run where there was one."""
    sections = re.findall(r"^## (([\w ]+): .+)$", RESULTS.read_text(), re.MULTILINE)
    anchors = {name: re.sub(r"[^\w\- ]", "", title.lower()).strip().replace(" ", "-") for title, name in sections}
    rows = [f"| {what} | {question} | {_measured(name, anchors)} |" for what, question, name in QUESTIONS]
    return "\n".join([EVIDENCE, "|---|---|---|", *rows]) + "\n"


def _measured(name: str, anchors: dict[str, str]) -> str:
    called = f"`benchmarks.{name.partition(' ')[0]}`"
    return f"[{called}](../benchmarks/RESULTS.md#{anchors[name]})" if name in anchors else f"{called}; no full run yet"


def main() -> None:
    """Put the tables where the page has them."""
    text = PAGE.read_text()
    tables = {
        ALGORITHMS: algorithms_table(),
        BACKBONES: backbones_table(),
        HEAD: defaults_table(),
        EVIDENCE: evidence_table(),
    }
    for first, table in tables.items():
        head, _, rest = text.partition(first)
        _, _, tail = rest.partition("\n\n")
        text = f"{head}{table}\n{tail}"
    PAGE.write_text(text)


if __name__ == "__main__":
    main()
