"""Programs that take turns measure what they were asked to, and nothing else."""

import subprocess
import sys
from contextlib import closing

import pytest
from benchmarks.peers.players import Lap, Player, better, compare
from benchmarks.peers.turns import cpu_seconds

PROGRAM = """
import time
from benchmarks.peers.turns import OverError, Turns

turns = Turns()
for job in turns.jobs():
    print("this is no answer")
    if job["fails"]:
        raise ValueError("the network is on fire")
    try:
        for step in range(1, 100):
            time.sleep(job["naps"].get(str(step), 0))
            turns.after(step)
    except OverError:
        continue
"""


def program() -> Player:
    return Player([sys.executable, "-c", PROGRAM], {})


@pytest.mark.slow
def test_a_turn_measures_its_own_steps_without_the_warm_up_and_the_lead():
    job = {"warm": 2, "fails": False, "naps": {"1": 2.0, "3": 2.0, "7": 0.05}}
    with closing(program()) as player:
        player.order(train=job)
        assert player.answer() == {"ready": 2}
        player.order(lead=2, steps=3)
        answer = player.answer()
    assert answer["steps"] == 3
    assert 0.05 <= answer["seconds"] < 1.5


def test_a_second_training_starts_its_count_anew():
    job = {"warm": 1, "fails": False, "naps": {}}
    with closing(program()) as player:
        for turns in (3, 1):
            laps = compare({"toy": (player, job)}, turns=turns, lead=0, steps=2)
            assert laps["toy"].steps_per_s > 0
        player.order(lead=0, steps=4)
        assert player.answer()["steps"] == 4


def test_a_program_that_fails_is_quoted():
    with closing(program()) as player:
        player.order(train={"warm": 1, "fails": True, "naps": {}})
        with pytest.raises(RuntimeError, match="the network is on fire"):
            player.answer()


def test_the_best_of_two_turns_is_best_in_each_respect_and_its_memory_the_larger():
    assert better(Lap(2.0, 0.5, 3.0), Lap(1.0, 0.25, 4.0)) == Lap(2.0, 0.25, 4.0)


def test_the_cpu_time_of_living_children_counts():
    burn = "import time\nwhile time.process_time() < 0.5: pass\nprint('burnt', flush=True)\ninput()"
    before = cpu_seconds()
    with subprocess.Popen([sys.executable, "-c", burn], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        assert child.stdout is not None
        child.stdout.readline()
        assert cpu_seconds() - before >= 0.45
        child.communicate(b"\n")
