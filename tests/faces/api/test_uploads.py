"""Files that come over the network end inside the home's uploads, or nowhere."""

from pathlib import Path

import httpx
import pytest

from seedbed.base.settings import Settings


def uploads(settings: Settings) -> list[Path]:
    return sorted((settings.home / "uploads").glob("*"))


def test_an_upload_is_written_where_it_will_be_used(me: httpx.Client, settings: Settings) -> None:
    files = [("files", ("leaves/a.jpg", b"aaa")), ("files", ("leaves/b.jpg", b"b" * 50_000))]
    answer = me.post("/api/v1/uploads", files=files)
    assert answer.status_code == 201
    made = answer.json()
    assert (made["files"], made["size"]) == (2, 50_003)
    assert (settings.home / "uploads" / made["upload"] / "leaves" / "b.jpg").read_bytes() == b"b" * 50_000


@pytest.mark.parametrize(
    "name", ["../outside.jpg", "/etc/outside.jpg", "a/../../../outside", "..\\..\\outside", ".", ""]
)
def test_a_name_that_leads_out_is_refused_and_leaves_nothing(me: httpx.Client, settings: Settings, name: str) -> None:
    before = uploads(settings)
    body = (
        b'--x\r\nContent-Disposition: form-data; name="files"; filename="good.jpg"\r\n\r\nok\r\n'
        b'--x\r\nContent-Disposition: form-data; name="files"; filename="'
        + name.encode()
        + b'"\r\n\r\nbad\r\n--x--\r\n'
    )
    answer = me.post("/api/v1/uploads", content=body, headers={"content-type": "multipart/form-data; boundary=x"})
    assert answer.status_code == 422
    assert uploads(settings) == before


def test_the_same_name_twice_is_refused(me: httpx.Client, settings: Settings) -> None:
    before = uploads(settings)
    files = [("files", ("a.jpg", b"1")), ("files", ("a.jpg", b"2"))]
    assert me.post("/api/v1/uploads", files=files).status_code == 422
    assert uploads(settings) == before


def test_an_upload_beyond_the_setting_is_refused_and_leaves_nothing(me: httpx.Client, settings: Settings) -> None:
    before = uploads(settings)
    assert me.post("/api/v1/uploads", files={"files": ("a.jpg", bytes(200_000))}).status_code == 413
    assert uploads(settings) == before


def test_the_limit_also_holds_when_no_length_is_announced(me: httpx.Client, settings: Settings) -> None:
    before = uploads(settings)
    head = b'--x\r\nContent-Disposition: form-data; name="files"; filename="a.jpg"\r\n\r\n'
    pieces = iter([head, *[bytes(10_000)] * 20])
    answer = me.post("/api/v1/uploads", content=pieces, headers={"content-type": "multipart/form-data; boundary=x"})
    assert answer.status_code == 413
    assert uploads(settings) == before


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        ("multipart/form-data", b"x"),
        ("multipart/form-data; boundary=x", b"nonsense"),
        ("multipart/form-data; boundary=x", b""),
        ("multipart/form-data; boundary=x", b"--x--\r\n"),
        ("multipart/form-data; boundary=" + "x" * 5000, b"--x"),
        ("application/json", b"{}"),
        (
            "multipart/form-data; boundary=x",
            b'--x\r\nContent-Disposition: form-data; name="a"\r\n\r\nno file\r\n--x--\r\n',
        ),
        (
            "multipart/form-data; boundary=x",
            b'--x\r\nContent-Disposition: form-data; filename="\xff"\r\n\r\n1\r\n--x--\r\n',
        ),
    ],
)
def test_a_body_that_is_no_upload_is_refused(me: httpx.Client, settings: Settings, kind: str, body: bytes) -> None:
    before = uploads(settings)
    answer = me.post("/api/v1/uploads", content=body, headers={"content-type": kind})
    assert answer.status_code in (400, 422)
    assert answer.headers["content-type"] == "application/problem+json"
    assert uploads(settings) == before


