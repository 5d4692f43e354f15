"""Data sets beside each other: a step over as many signatures as there are, and what people may ask."""

from pathlib import Path

import pytest

from seedbed.assets.access.roles import SOLO, Identity, Role
from seedbed.assets.data.synthetic import write_leaves
from seedbed.assets.store.bundle import Lineage
from seedbed.base.errors import Forbidden, InvalidInput, NotFound
from seedbed.base.settings import Settings
from seedbed.flows.kinds.labels import Labels
from seedbed.flows.kinds.zoo import SIGNATURE_FILE, Signature, Similarity
from seedbed.flows.platform import Platform
from seedbed.flows.steps import STEPS
from seedbed.flows.usecases.looks import SPACE
from seedbed.runtime.jobs.states import State
from tests.flows.zoo_parts import decoded, do, signature


def test_a_table_has_every_pair_and_each_row_its_farthest_at_one(tmp_path: Path) -> None:
    kinds = {"a": ("fields", 0), "b": ("fields", 1), "c": ("screens", 2)}
    signatures = {name: signature(tmp_path / name, kind, seed=seed, name=name) for name, (kind, seed) in kinds.items()}
    facts = do("compare-data", tmp_path, **dict(reversed(signatures.items()))).facts()
    assert facts["names"] == ["a", "b", "c"] and facts["space"] == "pixels-28" and facts["images"] == [24] * 3
    distances = facts["distances"]
    assert [distances[i][i] for i in range(3)] == [0, 0, 0]
    assert distances[0][1] == distances[1][0] < distances[0][2], "two years of fields are nearer than a screen"
    assert [max(row) for row in facts["shares"]] == [1, 1, 1]
    assert facts["shares"][0][1] == pytest.approx(distances[0][1] / distances[0][2], rel=1e-4)


def test_of_a_data_set_of_which_some_images_were_looked_at_all_are_counted(tmp_path: Path) -> None:
    images = decoded(tmp_path / "data", "fields")
    few = do("signature", tmp_path / "run", {"space": "pixels", "most": 8}, decoded=images)
    assert few.images == 24
    facts = do("compare-data", tmp_path, a=few, b=signature(tmp_path / "b", "screens")).facts()
    assert facts["images"] == [24, 24]


def test_one_signature_is_nothing_to_compare(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="takes two"):
        do("compare-data", tmp_path, only=signature(tmp_path / "only", "fields"))


def test_a_step_may_take_any_number_of_inputs_of_a_kind() -> None:
    step = STEPS.get("compare-data")
    assert not step.inputs and step.more and step.more.takes("signature")
    assert step.inputs_problems({"set000": "signature", "whatever": "signature"}) == []
    (problem,) = step.inputs_problems({"set000": "labels"})
    assert "'labels'; it takes 'signature'" in problem
    assert STEPS.get("signature").inputs_problems({"decoded": "decoded", "more": "labels"}), "others take no more"


def classed(folder: Path, seed: int) -> Path:
    """Leaves in class folders."""
    write_leaves(folder, 3, seed=seed, size=32, by_class=True)
    return folder


@pytest.fixture(scope="module")
def prepared(leaves: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with two data sets with classes, and one without."""
    place = tmp_path_factory.mktemp("prepared")
    folders = {"one": classed(place / "one", 1), "two": classed(place / "two", 2), "bare": leaves}
    with Platform.open(Settings(home=place / "home", port=0, cpus=4)) as platform:
        jobs = [platform.data.add(folder, name=name, size=32, by=SOLO) for name, folder in folders.items()]
        done = platform.run_until_done([job.id for job in jobs])
    assert {job.state for job in done} == {State.DONE}
    return place / "home"


@pytest.fixture
def sets(prepared: Path, platform: Platform) -> dict[str, str]:
    """Those data sets, in the home of the test: name to uuid."""
    return {name: str(platform.data.show(name, by=SOLO)["uuid"]) for name in ("one", "two", "bare")}


@pytest.mark.slow
def test_data_sets_are_compared_once_and_what_is_missing_is_made_first(
    platform: Platform, sets: dict[str, str]
) -> None:
    asked = platform.similarities
    with pytest.raises(NotFound, match="No data sets have been compared"):
        asked.show(by=SOLO)
    known = {one.data.name: one for one in asked.known(by=SOLO)}
    assert "without classes" in known["bare"].why_not
    assert not known["one"].signature and not known["one"].why_not
    jobs = asked.compare(["two", "one"], by=SOLO)
    made_first = ["decode", "signature"]  # they were taken in at 32 px; all are compared at 64
    assert [job.step for job in jobs] == [*made_first, *made_first, "compare-data"]
    done = platform.run_until_done([job.id for job in jobs])
    assert {job.state for job in done} == {State.DONE}, [job.reason for job in done]
    found = asked.show(by=SOLO)
    assert found["names"] == ["one", "two"] and found["data"] == [sets["one"], sets["two"]]
    assert found["distances"][0][1] == found["distances"][1][0] >= 0 == found["distances"][0][0]
    assert found["images"] == [18, 18]
    again = asked.compare(["one", "two"], by=SOLO)
    assert [job.step for job in again] == ["compare-data"], "their signatures are known now"
    (answered,) = platform.run_until_done([job.id for job in again])
    assert answered.outputs == done[-1].outputs
    assert platform.store.get(found["bundle"]).kind == Similarity.kind


def test_a_data_set_is_compared_by_its_own_classes_and_without_any_by_the_most_labels(
    platform: Platform, sets: dict[str, str], tmp_path: Path
) -> None:
    said = platform.store.publish(Labels.write(tmp_path / "said", {}).draft(name="said")).uuid

    def publish(data: str, number: int, images: int, *labels: str) -> str:
        folder = tmp_path / f"signature {number}"
        (folder / "signature").mkdir(parents=True)
        (folder / "signature" / SIGNATURE_FILE).write_bytes(bytes([number]))
        made = Signature.of(folder, data=data, space=SPACE, images=images, classes=("a", "b"))
        inputs = (("decoded", sets[data]), *(("labels", one) for one in labels))
        return platform.store.publish(made.draft(name=f"s{number}", lineage=Lineage("signature", inputs=inputs))).uuid

    own = publish("one", 1, 18)
    publish("one", 2, 1, said)
    publish("two", 3, 1, said)
    most = publish("bare", 4, 9, said)
    publish("bare", 5, 2, said)
    known = {one.data.name: one.signature for one in platform.similarities.known(by=SOLO)}
    assert known == {"one": own, "two": "", "bare": most}, "a look at one labelled image is no look at the data set"


def test_what_cannot_be_compared_is_refused_all_at_once(platform: Platform, sets: dict[str, str]) -> None:
    with pytest.raises(InvalidInput) as refused:
        platform.similarities.compare(["bare"], by=SOLO)
    assert len(refused.value.problems) == 2
    with pytest.raises(InvalidInput, match="not a table"):
        platform.similarities.show("one", by=SOLO)
    with pytest.raises(NotFound, match="'nowhere'"):
        platform.similarities.compare(["one", "nowhere"], by=SOLO)
    with pytest.raises(NotFound) as missing:
        platform.similarities.compare(["twoo", "one", "nowhere", "twoo"], by=SOLO)
    assert ["'twoo'" in problem or "'nowhere'" in problem for problem in missing.value.problems] == [True, True]
    assert "'two'" in missing.value.problems[0], "what was meant is named"
    with pytest.raises(Forbidden):
        platform.similarities.compare(["one", "two"], by=Identity("v", "viewer", Role.VIEWER))
