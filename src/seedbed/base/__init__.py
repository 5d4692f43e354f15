"""What everything stands on: errors, ids, settings, registry, resources, clock, run context."""
