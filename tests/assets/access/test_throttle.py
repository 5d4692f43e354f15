import threading

import pytest

from seedbed.assets.access import throttle as module
from seedbed.assets.access.throttle import Throttle
from seedbed.base.clock import ManualClock
from seedbed.base.errors import TooOften


def test_waiting_doubles_after_the_free_tries_up_to_the_longest() -> None:
    clock = ManualClock(0)
    throttle = Throttle(clock, free=3, first=1, longest=8)
    for _ in range(3):
        throttle.take("ada")
    for wait in (1, 2, 4, 8, 8):
        clock.advance(wait - 0.25)
        with pytest.raises(TooOften):
            throttle.take("ada")
        clock.advance(0.25)
        throttle.take("ada")


def test_one_key_does_not_slow_another() -> None:
    throttle = Throttle(ManualClock(0), free=1)
    throttle.take("ada")
    throttle.take("bob")
    with pytest.raises(TooOften, match="1 seconds"):
        throttle.take("ada")


def test_success_gives_back_and_quiet_forgets() -> None:
    clock = ManualClock(0)
    throttle = Throttle(clock, free=2, first=1, longest=10)
    for _ in range(20):
        throttle.take("ada")
        throttle.give_back("ada")
    throttle.take("bob")
    throttle.take("bob")
    clock.advance(101)
    throttle.take("bob")
    throttle.take("bob")
    throttle.forget("bob")
    throttle.take("bob")


def test_tries_at_the_same_moment_do_not_slip_through_together() -> None:
    throttle = Throttle(ManualClock(0), free=5)
    barrier = threading.Barrier(20)
    passed = []

    def attempt() -> None:
        barrier.wait()
        try:
            throttle.take("ada")
            passed.append(1)
        except TooOften:
            pass

    threads = [threading.Thread(target=attempt) for _ in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(passed) == 5


def test_what_is_remembered_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_MOST_KEYS", 10)
    throttle = Throttle(ManualClock(0), free=1)
    for number in range(11):
        throttle.take(str(number))
    throttle.take("0")  # the longest quiet one was forgotten
    with pytest.raises(TooOften):
        throttle.take("10")
