"""Programs that benchmarks run beside each other: peers in environments of their own, and ours in the same way."""
