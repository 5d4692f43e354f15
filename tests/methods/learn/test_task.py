import math

import numpy as np
import pytest
import torch

from seedbed.methods.learn.settings import TrainSettings
from seedbed.methods.learn.task import CPU, Task, balancing_weights, borders_of, make_task

BINS = (0.0, 10.0, 25.0, 50.0, 100.0)


def logits_of(*rows: list[float]) -> torch.Tensor:
    return torch.tensor(rows).log()


def test_borders_cost_as_much_as_the_gaps_between_values_with_the_weight_as_their_mean():
    assert borders_of(BINS, 2.0).tolist() == pytest.approx([2 * gap / 25 for gap in (10, 15, 25, 50)])


def test_the_loss_of_ordered_classes_computed_by_hand():
    task = Task(classes=3, borders=torch.tensor([1.0, 3.0]))
    logits, labels = logits_of([0.5, 0.3, 0.2], [0.1, 0.2, 0.7]), torch.tensor([0, 1])
    # below the borders: 0.5 and 0.8 are said where 1 and 1 are true; 0.1 and 0.3 where 0 and 1 are
    first = -math.log(0.5) + 1 * 0.5**2 + 3 * 0.2**2
    second = -math.log(0.2) + 1 * 0.1**2 + 3 * 0.7**2
    assert task.loss_each(logits, labels).tolist() == pytest.approx([first, second], rel=1e-5)


def test_shares_of_one_class_cost_what_the_class_costs():
    task = Task(classes=3, borders=torch.tensor([1.0, 3.0]))
    logits, labels = torch.randn(8, 3, generator=torch.Generator().manual_seed(0)), torch.arange(8) % 3
    whole = torch.eye(3)[labels]
    torch.testing.assert_close(task.loss_toward(logits, whole), task.loss_each(logits, labels))
    plain = Task(classes=3)
    torch.testing.assert_close(plain.loss_toward(logits, whole), plain.loss_each(logits, labels))


def test_of_two_answers_that_are_as_sure_of_the_truth_the_nearer_one_costs_less():
    task = Task(classes=5, borders=borders_of(BINS, 1.0))
    near, far = logits_of([0.4, 0.57, 0.01, 0.01, 0.01], [0.4, 0.01, 0.01, 0.01, 0.57])
    cost = task.loss_each(torch.stack([near, far]), torch.tensor([0, 0]))
    assert cost[0] < cost[1]
    unordered = Task(classes=5).loss_each(torch.stack([near, far]), torch.tensor([0, 0]))
    assert unordered[0] == pytest.approx(float(unordered[1]))


def test_the_loss_asks_for_the_truth_itself_and_not_for_its_neighbours():
    """It is proper: of labels that are class 1 in three of four cases, the best answer is just that."""
    task = Task(classes=3, borders=borders_of((0.0, 10.0, 100.0), 1.0))
    labels = torch.tensor([1, 1, 1, 2])
    free = torch.zeros(1, 3, requires_grad=True)
    optimiser = torch.optim.Adam([free], lr=0.05)
    for _ in range(600):
        optimiser.zero_grad()
        task.loss_each(free.expand(4, 3), labels).mean().backward()
        optimiser.step()
    assert free.softmax(dim=1)[0].tolist() == pytest.approx([0, 0.75, 0.25], abs=0.02)


def test_weights_let_every_class_count_alike():
    weights = balancing_weights([1, 4, 5])
    assert (weights * torch.tensor([1, 4, 5])).tolist() == pytest.approx([10 / 3] * 3)


@pytest.mark.parametrize(("counts", "balance", "weighed"), [((4, 8), "auto", False), ((4, 9), "auto", True)])
def test_classes_are_weighed_where_one_has_more_than_twice_the_labels_of_another(counts, balance, weighed):
    labels = np.repeat([0, 1, -1], [*counts, 5])
    task = make_task(labels, TrainSettings(classes=("a", "b"), balance=balance), CPU)
    assert (task.weights is not None) == weighed
    assert make_task(labels, TrainSettings(classes=("a", "b"), balance="none"), CPU).weights is None
    assert make_task(labels, TrainSettings(classes=("a", "b"), balance="weights"), CPU).weights is not None


def test_a_task_knows_how_many_labels_a_class_has_as_a_mean():
    labels = np.repeat([0, 1, -1], [3, 8, 5])
    assert make_task(labels, TrainSettings(classes=("a", "b")), CPU).labels_per_class == 5.5


def test_values_make_a_task_ordered():
    labels = np.array([0, 1, 2, -1])
    task = make_task(labels, TrainSettings(classes=("a", "b", "c"), values=(0, 10, 100), nearness=0.5), CPU)
    assert task.borders is not None and task.borders.tolist() == pytest.approx([0.5 * 10 / 50, 0.5 * 90 / 50])
    assert make_task(labels, TrainSettings(classes=("a", "b", "c")), CPU).borders is None
