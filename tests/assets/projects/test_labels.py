import threading
import time
from collections.abc import Callable

import pytest

from seedbed.assets.access.roles import Role
from seedbed.assets.access.users import Users
from seedbed.assets.db.engine import Database
from seedbed.assets.projects.labels import LabelEvent, Mark, Source
from seedbed.assets.projects.projects import Projects
from seedbed.assets.store.events import Events
from seedbed.base.clock import ManualClock
from seedbed.base.errors import Conflict, InvalidInput, NotFound


@pytest.fixture(autouse=True)
def wheat(projects: Projects) -> str:
    return projects.create("wheat", "ada", ["rust", "blight", "healthy"]).id


def say(projects: Projects, image: str, label: str, by: str = "ada", name: str = "") -> None:
    say.count += 1  # type: ignore[attr-defined]
    projects.add_labels("wheat", [LabelEvent(name or f"event {say.count}", image, label, by)])  # type: ignore[attr-defined]


say.count = 0  # type: ignore[attr-defined]


def meanings(projects: Projects) -> dict[str, str]:
    return {image: label.label for image, label in projects.labels("wheat").items()}


def in_threads(*calls: Callable[[], None]) -> None:
    barrier, errors = threading.Barrier(len(calls)), []

    def run(call: Callable[[], None]) -> None:
        barrier.wait()
        try:
            call()
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=run, args=(call,)) for call in calls]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []


def test_the_newest_event_counts_whoever_said_it(projects: Projects, clock: ManualClock) -> None:
    say(projects, "a.jpg", "rust", by="ada")
    clock.advance(-100)  # a clock that was set back changes nothing: the order of events counts
    say(projects, "a.jpg", "blight", by="bob")
    label = projects.labels("wheat")["a.jpg"]
    assert (label.label, label.by, label.source) == ("blight", "bob", Source.PERSON)


def test_taking_back_leaves_the_image_without_a_label_until_somebody_speaks(projects: Projects) -> None:
    say(projects, "a.jpg", "rust")
    say(projects, "a.jpg", "")
    assert meanings(projects) == {}
    say(projects, "a.jpg", "healthy")
    assert meanings(projects) == {"a.jpg": "healthy"}


def test_an_event_that_is_sent_again_counts_once(projects: Projects, events: Events) -> None:
    first = LabelEvent("1", "a.jpg", "rust", "ada")
    assert projects.add_labels("wheat", [first]) == 1
    say(projects, "a.jpg", "blight")
    told = events.after(0)
    assert projects.add_labels("wheat", [first, first]) == 0
    assert meanings(projects) == {"a.jpg": "blight"}  # the late copy does not become the newest
    assert events.after(0) == told
    assert projects.add_labels("wheat", [first, LabelEvent("2", "b.jpg", "rust", "ada")]) == 1


def test_an_event_is_accepted_again_even_if_its_class_was_renamed_since(projects: Projects) -> None:
    event = LabelEvent("1", "a.jpg", "rust", "ada")
    projects.add_labels("wheat", [event])
    projects.rename_class("wheat", "rust", "brown rust")
    assert projects.add_labels("wheat", [event]) == 0


@pytest.mark.parametrize("other", [("b.jpg", "rust", "ada"), ("a.jpg", "blight", "ada"), ("a.jpg", "rust", "bob")])
def test_an_id_that_means_something_else_is_refused_not_swallowed(
    projects: Projects, other: tuple[str, str, str]
) -> None:
    projects.add_labels("wheat", [LabelEvent("1", "a.jpg", "rust", "ada")])
    with pytest.raises(Conflict, match="used for something else"):
        projects.add_labels("wheat", [LabelEvent("2", "c.jpg", "rust", "ada"), LabelEvent("1", *other)])
    with pytest.raises(Conflict):
        projects.add_labels("wheat", [LabelEvent("3", "a.jpg", "rust", "ada"), LabelEvent("3", *other)])
    assert meanings(projects) == {"a.jpg": "rust"}


def test_an_id_of_another_project_is_refused(projects: Projects) -> None:
    projects.create("maize", "ada", ["rust"])
    event = LabelEvent("1", "a.jpg", "rust", "ada")
    projects.add_labels("maize", [event])
    with pytest.raises(Conflict):
        projects.add_labels("wheat", [event])


