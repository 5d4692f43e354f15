import numpy as np
import pytest
import torch

from seedbed.base.errors import Failed
from seedbed.methods.learn.shortage import says_when_short

CPU = torch.device("cpu")
FAR_TOO_MANY = 1 << 48  # bytes: more than an address space has


@pytest.mark.parametrize(
    "take",
    [
        lambda: torch.empty(FAR_TOO_MANY, dtype=torch.uint8),
        lambda: torch.empty(1 << 40, 1 << 40),
        lambda: np.empty(FAR_TOO_MANY, np.uint8),
    ],
    ids=["torch", "past counting", "numpy"],
)
def test_every_library_that_runs_out_of_memory_ends_in_the_same_sentence(take):
    wanted = "The memory of cpu does not hold a step"
    with pytest.raises(Failed, match=wanted) as caught, says_when_short(CPU, "a step", "Use less."):
        take()
    assert caught.value.hint == "Use less."


def test_other_errors_stay_what_they_are():
    with pytest.raises(RuntimeError, match="shapes cannot be multiplied"), says_when_short(CPU, "a step", ""):
        torch.zeros(2, 3) @ torch.zeros(2, 3)
