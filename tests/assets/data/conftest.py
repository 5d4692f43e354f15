"""Small pictures that the tests of assets/data share."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from seedbed.assets.data.synthetic import draw_leaves

Save = Callable[..., Path]


@pytest.fixture(scope="session")
def leaves() -> np.ndarray:
    """Forty-eight leaves of 64 px."""
    return draw_leaves(8, seed=5, size=64)[0]


@pytest.fixture
def save(leaves: np.ndarray, tmp_path: Path) -> Save:
    """Saves leaf number n under a name in the folder 'source', as JPEG unless the name says otherwise."""

    def save_one(name: str, number: int, **options: object) -> Path:
        path = tmp_path / "source" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        Image.fromarray(leaves[number]).save(path, **{"quality": 92, **options})
        return path

    return save_one