def test_unknown_classes_are_named_all_at_once_and_nothing_is_kept(projects: Projects) -> None:
    sent = [LabelEvent(str(n), "a.jpg", label, "ada") for n, label in enumerate(["rust", "rusd", "mold", "rusd", ""])]
    with pytest.raises(InvalidInput) as refused:
        projects.add_labels("wheat", sent)
    assert refused.value.message.startswith("3 of the labels name no class")
    assert [problem.split(":")[0] for problem in refused.value.problems] == ["'mold'", "'rusd'"]
    assert "'rust'" in refused.value.problems[1]
    assert projects.history("wheat") == []


@pytest.mark.parametrize(
    "event",
    [
        LabelEvent("", "a", "rust", "ada"),
        LabelEvent("1", "", "rust", "ada"),
        LabelEvent("1", "a\x00", "rust", "ada"),
        LabelEvent("1", "a", "rust", "\ud800"),
        LabelEvent("x" * 201, "a", "rust", "ada"),
        LabelEvent("1", "a", "rust", "ada", "class"),  # type: ignore[arg-type]
        LabelEvent("1", "a", "rust", "ada", mark=Mark.UNSURE),
        LabelEvent("1", "a", "", "ada", mark="bored"),  # type: ignore[arg-type]
    ],
)
def test_events_that_cannot_be_kept_are_refused(projects: Projects, event: LabelEvent) -> None:
    with pytest.raises(InvalidInput):
        projects.add_labels("wheat", [event])


def test_labels_of_a_project_that_is_not_there(projects: Projects) -> None:
    with pytest.raises(NotFound):
        projects.add_labels("barley", [])
    assert projects.add_labels("wheat", []) == 0


def test_two_people_at_once_lose_nothing(projects: Projects, database: Database) -> None:
    def person(name: str) -> Callable[[], None]:
        def work() -> None:
            for number in range(25):
                label = ["rust", "blight", "healthy"][number % 3]
                projects.add_labels("wheat", [LabelEvent(f"{name}-{number}", f"{number % 10}.jpg", label, name)])

        return work

    in_threads(person("ada"), person("bob"), person("eve"), person("kim"))
    everything = projects.history("wheat")
    assert {event.id for event in everything} == {f"{p}-{n}" for p in ("ada", "bob", "eve", "kim") for n in range(25)}
    for name in ("ada", "bob", "eve", "kim"):
        mine = [event.id for event in everything if event.by == name]
        assert mine == [f"{name}-{n}" for n in range(25)]  # each in the order in which they were acknowledged
    newest = {event.image: event for event in everything}
    assert projects.labels("wheat") == newest


def test_the_same_events_sent_twice_at_once_count_once(projects: Projects) -> None:
    counts: list[int] = []
    sent = [LabelEvent(str(n), f"{n}.jpg", "rust", "ada") for n in range(50)]
    in_threads(*[lambda: counts.append(projects.add_labels("wheat", sent))] * 4)
    assert sorted(counts) == [0, 0, 0, 50]
    assert len(projects.history("wheat")) == 50


def test_renaming_while_people_label_leaves_every_label_with_a_class(projects: Projects) -> None:
    """Each label is said before the change or refused after it: none is left on a name without a class."""
    kept: list[str] = []

    def label() -> None:
        for number in range(30):
            try:
                say(projects, f"{number}.jpg", "rust", name=f"e{number}")
                kept.append(f"{number}.jpg")
            except InvalidInput:
                return

    in_threads(label, lambda: projects.rename_class("wheat", "rust", "brown rust"))
    assert meanings(projects) == dict.fromkeys(kept, "brown rust")


def test_writers_of_every_kind_do_not_lock_each_other_out(
    projects: Projects, database: Database, events: Events, clock: ManualClock, wheat: str
) -> None:
    users = Users(database, events, clock)
    users.create("bob", Role.VIEWER)

    def label() -> None:
        for number in range(20):
            projects.add_labels(wheat, [LabelEvent(f"w{number}", f"{number}.jpg", "rust", "ada")])

    def join_and_leave() -> None:
        for _ in range(10):
            users.add_member(wheat, "bob", Role.LABELLER)
            users.remove_member(wheat, "bob")

    def rename() -> None:
        for number in range(20):
            projects.rename(wheat, f"wheat {number}")
            projects.rename_class(wheat, "blight", "blotch")
            projects.rename_class(wheat, "blotch", "blight")

    def come_and_go() -> None:
        for number in range(10):
            projects.create(f"maize {number}", "ada", ["rust"])
            projects.delete(f"maize {number}")

    in_threads(label, join_and_leave, rename, come_and_go)
    assert len(projects.labels(wheat)) == 20


