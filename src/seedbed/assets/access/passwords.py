"""Passwords: which are allowed, and how they are kept (argon2id; the password itself never is)."""

import functools
import secrets
import threading
import unicodedata

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

SHORTEST, LONGEST = 10, 1024
_AT_ONCE = 2  # each hash takes 64 MiB for a moment: many sign-ins at once must not take all memory


class Passwords:
    """Hashes and checks passwords. Safe to use from any thread."""

    def __init__(self, hasher: PasswordHasher | None = None) -> None:
        self._hasher = hasher or PasswordHasher()
        self._room = threading.Semaphore(_AT_ONCE)

    def hash(self, password: str) -> str:
        """What is kept of a password."""
        with self._room:
            return self._hasher.hash(_bytes(password))

    def match(self, kept: str, given: str) -> bool:
        """Whether a password is the one that was kept.

        With nothing kept (no such user, or one without a password) a hash of nothing is checked instead and the
        answer is no: it takes as long, so that nobody can find out by the clock which names exist.
        """
        decoy = self._decoy
        if len(given) > LONGEST:
            return False
        try:
            with self._room:
                return self._hasher.verify(kept or decoy, _bytes(given)) and bool(kept)
        except (VerificationError, InvalidHashError):
            return False

    def is_outdated(self, kept: str) -> bool:
        """Whether it was hashed with weaker parameters than today's."""
        return self._hasher.check_needs_rehash(kept)

    @functools.cached_property
    def _decoy(self) -> str:
        return self.hash(secrets.token_hex())


def problems_of_password(password: str, name: str) -> list[str]:
    """What is wrong with a new password, one sentence each; the sentences never repeat it."""
    problems = []
    if len(password) < SHORTEST:
        problems.append(f"The password is too short: at least {SHORTEST} characters are needed.")
    if len(password) > LONGEST:
        problems.append(f"The password has more than {LONGEST} characters.")
    if password and name and name.casefold() in password.casefold() and len(password) < len(name) + SHORTEST:
        problems.append("The password is little more than the user's name.")
    if password and len(set(password)) < 4:
        problems.append("The password repeats fewer than 4 different characters.")
    return problems


def _bytes(password: str) -> bytes:
    # keyboards spell the same letter in different ways; halves of characters, which have no bytes, stay harmless
    return unicodedata.normalize("NFKC", password).encode("utf-8", "surrogatepass")
