"""The networks that a training can start from by a short name, known without loading one."""

from seedbed.flows.unloaded import about, rows_of


def backbones() -> dict[str, str]:
    """Name of each, with one line."""
    return {name: about(row) for name, row in rows_of("seedbed.assets.zoo.catalogue", "CARDS").items()}
