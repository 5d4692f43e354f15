"""`seedbed zoo compare`: data sets beside each other."""

from pathlib import Path

import pytest

from seedbed.assets.data.synthetic import write_leaves
from tests.faces.cli.conftest import Asked, Seedbed


def test_what_cannot_be_compared_is_told(seedbed: Seedbed) -> None:
    unknown = seedbed("zoo", "compare", "nothing", "nowhere")
    assert unknown.returncode == 5 and "no bundle 'nothing'" in unknown.stderr


@pytest.mark.slow
def test_every_pair_is_shown(seedbed: Seedbed, asked: Asked, tmp_path: Path) -> None:
    for seed, name in enumerate(("near", "far")):
        write_leaves(tmp_path / name, 2, seed=seed, size=32, by_class=True)
        assert seedbed("data", "add", str(tmp_path / name), "--size", "32").returncode == 0
    found = asked("zoo", "compare", "near", "far")
    assert found["names"] == ["far", "near"] and found["distances"][0][1] == found["distances"][1][0] > 0
    table = seedbed("zoo", "compare", "far", "near").stdout
    assert "near" in table and f"{found['distances'][0][1]:.3g}" in table
