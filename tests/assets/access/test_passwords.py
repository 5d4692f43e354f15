import time

import pytest
from argon2 import PasswordHasher

from seedbed.assets.access.passwords import LONGEST, Passwords, problems_of_password


class CountingHasher(PasswordHasher):
    """argon2 that counts how often a password was checked."""

    checks = 0

    def verify(self, *args: object, **kwargs: object) -> bool:
        self.checks += 1
        return super().verify(*args, **kwargs)  # type: ignore[arg-type]


def test_what_is_kept_is_argon2id_and_matches_only_that_password() -> None:
    passwords = Passwords()
    kept = passwords.hash("a long enough one")
    assert kept.startswith("$argon2id$")
    assert "a long enough one" not in kept
    assert passwords.match(kept, "a long enough one")
    assert not passwords.match(kept, "a long enough onf")
    assert passwords.hash("a long enough one") != kept


def test_with_nothing_kept_the_answer_is_no_after_as_much_work() -> None:
    hasher = CountingHasher()
    passwords = Passwords(hasher)
    kept = passwords.hash("a long enough one")
    passwords.match(kept, "wrong password")  # makes the decoy
    assert hasher.checks == 1

    def work(of: str) -> float:
        spent = []
        for _ in range(5):
            before = time.process_time()
            assert not passwords.match(of, "wrong password")
            spent.append(time.process_time() - before)
        return min(spent)

    known, unknown = work(kept), work("")
    assert hasher.checks == 11
    assert 0.5 < unknown / known < 2


def test_the_same_letters_match_however_a_keyboard_spells_them() -> None:
    passwords = Passwords(PasswordHasher(1, 64, 1))
    assert passwords.match(passwords.hash("caf\u00e9 au lait"), "cafe\u0301 au lait")


@pytest.mark.parametrize("given", ["", "\x00", "\ud800", "x" * (LONGEST + 1), "🌱" * 100])
def test_any_text_at_all_is_answered_with_no(given: str) -> None:
    passwords = Passwords(PasswordHasher(1, 64, 1))
    assert not passwords.match(passwords.hash("a long enough one"), given)
    assert not passwords.match("not a hash", given)


def test_a_hash_with_weaker_parameters_is_outdated() -> None:
    weak = Passwords(PasswordHasher(1, 64, 1)).hash("a long enough one")
    assert Passwords().is_outdated(weak)
    assert not Passwords().is_outdated(Passwords().hash("a long enough one"))


@pytest.mark.parametrize(
    ("password", "word"),
    [("brief", "at least 10"), ("aaaaaaaaaaaaaa", "different"), ("marianne-12", "name"), ("x" * 2000, "more than")],
)
def test_a_weak_password_is_refused_without_repeating_it(password: str, word: str) -> None:
    problems = problems_of_password(password, "marianne")
    assert any(word in problem for problem in problems)
    assert not any(password in problem for problem in problems)


def test_a_good_password_has_no_problems() -> None:
    assert problems_of_password("correct horse battery", "marianne") == []
