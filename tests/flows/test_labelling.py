"""What people are shown and told while they label."""

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import psutil
import pytest

from seedbed.assets.access.roles import SOLO, Identity, Role
from seedbed.assets.projects.classes import NewClass
from seedbed.assets.projects.labels import LabelEvent, Mark
from seedbed.assets.projects.projects import Projects as KeptProjects
from seedbed.base.clock import ManualClock
from seedbed.base.errors import Conflict, Forbidden, InvalidInput, NotFound
from seedbed.base.ids import new_id
from seedbed.base.settings import Settings
from seedbed.flows.choosers import choosers
from seedbed.flows.platform import Platform
from seedbed.flows.usecases.labelling import Order
from seedbed.methods.label.choose import CHOOSERS
from tests.flows.made_up import MadeUp, made_up
from tests.processes import running

PATIENCE = 30.0


@pytest.fixture
def fields(platform: Platform, tmp_path: Path) -> MadeUp:
    return made_up(platform, tmp_path / "made-up")


@pytest.fixture(scope="module")
def labelled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MadeUp]:
    """A project with 30 labels, one of them wrong, and an image that somebody was not sure of; nobody changes it."""
    folder = tmp_path_factory.mktemp("labelled")
    with Platform.open(Settings(home=folder / "home", cpus=4)) as opened:
        made = made_up(opened, folder / "made-up", name="labelled")
        made.label(*range(30))
        made.say(9, "healthy")
        made.say(35, "", Mark.UNSURE)
        yield made


@pytest.fixture
def kept(platform: Platform) -> KeptProjects:
    return KeptProjects(platform.database, platform.events, platform.clock)


def desks() -> list[int]:
    """The desks that this process has started."""
    children = psutil.Process().children(recursive=True)
    return [desk.pid for desk in running("desks.process", among=children)]


def eventually(ask: Callable[[], Order], by: str) -> Order:
    """The order once the desk has had its say."""
    until = time.monotonic() + PATIENCE
    while (found := ask()).by != by:
        assert time.monotonic() < until, f"still ordered by {found.by}"
    return found


def test_a_project_without_images_says_so(platform: Platform) -> None:
    platform.projects.create("empty", classes=["a"], by=SOLO)
    board = platform.labelling.board("empty", by=SOLO)
    assert (board.images, board.alike.stage, board.training["state"]) == (0, "none", "none")
    with pytest.raises(Conflict, match="'empty' has no images yet"):
        platform.labelling.order("empty", "random", by=SOLO)


def test_labelling_starts_at_once_in_random_order(platform: Platform, tmp_path: Path) -> None:
    fresh = made_up(platform, tmp_path / "made-up", grouped=False).project.id
    for how in ("worth", "groups", "random", "unsure"):
        order = platform.labelling.order(fresh, how, seed=1, by=SOLO)
        assert order.by == "random" and sorted(order.rows) == list(range(60)), how
    again, other = (platform.labelling.order(fresh, "random", seed=seed, by=SOLO).rows for seed in (1, 2))
    assert np.array_equal(order.rows, again) and not np.array_equal(order.rows, other)
    said = platform.labelling.suggestions(fresh, [0, 1], by=SOLO)
    assert not said.suggestions and "not grouped yet" in said.reason
    assert platform.labelling.similar(fresh, 0, by=SOLO) == ([], [])
    assert not platform.labelling.gains(fresh, by=SOLO) and not platform.labelling.mistakes(fresh, by=SOLO)
    assert not desks(), "nobody has anything to compute"


