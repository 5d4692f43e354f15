"""What the API answers with: plain records with an example each. `faces/client/results.py` mirrors them."""

from collections.abc import Mapping
from typing import Any, Self

from pydantic import BaseModel, ConfigDict, Field
from pydantic_core import to_jsonable_python

from seedbed.assets.store.bundle import Array, Bundle, FileLink, Lineage
from seedbed.assets.store.deletion import Deletion
from seedbed.assets.store.lineage import Graph
from seedbed.runtime.jobs.records import Job

_UUID = "01936d2e-7a10-7c3e-9d51-0c6a5f3a7b21"
_OTHER = "01936d2f-1b22-7d4f-8e62-1d7b6a4b8c32"


class View(BaseModel):
    """A record that is made from an object of the rooms below by its attributes."""

    model_config = ConfigDict(from_attributes=True)

    @classmethod
    def of(cls, thing: object) -> Self:
        """The record of one object."""
        return cls.model_validate(thing)


class JobView(View):
    """A job as it stands."""

    id: str = Field(examples=[_UUID])
    name: str = Field(examples=["train"])
    flow: str = Field(description="What was started together shares one.", examples=[_OTHER])
    step: str = Field(examples=["train"])
    cls: str = Field(description="te (trial and error) or be (best effort).", examples=["te"])
    owner: str = Field(examples=["ada"])
    project: str = Field(examples=[""])
    state: str = Field(
        description="waiting, starting, running, stopping, done, failed or cancelled.", examples=["running"]
    )
    reason: str = Field(description="Why it waits, or how it ended, in words.", examples=[""])
    doing: str = Field(description="What it is doing now, in a few words.", examples=["training"])
    step_now: int = Field(examples=[120])
    step_total: int = Field(examples=[400])
    fence: int = Field(description="The number of the attempt that counts.", examples=[1])
    preemptions: int = Field(examples=[0])
    failures: int = Field(examples=[0])
    key: str = Field(description="Computed from what makes the result; equal keys mean equal results.")
    outputs: dict[str, str] = Field(description="Name of an output: uuid of its bundle.", examples=[{"model": _OTHER}])
    submitted: float = Field(description="Seconds since 1970, UTC.", examples=[1_764_000_000.0])
    started: float = Field(description="0: not yet.", examples=[1_764_000_002.5])
    ended: float = Field(description="0: not yet.", examples=[0.0])
    spec: dict[str, Any] = Field(description="The job as it was asked for.")

    @classmethod
    def of(cls, thing: object) -> Self:
        """The record of a job."""
        assert isinstance(thing, Job)
        names = [name for name in cls.model_fields if name != "spec"]
        return cls(**{name: getattr(thing, name) for name in names}, spec=thing.spec.to_json())


class AttemptView(View):
    """One try at a job."""

    job: str
    fence: int = Field(description="Its number; only the newest may have results admitted.", examples=[1])
    node: str = Field(examples=["local"])
    gpu_ids: list[int]
    started: float
    ended: float = Field(description="0: not yet.")
    outcome: str = Field(description="'', done, failed, preempted, cancelled or lost.", examples=["done"])
    reason: str


class LogView(View):
    """A piece of a job's log."""

    text: str
    offset: int = Field(description="Where to go on from.")


class ArrayView(View):
    """A named, typed array of a bundle."""

    type: str = Field(examples=["file"])
    items: list[Any] = Field(examples=[[{"name": "leaf.jpg", "digest": "9f86d081884c7d65", "size": 4096}]])

    @classmethod
    def of(cls, thing: object) -> Self:
        """The record of an array."""
        assert isinstance(thing, Array)
        items = [
            {"name": item.name, "digest": item.digest, "size": item.size} if isinstance(item, FileLink) else item
            for item in thing.items
        ]
        return cls(type=str(thing.type), items=items)


class InputView(View):
    """What a step was given."""

    name: str = Field(examples=["data"])
    bundle: str = Field(description="uuid", examples=[_OTHER])


class LineageView(View):
    """What made a bundle."""

    step: str = Field(examples=["train"])
    params: dict[str, Any] = Field(examples=[{"steps": 400}])
    inputs: list[InputView]
    code: str
    job: str

    @classmethod
    def of(cls, thing: object) -> Self:
        """The record of a lineage."""
        assert isinstance(thing, Lineage)
        inputs = [InputView(name=name, bundle=uuid) for name, uuid in thing.inputs]
        return cls(step=thing.step, params=dict(thing.params), inputs=inputs, code=thing.code, job=thing.job)


class BundleView(View):
    """A bundle without its arrays."""

    uuid: str = Field(examples=[_UUID])
    name: str = Field(examples=["leaves"])
    kind: str = Field(examples=["dataset"])
    key: str = Field(examples=[""])
    digest: str = Field(description="Of the content: kind and arrays.")
    created: float = Field(examples=[1_764_000_000.0])
    tags: dict[str, str] = Field(examples=[{"season": "2025"}])
    project: str
    derived: bool = Field(description="Rebuilt from its inputs, and removed with them.")

    @classmethod
    def of(cls, thing: object) -> Self:
        """The record of a bundle."""
        assert isinstance(thing, Bundle)
        names = [name for name in BundleView.model_fields if name != "tags"]
        return cls(**{name: getattr(thing, name) for name in names}, tags=dict(thing.tags))


