"""Images of a data set for pages: quick, in their proportions, and never from another data set."""

import io
from pathlib import Path

import numpy as np
from PIL import Image

from seedbed.assets.access.roles import SOLO
from seedbed.assets.store.bundle import Lineage
from seedbed.flows.gallery import Galleries
from seedbed.flows.platform import Platform
from tests.flows.made_up import again, made_up


def test_a_thumbnail_comes_from_the_smallest_cache_that_is_sharp_enough_else_from_the_image(
    platform: Platform, tmp_path: Path
) -> None:
    (tmp_path / "images").mkdir()
    grid = np.zeros((300, 400, 3), dtype=np.uint8)
    grid[:, 200:] = 255
    Image.fromarray(grid).save(tmp_path / "images" / "halves.png")
    job = platform.data.add(tmp_path / "images", name="halves", size=32, by=SOLO)
    platform.run_until_done([job.id])

    def picture(size: int) -> Image.Image:
        return Image.open(io.BytesIO(platform.data.thumbnail("halves", 0, size=size, by=SOLO)))

    for size, shape in ((32, (32, 24)), (40, (40, 30)), (200, (200, 150)), (1024, (400, 300))):
        found = picture(size)
        assert found.size == shape, "in its proportions, never enlarged"
        pixels = np.asarray(found.convert("L"))
        assert pixels[:, : shape[0] // 2 - 3].max() < 30 and pixels[:, shape[0] // 2 + 3 :].min() > 225


def test_what_is_made_of_a_later_version_is_not_taken_for_the_earlier_ones(platform: Platform, tmp_path: Path) -> None:
    galleries = Galleries(platform.store)
    first = made_up(platform, tmp_path / "one", name="one")
    made = galleries.made(first.project.data)
    assert len(made.decoded) == len(made.embeddings) == len(made.groups) == 1
    second = made_up(platform, tmp_path / "two", name="two", grouped=False)
    later = platform.store.get(second.project.data)
    # the second data set was made from the first: its cache is two generations away, as embeddings would be
    lineage = Lineage("ingest", {}, (("data", first.project.data),))
    grown = platform.store.publish(again(platform, later.uuid, lineage))
    galleries.forget(first.project.data)
    assert galleries.made(first.project.data) == made
    assert galleries.made(grown.uuid).embeddings == ()
