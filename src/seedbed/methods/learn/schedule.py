"""The learning rate over a run: a straight climb, then half a cosine down to 0."""

import math


def rate_share(step: int, total: int, warmup: float) -> float:
    """The share of the peak rate at a step (from 0); `warmup` is the climb's share of all steps."""
    climb = int(warmup * total)
    if step < climb:
        return (step + 1) / climb
    return 0.5 * (1 + math.cos(math.pi * (step - climb) / max(total - climb, 1)))