class BundleDetail(BundleView):
    """A bundle with its arrays and lineage."""

    arrays: dict[str, ArrayView]
    lineage: LineageView

    @classmethod
    def of(cls, thing: object) -> Self:
        """The record of a bundle, arrays included."""
        assert isinstance(thing, Bundle)
        short = BundleView.of(thing).model_dump()
        arrays = {name: ArrayView.of(array) for name, array in thing.arrays.items()}
        return cls(**short, arrays=arrays, lineage=LineageView.of(thing.lineage))


class NodeView(View):
    """A bundle in a lineage."""

    uuid: str = Field(examples=[_UUID])
    depth: int
    name: str
    kind: str
    created: float
    step: str
    job: str
    project: str
    gone: bool = Field(description="It was deleted, or lives elsewhere.")
    hidden: bool = Field(description="It belongs to a project that you may not see: nothing else is told of it.")


class EdgeView(View):
    """`made` was made from `input`, which its step calls `name`."""

    input: str
    made: str
    name: str


class GraphView(View):
    """Bundles, and what was made from what."""

    root: str
    nodes: list[NodeView] = Field(description="Nearest first.")
    edges: list[EdgeView]
    truncated: bool = Field(description="There is more than is shown.")

    @classmethod
    def of(cls, thing: object) -> Self:
        """The record of a graph."""
        assert isinstance(thing, Graph)
        return cls.model_validate(thing.to_json())


class DeletionView(View):
    """What went."""

    bundles: list[str] = Field(description="uuids: those asked for, then what was derived from them.")
    files: int
    bytes: int
    remotes: list[str] = Field(description="Addresses that held copies.")
    waiting: list[str] = Field(description="Which bytes, here or at remotes, could not go yet, and when they do.")
    shared: int = Field(description="Files that stay, because other bundles have the same bytes.")
    keepers: list[str] = Field(description="The names of those bundles.")

    @classmethod
    def of(cls, thing: object) -> Self:
        """The record of a deletion."""
        assert isinstance(thing, Deletion)
        keepers = list(dict.fromkeys(keeper.name for keeper in thing.keepers))
        return cls.model_validate(
            {**vars(thing), "bundles": [bundle.uuid for bundle in thing.bundles], "keepers": keepers}
        )


class UploadView(View):
    """An upload that waits to be used."""

    upload: str = Field(description="Give this as `upload` to POST /data, /bundles or /models/{ref}/predict.")
    files: int = Field(examples=[120])
    size: int = Field(examples=[48_211_004])


class EventView(View):
    """One line of the feed."""

    number: int
    at: float
    kind: str = Field(examples=["bundle.published"])
    subject: str
    project: str
    data: dict[str, Any]


class EventPage(View):
    """Events, and where to go on from."""

    events: list[EventView]
    cursor: int = Field(description="Give this as `after` next time.")


class IdentityView(View):
    """Who is signed in."""

    id: str
    name: str = Field(examples=["ada"])
    role: str = Field(examples=["trainer"])
    projects: dict[str, str] = Field(description="Project id: role there.")

    @classmethod
    def of(cls, thing: object) -> Self:
        """The record of an identity."""
        projects: Mapping[str, str] = getattr(thing, "projects", {})
        return cls.model_validate(
            {name: str(getattr(thing, name)) for name in ("id", "name", "role")}
            | {"projects": {project: str(role) for project, role in projects.items()}}
        )


class ContextView(View):
    """A named set of bundles."""

    name: str = Field(examples=["local"])
    remote: str = Field(description="Where push and pull go, or empty.", examples=["s3://bucket/prefix"])
    created: float
    bundles: int = Field(description="How many it has.", examples=[12])
    pushed: int = Field(description="How many of them are at the remote.", examples=[12])
    current: bool = Field(description="New bundles go into this one.")


class MemberView(View):
    """A user in a project."""

    user: str
    name: str
    role: str


class GuessView(View):
    """What a model makes of an image."""

    label: str = Field(examples=["rust"])
    probability: float = Field(examples=[0.93])


class RecipeView(View):
    """A ready flow."""

    name: str = Field(examples=["few-labels"])
    about: str
    parameters: dict[str, Any] = Field(description="A JSON schema.")


class UserView(View):
    """An account; what is kept of the password is not part of it."""

    id: str
    name: str = Field(examples=["ada"])
    role: str = Field(examples=["labeller"])
    mail: str
    created: float
    disabled: bool
    has_password: bool


class TokenView(View):
    """What is known of an API token."""

    id: str
    name: str = Field(examples=["nightly"])
    created: float
    expires: float = Field(description="0: never.")
    used: float = Field(description="0: not yet.")


class NewTokenView(View):
    """An API token's text, shown this once."""

    token: str = Field(examples=["sb_..."])


class AuditView(View):
    """Somebody did something."""

    number: int
    at: float
    who: str
    action: str
    subject: str
    outcome: str
    data: dict[str, Any]


class CheckView(View):
    """One thing that doctor looked at."""

    name: str = Field(examples=["disk"])
    ok: str = Field(description="ok, warn or bad.", examples=["ok"])
    sentence: str
    hint: str


class HealthView(View):
    """The service answers."""

    status: str = Field(examples=["ok"])
    version: str
    event: int = Field(description="The number of the newest event.")


def plain(thing: object) -> dict[str, Any]:
    """A report of the rooms below (a dataclass or a mapping) as a JSON object."""
    value = to_jsonable_python(thing, inf_nan_mode="null", fallback=str)
    return value if isinstance(value, dict) else {"result": value}
