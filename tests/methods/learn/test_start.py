import torch

from seedbed.assets.zoo.builder import build_backbone
from seedbed.methods.learn.pixels import normalise, to_float
from seedbed.methods.learn.start import features_of, fit_head, some_of_each


def fitted(task, classes: int):
    chosen = task.truth < classes
    backbone = build_backbone("efficientnet_lite0.imagenet", classes)
    images = normalise(to_float(task.images[chosen], 32, torch.device("cpu")), backbone.preprocessing)
    labels = torch.from_numpy(task.truth[chosen])
    with torch.no_grad():
        fit_head(backbone.network, features_of(backbone.network.eval(), images), labels, regularisation=1.0)
        return backbone.network(images), labels


def test_the_head_begins_knowing_its_labels(task):
    logits, labels = fitted(task, 6)
    assert (logits.argmax(dim=1) == labels).float().mean() > 0.95


def test_the_head_sees_every_class_however_many_labels_there_are():
    labels = torch.tensor([0] * 50 + [1] * 50 + [2])
    assert some_of_each(labels, 10).tolist() == [*range(8), 50, 100]
    assert some_of_each(labels, 2000).tolist() == list(range(101))
    assert some_of_each(labels, 1).tolist() == [0, 50, 100]


def test_two_classes_get_a_logit_each(task):
    logits, labels = fitted(task, 2)
    assert logits.shape[1] == 2
    assert (logits.argmax(dim=1) == labels).float().mean() > 0.95


def test_a_regression_that_does_not_settle_is_a_start_all_the_same_and_nobody_is_warned():
    draws = torch.Generator().manual_seed(0)
    features = torch.randn(300, 40, generator=draws) * torch.logspace(-3, 3, 40)  # no scale suits all of them
    labels = torch.arange(300) % 3
    network = build_backbone("test_resnet", 3, weights="none").network
    network.reset_classifier(3)
    head = network.get_classifier()
    head.weight = torch.nn.Parameter(torch.zeros(3, 40))
    fit_head(network, features, labels, regularisation=1e-6)
    assert head.weight.isfinite().all() and head.weight.any()
