import threading

import pytest
from sqlalchemy import func, select

from seedbed.assets.access.roles import no_such_project
from seedbed.assets.db import tables
from seedbed.assets.db.engine import Database
from seedbed.assets.projects.labels import LabelEvent
from seedbed.assets.projects.projects import Projects
from seedbed.assets.store.events import Events
from seedbed.base.clock import ManualClock
from seedbed.base.errors import Conflict, InvalidInput, NotFound


def test_a_project_is_found_by_id_and_by_name(projects: Projects, clock: ManualClock) -> None:
    wheat = projects.create("wheat leaves", "ada", ["rust", "healthy"])
    clock.advance(1)
    maize = projects.create("maize", "bob")
    assert projects.get(wheat.id) == projects.get("wheat leaves") == wheat
    assert projects.list() == [maize, wheat]
    assert (wheat.owner, wheat.data) == ("ada", "")


@pytest.mark.parametrize("reference", ["nothing", "", "\x00", "\ud800"])
def test_a_project_that_is_not_there_gives_away_no_names(projects: Projects, reference: str) -> None:
    projects.create("nothing-to-see", "ada")
    with pytest.raises(NotFound) as refused:
        projects.get(reference)
    assert str(refused.value) == str(no_such_project())


@pytest.mark.parametrize("name", ["", " wheat", "a/b", "x" * 101, "a\nb", "01900000-0000-7000-8000-000000000000"])
def test_names_that_cannot_be_kept_or_mistaken_are_refused(projects: Projects, name: str) -> None:
    with pytest.raises(InvalidInput):
        projects.create(name, "ada")
    assert projects.list() == []


def test_a_name_is_given_once_even_at_the_same_moment(projects: Projects) -> None:
    refused = []
    barrier = threading.Barrier(4)

    def create() -> None:
        barrier.wait()
        try:
            projects.create("wheat", "ada")
        except Conflict:
            refused.append(1)

    threads = [threading.Thread(target=create) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (len(refused), len(projects.list())) == (3, 1)


def test_renaming_and_choosing_data_keep_the_project(projects: Projects) -> None:
    wheat = projects.create("wheat", "ada")
    projects.create("maize", "ada")
    assert projects.rename("wheat", "winter wheat").id == wheat.id
    assert projects.rename("winter wheat", "winter wheat").id == wheat.id
    assert projects.set_data("winter wheat", "bundle-1").data == "bundle-1"
    with pytest.raises(Conflict):
        projects.rename("winter wheat", "maize")


def test_deleting_a_project_leaves_nothing_of_it(projects: Projects, database: Database) -> None:
    projects.create("wheat", "ada", ["rust"])
    projects.add_labels("wheat", [LabelEvent("1", "a.jpg", "rust", "ada")])
    projects.delete("wheat")
    with database.read() as connection:
        for table in (tables.projects, tables.classes, tables.label_events):
            assert connection.scalar(select(func.count()).select_from(table)) == 0


def test_classes_keep_their_order_and_have_keys_and_colours_of_their_own(projects: Projects) -> None:
    projects.create("wheat", "ada", ["rust", "blight"])
    projects.add_class("wheat", "healthy")
    found = projects.classes("wheat")
    assert [(one.name, one.position, one.key) for one in found] == [
        ("rust", 0, "1"),
        ("blight", 1, "2"),
        ("healthy", 2, "3"),
    ]
    assert len({one.colour for one in found}) == 3
    projects.remove_class("wheat", "blight")
    assert projects.add_class("wheat", "mildew").key == "2"
    assert [one.name for one in projects.classes("wheat")] == ["rust", "healthy", "mildew"]


def test_more_classes_than_keys_and_colours_are_fine(projects: Projects) -> None:
    projects.create("birds", "ada", [f"species {number}" for number in range(300)])
    found = projects.classes("birds")
    assert [one.name for one in found] == [f"species {number}" for number in range(300)]
    assert [one.key for one in found].count("") == 290


def test_everything_wrong_with_new_classes_is_said_at_once(projects: Projects) -> None:
    projects.create("wheat", "ada", ["rust"])
    with pytest.raises(InvalidInput) as refused:
        projects.add_classes("wheat", ["rust", "", "x\x00", "new", "new"])
    assert len(refused.value.problems) == 4
    assert [one.name for one in projects.classes("wheat")] == ["rust"]


def test_a_class_that_is_not_there_is_answered_with_the_near_ones(projects: Projects) -> None:
    projects.create("wheat", "ada", ["rust", "blight"])
    with pytest.raises(NotFound, match="'rust'"):
        projects.rename_class("wheat", "rusd", "x")
    with pytest.raises(NotFound):
        projects.remove_class("wheat", "rusd")
    with pytest.raises(InvalidInput):
        projects.rename_class("wheat", "rust", "blight")


def test_every_change_tells_the_feed(projects: Projects, events: Events) -> None:
    wheat = projects.create("wheat", "ada", ["rust"])
    projects.add_class("wheat", "blight")
    projects.add_labels("wheat", [LabelEvent("1", "a.jpg", "rust", "ada"), LabelEvent("2", "b.jpg", "rust", "bob")])
    projects.rename_class("wheat", "rust", "brown rust")
    projects.remove_class("wheat", "blight")
    projects.rename("wheat", "winter wheat")
    projects.delete("winter wheat")
    feed = events.after(0)
    assert [event.kind for event in feed] == [
        "project.created",
        "project.class-added",
        "label.added",
        "project.class-renamed",
        "project.class-removed",
        "project.renamed",
        "project.deleted",
    ]
    assert all(event.project == event.subject == wheat.id for event in feed)
    assert (feed[2].data["count"], feed[2].data["by"]) == (2, ["ada", "bob"])
