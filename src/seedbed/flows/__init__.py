"""Steps, recipes and use cases: the only place that knows both methods and runtime."""
