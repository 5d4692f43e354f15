"""Whatever is done to a store, it answers as a simple model does."""

import shutil
import tempfile
from pathlib import Path

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle as Names
from hypothesis.stateful import RuleBasedStateMachine, consumes, initialize, invariant, multiple, rule

from seedbed.assets.store.bundle import Bundle, Lineage
from seedbed.assets.store.gc import collect_garbage
from seedbed.assets.store.home import open_home
from seedbed.assets.store.rebuild import rebuild
from seedbed.assets.store.store import Store
from seedbed.assets.store.verify import verify
from seedbed.testing.stores import a_draft


class StoreMachine(RuleBasedStateMachine):
    """Publishes, tags, deletes, collects and rebuilds in any order."""

    made = Names("made")

    @initialize()
    def start(self) -> None:
        self.folder = Path(tempfile.mkdtemp())
        self.database = open_home(self.folder / "home")
        self.store = Store(self.database, self.folder / "home")
        self.alive: dict[str, Bundle] = {}
        self.tags: dict[str, dict[str, str]] = {}
        self.content: dict[str, bytes] = {}

    def teardown(self) -> None:
        self.database.dispose()
        shutil.rmtree(self.folder)

    @rule(
        target=made,
        name=st.sampled_from("ab"),
        content=st.sampled_from([b"1", b"2", b"3"]),
        key=st.sampled_from(["", "", "k"]),
        derived=st.booleans(),
        inputs=st.lists(made, max_size=2),
        consume=st.booleans(),
    )
    def publish(self, name: str, content: bytes, key: str, derived: bool, inputs: list[str], consume: bool) -> str:
        lineage = Lineage(step="s", inputs=tuple((f"i{n}", uuid) for n, uuid in enumerate(inputs)))
        draft = a_draft(self.folder / "out", content, name=name, key=key, derived=derived, lineage=lineage)
        known = [uuid for uuid, bundle in self.alive.items() if key and bundle.key == key]
        bundle = self.store.publish(draft, consume=consume)
        if known:
            assert [bundle.uuid] == known
        else:
            self.alive[bundle.uuid], self.tags[bundle.uuid], self.content[bundle.uuid] = bundle, {}, content
        return bundle.uuid

    @rule(uuid=made, value=st.sampled_from(["x", "y", None]))
    def tag(self, uuid: str, value: str | None) -> None:
        if uuid in self.alive:
            self.store.tag(uuid, {"t": value})
            self.tags[uuid] = {} if value is None else {"t": value}

    @rule(uuid=consumes(made))
    def delete(self, uuid: str) -> None:
        if uuid not in self.alive:
            return
        doomed, grown = {uuid}, True
        while grown:
            more = {
                other
                for other, bundle in self.alive.items()
                if bundle.derived and other not in doomed and doomed & {link for _, link in bundle.lineage.inputs}
            }
            doomed, grown = doomed | more, bool(more)
        assert {bundle.uuid for bundle in self.store.delete([uuid]).bundles} == doomed
        for gone in doomed:
            del self.alive[gone], self.tags[gone], self.content[gone]

    @rule(target=made)
    def collect(self) -> object:
        collect_garbage(self.store, grace=0)
        return multiple()

    @rule()
    def rebuild(self) -> None:
        assert rebuild(self.store).bundles == len(self.alive)

    @invariant()
    def answers_as_the_model_does(self) -> None:
        newest = sorted(self.alive.values(), key=lambda bundle: (bundle.created, bundle.uuid), reverse=True)
        found = self.store.find(all_versions=True)
        assert [bundle.uuid for bundle in found] == [bundle.uuid for bundle in newest]
        assert {bundle.uuid: dict(bundle.tags) for bundle in found} == self.tags
        latest = {bundle.name: bundle.uuid for bundle in reversed(newest)}
        assert {bundle.name: bundle.uuid for bundle in self.store.find()} == latest
        for value in ("x", "y"):
            tagged = {uuid for uuid, tags in self.tags.items() if tags.get("t") == value}
            assert {bundle.uuid for bundle in self.store.find(tags={"t": value}, all_versions=True)} == tagged
        bytes_there = {path.read_bytes() for path in self.store.parts.content.root.glob("??/*")}
        assert bytes_there == set(self.content.values())
        assert verify(self.store).findings == ()


StoreMachine.TestCase.settings = settings(
    max_examples=8, stateful_step_count=15, deadline=None, suppress_health_check=list(HealthCheck)
)
TestStoreAgainstModel = StoreMachine.TestCase
