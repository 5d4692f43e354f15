import torch

from seedbed.assets.zoo.builder import build_backbone
from seedbed.methods.learn.pixels import normalise, to_float
from seedbed.methods.learn.start import features_of, fit_head


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


def test_two_classes_get_a_logit_each(task):
    logits, labels = fitted(task, 2)
    assert logits.shape[1] == 2
    assert (logits.argmax(dim=1) == labels).float().mean() > 0.95
