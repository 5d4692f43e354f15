"""Names photographs with the model that lies beside this file.

    python3 predict.py PHOTO_OR_FOLDER ... [--csv FILE]

Needs Python 3.10 or later with onnxruntime, numpy and Pillow, and nothing else: no network, no graphics card. Prints
a line per photograph: file, name, how sure. With --csv the same goes into a table, with the share of every name.
"""

import argparse
import csv
import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

try:
    import numpy as np
    import onnxruntime
    from numpy.typing import NDArray

    from seedbed.assets.data.decode import SUFFIXES, Undecodable, decode
    from seedbed.methods.learn.ordered import expected_values
except ModuleNotFoundError as missing:
    sys.exit(f"{missing.name} is not installed here. Once: python3 -m pip install -r requirements.txt")

_HERE = Path(__file__).parent
_ENDINGS = {*SUFFIXES.values(), ".jpeg", ".tiff", ".j2k"}
_AT_ONCE = 16


def main(arguments: Sequence[str] | None = None) -> int:
    """Answer for every photograph; 0: all were read, 1: some could not be."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("photos", nargs="+", type=Path, help="photographs, or folders of them")
    parser.add_argument("--csv", type=Path, default=None, help="write a table here as well")
    chosen = parser.parse_args(arguments)
    facts = json.loads((_HERE / "model.json").read_text(encoding="utf-8"))
    photos = list(_photos(chosen.photos))
    answers, refused = _answer(photos, facts)
    for path, row in answers:
        sys.stdout.write(f"{path}\t{facts['classes'][row.argmax()]}\t{100 * row.max():.1f} %\n")
    for path, reason in refused:
        sys.stderr.write(f"{path}: {reason}\n")
    if not photos:
        sys.stderr.write("No photograph is there.\n")
    if chosen.csv:
        _write(chosen.csv, answers, facts)
    return 0 if photos and not refused else 1


def _photos(given: Sequence[Path]) -> Iterator[Path]:
    for path in given:
        if path.is_dir():
            yield from sorted(one for one in path.rglob("*") if one.suffix.lower() in _ENDINGS)
        else:
            yield path


def _answer(
    photos: Sequence[Path], facts: dict[str, Any]
) -> tuple[list[tuple[Path, NDArray[np.float32]]], list[tuple[Path, str]]]:
    """What the model says of each, a few at a time, and why some could not be read."""
    session = onnxruntime.InferenceSession(str(_HERE / "model.onnx"), providers=["CPUExecutionProvider"])
    answers: list[tuple[Path, NDArray[np.float32]]] = []
    refused: list[tuple[Path, str]] = []
    for start in range(0, len(photos), _AT_ONCE):
        read: list[tuple[Path, NDArray[np.uint8]]] = []
        for path in photos[start : start + _AT_ONCE]:
            try:
                read.append((path, decode(path.read_bytes(), size=facts["size"]).pixels))
            except Undecodable as error:
                refused.append((path, error.reason))
            except OSError as error:
                refused.append((path, error.strerror or "cannot be read"))
        if read:
            (rows,) = session.run(["probabilities"], {"images": np.stack([pixels for _, pixels in read])})
            answers += [(path, row) for (path, _), row in zip(read, rows, strict=True)]
    return answers, refused


def _write(path: Path, answers: Sequence[tuple[Path, NDArray[np.float32]]], facts: dict[str, Any]) -> None:
    classes, values = facts["classes"], facts.get("values") or []
    with path.open("w", newline="", encoding="utf-8") as file:
        table = csv.writer(file)
        table.writerow(["file", "class", "confidence", *(["value"] if values else []), *classes])
        for photo, row in answers:
            expected = [f"{expected_values(row[None], values)[0]:.6g}"] if values else []
            shares = [f"{share:.6f}" for share in row]
            table.writerow([photo, classes[row.argmax()], f"{row.max():.6f}", *expected, *shares])


if __name__ == "__main__":
    sys.exit(main())
