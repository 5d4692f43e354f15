"""Parts that several pages show: lists of jobs, curves, lineage, thumbnails."""
