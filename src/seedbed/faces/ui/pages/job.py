"""One job: how it goes, what it learns, what it printed, what came out, where it comes from."""

import time
from collections.abc import Callable, Sequence

from nicegui import ui
from nicegui.elements.mixins.text_element import TextElement

from seedbed.assets.access.roles import Identity, Role
from seedbed.assets.store.events import Event
from seedbed.base.errors import NotFound, SeedbedError
from seedbed.base.resources import parse_size, show_size, written_size
from seedbed.faces.ui import charts
from seedbed.faces.ui import words as say
from seedbed.faces.ui.elements import Progress, box, button, card, facts, link, path, table, words
from seedbed.faces.ui.layout import frame
from seedbed.faces.ui.parts import lineage
from seedbed.faces.ui.parts.curves import Curves, Metrics, of_one
from seedbed.faces.ui.parts.joblist import StateBadge
from seedbed.faces.ui.parts.made import TOLD, found, show_made
from seedbed.faces.ui.parts.started import StartedPart
from seedbed.faces.ui.site import Visit, page
from seedbed.faces.ui.telling import telling
from seedbed.flows.platform import Platform
from seedbed.runtime.jobs.records import Attempt, Job
from seedbed.runtime.jobs.spec import output_of_job
from seedbed.runtime.jobs.states import State

_LINES = 300  # of the log that are shown
_PIECES = 64


@page("/jobs/{job_id}", role=Role.VIEWER)
async def job(visit: Visit, job_id: str) -> None:
    """Live, without reloading."""
    first = await visit.ask(visit.platform.jobs.get, job_id)
    with frame(visit, say.title_of(first), crumbs=[("Queue", "/queue")]) as lead:
        shown = JobPage(visit, first, lead.set_text)
        await shown.build()
    visit.site.live.watch(visit.client, visit.by, shown.refresh, lambda: not State(shown.job.state).ended)


