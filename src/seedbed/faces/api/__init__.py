"""REST under /api/v1: routers per noun, each handler a few lines over a use case."""
