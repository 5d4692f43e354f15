"""Publishing: in once, whole, and only what was acknowledged."""

from collections.abc import Callable

from seedbed.assets.store.bundle import Draft, FileLink
from seedbed.assets.store.store import Store
from seedbed.base.ids import digest_of_bytes

MakeDraft = Callable[..., Draft]


def test_a_published_bundle_is_found_by_its_three_names(store: Store, draft: MakeDraft) -> None:
    made = store.publish(draft(b"leaf", key="k1", tags={"crop": "maize"}))
    assert store.get(made.uuid) == store.get("leaves") == store.by_key("k1")
    assert store.get(made.uuid).arrays["files"].files == (FileLink("a.bin", digest_of_bytes(b"leaf"), 4),)
    assert store.get(made.uuid).tags == {"crop": "maize"}
    assert [event.kind for event in store.events.after(0)] == ["bundle.published"]
