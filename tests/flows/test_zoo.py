"""The zoo in a running service: what is kept, how a training's start is chosen, told and learnt from."""

import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from seedbed.assets.access.roles import SOLO, Identity, Role
from seedbed.assets.data.synthetic import write_leaves
from seedbed.assets.store.bundle import Bundle, Lineage
from seedbed.assets.zoo.catalogue import CARDS
from seedbed.base.errors import Conflict, Forbidden, InvalidInput, NotFound
from seedbed.base.ids import new_id
from seedbed.base.settings import Settings
from seedbed.flows.kinds.kind import put
from seedbed.flows.kinds.models import Model, Weights
from seedbed.flows.kinds.zoo import Ranking, Shortlist
from seedbed.flows.platform import Platform
from seedbed.runtime.jobs.records import Job
from seedbed.runtime.jobs.states import State
from tests.flows.zoo_parts import NETWORK, keep, signature

LITE0 = "efficientnet_lite0.imagenet"
Kept = Callable[..., Bundle]


@pytest.fixture(scope="module")
def prepared(leaves: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with leaves and the classes that they came with, decoded."""
    home = tmp_path_factory.mktemp("prepared") / "home"
    with Platform.open(Settings(home=home, port=0, cpus=4)) as platform:
        job = platform.data.add(leaves, name="leaves", size=32, by=SOLO)
        (done,) = platform.run_until_done([job.id])
    assert done.state is State.DONE, done.reason
    return home


@pytest.fixture
def data(prepared: Path, platform: Platform) -> str:
    """Those leaves, in the home of the test."""
    return str(platform.data.show("leaves", by=SOLO)["uuid"])


@pytest.fixture
def keeping(platform: Platform, tmp_path: Path) -> Kept:
    """Puts a card of the smallest network into the zoo."""

    def put(name: str, *, project: str = "", compared: bool = True, network: str = NETWORK) -> Bundle:
        place = tmp_path / name
        known = ""
        if compared:
            made = signature(tmp_path / f"{name} behind", "fields", name=f"{name} data")
            known = platform.store.publish(made.draft(name=f"{name}.signature", project=project)).uuid
        keep(place / "weights", name, signature=known, trained_on=f"{name} data", images=24, accuracy=0.9)
        if network != NETWORK:
            card = place / "weights" / "card.json"
            card.write_text(json.dumps(json.loads(card.read_text()) | {"architecture": network}))
        draft = Weights(place, {"card": (name,), "architecture": (network,)}).draft(
            name=f"{name}.weights", project=project, lineage=Lineage("import-weights")
        )
        return platform.store.publish(draft)

    return put


def train(platform: Platform, truth: Path, **how: Any) -> dict[str, Job]:
    params = {"size": 32, "start": NETWORK, "steps": 4, **how.pop("params", {})}
    jobs = platform.models.train("leaves", str(truth), params=params, by=SOLO, **how)
    return {job.step: job for job in jobs}


def end(platform: Platform, job: Job, state: State, **values: Any) -> None:
    with platform.database.write() as conn:
        platform.queue.transition(conn, job.id, State.STARTING)
        platform.queue.transition(conn, job.id, State.RUNNING)
        platform.queue.transition(conn, job.id, state, **values)


def advised(platform: Platform, tmp_path: Path, rank: Job, start: str = "kindred", high: float = 0.8) -> str:
    """End a ranking job with made-up advice."""
    expected = {"source": start, "ratio": 0.4, "epoch_ratio": 0.5, "low": 0.3, "high": high}
    facts = {
        "target": "leaves", "images": 40, "baseline": NETWORK,
        "ranked": [{"name": start, "ratio": 0.4, "expectation": expected, "evidence": {
            "target": "leaves", "source": start, "ratio": 0.4, "scores": {}}}],
        "advice": {"start": start, "reason": f"{start} is near.", "expected_saving": 0.5, "as_good": False},
    }  # fmt: skip
    made = platform.store.publish(Ranking.write(tmp_path / f"ranking {rank.id}", facts).draft(name="leaves.ranking"))
    end(platform, rank, State.DONE, outputs={"ranking": made.uuid, "start": made.uuid})
    return made.uuid


def test_with_nothing_to_choose_from_nothing_changes(platform: Platform, data: str, truth: Path) -> None:
    jobs = train(platform, truth)
    assert "signature" not in jobs and "rank-weights" not in jobs
    assert "weights" not in jobs["train"].spec.inputs
    told = platform.zoo.start_of(jobs["train"].id, by=SOLO)
    assert told.card == NETWORK and "no others were compared" in told.reason
    assert platform.zoo.rank("leaves", network=NETWORK, by=SOLO) == []


def test_weights_of_the_same_network_are_ranked_before_the_training(
    platform: Platform, data: str, truth: Path, keeping: Kept
) -> None:
    keeping("kindred")
    keeping("other network", network="resnet18")
    jobs = train(platform, truth)
    rank, training = jobs["rank-weights"], jobs["train"]
    assert training.spec.inputs["weights"] == f"job:{rank.id}/start" and training.spec.spare == ("weights",)
    assert rank.spec.inputs["signature"] == f"job:{jobs['signature'].id}/signature"
    assert jobs["signature"].spec.inputs["labels"] == training.spec.inputs["labels"], "no label of the test is seen"
    assert rank.spec.resources.gpus == jobs["signature"].spec.resources.gpus == 0
    listed = platform.store.get(rank.spec.inputs["shortlist"])
    names = [link.name for link in listed.arrays["cards"].files]
    assert names == ["00000/card.json", "00000/weights.safetensors", "00000/signature.safetensors"]
    again = train(platform, truth)
    assert again["rank-weights"].spec.inputs["shortlist"] == listed.uuid, "the same zoo is the same shortlist"
    assert not train(platform, truth, weights="none")["train"].spec.inputs.get("weights")
    assert "rank-weights" not in train(platform, truth, weights="pretrained")
    assert "rank-weights" not in train(platform, truth, params={"start": "resnet50"})


def test_all_data_sets_are_looked_at_alike_whatever_a_training_sees_them_at(
    platform: Platform, data: str, truth: Path, keeping: Kept
) -> None:
    keeping("kindred")
    jobs = train(platform, truth)
    look = jobs["decode"]  # the data set was taken in at 32 px, and is trained on so
    assert look.spec.params == {"size": 64} and look.name == "leaves.look.decode"
    assert jobs["signature"].spec.inputs["decoded"] == f"job:{look.id}/decoded"
    own = jobs["rank-weights"].spec.inputs["decoded"]
    assert own == jobs["train"].spec.inputs["decoded"] and "look" not in own
    ranked = platform.zoo.rank("leaves", network=NETWORK, by=SOLO)
    assert [job.step for job in ranked] == ["decode", "signature", "rank-weights"]
    (fine,) = platform.run_until_done([platform.data.add(leaves_of(data, platform), name="fine", size=96, by=SOLO).id])
    named = platform.zoo.rank("fine", network=NETWORK, by=SOLO)
    assert [job.step for job in named] == ["signature", "rank-weights"], "larger pixels are there already"
    assert named[0].spec.inputs["decoded"] == fine.outputs["decoded"]


def test_a_data_set_with_imagenet_in_its_name_stands_for_it_unless_the_setting_names_another(
    platform: Platform, data: str, truth: Path, keeping: Kept, tmp_path: Path
) -> None:
    keeping("kindred")
    assert "baseline" not in train(platform, truth)["rank-weights"].spec.inputs
    write_leaves(tmp_path / "photos", 2, seed=1, size=32, by_class=True)
    add = platform.data.add(tmp_path / "photos", name="Tiny-ImageNet", size=64, by=SOLO)
    platform.run_until_done([add.id])
    flow = platform.models.train(
        "leaves", str(truth), params={"size": 32, "start": NETWORK, "steps": 4}, by=SOLO, weights="auto"
    )
    jobs = {job.name: job for job in flow}
    making = jobs["Tiny-ImageNet.look.signature"]
    assert jobs["leaves.rank-weights"].spec.inputs["baseline"] == f"job:{making.id}/signature"
    itself = platform.zoo.rank("Tiny-ImageNet", network=NETWORK, by=SOLO)
    assert len({job.name for job in itself}) == len(itself)


def leaves_of(data: str, platform: Platform) -> Path:
    """The folder that a data set was taken in from."""
    job = platform.queue.get(platform.store.get(data).lineage.job)
    return Path(str(job.spec.params["source"]))


def test_cards_of_another_project_are_not_offered(platform: Platform, data: str, truth: Path, keeping: Kept) -> None:
    theirs = platform.projects.create("theirs", by=SOLO)
    keeping("secret", project=theirs.id)
    assert "rank-weights" not in train(platform, truth)
    somebody = Identity("x", "x", Role.TRAINER, {})
    assert "secret" not in [card["name"] for card in platform.zoo.cards(by=somebody)]
    with pytest.raises(NotFound, match="no card named 'secret'"):
        platform.zoo.show("secret", by=somebody)


def test_a_card_that_is_asked_for_is_taken_and_one_that_cannot_be_is_refused(
    platform: Platform, data: str, truth: Path, keeping: Kept
) -> None:
    kept = keeping("kindred")
    jobs = train(platform, truth, weights="kindred")
    assert jobs["train"].spec.inputs["weights"] == kept.uuid
    assert not {jobs["rank-weights"].id, jobs["signature"].id} & set(jobs["train"].spec.dependencies), "none waits"
    assert platform.zoo.start_of(jobs["train"].id, by=SOLO).card == "kindred"
    plain = platform.models.train("leaves", str(truth), weights="kindred", params={"size": 32}, by=SOLO)
    assert next(job for job in plain if job.step == "train").spec.params["start"] == NETWORK
    with pytest.raises(InvalidInput, match="are for the network 'test_resnet', not for 'resnet18'"):
        train(platform, truth, weights="kindred", params={"start": "resnet18"})
    with pytest.raises(NotFound, match="no card named 'kindled'") as refused:
        train(platform, truth, weights="kindled")
    assert "'kindred'" in refused.value.hint
    own = train(platform, truth, weights=LITE0, params={"start": LITE0})
    assert own["train"].spec.params["start"] == LITE0 and "weights" not in own["train"].spec.inputs


def test_the_cards_that_fit_a_network_are_those_that_can_be_asked_for(platform: Platform, keeping: Kept) -> None:
    theirs = platform.projects.create("theirs", by=SOLO)
    keeping("kindred")
    keeping("other network", network="resnet18")
    keeping("lite", network="tf_efficientnet_lite0")
    keeping("secret", project=theirs.id)

    def names(network: str, by: Identity = SOLO) -> list[str]:
        return [card["name"] for card in platform.zoo.fitting(network, 32, by=by)]

    assert names(NETWORK) == ["kindred", "secret"]
    assert names(NETWORK, Identity("x", "x", Role.TRAINER, {})) == ["kindred"]
    assert names("efficientnet_lite0") == names(LITE0) == ["lite"], "a network has several names"
    assert names("no such network") == []


def test_a_ranking_that_fails_does_not_stop_the_training(
    platform: Platform, data: str, truth: Path, keeping: Kept
) -> None:
    keeping("kindred")
    jobs = train(platform, truth)
    assert "being compared" in platform.zoo.start_of(jobs["train"].id, by=SOLO).reason
    end(platform, jobs["rank-weights"], State.FAILED, reason="No room.")
    told = platform.zoo.start_of(jobs["train"].id, by=SOLO)
    assert told.card == NETWORK and "could not be compared (No room)" in told.reason


def trained(platform: Platform, tmp_path: Path, job: Job, *, planned: int = 4) -> Bundle:
    """End a training with a made-up model that started from "kindred"."""
    model = Model(tmp_path / job.id, {"started_from": ("kindred",), "architecture": (NETWORK,), "steps": (4,),
                                      "planned": (planned,), "best_step": (2,), "images": (42,)})  # fmt: skip
    put(tmp_path / job.id / "model" / "model.json", json.dumps({"calibrated_on": 40}))
    model.add_curve([{"step": 0, "accuracy": 0.5}, {"step": 2, "accuracy": 0.8}, {"step": 4, "accuracy": 0.7}])
    lineage = Lineage("train", {}, (("decoded", job.spec.inputs["decoded"]),), job=job.id)
    made = platform.store.publish(model.draft(name="leaves.model", lineage=lineage))
    end(platform, job, State.DONE, outputs={"model": made.uuid})
    return made


@pytest.mark.parametrize("first", ["train", "rank-weights"])
def test_a_training_that_was_told_what_to_start_from_is_learnt_from_when_its_ranking_is_there(
    platform: Platform, data: str, truth: Path, keeping: Kept, tmp_path: Path, first: str
) -> None:
    keeping("kindred"), keeping("other")
    jobs = train(platform, truth, weights="kindred")
    endings = {
        "train": lambda: trained(platform, tmp_path, jobs["train"]),
        "rank-weights": lambda: advised(platform, tmp_path, jobs["rank-weights"]),
    }
    endings.pop(first)()
    platform.catch_up()
    assert platform.store.find(kind="outcome") == []
    (last,) = endings.values()
    last()
    platform.catch_up()
    (outcome,) = platform.store.find(kind="outcome")
    facts = json.loads(platform.store.path_of(outcome.arrays["outcome"].files[0].digest).read_text())
    assert facts["start"] == "kindred" and facts["evidence"]["ratio"] == 0.4
    told = platform.zoo.start_of(jobs["train"].id, by=SOLO)
    assert told.told and told.ranking and told.reason == "These weights were asked for."
    assert platform.zoo.cache(by=SOLO)["held"] == {}, "nothing was chosen for it"


def test_a_training_is_recorded_even_where_the_ranking_beside_it_failed(
    platform: Platform, data: str, truth: Path, keeping: Kept, tmp_path: Path
) -> None:
    keeping("kindred")
    jobs = train(platform, truth, weights="kindred")
    trained(platform, tmp_path, jobs["train"])
    end(platform, jobs["rank-weights"], State.FAILED, reason="No room.")
    platform.catch_up()
    assert len(platform.store.find(kind="outcome")) == 1


def test_a_training_that_was_to_take_fewer_steps_is_not_compared_with_a_full_one(
    platform: Platform, data: str, truth: Path, tmp_path: Path
) -> None:
    jobs = [train(platform, truth)["train"] for _ in range(3)]
    for job, steps in zip(jobs, (240, 240, 190), strict=True):
        trained(platform, tmp_path, job, planned=steps)
    platform.catch_up()
    outcomes = platform.store.find(kind="outcome", all_versions=True)
    facts = {one.lineage.job: platform.store.path_of(one.arrays["outcome"].files[0].digest) for one in outcomes}
    full, again, shortened = (json.loads(facts[job.id].read_text())["alike"] for job in jobs)
    assert full == again != shortened


def test_who_says_how_long_to_train_is_not_given_fewer_steps(
    platform: Platform, data: str, truth: Path, keeping: Kept
) -> None:
    keeping("kindred")
    for said in ({"steps": 4}, {"epochs": 2.0}, {"patience": 3}, {}):
        jobs = platform.models.train("leaves", str(truth), params={"size": 32, "start": NETWORK, **said}, by=SOLO)
        (rank,) = (job for job in jobs if job.step == "rank-weights")
        assert rank.spec.params.get("shorten", False) == (not said)
    asked = {"size": 32, "start": NETWORK}
    jobs = platform.models.train("leaves", str(truth), params=asked, weights="kindred", by=SOLO)
    assert not any(job.spec.params.get("shorten") for job in jobs), "nothing is chosen"


def test_the_reason_is_on_the_job_and_the_model_and_what_came_of_it_is_recorded(
    platform: Platform, data: str, truth: Path, keeping: Kept, tmp_path: Path
) -> None:
    keeping("kindred")
    jobs = train(platform, truth)
    ranking = advised(platform, tmp_path, jobs["rank-weights"])
    told = platform.zoo.start_of(jobs["train"].id, by=SOLO)
    assert (told.card, told.reason, told.ranking, told.expected_saving) == ("kindred", "kindred is near.", ranking, 0.5)
    made = trained(platform, tmp_path, jobs["train"])
    platform.catch_up()
    tags = platform.store.get(made.uuid).tags
    assert tags["started-from"] == "kindred" and tags["why"] == "kindred is near."
    (outcome,) = platform.store.find(kind="outcome")
    (link,) = outcome.arrays["outcome"].files
    facts = json.loads(platform.store.path_of(link.digest).read_text())
    assert (facts["target"], facts["start"], facts["baseline"]) == ("leaves", "kindred", NETWORK)
    assert facts["curve"] == [0.5, 0.8, 0.7] and facts["judges"] == 40
    assert facts["best_step"] == 2 and facts["evidence"]["ratio"] == 0.4
    listed = platform.store.get(train(platform, truth)["rank-weights"].spec.inputs["shortlist"])
    assert [link.name for link in listed.arrays["outcomes"].files] == [f"{outcome.uuid}.json"]


def test_the_weights_that_the_queue_gains_most_from_stay_in_memory_and_say_why(
    platform: Platform, data: str, truth: Path, keeping: Kept, tmp_path: Path
) -> None:
    keeping("kindred"), keeping("other")
    first, second = train(platform, truth), train(platform, truth, seed=1)
    advised(platform, tmp_path, first["rank-weights"])
    advised(platform, tmp_path, second["rank-weights"], "other", high=1.2)  # which may cost time: it is not held
    platform.catch_up()
    state = platform.zoo.cache(by=SOLO)
    assert [entry["name"] for entry in state["entries"]] == ["kindred"] and state["slots"] == 4
    why = state["entries"][0]["why"]
    assert why.startswith("1 training that waits or runs starts best from it, which is expected to save ")
    assert why.endswith(" % of the epochs of all of them.")
    assert platform.zoo.show("kindred", by=SOLO)["in_memory"]
    platform.jobs.cancel(first["train"].id, by=SOLO)
    platform.catch_up()
    assert platform.zoo.cache(by=SOLO)["held"] == {}, "nobody waits for it any more"
    assert platform.zoo.empty_cache(by=SOLO)["entries"] == []


def test_every_card_is_listed_with_what_is_known_of_it(platform: Platform, keeping: Kept) -> None:
    kept = keeping("wheat")
    cards = {card["name"]: card for card in platform.zoo.cards(by=SOLO)}
    assert set(cards) == {*CARDS, "wheat"}
    assert cards["wheat"]["kept"] and cards["wheat"]["bundle"] == kept.uuid and cards["wheat"]["accuracy"] == 0.9
    assert not cards[LITE0]["kept"] and cards[LITE0]["trained_on"] == "ImageNet-1k"
    shown = platform.zoo.show("wheat", by=SOLO)
    assert shown["comparable"] and shown["trained_on"] == "wheat data"
    platform.bundles.remove([shown["signature"]], by=SOLO)
    assert not platform.zoo.show("wheat", by=SOLO)["comparable"], "its data set's signature is gone"


def test_a_card_that_is_removed_takes_what_was_made_of_it_along(
    platform: Platform, data: str, truth: Path, keeping: Kept
) -> None:
    keeping("wheat")
    train(platform, truth)
    assert platform.store.find(kind=Shortlist.kind)
    with pytest.raises(Forbidden):
        platform.zoo.remove("wheat", by=Identity("x", "x", Role.VIEWER, {}))
    with pytest.raises(Conflict, match="comes with Seedbed"):
        platform.zoo.remove(LITE0, by=SOLO)
    platform.zoo.remove("wheat", by=SOLO)
    assert platform.store.find(kind=Shortlist.kind) == [] and platform.store.find(kind="weights") == []
    assert "rank-weights" not in train(platform, truth)


def test_what_is_imported_is_checked_before_it_is_queued(platform: Platform, tmp_path: Path, data: str) -> None:
    torch.save({}, tmp_path / "w.pt")
    zoo = platform.zoo
    with pytest.raises(InvalidInput, match="Give one of a model"):
        zoo.add("leaves.model", hub="resnet18", by=SOLO)
    with pytest.raises(InvalidInput, match="cannot have this name"):
        zoo.add(path=tmp_path / "w.pt", name=LITE0, architecture=NETWORK, by=SOLO)
    with pytest.raises(InvalidInput) as refused:
        zoo.add(path=tmp_path / "w.pt", by=SOLO)
    assert "architecture of a file" in refused.value.problems[0]
    with pytest.raises(InvalidInput, match="not a model"):
        zoo.add("leaves", by=SOLO)
    with pytest.raises(NotFound):
        zoo.add("nothing", by=SOLO)
    with pytest.raises(Forbidden):
        zoo.add(hub="resnet18", by=Identity("x", "x", Role.LABELLER, {}))
    jobs = zoo.add(path=tmp_path / "w.pt", architecture=NETWORK, by=SOLO)
    assert [job.step for job in jobs] == ["import-weights"] and jobs[-1].name == "w"


def test_a_data_set_that_does_not_exist_is_refused_even_where_there_is_nothing_to_choose_from(
    platform: Platform,
) -> None:
    with pytest.raises(NotFound, match="no-such-leaves"):
        platform.zoo.rank("no-such-leaves", by=SOLO)


def test_the_service_needs_no_torch_for_its_zoo(settings: Settings, tmp_path: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from seedbed.base.settings import Settings\n"
        "from seedbed.flows.platform import Platform; from seedbed.assets.access.roles import SOLO\n"
        f"with Platform.open(Settings(home=Path({str(tmp_path)!r}) / 'home')) as here:\n"
        "    here.zoo.cards(by=SOLO); here.zoo.cache(by=SOLO); here.catch_up(); here.zoo.matrix(by=SOLO)\n"
        "assert not {'torch', 'timm', 'sklearn'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


def test_what_a_training_started_from_is_told_when_its_card_is_removed(
    platform: Platform, data: str, truth: Path, keeping: Kept, tmp_path: Path
) -> None:
    keeping("kindred")
    jobs, waiting = train(platform, truth, weights="kindred"), train(platform, truth, weights="kindred", seed=1)
    advised(platform, tmp_path, jobs["rank-weights"])
    trained(platform, tmp_path, jobs["train"])
    platform.catch_up()
    before = platform.zoo.start_of(jobs["train"].id, by=SOLO)
    platform.zoo.remove("kindred", by=SOLO)
    assert platform.zoo.start_of(jobs["train"].id, by=SOLO) == before
    platform.bundles.remove([before.ranking], by=SOLO)
    assert platform.zoo.start_of(jobs["train"].id, by=SOLO) == replace(before, ranking="")
    told = platform.zoo.start_of(waiting["train"].id, by=SOLO)
    assert (told.card, told.reason) == ("", "The weights that were asked for have been removed.")


def test_what_a_training_started_from_is_told_when_its_ranking_is_removed(
    platform: Platform, data: str, truth: Path, keeping: Kept, tmp_path: Path
) -> None:
    keeping("kindred")
    jobs, waiting = train(platform, truth), train(platform, truth, seed=1)
    rankings = [advised(platform, tmp_path, flow["rank-weights"]) for flow in (jobs, waiting)]
    trained(platform, tmp_path, jobs["train"])
    platform.catch_up()
    platform.bundles.remove(rankings, by=SOLO)
    told = platform.zoo.start_of(jobs["train"].id, by=SOLO)
    assert (told.card, told.reason, told.ranking) == ("kindred", "kindred is near.", "") and told.unproven
    told = platform.zoo.start_of(waiting["train"].id, by=SOLO)
    assert (told.card, told.reason) == ("", "The ranking that it was chosen by was removed.")


def ranked(platform: Platform, place: Path, network: str, **ratios: float) -> str:
    """Publish what a ranking of the leaves for a network came to."""
    facts = {
        "target": "leaves", "baseline": network, "ranked": [{"name": name, "ratio": ratios[name]} for name in ratios],
        "advice": {"start": network, "reason": f"{network} is as good."},
    }  # fmt: skip
    return platform.store.publish(Ranking.write(place / f"{new_id()}", facts).draft(name="leaves.ranking")).uuid


def test_rankings_for_one_network_do_not_hide_those_for_another(platform: Platform, tmp_path: Path) -> None:
    ranked(platform, tmp_path, "resnet18", rye=0.7, gone=0.1)
    first = ranked(platform, tmp_path, "resnet18", rye=0.8)
    second = ranked(platform, tmp_path, NETWORK, wheat=0.5)
    told = platform.zoo.rankings(by=SOLO)
    assert [(one["bundle"], one["baseline"]) for one in told] == [(second, NETWORK), (first, "resnet18")]
    assert [one["bundle"] for one in platform.zoo.rankings(limit=1, by=SOLO)] == [second]
    both = {"targets": ["leaves"], "sources": ["rye", "wheat"], "ratios": [[0.8, 0.5]]}
    assert platform.zoo.matrix(by=SOLO) == both
    ranked(platform, tmp_path, "resnet18", wheat=0.4)
    assert platform.zoo.matrix(by=SOLO)["ratios"] == [[0.4]], "of each distance the newest, of the newest rankings"


def test_a_card_is_not_kept_for_a_data_set_that_it_could_never_be_ranked_by(
    platform: Platform, tmp_path: Path, data: str, truth: Path
) -> None:
    torch.save({}, tmp_path / "w.pt")
    asked: Any = {"path": tmp_path / "w.pt", "architecture": NETWORK, "data": "leaves", "by": SOLO}
    with pytest.raises(InvalidInput) as refused:
        platform.zoo.add(**asked)
    assert refused.value.message == "'leaves' came without classes, and no labels of it were compared yet."
    assert "--labels" in refused.value.hint
    assert [job.step for job in platform.jobs.list(by=SOLO)] == ["ingest"], "nothing was queued"
    (known,) = [one for one in platform.similarities.known(by=SOLO) if one.data.name == "leaves"]
    assert known.why_not == refused.value.message
    train(platform, truth)
    labels = platform.store.find(kind="labels")[0].uuid
    jobs = platform.zoo.add(**asked, labels=labels)
    assert [job.step for job in jobs] == ["decode", "signature", "import-weights"]
    assert jobs[1].spec.inputs["labels"] == labels


@pytest.mark.slow
def test_a_trained_model_becomes_a_card_that_the_next_training_is_ranked_with(
    platform: Platform, data: str, truth: Path
) -> None:
    quick = {"size": 32, "start": LITE0, "steps": 2, "labelled_batch": 4, "unlabelled_batch": 4, "few": 3}
    first = platform.models.train("leaves", str(truth), params=quick, by=SOLO)
    ended = {job.step: job for job in platform.run_until_done([job.id for job in first])}
    assert all(job.state is State.DONE for job in ended.values()), [job.reason for job in ended.values()]
    imported = platform.run_until_done([job.id for job in platform.zoo.add(ended["train"].id, name="mine", by=SOLO)])
    assert [job.step for job in imported] == ["decode", "signature", "import-weights"]
    assert {job.state for job in imported} == {State.DONE}, [job.reason for job in imported]
    card = platform.zoo.show("mine", by=SOLO)
    assert card["trained_on"] == "leaves" and card["comparable"] and 0 <= card["accuracy"] <= 1
    second = platform.models.train("leaves", str(truth), params=quick, seed=1, by=SOLO)
    ended = {job.step: job for job in platform.run_until_done([job.id for job in second])}
    assert all(job.state is State.DONE for job in ended.values()), [job.reason for job in ended.values()]
    told = platform.zoo.start_of(ended["train"].id, by=SOLO)
    facts = platform.zoo.ranking(told.ranking, by=SOLO)
    assert [one["name"] for one in facts["ranked"]] == ["mine"] and facts["ranked"][0]["scores"]
    model = platform.store.get(ended["train"].outputs["model"])
    assert model.arrays["started_from"].items == (told.card,) and model.tags["why"] == told.reason
    assert platform.zoo.cache(by=SOLO)["entries"], "its weights were read through the cache"
    assert len(platform.store.find(kind="outcome", all_versions=True)) == 2
