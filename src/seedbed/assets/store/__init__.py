"""What is kept: bundles, contexts, lineage, events; content-addressed files; push to and pull from remote stores."""
