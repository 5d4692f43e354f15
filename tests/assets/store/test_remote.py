"""push and pull over a folder and over S3."""

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import fsspec
import pytest
from moto.server import ThreadedMotoServer

from seedbed.assets.db.engine import Database
from seedbed.assets.store.bundle import Draft
from seedbed.assets.store.contexts import Contexts
from seedbed.assets.store.remote import Remote
from seedbed.assets.store.store import Store
from seedbed.assets.store.transfer import Transfer, pull, push
from seedbed.assets.store.verify import verify
from seedbed.base.errors import Conflict, Damaged, InvalidInput, NotFound, Unavailable
from seedbed.testing.stores import made_from

MakeDraft = Callable[..., Draft]


@pytest.fixture
def store(sqlite_url: str, home: Path) -> Iterator[Store]:
    """What travels does not depend on the database: one is enough, and one test looks at the other."""
    database = Database(sqlite_url)
    yield Store(database, home)
    database.dispose()


@pytest.fixture(scope="module")
def s3_endpoint() -> Iterator[str]:
    """An S3 server on this machine."""
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    yield f"http://{host}:{port}"
    server.stop()


@pytest.fixture(params=["folder", "s3"])
def address(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """An empty place for copies: a folder, and a bucket."""
    if request.param == "folder":
        return f"file://{tmp_path / 'remote'}"
    monkeypatch.setenv("AWS_ENDPOINT_URL", request.getfixturevalue("s3_endpoint"))
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "test")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "test")
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    bucket = f"b{os.urandom(6).hex()}"
    fsspec.filesystem("s3", skip_instance_cache=True).mkdir(bucket)
    return f"s3://{bucket}/field"


@pytest.fixture
def pair(store: Store, other_store: Store, address: str) -> tuple[Store, Store]:
    """Two homes whose contexts live at the same place."""
    for each in (store, other_store):
        Contexts(each).create("field", address)
        Contexts(each).use("field")
    return store, other_store


def test_pull_brings_what_push_sent_under_the_same_uuid(pair: tuple[Store, Store], draft: MakeDraft) -> None:
    here, there = pair
    first = here.publish(draft(b"data", key="k", tags={"a": "b"}))
    second = here.publish(draft(b"model", name="model", lineage=made_from(first)))
    here.tag(second.uuid, {"stage": "good"})
    assert push(here) == Transfer(bundles=2, files=2, bytes=9, deleted=0)
    assert pull(there) == Transfer(bundles=2, files=2, bytes=9, deleted=0)
    for made in (first, second):
        assert there.get(made.uuid).to_json() == here.get(made.uuid).to_json()
    assert verify(there).findings == () and there.by_key("k") == first
    assert [e.kind for e in there.events.after(0)] == ["bundle.published"] * 2
    assert push(here) == push(there) == pull(here) == pull(there) == Transfer(0, 0, 0, 0)


def test_no_byte_travels_twice(pair: tuple[Store, Store], draft: MakeDraft) -> None:
    here, there = pair
    here.publish(draft(b"same", name="one"))
    there.publish(draft(b"same", name="mine"), context="local")
    push(here)
    here.publish(draft(b"same", name="two"))
    assert push(here).files == 0
    assert pull(there) == Transfer(bundles=2, files=0, bytes=0, deleted=0)


def test_only_the_context_travels(pair: tuple[Store, Store], draft: MakeDraft) -> None:
    here, there = pair
    here.publish(draft(b"secret", name="secret"), context="local")
    shared = here.publish(draft(b"shared", name="shared"))
    push(here)
    pull(there)
    assert there.find() == [shared] == there.find(context="field")


def test_push_and_pull_go_on_where_they_were_interrupted(
    pair: tuple[Store, Store], draft: MakeDraft, monkeypatch: pytest.MonkeyPatch
) -> None:
    here, there = pair
    for n in range(4):
        here.publish(draft(bytes([n]) * 10, name=f"n{n}"))

    def cut_after(count: int) -> Callable[[int, int], None]:
        def cut(done: int, _total: int) -> None:
            if done == count:
                raise KeyboardInterrupt

        return cut

    with pytest.raises(KeyboardInterrupt):
        push(here, on_progress=cut_after(2))
    assert push(here).files == 2
    with pytest.raises(KeyboardInterrupt):
        pull(there, on_progress=cut_after(3))
    assert pull(there).files == 1
    assert len(there.find(all_versions=True)) == 4 and verify(there).findings == ()


def test_files_without_a_manifest_are_not_yet_a_bundle_and_are_not_sent_again(
    pair: tuple[Store, Store], draft: MakeDraft, monkeypatch: pytest.MonkeyPatch
) -> None:
    here, there = pair
    here.publish(draft(b"big"))

    def cut(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Remote, "put_manifest", cut)
        with pytest.raises(KeyboardInterrupt):
            push(here)
    assert pull(there) == Transfer(0, 0, 0, 0)
    assert push(here) == Transfer(bundles=1, files=0, bytes=0, deleted=0)
    assert pull(there).files == 1