class JobPage:
    """What is on the page, and how it follows the job."""

    def __init__(self, visit: Visit, first: Job, answer: Callable[[str], object]) -> None:
        self._visit = visit
        self.job = first
        self._answer = answer
        self._log = Log(visit, first.id)
        self._drawn = ""  # the state that results and lineage were drawn for
        self._offers: bool | None = None  # whether the buttons are those of a job that has ended
        self._price: TextElement | None = None  # what cancelling costs
        self._repeating = False

    async def build(self) -> None:
        """Everything, once."""
        with box(classes="stack"):
            with box(classes="row"):
                self._badge = StateBadge(say.state_of(self.job))
                self._about = words("", "span", "soft small")
            self._bar = Progress(say.share_of(self.job), "Progress")
            self._actions = box(classes="actions")
        self._start = StartedPart(self._visit)
        self._results = card("What came out")
        with card("Learning curves") as self._curves_card:
            self._curves = Curves()
            with box(classes="row"):
                link("Lay other jobs over these curves", path("compare", jobs=self.job.id))
        self._lineage = card("Where it comes from")
        with card("Log", aside="the newest attempt"):
            self._log.build()
        self._attempts = card("Attempts")
        with card("What was asked for"):
            facts(_asked(self.job))
        await self._show()

    async def refresh(self, events: Sequence[Event]) -> None:
        """Bring the page up to date."""
        self.job = await self._visit.shared(self._visit.platform.jobs.get, self.job.id)
        await self._show()

    async def _named(self) -> Job:
        """The job, with the names of those that it waits for."""
        if self.job.state != State.WAITING:
            return self.job
        flow = await self._visit.shared(self._visit.platform.jobs.list, flow=self.job.flow)
        return say.with_names(self.job, say.names_of(flow))

    async def _show(self) -> None:
        job, now = await self._named(), time.time()
        self._answer(say.answer_of(job, now))
        self._badge.show(say.state_of(job))
        self._about.set_text(_about(job, self._visit.by, now))
        self._bar.element.set_visibility(not State(job.state).ended)
        self._bar.move(say.share_of(job) if job.state != State.WAITING else 0.0)
        metrics: Metrics = await self._visit.shared(self._visit.platform.jobs.metrics, job.id)
        self._curves.show(of_one(metrics))
        self._curves_card.set_visibility(any(len(points) > 1 for points in metrics.values()))
        await self._log.show(job.fence)
        self._show_actions()
        if self._drawn != job.state:
            self._drawn = job.state
            await self._start.show(job)
            await self._show_results()
            await self._show_lineage()
            await self._show_attempts()

    async def _show_results(self) -> None:
        bundles = await found(self._visit, dict(self.job.outputs))
        bundles = [bundle for bundle in bundles if not bundle.derived or bundle.kind in TOLD]
        self._results.set_visibility(bool(bundles))
        _keep_head(self._results)
        with self._results:
            for bundle in bundles:
                await show_made(self._visit, bundle)

    async def _show_lineage(self) -> None:
        boxes, arrows = await self._visit.ask(lambda *, by: _graph(self._visit.platform, self.job, by))
        self._lineage.set_visibility(len(boxes) > 1)
        _keep_head(self._lineage)
        if len(boxes) > 1:
            with self._lineage:
                lineage.draw(boxes, arrows, f"Lineage of {say.title_of(self.job)}")

    async def _show_attempts(self) -> None:
        attempts = await self._visit.ask(self._visit.platform.jobs.attempts, self.job.id)
        self._attempts.set_visibility(bool(attempts))
        _keep_head(self._attempts)
        with self._attempts:
            _attempts(attempts)

    def _show_actions(self) -> None:
        """Buttons are drawn anew only where others are due: a question that is open must not vanish."""
        if self._price:
            self._price.set_text(self._cancelling())
        if self._offers == State(self.job.state).ended:
            return
        self._offers, self._price = State(self.job.state).ended, None
        self._actions.clear()
        if not self._visit.by.may(Role.TRAINER, self.job.project):
            return
        with self._actions:
            if self._offers:
                button("Run again…", classes="main" if self.job.state != State.DONE else "", data_opens="again")
                self._ask_again()
            else:
                button("Cancel this job…", classes="danger", data_opens="cancel")
                self._ask_cancel()

    def _cancelling(self) -> str:
        price = (
            "It has not started; it leaves the queue."
            if self.job.state == State.WAITING
            else f"It is stopped within {say.duration(self.job.spec.grace)}, and what it has not finished is lost."
        )
        return (
            f"{price} Jobs that wait for its results end too. You can run it again later, from the start, "
            "and they come back with it."
        )

    def _ask_cancel(self) -> None:
        with box("dialog", id="cancel", aria_labelledby="cancel-title"):
            words(f"Cancel {say.title_of(self.job)}?", "h2", id="cancel-title")
            self._price = words(self._cancelling(), "p")
            with box(classes="actions"):
                words("Keep it", "button", "button", type="button", data_closes="", autofocus="")
                button("Cancel the job", self._cancel, "danger full", data_closes="")

    def _ask_again(self) -> None:
        with box("dialog", id="again", aria_labelledby="again-title"):
            words(f"Run {say.title_of(self.job)} again?", "h2", id="again-title")
            words(
                "A new job with exactly the same inputs and parameters. Where nothing has changed since, the store "
                "answers at once, and after a failure it goes on from where it was; 'Compute it again' begins anew. "
                "Jobs that ended only because this one did come back with it.",
                "p",
            )
            had = written_size(self.job.spec.resources.memory)
            memory = ui.input("Memory that it may take", value=had).props("outlined dense maxlength=50")
            refused = words("", "p", "wrong", role="alert")

            async def rerun(*, again: bool) -> None:
                text = str(memory.value or "").strip()
                refused.set_text(await self._rerun("" if text == had else text, again=again))

            with box(classes="actions"):
                words("Leave it", "button", "button", type="button", data_closes="", autofocus="")
                button("Compute it again", lambda: rerun(again=True))
                button("Run again", lambda: rerun(again=False), "main")

    async def _cancel(self) -> None:
        with telling():
            self.job = await self._visit.ask(self._visit.platform.jobs.cancel, self.job.id)
            await self._show()

    async def _rerun(self, memory: str, *, again: bool) -> str:
        """Open the page of the new job; else why there is none, for the dialog, which covers the page's messages."""
        if self._repeating:
            return ""  # a second click while the first is being answered
        self._repeating = True
        try:
            size = parse_size(memory) if memory else None
            rerun = self._visit.platform.jobs.rerun
            made, *_ = await self._visit.ask(rerun, self.job.id, again=again, memory=size)
        except SeedbedError as error:
            return str(error)
        finally:
            self._repeating = False
        ui.navigate.to(path("jobs", made.id))
        return ""


