"""Use cases, one module per noun: what the faces call, each with the person who asks as `by`."""
