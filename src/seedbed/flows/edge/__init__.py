"""The folder that runs a model with one command on another machine: packed into one file, the same bytes every time.

`predict.py` of this package goes into it with the modules that it imports, as they are, so that a device sees the very
pixels that the training saw and counts as the service does; only the lines that import them are changed.
"""

import json
import zipfile
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType

from seedbed.assets.data import decode
from seedbed.flows.kinds.models import FACTS_FILE, ONNX_FILE
from seedbed.methods.learn import ordered

EDGE_FILE = "edge.zip"
_TOP = "model-on-a-device"
_NEEDS = "onnxruntime>=1.17\nnumpy>=1.24\npillow>=11.3\n"
_TAKEN_ALONG = (decode, ordered)  # what predict.py imports: each needs no more than the folder's list names
_GUIDE = """\
A model that names photographs
==============================
It tells apart: {classes}.

Once, on the device (Python 3.10 or later):

    python3 -m pip install -r requirements.txt

Then, with one photograph or a whole folder of them:

    python3 predict.py PHOTOS

It prints a line per photograph: the file, its name, and how sure the model is. A table for a spreadsheet:

    python3 predict.py PHOTOS --csv results.csv

No network and no graphics card are needed. The files: model.onnx is what was learnt, model.json what it tells apart,
labels.txt the names alone, one a line; decode.py reads the photographs as they were read when it was learnt, and
ordered.py tells the value to be expected where the names stand for numbers.
"""


def edge_files(model: Path) -> Mapping[str, bytes]:
    """What is in the folder, of the folder of an exported model: name to content."""
    facts = json.loads((model / FACTS_FILE).read_text(encoding="utf-8"))
    classes = [str(name) for name in facts["classes"]]
    return {
        "README.txt": _GUIDE.format(classes=", ".join(classes)).encode(),
        **{f"{_plain(module)}.py": Path(str(module.__file__)).read_bytes() for module in _TAKEN_ALONG},
        "labels.txt": "".join(f"{name}\n" for name in classes).encode(),
        "model.json": (model / FACTS_FILE).read_bytes(),
        "model.onnx": (model / ONNX_FILE).read_bytes(),
        "predict.py": _script().encode(),
        "requirements.txt": _NEEDS.encode(),
    }


def write_edge(model: Path) -> Path:
    """Pack the folder beside the files of an exported model."""
    target = model / EDGE_FILE
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in edge_files(model).items():
            archive.writestr(_entry(name), content, zipfile.ZIP_DEFLATED)
    return target


def _entry(name: str) -> zipfile.ZipInfo:
    entry = zipfile.ZipInfo(f"{_TOP}/{name}", date_time=(2020, 1, 1, 0, 0, 0))  # a time would make every export differ
    entry.external_attr = 0o644 << 16
    return entry


def _script() -> str:
    text = (Path(__file__).parent / "predict.py").read_text(encoding="utf-8")
    for module in _TAKEN_ALONG:
        text = text.replace(f"from {module.__name__} import", f"from {_plain(module)} import")
    return text


def _plain(module: ModuleType) -> str:
    return module.__name__.rpartition(".")[2]
