"""What can be known to be wrong with jobs before they are queued: everything at once, in sentences."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from seedbed.assets.access.roles import Identity, Role
from seedbed.assets.projects.projects import Projects as KeptProjects
from seedbed.assets.store.store import Store
from seedbed.base.errors import Conflict, InvalidInput, NotFound, SeedbedError
from seedbed.base.registry import near_matches
from seedbed.base.resources import Resources, show_size
from seedbed.flows.outside import Roots, missing
from seedbed.flows.step import Step
from seedbed.flows.steps import STEPS
from seedbed.flows.usecases.pages import may_see
from seedbed.runtime.executors.protocol import Node
from seedbed.runtime.jobs.queue import Queue
from seedbed.runtime.jobs.spec import JobSpec, output_of_job

UNSET = Resources(cpus=0.0, memory=0, gpus=0)
"""Resources that a submitter leaves to the step."""


@dataclass(frozen=True)
class SpecChecker:
    """Checks and completes job specifications: steps, parameters, inputs and their kinds, resources, rights."""

    store: Store
    queue: Queue
    projects: KeptProjects
    roots: Roots
    nodes: Callable[[], list[Node]]
    fixed: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)  # parameters that the settings decide, by step
    coming: Mapping[str, str] = field(default_factory=dict)  # bundles that will be there: uuid -> kind

    def check(
        self, specs: Sequence[JobSpec], by: Identity, *, coming: Mapping[str, str] | None = None
    ) -> list[JobSpec]:
        """The specifications as they are queued: inputs by uuid, resources filled in, the owner set.

        Among themselves they may refer to each other by name, `job:<name>/<output>`, to those before. `coming` has the
        kinds, by uuid, of bundles that will be published only if the jobs can be submitted.
        """
        if coming:
            return replace(self, coming=coming).check(specs, by)
        problems: list[str] = []
        checked: list[JobSpec] = []
        earlier: dict[str, Step] = {}
        for number, spec in enumerate(specs, 1):
            where = f"{spec.name or f'job {number}'}: " if len(specs) > 1 else ""
            found, wrong = self._check_one(spec, by, earlier)
            problems += [f"{where}{problem}" for problem in wrong]
            checked.append(found)
            if spec.name and spec.step in STEPS:
                if spec.name in earlier:
                    problems.append(f"{where}another job of this flow has that name.")
                earlier[spec.name] = STEPS.get(spec.step)
        if problems:
            what = "The job" if len(specs) == 1 else "The flow"
            raise InvalidInput(f"{what} cannot be submitted.", problems=problems)
        return checked

    def _check_one(self, spec: JobSpec, by: Identity, earlier: Mapping[str, Step]) -> tuple[JobSpec, list[str]]:
        project = self.projects.get(spec.project).id if spec.project else ""
        by.require(Role.TRAINER, project)
        if spec.step not in STEPS:
            return spec, [f"there is no step named '{spec.step}'. {near_matches(spec.step, list(STEPS))}"]
        step = STEPS.get(spec.step)
        params = {**spec.params, **self.fixed.get(spec.step, {})}
        problems = step.params_problems(params)
        if not problems and step.paths:
            paths = step.paths(step.check_params(params))
            self.roots.check(paths, by)  # first: who may not read there is not told what is there
            problems += missing(paths)
        inputs, kinds, wrong = self._resolve(spec.inputs, by, earlier)
        unknown = {name: kind for name, kind in kinds.items() if kind is None}
        problems += wrong + [
            problem
            for problem in step.inputs_problems({name: kind or "" for name, kind in kinds.items()})
            if not any(f"input '{name}'" in problem for name in unknown)  # its own mistake is told already
        ]
        resources = self._resources(spec.resources, step)
        problems += self._too_large(resources)
        spec = replace(spec, params=params, inputs=inputs, resources=resources, project=project, owner=by.name)
        try:
            spec.check()
        except InvalidInput as error:
            problems += error.problems
        return spec, problems

    def _resolve(
        self, inputs: Mapping[str, str], by: Identity, earlier: Mapping[str, Step]
    ) -> tuple[dict[str, str], dict[str, str | None], list[str]]:
        found: dict[str, str] = {}
        kinds: dict[str, str | None] = {}
        problems = []
        for name, reference in inputs.items():
            try:
                found[name], kinds[name] = self._resolve_one(reference, by, earlier)
            except (NotFound, Conflict) as error:
                problems.append(f"input '{name}' is '{reference}': {_lower(error)}")
                found[name], kinds[name] = reference, None
        return found, kinds, problems

    def _resolve_one(self, reference: str, by: Identity, earlier: Mapping[str, Step]) -> tuple[str, str]:
        made = output_of_job(reference)
        if reference in self.coming:
            return reference, self.coming[reference]
        if made is None:
            bundle = self.store.get(reference)
            if not may_see(by, bundle.project):
                raise NotFound(f"There is no bundle '{reference}'.")
            return bundle.uuid, bundle.kind
        name, output = made
        if name in earlier:
            return reference, _kind_of(earlier[name], output)
        job = self.queue.get(name)
        if not may_see(by, job.project):
            raise NotFound(f"There is no job '{name}'.")
        return f"job:{job.id}/{output}", _kind_of(STEPS.get(job.step), output)

    def _resources(self, given: Resources, step: Step) -> Resources:
        """What is asked for; what nobody chose is the step's own wish, as far as a machine here can fulfil it."""
        chosen = given if given != Resources() else UNSET
        cpus = max((node.capacity.cpus for node in self.nodes()), default=step.resources.cpus)
        memory = max((node.capacity.memory for node in self.nodes()), default=step.resources.memory)
        return Resources(
            cpus=chosen.cpus or min(step.resources.cpus, cpus),
            memory=chosen.memory or min(step.resources.memory, memory),
            gpus=chosen.gpus or step.resources.gpus,
        )

    def _too_large(self, resources: Resources) -> list[str]:
        nodes = self.nodes()
        if not nodes or any(resources.fits_in(node.capacity) for node in nodes):
            return []
        has = "; ".join(f"{node.name}: {_words(node.capacity)}" for node in nodes)
        return [f"it asks for {_words(resources)}, which no machine here has ({has})."]


def _kind_of(step: Step, output: str) -> str:
    if output not in step.outputs:
        raise NotFound(f"Step '{step.name}' has no output '{output}'.", hint=f"It makes: {', '.join(step.outputs)}.")
    return step.outputs[output].kind


def _words(resources: Resources) -> str:
    return f"{resources.cpus:g} cpus, {show_size(resources.memory)} of memory, {resources.gpus} gpus"


def _lower(error: SeedbedError) -> str:
    text = " ".join(part for part in (error.message, error.hint) if part)
    return text[:1].lower() + text[1:]
