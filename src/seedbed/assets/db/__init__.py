"""The database: the engine and its hooks, the tables, the migrations. The only place that knows SQL dialects."""