def test_renaming_a_class_keeps_what_its_labels_mean(projects: Projects) -> None:
    say(projects, "a.jpg", "rust")
    say(projects, "b.jpg", "blight")
    projects.rename_class("wheat", "rust", "brown rust", by="ada")
    assert meanings(projects) == {"a.jpg": "brown rust", "b.jpg": "blight"}
    projects.add_class("wheat", "rust")  # the old name for something new
    say(projects, "c.jpg", "rust")
    assert meanings(projects) == {"a.jpg": "brown rust", "b.jpg": "blight", "c.jpg": "rust"}
    assert projects.counts("wheat") == {"brown rust": 1, "blight": 1, "healthy": 0, "rust": 1}


def test_what_was_said_stays_as_it_was_said(projects: Projects) -> None:
    say(projects, "a.jpg", "rust")
    before = projects.history("wheat", "a.jpg")[0]
    projects.rename_class("wheat", "rust", "brown rust")
    after = projects.history("wheat", "a.jpg")[0]
    assert (before.said, before.label) == ("rust", "rust")
    assert (after.said, after.label) == ("rust", "brown rust")
    assert (after.number, after.at, after.id) == (before.number, before.at, before.id)


def test_an_image_named_like_a_class_is_not_confused_with_its_renaming(projects: Projects) -> None:
    say(projects, "rust", "rust")
    projects.rename_class("wheat", "rust", "brown rust")
    assert meanings(projects) == {"rust": "brown rust"}
    assert len(projects.history("wheat", "rust")) == 1
    assert len(projects.history("wheat")) == 1


def test_a_class_with_labels_is_removed_only_on_demand_and_does_not_come_back(projects: Projects) -> None:
    say(projects, "a.jpg", "rust")
    say(projects, "b.jpg", "healthy")
    with pytest.raises(Conflict, match="1 images are labelled 'rust'"):
        projects.remove_class("wheat", "rust")
    projects.remove_class("wheat", "rust", with_labels=True)
    assert meanings(projects) == {"b.jpg": "healthy"}
    projects.add_class("wheat", "rust")
    assert meanings(projects) == {"b.jpg": "healthy"}


def test_what_each_person_last_said_is_kept_apart(projects: Projects) -> None:
    say(projects, "a.jpg", "rust", by="ada")
    say(projects, "a.jpg", "blight", by="bob")
    say(projects, "a.jpg", "healthy", by="ada")
    say(projects, "b.jpg", "rust", by="bob")
    say(projects, "b.jpg", "", by="bob")
    found = {
        image: {by: label.label for by, label in said.items()} for image, said in projects.opinions("wheat").items()
    }
    assert found == {"a.jpg": {"ada": "healthy", "bob": "blight"}}


def test_history_can_be_followed_by_number(projects: Projects) -> None:
    for number in range(5):
        say(projects, f"{number}.jpg", "rust")
    first = projects.history("wheat", limit=2)
    rest = projects.history("wheat", after=first[-1].number)
    assert [event.image for event in [*first, *rest]] == [f"{number}.jpg" for number in range(5)]
    assert projects.history("wheat", "\x00") == []
    assert projects.history("wheat", limit=-1) == []


def test_a_snapshot_has_a_row_per_labelled_image_in_order(projects: Projects, clock: ManualClock) -> None:
    say(projects, "b.jpg", "rust")
    projects.add_labels("wheat", [LabelEvent("i", "a.jpg", "healthy", "import", Source.IMPORT)])
    say(projects, "c.jpg", "")
    projects.rename_class("wheat", "rust", "brown rust")
    assert projects.snapshot("wheat") == [
        {"image": "a.jpg", "label": "healthy", "by": "import", "at": clock.now(), "source": "import"},
        {"image": "b.jpg", "label": "brown rust", "by": "ada", "at": clock.now(), "source": "person"},
    ]


