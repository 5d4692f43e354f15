from dataclasses import replace

import pytest
import torch

from seedbed.methods.learn.augment import SPREADING, TONAL, Strength, _grid, _look_up, augment, tones_of
from seedbed.methods.learn.draws import Key

STRONG = Strength(turn=180)
STILL = Strength(flip=0, shift=0, turn=0, zoom=0, strong_zoom=0, shear=0, operations=0, cutout=0)


@pytest.fixture
def images() -> torch.Tensor:
    return torch.rand((6, 3, 16, 16), generator=torch.Generator().manual_seed(0))


@pytest.mark.parametrize("view", ["weak", "strong"])
def test_the_same_key_gives_the_same_view_and_another_step_another(images, view):
    key = Key(0, 1, torch.arange(6))
    first = augment(images, view, key, STRONG)
    assert torch.equal(first, augment(images, view, key, STRONG))
    assert not torch.equal(first, augment(images, view, Key(0, 2, torch.arange(6)), STRONG))


@pytest.mark.parametrize("view", ["weak", "strong"])
def test_what_becomes_of_an_image_does_not_depend_on_its_place_in_the_batch(images, view):
    numbers, turned = torch.arange(6), torch.tensor([4, 2, 0, 5, 1, 3])
    whole = augment(images, view, Key(0, 1, numbers), STRONG)
    moved = augment(images[turned], view, Key(0, 1, numbers[turned]), STRONG)
    alone = augment(images[3:4], view, Key(0, 1, numbers[3:4]), STRONG)
    torch.testing.assert_close(whole[turned], moved, rtol=0, atol=1e-6)
    torch.testing.assert_close(whole[3:4], alone, rtol=0, atol=1e-6)


@pytest.mark.parametrize("view", ["weak", "strong"])
def test_views_stay_images(images, view):
    seen = augment(images, view, Key(0, 1, torch.arange(6)), STRONG)
    assert seen.shape == images.shape
    assert seen.min() >= 0 and seen.max() <= 1


@pytest.mark.parametrize("view", ["weak", "strong"])
def test_without_strength_an_image_stays_as_it_is(images, view):
    seen = augment(images, view, Key(0, 1, torch.arange(6)), STILL)
    torch.testing.assert_close(seen, images, rtol=0, atol=3e-3)  # strong views are looked up among 256 tones


def test_as_many_images_are_mirrored_as_is_asked_for(images):
    for share in (0.25, 1.0):
        many = images[:1].expand(400, -1, -1, -1)
        seen = augment(many, "weak", Key(0, 1, torch.arange(400)), replace(STILL, flip=share))
        mirrored = ((seen - images[0].flip(-1)).abs().amax(dim=(1, 2, 3)) < 1e-5).float().mean()
        assert mirrored == pytest.approx(share, abs=0.06)


@pytest.mark.parametrize("name", list(SPREADING))
def test_strength_zero_leaves_an_image_as_it_is_and_strength_one_does_not(images, name):
    nothing = SPREADING[name](images, torch.zeros(6, 1, 1, 1))
    torch.testing.assert_close(nothing, images, rtol=0, atol=1e-6)
    assert (SPREADING[name](images, torch.ones(6, 1, 1, 1)) - images).abs().max() > 0.02


@pytest.mark.parametrize("name", list(TONAL))
def test_strength_zero_leaves_a_tone_as_it_is_and_strength_one_does_not(images, name):
    plain = torch.arange(256) / 255
    nothing = tones_of(images, {name: torch.zeros(6)})
    torch.testing.assert_close(nothing, plain.expand(6, 3, 256), rtol=0, atol=2e-4)
    assert (tones_of(images, {name: torch.ones(6)}) - plain).abs().amax(dim=(1, 2)).min() > 0.02


def test_the_place_that_a_pixel_comes_from_is_that_of_torch(images):
    weights = torch.randn((6, 2, 3), generator=torch.Generator().manual_seed(1))
    expected = torch.nn.functional.affine_grid(weights, [6, 3, 16, 12], align_corners=False)
    torch.testing.assert_close(_grid(weights, 16, 12), expected, rtol=1e-5, atol=1e-5)


def test_tones_are_looked_up_to_half_a_step_of_256(images):
    inverted = 1 - torch.arange(256).div(255).expand(6, 3, 256)
    torch.testing.assert_close(_look_up(images, inverted), 1 - images, rtol=0, atol=0.5 / 255 + 1e-6)


def test_cutout_covers_a_square_with_grey(images):
    strength = Strength(shift=0, turn=0, zoom=0, strong_zoom=0, shear=0, operations=0, cutout=1.0)
    seen = augment(images, "strong", Key(0, 3, torch.arange(6)), strength)
    covered = (seen == 0.5).all(dim=1).float()
    for mask in covered:
        rows, columns = mask.any(dim=1).sum(), mask.any(dim=0).sum()
        assert mask.sum() == rows * columns  # a full rectangle, cut at the border at most
    assert covered.any()
