"""What can be asked of a server, noun by noun: each method is one REST route."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, cast

from seedbed.faces.client import results
from seedbed.faces.client.archive import TarStream, list_and_images
from seedbed.faces.client.connection import Connection, part


class Noun:
    """Methods over one connection."""

    def __init__(self, connection: Connection) -> None:
        self._to = connection


class Rerun(results.Job):
    """A job that repeats another one, and those that come back with it."""

    back: list[results.Job]


class Jobs(Noun):
    """/jobs."""

    def submit(self, step: str, **fields: Any) -> results.Job:
        """Queue one job; the fields are those of POST /jobs: params, inputs, cls, resources, name..."""
        return cast(results.Job, self._to.post("/jobs", {"step": step, **fields}))

    def submit_flow(self, jobs: Sequence[Mapping[str, Any]]) -> list[results.Job]:
        """Queue several jobs together, all or none."""
        return cast(list[results.Job], self._to.post("/jobs/flow", {"jobs": list(jobs)}))

    def list(
        self, *, state: str = "", project: str = "", flow: str = "", limit: int = 100, offset: int = 0
    ) -> "Sequence[results.Job]":
        """Jobs, the newest first."""
        found = self._to.get("/jobs", state=state, project=project, flow=flow, limit=limit, offset=offset)
        return cast(Sequence[results.Job], found)

    def get(self, job: str) -> results.Job:
        """One job."""
        return cast(results.Job, self._to.get(f"/jobs/{part(job)}"))

    def cancel(self, job: str) -> results.Job:
        """Stop a job, or take it out of the queue."""
        return cast(results.Job, self._to.post(f"/jobs/{part(job)}/cancel"))

    def pause(self, job: str) -> results.Job:
        """Stop a job for now: it puts its state away and waits."""
        return cast(results.Job, self._to.post(f"/jobs/{part(job)}/pause"))

    def resume(self, job: str) -> results.Job:
        """Let a job that was stopped for now go on from where it was."""
        return cast(results.Job, self._to.post(f"/jobs/{part(job)}/resume"))

    def rerun(
        self, job: str, *, again: bool = False, memory: int | str | None = None, timeout: float | None = None
    ) -> Rerun:
        """A new job with exactly the same inputs; `back` has those that had ended only because of the old one.

        `memory` (bytes, or a text such as 8G) and `timeout` are for this job alone; None: what it had.
        """
        asked = {"again": again, "memory": memory, "timeout": timeout}
        return cast(Rerun, self._to.post(f"/jobs/{part(job)}/rerun", asked))

    def logs(self, job: str, *, offset: int = 0) -> results.Log:
        """What the newest attempt printed, from an offset."""
        return cast(results.Log, self._to.get(f"/jobs/{part(job)}/logs", offset=offset))

    def metrics(self, job: str, *, names: Sequence[str] | None = None) -> dict[str, Sequence[tuple[int, float | None]]]:
        """Curves: for each name its (step, value) points; a value that was no number is None."""
        curves = self._to.get(f"/jobs/{part(job)}/metrics", names=names)
        return {name: [(int(step), value) for step, value in points] for name, points in curves.items()}

    def attempts(self, job: str) -> Sequence[results.Attempt]:
        """Every try, oldest first."""
        return cast(Sequence[results.Attempt], self._to.get(f"/jobs/{part(job)}/attempts"))


class Bundles(Noun):
    """/bundles and /store."""

    def add(self, paths: Sequence[str] = (), *, name: str, upload: str = "", **fields: Any) -> results.BundleDetail:
        """Publish files of the server, or of an upload."""
        body = {"paths": list(paths), "upload": upload, "name": name, **fields}
        return cast(results.BundleDetail, self._to.post("/bundles", body))

    def find(
        self,
        name: str = "",
        *,
        kind: str = "",
        tags: Mapping[str, str] | None = None,
        project: str | None = None,
        all_versions: bool = False,
        context: str = "",
        limit: int = 100,
        offset: int = 0,
    ) -> list[results.Bundle]:
        """Bundles, the newest first, of all contexts or of one; the latest of each name unless all are asked for."""
        tag = [f"{key}={value}" for key, value in (tags or {}).items()]
        query = {"name": name, "kind": kind, "project": project, "context": context, "limit": limit, "offset": offset}
        return cast(list[results.Bundle], self._to.get("/bundles", tag=tag, all=all_versions, **query))

    def show(self, ref: str) -> results.BundleDetail:
        """One bundle."""
        return cast(results.BundleDetail, self._to.get(f"/bundles/{part(ref)}"))

    def lineage(self, ref: str, *, direction: str = "up", depth: int = 50) -> results.Graph:
        """What it was made from (up), or what was made from it (down)."""
        return cast(results.Graph, self._to.get(f"/bundles/{part(ref)}/lineage", direction=direction, depth=depth))

    def tag(self, ref: str, changes: Mapping[str, str | None]) -> results.Bundle:
        """Set tags; None removes one."""
        return cast(results.Bundle, self._to.patch(f"/bundles/{part(ref)}/tags", changes))

    def remove(self, refs: Sequence[str]) -> results.Deletion:
        """Delete bundles for good."""
        return cast(results.Deletion, self._to.post("/bundles/remove", {"refs": list(refs)}))

    def download(
        self, ref: str, array: str, index: int, target: Path, *, on_bytes: Callable[[int], object] = lambda _: None
    ) -> Path:
        """Write one file of a bundle to a path; `on_bytes` is told of every piece."""
        with (
            self._to.stream(f"/bundles/{part(ref)}/files/{part(array)}/{index}") as response,
            target.open("wb") as file,
        ):
            for piece in response.iter_bytes():
                on_bytes(file.write(piece))
        return target

    def gc(self, *, dry_run: bool = False) -> dict[str, Any]:
        """Remove the files that nothing needs."""
        return cast(dict[str, Any], self._to.send("/store/gc", json={"dry_run": dry_run}))

    def verify(self) -> dict[str, Any]:
        """Read every file and say which are damaged."""
        return cast(dict[str, Any], self._to.send("/store/verify"))

    def rebuild(self) -> dict[str, Any]:
        """Make the index of bundles anew from the manifests."""
        return cast(dict[str, Any], self._to.send("/store/rebuild"))


class Contexts(Noun):
    """/contexts."""

    def list(self) -> "Sequence[results.Context]":
        """Every context."""
        return cast(Sequence[results.Context], self._to.get("/contexts"))

    def create(self, name: str) -> results.Context:
        """A new, empty one."""
        return cast(results.Context, self._to.post("/contexts", {"name": name}))

    def use(self, name: str) -> results.Context:
        """New bundles go into this one."""
        return cast(results.Context, self._to.post(f"/contexts/{part(name)}/use"))

    def remote(self, name: str, address: str) -> results.Context:
        """Where push and pull go."""
        return cast(results.Context, self._to.put(f"/contexts/{part(name)}/remote", {"address": address}))

    def remove(self, name: str) -> None:
        """Forget one; its bundles stay."""
        self._to.delete(f"/contexts/{part(name)}")

    def push(self, name: str, *, check: bool = False) -> dict[str, Any]:
        """Copy what the remote lacks; `check`: also what is damaged there."""
        return cast(dict[str, Any], self._to.send(f"/contexts/{part(name)}/push", params={"check": check}))

    def pull(self, name: str, *, check: bool = False) -> dict[str, Any]:
        """Copy what is missing or known to be damaged here; `check`: every file here is read first."""
        return cast(dict[str, Any], self._to.send(f"/contexts/{part(name)}/pull", params={"check": check}))


class Data(Noun):
    """/uploads and /data."""

    def upload(self, source: Path, *, project: str = "") -> results.Upload:
        """Send a file, or a folder as one archive; the result's id is used by `add`."""
        if source.is_dir():
            return self._send_stream(f"{source.resolve().name or 'folder'}.tar", TarStream(source), project)
        with source.open("rb") as file:
            return self._send(source.name, file, project)

    def upload_list(self, table: Path, *, project: str = "") -> results.Upload:
        """Send a CSV list of images with the images that it names, which lie in its folder or below."""
        return self._send_stream(f"{table.stem}.tar", list_and_images(table), project)

    def _send_stream(self, name: str, stream: TarStream, project: str) -> results.Upload:
        with closing(stream):
            return self._send(name, stream, project)

    def _send(self, name: str, content: Any, project: str) -> results.Upload:
        found = self._to.send("/uploads", files={"files": (name, content)}, params={"project": project})
        return cast(results.Upload, found)

    def add(self, *, name: str, path: str = "", upload: str = "", **fields: Any) -> results.Job:
        """Start a job that takes in a path of the server, or an upload."""
        return cast(results.Job, self._to.post("/data", {"name": name, "path": path, "upload": upload, **fields}))

    def list(self, *, project: str | None = None, limit: int = 100, offset: int = 0) -> "Sequence[results.Bundle]":
        """The latest version of every data set."""
        return cast(Sequence[results.Bundle], self._to.get("/data", project=project, limit=limit, offset=offset))

    def show(self, ref: str) -> dict[str, Any]:
        """Counts, classes, findings, statistics."""
        return cast(dict[str, Any], self._to.get(f"/data/{part(ref)}"))

    def records(self, ref: str, *, offset: int = 0, limit: int = 100) -> "Sequence[dict[str, Any]]":
        """The images, one record each."""
        return cast(Sequence[dict[str, Any]], self._to.get(f"/data/{part(ref)}/records", offset=offset, limit=limit))

    def thumbnail(self, ref: str, index: int, *, size: int = 128) -> bytes:
        """One image as a small JPEG."""
        with self._to.stream(f"/data/{part(ref)}/images/{index}/thumbnail?size={size}") as response:
            return response.read()