def test_many_labels_at_once_are_one_transaction_and_one_event(projects: Projects, events: Events) -> None:
    sent = [LabelEvent(str(n), f"{n}.jpg", "rust", "ada", Source.IMPORT) for n in range(5000)]
    before = len(events.after(0))
    assert projects.add_labels("wheat", iter(sent)) == 5000
    assert projects.counts("wheat")["rust"] == 5000
    assert len(events.after(0)) == before + 1


def test_a_mark_says_where_an_image_stands_and_is_no_label(projects: Projects) -> None:
    projects.add_labels("wheat", [LabelEvent("1", "a.jpg", "rust", "ada")])
    unsure = LabelEvent("2", "a.jpg", "", "ada", mark=Mark.UNSURE)
    assert projects.add_labels("wheat", [unsure, LabelEvent("3", "b.jpg", "", "ada", mark=Mark.SKIPPED)]) == 2
    assert projects.add_labels("wheat", [unsure]) == 0
    with pytest.raises(Conflict):
        projects.add_labels("wheat", [LabelEvent("2", "a.jpg", "", "ada", mark=Mark.SKIPPED)])
    assert meanings(projects) == {} and projects.opinions("wheat") == {}
    assert [event.mark for event in projects.history("wheat")] == ["", "unsure", "skipped"]
    say(projects, "a.jpg", "healthy")
    assert meanings(projects) == {"a.jpg": "healthy"}


def test_the_feed_of_changes_skips_nothing_and_repeats_nothing(projects: Projects) -> None:
    assert projects.changes("wheat").events == []
    for number in range(5):
        say(projects, f"{number}.jpg", "rust")
    projects.rename_class("wheat", "blight", "blotch")
    say(projects, "5.jpg", "blotch")
    seen, after = [], 0
    for expected in (True, True, False):
        page = projects.changes("wheat", after=after, limit=2)
        seen += [event.image for event in page.events]
        after = page.last
        assert page.more is expected
    assert seen == [f"{number}.jpg" for number in range(6)]
    assert after == projects.last_number("wheat")
    assert projects.changes("wheat", after=after).events == []


def test_the_feed_tells_when_earlier_answers_go_by_other_names(projects: Projects) -> None:
    say(projects, "a.jpg", "rust")
    first = projects.changes("wheat")
    projects.rename_class("wheat", "rust", "brown rust")
    later = projects.changes("wheat", after=first.last)
    assert later.events == [] and later.classes > first.classes and later.last > first.last
    assert projects.changes("wheat").events[0].label == "brown rust"


def test_an_image_that_goes_by_two_names_has_one_label_the_newest(projects: Projects) -> None:
    def same(name: str) -> str:
        return {"a.jpg": "id of a"}.get(name, name)

    say(projects, "a.jpg", "rust", by="ada")
    say(projects, "id of a", "blight", by="bob")
    assert {image: one.label for image, one in projects.labels("wheat", same).items()} == {"id of a": "blight"}
    assert projects.counts("wheat", same) == {"rust": 0, "blight": 1, "healthy": 0}
    assert set(projects.opinions("wheat", same)["id of a"]) == {"ada", "bob"}
    say(projects, "id of a", "", by="bob")
    assert projects.labels("wheat", same) == {}, "what was taken back under one name does not come back under another"
    assert len(projects.labels("wheat")) == 1


def test_the_few_golden_labels_are_found_without_reading_all_the_others(projects: Projects) -> None:
    many = [LabelEvent(f"said {number}", f"{number}.jpg", "rust", "ada") for number in range(8000)]
    sure = [LabelEvent(f"sure {number}", f"{number}.jpg", "blight", "bob", Source.GOLDEN) for number in (3, 7999)]
    projects.add_labels("wheat", [*many, *sure])
    found = projects.on_golden("wheat")
    assert {image: {by: one.label for by, one in said.items()} for image, said in found.items()} == {
        "3.jpg": {"ada": "rust", "bob": "blight"},
        "7999.jpg": {"ada": "rust", "bob": "blight"},
    }

    def seconds(work: Callable[[], object]) -> float:
        began = time.perf_counter()
        work()
        return time.perf_counter() - began

    quick = min(seconds(lambda: projects.on_golden("wheat")) for _ in range(5))
    assert 5 * quick < min(seconds(lambda: projects.labels("wheat")) for _ in range(2))
