"""The ways to choose what to label, a file each."""