def test_opening_the_board_has_the_images_grouped_once(platform: Platform, tmp_path: Path) -> None:
    fresh = made_up(platform, tmp_path / "made-up", grouped=False)
    threads = [threading.Thread(target=lambda: platform.labelling.board(fresh.project.id, by=SOLO)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE)
    jobs = {job.step: job for job in platform.jobs.list(project=fresh.project.id, by=SOLO)}
    assert sorted(jobs) == ["decode", "embed", "group"], "the cache of 16 pixels is too small to look at"
    assert {job.cls.value for job in jobs.values()} == {"be"} and jobs["group"].spec.params["count"] == 6
    board = platform.labelling.board(fresh.project.id, by=SOLO)
    assert board.alike.stage == "waiting" and "You can label already" in board.alike.sentence
    assert len(platform.jobs.list(project=fresh.project.id, by=SOLO)) == 3


def test_what_was_cancelled_is_begun_again_only_on_demand(platform: Platform, tmp_path: Path) -> None:
    fresh = made_up(platform, tmp_path / "made-up", grouped=False).project.id
    platform.labelling.board(fresh, by=SOLO)
    with pytest.raises(Conflict, match="being grouped already"):
        platform.labelling.group(fresh, by=SOLO)
    for job in platform.jobs.list(project=fresh, by=SOLO):
        platform.jobs.cancel(job.id, by=SOLO)
    board = platform.labelling.board(fresh, by=SOLO)
    assert board.alike.stage == "failed" and "Cancelled" in board.alike.sentence
    assert len(platform.labelling.group(fresh, by=SOLO)) == 3
    assert platform.labelling.board(fresh, by=SOLO).alike.stage == "waiting"


def test_without_groups_images_are_looked_at_for_proposals_unless_those_are_off_too(
    platform: Platform, kept: KeptProjects, tmp_path: Path
) -> None:
    fresh = made_up(platform, tmp_path / "made-up", grouped=False).project.id

    def begun() -> list[str]:
        return sorted(job.step for job in platform.jobs.list(project=fresh, by=SOLO))

    kept.set_settings(fresh, {"grouping": False, "proposals": False})
    assert platform.labelling.board(fresh, by=SOLO).alike.stage == "off"
    (follower,) = platform._resident_followers()
    assert follower.follow() == 0 and begun() == []
    kept.set_settings(fresh, {"proposals": True})
    assert follower.follow() == 1 and begun() == ["decode", "embed"]
    assert platform.labelling.board(fresh, by=SOLO).alike.stage == "off" and begun() == ["decode", "embed"]
    assert "looked at soon" in platform.labelling.suggestions(fresh, [0], by=SOLO).reason
    with pytest.raises(Conflict, match="switched off"):
        platform.labelling.group(fresh, by=SOLO)
    kept.set_settings(fresh, {"grouping": True})
    assert follower.follow() == 1 and begun() == ["decode", "embed", "group"], "nothing is looked at twice"
    assert follower.follow() == 0 and platform.labelling.board(fresh, by=SOLO).alike.stage == "waiting"


def test_groups_that_are_switched_off_go_and_proposals_stay(
    platform: Platform, fields: MadeUp, kept: KeptProjects
) -> None:
    fields.label(*range(9))
    kept.set_settings("fields", {"grouping": False})
    assert platform.labelling.order("fields", "groups", by=SOLO).by == "random"
    said = platform.labelling.suggestions("fields", [10, 11, 12], by=SOLO).suggestions
    assert [one.label for one in said] == ["mildew", "healthy", "rust"]
    order = eventually(lambda: platform.labelling.order("fields", "worth", by=SOLO), "worth")
    assert not {*range(9)} & {*order.rows[:51].tolist()}, "what has a label comes last"
    assert platform.labelling.board("fields", by=SOLO).alike.stage == "off"
    kept.set_settings("fields", {"grouping": True, "proposals": False})
    told = platform.labelling.suggestions("fields", [10], by=SOLO)
    assert not told.suggestions and told.reason == "Proposals are switched off in this project."
    assert platform.labelling.board("fields", by=SOLO).alike.stage == "ready"
    assert platform.labelling.similar("fields", 10, count=3, by=SOLO)[0], "alike images are still found"
    assert not platform.jobs.list(project=fields.project.id, by=SOLO), "nothing was made anew"


def test_the_board_counts_what_people_said(fields: MadeUp, platform: Platform, kept: KeptProjects) -> None:
    def counts() -> dict[str, int]:
        return {one.name: count for one, count in platform.labelling.board("fields", by=SOLO).classes}

    fields.label(0, 1, 3, 6)
    assert counts() == {"rust": 3, "mildew": 1, "healthy": 0}
    fields.say(0, "mildew")
    fields.say(6, "", Mark.SKIPPED)
    assert counts() == {"rust": 1, "mildew": 2, "healthy": 0}
    kept.rename_class("fields", "rust", "brown rust")
    assert counts() == {"brown rust": 1, "mildew": 2, "healthy": 0}
    kept.merge_class("fields", "brown rust", "mildew")
    kept.add_class("fields", "rust")  # a new class of an old name begins empty
    assert counts() == {"mildew": 3, "healthy": 0, "rust": 0}
    kept.order_classes("fields", ["rust", "healthy", "mildew"])
    named = LabelEvent("by its file's name", "field/000002.jpg", "healthy", "")
    platform.projects.add_labels("fields", [named], by=SOLO)
    assert list(counts().items()) == [("rust", 0), ("healthy", 1), ("mildew", 3)]
    board = platform.labelling.board("fields", by=SOLO)
    assert board.last == kept.last_number("fields") and (board.images, board.alike.stage) == (60, "ready")


def test_alike_images_stand_together_and_groups_are_named_after_their_labels(
    fields: MadeUp, platform: Platform
) -> None:
    fields.label(0, 3, 1)
    order = platform.labelling.order("fields", "groups", by=SOLO)
    assert order.by == "groups" and order.groups == [
        (20, "Group 1: mostly rust"),
        (20, "Group 2: mostly mildew"),
        (20, "Group 3"),
    ]
    assert [set(order.rows[start : start + 20] % 3) for start in (0, 20, 40)] == [{0}, {1}, {2}]
    assert order.rows[0] == 0, "the most typical first"


def test_what_is_worth_a_label_comes_first_and_what_has_one_last(labelled: MadeUp) -> None:
    ask = labelled.platform.labelling.order
    order = eventually(lambda: ask("labelled", "worth", by=SOLO), "worth")
    assert sorted(order.rows) == list(range(60)) and set(order.rows[-30:]) == set(range(30)) and order.rows[-31] == 35
    for how in ("unsure", "class"):
        found = eventually(lambda how=how: ask("labelled", how, klass="rust", by=SOLO), how)  # type: ignore[misc]
        assert sorted(found.rows) == list(range(60))
    assert set(found.rows[:9] % 3) == {0} and max(found.rows[:9]) < 30, "what was picked of the class before"
    assert set(found.rows[9:18] % 3) == {0} and min(found.rows[9:18]) >= 30, "then what is likely of the class"
    with pytest.raises(NotFound, match="no class 'rst'"):
        ask("labelled", "class", klass="rst", by=SOLO)


def test_a_chooser_that_nobody_knows_leaves_the_groups_to_say_what_comes_first(
    fields: MadeUp, platform: Platform, kept: KeptProjects
) -> None:
    kept.set_settings("fields", {"chooser": "unheard of"})
    order = platform.labelling.order("fields", "worth", by=SOLO)
    assert order.by == "typical" and set(order.rows[:3] % 3) == {0, 1, 2}, "one of each group in turns"


def test_a_project_is_refused_a_chooser_that_does_not_exist_with_all_else_that_is_wrong(platform: Platform) -> None:
    with pytest.raises(InvalidInput, match=r"no chooser 'typcal'\. Did you mean 'typical'") as refused:
        platform.projects.create("new", settings={"chooser": "typcal", "gaol": 3}, by=SOLO)
    assert len(refused.value.problems) == 2 and not platform.projects.list(by=SOLO)
    platform.projects.create("new", settings={"chooser": "typical"}, by=SOLO)
    with pytest.raises(InvalidInput, match=r"no chooser 'entirely else'\. Known: auto, balanced"):
        platform.projects.set_settings("new", {"chooser": "entirely else"}, by=SOLO)
    assert platform.projects.get("new", by=SOLO).settings.chooser == "typical"
    assert platform.projects.set_settings("new", {"chooser": None}, by=SOLO).settings.chooser == "auto"


def test_every_chooser_is_known_without_being_loaded() -> None:
    assert set(choosers()) == set(CHOOSERS) and all(choosers().values())


def test_suggestions_follow_the_labels(labelled: MadeUp) -> None:
    rows = list(range(30, 60))
    said = labelled.platform.labelling.suggestions("labelled", rows, by=SOLO)
    assert said.labels == 30 and [one.index for one in said.suggestions] == rows
    right = [one.label == labelled.truth(one.index) for one in said.suggestions]
    assert np.mean(right) > 0.9 and all(0 < one.confidence <= 1 for one in said.suggestions)
    with pytest.raises(NotFound, match="60 images; there is no number 60"):
        labelled.platform.labelling.suggestions("labelled", [60], by=SOLO)


def test_nothing_is_suggested_before_two_classes_have_a_label(fields: MadeUp, platform: Platform) -> None:
    fields.label(0, 3)
    said = platform.labelling.suggestions("fields", [7], by=SOLO)
    assert not said.suggestions and said.labels == 2 and "two classes" in said.reason


def test_similar_images_doubts_and_gains_are_found(labelled: MadeUp) -> None:
    labelling = labelled.platform.labelling
    indexes, alike = labelling.similar("labelled", 4, count=10, by=SOLO)
    assert len(indexes) == 10 and 4 not in indexes and {index % 3 for index in indexes} == {1}
    assert alike == sorted(alike, reverse=True)
    doubts = labelling.mistakes("labelled", by=SOLO)
    assert (doubts[0].index, doubts[0].given, doubts[0].likely) == (9, "healthy", "rust")
    for gain in labelling.gains("labelled", by=SOLO):
        assert gain.label in labelled.classes and gain.labels > 0
        assert gain.sentence == f"About {gain.labels} more labels would help {gain.label}."


def test_an_empty_class_for_everything_else_is_not_said_to_need_labels(
    fields: MadeUp, platform: Platform, kept: KeptProjects
) -> None:
    kept.add_classes("fields", [NewClass("other", other=True), "blight"])
    fields.label(*range(9))
    helped = {gain.label for gain in platform.labelling.gains("fields", by=SOLO)}
    assert "blight" in helped and "other" not in helped
    fields.say(9, "other")
    assert "other" in {gain.label for gain in platform.labelling.gains("fields", by=SOLO)}


def test_slips_are_offered_until_somebody_looks_again_or_changes_them(fields: MadeUp, platform: Platform) -> None:
    fields.label(*range(30))
    fields.say(9, "healthy")
    fields.say(22, "rust")
    slips = platform.labelling.slips("fields", by=SOLO)
    assert {one.index for one in slips} == {9, 22} and slips == platform.labelling.mistakes("fields", by=SOLO)
    assert platform.labelling.hard_to_tell("fields", by=SOLO) == 0
    platform.projects.label_row("fields", 9, "healthy", by=SOLO)  # it is what was said
    assert [one.index for one in platform.labelling.slips("fields", by=SOLO)] == [22]
    assert {one.index for one in platform.labelling.mistakes("fields", by=SOLO)} == {9, 22}
    platform.projects.label_row("fields", 22, "mildew", data=fields.project.data, by=SOLO)
    assert platform.labelling.slips("fields", by=SOLO) == []
    assert platform.projects.labels("fields", by=SOLO)[fields.ids[22]].label == "mildew"


def test_where_most_labels_look_wrong_none_is_called_a_slip(fields: MadeUp, platform: Platform) -> None:
    fields.label(*range(12))
    for row in range(0, 12, 2):
        fields.say(row, fields.truth(row + 1))
    assert platform.labelling.slips("fields", by=SOLO) == []
    assert 4 < platform.labelling.hard_to_tell("fields", by=SOLO) <= 12


def test_a_label_that_was_given_twice_in_a_row_is_meant(platform: Platform) -> None:
    platform.projects.create("Leaves", classes=["rust", "blight"], by=SOLO)

    def meant(image: str, *labels: str) -> bool:
        events = [LabelEvent(new_id(), image, label, "") for label in labels]
        platform.projects.add_labels("Leaves", events, by=SOLO)
        return platform.projects.is_meant("Leaves", image, by=SOLO)

    assert meant("kept.jpg", "rust", "rust")
    assert not meant("once.jpg", "rust") and not meant("changed.jpg", "rust", "blight")
    assert not meant("kept-then-changed.jpg", "rust", "rust", "blight")
    assert not meant("taken-back.jpg", "rust", "", "rust") and not meant("never.jpg", "", "")


def test_a_desk_that_is_killed_is_not_missed(labelled: MadeUp) -> None:
    ask = labelled.platform.labelling.suggestions
    before = ask("labelled", [37, 38], by=SOLO)
    for pid in desks():
        os.kill(pid, signal.SIGKILL)
    assert ask("labelled", [37, 38], by=SOLO) == before


def test_closing_the_platform_ends_its_desks(settings: Settings, tmp_path: Path) -> None:
    others = set(desks())
    with Platform.open(settings) as opened:
        made_up(opened, tmp_path / "made-up")
        opened.labelling.similar("fields", 5, by=SOLO)
        assert len(set(desks()) - others) == 1
    assert not set(desks()) - others


@pytest.fixture
def clock(settings: Settings) -> Iterator[tuple[Platform, ManualClock]]:
    hands = ManualClock(1_000_000.0)
    with Platform.open(settings, hands) as opened:
        yield opened, hands


def test_people_see_each_other_for_half_a_minute(clock: tuple[Platform, ManualClock]) -> None:
    platform, hands = clock
    project = platform.projects.create("shared", by=SOLO)
    ada = Identity("1", "ada", Role.LABELLER, {project.id: Role.LABELLER})
    assert [one.name for one in platform.labelling.here("shared", 3, by=ada)] == ["ada"]
    hands.advance(20)
    assert [(one.name, one.where) for one in platform.labelling.here("shared", -1, by=SOLO)] == sorted(
        [("ada", 3), (SOLO.name, -1)]
    )
    hands.advance(20)
    assert [one.name for one in platform.labelling.board("shared", by=SOLO).people] == [SOLO.name]


def test_who_may_only_look_cannot_ask_and_a_stranger_sees_nothing(fields: MadeUp, platform: Platform) -> None:
    project = fields.project.id
    viewer = Identity("1", "vera", Role.VIEWER, {project: Role.VIEWER})
    board = platform.labelling.board(project, by=viewer)
    assert not board.may_label and not board.may_train
    assert platform.labelling.order(project, "index", by=viewer).rows.tolist() == list(range(60))
    asked: list[Callable[[], object]] = [
        lambda: platform.labelling.suggestions(project, [0], by=viewer),
        lambda: platform.labelling.similar(project, 0, by=viewer),
        lambda: platform.labelling.gains(project, by=viewer),
        lambda: platform.labelling.mistakes(project, by=viewer),
        lambda: platform.labelling.slips(project, by=viewer),
        lambda: platform.projects.label_row(project, 0, "rust", by=viewer),
        lambda: platform.labelling.here(project, 0, by=viewer),
        lambda: platform.labelling.predict(project, {}, by=viewer),
        lambda: platform.labelling.group(project, by=viewer),
    ]
    for ask in asked:
        with pytest.raises(Forbidden):
            ask()
    with pytest.raises(NotFound):
        platform.labelling.board(project, by=Identity("2", "stranger", Role.TRAINER))
