"""Labelling: kinds and settings of projects, values of classes, marks beside labels."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    op.add_column("projects", sa.Column("kind", sa.Text(), nullable=False, server_default="classes"))
    op.add_column("projects", sa.Column("settings", sa.Text(), nullable=False, server_default="{}"))
    op.add_column("classes", sa.Column("value", sa.Float(), nullable=True))
    op.add_column("classes", sa.Column("other", sa.Boolean(), nullable=False, server_default=sa.false()))
    op.add_column("label_events", sa.Column("mark", sa.Text(), nullable=False, server_default=""))
    op.create_index(
        "ix_label_events_class_changes",
        "label_events",
        ["project", "number"],
        unique=False,
        sqlite_where=sa.text("source = 'class'"),
        postgresql_where=sa.text("source = 'class'"),
    )


def downgrade() -> None:
    op.drop_index("ix_label_events_class_changes", table_name="label_events")
    op.drop_column("label_events", "mark")
    op.drop_column("classes", "other")
    op.drop_column("classes", "value")
    op.drop_column("projects", "settings")
    op.drop_column("projects", "kind")
