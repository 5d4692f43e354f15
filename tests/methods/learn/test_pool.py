import numpy as np
import pytest
import torch

from seedbed.base.errors import InvalidInput
from seedbed.methods.learn.pool import Pool, check_task, divide

IMAGES = np.zeros((6, 8, 8, 3), np.uint8)


def test_no_label_is_held_out_when_a_class_has_few():
    labels = np.array([0] * 30 + [1] * 9 + [-1] * 5)
    parts = divide(labels, share=0.2, few=10, classes=2, seed=0)
    assert len(parts.held_out) == 0
    assert len(parts.labelled) == 39 and len(parts.unlabelled) == 44


def test_a_share_of_every_class_is_held_out_and_never_trained_on():
    labels = np.array([0] * 30 + [1] * 10 + [-1] * 5)
    parts = divide(labels, share=0.2, few=10, classes=2, seed=0)
    assert np.bincount(labels[parts.held_out]).tolist() == [6, 2]
    assert not set(parts.held_out.tolist()) & set(parts.unlabelled.tolist())
    assert set(parts.labelled.tolist()) | set(parts.held_out.tolist()) == set(range(40))
    other = divide(labels, share=0.2, few=10, classes=2, seed=1)
    assert not torch.equal(parts.held_out, other.held_out)


def test_a_class_keeps_a_label_to_learn_from_whatever_is_held_out():
    labels = np.array([0] * 10 + [1])
    parts = divide(labels, share=0.96, few=0, classes=2, seed=0)
    assert np.bincount(labels[parts.labelled]).tolist() == [1, 1]


def test_images_come_as_bytes_at_the_size_of_the_run():
    images = np.full((2, 8, 8, 3), 255, np.uint8)
    batch = Pool(images, 4, torch.device("cpu")).take(torch.tensor([1]))
    assert batch.dtype == torch.uint8
    torch.testing.assert_close(batch, torch.full((1, 3, 4, 4), 255, dtype=torch.uint8))


def test_every_class_without_a_label_is_named():
    with pytest.raises(InvalidInput) as caught:
        check_task(IMAGES, np.array([0, -1, -1, -1, -1, -1]), ("rust", "mildew", "holes"))
    assert "'mildew'" in str(caught.value) and "'holes'" in str(caught.value) and "'rust'" not in str(caught.value)


@pytest.mark.parametrize(
    ("images", "labels", "words"),
    [
        (IMAGES, np.array([0, 1, 2, 0, 0, 0]), "0..2"),
        (IMAGES, np.array([0, 1]), r"\(2,\)"),
        (IMAGES, np.array([0.0] * 6), "float64"),
        (IMAGES.astype(np.float32), np.array([0, 1, 0, 1, 0, 1]), "float32"),
        (IMAGES[..., :1], np.array([0, 1, 0, 1, 0, 1]), r"\(6, 8, 8, 1\)"),
    ],
)
def test_what_cannot_be_trained_on_is_refused_with_what_was_given(images, labels, words):
    with pytest.raises(InvalidInput, match=words):
        check_task(images, labels, ("a", "b"))
