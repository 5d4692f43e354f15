"""The text that goes with a model that is taken away: how each of its files is used."""

from seedbed.methods.learn.model import Model

_HEAD = """\
{title}
{rule}
It tells apart: {classes}.
{values}It takes RGB images of {size} x {size} pixels. model.json has all of this for programs.

model.onnx: the network with its preprocessing; needs onnxruntime, numpy and Pillow

    import json
    import numpy as np
    import onnxruntime
    from PIL import Image

    facts = json.load(open("model.json"))
    image = Image.open("image.jpg").convert("RGB").resize((facts["size"], facts["size"]))
    session = onnxruntime.InferenceSession("model.onnx")
    (answers,) = session.run(["probabilities"], {{"images": np.asarray(image)[None]}})
    print(dict(zip(facts["classes"], answers[0].tolist())))

model.safetensors and model.json: for this library, which needs them in one folder

    from pathlib import Path
    import numpy as np
    from PIL import Image
    from seedbed.methods.learn.model import Model
    from seedbed.methods.learn.predict import predict

    model = Model.load(Path("."), device="cpu")
    image = Image.open("image.jpg").convert("RGB").resize((model.size, model.size))
    print(dict(zip(model.classes, predict(model, np.asarray(image)[None])[0].tolist())))
"""
_TIMM = """
model.pt: the same weights as a PyTorch state dict, for timm

    import json
    import numpy as np
    import timm
    import torch
    from PIL import Image

    facts = json.load(open("model.json"))
    network = timm.create_model(facts["architecture"], num_classes=len(facts["classes"]){options}).eval()
    network.load_state_dict(torch.load("model.pt", weights_only=True))
    image = Image.open("image.jpg").convert("RGB").resize((facts["size"], facts["size"]))
    pixels = torch.from_numpy(np.array(image)).permute(2, 0, 1)[None] / 255
    mean, std = (torch.tensor(facts["preprocessing"][name]).view(1, 3, 1, 1) for name in ("mean", "std"))
    with torch.no_grad():
        logits = network((pixels - mean) / std) / facts["temperature"]
    print(dict(zip(facts["classes"], logits.softmax(dim=1)[0].tolist())))
"""
_OTHER_HEAD = """
model.pt: the same weights as a PyTorch state dict. Its head is not one of timm's, so it loads into this library's
network

    from pathlib import Path
    import torch
    from seedbed.methods.learn.model import Model

    model = Model.load(Path("."), device="cpu")
    model.network.load_state_dict(torch.load("model.pt", weights_only=True))
"""


def guide(model: Model) -> str:
    """A README for the folder of an exported model; its code runs as it stands there, beside an image.jpg."""
    title = f"A model trained by Seedbed: {model.architecture}"
    values = ", ".join(f"{value:g}" for value in model.values)
    head = _HEAD.format(
        title=title,
        rule="=" * len(title),
        classes=", ".join(model.classes),
        values=f"They stand for: {values}.\n" if values else "",
        size=model.size,
    )
    if model.head:
        return head + _OTHER_HEAD
    return head + _TIMM.format(options=', img_size=facts["size"]' if "vit" in model.architecture else "")
