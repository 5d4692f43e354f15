"""`seedbed predict` on one image: the same columns as for many."""

from pathlib import Path

import numpy as np

from seedbed.faces.cli.commands.models import as_csv
from seedbed.faces.client.results import Guess
from seedbed.flows.kinds.models import Predictions


def test_one_image_has_the_line_that_it_has_among_many(tmp_path: Path) -> None:
    classes, values, row = ("none", "some", "all"), (0.0, 10.0, 100.0), (0.25, 0.125, 0.625)
    for number, meant in enumerate((values, ())):
        guesses = [Guess(label=name, probability=p, value=None) for name, p in zip(classes, row, strict=True)]
        for guess, value in zip(guesses, meant, strict=False):
            guess["value"] = value
        guesses.sort(key=lambda guess: -guess["probability"])
        many = Predictions.write(tmp_path / str(number), ["leaf.jpg"], np.array([row], np.float32), classes, meant)
        written = many.file("predictions", "predictions.csv").read_bytes()
        assert as_csv("leaf.jpg", guesses, classes) == written
        assert (b",63.75," in written) == bool(meant)  # 0.125 * 10 + 0.625 * 100
