"""One scheduler at a time."""

import subprocess
import sys

import pytest

from seedbed.assets.db.engine import Database
from seedbed.base.clock import ManualClock
from seedbed.runtime.jobs.lease import Lease, LeaseLost

HOLD = """
import sys, time
from seedbed.assets.db.engine import Database
from seedbed.runtime.jobs.lease import Lease
lease = Lease(Database(sys.argv[1]), seconds=3600)
print(lease.hold(), flush=True)
time.sleep(600)
"""


def test_only_one_holds_it_until_it_ends(database: Database) -> None:
    clock = ManualClock(1000.0)
    one, two = Lease(database, clock, seconds=10), Lease(database, clock, seconds=10)
    assert one.hold() and not two.hold() and one.hold()
    clock.advance(9)
    assert one.hold() and not two.hold()
    clock.advance(11)
    assert two.hold() and not one.hold()


def test_a_holder_that_slept_too_long_cannot_write(database: Database) -> None:
    clock = ManualClock(1000.0)
    one, two = Lease(database, clock, seconds=10), Lease(database, clock, seconds=10)
    one.hold()
    clock.advance(11)
    with one.write():
        pass  # nobody took it in the meantime
    two.hold()
    with pytest.raises(LeaseLost, match="replaced by another"), one.write():
        pass
    assert not one.renew() and two.renew()
    with two.write():
        pass


def test_what_was_given_back_can_be_taken_at_once(database: Database) -> None:
    clock = ManualClock(1000.0)
    one, two = Lease(database, clock), Lease(database, clock)
    one.hold()
    two.release()  # not its own
    assert not two.hold()
    one.release()
    with pytest.raises(LeaseLost), one.write():
        pass
    assert not one.renew() and two.hold()


def test_the_lease_of_a_killed_process_is_free_at_once(database: Database, database_url: str) -> None:
    mine = Lease(database)
    with subprocess.Popen([sys.executable, "-c", HOLD, database_url], stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout and holder.stdout.readline() == "True\n"
        assert not mine.hold()
        holder.kill()
    assert mine.hold()


def test_leases_of_different_names_do_not_meet(database: Database) -> None:
    assert Lease(database, name="one").hold() and Lease(database, name="two").hold()
