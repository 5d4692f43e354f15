"""Where attempts run: start, poll, stop, logs; this machine first."""
