"""Golden labels: the few events of them are found without reading all, for every label that is kept asks for them."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    op.create_index(
        "ix_label_events_golden",
        "label_events",
        ["project", "image"],
        unique=False,
        sqlite_where=sa.text("source = 'golden'"),
        postgresql_where=sa.text("source = 'golden'"),
    )


def downgrade() -> None:
    op.drop_index("ix_label_events_golden", table_name="label_events")
