"""Our store runs the suite that any store must satisfy, on both databases."""

from pathlib import Path

import pytest

from seedbed.assets.store.store import Store
from seedbed.testing.stores import CHECKS, Check


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_the_store_satisfies_the_suite(check: Check, store: Store, tmp_path: Path) -> None:
    check(store, tmp_path / "scratch")
