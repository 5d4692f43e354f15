"""One runnable file per claim: `python -m benchmarks.<name> [--quick] [--json FILE]`."""
