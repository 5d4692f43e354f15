"""`seedbed zoo`: what is there, what is brought in, and what a ranking comes to, in words."""

from pathlib import Path
from typing import Any

import pytest

from seedbed.assets.data.synthetic import write_leaves
from seedbed.assets.zoo.card import FURTHEST
from seedbed.base.errors import Failed
from seedbed.base.settings import Settings
from seedbed.faces.cli.commands.jobs import _say_starts
from seedbed.faces.cli.commands.zoo import _show_ranking
from seedbed.faces.cli.session import _raise_for, _spared
from seedbed.flows.kinds.models import Weights
from seedbed.flows.platform import Platform
from seedbed.methods.similarity.words import how_near
from tests.faces.cli.conftest import Asked, Seedbed
from tests.flows.zoo_parts import NETWORK, keep

LITE0 = "efficientnet_lite0.imagenet"


@pytest.fixture(scope="module")
def wheat(home: Path, tmp_path_factory: pytest.TempPathFactory) -> str:
    """A kept card in the home."""
    folder = tmp_path_factory.mktemp("wheat")
    keep(folder / "weights", "wheat", trained_on="wheat 2025", accuracy=0.912)
    with Platform.open(Settings(home=home)) as platform:
        return platform.store.publish(Weights(folder, {"card": ("wheat",)}).draft(name="wheat.weights")).uuid


def test_cards_are_listed_shown_and_removed(seedbed: Seedbed, asked: Asked, wheat: str) -> None:
    listed = seedbed("zoo", "list").stdout
    assert LITE0 in listed and "wheat 2025" in listed and "91.2%" in listed
    assert asked("zoo", "show", "wheat")["bundle"] == wheat
    assert "architecture" in seedbed("zoo", "show", "wheat").stdout
    unknown = seedbed("zoo", "show", "wheet")
    assert unknown.returncode == 5 and "Did you mean 'wheat'" in unknown.stderr
    assert seedbed("zoo", "rm", LITE0, "--yes").returncode == 6
    assert asked("zoo", "rm", "wheat", "--yes")["bundles"] == [wheat]
    assert "wheat" not in seedbed("zoo", "list").stdout


def test_what_is_in_memory_is_told(seedbed: Seedbed, asked: Asked) -> None:
    assert asked("zoo", "cache")["slots"] == 4
    told = seedbed("zoo", "cache")
    assert "No weights are in memory yet" in told.stdout and "0 of 4 places" in told.stderr
    assert asked("zoo", "cache", "--empty")["entries"] == []


def test_mistakes_are_sentences(seedbed: Seedbed, tmp_path: Path) -> None:
    (tmp_path / "w.pt").write_bytes(b"")
    for given, said in {
        ("nothing",): "no bundle 'nothing'",
        ("w.safetensors",): "no file or folder",
        (str(tmp_path / "w.pt"),): "architecture of a file",
        (str(tmp_path / "w.pt"), "--architecture", NETWORK, "--name", "auto"): "no card can have that name",
    }.items():
        done = seedbed("zoo", "import", *given)
        assert done.returncode != 0 and said in done.stderr, done.stderr


def test_with_nothing_to_choose_from_it_says_so(seedbed: Seedbed, asked: Asked, tmp_path: Path) -> None:
    write_leaves(tmp_path / "leaves", 2, seed=1)
    asked("data", "add", str(tmp_path / "leaves"), "--name", "leaves")
    for network in (LITE0, "nosuch"):
        told = " ".join(seedbed("zoo", "rank", "leaves", "--backbone", network).stdout.split())
        assert f"no weights for '{network}' were made or brought here" in told and "seedbed list backbones" in told
    assert asked("zoo", "rank", "leaves") == []


def ranking(**advice: Any) -> Any:
    expected = {"source": "wheat", "ratio": 0.5, "epoch_ratio": 0.7, "low": 0.4, "high": 0.9}
    one = {"name": "wheat", "trained_on": "wheat 2025", "distance": 3.0, "ratio": 0.5, "dsd": 0.25, "exact": True,
           "scores": {"knn": 0.05}, "expectation": expected, "in_memory": True}  # fmt: skip
    return {"ranked": [one, {**one, "name": "maize", "ratio": None}], "left_out": {"old": "It has no signature."},
            "learnt_from": {"outcomes": 6, "targets": 3}, "advice": advice, "baseline_data": ""}  # fmt: skip


