"""Whether images have an upright, found without labels.

A leaf from above may lie any way round, a photograph of a bird may not. Turning images by any angle is worth points in
the first case and costs them in the second. So some images are turned by quarters, and a linear classifier on
pretrained features is asked which way they were turned: where it cannot tell, there is no upright.
"""

import warnings
from collections.abc import Callable

import torch
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from torch import Tensor

from seedbed.methods.learn.start import standardised

SAMPLE = 240  # images that are looked at
TURNED, SLANTED = 180.0, 20.0  # degrees by which images without and with an upright are turned at most
_TOLD = 0.35  # share of quarter turns named rightly from which on there is an upright; 0.25 is guessing


def largest_turn(told: float) -> float:
    """The degrees by which images may be turned, of the share of quarter turns that can be told."""
    return TURNED if told < _TOLD else SLANTED


def told_turns(images: Tensor, features: Callable[[Tensor], Tensor]) -> float:
    """The share of quarter turns that are named rightly, on the half of the images that was not learnt from.

    Images are square; `features` are a pretrained network's. Of very few images nothing can be learnt: then they count
    as having an upright.
    """
    if len(images) < 8:
        return 1.0
    turned = [features(torch.rot90(images, turn, (2, 3))) for turn in range(4)]
    halves = torch.split(torch.stack(turned).double().cpu(), (len(images) + 1) // 2, dim=1)
    (known, names), (asked, truth) = (
        (half.flatten(0, 1).numpy(), torch.arange(4).repeat_interleave(half.shape[1]).numpy()) for half in halves
    )
    known, (centre, scale) = standardised(known)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # nearly fitted is good enough to ask
        fitted = LogisticRegression(C=0.1, max_iter=500).fit(known, names)
    return float(fitted.score((asked - centre) / scale, truth))
