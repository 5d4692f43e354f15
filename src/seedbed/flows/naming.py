"""Human names: of what jobs make, and of what they do, for people who know no step by its name."""

import re

_IN_WORDS = {  # step -> what its work is called; {} stands for what the work is about
    "compare-data": "Comparing data sets",
    "decode": "Reading the images of {}",
    "draw-leaves": "Drawing the images of {}",
    "embed": "Looking at the images of {}",
    "evaluate": "The test of {}",
    "export": "Packing the model of {}",
    "group": "Putting alike images of {} together",
    "import-weights": "Bringing in the starting point {}",
    "ingest": "Bringing in the images of {}",
    "label-all": "Naming all images of {}",
    "predict": "Naming the images of {}",
    "publish-files": "Keeping the files of {}",
    "rank-weights": "Choosing a starting point for {}",
    "sample-labels": "Choosing labels of {}",
    "signature": "Describing the look of {}",
    "sleep-and-count": "Counting for {}",
    "train": "The training of {}",
    "tune": "Getting used to the images of {}",
}
_ABOUT_NOTHING = re.compile(r"(?: of| for)? \{\}")


def name_of_output(job: str, step: str, output: str) -> str:
    """The bundle's name: a job 'leaves.train' makes 'leaves.model'; its data set is plain 'leaves'."""
    base = (job or step).removesuffix(f".{step}")
    return base if output == "data" else f"{base}.{output}"


def step_in_words(step: str, about: str = "") -> str:
    """What a step's work is called: 'Looking at the images', or '... of leaves'; a step of strangers by its name."""
    said = _IN_WORDS.get(step, step)
    return said.replace("{}", about) if about else _ABOUT_NOTHING.sub("", said)


def job_in_words(job: str, step: str) -> str:
    """What a job is called: 'leaves.train' is 'The training of leaves'; a name of somebody's own stays as it is."""
    if step not in _IN_WORDS or not f".{job}".endswith(f".{step}"):
        return job or step_in_words(step)
    about = job.removesuffix(step).removesuffix(".").removesuffix(".look")  # a look that several are compared by
    return step_in_words(step, about)
