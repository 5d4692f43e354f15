"""Golden labels: others are asked the same, as if nobody had said anything, and the golden label goes on counting."""

from pathlib import Path

import numpy as np
import pytest

from seedbed.assets.access.roles import SOLO, Identity, Role
from seedbed.assets.projects.labels import LabelEvent, Source
from seedbed.base.errors import Forbidden, InvalidInput
from seedbed.base.ids import new_id
from seedbed.flows.platform import Platform
from tests.flows.made_up import MadeUp, made_up

GOLDEN = range(30, 42)


@pytest.fixture
def fields(platform: Platform, tmp_path: Path) -> MadeUp:
    """Twelve of its sixty images have a golden label, and one image in five that is shown is to be a check."""
    made = made_up(platform, tmp_path / "made-up")
    lines = [f"{made.ids[row]},{made.truth(row)}" for row in GOLDEN]
    (tmp_path / "sure.csv").write_text("\n".join(["image,label", *lines]))
    taken = platform.projects.import_labels("fields", tmp_path / "sure.csv", golden=True, by=SOLO)
    assert taken.count == 12
    assert platform.projects.import_labels("fields", tmp_path / "sure.csv", golden=True, by=SOLO).count == 0
    platform.projects.set_settings("fields", {"honeypots": 0.2}, by=SOLO)
    return made


def person(made: MadeUp, name: str = "ben", role: Role = Role.LABELLER) -> Identity:
    return Identity(name, name, role, {made.project.id: role})


def say(made: MadeUp, row: int, label: str, by: Identity, id: str = "") -> int:
    event = LabelEvent(id or new_id(), made.ids[row], label, "")
    return made.platform.projects.add_labels("fields", [event], by=by)


def seen(made: MadeUp, by: Identity) -> dict[int, str]:
    """What somebody's page shows as labelled."""
    feed = made.platform.projects.changes("fields", by=by)
    said = zip(feed.rows, feed.changes.events, strict=True)
    return {row: one.label for row, one in {row: one for row, one in said}.items() if one.label}


def counts(made: MadeUp, row: int) -> str:
    return made.platform.projects.labels("fields", by=SOLO)[made.ids[row]].label


def test_a_check_looks_like_any_image_without_a_label_until_one_has_answered(fields: MadeUp) -> None:
    ben = person(fields)
    assert seen(fields, SOLO).keys() == {*GOLDEN} and not seen(fields, ben)
    say(fields, 30, "healthy", ben)
    assert seen(fields, ben) == {30: "healthy"}, "nobody is told that it was wrong"
    say(fields, 31, "", ben)
    assert seen(fields, ben) == {30: "healthy"}


def test_a_few_checks_are_among_what_comes_first_and_each_is_asked_once(fields: MadeUp) -> None:
    labelling, ben = fields.platform.labelling, person(fields)
    order = labelling.order("fields", "worth", by=ben).rows
    assert sorted(order) == list(range(60))
    for start in range(0, 40, 5):
        assert np.isin(order[start : start + 5], GOLDEN).sum() == 1, "one in five"
    classes = {fields.truth(row) for row in order[:15] if row in GOLDEN}
    assert len(classes) == 3, "of every class"
    first = next(int(row) for row in order if row in GOLDEN)
    say(fields, first, "rust", ben)
    again = labelling.order("fields", "worth", by=ben).rows
    assert first not in again[:50] and np.isin(again[:5], GOLDEN).sum() == 1
    mine = labelling.order("fields", "worth", by=SOLO).rows
    assert not np.isin(mine[:48], GOLDEN).any(), "who marked them is not asked"


def test_whatever_others_say_the_golden_label_counts(fields: MadeUp) -> None:
    ben = person(fields)
    assert say(fields, 30, "healthy", ben, id="one") == 1 and counts(fields, 30) == "rust"
    before = fields.platform.projects.last_number("fields", by=SOLO)
    assert say(fields, 30, "healthy", ben, id="one") == 0, "sent again after a lost answer"
    assert fields.platform.projects.last_number("fields", by=SOLO) == before
    say(fields, 30, "mildew", SOLO)
    say(fields, 30, "healthy", ben)
    assert counts(fields, 30) == "healthy", "who marked it has changed their mind, and it is golden no more"


def test_it_is_said_of_everybody_how_many_checks_they_got_right(fields: MadeUp) -> None:
    ben, eva = person(fields), person(fields, "eva")
    for row in (30, 31, 32, 33):
        say(fields, row, fields.truth(row), ben)
    say(fields, 33, "mildew", ben)
    say(fields, 30, "healthy", eva)
    found = fields.platform.projects.quality("fields", by=SOLO)
    assert [one.sentence for one in found.checks] == ["ben got 3 of 4 checks right.", "eva got 0 of 1 check right."]
    assert found.golden == 12 and found.checks[0].low < 0.75 < found.checks[0].high
    own = fields.platform.projects.quality("fields", by=eva)
    assert [one.person for one in own.checks] == ["eva"]


def test_it_is_said_on_how_many_images_two_people_agree(fields: MadeUp) -> None:
    ben, eva = person(fields), person(fields, "eva")
    nothing = fields.platform.projects.quality("fields", by=ben)
    assert (nothing.pairs, nothing.images, nothing.alpha) == ([], 0, None)
    for row in range(6):
        say(fields, row, fields.truth(row), ben)
        say(fields, row, "rust", eva)
    say(fields, 7, "rust", eva)
    found = fields.platform.projects.quality("fields", by=SOLO)
    (pair,) = found.pairs
    assert pair.sentence == "ben and eva agree on 2 of 6 images that both labelled."
    assert pair.kappa == 0, "eva always says the same"
    assert found.images == 6 and found.alpha is not None and found.alpha < 0.1


def test_without_the_setting_nothing_is_hidden_and_the_newest_label_counts(fields: MadeUp) -> None:
    fields.platform.projects.set_settings("fields", {"honeypots": None}, by=SOLO)
    ben = person(fields)
    assert seen(fields, ben).keys() == {*GOLDEN}
    say(fields, 30, "healthy", ben)
    assert counts(fields, 30) == "healthy"


def test_only_a_trainer_marks_golden_labels_and_the_share_is_at_most_half(fields: MadeUp) -> None:
    event = LabelEvent("sure", fields.ids[0], "rust", "", Source.GOLDEN)
    with pytest.raises(Forbidden):
        fields.platform.projects.add_labels("fields", [event], by=person(fields))
    for wrong in (0.6, -0.1, float("nan"), "many"):
        with pytest.raises(InvalidInput, match="honeypots"):
            fields.platform.projects.set_settings("fields", {"honeypots": wrong}, by=SOLO)
    assert fields.platform.projects.set_settings("fields", {"honeypots": 0}, by=SOLO).settings.honeypots == 0
