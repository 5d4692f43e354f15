import numpy as np
from benchmarks.label_ux import SIDE, _alike, _report, ids_of, leaves_of, publish

from seedbed.assets.access.roles import SOLO
from seedbed.base.settings import load_settings
from seedbed.flows.platform import Platform


def test_no_two_leaves_have_the_same_bytes_and_each_shows_what_its_drawing_shows():
    leaves = leaves_of(700)
    assert leaves.pixels.shape == (700, SIDE, SIDE, 3)
    assert len(set(ids_of(leaves))) == 700
    assert set(leaves.truth.tolist()) == set(range(len(leaves.names)))
    assert np.array_equal(leaves.pixels, leaves_of(700).pixels)


def test_rows_have_length_one_and_lie_closer_to_their_own_class():
    leaves = leaves_of(600)
    rows, groups, centres = _alike(leaves, 64)
    assert np.allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-5)
    assert groups.max() < len(centres)
    means = np.stack([rows[leaves.truth == number].mean(axis=0) for number in range(len(leaves.names))])
    assert (np.argmax(rows @ means.T, axis=1) == leaves.truth).mean() > 0.8


def test_the_project_is_one_that_the_platform_takes_for_grouped(tmp_path):
    with Platform.open(load_settings({"home": tmp_path / "home"}, environ={})) as platform:
        project = publish(platform, tmp_path / "made", leaves_of(200), 16)
        board = platform.labelling.board(project, by=SOLO)
        assert (board.images, board.alike.stage) == (200, "ready")
        data = platform.projects.get(project, by=SOLO).data
        assert platform.data.thumbnail(data, 199, size=128, by=SOLO).startswith(b"\xff\xd8")
        order = platform.labelling.order(project, "groups", by=SOLO)
        assert sorted(order.rows.tolist()) == list(range(200))


def test_figures_are_medians_and_the_ninety_ninth_percentile():
    report = _report([0.5, 3.0, 1.0], 216, [10.0] * 99 + [50.0], {"page MiB": 1.0})
    assert report.figures["keys_per_label"] == 1.08
    assert report.figures["open_100k_seconds"] == 1.0
    assert report.figures["key_to_shown_p50_ms"] == 10.0
    assert 10.0 < report.figures["key_to_shown_p99_ms"] < 50.0
