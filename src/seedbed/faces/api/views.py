"""What the API answers with: plain records with an example each. `faces/client/results.py` mirrors them."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Self

from pydantic import BaseModel, ConfigDict, Field
from pydantic_core import to_jsonable_python

from seedbed.assets.store.bundle import Array, Bundle, FileLink, Lineage
from seedbed.assets.store.deletion import Deletion
from seedbed.assets.store.lineage import Graph
from seedbed.faces.api.examples import DIGEST, OTHER, UUID, WHEN, example_of, with_example
from seedbed.runtime.jobs.records import Job

Uuid = Annotated[str, Field(examples=[UUID])]
Time = Annotated[float, Field(description="Seconds since 1970, UTC.", examples=[WHEN])]
InProject = Annotated[str, Field(description="The id of its project, or empty.", examples=[""])]


class View(BaseModel):
    """A record that is made from an object of the rooms below by its attributes."""

    model_config = ConfigDict(from_attributes=True, json_schema_extra=with_example)

    @classmethod
    def of(cls, thing: object) -> Self:
        """The record of one object."""
        return cls.model_validate(thing)


class JobView(View):
    """A job as it stands."""

    id: str = Field(examples=[UUID])
    name: str = Field(examples=["train"])
    flow: str = Field(description="What was started together shares one.", examples=[OTHER])
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
    key: str = Field(
        description="Computed from what makes the result; equal keys mean equal results.", examples=[DIGEST]
    )
    outputs: dict[str, str] = Field(description="Name of an output: uuid of its bundle.", examples=[{"model": OTHER}])
    submitted: Time
    started: float = Field(description="0: not yet.", examples=[1_764_000_002.5])
    ended: float = Field(description="0: not yet.", examples=[0.0])
    fell_with: str = Field(description="The job that it needed, and ended only because of; or empty.", examples=[""])
    rerun_as: str = Field(description="The job that repeats this one; or empty.", examples=[""])
    spec: dict[str, Any] = Field(description="The job as it was asked for.", examples=[{"step": "train", "seed": 0}])

    @classmethod
    def of(cls, thing: object) -> Self:
        """The record of a job."""
        assert isinstance(thing, Job)
        names = [name for name in JobView.model_fields if name != "spec"]
        return cls(**{name: getattr(thing, name) for name in names}, spec=thing.spec.to_json())


class RerunView(JobView):
    """The job that repeats another one."""

    back: list[JobView] = Field([], description="Those that had ended only because that one did, and come back now.")

    @classmethod
    def of_all(cls, jobs: Sequence[Job]) -> Self:
        """The record of the first job, with those of the others."""
        return cls.of(jobs[0]).model_copy(update={"back": [JobView.of(job) for job in jobs[1:]]})


class AttemptView(View):
    """One try at a job."""

    job: Uuid
    fence: int = Field(description="Its number; only the newest may have results admitted.", examples=[1])
    node: str = Field(examples=["local"])
    gpu_ids: list[int] = Field(examples=[[0]])
    started: Time
    ended: float = Field(description="0: not yet.", examples=[WHEN + 90])
    outcome: str = Field(description="'', done, failed, preempted, cancelled or lost.", examples=["done"])
    reason: str = Field(examples=[""])


class LogView(View):
    """A piece of a job's log."""

    text: str = Field(examples=["step 1 of 3\n"])
    offset: int = Field(description="Where to go on from.", examples=[12])


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
    bundle: str = Field(description="uuid", examples=[OTHER])


class LineageView(View):
    """What made a bundle."""

    step: str = Field(examples=["train"])
    params: dict[str, Any] = Field(examples=[{"steps": 400}])
    inputs: list[InputView]
    code: str = Field(examples=[DIGEST])
    job: Uuid

    @classmethod
    def of(cls, thing: object) -> Self:
        """The record of a lineage."""
        assert isinstance(thing, Lineage)
        inputs = [InputView(name=name, bundle=uuid) for name, uuid in thing.inputs]
        return cls(step=thing.step, params=dict(thing.params), inputs=inputs, code=thing.code, job=thing.job)


class BundleView(View):
    """A bundle without its arrays."""

    uuid: str = Field(examples=[UUID])
    name: str = Field(examples=["leaves"])
    kind: str = Field(examples=["data-set"])
    key: str = Field(examples=[""])
    digest: str = Field(description="Of the content: kind and arrays.", examples=[DIGEST])
    created: Time
    tags: dict[str, str] = Field(examples=[{"season": "2025"}])
    project: InProject
    derived: bool = Field(examples=[False], description="Rebuilt from its inputs, and removed with them.")

    @classmethod
    def of(cls, thing: object) -> Self:
        """The record of a bundle."""
        assert isinstance(thing, Bundle)
        names = [name for name in BundleView.model_fields if name != "tags"]
        return cls(**{name: getattr(thing, name) for name in names}, tags=dict(thing.tags))


class BundleDetail(BundleView):
    """A bundle with its arrays and lineage."""

    arrays: dict[str, ArrayView] = Field(examples=[{"files": example_of(ArrayView)}])
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

    uuid: str = Field(examples=[UUID])
    depth: int = Field(examples=[1])
    name: str = Field(examples=["leaves"])
    kind: str = Field(examples=["data-set"])
    created: Time
    step: str = Field(examples=["ingest"])
    job: Uuid
    project: InProject
    gone: bool = Field(examples=[False], description="It was deleted, or lives elsewhere.")
    hidden: bool = Field(
        examples=[False], description="It belongs to a project that you may not see: nothing else is told of it."
    )


