"""The processes: knows nothing of machine learning."""
