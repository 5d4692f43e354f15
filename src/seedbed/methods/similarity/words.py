"""How near images are, in words."""

from seedbed.assets.zoo.card import FURTHEST

_SAME = 0.05  # of the distance to the baseline: another sample of a data set is at about 3 %


def how_near(ratio: float, than: str) -> str:
    """What can be said of images at this share of the distance to others: '38 % nearer than ImageNet's'."""
    if ratio < _SAME:
        return "almost the same as yours"
    if ratio < 0.995:
        return f"{100 * (1 - ratio):.0f} % nearer than {than}"
    if ratio < 1.005:
        return f"as near as {than}"
    if ratio < 2:
        return f"{100 * (ratio - 1):.0f} % further away than {than}"
    if ratio < FURTHEST:
        return f"{ratio:.3g} times as far away as {than}"
    return f"at least {FURTHEST:.0f} times as far away as {than}"