class EdgeView(View):
    """`made` was made from `input`, which its step calls `name`."""

    input: Uuid
    made: str = Field(examples=[OTHER])
    name: str = Field(examples=["data"])


class GraphView(View):
    """Bundles, and what was made from what."""

    root: Uuid
    nodes: list[NodeView] = Field(description="Nearest first.")
    edges: list[EdgeView]
    truncated: bool = Field(examples=[False], description="There is more than is shown.")

    @classmethod
    def of(cls, thing: object) -> Self:
        """The record of a graph."""
        assert isinstance(thing, Graph)
        return cls.model_validate(thing.to_json())


class DeletionView(View):
    """What went."""

    bundles: list[str] = Field(
        description="uuids: those asked for, then what was derived from them.", examples=[[UUID]]
    )
    files: int = Field(examples=[1])
    bytes: int = Field(examples=[4096])
    remotes: list[str] = Field(description="Addresses that held copies.", examples=[["s3://bucket/prefix"]])
    waiting: list[str] = Field(
        description="Which bytes, here or at remotes, could not go yet, and when they do.", examples=[[]]
    )
    shared: int = Field(description="Files that stay, because other bundles have the same bytes.", examples=[1])
    keepers: list[str] = Field(description="The names of those bundles.", examples=[["leaves"]])

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

    upload: str = Field(
        description="Give this as `upload` to POST /data, /bundles or /models/{ref}/predict.", examples=[UUID]
    )
    files: int = Field(examples=[120])
    size: int = Field(examples=[48_211_004])


class EventView(View):
    """One line of the feed."""

    number: int = Field(examples=[41])
    at: Time
    kind: str = Field(examples=["bundle.published"])
    subject: Uuid
    project: InProject
    data: dict[str, Any] = Field(examples=[{"name": "leaves", "kind": "data-set"}])


class EventPage(View):
    """Events, and where to go on from."""

    events: list[EventView]
    cursor: int = Field(description="Give this as `after` next time.", examples=[41])


class IdentityView(View):
    """Who is signed in."""

    id: Uuid
    name: str = Field(examples=["ada"])
    role: str = Field(examples=["trainer"])
    projects: dict[str, str] = Field(description="Project id: role there.", examples=[{OTHER: "labeller"}])

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
    created: Time
    bundles: int = Field(description="How many it has.", examples=[12])
    pushed: int = Field(description="How many of them are at the remote.", examples=[12])
    current: bool = Field(description="New bundles go into this one.")


class MemberView(View):
    """A user in a project."""

    user: Uuid
    name: str = Field(examples=["ada"])
    role: str = Field(examples=["labeller"])


class GuessView(View):
    """How probable a class is for an image."""

    label: str = Field(examples=["rust"])
    probability: float = Field(examples=[0.93])
    value: float | None = Field(None, description="What the class stands for, where the classes are ordered.")


class AnswerView(View):
    """What a model makes of an image, the most probable class first."""

    guesses: list[GuessView]
    value: float | None = Field(None, description="The value to be expected, where the classes are ordered.")


class RecipeView(View):
    """A ready flow."""

    name: str = Field(examples=["few-labels"])
    about: str = Field(examples=["A model from a few labels and many images without."])
    parameters: dict[str, Any] = Field(description="A JSON schema.", examples=[{"type": "object", "properties": {}}])


class UserView(View):
    """An account; what is kept of the password is not part of it."""

    id: Uuid
    name: str = Field(examples=["ada"])
    role: str = Field(examples=["labeller"])
    mail: str = Field(examples=["ada@example.org"])
    created: Time
    disabled: bool = Field(examples=[False])
    has_password: bool


class TokenView(View):
    """What is known of an API token."""

    id: Uuid
    name: str = Field(examples=["nightly"])
    created: Time
    expires: float = Field(description="0: never.", examples=[0.0])
    used: float = Field(description="0: not yet.", examples=[WHEN + 90])


class NewTokenView(View):
    """An API token's text, shown this once."""

    token: str = Field(examples=["sb_..."])


class AuditView(View):
    """Somebody did something."""

    number: int = Field(examples=[7])
    at: Time
    who: str = Field(examples=["ada"])
    action: str = Field(examples=["job.submit"])
    subject: Uuid
    outcome: str = Field(examples=["ok"])
    data: dict[str, Any] = Field(examples=[{"step": "train"}])


class CheckView(View):
    """One thing that doctor looked at."""

    name: str = Field(examples=["disk"])
    ok: str = Field(description="ok, warn or bad.", examples=["ok"])
    sentence: str = Field(examples=["There is room for 120 GiB."])
    hint: str = Field(examples=[""])


class HealthView(View):
    """The service answers."""

    status: str = Field(examples=["ok"])
    version: str = Field(examples=["0.1.0"])
    event: int = Field(description="The number of the newest event.", examples=[41])


def plain(thing: object) -> dict[str, Any]:
    """A report of the rooms below (a dataclass or a mapping) as a JSON object."""
    value = to_jsonable_python(thing, inf_nan_mode="null", fallback=str)
    return value if isinstance(value, dict) else {"result": value}
