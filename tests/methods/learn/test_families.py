"""Every family of networks is trained by some algorithm, kept, exported and asked."""

from itertools import cycle

import numpy as np
import onnxruntime
import pytest

from seedbed.assets.data.synthetic import draw_leaves
from seedbed.assets.zoo.backbones import BACKBONES
from seedbed.base.run import MemoryRun
from seedbed.methods.learn.algorithm import ALGORITHMS
from seedbed.methods.learn.export import export_all
from seedbed.methods.learn.model import Model
from seedbed.methods.learn.predict import predict
from seedbed.methods.learn.settings import TrainSettings
from seedbed.methods.learn.trainer import train

ANY_OTHER = "mobilenetv4_conv_small"  # of timm's names
PAIRS = list(zip([*BACKBONES, ANY_OTHER], cycle(ALGORITHMS), strict=False))  # the algorithms go round


@pytest.mark.slow
@pytest.mark.parametrize(("backbone", "algorithm"), PAIRS)
def test_a_network_of_each_family_learns_is_kept_and_says_the_same_in_onnx(backbone, algorithm, tmp_path):
    size = 96 if backbone == "vit_base" else 32
    images, truth, classes = draw_leaves(3, seed=1, size=size)
    labels = truth.copy()
    labels[[np.flatnonzero(truth == number)[-1] for number in range(len(classes))]] = -1
    settings = TrainSettings(
        classes=classes,
        algorithm=algorithm,
        start=backbone,
        weights="none",
        size=size,
        steps=1,
        labelled_batch=4,
        unlabelled_batch=4,
    )
    model = train(images, labels, settings, MemoryRun(tmp_path)).model
    folder = export_all(model, tmp_path / "out")
    said = predict(model, images[:4])
    np.testing.assert_array_equal(predict(Model.load(folder, device="cpu"), images[:4]), said)
    (exported,) = onnxruntime.InferenceSession(str(folder / "model.onnx")).run(
        ["probabilities"], {"images": images[:4]}
    )
    np.testing.assert_allclose(exported, said, atol=1e-5)
