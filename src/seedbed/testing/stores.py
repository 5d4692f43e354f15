"""What every store of bundles must satisfy: call each of CHECKS with an empty store and an empty folder.

@pytest.mark.parametrize("check", CHECKS)
def test_my_store(check, tmp_path):
    check(MyStore(tmp_path / "store"), tmp_path / "scratch")
"""

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from seedbed.assets.store.bundle import ArrayType, Bundle, Draft, DraftArray, DraftFile, FileLink, Lineage
from seedbed.assets.store.protocol import BundleStore
from seedbed.base.errors import Conflict, InvalidInput, NotFound, SeedbedError
from seedbed.base.ids import digest_of_bytes, new_id

Check = Callable[[BundleStore, Path], None]


def a_draft(folder: Path, content: bytes = b"leaf", *, name: str = "leaves", kind: str = "files", **more: Any) -> Draft:
    """A draft with one file of the given bytes and one number."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / new_id()
    path.write_bytes(content)
    arrays = {"files": DraftArray.of_files({"a.bin": path}), "n": DraftArray(ArrayType.INT, (len(content),))}
    return Draft(name, kind, arrays, **more)


def made_from(*inputs: Bundle) -> Lineage:
    """The lineage of something made from these bundles."""
    return Lineage(step="make", inputs=tuple((f"input{n}", bundle.uuid) for n, bundle in enumerate(inputs)))


def answers_to_its_three_names(store: BundleStore, folder: Path) -> None:
    """Name, key and uuid lead to the same bundle; a uuid's beginning does too."""
    made = store.publish(a_draft(folder, key="k1", tags={"crop": "maize"}))
    found = store.get(made.uuid)
    assert found == store.get("leaves") == store.by_key("k1") == store.get(made.uuid[:30]) == made
    assert found.tags == {"crop": "maize"}
    assert found.arrays["files"].files == (FileLink("a.bin", digest_of_bytes(b"leaf"), 4),)


def keeps_every_type_of_array(store: BundleStore, folder: Path) -> None:
    """Scalars, files, links to bundles and to addresses come back as they went in."""
    other = store.publish(a_draft(folder, name="other"))
    infinite = float("inf")
    arrays = {
        "int": DraftArray(ArrayType.INT, (1, -(2**53))),
        "float": DraftArray(ArrayType.FLOAT, (0.1, infinite)),
        "str": DraftArray(ArrayType.STR, ("a", "ü\n")),
        "bool": DraftArray(ArrayType.BOOL, (True, False)),
        "bundle": DraftArray(ArrayType.BUNDLE, (other.uuid,)),
        "link": DraftArray(ArrayType.LINK, ("https://example.org/a",)),
        "empty": DraftArray(ArrayType.FILE, ()),
    }
    found = store.get(store.publish(Draft("all", "typed", arrays)).uuid)
    assert {name: (array.type, array.items) for name, array in found.arrays.items()} == {
        name: (array.type, array.items) for name, array in arrays.items()
    }


def same_content_has_the_same_digest(store: BundleStore, folder: Path) -> None:
    """The digest depends on kind and arrays, and on nothing else."""
    one = store.publish(a_draft(folder, name="one"))
    two = store.publish(a_draft(folder, name="two", tags={"a": "b"}, lineage=made_from(one)))
    assert one.digest == two.digest and one.uuid != two.uuid
    assert store.publish(a_draft(folder, kind="other")).digest != one.digest
    assert store.publish(a_draft(folder, b"else")).digest != one.digest


def the_first_published_keeps_the_key(store: BundleStore, folder: Path) -> None:
    """A second draft with a known key is answered, not kept; also within one batch."""
    first = store.publish(a_draft(folder, b"1", key="k"))
    assert store.publish(a_draft(folder, b"2", key="k")) == first
    batch = store.publish_many(
        [a_draft(folder, b"3", key="m"), a_draft(folder, b"4", key="m"), a_draft(folder, key="k")]
    )
    assert [bundle.uuid for bundle in batch] == [batch[0].uuid, batch[0].uuid, first.uuid]
    assert len(store.find("leaves", all_versions=True)) == 2


def finds_the_newest_or_every_version(store: BundleStore, folder: Path) -> None:
    """`find NAME` gives the newest; with all versions, all of them, newest first; listings show each name once."""
    versions = [store.publish(a_draft(folder, bytes([n]))) for n in range(3)]
    other = store.publish(a_draft(folder, name="other"))
    assert store.find("leaves") == [versions[-1]]
    assert store.find("leaves", all_versions=True) == versions[::-1]
    assert store.find() == [other, versions[-1]]
    assert store.find(all_versions=True, limit=2, offset=1) == versions[:0:-1]