def test_both_judgements_stand_side_by_side_with_the_reason_and_the_saving(capsys: pytest.CaptureFixture[str]) -> None:
    _show_ranking(ranking(start="wheat", reason="wheat is near and saves 30 %.", expected_saving=0.3, as_good=False))
    told = capsys.readouterr()
    for part in ("DSD, furthest = 1", "0.25", "0.50", "0.70 (0.40 to 0.90)", "knn +0.05", "in memory", "unknown"):
        assert part in told.out
    assert told.out.rstrip().endswith("Start from wheat: wheat is near and saves 30 %.")
    assert "Left out: old. It has no signature." in told.err and "6 measured starts on 3 data sets" in told.err


@pytest.mark.parametrize("ratio", [FURTHEST, FURTHEST - 0.1])
def test_a_distance_at_the_cap_is_told_as_one_and_the_page_says_so_likewise(
    capsys: pytest.CaptureFixture[str], ratio: float
) -> None:
    known = ranking(start=LITE0, reason="x", expected_saving=0.0, as_good=True)
    known["ranked"] = [{**known["ranked"][0], "ratio": ratio}]
    _show_ranking(known)
    told, capped = capsys.readouterr().out, ratio == FURTHEST
    assert (">= 100" in told, f"{ratio:.2f}" in told) == (capped, not capped)
    assert how_near(ratio, "ImageNet's").startswith("at least 100 times") == capped


def test_the_usual_weights_are_said_to_be_as_good(capsys: pytest.CaptureFixture[str]) -> None:
    _show_ranking(ranking(start=LITE0, reason="ImageNet is as good.", expected_saving=0.0, as_good=True))
    assert capsys.readouterr().out.rstrip().endswith(f"Start from {LITE0}: ImageNet is as good.")


def test_where_nothing_stands_for_imagenet_it_says_how_to_bring_that(capsys: pytest.CaptureFixture[str]) -> None:
    known = ranking(start=LITE0, reason="x", expected_saving=0.0, as_good=True)
    _show_ranking(known)
    assert "under a name with 'imagenet' in it, or name a data set in the setting baseline" in capsys.readouterr().err
    _show_ranking({**known, "baseline_data": "tiny-imagenet"})
    assert "setting baseline" not in capsys.readouterr().err


def job(name: str, state: str, inputs: dict[str, str], *spare: str) -> Any:
    spec = {"inputs": inputs, "spare": list(spare)}
    ended = 0.0 if state == "waiting" else 1.0
    return {"id": name, "name": name, "step": name, "state": state, "ended": ended, "reason": "", "spec": spec}


def test_a_command_ends_well_when_a_training_did_without_its_ranking() -> None:
    sign = job("sign", "failed", {"decoded": "job:decode/decoded"})
    rank = job("rank", "failed", {"signature": "job:sign/signature"})
    train = job("train", "done", {"weights": "job:rank/start"}, "weights")
    _raise_for([sign, rank, train])
    needs = job("train", "done", {"weights": "job:rank/start"})
    assert _spared(sign, [sign, rank, train]) and not _spared(sign, [sign, rank, needs])
    assert not _spared(sign, [sign]), "nobody did without it"
    beside = job("rank-weights", "failed", {"signature": "job:sign/signature"})
    _raise_for([sign, beside, job("train", "done", {})])
    with pytest.raises(Failed, match="The job rank-weights"):
        _raise_for([beside])


def test_of_several_trainings_each_says_what_it_started_from(capsys: pytest.CaptureFixture[str]) -> None:
    start: Any = {"card": "wheat", "reason": "It is near.", "ranking": "", "expected_saving": 0.0, "told": False}
    unknown: Any = {**start, "card": "", "reason": "The weights are being compared."}
    jobs = [job("one.train", "done", {}), job("one.evaluate", "done", {}), job("two.train", "waiting", {})]
    _say_starts(jobs[:2], {"one.train": start}, "started")
    assert capsys.readouterr().out == "It started from wheat: It is near.\n"
    _say_starts(jobs, {"one.train": start, "two.train": unknown}, "starts")
    assert capsys.readouterr().out.splitlines() == [
        "one.train starts from wheat: It is near.",
        "two.train starts from weights to be chosen: The weights are being compared.",
    ]
    lost: Any = {**start, "card": "", "reason": "The weights that were asked for have been removed.", "told": True}
    _say_starts(jobs[:1], {"one.train": lost}, "started")
    assert capsys.readouterr().out == "The weights that were asked for have been removed.\n"
    _say_starts(jobs, {"one.train": lost, "two.train": unknown}, "started")
    assert capsys.readouterr().out.startswith("one.train: The weights that were asked for have been removed.\n")
