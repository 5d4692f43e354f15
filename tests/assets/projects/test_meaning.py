from hypothesis import given
from hypothesis import strategies as st

from seedbed.assets.projects.meaning import Change, Meanings


def test_a_label_is_carried_through_every_later_change_and_no_earlier_one() -> None:
    meanings = Meanings([Change(10, "rust", "leaf rust"), Change(20, "leaf rust", "brown rust")])
    assert meanings.of("rust", 5) == "brown rust"
    assert meanings.of("leaf rust", 15) == "brown rust"
    assert meanings.of("rust", 15) == "rust"  # a new class that took the free name
    assert meanings.of("brown rust", 25) == "brown rust"
    assert meanings.of("blight", 5) == "blight"
    assert meanings.of("", 5) == ""


def test_two_names_can_be_swapped() -> None:
    meanings = Meanings([Change(10, "a", "tmp"), Change(11, "b", "a"), Change(12, "tmp", "b")])
    assert (meanings.of("a", 1), meanings.of("b", 1)) == ("b", "a")


def test_a_removed_class_does_not_come_back_with_its_name() -> None:
    meanings = Meanings([Change(10, "rust", ""), Change(30, "rust", "spots")])
    assert meanings.of("rust", 5) == ""
    assert meanings.of("rust", 20) == "spots"


names = st.sampled_from(["a", "b", "c", "d"])


@given(st.lists(st.one_of(names, st.tuples(names, names), st.tuples(names, st.just(""))), max_size=40))
def test_meaning_is_what_rewriting_the_events_would_have_given(script: list[str | tuple[str, str]]) -> None:
    """The reference rewrites every earlier label at each change, which is what we refuse to do on disk."""
    rewritten: dict[int, str] = {}
    said: dict[int, str] = {}
    changes = []
    for number, line in enumerate(script):
        if isinstance(line, str):
            said[number] = rewritten[number] = line
        else:
            changes.append(Change(number, *line))
            rewritten = {at: line[1] if label == line[0] else label for at, label in rewritten.items()}
    meanings = Meanings(changes)
    assert {number: meanings.of(label, number) for number, label in said.items()} == rewritten


def test_a_name_that_is_no_class_any_more_leads_to_the_one_that_took_over() -> None:
    meanings = Meanings(
        [Change(10, "rust", "leaf rust"), Change(20, "leaf rust", "brown rust"), Change(30, "spots", "")]
    )
    assert (meanings.now("rust"), meanings.now("leaf rust")) == ("brown rust", "brown rust")
    assert (meanings.now("spots"), meanings.now("never"), meanings.now("brown rust")) == ("", "", "")
    assert meanings.became("rust", "leaf rust") and meanings.became("rust", "brown rust")
    assert not meanings.became("rust", "spots") and not meanings.became("never", "rust")
    assert not meanings.became("spots", "")
