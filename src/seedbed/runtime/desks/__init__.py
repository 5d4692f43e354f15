"""Desks: resident workers that answer quick questions without paying the start of a job."""
