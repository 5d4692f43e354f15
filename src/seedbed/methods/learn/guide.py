"""The text that goes with a model that is taken away: how each of its files is used."""

from seedbed.assets.zoo.backbones import plan_network
from seedbed.assets.zoo.builder import arguments_of
from seedbed.methods.learn.model import Model

_HEAD = """\
{title}
{rule}
It tells apart: {classes}.
{values}It takes RGB images of {size} x {size} pixels. model.json has all of this for programs.

The code below reads photographs (JPEG) just as Seedbed does. Images with transparency or of 16 bits take more: the
way for this library reads every image that Seedbed reads.
"""
_ONNX = """
model.onnx: the network with its preprocessing; needs onnxruntime, numpy and Pillow

    import json
    import numpy as np
    import onnxruntime
    from PIL import Image, ImageOps

    facts = json.load(open("model.json"))
    sides = (facts["size"], facts["size"])
    photo = Image.open("image.jpg")
    photo.draft(None, sides)  # decodes a large JPEG at a smaller scale, as in training
    image = photo.convert("RGB").resize(sides, Image.BILINEAR, reducing_gap=3.0)
    image = ImageOps.exif_transpose(image)  # as it was held, whatever the camera
    session = onnxruntime.InferenceSession("model.onnx")
    (answers,) = session.run(["probabilities"], {"images": np.asarray(image)[None]})
    print(dict(zip(facts["classes"], answers[0].tolist())))
"""
_NO_ONNX = """
There is no model.onnx. {reason}
"""
_LIBRARY = """
model.safetensors and model.json: for this library, which needs them in one folder

    from pathlib import Path
    from seedbed.methods.learn.model import Model
    from seedbed.methods.learn.predict import predict_path

    model = Model.load(Path("."), device="cpu")
    answers = predict_path(model, Path("image.jpg"))
    print(dict(zip(model.classes, answers.probabilities[0].tolist())))
"""
_TIMM = """
model.pt: the same weights as a PyTorch state dict, for timm

    import json
    import numpy as np
    import timm
    import torch
    from PIL import Image, ImageOps

    facts = json.load(open("model.json"))
    network = {made}.eval()
    network.load_state_dict(torch.load("model.pt", weights_only=True))
    sides = (facts["size"], facts["size"])
    photo = Image.open("image.jpg")
    photo.draft(None, sides)  # decodes a large JPEG at a smaller scale, as in training
    image = photo.convert("RGB").resize(sides, Image.BILINEAR, reducing_gap=3.0)
    image = ImageOps.exif_transpose(image)  # as it was held, whatever the camera
    pixels = torch.from_numpy(np.array(image)).permute(2, 0, 1)[None] / 255
    mean, std = (torch.tensor(facts["preprocessing"][name]).view(1, 3, 1, 1) for name in ("mean", "std"))
    with torch.no_grad():
        logits = network((pixels - mean) / std) / facts["temperature"]
    print(dict(zip(facts["classes"], logits.softmax(dim=1)[0].tolist())))
"""
_OTHER_HEAD = """
model.pt: the same weights as a PyTorch state dict. The network is not one of timm's, so it loads into this library's

    from pathlib import Path
    import torch
    from seedbed.methods.learn.model import Model

    model = Model.load(Path("."), device="cpu")
    model.network.load_state_dict(torch.load("model.pt", weights_only=True))
"""


def guide(model: Model, *, no_onnx: str = "") -> str:
    """A README for the folder of an exported model; its code runs as it stands there, beside an image.jpg.

    `no_onnx` is why there is no ONNX file, where there is none.
    """
    title = f"A model trained by Seedbed: {model.architecture}"
    values = ", ".join(f"{value:g}" for value in model.values)
    head = _HEAD.format(
        title=title,
        rule="=" * len(title),
        classes=", ".join(model.classes),
        values=f"They stand for: {values}.\n" if values else "",
        size=model.size,
    )
    made = _in_timm(model)
    onnx = _NO_ONNX.format(reason=no_onnx) if no_onnx else _ONNX
    return head + onnx + _LIBRARY + (_TIMM.format(made=made) if made else _OTHER_HEAD)


def _in_timm(model: Model) -> str:
    """What makes the network in timm, as code; empty where timm cannot make it."""
    plan = plan_network(model.architecture, size=model.size, scratch=False)
    if model.head or plan.stem == "small":
        return ""
    told = "".join(f", {name}={value!r}" for name, value in arguments_of(plan, model.size).items())
    return f'timm.create_model("{plan.timm}", num_classes={len(model.classes)}{told})'
