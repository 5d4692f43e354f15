"""Few labels, well chosen: embed, group, choose what to label, suggest, and check what was said."""
