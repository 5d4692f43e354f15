"""Images in: ingest, validation, statistics, the decoded cache, splits, and a synthetic example.

Knows files and records only, not the store: what `ingest` writes is a folder that `folder.DataSetFolder` opens.
"""