def finds_by_kind_tags_and_project(store: BundleStore, folder: Path) -> None:
    """Every filter narrows; several narrow together."""
    one = store.publish(a_draft(folder, name="one", kind="a", tags={"x": "1", "y": "1"}, project="p"))
    two = store.publish(a_draft(folder, name="two", kind="a", tags={"x": "1"}, project="q"))
    three = store.publish(a_draft(folder, name="three", kind="b"))
    assert store.find(kind="a") == [two, one]
    assert store.find(tags={"x": "1"}) == [two, one]
    assert store.find(tags={"x": "1", "y": "1"}) == [one]
    assert store.find(project="q") == [two] and store.find(project="") == [three]
    assert store.find(project=["p", "q"]) == [two, one]
    assert store.find(kind="b", tags={"x": "1"}) == []


def refuses_all_mistakes_at_once(store: BundleStore, folder: Path) -> None:
    """A bad draft leaves nothing, and the error lists everything that is wrong with it."""
    folder.mkdir(parents=True, exist_ok=True)
    arrays = {
        "../up": DraftArray(ArrayType.INT, ("no",)),
        "files": DraftArray(ArrayType.FILE, (DraftFile(folder / "absent", "x"), DraftFile(folder / "absent", "../y"))),
    }
    error = raises(InvalidInput, lambda: store.publish(Draft(" ", "k", arrays, uuid="nonsense")))
    assert len(error.problems) >= 5
    assert store.find(all_versions=True) == [] and store.events.after(0) == []


def unknown_names_are_not_found(store: BundleStore, folder: Path) -> None:
    """With the near matches."""
    store.publish(a_draft(folder, name="leaves"))
    assert "leaves" in raises(NotFound, lambda: store.get("leafs")).hint
    assert store.by_key("nothing") is None


def a_guard_that_refuses_leaves_nothing(store: BundleStore, folder: Path) -> None:
    """No bundle, no event; and the drafts can be published later, their files are still there."""

    def refuse(_connection: object) -> None:
        raise Conflict("no")

    drafts = [a_draft(folder, b"guarded")]
    raises(Conflict, lambda: store.publish_many(drafts, guard=refuse, consume=True))
    assert store.find(all_versions=True) == [] and store.events.after(0) == []
    assert store.publish_many(drafts, consume=True)[0].files[0].digest == digest_of_bytes(b"guarded")


def tags_can_change(store: BundleStore, folder: Path) -> None:
    """They are set, changed and taken away; nothing else of a bundle is."""
    made = store.publish(a_draft(folder, tags={"stage": "new", "crop": "rye"}))
    assert store.tag(made.uuid, {"stage": "good", "crop": None, "by": "ann"}).tags == {"stage": "good", "by": "ann"}
    assert store.get(made.uuid).digest == made.digest
    assert store.find(tags={"stage": "new"}) == [] and len(store.find(tags={"stage": "good"})) == 1


def lineage_leads_up_and_down(store: BundleStore, folder: Path) -> None:
    """To every ancestor and every descendant, with the edges between; what is gone keeps its uuid."""
    root = store.publish(a_draft(folder, name="root"))
    left = store.publish(a_draft(folder, name="left", lineage=made_from(root)))
    right = store.publish(a_draft(folder, name="right", lineage=made_from(root)))
    tip = store.publish(a_draft(folder, name="tip", lineage=made_from(left, right)))
    up = store.lineage(tip.uuid)
    assert {node.name for node in up.nodes.values()} == {"tip", "left", "right", "root"} and len(up.edges) == 4
    assert store.lineage(root.uuid, direction="down").nodes.keys() == up.nodes.keys()
    assert store.lineage(tip.uuid, depth=1).nodes.keys() == {tip.uuid, left.uuid, right.uuid}
    store.delete([left.uuid])
    assert store.lineage(tip.uuid).nodes[left.uuid].gone


