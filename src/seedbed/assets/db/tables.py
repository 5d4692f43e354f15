"""Every table. A change here needs a migration beside it; a test compares the two on both databases."""

from sqlalchemy import (
    JSON,
    BigInteger,
    Boolean,
    Column,
    Float,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    Text,
    false,
    text,
)

metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s",
        "pk": "pk_%(table_name)s",
    }
)

# --- the feed -------------------------------------------------------------------------------------------------------

counters = Table(
    "counters",
    metadata,
    Column("name", Text, primary_key=True),
    Column("value", BigInteger, nullable=False),
)

events = Table(
    "events",
    metadata,
    Column("number", BigInteger, primary_key=True, autoincrement=False),
    Column("at", Float, nullable=False),
    Column("kind", Text, nullable=False),
    Column("subject", Text, nullable=False),
    Column("project", Text, nullable=False),
    Column("data", JSON, nullable=False),
    Index(None, "subject", "number"),
)

cursors = Table(
    "cursors",
    metadata,
    Column("consumer", Text, primary_key=True),
    Column("number", BigInteger, nullable=False),
)

leases = Table(
    "leases",
    metadata,
    Column("name", Text, primary_key=True),
    Column("holder", Text, nullable=False),
    Column("expires", Float, nullable=False),
)

# --- bundles --------------------------------------------------------------------------------------------------------

bundles = Table(
    "bundles",
    metadata,
    Column("uuid", Text, primary_key=True),
    Column("name", Text, nullable=False),
    Column("kind", Text, nullable=False),
    Column("key", Text, nullable=True, unique=True),  # null: made by hand, never an answer to a step
    Column("digest", Text, nullable=False),
    Column("created", Float, nullable=False),
    Column("project", Text, nullable=False),
    Column("derived", Boolean, nullable=False),
    Column("latest", Boolean, nullable=False),  # the newest of its name in its project
    Column("step", Text, nullable=False),
    Column("params", JSON, nullable=False),
    Column("code", Text, nullable=False),
    Column("job", Text, nullable=False),
    Column("size", BigInteger, nullable=False),
    Column("manifest", Text, nullable=False),  # digest of the manifest file's text
    Index(None, "name", "created", "uuid"),
    Index(None, "kind", "created", "uuid"),
    Index(None, "project", "kind", "created", "uuid"),
    Index(None, "project", "created", "uuid"),
    Index(None, "created", "uuid"),
    Index(None, "digest"),
)

# What a listing shows when nobody asked for old versions: the same orders, over the newest of each name alone.
for _name, _columns in {
    "ix_bundles_latest": ("created", "uuid"),
    "ix_bundles_latest_kind": ("kind", "created", "uuid"),
    "ix_bundles_latest_project": ("project", "created", "uuid"),
    "ix_bundles_latest_project_kind": ("project", "kind", "created", "uuid"),
    "ix_bundles_latest_name": ("name", "project"),
}.items():
    Index(
        _name,
        *(bundles.c[column] for column in _columns),
        sqlite_where=text("latest = 1"),
        postgresql_where=text("latest"),
    )

bundle_files = Table(
    "bundle_files",
    metadata,
    Column("uuid", Text, ForeignKey("bundles.uuid", ondelete="CASCADE"), primary_key=True),
    Column("digest", Text, primary_key=True),
    Column("size", BigInteger, nullable=False),
    Index(None, "digest"),
)

bundle_inputs = Table(  # lineage: the bundle `uuid` was made from the bundle `input`, which may be gone or elsewhere
    "bundle_inputs",
    metadata,
    Column("uuid", Text, ForeignKey("bundles.uuid", ondelete="CASCADE"), primary_key=True),
    Column("position", Integer, primary_key=True),
    Column("name", Text, nullable=False),
    Column("input", Text, nullable=False),
    Index(None, "input"),
)

bundle_tags = Table(
    "bundle_tags",
    metadata,
    Column("uuid", Text, ForeignKey("bundles.uuid", ondelete="CASCADE"), primary_key=True),
    Column("tag", Text, primary_key=True),
    Column("value", Text, nullable=False),
    Column("created", Float, nullable=False),  # the bundle's, so that the newest with a tag are found without sorting
    Index(None, "tag", "value", "created", "uuid"),
)

tombstones = Table(
    "tombstones",
    metadata,
    Column("uuid", Text, primary_key=True),
    Column("at", Float, nullable=False),
    Column("by", Text, nullable=False),
    Column("finished", Boolean, nullable=False),  # whether its bytes are gone too; until then its manifest stays
    Index(None, "finished"),
)