class Log:
    """The end of what the newest attempt printed."""

    def __init__(self, visit: Visit, job_id: str) -> None:
        self._visit = visit
        self._job = job_id
        self._fence = 0
        self._offset = 0
        self._text = ""

    def build(self) -> None:
        """An empty place."""
        self._place = words("Nothing was printed.", "pre", "log", tabindex="0", role="log", aria_label="Log")

    async def show(self, fence: int) -> None:
        """Add what came since; a new attempt begins anew."""
        if fence != self._fence:
            self._fence, self._offset, self._text = fence, 0, ""
        fresh = await self._visit.ask(lambda *, by: self._read(by))
        if fresh:
            self._text = "\n".join((self._text + fresh).split("\n")[-_LINES:])
            self._place.set_text(self._text)
            ui.run_javascript(f"seedbed.toEnd({self._place.html_id!r})")

    def _read(self, by: Identity) -> str:
        pieces: list[str] = []
        for _ in range(_PIECES):
            text, self._offset = self._visit.platform.jobs.logs(self._job, by=by, offset=self._offset)
            if not text:
                break
            pieces = [*pieces, text][-2:]
        return "".join(pieces)


def _keep_head(section: ui.element) -> None:
    for child in list(section)[1:]:
        child.delete()


def _about(job: Job, by: Identity, now: float) -> str:
    kind = "trial and error" if job.cls == "te" else "best effort"
    parts = [f"step {job.step}", kind, say.owner_of(job, by), f"submitted {say.ago(job.submitted, now)}"]
    return " · ".join(part for part in parts if part)


def _asked(job: Job) -> dict[str, str]:
    spec = job.spec
    room = f"{spec.resources.cpus:g} cpus, {show_size(spec.resources.memory)} of memory"
    if spec.resources.gpus:
        room += f", {say.plural(spec.resources.gpus, 'gpu')}"
    pairs = {name: say.value_of(value) for name, value in spec.params.items()}
    pairs |= {f"input {name}": value for name, value in spec.inputs.items()}
    return {
        **({"name": job.name} if job.name else {}),
        **pairs,
        "room": room,
        "seed": str(spec.seed),
        "when asked to stop": f"{say.duration(spec.grace)} to put things away",
        "tried again": f"up to {say.plural(spec.retries, 'time')}" if spec.retries else "never",
        "submitted": say.moment(job.submitted),
        "id": job.id,
    }


def _attempts(attempts: Sequence[Attempt]) -> None:
    with table(["Try", "Where", "Began", "Took", "How it ended"], "stacked"):
        for one in attempts:
            with box("tr"):
                words(f"{one.fence}", "td", "number", data_label="Try")
                words(one.node, "td", data_label="on")
                words(say.moment(one.started) if one.started else "", "td", data_label="began")
                words(
                    say.duration(one.ended - one.started) if one.ended and one.started else "", "td", data_label="took"
                )
                words(one.reason or one.outcome or "still running", "td")


def _graph(platform: Platform, job: Job, by: Identity) -> tuple[list[charts.Box], list[tuple[str, str]]]:
    """The job between what goes in, with its history, and what came out."""
    inputs = {name: _bundle_of(platform, reference, by) for name, reference in job.spec.inputs.items()}
    graphs = []
    for uuid in filter(None, inputs.values()):
        try:
            graphs.append(platform.bundles.lineage(uuid, direction="up", depth=6, by=by))
        except NotFound:
            continue
    nodes, edges = lineage.merged(graphs)
    boxes = lineage.boxes_of(nodes, focus=())
    boxes.append(charts.Box(job.id, say.title_of(job), "this job", "", focus=True, work=True))
    arrows = [(edge.input, edge.made) for edge in edges]
    arrows += [(uuid, job.id) for uuid in inputs.values() if uuid]
    for name, uuid in job.outputs.items():
        try:
            made = platform.bundles.show(uuid, by=by)
        except NotFound:
            continue
        boxes.append(charts.Box(uuid, made.name, say.kind_of(made.kind) or name, path("bundles", uuid)))
        arrows.append((job.id, uuid))
    return boxes, arrows


def _bundle_of(platform: Platform, reference: str, by: Identity) -> str:
    awaited = output_of_job(reference)
    if awaited is None:
        return reference
    try:
        return dict(platform.jobs.get(awaited[0], by=by).outputs).get(awaited[1], "")
    except NotFound:
        return ""