def deleting_takes_what_is_derived(store: BundleStore, folder: Path) -> None:
    """And leaves what was made from it but stands by itself."""
    data = store.publish(a_draft(folder, b"data", name="data"))
    cache = store.publish(a_draft(folder, b"cache", name="cache", derived=True, lineage=made_from(data)))
    thumb = store.publish(a_draft(folder, b"thumb", name="thumb", derived=True, lineage=made_from(cache)))
    model = store.publish(a_draft(folder, b"model", name="model", lineage=made_from(data)))
    raises(Conflict, lambda: store.delete([data.uuid], cascade=False))
    gone = store.delete([data.uuid])
    assert {bundle.uuid for bundle in gone.bundles} == {data.uuid, cache.uuid, thumb.uuid}
    assert store.find(all_versions=True) == [model]
    raises(NotFound, lambda: store.get(data.uuid))


def deleting_spares_shared_bytes(store: BundleStore, folder: Path) -> None:
    """A file that another bundle has stays; the older version is the newest again; a freed key can be used again."""
    old = store.publish(a_draft(folder, b"same"))
    new = store.publish(a_draft(folder, b"same", key="k"))
    assert store.delete([new.uuid]).files == 0
    assert store.find("leaves") == [old] and store.find() == [old] and store.by_key("k") is None
    assert (store.checkout(old, folder / "out") / "files" / "a.bin").read_bytes() == b"same"
    assert store.publish(a_draft(folder, b"other", key="k")).uuid != new.uuid


def a_checkout_is_the_takers_own(store: BundleStore, folder: Path) -> None:
    """Writing into it does not reach the store; with links it is read-only."""
    made = store.publish(a_draft(folder, b"leaf"))
    out = store.checkout(made, folder / "out")
    assert Bundle.read(out) == made
    (out / "files" / "a.bin").write_bytes(b"scribble")
    linked = store.checkout(store.get(made.uuid), folder / "linked", links=True) / "files" / "a.bin"
    assert linked.read_bytes() == b"leaf" and linked.stat().st_mode & 0o222 == 0


def events_tell_everything_in_order(store: BundleStore, folder: Path) -> None:
    """Numbers rise by one; a cursor sees each event once."""
    made = store.publish(a_draft(folder))
    store.tag(made.uuid, {"a": "b"})
    store.delete([made.uuid])
    seen = store.events.after(0)
    assert [event.number for event in seen] == [1, 2, 3]
    assert [event.kind for event in seen] == ["bundle.published", "bundle.tagged", "bundle.deleted"]
    assert {event.subject for event in seen} == {made.uuid}
    assert store.events.after(1, limit=1) == seen[1:2] and store.events.after(3) == []
    assert store.events.after(0, kinds=["bundle.deleted"]) == seen[2:]


def a_waiter_wakes_when_something_is_published(store: BundleStore, folder: Path) -> None:
    """Without having asked again and again."""
    seen: list[str] = []
    waiter = threading.Thread(target=lambda: seen.extend(event.kind for event in store.events.wait(0, 30)))
    waiter.start()
    store.publish(a_draft(folder))
    waiter.join(30)
    assert seen == ["bundle.published"]


def many_threads_publish_at_once(store: BundleStore, folder: Path) -> None:
    """Nothing is lost, no number is given twice, and one key has one bundle."""
    drafts = [a_draft(folder, bytes([n % 3]), name=f"n{n % 4}", key=f"k{n % 8}") for n in range(16)]
    found: list[Bundle] = []
    threads = [threading.Thread(target=lambda d=draft: found.append(store.publish(d))) for draft in drafts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 16 and len({bundle.uuid for bundle in found}) == 8
    assert [event.number for event in store.events.after(0)] == list(range(1, 9))
    assert len(store.find(all_versions=True)) == 8 and len(store.find()) == 4


def raises(kind: type[SeedbedError], call: Callable[[], object]) -> SeedbedError:
    """The error of that kind which the call must raise."""
    try:
        call()
    except kind as error:
        return error
    raise AssertionError(f"{kind.__name__} was not raised")


CHECKS: tuple[Check, ...] = (
    answers_to_its_three_names,
    keeps_every_type_of_array,
    same_content_has_the_same_digest,
    the_first_published_keeps_the_key,
    finds_the_newest_or_every_version,
    finds_by_kind_tags_and_project,
    refuses_all_mistakes_at_once,
    unknown_names_are_not_found,
    a_guard_that_refuses_leaves_nothing,
    tags_can_change,
    lineage_leads_up_and_down,
    deleting_takes_what_is_derived,
    deleting_spares_shared_bytes,
    a_checkout_is_the_takers_own,
    events_tell_everything_in_order,
    a_waiter_wakes_when_something_is_published,
    many_threads_publish_at_once,
)
