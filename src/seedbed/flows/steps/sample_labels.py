"""Labels of a few images, as an expert would give them, and images held out for the test."""

from collections.abc import Iterable, Mapping
from typing import Self, TypedDict

from pydantic import Field, model_validator

from seedbed.assets.data.splits import Split, by_group, groups_of, k_fold, k_fold_by_group, stratified
from seedbed.base.errors import InvalidInput
from seedbed.base.ids import digest_of
from seedbed.base.registry import near_matches
from seedbed.base.resources import Resources
from seedbed.base.run import RunContext
from seedbed.flows.kinds.data import DataSet
from seedbed.flows.kinds.labels import Labels
from seedbed.flows.step import Params, step
from seedbed.methods.learn.settings import ENOUGH_GOOD, LEAST_GOOD

LEAST = 2  # classes that there must be to tell apart


class SampleLabelsParams(Params):
    """How many labels, and how much is held out."""

    per_class: int = Field(8, ge=0, description="Labels per class; 0: all that there are.")
    test_share: float = Field(0.3, gt=0, lt=1, description="Share of the known images held out for the test.")
    group: str = Field("", description="Column whose groups (plant, plot, day) stay on one side.")
    folds: int = Field(0, ge=0, description="Test on one of so many equal parts, whatever test_share says; 0: do not.")
    fold: int = Field(0, ge=0, description="Which of the folds is held out, counted from 0.")
    least: int = Field(LEAST, ge=1, description="Classes that must be known at least; 1 where only good parts are.")
    good: str = Field("", description="Of several classes, the one of good parts, where only those are learnt from.")

    @model_validator(mode="after")
    def _fold_is_one_of_them(self) -> Self:
        if self.folds == 1:
            raise ValueError("folds is 1; divide into at least 2, or write 0 for a single test share")
        if self.fold >= max(self.folds, 1):
            raise ValueError(f"fold is {self.fold}; of {self.folds} folds the last is {max(self.folds, 1) - 1}")
        return self


class Sampled(TypedDict):
    """Labels to train with, and the truth of images that training must not see."""

    labels: Labels
    test: Labels


@step(
    "sample-labels",
    methods=("seedbed.assets.data.splits",),
    resources=Resources(cpus=0.5, memory=512 << 20),
    seed_matters=True,
)
def sample_labels(data: DataSet, params: SampleLabelsParams, run: RunContext, truth: Labels | None = None) -> Sampled:
    """Holds out test images, and of the rest takes a few labels per class, chosen by seed."""
    known = data.classes_by_image(truth.rows() if truth else None)
    classes = len(set(known.values()))
    if classes < params.least:
        raise too_few(classes, data.name, params.least)
    test = _held_out(data, known, params, run.seed)
    if not test:
        raise InvalidInput(
            f"None of the {len(known)} labels of '{data.name}' can be put aside for the test.",
            hint="Give a class at least 2 labels, or put a larger share aside.",
        )
    rest = {image: klass for image, klass in known.items() if image not in test}
    if params.least > 1:
        _refuse_lost(known, rest, params)
    chosen = _few(rest, params.per_class, run.seed)
    if params.least == 1:
        _refuse_few_good(known, test, chosen, params)
    files = data.files()
    run.report(
        {"labels": len(chosen), "test": len(test), "classes": len(set(known.values()))},
        step=1,
        total=1,
        doing="labelled",
    )
    return {
        "labels": Labels.write(run.folder / "labels", chosen, files),
        "test": Labels.write(run.folder / "test", test, files),
    }


def too_few(classes: int, name: str, least: int = LEAST) -> InvalidInput:
    """So many classes cannot be told apart."""
    named = f"{classes} classes are" if classes != 1 else "1 class is"
    return InvalidInput(
        f"{named} known of '{name}'; at least {least} are needed.",
        hint="Label images of every class, or give them a folder each; where only good parts are known: "
        "--algorithm one-class.",
    )


def unnamed_good(good: str, classes: Iterable[str]) -> InvalidInput:
    """No label names this class of good parts."""
    return InvalidInput(f"good is '{good}', which no label names.", hint=near_matches(good, sorted(classes)))


def _held_out(data: DataSet, known: Mapping[str, str], params: SampleLabelsParams, seed: int) -> dict[str, str]:
    """The test images: the fold that is asked for, else those that the data set itself names, else a share."""
    if params.folds:
        return {image: known[image] for image in _folds(data, known, params, seed)[params.fold].test}
    given = {record.id for record in data.records if record.split == "test"} & known.keys()
    if given:
        return {image: known[image] for image in given}
    if params.group:
        split = by_group(known, groups_of(data.records, params.group), seed=seed, test_share=params.test_share)
    else:
        split = stratified(known, seed=seed, test_share=params.test_share)
    return {image: known[image] for image in split.test}


def _folds(data: DataSet, known: Mapping[str, str], params: SampleLabelsParams, seed: int) -> list[Split]:
    if not params.group:
        return k_fold(known, folds=params.folds, seed=seed)
    return k_fold_by_group(known, groups_of(data.records, params.group), folds=params.folds, seed=seed)


def _refuse_lost(known: Mapping[str, str], rest: Mapping[str, str], params: SampleLabelsParams) -> None:
    """A class that is only in the test cannot be learnt."""
    if lost := sorted(set(known.values()) - set(rest.values())):
        by = f", since each value of '{params.group}' stays on one side" if params.group else ""
        raise InvalidInput(
            f"All labels of {', '.join(lost[:10])} would be put aside for the test{by}: none would be left to learn.",
            hint="Label more images of it, put a smaller share aside, or leave the class out.",
        )


def _refuse_few_good(
    known: Mapping[str, str], test: Mapping[str, str], chosen: Mapping[str, str], params: SampleLabelsParams
) -> None:
    """Where only good parts are learnt from, enough of them must be left beside the test."""
    classes = set(known.values())
    if params.good and params.good not in classes:
        raise unnamed_good(params.good, classes)
    names = {params.good} if params.good else classes
    given, aside, left = (sum(klass in names for klass in labels.values()) for labels in (known, test, chosen))
    if len(names) == 1 and left < LEAST_GOOD:
        asked = f" {params.per_class:,} of each class are asked for." if given - aside > left else ""
        there_are = given - aside >= LEAST_GOOD
        more = "Ask for more of each class (--labels-per-class; 0: all)" if there_are else "Label more good parts"
        raise InvalidInput(
            f"{given} {'image is' if given == 1 else 'images are'} labelled '{min(names)}', and {aside} of them "
            f"{'is' if aside == 1 else 'are'} put aside for the test.{asked} That leaves {left} to learn from; "
            f"at least {LEAST_GOOD} are needed.",
            hint=f"{more}: {ENOUGH_GOOD} or more make the threshold a good one.",
        )


def _few(known: Mapping[str, str], per_class: int, seed: int) -> dict[str, str]:
    if per_class == 0:
        return dict(known)
    chosen: dict[str, str] = {}
    for klass in sorted(set(known.values())):
        images = [image for image, its in known.items() if its == klass]
        # by digest, so that the choice does not depend on the order of records or of other classes
        images.sort(key=lambda image: digest_of(["label", seed, image]))
        chosen |= dict.fromkeys(images[:per_class], klass)
    return chosen
