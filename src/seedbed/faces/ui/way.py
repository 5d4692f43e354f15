"""What a project's expert is told on the way from images to a model: facts in, sentences out."""

from collections.abc import Sequence

from seedbed.faces.ui.results import scalar
from seedbed.faces.ui.words import plural, sentence
from seedbed.flows.usecases.by_itself import next_at
from seedbed.flows.usecases.trainings import Stage, share_in_words
from seedbed.flows.usecases.ways import Way

_STANDS: dict[Stage, str] = {
    "waiting": "waits to learn",
    "running": "is learning",
    "stopped": "learning is stopped for now",
    "failed": "its training failed",
}


def answer(way: Way) -> str:
    """The sentence at the top: what to do next."""
    if way.coming and not way.coming.state.ended:
        return "The images are being checked. You can begin to label as soon as they are in."
    if way.data is None and way.coming:
        return "The images could not be brought in; why stands below. Drop a folder of others there."
    if way.data is None:
        return "It begins with the images: drop a folder of them below."
    if way.training.open:
        return way.training.sentence
    if way.training.stage == "failed":
        return f"{way.training.sentence}{' The model before it stays.' if way.result else ''}"
    if way.right is not None:
        more = f" {plural(way.labels, 'label')} so far; one more round helps most where it is unsure."
        return right_in_words(way.right) + more
    if not way.labels:
        return "The images are in. Now say of a few of them what they show."
    return labels_in_words(way)


def right_in_words(share: float) -> str:
    """How good it is, in one sentence."""
    return f"Of images that it had not seen, it names {share_in_words(share)} correctly."


def stands_in_words(stage: Stage, right: float | None) -> str:
    """Where a project's training stands, in a few words for a list of projects; '': nothing was trained."""
    if known := _STANDS.get(stage):
        return known
    return f"right on {share_in_words(right)} of unseen images" if right is not None else ""


def by_itself_in_words(way: Way) -> str:
    """When a training begins that nobody starts; '' where that is switched off, or one goes on."""
    if not way.project.settings.train_by_itself or way.training.open:
        return ""
    if missing := sum(way.missing.values()):
        wanted = "" if way.all_labelled else f": {plural(missing, 'more label is', 'more labels are')} wanted"
        said = f"It begins by itself once every class has its {way.project.settings.goal}{wanted}."
        few = " There are too few images for that; ask for fewer in the settings, or begin it yourself."
        return said + (few if way.too_few_images or way.all_labelled else "")
    return f"It begins again by itself at {next_at(way.training.labels):,} labels." if way.training.labels else ""


def label_step_in_words(way: Way) -> str:
    """The sentence of the step with the labels; the page's first sentence is not said twice."""
    if not way.labels:
        return "None yet. A few of each class are enough to begin with."
    whole = labels_in_words(way)
    return f"{_labelled(way)}." if whole == answer(way) else whole


def _labelled(way: Way) -> str:
    if way.all_labelled and way.images > 1:
        return f"All {way.images:,} images have labels"
    have = "has a label" if way.labels == 1 else "have labels"
    return f"{way.labels:,} of {plural(way.images, 'image')} {have}"


def labels_in_words(way: Way) -> str:
    """How many labels there are, and what is missing."""
    said = _labelled(way)
    if len([one for one in way.classes if not one.other]) < 2:
        return f"{said}. Name at least two classes, so that there is something to tell apart."
    if not (missing := way.missing):
        return f"{said}; every class has its {way.project.settings.goal}. It can learn now."
    if way.all_labelled:
        have = "This class has" if len(way.gaps) == 1 else "These classes have"
        few = f"{have} too few images to learn from: {_some(way.gaps)}"
        return f"{said}. {few if way.gaps else 'It can learn now'}."
    few = _some(list(missing))
    could = "" if way.gaps else " You can train already; it gets better with more."
    if way.too_few_images:
        goal = f"{way.project.settings.goal} of each class are more than there are images"
        return f"{said}. {goal}: name all you can.{could}"
    return f"{said}. {plural(sum(missing.values()), 'more is wanted', 'more are wanted')}: {few}.{could}"


def _some(names: Sequence[str]) -> str:
    return f"{', '.join(names[:3])}{f' and {len(names) - 3} more' if len(names) > 3 else ''}"


def images_in_words(way: Way) -> str:
    """What is known of the images."""
    job = way.coming
    if job and not job.state.ended:
        how = f"{job.step_now:,} of {job.step_total:,} so far" if job.step_total > 0 else "they are next"
        return f"They are being read and checked: {how}."
    if job:
        return f"They could not be brought in. {sentence(job.reason)}"
    if way.data is None:
        return "No images yet."
    findings = int(scalar(way.data, "findings") or 0)
    look = f"{plural(findings, 'thing')} to look at" if findings else "nothing is wrong with them"
    return f"{plural(way.images, 'image')} {'is' if way.images == 1 else 'are'} in; {look}."


def grouping_in_words(way: Way) -> str:
    """How far the grouping is; '' where there is nothing to say."""
    match way.alike.stage:
        case "running" | "waiting":
            return (
                "Alike images are being put together in the background. You can label meanwhile; it gets easier after."
            )
        case "ready":
            return "Alike images are put together: whole groups can be labelled at once."
        case "failed":
            return "Alike images could not be put together; labelling works without."
        case "off":
            return "Alike images are not put together: that is switched off."
        case _:
            return ""
