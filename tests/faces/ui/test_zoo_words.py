"""What people are told about starts, sentence by sentence; and the map of distances, square by square."""

import pytest

from seedbed.faces.ui import heat, starts
from seedbed.flows.usecases.starts import StartedFrom

LITE0 = "efficientnet_lite0.imagenet"


def ranking(target: str, *, as_good: bool = False) -> dict[str, object]:
    advice = {"start": LITE0 if as_good else "wheat", "expected_saving": 0.0 if as_good else 0.354, "as_good": as_good}
    return {"target": target, "ranked": [{"name": "wheat"}], "advice": advice}


def test_the_zoo_answers_its_question_first() -> None:
    say = starts.zoo_in_words
    assert (
        say(1, "", None)
        == "Seedbed can start from 1 set of weights. Bring images, and it says which of them is the nearest."
    )
    assert say(4, "beans", None).endswith("; 'beans', your newest data set, has not been compared with them yet.")
    near = "Seedbed can start from 4 sets of weights; the nearest to your newest data set 'beans' is 'wheat'."
    assert say(4, "beans", ranking("beans")) == near
    assert say(4, "beans", ranking("rye")).endswith("; the nearest to 'rye' is 'wheat'.")
    assert say(4, "rye", ranking("rye", as_good=True)).endswith("'wheat', but the usual start (ImageNet) is as good.")


def test_a_ranking_says_where_to_start() -> None:
    told = starts.ranking_in_words(ranking("beans"))
    assert told == "Start 'beans' from 'wheat': it should be as good after 65 % of the training."
    shorter = ranking("beans")
    shorter["advice"] |= {"share_of_steps": 0.8}  # type: ignore[operator]
    assert starts.ranking_in_words(shorter) == f"{told.removesuffix('.')}, and it takes 20 % fewer steps."
    assert starts.ranking_in_words(ranking("beans", as_good=True)).startswith(
        "ImageNet is as good: for 'beans' nothing"
    )


@pytest.mark.parametrize(
    ("ratio", "told"),
    [
        (0.4, "60 % nearer than ImageNet's images"),
        (0.003, "almost the same as yours"),
        (1.001, "as near as ImageNet's images"),
        (1.25, "25 % further away than ImageNet's images"),
        (None, "12.3 away; there is no data set here that stands for ImageNet to measure it by"),
    ],
)
def test_nearness_is_told_by_imagenet(ratio: float | None, told: str) -> None:
    assert starts.nearness_in_words({"ratio": ratio, "distance": 12.345}) == told


@pytest.mark.parametrize(
    ("epochs", "told"),
    [
        ((0.55, 0.38, 0.82), "45 % saved, likely between 18 % and 62 %"),
        ((1.2, 0.8, 1.9), "20 % lost, likely between 90 % lost and 20 %"),
        ((1.0, 0.9, 1.1), "nothing saved or lost, likely between 10 % lost and 10 %"),
        ((4.45, 1.56, 12.7), "4.5 times as long, likely between 1.6 and 12.7 times"),
    ],
)
def test_what_is_expected_is_told_with_its_limits(epochs: tuple[float, float, float], told: str) -> None:
    expected = dict(zip(("epoch_ratio", "low", "high"), epochs, strict=True))
    assert starts.saving_in_words(expected) == told


def test_the_cache_says_what_it_was_good_for() -> None:
    entry = {"size": 10 << 20}
    assert "switched off" in starts.cache_in_words({"slots": 0, "entries": [], "saved_seconds": 0})
    assert "There are 4 places" in starts.cache_in_words({"slots": 4, "entries": [], "saved_seconds": 0})
    told = starts.cache_in_words({"slots": 4, "entries": [entry, entry], "saved_seconds": 12.2})
    assert told.startswith("2 of 4 places are taken, 20") and told.endswith("That has saved 12 s of reading so far.")


