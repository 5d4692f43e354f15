"""What people are told about where trainings start: facts in, sentences out."""

from collections.abc import Mapping, Sequence
from typing import Any

from seedbed.base.resources import show_size
from seedbed.faces.ui.words import duration, percent, plural, sentence
from seedbed.flows.usecases.starts import StartedFrom
from seedbed.methods.similarity.words import how_near

USUAL, IMAGENET = "the usual start", "the usual start (ImageNet)"
SCRATCH = "scratch"


def called(start: str) -> str:
    """Weights as people call them: those of ImageNet are the usual start, whatever their network."""
    return IMAGENET if start.lower().endswith("imagenet") else f"'{start}'"


def advised(advice: Mapping[str, Any]) -> str:
    """What a ranking says to start from."""
    return IMAGENET if advice["as_good"] else called(advice["start"])


def zoo_in_words(here: int, newest: str, ranking: Mapping[str, Any] | None) -> str:
    """The answer at the top of the zoo: how many there are, and which is the nearest to the newest data set."""
    said = f"Seedbed can start from {plural(here, 'set')} of weights"
    if ranking and ranking["ranked"]:
        near = ranking["ranked"][0]["name"]
        whose = f"your newest data set '{newest}'" if ranking["target"] == newest else f"'{ranking['target']}'"
        but = f", but {IMAGENET} is as good" if ranking["advice"]["as_good"] else ""
        return f"{said}; the nearest to {whose} is '{near}'{but}."
    if newest:
        return f"{said}; '{newest}', your newest data set, has not been compared with them yet."
    return f"{said}. Bring images, and it says which of them is the nearest."


def ranking_in_words(facts: Mapping[str, Any]) -> str:
    """The answer at the top of a ranking."""
    advice, target = facts["advice"], facts["target"]
    if advice["as_good"]:
        return f"ImageNet is as good: for '{target}' nothing here is surely quicker than {USUAL}."
    if not advice["expected_saving"]:
        return f"Start '{target}' from {called(advice['start'])}: {advice['reason']}"
    saving = f"it should be as good after {percent(round(1 - advice['expected_saving'], 2))} of the training"
    return f"Start '{target}' from {called(advice['start'])}: {saving}{_fewer(advice.get('share_of_steps', 1.0))}."


def nearness_in_words(one: Mapping[str, Any]) -> str:
    """How far a card's data set is, in distances to that behind the usual weights."""
    ratio = one["ratio"]
    if ratio is None:
        return f"{one['distance']:.3g} away; there is no data set here that stands for ImageNet to measure it by"
    return how_near(ratio, "ImageNet's images")


def saving_in_words(expected: Mapping[str, Any]) -> str:
    """What is expected of a start, with its limits."""
    times, least, most = (float(expected[name]) for name in ("epoch_ratio", "low", "high"))
    if times >= 2:
        return f"{times:.1f} times as long, likely between {least:.1f} and {most:.1f} times"
    middle, low, high = 1 - times, 1 - most, 1 - least
    limits = f"likely between {_signed(low)} and {_signed(high)}"
    word = "saved" if middle >= 0.005 else "lost" if middle <= -0.005 else ""
    return f"{percent(round(abs(middle), 2))} {word}, {limits}" if word else f"nothing saved or lost, {limits}"


def learnt_in_words(learnt: Mapping[str, int]) -> str:
    """What the expectations rest on."""
    if not learnt["outcomes"]:
        return "No start has been measured yet, so it is careful."
    many = plural(learnt["targets"], "data set")
    return f"What is expected was learnt from {plural(learnt['outcomes'], 'measured start')} on {many}."


def cache_in_words(cache: Mapping[str, Any]) -> str:
    """What is in memory, and what that was good for."""
    if not cache["slots"]:
        return "Nothing is kept in memory on this machine: that is switched off."
    held, saved = len(cache["entries"]), float(cache["saved_seconds"])
    if not held:
        return f"Nothing is in memory yet. There are {cache['slots']} places; the first training takes one."
    size = show_size(sum(entry["size"] for entry in cache["entries"]))
    good = f" That has saved {duration(saved)} of reading so far." if saved >= 0.05 else " No time has been saved yet."
    return f"{held} of {cache['slots']} places are taken, {size} in all.{good}"


def begun_in_words(started: StartedFrom) -> str:
    """On a project's page, for somebody who knows their images and nothing of weights."""
    if not started.card:
        return sentence(started.reason)
    if started.card == SCRATCH:
        return "It begins with nothing learnt before, as was asked."
    if called(started.card) == IMAGENET and not started.told:
        begins = "It begins with what was learnt from everyday photographs"
        return f"{begins}: nothing else here is surely quicker for these images." if started.ranking else f"{begins}."
    begins = f"It begins with what was learnt for {called(started.card)}"
    if started.told or not started.ranking:
        return f"{begins}, as was asked."
    if not started.expected_saving:
        return f"{begins}. {sentence(started.reason)}"
    return f"{begins}, whose images are alike{_fewer(started.share_of_steps)}."


def _fewer(share: float) -> str:
    """That it takes fewer steps, where it does."""
    return f", and it takes {percent(round(1 - share, 2))} fewer steps" if share < 0.995 else ""


def furthest(pairs: Sequence[tuple[str, str, float]]) -> str:
    """The answer at the top of the table of distances."""
    near, far = min(pairs, key=lambda pair: pair[2]), max(pairs, key=lambda pair: pair[2])
    said = f"'{near[0]}' and '{near[1]}' are the most alike"
    return f"{said}." if len(pairs) == 1 else f"{said}; '{far[0]}' and '{far[1]}' the least."


def _signed(share: float) -> str:
    return percent(round(share, 2)) if share > -0.005 else f"{percent(round(-share, 2))} lost"
