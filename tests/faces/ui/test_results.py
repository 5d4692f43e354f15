"""What results say in words."""

from collections.abc import Mapping

from seedbed.assets.store.bundle import Array, ArrayType, Bundle, Lineage
from seedbed.faces.ui.results import (
    Called,
    accuracy_in_words,
    mistakes_in_words,
    models_in_words,
    newest_tests,
    off_in_words,
    roughly_in_words,
    sample,
    scores_in_words,
)
from seedbed.flows.quality import likely_between

FACTS = {
    "count": 20,
    "accuracy": 0.85,
    "classes": [{"name": "healthy"}, {"name": "rust"}, {"name": "blight"}],
    "confusion": [[7, 0, 0], [1, 5, 2], [0, 0, 5]],
}


def test_accuracy_is_told_in_images():
    assert accuracy_in_words(FACTS) == "Of 20 images that it had not seen, the model names 17 correctly: 85 %."


def test_the_most_frequent_mistake_is_named():
    assert mistakes_in_words(FACTS) == "Its most frequent mistake: 2 images of rust called blight."
    assert (
        mistakes_in_words({**FACTS, "confusion": [[7, 0, 0], [0, 8, 0], [0, 0, 5]]}) == "It makes no mistake on them."
    )


def test_a_mistake_that_happened_once_is_not_called_frequent():
    once = {**FACTS, "confusion": [[7, 0, 0], [1, 7, 0], [0, 1, 4]]}
    assert mistakes_in_words(once) == "It makes 2 mistakes, and none of them twice."
    only = {**FACTS, "confusion": [[7, 0, 0], [0, 6, 2], [0, 0, 5]]}
    assert mistakes_in_words(only) == "All that it mistakes: 2 images of rust called blight."


def test_few_test_images_are_said_to_be_few():
    assert roughly_in_words(14, *likely_between(11, 14)) == (
        "With only 14 test images this is a rough figure: on many more it would likely lie between 53 % and 94 %."
    )
    assert roughly_in_words(400, *likely_between(340, 400)).startswith("With 400 test images this is a rough figure")
    assert roughly_in_words(4000, *likely_between(3400, 4000)) == ""


def test_bins_of_a_percentage_say_how_far_off_they_are():
    assert (
        off_in_words({**FACTS, "mean_absolute_error": 6.234}) == "What it says is 6.2 percentage points off on average."
    )
    assert off_in_words({**FACTS, "mean_absolute_error": None}) == off_in_words(FACTS) == ""


def test_of_each_class_it_is_said_how_many_were_found_and_how_many_were_right():
    facts = {**FACTS, "confusion": [[7, 0, 0], [3, 5, 0], [0, 0, 0]]}
    assert scores_in_words(facts) == [
        ("healthy", "7 of 7 (100 %)", "7 of 10 (70 %)"),
        ("rust", "5 of 8 (62 %)", "5 of 5 (100 %)"),
        ("blight", "not in the test", "never said"),
    ]


def test_of_ordered_classes_the_value_to_be_expected_is_told_beside_how_sure_the_model_is():
    assert Called("a.jpg", "25 to 50 %", 0.734, 34.26).in_words() == "about 34.3, 73 % sure"
    assert Called("a.jpg", "rust", 0.734).in_words() == "73 % sure"


def test_a_sample_shows_every_class_and_keeps_the_numbers_of_the_images():
    called = [Called(f"{number}.jpg", "rare" if number == 90 else "often", 0.9) for number in range(100)]
    chosen = sample(called, 6)
    assert {one.label for _, one in chosen} == {"rare", "often"}
    assert all(called[number] == one for number, one in chosen)
    assert len(chosen) <= 6


def test_a_sample_of_nothing_is_empty():
    assert sample([], 6) == []


def test_a_model_is_shown_with_its_newest_test():
    model = _bundle("main")
    newest, older = _report(model, 0.7), _report(model, 0.99)
    assert newest_tests([newest, older]) == {model.uuid: (newest.uuid, 0.7)}


def test_the_model_that_is_named_is_the_one_that_did_best_in_its_newest_test():
    newer, older, untested = (_bundle(name) for name in ("labels-alone", "main", "untested"))
    reports = [_report(newer, 0.7), _report(older, 0.875), _report(newer, 0.99)]  # the newest first
    assert (
        models_in_words([untested, newer, older], reports)
        == "the best of 3 models is main, right on 87.5 % of its test images"
    )
    assert models_in_words([older], reports) == "the model is main, right on 87.5 % of its test images"
    assert models_in_words([untested], reports) == "the newest of 1 model is untested, which was not tested yet"


def _bundle(name: str, arrays: Mapping[str, Array] | None = None, lineage: Lineage | None = None) -> Bundle:
    return Bundle(name, name, "any", "", 0.0, {}, arrays or {}, lineage or Lineage(), False, "", "")


def _report(model: Bundle, accuracy: float) -> Bundle:
    made = Lineage(step="evaluate", inputs=(("model", model.uuid), ("test", "t")))
    return _bundle("report", {"accuracy": Array(ArrayType.FLOAT, (accuracy,))}, made)