def test_an_upload_becomes_a_bundle_whose_file_comes_back_as_it_was(me: httpx.Client) -> None:
    upload = me.post("/api/v1/uploads", files={"files": ("notes.html", b"<script>alert(1)</script>")}).json()["upload"]
    bundle = me.post("/api/v1/bundles", json={"name": "notes", "upload": upload, "tags": {"season": "wet"}}).json()
    assert bundle["tags"] == {"season": "wet"}
    assert me.post("/api/v1/bundles", json={"name": "notes", "upload": upload}).status_code == 404, "it is used once"
    answer = me.get(f"/api/v1/bundles/{bundle['uuid']}/files/files/0")
    assert answer.content == b"<script>alert(1)</script>"
    assert answer.headers["content-disposition"].startswith("attachment")
    assert "sandbox" in answer.headers["content-security-policy"]


@pytest.mark.parametrize("path", ["/etc/passwd", "relative", "IMPORTABLE/../outside", "IMPORTABLE/link/outside"])
def test_a_path_of_the_server_outside_the_import_roots_is_refused(
    me: httpx.Client, settings: Settings, path: str
) -> None:
    root = settings.import_roots[0]
    root.mkdir(exist_ok=True)
    (settings.home / "outside").mkdir(exist_ok=True)
    if not (root / "link").is_symlink():
        (root / "link").symlink_to(settings.home)
    given = path.replace("IMPORTABLE", str(root))
    for address, body in (("data", {"path": given, "name": "x"}), ("bundles", {"paths": [given], "name": "x"})):
        answer = me.post(f"/api/v1/{address}", json=body)
        assert answer.status_code == 422, answer.text


def test_a_path_inside_the_import_roots_is_read_in(me: httpx.Client, settings: Settings) -> None:
    root = settings.import_roots[0]
    root.mkdir(exist_ok=True)
    (root / "allowed.txt").write_text("yes")
    answer = me.post("/api/v1/bundles", json={"paths": [str(root / "allowed.txt")], "name": "allowed"})
    assert answer.status_code == 201, answer.text


@pytest.mark.parametrize("upload", ["..", ".", "../..", "none", "/etc"])
def test_an_upload_is_named_by_its_id_and_by_nothing_else(me: httpx.Client, upload: str) -> None:
    answer = me.post("/api/v1/bundles", json={"name": "x", "upload": upload})
    assert answer.status_code in (404, 422)


@pytest.mark.parametrize("name", ["secret.csv", "SECRET.CSV"])
def test_a_list_of_labels_outside_the_import_roots_is_not_read(
    me: httpx.Client, settings: Settings, tmp_path: Path, name: str
) -> None:
    (tmp_path / name).write_text("file,class\nprivate.jpg,private\n")
    settings.import_roots[0].mkdir(exist_ok=True)
    given = str(tmp_path / name)
    train = me.post("/api/v1/models/train", json={"data": "none", "labels": given})
    recipe = me.post("/api/v1/recipes/few-labels", json={"params": {"data": "none", "labels": given}})
    for answer in (train, recipe):
        assert (answer.status_code, answer.json()["code"]) == (422, "unsafe")
        assert "private" not in answer.text


def test_a_list_of_labels_is_an_upload_of_one_csv(me: httpx.Client, settings: Settings) -> None:
    def sent(name: str) -> str:
        return str(me.post("/api/v1/uploads", files={"files": (name, b"file,class\na.jpg,a\n")}).json()["upload"])

    other = me.post("/api/v1/models/train", json={"data": "none", "labels_upload": sent("labels.txt")})
    assert other.status_code == 422 and "CSV" in other.json()["detail"]
    both = me.post("/api/v1/models/train", json={"data": "x", "labels": "y", "labels_upload": sent("labels.csv")})
    assert both.status_code == 422
    right = me.post("/api/v1/models/train", json={"data": "none", "labels_upload": sent("LABELS.CSV")})
    assert right.status_code == 404 and "'none'" in right.json()["detail"], "only the data set is missing"
