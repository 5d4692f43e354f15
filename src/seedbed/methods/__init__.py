"""The mathematics: runs on a bare GPU node or in a notebook, with no server."""
