"""The order in which jobs that are submitted together can be queued: what others wait for comes first."""

from collections.abc import Sequence

from seedbed.base.errors import InvalidInput
from seedbed.runtime.jobs.spec import JobSpec, output_of_job


def in_order(specs: Sequence[JobSpec]) -> list[JobSpec]:
    """The jobs as they were given, but each after those of them that it names; jobs that wait for each other cannot."""
    names = {spec.name for spec in specs if spec.name}
    waiting, placed, done = list(specs), list[JobSpec](), set[str]()
    while waiting:
        free = next((spec for spec in waiting if not (_named(spec) & names) - done - {spec.name}), None)
        if free is None:
            raise InvalidInput(
                f"These jobs wait for each other, so none could begin: {', '.join(spec.name for spec in waiting)}.",
                hint="Take one of the references among them away.",
            )
        waiting.remove(free)
        placed.append(free)
        if all(spec.name != free.name for spec in waiting):
            done.add(free.name)
    return placed


def _named(spec: JobSpec) -> set[str]:
    made = (output_of_job(reference) for reference in spec.inputs.values())
    return {*spec.after, *(output[0] for output in made if output)}
