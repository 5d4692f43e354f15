"""What the API is asked with: every mistake in one request is reported at once, unknown fields included."""

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from seedbed.assets.access.roles import Role
from seedbed.faces.api.examples import with_example
from seedbed.flows.asked import JobAsked, Name, Ref, ResourcesAsked, SomeMemory
from seedbed.methods.learn.settings import TrainSettings
from seedbed.runtime.jobs.spec import JobClass

Text = Annotated[str, Field(max_length=2000)]
Secret = Annotated[str, Field(min_length=1, max_length=1024, examples=["seven grey geese fly"])]


class Asked(BaseModel):
    """A request body; a field that does not exist is a mistake, not silence."""

    model_config = ConfigDict(extra="forbid", json_schema_extra=with_example)


class FlowAsked(Asked):
    """Several jobs, all or none; among themselves they refer to each other as job:<name>/<output>."""

    jobs: list[JobAsked] = Field(
        min_length=1,
        max_length=1000,
        examples=[
            [
                {"step": "ingest", "name": "bring", "params": {"source": "/srv/images/leaves"}},
                {"step": "decode", "name": "small", "inputs": {"data": "job:bring/data"}, "params": {"size": 32}},
            ]
        ],
    )


class RerunAsked(Asked):
    """How to repeat a job."""

    again: bool = Field(False, examples=[True], description="Run even if the store knows the answer.")
    memory: SomeMemory | None = Field(
        None, examples=["8G"], description="Bytes, or a text such as 8G, for this job alone; nothing: what it had."
    )
    timeout: float | None = Field(
        None, ge=0, le=1e9, description="Seconds, for this job alone; 0: no limit; nothing: what it had."
    )


class BundleAsked(Asked):
    """Files to keep as a bundle."""

    paths: list[Text] = Field(
        default_factory=list, max_length=10_000, description="Files of the server.", examples=[["/srv/notes.txt"]]
    )
    upload: Ref = Field("", description="Or the id of an upload.")
    name: Name = Field(examples=["field-notes"])
    kind: Name = "files"
    tags: dict[str, Text] = Field(default_factory=dict, examples=[{"season": "2025"}])
    project: Ref = ""


class RemoveAsked(Asked):
    """Bundles to remove for good."""

    refs: list[Ref] = Field(min_length=1, max_length=10_000, examples=[["field-notes"]])


class GcAsked(Asked):
    """How to clean up."""

    dry_run: bool = Field(False, examples=[True], description="Only say what would go.")


class ContextAsked(Asked):
    """A new context."""

    name: Name = Field(examples=["season-2025"])


class RemoteAsked(Asked):
    """Where a context's push and pull go."""

    address: Text = Field(examples=["s3://bucket/prefix"])


class DataAsked(Asked):
    """Images to bring in."""

    path: Text = Field("", description="A folder, archive or CSV list of the server.", examples=["/srv/images/leaves"])
    upload: Ref = Field("", description="Or the id of an upload.")
    name: Name = Field(examples=["leaves"])
    project: Ref = ""
    to: Ref = Field("", description="Add to this data set: a new version that shares the bytes.")
    size: int = Field(TrainSettings().size, ge=8, le=1024, description="Side of the decoded cache in pixels.")


class DataOfProject(Asked):
    """Which data set a project is about."""

    bundle: Ref = Field(examples=["leaves"])


class MemberAsked(Asked):
    """A role in a project."""

    role: Role = Field(examples=["labeller"])


class TrainAsked(Asked):
    """A training: a data set, and a labels bundle or a project's labels."""

    data: Ref = Field("", description="Empty: the project's.", examples=["leaves"])
    labels: Text = Field(
        "",
        description="A labels bundle or a CSV of the server; empty: the project's labels.",
        examples=["/srv/images/labels.csv"],
    )
    labels_upload: Ref = Field("", description="Or the id of an upload: one CSV with the columns file and class.")
    project: Ref = ""
    test_share: float = Field(0.3, gt=0, lt=1, description="Share of the labels that is held out for the test.")
    group: Text = Field("", description="A column of the data set: what shares its value is never split by the test.")
    labels_per_class: int = Field(0, ge=0, description="Labels of each class that are used; 0: all that there are.")
    params: dict[str, Any] = Field(
        default_factory=dict,
        description="Parameters of the step train, whose defaults hold for the rest.",
        examples=[{"algorithm": "fixmatch", "steps": 400}],
    )
    weights: Annotated[str, Field(max_length=200)] = Field(
        "",
        description="auto (the default): the best of the zoo for that network; a card's name; pretrained: the usual "
        "weights of the network; none: from scratch.",
        examples=["auto"],
    )
    seed: int = Field(0, ge=0)
    cls: JobClass = JobClass.TE
    resources: ResourcesAsked | None = Field(None, description="Several GPUs train with as many ranks.")


class PredictAsked(Asked):
    """Images to label with a model: a data set, a folder of the server, or an upload."""

    data: Ref = Field("", examples=["leaves"])
    path: Text = ""
    upload: Ref = ""
    project: Ref = ""


class RecipeAsked(Asked):
    """A recipe's parameters."""

    params: dict[str, Any] = Field(default_factory=dict, examples=[{"count_per_class": 40}])
    uploads: dict[Name, Ref] = Field(
        default_factory=dict, max_length=20, description="Parameters that name an upload instead, by its id."
    )


class UserAsked(Asked):
    """A new account."""

    name: Name = Field(examples=["ada"])
    role: Role = Field(examples=["trainer"])
    password: Annotated[str, Field(max_length=1024)] = Field("", description="Empty: tokens only.")
    mail: Annotated[str, Field(max_length=254)] = ""


class RoleAsked(Asked):
    """Another role."""

    role: Role = Field(examples=["labeller"])


class PasswordAsked(Asked):
    """Another password."""

    password: Secret
    present: Annotated[str, Field(max_length=1024)] = Field(
        "", description="The one that it replaces; needed for an account of your own that has one."
    )


class MailAsked(Asked):
    """A mail address."""

    mail: Annotated[str, Field(max_length=254)] = Field(description="Empty: none.", examples=["ada@example.org"])


class TokenAsked(Asked):
    """A new API token."""

    name: Name = Field(examples=["nightly"])
    days: float = Field(0, ge=0, le=36_500, description="0: it does not expire.", examples=[90])


class SignInAsked(Asked):
    """A name and a password."""

    name: Name = Field(examples=["ada"])
    password: Secret


class SetUpAsked(SignInAsked):
    """The first operator, and the code that the server printed."""

    code: Text = Field(examples=["the code that the server printed"])


class BackupAsked(Asked):
    """Where a backup goes."""

    target: Text = Field(
        "",
        description="A file of the server; empty: a new one under the home's backups.",
        examples=["/srv/backups/seedbed.tar"],
    )
