"""Changes of the schema, in order, run by seedbed.assets.db.schema."""
