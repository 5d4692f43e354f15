"""Jobs: specification, states, queue, policies, scheduler, collector."""
