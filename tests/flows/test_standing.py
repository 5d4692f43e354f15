"""Where images stand: what is followed event by event is what reading everything anew would give."""

import random
from pathlib import Path

import numpy as np
import pytest

from seedbed.assets.projects.labels import LabelEvent, Mark
from seedbed.assets.projects.projects import Projects as KeptProjects
from seedbed.flows.gallery import Galleries
from seedbed.flows.platform import Platform
from seedbed.flows.standing import SKIPPED, UNLABELLED, UNSURE, Standings
from tests.flows.made_up import made_up


@pytest.mark.parametrize("seed", range(2))
def test_following_along_gives_what_reading_anew_gives(platform: Platform, tmp_path: Path, seed: int) -> None:
    draws = random.Random(seed)
    made = made_up(platform, tmp_path / "made-up", count=20, grouped=False)
    kept = KeptProjects(platform.database, platform.events, platform.clock)
    gallery = Galleries(platform.store).of(platform.store.get(made.project.data))
    followed = Standings(kept)
    for turn in range(30):
        names = [one.name for one in kept.classes(made.project.id)]
        match draws.randrange(12):
            case 0 if len(names) > 2:
                kept.merge_class(made.project.id, *draws.sample(names, 2))
            case 1:
                kept.rename_class(made.project.id, draws.choice(names), f"class {turn}")
            case 2:
                kept.add_class(made.project.id, f"class {turn}")
            case 3 if len(names) > 2:
                kept.remove_class(made.project.id, draws.choice(names), with_labels=True)
            case 4:
                kept.order_classes(made.project.id, draws.sample(names, len(names)))
            case _:
                mark = draws.choice([Mark.NONE, Mark.NONE, Mark.SKIPPED, Mark.UNSURE])
                label = "" if mark else draws.choice(["", *names])
                image = made.ids[draws.randrange(20)]
                kept.add_labels(made.project.id, [LabelEvent(f"{seed} {turn}", image, label, "ada", mark=mark)])
        standing = followed.of(kept.get(made.project.id), gallery)
        anew = Standings(kept).of(kept.get(made.project.id), gallery)
        assert np.array_equal(standing.rows, anew.rows) and standing.classes == anew.classes
        counted = {one.name: count for one, count in zip(standing.classes, standing.counts, strict=True)}
        assert counted == kept.counts(made.project.id)
        for row, image in enumerate(made.ids):
            said = kept.labels(made.project.id).get(image)
            if said:
                assert standing.classes[standing.rows[row]].name == said.label
            else:
                assert standing.rows[row] in (UNLABELLED, SKIPPED, UNSURE)


def test_another_data_set_is_read_anew(platform: Platform, tmp_path: Path) -> None:
    one, two = (made_up(platform, tmp_path / name, name=name, count=9, grouped=False) for name in ("one", "two"))
    one.label(0, 1, 2)
    kept, galleries = KeptProjects(platform.database, platform.events, platform.clock), Galleries(platform.store)
    standings = Standings(kept)
    assert sum(standings.of(one.project, galleries.of(platform.store.get(one.project.data))).counts) == 3
    moved = kept.set_data(one.project.id, two.project.data)
    assert sum(standings.of(moved, galleries.of(platform.store.get(moved.data))).counts) == 0
