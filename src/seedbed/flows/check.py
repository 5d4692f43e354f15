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
from seedbed.flows.asked import unread_in
from seedbed.flows.outside import Roots, missing
from seedbed.flows.step import Step
from seedbed.flows.steps import STEPS
from seedbed.flows.usecases.pages import may_see
from seedbed.flows.wiring import in_order
from seedbed.runtime.executors.protocol import Node
from seedbed.runtime.jobs.queue import Queue
from seedbed.runtime.jobs.records import Job
from seedbed.runtime.jobs.spec import JobSpec, output_of_job

Earlier = Mapping[str, Step | None]  # the jobs of one flow that come before, by name; None: no such step


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

        Among themselves they refer to each other by name, `job:<name>/<output>`; what others wait for comes first.
        `coming` has the kinds, by uuid, of bundles that will be published only if the jobs can be submitted.
        """
        if coming:
            return replace(self, coming=coming).check(specs, by)
        ordered, problems = _ordered(specs)
        checked: list[JobSpec] = []
        earlier: dict[str, Step | None] = dict.fromkeys(spec.name for spec in specs) if problems else {}
        for spec in ordered:
            number = next(number for number, one in enumerate(specs, 1) if one is spec)
            where = f"{spec.name or f'job {number}'}: " if len(specs) > 1 else ""
            found, wrong = self._check_one(spec, by, earlier)
            problems += [f"{where}{problem}" for problem in wrong]
            checked.append(found)
            if spec.name:
                if earlier.get(spec.name):
                    problems.append(f"{where}another job of this flow has that name.")
                earlier[spec.name] = _step_of(spec)
        if problems:
            what = "The job" if len(specs) == 1 else "The flow"
            raise InvalidInput(f"{what} cannot be submitted.", problems=problems)
        return checked

    def _check_one(self, spec: JobSpec, by: Identity, earlier: Earlier) -> tuple[JobSpec, list[str]]:
        step, unread = _step_of(spec), unread_in(spec)
        project, problems = self._project(spec.project, by)
        if step is None and "step" not in unread:
            problems.append(f"there is no step named '{spec.step}'. {near_matches(spec.step, list(STEPS))}")
        params = {**spec.params, **self.fixed.get(spec.step, {})}
        inputs, kinds, wrong = self._resolve(spec.inputs, by, earlier)
        after, gone = self._after(spec.after, by, earlier)
        if step is not None:
            problems += self._params_problems(step, params, by) if "params" not in unread else []
            unknown = dict.fromkeys(name for name in step.inputs if {"inputs", f"inputs.{name}"} & unread)
            wrong += step.inputs_problems({**unknown, **kinds})
        resources = self._resources(spec.resources, step)
        problems += [*wrong, *gone, *self._too_large(resources)]
        spec = replace(spec, params=params, inputs=inputs, after=after, project=project)
        spec = replace(spec, resources=resources, owner=by.name)
        try:
            spec.check()
        except InvalidInput as error:
            problems = [*error.problems, *problems]
        return spec, problems

    def _project(self, ref: str, by: Identity) -> tuple[str, list[str]]:
        """The project's id; whoever may not train there is refused at once, whatever else is wrong."""
        try:
            project, problems = self.projects.get(ref).id if ref else "", list[str]()
        except NotFound as error:
            return "", [f"the project is '{ref}': {_lower(error)}"]
        by.require(Role.TRAINER, project)
        return project, problems

    def _params_problems(self, step: Step, params: Mapping[str, Any], by: Identity) -> list[str]:
        problems = step.params_problems(params)
        if problems or not step.paths:
            return problems
        paths = step.paths(step.check_params(params))
        self.roots.check(paths, by)  # first: who may not read there is not told what is there
        return missing(paths)

    def _after(self, jobs: Sequence[str], by: Identity, earlier: Earlier) -> tuple[tuple[str, ...], list[str]]:
        """The ids of the jobs to wait for, but for those of this flow their names."""
        found, problems = [], []
        for ref in jobs:
            try:
                found.append(ref if ref in earlier else self._job(ref, by).id)
            except (NotFound, Conflict) as error:
                problems.append(f"it is to run after '{ref}': {_lower(error)}")
        return tuple(found), problems

    def _job(self, ref: str, by: Identity) -> Job:
        job = self.queue.get(ref)
        if not may_see(by, job.project):
            raise NotFound(f"There is no job '{ref}'.")
        return job

    def _resolve(
        self, inputs: Mapping[str, str], by: Identity, earlier: Earlier
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

    def _resolve_one(self, reference: str, by: Identity, earlier: Earlier) -> tuple[str, str | None]:
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
            step = earlier[name]
            return reference, _kind_of(step, output) if step else None
        job = self._job(name, by)
        return f"job:{job.id}/{output}", _kind_of(STEPS.get(job.step), output)

    def _resources(self, given: Resources, step: Step | None) -> Resources:
        """What is asked for; what nobody chose is the step's own wish, as far as a machine here can fulfil it."""
        if step is None:
            return given
        cpus = max((node.capacity.cpus for node in self.nodes()), default=step.resources.cpus)
        memory = max((node.capacity.memory for node in self.nodes()), default=step.resources.memory)
        return Resources(
            cpus=given.cpus or min(step.resources.cpus, cpus),
            memory=given.memory or min(step.resources.memory, memory),
            gpus=given.gpus or step.resources.gpus,
        )

    def _too_large(self, resources: Resources) -> list[str]:
        nodes = self.nodes()
        if not nodes or any(resources.fits_in(node.capacity) for node in nodes):
            return []
        has = "; ".join(f"{node.name}: {_words(node.capacity)}" for node in nodes)
        return [f"it asks for {_words(resources)}, which no machine here has ({has})."]


def _ordered(specs: Sequence[JobSpec]) -> tuple[list[JobSpec], list[str]]:
    """What others wait for first; jobs that wait for each other stay as they are, and that is told."""
    try:
        return in_order(specs), []
    except InvalidInput as error:
        return list(specs), [_lower(error)]


def _step_of(spec: JobSpec) -> Step | None:
    return STEPS.get(spec.step) if spec.step in STEPS else None


def _kind_of(step: Step, output: str) -> str:
    if output not in step.outputs:
        raise NotFound(f"Step '{step.name}' has no output '{output}'.", hint=f"It makes: {', '.join(step.outputs)}.")
    return step.outputs[output].kind


def _words(resources: Resources) -> str:
    return f"{resources.cpus:g} cpus, {show_size(resources.memory)} of memory, {resources.gpus} gpus"


def _lower(error: SeedbedError) -> str:
    text = " ".join(part for part in (error.message, error.hint) if part)
    return text[:1].lower() + text[1:]
