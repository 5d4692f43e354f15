"""`seedbed predict` on one image: the same columns as for many."""

from dataclasses import asdict
from pathlib import Path

import numpy as np

from seedbed.faces.cli.commands.models import as_csv
from seedbed.faces.client.results import Answer
from seedbed.flows.kinds.models import Predictions
from seedbed.flows.usecases.models import answer_of

CLASSES, VALUES = ("none", "some", "all"), (0.0, 10.0, 100.0)
ROWS = np.array([[0.25, 0.125, 0.625]], np.float32)


def test_one_image_has_the_line_that_it_has_among_many(tmp_path: Path) -> None:
    for number, meant in enumerate((VALUES, ())):
        answer = asdict(answer_of(CLASSES, ROWS, meant))
        many = Predictions.write(tmp_path / str(number), ["leaf.jpg"], ROWS, CLASSES, meant)
        written = many.file("predictions", "predictions.csv").read_bytes()
        assert as_csv("leaf.jpg", Answer(guesses=answer["guesses"], value=answer["value"]), CLASSES) == written
        assert (b",63.75," in written) == bool(meant)  # 0.125 * 10 + 0.625 * 100
