"""What the server answers with, as typed dictionaries; `faces/api/views.py` is the other side, and a test compares."""

from typing import Any, TypedDict


class Job(TypedDict):
    """A job as it stands."""

    id: str
    name: str
    flow: str
    step: str
    cls: str
    owner: str
    project: str
    state: str
    reason: str
    doing: str
    step_now: int
    step_total: int
    fence: int
    preemptions: int
    failures: int
    key: str
    outputs: dict[str, str]
    submitted: float
    started: float
    ended: float
    fell_with: str
    rerun_as: str
    spec: dict[str, Any]


class Attempt(TypedDict):
    """One try at a job."""

    job: str
    fence: int
    node: str
    gpu_ids: list[int]
    started: float
    ended: float
    outcome: str
    reason: str


class Log(TypedDict):
    """A piece of a log, and where to go on from."""

    text: str
    offset: int


class Array(TypedDict):
    """A named, typed array of a bundle."""

    type: str
    items: list[Any]


class Input(TypedDict):
    """What a step was given."""

    name: str
    bundle: str


class Lineage(TypedDict):
    """What made a bundle."""

    step: str
    params: dict[str, Any]
    inputs: list[Input]
    code: str
    job: str


class Bundle(TypedDict):
    """A bundle without its arrays."""

    uuid: str
    name: str
    kind: str
    key: str
    digest: str
    created: float
    tags: dict[str, str]
    project: str
    derived: bool


class BundleDetail(Bundle):
    """A bundle with its arrays and what made it."""

    arrays: dict[str, Array]
    lineage: Lineage


class Node(TypedDict):
    """A bundle in a lineage."""

    uuid: str
    depth: int
    name: str
    kind: str
    created: float
    step: str
    job: str
    project: str
    gone: bool
    hidden: bool


class Edge(TypedDict):
    """`made` was made from `input`, which its step calls `name`."""

    input: str
    made: str
    name: str


class Graph(TypedDict):
    """Bundles, and what was made from what."""

    root: str
    nodes: list[Node]
    edges: list[Edge]
    truncated: bool


class Deletion(TypedDict):
    """What went."""

    bundles: list[str]
    files: int
    bytes: int
    remotes: list[str]
    waiting: list[str]
    shared: int
    keepers: list[str]


class Upload(TypedDict):
    """An upload that waits to be used."""

    upload: str
    files: int
    size: int


class Event(TypedDict):
    """One line of the feed."""

    number: int
    at: float
    kind: str
    subject: str
    project: str
    data: dict[str, Any]


class EventPage(TypedDict):
    """Events, and where to go on from."""

    events: list[Event]
    cursor: int


class Identity(TypedDict):
    """Who is signed in."""

    id: str
    name: str
    role: str
    projects: dict[str, str]


class Context(TypedDict):
    """A named set of bundles."""

    name: str
    remote: str
    created: float
    bundles: int
    pushed: int
    current: bool


class Project(TypedDict):
    """A project."""

    id: str
    name: str
    created: float
    owner: str
    data: str
    kind: str
    settings: dict[str, Any]


class Class(TypedDict):
    """One of a project's classes."""

    name: str
    position: int
    colour: str
    key: str
    value: float | None
    other: bool


class ClassAsked(TypedDict, total=False):
    """A new class: `name`, and what else is not to be chosen for it."""

    name: str
    colour: str
    key: str
    value: float | None
    other: bool


class Label(TypedDict):
    """What was said of an image."""

    id: str
    image: str
    label: str
    mark: str
    by: str
    at: float
    source: str


class LabelAsked(TypedDict, total=False):
    """What somebody says of an image: `id`, `image` or `index`, `label`, and perhaps `mark` and `source`."""

    id: str
    image: str
    index: int
    label: str
    mark: str
    source: str


class Change(TypedDict):
    """One event of the feed of labels."""

    number: int
    id: str
    image: str
    index: int
    label: str
    mark: str
    by: str
    at: float


class Changes(TypedDict):
    """What was said after a number."""

    last: int
    classes: int
    more: bool
    events: list[Change]


class Disagreement(TypedDict):
    """An image that people call by different classes."""

    image: str
    index: int
    said: dict[str, str]


class Agreed(TypedDict):
    """Two people, and the images that both have labelled."""

    first: str
    second: str
    images: int
    agreed: int
    kappa: float
    sentence: str


class Checked(TypedDict):
    """How somebody did on images whose golden label is known."""

    person: str
    asked: int
    right: int
    low: float
    high: float
    sentence: str


class Quality(TypedDict):
    """How well a project is labelled."""

    pairs: list[Agreed]
    images: int
    alpha: float | None
    golden: int
    checks: list[Checked]


class Imported(TypedDict):
    """What came of a file of labels."""

    format: str
    read: int
    count: int
    classes_added: list[str]
    skipped: int


class Member(TypedDict):
    """A user in a project."""

    user: str
    name: str
    role: str


class Guess(TypedDict):
    """How probable a class is for an image; `value` is what the class stands for, where the classes are ordered."""

    label: str
    probability: float
    value: float | None


class Answer(TypedDict):
    """What a model makes of an image, the most probable class first; of ordered ones, the value to be expected."""

    guesses: list[Guess]
    value: float | None


class Recipe(TypedDict):
    """A ready flow."""

    name: str
    about: str
    parameters: dict[str, Any]


class User(TypedDict):
    """An account."""

    id: str
    name: str
    role: str
    mail: str
    created: float
    disabled: bool
    has_password: bool


class Token(TypedDict):
    """What is known of an API token."""

    id: str
    name: str
    created: float
    expires: float
    used: float


class AuditLine(TypedDict):
    """Somebody did something."""

    number: int
    at: float
    who: str
    action: str
    subject: str
    outcome: str
    data: dict[str, Any]


class Check(TypedDict):
    """One thing that doctor looked at."""

    name: str
    ok: str
    sentence: str
    hint: str


class Health(TypedDict):
    """The service answers."""

    status: str
    version: str
    event: int
