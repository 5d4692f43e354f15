"""Every family of networks is trained by some algorithm, kept, exported and asked."""

from itertools import cycle
from pathlib import Path

import numpy as np
import onnxruntime
import pytest
import timm
import torch

from seedbed.assets.data.synthetic import draw_leaves
from seedbed.assets.zoo.backbones import BACKBONES
from seedbed.assets.zoo.builder import build_backbone
from seedbed.base.run import MemoryRun
from seedbed.methods.learn.algorithm import ALGORITHMS
from seedbed.methods.learn.export import export_all, export_state_dict
from seedbed.methods.learn.guide import guide
from seedbed.methods.learn.model import Model
from seedbed.methods.learn.pixels import Images
from seedbed.methods.learn.predict import predict
from seedbed.methods.learn.settings import TrainSettings
from seedbed.methods.learn.trainer import train

ANY_OTHER = "mobilenetv4_conv_small"  # of timm's names
PAIRS = list(zip([*BACKBONES, ANY_OTHER], cycle(ALGORITHMS), strict=False))  # the algorithms go round
QUICK = {  # of timm's families, to side: patches without a size, none at all, told no size, told one, shared weights
    "efficientvit_m0": 64,
    "fasternet_t0": 32,
    "pvt_v2_b0": 32,
    "levit_128s": 32,
    "gmixer_12_224": 32,
    "visformer_tiny": 32,
    "coat_lite_tiny": 32,
}
SLOW = {
    **QUICK,
    "xcit_nano_12_p16_224": 32,
    "tiny_vit_5m_224": 64,
    "hiera_tiny_224": 64,
    "sam2_hiera_tiny": 64,
    "volo_d1_224": 64,
    "mvitv2_tiny": 64,
    "efficientvim_m1": 64,
    "shvit_s1": 64,
    "mixer_s32_224": 64,
    "gcvit_xxtiny": 64,
    "maxvit_pico_rw_256": 64,
    "tnt_s_legacy_patch16_224": 64,
    "efficientformerv2_s0": 64,
    "densenet121": 64,
    "convmixer_768_32": 64,
    "regnetx_002": 64,
    "swin_tiny_patch4_window7_224": 64,
}
WITHOUT_ONNX = ("volo_d1_224",)  # its exporter has no words for them


def made_by(text: str) -> torch.nn.Module:
    """The network that a README's line makes."""
    (line,) = [line for line in text.splitlines() if "timm.create_model" in line]
    made: dict[str, torch.nn.Module] = {}
    exec(line.strip(), {"timm": timm}, made)
    return made["network"]


@pytest.mark.parametrize(("name", "size"), QUICK.items())
def test_a_network_of_timm_is_kept_and_the_line_of_the_readme_makes_it_again(name, size, tmp_path: Path):
    made = build_backbone(name, 3, weights="none", size=size)
    network, images = made.network.eval(), torch.rand(2, 3, size, size)
    model = Model(network, made.architecture, ("a", "b", "c"), size, made.preprocessing)
    model.save(tmp_path)
    again = made_by(guide(model))
    again.load_state_dict(torch.load(export_state_dict(model, tmp_path / "model.pt"), weights_only=True))
    with torch.no_grad():
        said = network(images)
        assert torch.equal(Model.load(tmp_path, device="cpu").network(images), said)
        assert torch.equal(again(images), said)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "size"), SLOW.items())
def test_any_network_of_timm_learns_is_kept_and_taken_away(name, size, tmp_path: Path):
    model, images = learnt(name, "fixmatch", size, tmp_path)
    folder = export_all(model, tmp_path / "out")
    said = predict(model, images[:4])
    np.testing.assert_allclose(predict(Model.load(folder, device="cpu"), images[:4]), said, atol=1e-6)
    again = made_by((folder / "README.txt").read_text())
    again.load_state_dict(torch.load(folder / "model.pt", weights_only=True))
    if name in WITHOUT_ONNX:
        assert "There is no model.onnx." in (folder / "README.txt").read_text()
    else:
        np.testing.assert_allclose(in_onnx(folder, images[:4]), said, atol=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize(("backbone", "algorithm"), PAIRS)
def test_a_network_of_each_family_learns_is_kept_and_says_the_same_in_onnx(backbone, algorithm, tmp_path):
    model, images = learnt(backbone, algorithm, 96 if backbone == "vit_base" else 32, tmp_path)
    folder = export_all(model, tmp_path / "out")
    said = predict(model, images[:4])
    np.testing.assert_array_equal(predict(Model.load(folder, device="cpu"), images[:4]), said)
    np.testing.assert_allclose(in_onnx(folder, images[:4]), said, atol=1e-5)


def learnt(start: str, algorithm: str, size: int, place: Path) -> tuple[Model, Images]:
    """A model after a step from scratch, and the images that it learnt from."""
    images, truth, classes = draw_leaves(3, seed=1, size=size)
    labels = truth.copy()
    labels[[np.flatnonzero(truth == number)[-1] for number in range(len(classes))]] = -1
    settings = TrainSettings(
        classes=classes,
        algorithm=algorithm,
        start=start,
        weights="none",
        size=size,
        steps=1,
        labelled_batch=4,
        unlabelled_batch=4,
    )
    return train(images, labels, settings, MemoryRun(place)).model, images


def in_onnx(folder: Path, images: Images) -> Images:
    """What the exported file says."""
    session = onnxruntime.InferenceSession(str(folder / "model.onnx"))
    (answers,) = session.run(["probabilities"], {"images": images})
    return answers
