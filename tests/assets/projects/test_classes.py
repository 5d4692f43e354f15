"""Kinds of projects, and classes that are added, changed, put in order and merged."""

import pytest

from seedbed.assets.projects.classes import Kind, NewClass, percent_bins
from seedbed.assets.projects.labels import LabelEvent
from seedbed.assets.projects.projects import Projects
from seedbed.assets.projects.settings import ProjectSettings
from seedbed.assets.store.events import Events
from seedbed.base.clock import ManualClock
from seedbed.base.errors import InvalidInput, NotFound


def names(projects: Projects, project: str = "wheat") -> list[str]:
    return [one.name for one in projects.classes(project)]


def test_a_binary_project_has_two_classes_and_perhaps_one_for_the_rest(projects: Projects) -> None:
    projects.create("wheat", "ada", ["ill"], kind=Kind.BINARY)
    projects.add_classes("wheat", ["well", NewClass("cannot tell", other=True)])
    with pytest.raises(InvalidInput) as refused:
        projects.add_class("wheat", "third")
    assert refused.value.problems == ("A binary project has two classes, and one for everything else; there are 3.",)
    with pytest.raises(InvalidInput, match="at most one class for everything else"):
        projects.add_class("wheat", NewClass("another", other=True))
    assert names(projects) == ["ill", "well", "cannot tell"]
    projects.create("maize", "ada", ["a", "b", "c"])
    with pytest.raises(InvalidInput):
        projects.set_kind("maize", Kind.BINARY)
    assert projects.get("maize").kind is Kind.CLASSES


def test_bins_of_a_percentage_stand_for_their_middles(projects: Projects) -> None:
    projects.create("cover", "ada", [*percent_bins([0, 5, 25, 100]), NewClass("snow", other=True)], kind=Kind.BINS)
    found = {one.name: one.value for one in projects.classes("cover")}
    assert found == {"0-5 %": 2.5, "5-25 %": 15.0, "25-100 %": 62.5, "snow": None}
    assert projects.add_class("cover", "exactly 100 %").value == 100.0
    with pytest.raises(InvalidInput, match="give it a value, or a name such as '25-50 %'"):
        projects.add_class("cover", "quite a lot")
    assert projects.add_class("cover", NewClass("quite a lot", value=70)).value == 70.0
    with pytest.raises(InvalidInput, match=r"Two classes stand for 15\."):
        projects.change_class("cover", "quite a lot", {"value": 15.0})
    with pytest.raises(InvalidInput, match="a percentage is from 0 to 100"):
        projects.change_class("cover", "quite a lot", {"value": 101.0})


@pytest.mark.parametrize("edges", [[], [0, 100], [0, 50, 50, 100], [0, 60, 50], [-1, 50, 100], [0, 50, 101]])
def test_edges_that_make_no_bins_are_refused(edges: list[float]) -> None:
    with pytest.raises(InvalidInput, match="cannot be the edges"):
        percent_bins(edges)


def test_classes_become_bins_by_the_numbers_in_their_names_or_not_at_all(projects: Projects) -> None:
    projects.create("wheat", "ada", ["0-20", "20-100", NewClass("other", other=True)])
    projects.set_kind("wheat", Kind.BINS)
    assert [one.value for one in projects.classes("wheat")] == [10.0, 60.0, None]
    projects.create("maize", "ada", ["few", "many"])
    with pytest.raises(InvalidInput) as refused:
        projects.set_kind("maize", Kind.BINS)
    assert len(refused.value.problems) == 2
    assert [one.value for one in projects.classes("maize")] == [None, None]


def test_colours_and_keys_can_be_chosen_and_are_checked(projects: Projects) -> None:
    projects.create("wheat", "ada", [NewClass("rust", "#AABBCC", "R"), "well"])
    rust, well = projects.classes("wheat")
    assert (rust.colour, rust.key, well.key) == ("#aabbcc", "r", "1")
    with pytest.raises(InvalidInput, match="The key 'r' belongs to two classes"):
        projects.change_class("wheat", "well", {"key": "R"})
    for wrong in ({"colour": "red"}, {"key": "ab"}, {"key": " "}, {"name": ""}, {"name": "rust"}):
        with pytest.raises(InvalidInput):
            projects.change_class("wheat", "well", wrong)
    assert projects.change_class("wheat", "well", {"key": "", "colour": "#000000"}).key == ""
    assert projects.classes("wheat")[1].colour == "#000000"
    with pytest.raises(NotFound):
        projects.change_class("wheat", "wel", {"key": "x"})


def test_a_key_that_is_asked_for_is_not_given_to_another_of_the_same_moment(projects: Projects) -> None:
    projects.create("wheat", "ada", ["a", NewClass("b", key="1"), "c"])
    assert [one.key for one in projects.classes("wheat")] == ["2", "1", "3"]


