"""Jobs: which one a job fell with, and which one repeats it."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    for name in ("fell_with", "rerun_as"):
        op.add_column("jobs", sa.Column(name, sa.Text(), nullable=False, server_default=""))
        op.create_index(f"ix_jobs_{name}", "jobs", [name], unique=False)


def downgrade() -> None:
    for name in ("rerun_as", "fell_with"):
        op.drop_index(f"ix_jobs_{name}", table_name="jobs")
        op.drop_column("jobs", name)