contexts = Table(
    "contexts",
    metadata,
    Column("name", Text, primary_key=True),
    Column("remote", Text, nullable=False),  # an fsspec address, or empty
    Column("created", Float, nullable=False),
)

context_bundles = Table(
    "context_bundles",
    metadata,
    Column("context", Text, ForeignKey("contexts.name", ondelete="CASCADE"), primary_key=True),
    Column("uuid", Text, ForeignKey("bundles.uuid", ondelete="CASCADE"), primary_key=True),
    Column("created", Float, nullable=False),  # the bundle's, for the same reason
    Index(None, "uuid"),
    Index(None, "context", "created", "uuid"),
)

remote_copies = (
    Table(  # what was ever sent to a place, written before its first byte; no context has to know it any more
        "remote_copies",
        metadata,
        Column("remote", Text, primary_key=True),
        Column("uuid", Text, primary_key=True),
        Column("complete", Boolean, nullable=False),
        Index(None, "uuid"),
    )
)

remote_deletions = Table(  # copies at a remote that still have to go because their bundle was deleted here
    "remote_deletions",
    metadata,
    Column("remote", Text, primary_key=True),
    Column("uuid", Text, primary_key=True),
    Column("at", Float, nullable=False),
    Column("digests", JSON, nullable=False),  # of its files, in case that its manifest never arrived there
    Column("arriving", Boolean, nullable=False),  # a push may still be sending it
)

# --- projects -------------------------------------------------------------------------------------------------------

projects = Table(
    "projects",
    metadata,
    Column("id", Text, primary_key=True),
    Column("name", Text, nullable=False, unique=True),
    Column("created", Float, nullable=False),
    Column("owner", Text, nullable=False),
    Column("data", Text, nullable=False),  # uuid of its data-set bundle, or empty
    Column("kind", Text, nullable=False, server_default="classes"),  # classes, binary, bins
    Column("settings", Text, nullable=False, server_default="{}"),  # a JSON object of what differs from the defaults
)

classes = Table(
    "classes",
    metadata,
    Column("project", Text, ForeignKey("projects.id", ondelete="CASCADE"), primary_key=True),
    Column("name", Text, primary_key=True),
    Column("position", Integer, nullable=False),
    Column("colour", Text, nullable=False),
    Column("key", Text, nullable=False),
    Column("value", Float, nullable=True),  # the number that it stands for, where classes are bins of a percentage
    Column("other", Boolean, nullable=False, server_default=false()),  # the class of all that is none of the others
)

label_events = Table(  # only ever appended; the newest per image and person counts
    "label_events",
    metadata,
    Column("number", Integer, primary_key=True, autoincrement=True),
    Column("id", Text, nullable=False, unique=True),  # given by the sender, so that sending twice counts once
    Column("project", Text, ForeignKey("projects.id", ondelete="CASCADE"), nullable=False),
    Column("image", Text, nullable=False),
    Column("label", Text, nullable=False),  # a class's name, or empty: taken back
    Column("by", Text, nullable=False),
    Column("at", Float, nullable=False),
    Column("source", Text, nullable=False),  # person, import, oracle
    Column("mark", Text, nullable=False, server_default=text("''")),  # skipped, unsure; the label is empty then
    Index(None, "project", "number"),
    Index(None, "project", "image", "number"),
    Index(  # the few events that rename or remove a class: every reading of labels asks for them
        "ix_label_events_class_changes",
        "project",
        "number",
        sqlite_where=text("source = 'class'"),
        postgresql_where=text("source = 'class'"),
    ),
    Index(  # the few golden ones: every label that is kept asks for them
        "ix_label_events_golden",
        "project",
        "image",
        sqlite_where=text("source = 'golden'"),
        postgresql_where=text("source = 'golden'"),
    ),
)

# --- people ---------------------------------------------------------------------------------------------------------

users = Table(
    "users",
    metadata,
    Column("id", Text, primary_key=True),
    Column("name", Text, nullable=False, unique=True),
    Column("role", Text, nullable=False),
    Column("password", Text, nullable=False),  # an argon2 hash, or empty: tokens only
    Column("mail", Text, nullable=False),
    Column("created", Float, nullable=False),
    Column("disabled", Boolean, nullable=False),
)

