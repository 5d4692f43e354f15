"""`seedbed jobs`: submit, look, stop for now and go on, cancel, run again."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from seedbed.base.errors import InvalidInput
from seedbed.faces.cli.completion import JOBS, STEPS
from seedbed.faces.cli.heavy import HEAVY
from seedbed.faces.cli.options import Detach, Json, Limit, Params, Project, pairs, refuse_unpaired, sure, values
from seedbed.faces.cli.output import lasted, say, short, show_json, show_record, show_table, when
from seedbed.faces.cli.session import Session, session

if TYPE_CHECKING:
    from seedbed.faces.client import Client
    from seedbed.faces.client.results import Array, Job
    from seedbed.faces.client.zoo import Start

_BESIDE_A_FILE = ("detach", "as_json")  # options that say nothing of a job
app = typer.Typer(help="Jobs: submit, look, stop for now and go on, cancel, run again.", no_args_is_help=True)
JobId = Annotated[
    str, typer.Argument(help="The job's id, the beginning of it, or its name (the newest).", autocompletion=JOBS)
]


@app.command()
def submit(
    context: typer.Context,
    what: Annotated[
        str, typer.Argument(help="A step's name (seedbed list steps), or a YAML file of jobs.", autocompletion=STEPS)
    ],
    param: Params = None,
    given: Annotated[list[str] | None, typer.Option("--input", "-i", help="NAME=BUNDLE or NAME=job:ID/OUTPUT.")] = None,
    cls: Annotated[str, typer.Option("--class", help="te (trial and error) or be (best effort).")] = "be",
    cpus: Annotated[float | None, typer.Option(help="Cpus; else what the step asks for.")] = None,
    memory: Annotated[str, typer.Option(help="Memory, like 2G; else what the step asks for.")] = "",
    gpus: Annotated[int | None, typer.Option(help="Gpus.")] = None,
    grace: Annotated[float, typer.Option(help="Seconds between the wish to stop and the kill.")] = 30.0,
    retries: Annotated[int, typer.Option(help="Tries after a failed one.")] = 2,
    timeout: Annotated[float, typer.Option(help="Seconds of running; 0: no limit.")] = 0.0,
    name: Annotated[str, typer.Option(help="A name for people.")] = "",
    project: Project = "",
    seed: Annotated[int, typer.Option(help="Every random draw derives from it.")] = 0,
    again: Annotated[bool, typer.Option("--again", help="Run even if the store knows the answer.")] = False,
    detach: Detach = False,
    as_json: Json = False,
) -> None:
    """Queue a step with parameters and inputs, or the jobs of a YAML file."""
    if Path(what).suffix in (".yaml", ".yml"):
        _refuse_beside_a_file(context)
        asked = HEAVY.get("load_tables")(Path(what))
    else:
        refuse_unpaired({"--param": param, "--input": given})
        fields: dict[str, Any] = {"step": what, "cls": cls.lower(), "grace": grace, "retries": retries, "name": name}
        fields |= {"project": project, "seed": seed, "again": again, "timeout": timeout}
        fields |= {"params": values(param, "--param"), "inputs": pairs(given, "--input")}
        fields["resources"] = _resources(cpus, memory, gpus)
        asked = [fields]
    _submit(asked, detach=detach, as_json=as_json)


@app.command("list")
def list_jobs(
    state: Annotated[str, typer.Option(help="waiting, starting, running, stopping, done, failed, cancelled.")] = "",
    project: Project = "",
    flow: Annotated[str, typer.Option(help="Those that were started together.")] = "",
    limit: Limit = 30,
    as_json: Json = False,
) -> None:
    """Jobs, the newest first; waiting ones say why."""

    with session() as here:
        found = here.client.jobs.list(state=state, project=project, flow=flow, limit=limit)
    if as_json:
        show_json(found)
        return
    rows = [
        (
            short(job["id"]),
            job["name"] or job["step"],
            job["state"],
            f"{job['step_now']}/{job['step_total']}" if job["step_total"] else "",
            when(job["submitted"]),
            lasted(job["started"], job["ended"]),
            job["doing"] if job["state"] == "running" else job["reason"],
        )
        for job in found
    ]
    columns = ("id", "job", "state", "steps", "submitted", "took", "")
    show_table(columns, rows, empty="No job yet. Start one: seedbed demo, or seedbed jobs submit STEP")


@app.command()
def show(job: JobId, as_json: Json = False) -> None:
    """One job with its attempts."""

    with session() as here:
        found = here.client.jobs.get(job)
        attempts = here.client.jobs.attempts(found["id"])
        start = {"start": here.client.zoo.start_of(found["id"])} if found["step"] == "train" else {}
    if as_json:
        show_json({**found, **start, "attempts": attempts})
        return
    times = {name: when(float(found[name])) for name in ("submitted", "started", "ended")}
    show_record({**found, **start, **times, "spec": {name: value for name, value in found["spec"].items() if value}})
    rows = [
        (one["fence"], one["node"], one["outcome"], lasted(one["started"], one["ended"]), one["reason"])
        for one in attempts
    ]
    show_table(("attempt", "node", "outcome", "took", ""), rows, empty="No attempt yet.")


@app.command()
def logs(
    job: JobId,
    follow: Annotated[bool, typer.Option("--follow", "-f", help="Go on until the job ends.")] = False,
    as_json: Json = False,
) -> None:
    """What the newest attempt of a job printed; as JSON it comes in one piece."""

    pieces: list[str] = []
    take = pieces.append if as_json else _echo
    with session() as here:
        found = here.client.jobs.get(job)
        offset = _read_log(here.client, found["id"], 0, take)
        if follow:
            for latest in here.client.follow(found["id"]):
                found = latest
                offset = _read_log(here.client, found["id"], offset, take)
            offset = _read_log(here.client, found["id"], offset, take)
    if as_json:
        show_json({"job": found["id"], "state": found["state"], "text": "".join(pieces), "offset": offset})


@app.command()
def cancel(
    job: JobId,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    as_json: Json = False,
) -> None:
    """Stop a job, or take it out of the queue."""

    with session() as here:
        found = here.client.jobs.get(job)
        sure(f"Cancel {found['name'] or found['step']} ({found['id']}, {found['state']})?", yes=yes)
        found = here.client.jobs.cancel(found["id"])
    show_json(found) if as_json else say(f"{found['id']} is {found['state']}.")


@app.command()
def pause(job: JobId, as_json: Json = False) -> None:
    """Stop a job for now: it puts its state away and waits."""

    with session() as here:
        found = here.client.jobs.pause(here.client.jobs.get(job)["id"])
    show_json(found) if as_json else say(f"{found['id']} is {found['state']}: {found['reason']}.")


@app.command()
def resume(job: JobId, detach: Detach = False, as_json: Json = False) -> None:
    """Let a job that was stopped for now go on from where it was."""

    with session() as here:
        finish(here, [here.client.jobs.resume(here.client.jobs.get(job)["id"])], detach=detach, as_json=as_json)


@app.command()
def rerun(
    job: JobId,
    again: Annotated[
        bool, typer.Option("--again", help="Run from the start, even if the store knows the answer.")
    ] = False,
    memory: Annotated[str | None, typer.Option(help="Memory, like 2G; else what it had.")] = None,
    timeout: Annotated[float | None, typer.Option(help="Seconds of running; 0: no limit; else what it had.")] = None,
    detach: Detach = False,
    as_json: Json = False,
) -> None:
    """A new job with exactly the same inputs; after a failure it goes on from the last checkpoint.

    Jobs that ended only because this one did come back with it, as they were.
    """

    with session() as here:
        found = here.client.jobs.get(job)["id"]
        made = here.client.jobs.rerun(found, again=again, memory=memory, timeout=timeout)
        jobs = [made, *made["back"]]
        if as_json:
            first, *back = _told(here, jobs if detach else here.run(jobs, quiet=True))
            show_json({**first, "back": back})  # one object, however many come back: a script reads its id
        else:
            finish(here, jobs, detach=detach, as_json=False)


def _submit(asked: list[dict[str, Any]], *, detach: bool, as_json: bool) -> None:

    with session() as here:
        finish(here, here.client.jobs.submit_flow(asked), detach=detach, as_json=as_json)


def finish(here: Session, jobs: "Sequence[Job]", *, detach: bool, as_json: bool) -> "Sequence[Job]":
    """Follow jobs to their end unless told not to, and say what they made; the jobs as they are then."""

    ended = jobs if detach else here.run(jobs, quiet=as_json)
    if as_json:
        told = _told(here, ended)
        show_json(told[0] if len(told) == 1 else told)
        return ended
    for job in ended:
        made = [f"{name} {uuid}" for name, uuid in job["outputs"].items()]
        details = ", ".join([job["state"], *_measured(here, job), *made])
        say(f"{job['name'] or job['step']} ({job['id']}): {details}")
        for note in _notes(here, job):
            say(note)
    _say_starts(ended, _starts(here, ended), "starts" if detach else "started")
    return ended


def _starts(here: Session, jobs: "Sequence[Job]") -> "dict[str, Start]":
    return {job["id"]: here.client.zoo.start_of(job["id"]) for job in jobs if job["step"] == "train"}


def _told(here: Session, jobs: "Sequence[Job]") -> "list[Mapping[str, Any]]":
    """Jobs as scripts read them; a training with what it starts from."""
    starts = _starts(here, jobs)
    return [{**job, "start": starts[job["id"]]} if job["id"] in starts else job for job in jobs]


def _say_starts(jobs: "Sequence[Job]", starts: "Mapping[str, Start]", begins: str) -> None:
    """What each training starts from, and why; of several each by its name.

    Where it has ended and nobody knows any more what it started from, only the reason for that is left.
    """
    for job in jobs:
        if start := starts.get(job["id"]):
            who = (job["name"] or job["step"]) if len(starts) > 1 else ""
            if start["card"] or not job["ended"]:
                say(f"{who or 'It'} {begins} from {start['card'] or 'weights to be chosen'}: {start['reason']}")
            else:
                say(f"{who}: {start['reason']}" if who else start["reason"])


def _measured(here: Session, job: "Job") -> list[str]:
    """What a training was given and what a test found, for people who wait for just that.

    Both stand in what was made: a job that is answered from the store has measured nothing itself.
    """
    output = {"train": "model", "evaluate": "report", "sample-labels": "labels"}.get(job["step"], "")
    arrays = _arrays(here, job, output)
    found = {name: array["items"][0] for name, array in arrays.items() if len(array["items"] or ()) == 1}
    if output == "report":
        return [f"{found['accuracy']:.1%} of the test images are right"] if "accuracy" in found else []
    if output == "labels":
        return _fewer(int(job["spec"]["params"].get("per_class", 0)), arrays)
    given = [f"given {found['labels']:,} labels and {found['images']:,} images"] if "labels" in found else []
    if "rate_reason" in found:
        given.append(f"learning rate {found['learning_rate']:g} ({found['rate_reason']})")
    early = found.get("steps", 0) < found.get("planned", 0)
    return [*given, f"ended early after {found['steps']:,} of {found['planned']:,} steps"] if early else given


def _fewer(per_class: int, arrays: "Mapping[str, Array]") -> list[str]:
    """That some classes have not as many labels as were asked for."""
    if "count" not in arrays or "classes" not in arrays:
        return []
    count = int(arrays["count"]["items"][0])
    if count >= per_class * len(arrays["classes"]["items"]):
        return []
    return [f"{count:,} labels, as not every class has {per_class:,} beside those put aside for the test"]


def _notes(here: Session, job: "Job") -> list[str]:
    """What a test says beside its numbers, such as that every image gets the same answer."""
    arrays = _arrays(here, job, "report" if job["step"] == "evaluate" else "")
    return list(arrays["notes"]["items"]) if "notes" in arrays else []


def _arrays(here: Session, job: "Job", output: str) -> "Mapping[str, Array]":
    """The arrays of what a job made under that name; none where it did not."""
    made = job["outputs"].get(output, "") if job["state"] == "done" else ""
    return here.client.bundles.show(made)["arrays"] if made else {}


def _refuse_beside_a_file(context: typer.Context) -> None:
    """A file says everything of its jobs; a flag that changed nothing would be worse than none."""
    options = [option for option in context.command.params if option.opts[0].startswith("-")]
    beside = [
        option.opts[0] for option in options if option.name not in _BESIDE_A_FILE and _typed(context, option.name)
    ]
    if beside:
        raise InvalidInput(
            f"{', '.join(beside)} cannot be given beside a job file, which says everything of its jobs.",
            hint="Write it into the file.",
        )


def _typed(context: typer.Context, name: str | None) -> bool:
    source = context.get_parameter_source(name or "")
    return source is not None and source.name == "COMMANDLINE"


def _resources(cpus: float | None, memory: str, gpus: int | None) -> dict[str, Any] | None:
    if cpus is None and not memory and gpus is None:
        return None
    return {"cpus": cpus or 0, "memory": memory or 0, "gpus": gpus or 0}


def _echo(text: str) -> None:
    typer.echo(text, nl=False)


def _read_log(client: "Client", job: str, offset: int, take: Callable[[str], None]) -> int:
    while True:
        piece = client.jobs.logs(job, offset=offset)
        if not piece["text"]:
            return int(piece["offset"])
        take(piece["text"])
        offset = int(piece["offset"])
