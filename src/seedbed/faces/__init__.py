"""REST, web pages, command line and Python client: no logic of their own."""
