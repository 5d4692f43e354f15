"""Images that a loss takes no notice of are not looked at, where that changes nothing else."""

import pytest
import torch

from seedbed.methods.learn.algorithm import make_algorithm
from seedbed.methods.learn.task import Task
from tests.methods.learn.cases import logits_of, mixed

TWO = Task(classes=2, images=20)
SURE, UNSURE = [0.99, 0.01], [0.6, 0.4]
LEARNT = {  # so much that unsure images lie below the threshold
    "flexmatch": {"learnt": torch.arange(20) % 2},
    "freematch": {"confidence": torch.tensor(0.9)},
}


class Looked:
    """A model whose answer is its input, and that remembers how many images it was shown to learn from."""

    def __init__(self):
        self.images = 0

    def __call__(self, images):
        self.images += len(images) if torch.is_grad_enabled() else 0
        return images


def looked_at(sure, *, spares, name="fixmatch"):
    weak = logits_of(*[SURE] * sure, *[UNSURE] * (8 - sure)).flip(0)
    model = Looked()
    batch = mixed(logits_of([0.8, 0.2]), [0], weak, logits_of(*[UNSURE] * 8), spares=spares)
    algorithm = make_algorithm(name, TWO, {})
    algorithm.load_state({**algorithm.state(), **LEARNT.get(name, {})})
    algorithm.loss(model, batch)
    return model.images - 1  # the labelled one


@pytest.mark.parametrize(("sure", "looked"), [(0, 0), (1, 2), (2, 2), (3, 4), (7, 8), (8, 8)])
def test_unsure_images_are_left_out_in_quarters_of_the_batch(sure, looked):
    assert looked_at(sure, spares=True) == looked


def test_where_steps_are_recorded_every_image_is_looked_at():
    assert looked_at(0, spares=False) == 8


@pytest.mark.parametrize("name", ["fixmatch", "flexmatch", "freematch", "steady"])
def test_every_algorithm_with_a_threshold_spares_what_lies_below(name):
    assert looked_at(0, spares=True, name=name) == 0


def test_it_is_the_sure_images_that_are_looked_at():
    weak = logits_of(UNSURE, SURE, UNSURE, UNSURE)
    strong = logits_of([0.1, 0.9], [0.2, 0.8], [0.3, 0.7], [0.4, 0.6]).requires_grad_()
    batch = mixed(logits_of([0.8, 0.2]), [0], weak, strong, spares=True)
    make_algorithm("fixmatch", TWO, {}).loss(Looked(), batch).loss.backward()
    assert strong.grad.any(dim=1).tolist() == [False, True, False, False]
