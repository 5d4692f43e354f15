"""What came out of a job: each bundle shown as what it is."""

from collections.abc import Awaitable, Callable

from seedbed.assets.store.bundle import Bundle
from seedbed.base.errors import NotFound, SeedbedError
from seedbed.base.resources import show_size
from seedbed.faces.ui import results
from seedbed.faces.ui import words as say
from seedbed.faces.ui.elements import box, figures, link, path, words
from seedbed.faces.ui.parts import thumbs
from seedbed.faces.ui.parts.bars import bars
from seedbed.faces.ui.parts.keeping import keeping
from seedbed.faces.ui.parts.nearest import data_of
from seedbed.faces.ui.parts.report import report
from seedbed.faces.ui.parts.weights import weights
from seedbed.faces.ui.site import Visit
from seedbed.faces.ui.starts import ranking_in_words

_SAMPLE = 18
TOLD = ("ranking", "similarity")  # can be made again, and are for people all the same


async def show_made(visit: Visit, bundle: Bundle, *, named: bool = True) -> bool:
    """One bundle in the way that suits its kind; whether that has told its facts, which need no table then."""
    shows: dict[str, Callable[[Visit, Bundle], Awaitable[bool | None]]] = {
        "report": report,
        "predictions": predictions,
        "data-set": data_set,
        "labels": labels,
        "model": model,
        "download": download,
        "ranking": ranking,
        "similarity": similarity,
        "weights": weights,
    }
    show = shows.get(bundle.kind)
    with box("section", "stack"):
        if named:
            with box(classes="row"):
                words(say.kind_of(bundle.kind), "span", "kind")
                link(bundle.name, path("bundles", bundle.uuid), "wrap")
        if show:
            try:
                return bool(await show(visit, bundle))
            except (SeedbedError, OSError, ValueError, KeyError) as error:
                words(f"This result cannot be shown here: {error}", "p", "note warn")
    return False


async def predictions(visit: Visit, bundle: Bundle) -> None:
    """A sample of the labelled images, and how many of each class there are."""
    called = await visit.ask(lambda *, by: results.predictions_of(visit.platform, bundle, by))
    counts: dict[str, int] = {name: 0 for name in results.texts(bundle, "classes")}
    for one in called:
        counts[one.label] = counts.get(one.label, 0) + 1
    words(f"{say.plural(len(called), 'image')} labelled. Some of them, as the model sees them:", "p")
    data = await data_of(visit, bundle)
    if data:
        thumbs.grid(
            [
                thumbs.Thumb(thumbs.address(data, number), one.label, one.in_words())
                for number, one in results.sample(called, _SAMPLE)
            ]
        )
    bars(counts, "Images per class")


async def data_set(visit: Visit, bundle: Bundle) -> None:
    """A few images, and the way to all of them."""
    images = results.images_of(bundle)
    classes, findings = results.texts(bundle, "classes"), int(results.scalar(bundle, "findings") or 0)
    known = f" in {say.plural(len(classes), 'class', 'classes')}" if classes else ", without classes"
    words(f"{say.plural(images, 'image')}{known}; {say.plural(findings, 'finding')} to look at.", "p")
    shown = range(min(images, 8))
    thumbs.grid([thumbs.Thumb(thumbs.address(bundle.uuid, index), f"image {index + 1}") for index in shown])
    with box(classes="row"):
        link("All images and findings", path("data", bundle.uuid), "button")


async def labels(visit: Visit, bundle: Bundle) -> None:
    """How many, of what."""
    count, classes = int(results.scalar(bundle, "count") or 0), results.texts(bundle, "classes")
    words(f"{say.plural(count, 'label')} in {say.plural(len(classes), 'class', 'classes')}: {', '.join(classes)}.", "p")


async def model(visit: Visit, bundle: Bundle) -> None:
    """What it tells apart, and that later trainings can start from it."""
    classes = results.texts(bundle, "classes")
    shown = {"classes": f"{len(classes)}", "on disk": show_size(sum(link.size for link in bundle.files))}
    if size := results.scalar(bundle, "size"):
        shown["pixels a side"] = f"{size}"
    figures(shown)
    words(f"It tells apart: {', '.join(classes)}.", "p", "soft")
    await keeping(visit, bundle)


async def download(visit: Visit, bundle: Bundle) -> None:
    """Files to take away."""
    with box(classes="row"):
        for name, array in bundle.arrays.items():
            for index, file in enumerate(array.files):
                href = path("api", "v1", "bundles", bundle.uuid, "files", name, str(index))
                link(f"{file.name} ({show_size(file.size)})", href, "button", download="")


async def ranking(visit: Visit, bundle: Bundle) -> None:
    """The answer, and the way to all candidates."""
    facts = await visit.ask(visit.platform.zoo.ranking, bundle.uuid)
    words(ranking_in_words(facts), "p")
    with box(classes="row"):
        link("All candidates, with images side by side", path("zoo", "rank", bundle.uuid), "button")


async def similarity(visit: Visit, bundle: Bundle) -> None:
    """Who was compared, and the way to the map."""
    words(f"Every pair of {', '.join(results.texts(bundle, 'names'))}.", "p")
    with box(classes="row"):
        link("Which of them are alike", path("zoo", "similarity", of=bundle.uuid), "button")


async def found(visit: Visit, outputs: dict[str, str]) -> list[Bundle]:
    """The bundles of a job that are still there."""
    bundles = []
    for uuid in outputs.values():
        try:
            bundles.append(await visit.ask(visit.platform.bundles.show, uuid))
        except NotFound:
            continue
    return bundles
