"""What is kept: the database, the store of bundles, projects, users, images, pretrained weights."""
