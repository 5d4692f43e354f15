"""Which weights to start from for one data set: the answer, then every candidate with example images side by side."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from nicegui import ui
from nicegui.element import Element

from seedbed.assets.access.roles import Role
from seedbed.assets.store.events import Event
from seedbed.assets.zoo.card import NO_BASELINE
from seedbed.base.errors import NotFound
from seedbed.faces.ui import starts as tell
from seedbed.faces.ui import theme
from seedbed.faces.ui import words as say
from seedbed.faces.ui.elements import Progress, box, card, empty, link, path, words
from seedbed.faces.ui.layout import frame
from seedbed.faces.ui.parts.beside import beside, examples
from seedbed.faces.ui.parts.limits import distance_bar, saving_bar
from seedbed.faces.ui.parts.nearest import data_of
from seedbed.faces.ui.site import Visit, page
from seedbed.flows.starting import RANK
from seedbed.runtime.jobs.records import Job
from seedbed.runtime.jobs.states import State

_WITH_IMAGES = 12  # candidates; the others follow as words


@page("/zoo/rank/{ref}", role=Role.VIEWER)
async def ranking(visit: Visit, ref: str) -> None:
    """By the bundle of a ranking, a data set, or the job that makes one."""
    job = await _job(visit, ref)
    facts = None if job else await visit.ask(visit.platform.zoo.ranking, ref)
    title = f"Where to start with {facts['target']}" if facts else "Where to start"
    ui.add_head_html(theme.zoo_head())
    with frame(visit, title, crumbs=[("Starting points", "/zoo")]) as lead:
        shown = RankingPage(visit, job, lead.set_text)
        if facts:
            await shown.draw(facts)
        else:
            await shown.build()
    visit.site.live.watch(visit.client, visit.by, shown.follow, lambda: shown.moving)


async def _job(visit: Visit, ref: str) -> Job | None:
    try:
        job = await visit.ask(visit.platform.jobs.get, ref)
    except NotFound:
        return None
    return job if job.step == RANK else None


class RankingPage:
    """Follows the job until there is a ranking, then shows that."""

    def __init__(self, visit: Visit, job: Job | None, answer: Callable[[str], object]) -> None:
        self._visit = visit
        self._job = job
        self._answer = answer
        self._place = box(classes="stack wide")
        self._bar: Progress | None = None

    @property
    def moving(self) -> bool:
        """Whether the ranking is still to come."""
        return bool(self._job) and not self._place.default_slot.children

    async def build(self) -> None:
        """How far the job is."""
        self._bar = Progress(0.0, "Comparing")
        await self._look()

    async def follow(self, events: Sequence[Event]) -> None:
        """The ranking appears by itself."""
        if self.moving:
            await self._look()

    async def _look(self) -> None:
        assert self._job is not None and self._bar is not None
        job = self._job = await self._visit.shared(self._visit.platform.jobs.get, self._job.id)
        if job.state == State.DONE:
            self._bar.element.set_visibility(False)
            await self.draw(await self._visit.ask(self._visit.platform.zoo.ranking, job.outputs["ranking"]))
            return
        self._bar.move(say.share_of(job) if job.state != State.WAITING else 0.0)
        self._bar.element.set_visibility(not job.state.ended)
        if job.state.ended:
            self._answer(f"They could not be compared. {say.sentence(job.reason)}")
            with self._place, box(classes="row"):
                link("What happened", path("jobs", job.id), "button")
        else:
            flow = await self._visit.shared(self._visit.platform.jobs.list, flow=job.flow)
            before = next((one for one in flow if one.state.active), job)
            self._answer(f"The images are being compared. {say.sentence(say.progress_of(before, 0.0))}".rstrip())

    async def draw(self, facts: Mapping[str, Any]) -> None:
        """The answer, the candidates, what was left out."""
        self._answer(tell.ranking_in_words(facts))
        bundle = await self._visit.ask(self._visit.platform.bundles.show, facts["bundle"])
        target = await data_of(self._visit, bundle)
        mine = await examples(self._visit, target)
        ratios = [one["ratio"] for one in facts["ranked"] if one["ratio"] is not None]
        with self._place:
            _why(facts)
            for number, one in enumerate(facts["ranked"][:_WITH_IMAGES], start=1):
                data, in_memory = await self._known(one["name"])
                theirs = await examples(self._visit, data)
                with _candidate(
                    number, one["name"], chosen=one["name"] == facts["advice"]["start"], in_memory=in_memory
                ):
                    with box(classes="pair"):
                        beside(f"Yours: {facts['target']}", target, mine)
                        beside(f"Behind it: {one['trained_on'] or one['name']}", data, theirs)
                    _measures(one, max(ratios, default=1.0))
            _rest(facts["ranked"][_WITH_IMAGES:], facts["left_out"])
            if not facts["ranked"]:
                empty("sprout", "Nothing could be compared", "No weights here know the data set that they come from.")

    async def _known(self, name: str) -> tuple[str, bool]:
        """The data set behind a card ('': it is not known, or gone), and whether it is in memory now."""
        try:
            found = await self._visit.ask(self._visit.platform.zoo.show, name)
            signature = await self._visit.ask(self._visit.platform.bundles.show, found["signature"] or name)
            return await data_of(self._visit, signature), bool(found["in_memory"])
        except NotFound:
            return "", False


def _why(facts: Mapping[str, Any]) -> None:
    with card("Why"):
        words(say.sentence(facts["advice"]["reason"]), "p")
        images = f"{say.plural(facts['images'], 'labelled image')} of '{facts['target']}' were compared."
        words(f"{images} {tell.learnt_in_words(facts['learnt_from'])}", "p", "soft small")
        if facts["ranked"] and not facts["baseline_data"]:
            words(NO_BASELINE, "p", "note")
        if facts["ranked"]:
            words(
                "The mark on each bar is ImageNet: images left of it are nearer, and right of it time is saved.",
                "p",
                "soft small",
            )


def _candidate(number: int, name: str, *, chosen: bool, in_memory: bool) -> Element:
    made = box("section", "card candidate chosen" if chosen else "card candidate")
    with made, box(classes="head"):
        with box(classes="row"):
            words(f"{number}. {name}", "h2", "wrap")
            if chosen:
                words("start from this", "span", "kind")
        words("in memory" if in_memory else "on disk", "span", "kind" if in_memory else "tag")
    return made


def _measures(one: Mapping[str, Any], furthest: float) -> None:
    with box("dl", "measures"):
        words("Distance", "dt")
        with box("dd"):
            if one["ratio"] is not None:
                distance_bar(float(one["ratio"]), furthest)
            words(tell.nearness_in_words(one), "span")
        words("Training", "dt")
        with box("dd"):
            saving_bar(one["expectation"])
            words(tell.saving_in_words(one["expectation"]), "span")


def _rest(more: Sequence[Mapping[str, Any]], left_out: Mapping[str, str]) -> None:
    if more:
        with card("Further away"), box("ol", "stack tight"):
            for number, one in enumerate(more, start=_WITH_IMAGES + 1):
                words(f"{number}. {one['name']}: {tell.nearness_in_words(one)}", "li")
    if left_out:
        with card("Left out"), box("ul", "stack tight"):
            for name, why in left_out.items():
                words(f"{name}: {why}", "li", "wrap")
