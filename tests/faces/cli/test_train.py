"""`seedbed train`: every setting can be given, defaults are the method's, mistakes are sentences."""

from dataclasses import fields
from pathlib import Path

import pytest

from seedbed.assets.data.synthetic import write_leaves
from seedbed.base.errors import InvalidInput
from seedbed.flows.written import read_values, settings_from
from seedbed.methods.learn.settings import ON_A_GPU, Strength, TrainSettings
from tests.faces.cli.conftest import Asked, Seedbed


@pytest.fixture(scope="module")
def leaves(asked: Asked, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The truth of a data set of that name."""
    folder = tmp_path_factory.mktemp("drawn") / "leaves"
    truth = write_leaves(folder, 2, seed=1)
    asked("data", "add", str(folder), "--name", "leaves")
    return truth


def test_help_shows_the_defaults_of_the_method(seedbed: Seedbed) -> None:
    told = " ".join(seedbed("train", "--help").stdout.split())
    for name in ("algorithm", "start"):
        assert f"[default: {getattr(TrainSettings(), name)}]" in told
    choices = "the best weights of the zoo for that network; a card's name; pretrained: the network's usual ones; "
    assert f"{choices}none: from scratch. [default: auto]" in told
    for name, on_gpu in ((name, on_gpu) for name, on_gpu in ON_A_GPU.items() if name != "ema"):  # that is for --set
        on_cpu = TrainSettings().rate() if name == "learning_rate" else getattr(TrainSettings(), name)
        differs = f"; {on_gpu} on a GPU" if on_gpu != on_cpu else ""
        assert f"[default: {on_cpu}{differs}]" in told


@pytest.mark.parametrize("name", [field.name for field in fields(TrainSettings) if field.name != "classes"])
def test_every_setting_can_be_given(name: str) -> None:
    assert settings_from({name: 1}, {}) == {name: 1}


@pytest.mark.parametrize("name", [field.name for field in fields(Strength)])
def test_every_part_of_the_augmentation_can_be_given(name: str) -> None:
    assert settings_from({f"augment.{name}": 1}, {}) == {"augment": {name: 1}}


def test_any_other_name_is_an_option_of_the_algorithm() -> None:
    given = settings_from({"threshold": 0.8, "ema": 0.9}, {"algorithm": "fixmatch"})
    assert given == {"algorithm": "fixmatch", "options": {"threshold": 0.8}, "ema": 0.9}


def test_a_setting_that_is_given_twice_is_refused() -> None:
    with pytest.raises(InvalidInput, match="learning_rate is given twice"):
        settings_from({"learning_rate": 1}, {"learning_rate": 2})


def test_numbers_that_are_not_finite_are_refused_by_name_wherever_they_stand() -> None:
    free = {"ema": float("nan"), "threshold": float("inf"), "augment.turn": -float("inf"), "clip": 1.0}
    with pytest.raises(InvalidInput) as refused:
        settings_from(free, {"learning_rate": float("inf"), "values": read_values("0,nan"), "algorithm": "nan"})
    given = ["learning_rate is inf", "values is nan", "ema is nan", "options is inf", "augment is -inf"]
    assert refused.value.problems == tuple(f"{one}; it must be a finite number." for one in given)


def test_values_of_ordered_classes_are_a_list_or_named() -> None:
    assert read_values("0, 10,25") == [0, 10, 25]
    assert read_values("none=0,up to a=b=10") == {"none": 0, "up to a=b": 10}
    for wrong in ("0,low=10", "none=,low=1", "few"):
        with pytest.raises(InvalidInput, match="it takes numbers"):
            read_values(wrong)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["one", "--data", "two"], "given twice"),
        (["--data", "none", "--labels", "none.csv"], "There is no file none.csv"),
        (["--data", "nope"], "See which there are: seedbed data list. Bring images in: seedbed data add FOLDER."),
        ([], "There is no data set to train on"),
    ],
)
def test_mistakes_are_sentences(seedbed: Seedbed, given: list[str], said: str) -> None:
    done = seedbed("train", *given)
    assert done.returncode != 0 and done.stdout == ""
    assert said in " ".join(done.stderr.split())


def test_numbers_without_end_and_augmentation_that_cannot_be_are_sentences(seedbed: Seedbed, leaves: Path) -> None:
    wrong = {"clip": "inf", "weight": "inf", "augment.turn": "nan", "augment.zoom": "-2", "augment.operations": "99"}
    given = [part for name, value in wrong.items() for part in ("--set", f"{name}={value}")]
    done = seedbed("train", "leaves", "--labels", str(leaves), *given)
    told = " ".join(done.stderr.split())
    assert done.returncode == 2 and "could not be prepared" not in told
    assert all(f"{name} is {value}" in told for name, value in wrong.items())


def test_several_machines_are_refused_in_a_sentence(seedbed: Seedbed, leaves: Path) -> None:
    done = seedbed("train", "--data", "leaves", "--labels", str(leaves), "--nodes", "2")
    assert done.returncode == 2 and "no executor here has several machines" in done.stderr
    given = ["--algorithm", "fixmach", "--backbone", "vit_tinny", "--lr", "-1", "--set", "stepz=3"]
    wrong = seedbed("train", "leaves", *given)
    assert all(said in wrong.stderr for said in ("'fixmatch'", "'vit_tiny'", "--lr is -1.0"))


def test_mistakes_name_the_option_where_one_was_given_and_else_the_setting(seedbed: Seedbed, leaves: Path) -> None:
    given = ["--lr", "-1", "--batch", "0", "--unlabelled-batch", "0", "--backbone", "vit_tinny"]
    told = " ".join(
        seedbed("train", "leaves", "--labels", str(leaves), *given, "--set", "report_every=0").stderr.split()
    )
    for said in ("--lr is -1.0;", "--batch is 0;", "--unlabelled-batch is 0;", "--backbone: there is no backbone"):
        assert f" {said}" in told
    assert " report_every is 0;" in told and "labelled_batch" not in told
    assert "learning_rate is -1.0;" in seedbed("train", "leaves", "--set", "learning_rate=-1").stderr
    assert "--lr is nan;" in seedbed("train", "leaves", "--lr", "nan").stderr
    assert "--size is 2;" in seedbed("train", "leaves", "--labels", str(leaves), "--size", "2").stderr
    assert seedbed("train", "leaves", "--values", "few").stderr.startswith("--values is 'few';")


@pytest.mark.parametrize(
    ("classes", "given", "said"),
    [
        (["healthy"] * 6, [], "1 class is known of 'leaves'; at least 2 are needed."),
        (["healthy"] * 6, ["--values", "healthy=0"], "values has 1 number"),
        (["healthy", "sick"] * 3, ["--algorithm", "one-class"], "The labels name 2 classes (healthy, sick)"),
        (["healthy", "sick"] * 3, ["--algorithm", "one-class", "--good", "helthy"], "Did you mean 'healthy'?"),
        (["healthy", "sick"] * 3, ["--values", "0,10"], "'healthy' has no number in its name"),
        (["healthy", "sick"] * 3, ["--values", "healthy=0,sik=10"], "values names 'sik', which no label names"),
        (["0 %", "10 %", "50 %"] * 2, ["--values", "0,10"], "2 numbers for 3 classes of the labels: 0 %, 10 %, 50 %"),
    ],
)
def test_labels_that_do_not_fit_are_refused_before_anything_runs(
    seedbed: Seedbed, tmp_path: Path, leaves: Path, classes: list[str], given: list[str], said: str
) -> None:
    rows = [f"leaf-{number:05}.jpg,{klass}" for number, klass in enumerate(classes)]
    (tmp_path / "labels.csv").write_text("\n".join(["file,class", *rows]) + "\n")
    done = seedbed("train", "leaves", "--labels", str(tmp_path / "labels.csv"), "--steps", "1", *given)
    assert done.returncode == 2 and said in " ".join(done.stderr.split())
    assert "sample-labels" not in seedbed("jobs", "list", "--json").stdout


def test_classes_with_fewer_labels_than_were_asked_for_are_told_of(seedbed: Seedbed, leaves: Path) -> None:
    kinds = leaves.parent / "by-kind"
    for kind in ("healthy", "rust"):
        write_leaves(kinds / kind, 1, seed=len(kind))  # six images each
    seedbed("data", "add", str(kinds), "--name", "by-kind")

    def told(per_class: int) -> str:
        given = ["--input", "data=by-kind", "--param", f"per_class={per_class}"]
        return seedbed("jobs", "submit", "sample-labels", *given).stdout

    assert "8 labels, as not every class has 1,000 beside those put aside for the test" in told(1000)
    assert all("not every class" not in told(per_class) for per_class in (0, 4))


@pytest.mark.slow
def test_a_training_that_ended_early_says_so_and_its_test_what_it_noted(seedbed: Seedbed, leaves: Path) -> None:
    small = ["--backbone", "test_vit", "--weights", "none", "--size", "32", "--batch", "4", "--unlabelled-batch", "4"]
    still = ["--steps", "6", "--lr", "1e-9", "--set", "evaluate_every=1", "--patience", "1"]
    told = " ".join(seedbed("train", "leaves", "--labels", str(leaves), *small, *still).stdout.split())
    assert "ended early after 4 of 6 steps" in told  # in its second half, when no answer has changed
    _, _, after = told.partition("of the test images are right")
    assert "No temperature was fitted" in after


def test_lists_say_what_there_is_to_choose(seedbed: Seedbed) -> None:
    algorithms = seedbed("list", "algorithms").stdout
    assert "fixmatch" in algorithms and "supervised" in algorithms