members = Table(
    "members",
    metadata,
    Column("project", Text, ForeignKey("projects.id", ondelete="CASCADE"), primary_key=True),
    Column("user", Text, ForeignKey("users.id", ondelete="CASCADE"), primary_key=True),
    Column("role", Text, nullable=False),
)

tokens = Table(  # API tokens and browser sessions; only digests are kept
    "tokens",
    metadata,
    Column("digest", Text, primary_key=True),
    Column("user", Text, ForeignKey("users.id", ondelete="CASCADE"), nullable=False),
    Column("purpose", Text, nullable=False),  # api, session
    Column("name", Text, nullable=False),
    Column("created", Float, nullable=False),
    Column("expires", Float, nullable=False),  # 0: never
    Column("used", Float, nullable=False),
    Index(None, "user"),
)

audit = Table(
    "audit",
    metadata,
    Column("number", Integer, primary_key=True, autoincrement=True),
    Column("at", Float, nullable=False),
    Column("who", Text, nullable=False),
    Column("action", Text, nullable=False),
    Column("subject", Text, nullable=False),
    Column("outcome", Text, nullable=False),
    Column("data", JSON, nullable=False),
    Index(None, "at"),
)

# --- jobs -----------------------------------------------------------------------------------------------------------

jobs = Table(
    "jobs",
    metadata,
    Column("id", Text, primary_key=True),
    Column("name", Text, nullable=False),
    Column("flow", Text, nullable=False),  # what was started together shares one id
    Column("step", Text, nullable=False),
    Column("spec", JSON, nullable=False),
    Column("cls", Text, nullable=False),
    Column("owner", Text, nullable=False),
    Column("project", Text, nullable=False),
    Column("state", Text, nullable=False),
    Column("position", Float, nullable=False),  # smaller is nearer to the head of the queue
    Column("fence", Integer, nullable=False),  # number of the attempt that counts
    Column("preemptions", Integer, nullable=False),
    Column("failures", Integer, nullable=False),
    Column("not_before", Float, nullable=False),
    Column("reason", Text, nullable=False),  # why it waits, or how it ended, in words
    Column("wish", Text, nullable=False),  # '', 'cancel' or 'preempt': what a stopping attempt ends as
    Column("step_now", Integer, nullable=False),
    Column("step_total", Integer, nullable=False),
    Column("doing", Text, nullable=False),
    Column("key", Text, nullable=False),
    Column("outputs", JSON, nullable=False),  # name: bundle uuid
    Column("submitted", Float, nullable=False),
    Column("started", Float, nullable=False),  # 0: not yet
    Column("ended", Float, nullable=False),  # 0: not yet
    Column("checkpoint", Text, nullable=False),  # name of the last admitted checkpoint, or empty
    # the job that it needed, and ended only because of, or empty:
    Column("fell_with", Text, nullable=False, server_default=text("''")),
    Column("rerun_as", Text, nullable=False, server_default=text("''")),  # the job that repeats this one, or empty
    Index(None, "state", "position"),
    Index(None, "submitted", "id"),
    Index(None, "flow"),
    Index(None, "project", "submitted"),
    Index(None, "fell_with"),
    Index(None, "rerun_as"),
)

attempts = Table(
    "attempts",
    metadata,
    Column("job", Text, ForeignKey("jobs.id", ondelete="CASCADE"), primary_key=True),
    Column("fence", Integer, primary_key=True),
    Column("node", Text, nullable=False),
    Column("gpu_ids", JSON, nullable=False),
    Column("handle", JSON, nullable=False),  # the executor's; {} until the start returned
    Column("started", Float, nullable=False),
    Column("ended", Float, nullable=False),
    Column("outcome", Text, nullable=False),  # '', done, failed, preempted, cancelled, lost
    Column("reason", Text, nullable=False),
    Column("stop_by", Float, nullable=False),  # when it will be killed, once it was asked to stop
    Column("metrics_offset", BigInteger, nullable=False),  # bytes of metrics.jsonl that were taken in
)

metrics = Table(
    "metrics",
    metadata,
    Column("job", Text, ForeignKey("jobs.id", ondelete="CASCADE"), primary_key=True),
    Column("name", Text, primary_key=True),
    Column("step", Integer, primary_key=True),
    Column("value", Float, nullable=False),
    Column("at", Float, nullable=False),
    Column("fence", Integer, nullable=False),
)

settings = Table(  # secrets and switches that the service makes itself, such as the cookie key
    "settings",
    metadata,
    Column("name", Text, primary_key=True),
    Column("value", LargeBinary, nullable=False),
)