class Models(Noun):
    """/models and /recipes."""

    def train(self, data: str = "", **fields: Any) -> list[results.Job]:
        """Train; the fields are those of POST /models/train: labels, labels_upload, project, group, params..."""
        return cast(list[results.Job], self._to.post("/models/train", {"data": data, **fields}))

    def predict(self, model: str, **fields: Any) -> list[results.Job]:
        """Label many images; the fields are `data`, `path` or `upload`, and `project`."""
        return cast(list[results.Job], self._to.post(f"/models/{part(model)}/predict", fields))

    def predict_image(self, model: str, image: bytes) -> results.Answer:
        """What a model makes of one image, the most probable first."""
        headers = {"Content-Type": "application/octet-stream"}
        found = self._to.send(f"/models/{part(model)}/predict-image", content=image, headers=headers)
        return cast(results.Answer, found)

    def recipes(self) -> dict[str, str]:
        """Every recipe with one line."""
        return cast(dict[str, str], self._to.get("/recipes"))

    def recipe(self, name: str) -> results.Recipe:
        """A recipe with its parameters."""
        return cast(results.Recipe, self._to.get(f"/recipes/{part(name)}"))

    def start_recipe(
        self, name: str, params: Mapping[str, Any], *, uploads: Mapping[str, str] | None = None
    ) -> list[results.Job]:
        """Queue a recipe's jobs; `uploads` has the parameters that name an upload, by its id."""
        body = {"params": dict(params), "uploads": dict(uploads or {})}
        return cast(list[results.Job], self._to.post(f"/recipes/{part(name)}", body))