def test_a_project_is_told_without_words_of_machine_learning() -> None:
    near = "It begins with what was learnt for 'wheat', whose images are alike"
    assert starts.begun_in_words(StartedFrom("wheat", "x epochs", "uuid", 0.4)) == f"{near}."
    shorter = starts.begun_in_words(StartedFrom("wheat", "x epochs", "uuid", 0.4, 0.75))
    assert shorter == f"{near}, and it takes 25 % fewer steps."
    as_good = starts.begun_in_words(StartedFrom(LITE0, "x epochs", "uuid"))
    photographs = "It begins with what was learnt from everyday photographs"
    assert as_good == f"{photographs}: nothing else here is surely quicker for these images."
    assert starts.begun_in_words(StartedFrom(LITE0, "There were no other weights.")) == f"{photographs}."
    assert (
        starts.begun_in_words(StartedFrom("wheat", "x")) == "It begins with what was learnt for 'wheat', as was asked."
    )
    told = starts.begun_in_words(StartedFrom("wheat", "x", "uuid", told=True))
    assert told == "It begins with what was learnt for 'wheat', as was asked."
    assert starts.begun_in_words(StartedFrom("", "They are being compared")) == "They are being compared."
    assert "nothing learnt before" in starts.begun_in_words(StartedFrom("scratch", "It was asked to."))


def test_near_data_sets_are_greener_and_names_are_only_values() -> None:
    options = heat.distance_map(["a", "{b|evil}", "c"], [[0, 1, 9], [1, 0, 5], [9, 5, 0]])
    cells = options["series"][0]["data"]
    assert (
        len(cells) == 9
        and cells[1]["name"] == "a and (b/evil): 1 apart"
        and cells[0]["name"] == "a: the data set itself"
    )
    strength = [float(cell["itemStyle"]["color"].rpartition(",")[2].rstrip(")")) for cell in cells]
    assert strength[1] > strength[5] > strength[2] > strength[0]
    assert not cells[0]["label"]["show"] and "label" not in cells[1]
    assert heat.distance_map([], []) and heat.distance_map(["a", "b"], [[0, 0], [0, 0]])


def test_numbers_stand_only_in_squares_that_are_wide_enough_for_them() -> None:
    shown = {(sets, width) for sets in (2, 5, 10, 40) for width in range(200, 2000, 6) if _numbers_at(sets, width)}
    assert {(2, 296), (5, 398), (10, 848), (40, 1994)} <= shown
    assert not shown & {(5, 200), (10, 296), (10, 458), (40, 998)}
    for sets, width in shown:
        square = (width - (85 if width <= 460 else 140)) / sets  # less the names beside them
        assert square > len("1,234") * 0.58 * (11 if width <= 460 else 13)


def _numbers_at(sets: int, width: int) -> bool:
    """What holds for a map of that width: one rule at most, else the last."""
    distances = [[0.0 if one == other else 1234.5 for one in range(sets)] for other in range(sets)]
    *rules, rest = heat.distance_map([f"{number}" for number in range(sets)], distances)["media"]
    at = [one for one in rules if one["query"].get("minWidth", 0) <= width <= one["query"]["maxWidth"]]
    assert len(at) <= 1
    return bool((at[0] if at else rest)["option"]["series"][0]["label"]["show"])


def test_the_most_and_the_least_alike_are_named() -> None:
    assert starts.furthest([("a", "b", 1.0)]) == "'a' and 'b' are the most alike."
    assert starts.furthest([("a", "b", 1.0), ("a", "c", 3.0), ("b", "c", 2.0)]).endswith("'a' and 'c' the least.")


def test_where_the_usual_weights_cannot_be_had_the_reason_is_told_and_no_saving() -> None:
    reason = (
        "ImageNet's weights of resnet18 cannot be had here; of the cards that can, wheat is expected to be quickest."
    )
    advice = {"start": "wheat", "expected_saving": 0.0, "as_good": False, "reason": reason}
    told = starts.ranking_in_words({"target": "beans", "ranked": [{"name": "wheat"}], "advice": advice})
    assert told == f"Start 'beans' from 'wheat': {reason}"
    begun = starts.begun_in_words(StartedFrom("wheat", reason, "uuid"))
    assert begun == f"It begins with what was learnt for 'wheat'. {reason}"
