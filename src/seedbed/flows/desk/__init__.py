"""A project's desk: what sits in the resident process and answers while a person labels.

It knows nothing of the platform: every question brings the labels as they are, and the paths of files that never
change. So it can be killed at any moment. What it has computed it keeps for the next question on the same labels.
What a question needs is loaded with the first of its kind: torch only when a new image must be looked at.
"""