def test_an_order_names_every_class_once(projects: Projects) -> None:
    projects.create("wheat", "ada", ["a", "b", "c"])
    projects.order_classes("wheat", ["c", "a", "b"])
    assert names(projects) == ["c", "a", "b"]
    for wrong in (["c", "a"], ["c", "a", "b", "d"], ["c", "a", "a"]):
        with pytest.raises(InvalidInput):
            projects.order_classes("wheat", wrong)
    assert projects.add_class("wheat", "d").position == 3


def test_merged_classes_are_one_for_old_labels_and_for_late_ones(projects: Projects, events: Events) -> None:
    projects.create("wheat", "ada", ["rust", "brown rust", "well"])
    projects.add_labels("wheat", [LabelEvent("1", "a", "rust", "ada"), LabelEvent("2", "b", "brown rust", "bob")])
    projects.add_labels("wheat", [LabelEvent("3", "b", "rust", "ada")])
    assert projects.merge_class("wheat", "rust", "brown rust", by="ada") == 2
    assert names(projects) == ["brown rust", "well"]
    assert projects.counts("wheat") == {"brown rust": 2, "well": 0}
    assert {person: one.label for person, one in projects.opinions("wheat")["b"].items()} == {
        "ada": "brown rust",
        "bob": "brown rust",
    }
    late = LabelEvent("4", "c", "rust", "bob")  # it waited in a browser that did not hear of the merging
    assert projects.add_labels("wheat", [late]) == 1
    assert projects.add_labels("wheat", [late]) == 0
    assert projects.labels("wheat")["c"].label == "brown rust"
    assert events.after(0)[-2].kind == "project.class-merged"
    with pytest.raises(InvalidInput, match="into itself"):
        projects.merge_class("wheat", "well", "well")
    with pytest.raises(NotFound):
        projects.merge_class("wheat", "well", "wel")


def test_a_late_label_in_a_renamed_class_counts_and_in_a_removed_one_is_refused(projects: Projects) -> None:
    projects.create("wheat", "ada", ["rust", "well"])
    projects.rename_class("wheat", "rust", "leaf rust")
    first = LabelEvent("1", "a", "rust", "ada")
    projects.add_labels("wheat", [first])
    projects.rename_class("wheat", "leaf rust", "brown rust")
    assert projects.add_labels("wheat", [first]) == 0, "sent again after one more change, it is still the same"
    assert projects.labels("wheat")["a"].label == "brown rust"
    projects.remove_class("wheat", "brown rust", with_labels=True)
    with pytest.raises(InvalidInput, match="names no class of this project"):
        projects.add_labels("wheat", [LabelEvent("2", "b", "rust", "ada")])


def test_a_name_of_earlier_is_what_its_class_has_become_since_then(projects: Projects, clock: ManualClock) -> None:
    projects.create("wheat", "ada", ["rust", "mould", "well"])
    start = clock.now()
    clock.advance(1)
    projects.rename_class("wheat", "rust", "brown rust")
    between = clock.now()
    clock.advance(1)
    projects.add_class("wheat", "rust")
    projects.merge_class("wheat", "mould", "rust")
    projects.remove_class("wheat", "well")
    asked = ["rust", "mould", "well", "never"]
    assert projects.names_now("wheat", asked, start) == ["brown rust", "rust", "", "never"]
    assert projects.names_now("wheat", asked, between) == ["rust", "rust", "", "never"]
    assert projects.names_now("wheat", asked, clock.now()) == asked


def test_settings_keep_only_what_differs_and_say_all_that_is_wrong(projects: Projects) -> None:
    projects.create("wheat", "ada", settings={"goal": 10})
    assert projects.get("wheat").settings == ProjectSettings(goal=10)
    changed = projects.set_settings("wheat", {"goal": None, "grouping": False}).settings
    assert changed == ProjectSettings(grouping=False) and changed.to_json() == '{"grouping": false}'
    with pytest.raises(InvalidInput) as refused:
        projects.set_settings("wheat", {"goal": "many", "grouping": 1, "chosser": "auto", "": None})
    assert len(refused.value.problems) == 4 and "'chooser'" in str(refused.value)
    with pytest.raises(InvalidInput, match="from 1 to"):
        projects.set_settings("wheat", {"goal": 0})
    assert projects.get("wheat").settings == changed
    assert ProjectSettings.from_json('{"goal": 3, "of a later version": 1}') == ProjectSettings(goal=3)


def test_classes_that_come_with_labels_are_made_only_if_the_labels_are_kept(projects: Projects) -> None:
    projects.create("wheat", "ada", ["rust"])
    with pytest.raises(InvalidInput):
        projects.add_labels("wheat", [LabelEvent("1", "a", "nothing", "ada")], new_classes=["well"])
    assert names(projects) == ["rust"]
    projects.add_labels("wheat", [LabelEvent("1", "a", "well", "ada")], new_classes=["well", "rust"])
    assert names(projects) == ["rust", "well"]
