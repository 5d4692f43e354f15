"""One module per noun; each holds a router that `create_app` puts together."""
