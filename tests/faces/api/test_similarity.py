"""/zoo/similarity over REST: which data sets can be compared, and how far apart they are."""

from pathlib import Path

import httpx

from seedbed.flows.kinds.zoo import Similarity
from seedbed.flows.platform import Platform


def test_a_table_is_read_by_its_bundle_or_as_the_newest(me: httpx.Client, platform: Platform, tmp_path: Path) -> None:
    assert me.get("/api/v1/zoo/similarity").status_code == 404
    table = {"distances": [[0.0, 3.0], [3.0, 0.0]], "shares": [[0.0, 1.0], [1.0, 0.0]]}
    facts = {"names": ["a", "b"], "inputs": ["set000", "set001"], "images": [3, 4], "space": "pixels-28", **table}
    made = platform.store.publish(Similarity.write(tmp_path / "s", facts).draft(name="data-sets.similarity"))
    newest = me.get("/api/v1/zoo/similarity").json()
    assert newest["bundle"] == made.uuid and newest["distances"] == table["distances"] and newest["data"] == ["", ""]
    assert me.get("/api/v1/zoo/similarity", params={"ref": made.uuid}).json() == newest


def test_what_cannot_be_compared_is_told(me: httpx.Client) -> None:
    assert isinstance(me.get("/api/v1/zoo/similarity/data").json(), list)
    answer = me.post("/api/v1/zoo/similarity", json={"data": []})
    assert answer.status_code == 422 and "2 to 40 data sets" in answer.text
    assert me.post("/api/v1/zoo/similarity", json={"data": ["nothing", "nowhere"]}).status_code == 404
