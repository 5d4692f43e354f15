"""Human names of what jobs make."""


def name_of_output(job: str, step: str, output: str) -> str:
    """The bundle's name: a job 'leaves.train' makes 'leaves.model'; its data set is plain 'leaves'."""
    base = (job or step).removesuffix(f".{step}")
    return base if output == "data" else f"{base}.{output}"
