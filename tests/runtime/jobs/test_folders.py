"""Checkpoints are taken over whole or not at all."""

import json
import shutil
import threading
from pathlib import Path

import pytest

from seedbed.base.errors import Unsafe
from seedbed.base.run import FolderRun
from seedbed.runtime.jobs.folders import JobFolders, link_tree


def test_a_checkpoint_outlives_the_attempt_that_wrote_it(tmp_path: Path) -> None:
    folders = JobFolders(tmp_path)
    run = FolderRun(folders.attempt("j", 1))

    def write(folder: Path) -> None:
        (folder / "deep").mkdir()
        (folder / "deep" / "state").write_text("five")

    run.checkpoint(write, step=5)
    newest = folders.newest_checkpoint("j", 1)
    assert newest is not None and folders.keep_checkpoint(newest, "j", "1-5")
    shutil.rmtree(folders.attempt("j", 1))
    folders.lay_resume("j", 2, "1-5")
    assert (folders.attempt("j", 2) / "resume" / "deep" / "state").read_text() == "five"


def test_a_checkpoint_that_vanishes_while_it_is_taken_is_left(tmp_path: Path) -> None:
    folders = JobFolders(tmp_path)
    assert not folders.keep_checkpoint(folders.attempt("j", 1) / "checkpoints" / "000000001", "j", "1-1")
    assert list((tmp_path / "j").glob("checkpoint/*")) == []


def test_checkpoints_taken_while_the_worker_writes_are_never_mixed(tmp_path: Path) -> None:
    """A worker rewrites one step over and over, 8 files each time, while the collector takes what it finds."""
    folders = JobFolders(tmp_path)
    run = FolderRun(folders.attempt("j", 1))
    stop = threading.Event()

    def work() -> None:
        round_ = 0
        while not stop.is_set():
            round_ += 1
            text = str(round_)
            run.checkpoint(
                lambda folder, text=text: [(folder / f"f{i}").write_text(text) for i in range(8)] and None, step=1
            )  # type: ignore[misc]

    worker = threading.Thread(target=work)
    worker.start()
    taken = 0
    for number in range(4000):
        newest = folders.newest_checkpoint("j", 1)
        if newest and folders.keep_checkpoint(newest, "j", f"1-{number}"):
            kept = folders.checkpoint("j", f"1-{number}")
            texts = [path.read_text() for path in kept.iterdir()]
            assert len(texts) == 8 and len(set(texts)) == 1, texts
            taken += 1
        if taken >= 10:
            break
    stop.set()
    worker.join()
    assert taken


def test_only_the_checkpoint_that_counts_is_kept(tmp_path: Path) -> None:
    folders = JobFolders(tmp_path)
    for name in ("1-1", "1-2", ".draft"):
        folders.checkpoint("j", name).mkdir(parents=True)
    folders.forget_checkpoints("j", but="1-2")
    assert [path.name for path in (tmp_path / "j" / "checkpoint").iterdir()] == ["1-2"]


def test_links_of_a_worker_are_not_followed(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("x")
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "link").symlink_to(tmp_path / "secret")
    (tmp_path / "a" / "file").write_text("y")
    link_tree(tmp_path / "a", tmp_path / "b")
    assert [path.name for path in (tmp_path / "b").iterdir()] == ["file"]


def test_a_job_id_cannot_lead_out_of_the_folder(tmp_path: Path) -> None:
    with pytest.raises(Unsafe):
        JobFolders(tmp_path / "jobs").attempt("../..", 1)


def test_a_deleted_bundle_is_removed_from_the_inputs_that_were_kept(tmp_path: Path) -> None:
    folders = JobFolders(tmp_path)
    for name in ("gone", "kept"):
        place = folders.attempt("j", 1) / "inputs" / name
        place.mkdir(parents=True)
        (place / "bundle.json").write_text(json.dumps({"uuid": name}))
        (place / "bytes").write_text(name)
    assert folders.forget_inputs({"gone"}) == [folders.attempt("j", 1) / "inputs" / "gone"]
    assert [path.name for path in (folders.attempt("j", 1) / "inputs").iterdir()] == ["kept"]


def test_a_checkpoint_that_somebody_removed_is_begun_without(tmp_path: Path) -> None:
    folders = JobFolders(tmp_path)
    folders.lay_resume("j", 2, "1-5")
    assert not (folders.attempt("j", 2) / "resume").exists()