def test_damaged_bytes_are_not_pulled_and_the_rest_is(
    pair: tuple[Store, Store], draft: MakeDraft, address: str
) -> None:
    here, there = pair
    hurt, whole = here.publish(draft(b"hurt", name="hurt")), here.publish(draft(b"whole", name="whole"))
    push(here)
    filesystem, root = fsspec.core.url_to_fs(address, skip_instance_cache=True)
    digest = hurt.files[0].digest
    path = f"{root}/files/{digest[:2]}/{digest}"
    filesystem.rm_file(path)
    filesystem.pipe_file(path, b"HURT")
    with pytest.raises(Damaged, match="the rest was pulled") as error:
        pull(there)
    assert "hurt" in error.value.problems[0]
    assert there.find() == [whole] and not there.path_of(digest).exists()


def test_a_damaged_file_is_not_pushed(pair: tuple[Store, Store], draft: MakeDraft) -> None:
    here, there = pair
    path = here.path_of(here.publish(draft(b"hurt")).files[0].digest)
    path.chmod(0o644)
    path.write_bytes(b"HURT")
    with pytest.raises(Damaged, match="not what it was"):
        push(here)
    assert pull(there) == Transfer(0, 0, 0, 0)


def test_a_deletion_travels_with_the_next_pull(pair: tuple[Store, Store], draft: MakeDraft) -> None:
    here, there = pair
    gone, kept = here.publish(draft(b"gone", name="gone")), here.publish(draft(b"kept", name="kept"))
    digest = gone.files[0].digest
    push(here)
    pull(there)
    here.delete([gone.uuid])
    assert pull(there).deleted == 1
    assert there.find() == [kept] and not there.path_of(digest).exists()
    with pytest.raises(NotFound):
        there.get(gone.uuid)
    assert push(there) == Transfer(0, 0, 0, 0) and pull(here) == Transfer(0, 0, 0, 0)


def test_a_hostile_remote_cannot_write_outside_the_store(
    store: Store, draft: MakeDraft, tmp_path: Path, other_store: Store
) -> None:
    for each in (store, other_store):
        Contexts(each).set_remote("local", str(tmp_path / "remote"))
    made = store.publish(draft(b"x"))
    push(store)
    manifest = tmp_path / "remote" / "manifests" / f"{made.uuid}.json"
    changes: list[Callable[[Any], object]] = [
        lambda value: value["arrays"]["files"]["items"][0].update(name="../../../out"),
        lambda value: value["arrays"]["files"]["items"][0].update(digest="../../../../out"),
        lambda value: value["arrays"].update({"../out": value["arrays"].pop("files")}),
        lambda value: value.update(uuid="nonsense"),
    ]
    for change in changes:
        value: dict[str, Any] = json.loads(store.parts.manifests.path_of(made.uuid).read_text())
        change(value)
        manifest.write_text(json.dumps(value))
        with pytest.raises(Damaged):
            pull(other_store)
        assert other_store.find(all_versions=True) == []


def test_bundles_travel_between_sqlite_and_postgresql(
    postgres_url: str, other_store: Store, draft: MakeDraft, tmp_path: Path
) -> None:
    database = Database(postgres_url)
    here = Store(database, tmp_path / "home")
    for each in (here, other_store):
        Contexts(each).set_remote("local", str(tmp_path / "remote"))
    made, theirs = here.publish(draft(b"a", name="a")), other_store.publish(draft(b"b", name="b"))
    for each in (here, other_store):
        push(each)
        pull(each)
    pull(here)
    assert here.find() == [theirs, made] == other_store.find()
    assert (Contexts(here).get("local").bundles, Contexts(here).get("local").pushed) == (2, 2)
    other_store.delete([made.uuid])
    assert pull(here).deleted == 1 and here.find() == [theirs]
    database.dispose()


def test_contexts_say_what_is_wrong(store: Store, tmp_path: Path) -> None:
    contexts = Contexts(store)
    contexts.create("a", str(tmp_path / "remote"))
    with pytest.raises(Conflict, match="already a context"):
        contexts.create("a")
    with pytest.raises(Conflict, match="already lives at"):
        contexts.create("b", f"file://{tmp_path}/remote/")
    with pytest.raises(NotFound, match="no context"):
        contexts.use("c")
    with pytest.raises(InvalidInput):
        contexts.create(" ")
    with pytest.raises(Conflict, match="has no remote"):
        push(store, "local")
    contexts.create("odd", "nonsense://x")
    with pytest.raises(InvalidInput, match="not a remote"):
        push(store, "odd")
    assert [context.name for context in contexts.list()] == ["a", "local", "odd"]


def test_an_unreachable_remote_is_said_in_a_sentence(
    store: Store, draft: MakeDraft, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("")
    store.publish(draft(b"x"))
    Contexts(store).set_remote("local", str(tmp_path / "file" / "remote"))
    with pytest.raises(Unavailable, match="cannot be used now"):
        push(store)
