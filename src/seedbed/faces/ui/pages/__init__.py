"""The pages, a module per noun; importing one declares its pages."""
