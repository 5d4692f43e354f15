"""What can be chosen for a training, and what is wrong with a choice, before anything runs."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from pydantic import ValidationError

from seedbed.assets.projects.classes import Class
from seedbed.assets.store.bundle import Bundle, Draft
from seedbed.assets.zoo.backbones import BACKBONES
from seedbed.base.errors import InvalidInput
from seedbed.base.mistakes import sentences_of
from seedbed.base.resources import UNSET, Resources
from seedbed.flows.steps.train import TrainParams, Unworkable, refuse_classes
from seedbed.methods.learn.settings import AUTO, AUTO_ON_A_GPU, ON_A_GPU, ONE_CLASS, TrainSettings
from seedbed.runtime.executors.protocol import Node

_BASE, _EACH = 1 << 30, 2 << 30  # memory of a training: its data, and every rank's own
_COPIES, _COVERED = 8, 1 << 30  # of weights: gradients, moments, averages, a checkpoint; what fits in a rank's own
_CPUS = 2.0
_OF_RATE = ("learning_rate", "labelled_batch", "unlabelled_batch", "ranks", "scaling")  # what it depends on


def with_habits(params: Mapping[str, Any], resources: Resources | None) -> dict[str, Any]:
    """Larger images, batches and more steps on GPUs, where nothing else is said; the rate follows the batches."""
    if not resources or not resources.gpus:
        return dict(params)
    chosen = {**ON_A_GPU, **params}
    if params.get("learning_rate", AUTO) == AUTO:
        chosen["learning_rate"] = AUTO_ON_A_GPU
    return chosen


def told_rate(params: Mapping[str, Any], resources: Resources | None) -> str:
    """The learning rate that a training with these parameters would take, and why; '' where they cannot be used.

    Several ranks take it at most: labels may be too few for their batch to grow as much as they are.
    """
    chosen, _ = with_ranks(with_habits(params, resources), resources)
    facts = {name: chosen[name] for name in _OF_RATE if name in chosen}
    if problems_by_field(facts):
        return ""
    settings = replace(TrainSettings(), **facts)
    most = "at most " if settings.rate() > settings.rate_of_one() else ""
    return f"{most}{settings.rate():g}: {settings.rate_reason()}."


def with_a_gpu(resources: Resources | None, nodes: Sequence[Node]) -> Resources | None:
    """One GPU, where there is one and nobody said what to compute on."""
    asked = resources or UNSET
    if not asked.cpus and not asked.gpus and any(node.capacity.gpus for node in nodes):
        return replace(asked, gpus=1)
    return resources


def defaults(nodes: Sequence[Node]) -> TrainSettings:
    """What a training takes here where nothing is said."""
    chosen = with_habits({}, with_a_gpu(None, nodes))
    return replace(TrainSettings(), **chosen)


def with_ranks(params: Mapping[str, Any], resources: Resources | None) -> tuple[dict[str, Any], Resources | None]:
    """As many ranks as GPUs where nothing else is said, and room for all ranks and weights where nobody chose it."""
    chosen = dict(params)
    if resources and resources.gpus > 1:
        chosen.setdefault("ranks", resources.gpus)
    ranks = chosen.get("ranks", 1)
    beyond = _beyond(str(chosen.get("start", "")))
    if not isinstance(ranks, int) or ranks < (1 if beyond else 2):
        return chosen, resources
    asked = resources or UNSET
    cpus = asked.cpus or (max(_CPUS, float(ranks)) if ranks > 1 else 0.0)
    return chosen, replace(asked, cpus=cpus, memory=asked.memory or _BASE + ranks * (_EACH + beyond))


def _beyond(network: str) -> int:
    """The bytes that a network of the table takes beyond what every training has room for."""
    named = [record for name, record in BACKBONES.items() if network in (name, record.timm)]
    return max([0, *(round(4e6 * _COPIES * record.millions) - _COVERED for record in named)])


def with_values(params: Mapping[str, Any], classes: Sequence[Class], labels: Mapping[str, int]) -> dict[str, Any]:
    """The percentages that bins stand for, where nothing else is said and every labelled class has one."""
    used = [one for one in classes if labels.get(one.name)]
    if "values" in params or params.get("algorithm") == ONE_CLASS or any(one.value is None for one in used):
        return dict(params)
    return {**params, "values": {one.name: one.value for one in used}}


def refuse_gaps(labels: Mapping[str, int], name: str, algorithm: str) -> None:
    """Every class of a project needs labels, and there must be two; one will do where good parts alone are learnt."""
    if algorithm == ONE_CLASS:
        return
    if without := [klass for klass, count in labels.items() if not count]:
        have = "has" if len(without) == 1 else "have"
        raise InvalidInput(
            f"{len(without)} of the {len(labels)} classes of '{name}' {have} no labels yet: {', '.join(without[:10])}.",
            hint="Label a few images of each, or take away what is not needed: seedbed projects remove-class.",
        )
    if len(labels) < 2:
        raise InvalidInput(
            f"'{name}' has one class; there must be at least 2 to tell apart.",
            hint=f"Label images of another class, or use the algorithm '{ONE_CLASS}' where only good parts are known.",
        )


def refuse_labels(labels: Bundle | Draft, params: Mapping[str, Any], data: str) -> None:
    """Labels, or images in folders, whose classes do not fit; parameters wrong by themselves are told of elsewhere."""
    classes = labels.arrays.get("classes")
    if classes and not problems_by_field(params):
        refuse_classes([str(name) for name in classes.items or ()], params, data)


def problems_by_field(params: Mapping[str, Any]) -> dict[str, str]:
    """What is wrong with the train step's parameters: field -> sentence; '' has what belongs to none."""
    try:
        TrainParams.model_validate(dict(params))
    except ValidationError as error:
        by_field: dict[str, list[Any]] = {}
        for problem in error.errors():
            by_field.setdefault(str(problem["loc"][0]) if problem["loc"] else "", []).append(problem)
        found = [pair for field, problems in by_field.items() for pair in _told(field, problems)]
        return {field: " ".join(text for name, text in found if name == field) for field, _ in found}
    return {}


def _told(field: str, problems: Sequence[Mapping[str, Any]]) -> list[tuple[str, str]]:
    cause = problems[0].get("ctx", {}).get("error")
    if isinstance(cause, Unworkable):
        return [(_subject(sentence), sentence) for sentence in cause.problems]
    return [(field, sentence) for sentence in sentences_of(problems, TrainParams.model_fields)]


def _subject(sentence: str) -> str:
    """The field that a sentence begins with."""
    word = sentence.partition(" ")[0].rstrip(":")
    return word if word in TrainParams.model_fields else ""
