"""The foundation: events, bundles, contexts, projects, people, jobs."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    op.create_table(
        "audit",
        sa.Column("number", sa.Integer(), autoincrement=True, nullable=False),
        sa.Column("at", sa.Float(), nullable=False),
        sa.Column("who", sa.Text(), nullable=False),
        sa.Column("action", sa.Text(), nullable=False),
        sa.Column("subject", sa.Text(), nullable=False),
        sa.Column("outcome", sa.Text(), nullable=False),
        sa.Column("data", sa.JSON(), nullable=False),
        sa.PrimaryKeyConstraint("number", name="pk_audit"),
    )
    op.create_index("ix_audit_at", "audit", ["at"], unique=False)
    op.create_table(
        "bundles",
        sa.Column("uuid", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("key", sa.Text(), nullable=True),
        sa.Column("digest", sa.Text(), nullable=False),
        sa.Column("created", sa.Float(), nullable=False),
        sa.Column("project", sa.Text(), nullable=False),
        sa.Column("derived", sa.Boolean(), nullable=False),
        sa.Column("latest", sa.Boolean(), nullable=False),
        sa.Column("step", sa.Text(), nullable=False),
        sa.Column("params", sa.JSON(), nullable=False),
        sa.Column("code", sa.Text(), nullable=False),
        sa.Column("job", sa.Text(), nullable=False),
        sa.Column("size", sa.BigInteger(), nullable=False),
        sa.Column("manifest", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("uuid", name="pk_bundles"),
        sa.UniqueConstraint("key", name="uq_bundles_key"),
    )
    op.create_index("ix_bundles_created_uuid", "bundles", ["created", "uuid"], unique=False)
    op.create_index("ix_bundles_digest", "bundles", ["digest"], unique=False)
    op.create_index("ix_bundles_kind_created_uuid", "bundles", ["kind", "created", "uuid"], unique=False)
    op.create_index(
        "ix_bundles_latest",
        "bundles",
        ["created", "uuid"],
        unique=False,
        sqlite_where=sa.text("latest = 1"),
        postgresql_where=sa.text("latest"),
    )
    op.create_index(
        "ix_bundles_latest_kind",
        "bundles",
        ["kind", "created", "uuid"],
        unique=False,
        sqlite_where=sa.text("latest = 1"),
        postgresql_where=sa.text("latest"),
    )
    op.create_index(
        "ix_bundles_latest_name",
        "bundles",
        ["name", "project"],
        unique=False,
        sqlite_where=sa.text("latest = 1"),
        postgresql_where=sa.text("latest"),
    )
    op.create_index(
        "ix_bundles_latest_project",
        "bundles",
        ["project", "created", "uuid"],
        unique=False,
        sqlite_where=sa.text("latest = 1"),
        postgresql_where=sa.text("latest"),
    )
    op.create_index(
        "ix_bundles_latest_project_kind",
        "bundles",
        ["project", "kind", "created", "uuid"],
        unique=False,
        sqlite_where=sa.text("latest = 1"),
        postgresql_where=sa.text("latest"),
    )
    op.create_index("ix_bundles_name_created_uuid", "bundles", ["name", "created", "uuid"], unique=False)
    op.create_index("ix_bundles_project_created_uuid", "bundles", ["project", "created", "uuid"], unique=False)
    op.create_index(
        "ix_bundles_project_kind_created_uuid", "bundles", ["project", "kind", "created", "uuid"], unique=False
    )
    op.create_table(
        "contexts",
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("remote", sa.Text(), nullable=False),
        sa.Column("created", sa.Float(), nullable=False),
        sa.PrimaryKeyConstraint("name", name="pk_contexts"),
    )
    op.create_table(
        "counters",
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("value", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("name", name="pk_counters"),
    )
    op.create_table(
        "cursors",
        sa.Column("consumer", sa.Text(), nullable=False),
        sa.Column("number", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("consumer", name="pk_cursors"),
    )
    op.create_table(
        "events",
        sa.Column("number", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("at", sa.Float(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("subject", sa.Text(), nullable=False),
        sa.Column("project", sa.Text(), nullable=False),
        sa.Column("data", sa.JSON(), nullable=False),
        sa.PrimaryKeyConstraint("number", name="pk_events"),
    )
    op.create_index("ix_events_subject_number", "events", ["subject", "number"], unique=False)
    op.create_table(
        "jobs",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("flow", sa.Text(), nullable=False),
        sa.Column("step", sa.Text(), nullable=False),
        sa.Column("spec", sa.JSON(), nullable=False),
        sa.Column("cls", sa.Text(), nullable=False),
        sa.Column("owner", sa.Text(), nullable=False),
        sa.Column("project", sa.Text(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("position", sa.Float(), nullable=False),
        sa.Column("fence", sa.Integer(), nullable=False),
        sa.Column("preemptions", sa.Integer(), nullable=False),
        sa.Column("failures", sa.Integer(), nullable=False),
        sa.Column("not_before", sa.Float(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("wish", sa.Text(), nullable=False),
        sa.Column("step_now", sa.Integer(), nullable=False),
        sa.Column("step_total", sa.Integer(), nullable=False),
        sa.Column("doing", sa.Text(), nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("outputs", sa.JSON(), nullable=False),
        sa.Column("submitted", sa.Float(), nullable=False),
        sa.Column("started", sa.Float(), nullable=False),
        sa.Column("ended", sa.Float(), nullable=False),
        sa.Column("checkpoint", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_jobs"),
    )
    op.create_index("ix_jobs_flow", "jobs", ["flow"], unique=False)
    op.create_index("ix_jobs_project_submitted", "jobs", ["project", "submitted"], unique=False)
    op.create_index("ix_jobs_state_position", "jobs", ["state", "position"], unique=False)
    op.create_index("ix_jobs_submitted_id", "jobs", ["submitted", "id"], unique=False)
    op.create_table(
        "leases",
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("holder", sa.Text(), nullable=False),
        sa.Column("expires", sa.Float(), nullable=False),
        sa.PrimaryKeyConstraint("name", name="pk_leases"),
    )
    op.create_table(
        "projects",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("created", sa.Float(), nullable=False),
        sa.Column("owner", sa.Text(), nullable=False),
        sa.Column("data", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_projects"),
        sa.UniqueConstraint("name", name="uq_projects_name"),
    )
    op.create_table(
        "remote_copies",
        sa.Column("remote", sa.Text(), nullable=False),
        sa.Column("uuid", sa.Text(), nullable=False),
        sa.Column("complete", sa.Boolean(), nullable=False),
        sa.PrimaryKeyConstraint("remote", "uuid", name="pk_remote_copies"),
    )
    op.create_index("ix_remote_copies_uuid", "remote_copies", ["uuid"], unique=False)
    op.create_table(
        "remote_deletions",
        sa.Column("remote", sa.Text(), nullable=False),
        sa.Column("uuid", sa.Text(), nullable=False),
        sa.Column("at", sa.Float(), nullable=False),
        sa.Column("digests", sa.JSON(), nullable=False),
        sa.Column("arriving", sa.Boolean(), nullable=False),
        sa.PrimaryKeyConstraint("remote", "uuid", name="pk_remote_deletions"),
    )
    op.create_table(
        "settings",
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("value", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("name", name="pk_settings"),
    )
    op.create_table(
        "tombstones",
        sa.Column("uuid", sa.Text(), nullable=False),
        sa.Column("at", sa.Float(), nullable=False),
        sa.Column("by", sa.Text(), nullable=False),
        sa.Column("finished", sa.Boolean(), nullable=False),
        sa.PrimaryKeyConstraint("uuid", name="pk_tombstones"),
    )
    op.create_index("ix_tombstones_finished", "tombstones", ["finished"], unique=False)
    op.create_table(
        "users",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("role", sa.Text(), nullable=False),
        sa.Column("password", sa.Text(), nullable=False),
        sa.Column("mail", sa.Text(), nullable=False),
        sa.Column("created", sa.Float(), nullable=False),
        sa.Column("disabled", sa.Boolean(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_users"),
        sa.UniqueConstraint("name", name="uq_users_name"),
    )
    op.create_table(
        "attempts",
        sa.Column("job", sa.Text(), nullable=False),
        sa.Column("fence", sa.Integer(), nullable=False),
        sa.Column("node", sa.Text(), nullable=False),
        sa.Column("gpu_ids", sa.JSON(), nullable=False),
        sa.Column("handle", sa.JSON(), nullable=False),
        sa.Column("started", sa.Float(), nullable=False),
        sa.Column("ended", sa.Float(), nullable=False),
        sa.Column("outcome", sa.Text(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("stop_by", sa.Float(), nullable=False),
        sa.Column("metrics_offset", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["job"], ["jobs.id"], name="fk_attempts_job", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("job", "fence", name="pk_attempts"),
    )
    op.create_table(
        "bundle_files",
        sa.Column("uuid", sa.Text(), nullable=False),
        sa.Column("digest", sa.Text(), nullable=False),
        sa.Column("size", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["uuid"], ["bundles.uuid"], name="fk_bundle_files_uuid", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("uuid", "digest", name="pk_bundle_files"),
    )
    op.create_index("ix_bundle_files_digest", "bundle_files", ["digest"], unique=False)
    op.create_table(
        "bundle_inputs",
        sa.Column("uuid", sa.Text(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("input", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["uuid"], ["bundles.uuid"], name="fk_bundle_inputs_uuid", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("uuid", "position", name="pk_bundle_inputs"),
    )
    op.create_index("ix_bundle_inputs_input", "bundle_inputs", ["input"], unique=False)
    op.create_table(
        "bundle_tags",
        sa.Column("uuid", sa.Text(), nullable=False),
        sa.Column("tag", sa.Text(), nullable=False),
        sa.Column("value", sa.Text(), nullable=False),
        sa.Column("created", sa.Float(), nullable=False),
        sa.ForeignKeyConstraint(["uuid"], ["bundles.uuid"], name="fk_bundle_tags_uuid", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("uuid", "tag", name="pk_bundle_tags"),
    )
    op.create_index(
        "ix_bundle_tags_tag_value_created_uuid", "bundle_tags", ["tag", "value", "created", "uuid"], unique=False
    )
    op.create_table(
        "classes",
        sa.Column("project", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("colour", sa.Text(), nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["project"], ["projects.id"], name="fk_classes_project", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("project", "name", name="pk_classes"),
    )
    op.create_table(
        "context_bundles",
        sa.Column("context", sa.Text(), nullable=False),
        sa.Column("uuid", sa.Text(), nullable=False),
        sa.Column("created", sa.Float(), nullable=False),
        sa.ForeignKeyConstraint(["context"], ["contexts.name"], name="fk_context_bundles_context", ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["uuid"], ["bundles.uuid"], name="fk_context_bundles_uuid", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("context", "uuid", name="pk_context_bundles"),
    )
    op.create_index(
        "ix_context_bundles_context_created_uuid", "context_bundles", ["context", "created", "uuid"], unique=False
    )
    op.create_index("ix_context_bundles_uuid", "context_bundles", ["uuid"], unique=False)
    op.create_table(
        "label_events",
        sa.Column("number", sa.Integer(), autoincrement=True, nullable=False),
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("project", sa.Text(), nullable=False),
        sa.Column("image", sa.Text(), nullable=False),
        sa.Column("label", sa.Text(), nullable=False),
        sa.Column("by", sa.Text(), nullable=False),
        sa.Column("at", sa.Float(), nullable=False),
        sa.Column("source", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["project"], ["projects.id"], name="fk_label_events_project", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("number", name="pk_label_events"),
        sa.UniqueConstraint("id", name="uq_label_events_id"),
    )
    op.create_index(
        "ix_label_events_project_image_number", "label_events", ["project", "image", "number"], unique=False
    )
    op.create_index("ix_label_events_project_number", "label_events", ["project", "number"], unique=False)
    op.create_table(
        "members",
        sa.Column("project", sa.Text(), nullable=False),
        sa.Column("user", sa.Text(), nullable=False),
        sa.Column("role", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["project"], ["projects.id"], name="fk_members_project", ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["user"], ["users.id"], name="fk_members_user", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("project", "user", name="pk_members"),
    )
    op.create_table(
        "metrics",
        sa.Column("job", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("step", sa.Integer(), nullable=False),
        sa.Column("value", sa.Float(), nullable=False),
        sa.Column("at", sa.Float(), nullable=False),
        sa.Column("fence", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["job"], ["jobs.id"], name="fk_metrics_job", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("job", "name", "step", name="pk_metrics"),
    )
    op.create_table(
        "tokens",
        sa.Column("digest", sa.Text(), nullable=False),
        sa.Column("user", sa.Text(), nullable=False),
        sa.Column("purpose", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("created", sa.Float(), nullable=False),
        sa.Column("expires", sa.Float(), nullable=False),
        sa.Column("used", sa.Float(), nullable=False),
        sa.ForeignKeyConstraint(["user"], ["users.id"], name="fk_tokens_user", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("digest", name="pk_tokens"),
    )
    op.create_index("ix_tokens_user", "tokens", ["user"], unique=False)

    op.bulk_insert(sa.table("counters", sa.column("name"), sa.column("value")), [{"name": "events", "value": 0}])
    local = {"name": "local", "remote": "", "created": 0.0}
    op.bulk_insert(sa.table("contexts", sa.column("name"), sa.column("remote"), sa.column("created")), [local])


def downgrade() -> None:
    op.drop_table("tokens")
    op.drop_table("metrics")
    op.drop_table("members")
    op.drop_table("label_events")
    op.drop_table("context_bundles")
    op.drop_table("classes")
    op.drop_table("bundle_tags")
    op.drop_table("bundle_inputs")
    op.drop_table("bundle_files")
    op.drop_table("attempts")
    op.drop_table("users")
    op.drop_table("tombstones")
    op.drop_table("settings")
    op.drop_table("remote_deletions")
    op.drop_table("remote_copies")
    op.drop_table("projects")
    op.drop_table("leases")
    op.drop_table("jobs")
    op.drop_table("events")
    op.drop_table("cursors")
    op.drop_table("counters")
    op.drop_table("contexts")
    op.drop_table("bundles")
    op.drop_table("audit")
