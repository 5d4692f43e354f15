"""Names to implementations."""

import pytest

from seedbed.base.errors import Conflict, NotFound
from seedbed.base.registry import Registry, near_matches


def test_a_row_is_imported_when_it_is_first_asked_for() -> None:
    registry: Registry[type] = Registry("thing", {"fraction": "fractions:Fraction", "bad": "no.such.module:x"})
    assert list(registry) == ["bad", "fraction"]
    assert registry.get("fraction")(1, 2) == 0.5
    assert registry.get("fraction") is registry.get("fraction")


def test_a_name_is_given_once() -> None:
    registry: Registry[int] = Registry("number", {})
    registry.add("one", 1)
    with pytest.raises(Conflict, match="already a number named 'one'"):
        registry.add("one", 2)
    assert registry.get("one") == 1 and "one" in registry


def test_an_unknown_name_is_answered_with_the_near_ones() -> None:
    registry: Registry[int] = Registry("policy", {})
    registry.add("fitgpp", 1)
    with pytest.raises(NotFound, match="no policy named 'fitgp'") as caught:
        registry.get("fitgp")
    assert caught.value.hint == "Did you mean 'fitgpp'?"


def test_the_hint_names_what_is_known_where_nothing_is_near() -> None:
    assert near_matches("x", ["apple", "pear"]) == "Known: apple, pear."
    assert near_matches("x", []) == "None exists yet."


def test_a_hint_from_a_part_of_the_names_does_not_claim_that_there_are_no_others() -> None:
    assert near_matches("x", [], others=True) == "Nothing has a name like it."
    assert near_matches("aple", ["apple"], others=True) == "Did you mean 'apple'?"
