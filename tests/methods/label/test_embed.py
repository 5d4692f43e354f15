import numpy as np
import pytest
import torch

from seedbed.assets.data.synthetic import draw_leaves
from seedbed.assets.zoo.builder import build_backbone
from seedbed.base.errors import Damaged, InvalidInput, NotFound
from seedbed.methods.label.embed import CARD, embed
from seedbed.methods.label.weights import headless, save_weights
from seedbed.methods.learn.devices import choose_device
from seedbed.methods.learn.pixels import normalise, to_float
from seedbed.methods.learn.start import features_of

SIZE = 40


@pytest.fixture(scope="module")
def images():
    return draw_leaves(4, seed=0, size=SIZE)[0]


@pytest.fixture(scope="module")
def rows(images):
    return embed(images, size=SIZE, device="cpu")


def test_rows_are_what_the_head_of_the_card_sees_at_length_one(images, rows):
    backbone = build_backbone(CARD, 7)
    with torch.no_grad():
        pixels = normalise(to_float(images, SIZE, choose_device("cpu")), backbone.preprocessing)
        seen = features_of(backbone.network.eval(), pixels)
    assert rows.shape == (24, 1280) and rows.dtype == np.float32
    np.testing.assert_allclose(rows, torch.nn.functional.normalize(seen).numpy(), atol=1e-4)
    assert np.linalg.norm(rows, axis=1) == pytest.approx(np.ones(24), abs=1e-5)


def test_a_row_depends_on_its_image_alone(images, rows):
    np.testing.assert_allclose(embed(images[5:8], size=SIZE, device="cpu"), rows[5:8], atol=1e-5)


def test_an_image_is_nearest_to_its_own_brighter_copy(images, rows):
    brighter = np.clip(images.astype(int) + 12, 0, 255).astype(np.uint8)
    nearest = (embed(brighter, size=SIZE, device="cpu") @ rows.T).argmax(axis=1)
    assert (nearest == np.arange(len(images))).mean() > 0.9


def test_images_may_be_mapped_from_disk_and_progress_is_told(images, rows, tmp_path):
    np.save(tmp_path / "images.npy", np.tile(images, (11, 1, 1, 1)))
    told = []
    mapped = np.load(tmp_path / "images.npy", mmap_mode="r")
    found = embed(mapped, size=SIZE, device="cpu", on_progress=lambda done, total: told.append((done, total)))
    assert told == [(256, 264), (264, 264)]
    np.testing.assert_allclose(found[-24:], rows, atol=1e-5)


def test_no_images_give_no_rows():
    assert embed(np.empty((0, 8, 8, 3), np.uint8), size=SIZE, device="cpu").shape == (0, 1280)


def test_weights_from_a_file_are_used(images, rows, tmp_path):
    backbone = headless(CARD, SIZE)
    save_weights(backbone, CARD, tmp_path / "same.safetensors")
    np.testing.assert_allclose(
        embed(images, size=SIZE, weights=tmp_path / "same.safetensors", device="cpu"), rows, atol=1e-6
    )
    with torch.no_grad():
        backbone.network.conv_head.weight.mul_(-1)
    save_weights(backbone, CARD, tmp_path / "other.safetensors")
    other = embed(images, size=SIZE, weights=tmp_path / "other.safetensors", device="cpu")
    assert (other * rows).sum(axis=1).max() < 0.9


def test_weights_that_are_missing_broken_or_of_another_network_are_refused(images, tmp_path):
    with pytest.raises(NotFound, match="no weights"):
        embed(images, weights=tmp_path / "none.safetensors")
    (tmp_path / "broken.safetensors").write_bytes(b"no")
    with pytest.raises(Damaged, match="cannot be read"):
        embed(images, weights=tmp_path / "broken.safetensors")
    save_weights(headless(CARD, SIZE), "efficientnet_lite1.imagenet", tmp_path / "lite1.safetensors")
    with pytest.raises(InvalidInput, match=r"are of 'efficientnet_lite1\.imagenet'"):
        embed(images, weights=tmp_path / "lite1.safetensors")


def test_what_are_no_images_is_refused():
    with pytest.raises(InvalidInput, match="images has shape"):
        embed(np.zeros((3, 8, 8), np.uint8))
    with pytest.raises(InvalidInput, match="size is 4"):
        embed(np.zeros((3, 8, 8, 3), np.uint8), size=4)
