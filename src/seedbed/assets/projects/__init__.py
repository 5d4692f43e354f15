"""Projects: their classes, and what people said of their images (label events, only ever appended)."""