class Users(Noun):
    """/users and /audit."""

    def list(self) -> "Sequence[results.User]":
        """Every account."""
        return cast(Sequence[results.User], self._to.get("/users"))

    def create(self, name: str, role: str, *, password: str = "", mail: str = "") -> results.User:
        """One more account."""
        return cast(
            results.User,
            self._to.post("/users", {"name": name, "role": role, "password": password, "mail": mail}),
        )

    def get(self, ref: str) -> results.User:
        """One account."""
        return cast(results.User, self._to.get(f"/users/{part(ref)}"))

    def set_role(self, ref: str, role: str) -> results.User:
        """Another role."""
        return cast(results.User, self._to.put(f"/users/{part(ref)}/role", {"role": role}))

    def set_password(self, ref: str, password: str, *, present: str = "") -> None:
        """Another password; of one's own account by who knows the `present` one."""
        self._to.put(f"/users/{part(ref)}/password", {"password": password, "present": present})

    def disable(self, ref: str) -> results.User:
        """Nothing that this account has opens a door any more."""
        return cast(results.User, self._to.post(f"/users/{part(ref)}/disable"))

    def enable(self, ref: str) -> results.User:
        """Let a disabled account in again, also with the API tokens that it had."""
        return cast(results.User, self._to.post(f"/users/{part(ref)}/enable"))

    def set_mail(self, ref: str, mail: str) -> results.User:
        """Where mail about ended jobs goes."""
        return cast(results.User, self._to.put(f"/users/{part(ref)}/mail", {"mail": mail}))

    def tokens(self, ref: str) -> Sequence[results.Token]:
        """The API tokens of an account."""
        return cast(Sequence[results.Token], self._to.get(f"/users/{part(ref)}/tokens"))

    def make_token(self, ref: str, name: str, *, days: float = 0) -> str:
        """A new API token's text, shown this once."""
        return str(self._to.post(f"/users/{part(ref)}/tokens", {"name": name, "days": days})["token"])

    def revoke(self, token_id: str) -> None:
        """Make a token worthless."""
        self._to.delete(f"/users/tokens/{part(token_id)}")

    def audit(
        self, *, who: str = "", action: str = "", limit: int = 100, offset: int = 0
    ) -> Sequence[results.AuditLine]:
        """Who did what, newest first."""
        found = self._to.get("/audit", who=who, action=action, limit=limit, offset=offset)
        return cast(Sequence[results.AuditLine], found)


def ended(job: results.Job) -> bool:
    """Whether nothing follows for a job."""
    return job["state"] in ("done", "failed", "cancelled")


def follow(connection: Connection, job_ids: Sequence[str], *, every: float = 1.0) -> Iterator[results.Job]:
    """Each of the jobs whenever it changed, until all have ended. Wakes on events, and looks at progress in between."""
    jobs = Jobs(connection)
    cursor = int(connection.get("/health")["event"])
    seen: dict[str, results.Job] = {}
    while True:
        for job_id in job_ids:
            if job_id in seen and ended(seen[job_id]):
                continue
            job = jobs.get(job_id)
            if seen.get(job_id) != job:
                seen[job_id] = job
                yield job
        if all(ended(seen[job_id]) for job_id in job_ids):
            return
        cursor = int(connection.wait("/events", every, after=cursor, wait=every)["cursor"])
