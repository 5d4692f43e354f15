"""`seedbed zoo`: pretrained weights, and which of them to start from."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from seedbed.assets.zoo.card import FURTHEST, NO_BASELINE
from seedbed.base.resources import show_size
from seedbed.faces.cli.commands.given import labels_of
from seedbed.faces.cli.commands.jobs import finish
from seedbed.faces.cli.completion import CARDS, DATA_SETS, MODELS
from seedbed.faces.cli.options import Detach, Json, Project, Yes, sure
from seedbed.faces.cli.output import note, say, show_json, show_record, show_table, when
from seedbed.faces.cli.session import Session, session
from seedbed.methods.learn.settings import TrainSettings

if TYPE_CHECKING:
    from seedbed.faces.client.zoo import Ranked, Ranking

app = typer.Typer(help="The zoo: pretrained weights, and which of them to start from.", no_args_is_help=True)
Name = Annotated[str, typer.Argument(help="A card (seedbed zoo list).", autocompletion=CARDS)]
_ENDINGS = (".safetensors", ".pt", ".pth", ".bin")
_NAMED = 5  # cards that were left out
_NOTHING = (
    "There is nothing to choose from: no weights for '{}' were made or brought here. Bring some in: seedbed zoo "
    "import. What networks are called: seedbed list backbones"
)


@app.command("list")
def list_cards(as_json: Json = False) -> None:
    """Every card: those that come with Seedbed, then those that were made or brought here."""

    with session() as here:
        cards = here.client.zoo.cards()
    if as_json:
        show_json(cards)
        return
    rows = [
        (
            card["name"],
            card["architecture"],
            card["trained_on"],
            "" if card["accuracy"] is None else f"{card['accuracy']:.1%}",
            show_size(card["size"]),
            card["licence"],
            "in memory" if card["in_memory"] else "" if card["on_disk"] else "not installed",
        )
        for card in cards
    ]
    show_table(("card", "network", "trained on", "right", "size", "licence", ""), rows, empty="No card.")


@app.command()
def show(name: Name, as_json: Json = False) -> None:
    """One card with all that is known of it."""

    with session() as here:
        card: dict[str, Any] = dict(here.client.zoo.show(name))
    show_json(card) if as_json else show_record({**card, "created": when(card["created"])})


@app.command("import")
def import_weights(
    source: Annotated[
        str,
        typer.Argument(
            help="A model or a finished training, a .safetensors file or PyTorch state dict, or hub:NAME of timm.",
            autocompletion=MODELS,
        ),
    ],
    name: Annotated[str, typer.Option(help="What the card is called; else after its source.")] = "",
    architecture: Annotated[str, typer.Option(help="Of a file: the network of timm that it is for.")] = "",
    data: Annotated[
        str,
        typer.Option(
            help="The data set behind a file, if it is here: then it can be ranked.", autocompletion=DATA_SETS
        ),
    ] = "",
    labels: Annotated[str, typer.Option(help="Its labels; else the classes that its images came with.")] = "",
    trained_on: Annotated[str, typer.Option(help="The data set behind it in words, if it is not here.")] = "",
    accuracy: Annotated[float | None, typer.Option(min=0, max=1, help="On images that it had not seen.")] = None,
    licence: Annotated[str, typer.Option(help="Under which the weights may be used.")] = "",
    project: Project = "",
    detach: Detach = False,
    as_json: Json = False,
) -> None:
    """Take weights into the zoo; trainings of the same network can then start from them."""

    with session() as here:
        facts = {"name": name, "architecture": architecture, "data": data, "labels": labels, "trained_on": trained_on}
        asked: dict[str, Any] = {
            **facts,
            "accuracy": accuracy,
            "licence": licence,
            "project": project,
            **_source(here, source, project),
        }
        ended = finish(here, here.client.zoo.add(**asked), detach=detach, as_json=as_json)
        if not as_json and not detach:
            say(f"Look at it: seedbed zoo show '{ended[-1]['name']}'")


@app.command()
def rank(
    data: Annotated[str, typer.Argument(help="A data set; else the project's.", autocompletion=DATA_SETS)] = "",
    labels: Annotated[
        str,
        typer.Option(
            help="A CSV file or a labels bundle; else the project's, or the classes that the images came with."
        ),
    ] = "",
    backbone: Annotated[str, typer.Option(help="The network whose weights are ranked.")] = TrainSettings().start,
    size: Annotated[int, typer.Option(min=8, max=1024, help="Side of the images in pixels.")] = TrainSettings().size,
    project: Project = "",
    detach: Detach = False,
    as_json: Json = False,
) -> None:
    """Compare a data set with those behind the weights, and say which ones to start from, and why."""

    with session() as here:
        given = labels_of(here, labels, project)
        jobs = here.client.zoo.rank(data, network=backbone, size=size, project=project, **given)
        if not jobs:
            show_json([]) if as_json else say(_NOTHING.format(backbone))
            return
        if detach:
            finish(here, jobs, detach=True, as_json=as_json)
            return
        ended = here.run(jobs, quiet=as_json)
        ranking = here.client.zoo.ranking(
            next(job for job in ended if job["step"] == "rank-weights")["outputs"]["ranking"]
        )
    show_json(ranking) if as_json else _show_ranking(ranking)


@app.command()
def compare(
    data: Annotated[list[str], typer.Argument(help="Two data sets or more.", autocompletion=DATA_SETS)],
    detach: Detach = False,
    as_json: Json = False,
) -> None:
    """How far apart data sets are, every pair of them; signatures that are missing are made first."""

    with session() as here:
        jobs = here.client.zoo.compare(data)
        if detach:
            finish(here, jobs, detach=True, as_json=as_json)
            return
        ended = here.run(jobs, quiet=as_json)
        found = here.client.zoo.similarity(ended[-1]["outputs"]["similarity"])
    if as_json:
        show_json(found)
        return
    rows = [
        (name, *(f"{value:.3g}" for value in row)) for name, row in zip(found["names"], found["distances"], strict=True)
    ]
    show_table(("", *found["names"]), rows, empty="Nothing was compared.")


@app.command()
def cache(
    empty: Annotated[bool, typer.Option("--empty", help="Let go what is in memory.")] = False, as_json: Json = False
) -> None:
    """What weights this machine has in memory, why, and the seconds that this saved."""

    with session() as here:
        state = here.client.zoo.empty_cache() if empty else here.client.zoo.cache()
    if as_json:
        show_json(state)
        return
    rows = [
        (
            one["name"],
            show_size(one["size"]),
            one["hits"],
            f"{one['cold_seconds']:.3f} s",
            f"{one['warm_seconds']:.3f} s",
            f"{one['saved_seconds']:.2f} s",
            one["why"],
        )
        for one in state["entries"]
    ]
    columns = ("card", "size", "used", "from disk", "from memory", "saved", "why")
    show_table(columns, rows, empty="No weights are in memory yet: a training puts those there that it starts from.")
    note(f"{len(rows)} of {state['slots']} places in {state['folder']}; {state['saved_seconds']:.2f} s saved in all.")


@app.command("rm")
def remove(name: Name, yes: Yes = False, as_json: Json = False) -> None:
    """Take a card that was made or brought here out of the zoo for good; models that started from it stay."""

    with session() as here:
        sure(f"Remove the card '{name}'?", yes=yes)
        gone = here.client.zoo.remove(name)
    show_json(gone) if as_json else say(f"'{name}' is gone ({show_size(gone['bytes'])}).")


def _source(here: Session, source: str, project: str) -> dict[str, str]:
    """How a request names where weights come from."""
    if source.startswith("hub:"):
        return {"hub": source.removeprefix("hub:")}
    path = Path(source).expanduser()
    if path.suffix.lower() in _ENDINGS or path.is_file():
        return here.bring(path, project=project)
    return {"model": source}


def _show_ranking(ranking: "Ranking") -> None:
    """Both judgements side by side, then what they come to."""
    show_table(
        ("card", "trained on", "DSD, furthest = 1", "distance, ImageNet = 1", "epochs, ImageNet = 1", "features", ""),
        [_row(one) for one in ranking["ranked"]],
        empty="None of the weights could be compared.",
    )
    left_out = list(ranking["left_out"].items())
    for name, why in left_out[:_NAMED]:
        note(f"Left out: {name}. {why}")
    if len(left_out) > _NAMED:
        note(f"Left out as well: {len(left_out) - _NAMED} more (--json has them).")
    if not ranking["baseline_data"] and ranking["ranked"]:
        note(NO_BASELINE)
    learnt = ranking["learnt_from"]
    note(f"The epochs are expected from {learnt['outcomes']} measured starts on {learnt['targets']} data sets.")
    advice = ranking["advice"]
    say(f"Start from {advice['start']}: {advice['reason']}")


def _row(one: "Ranked") -> tuple[object, ...]:
    expected = one["expectation"]
    epochs = f"{expected['epoch_ratio']:.2f} ({expected['low']:.2f} to {expected['high']:.2f})"
    scores = ", ".join(f"{name} {value:+.2f}" for name, value in one["scores"].items())
    return (
        one["name"],
        one["trained_on"],
        f"{one['dsd']:.2f}",
        _ratio(one),
        epochs,
        scores,
        "in memory" if one["in_memory"] else "",
    )


def _ratio(one: "Ranked") -> str:
    if one["ratio"] is None:
        return "unknown"
    if one["ratio"] >= FURTHEST:
        return f">= {FURTHEST:.0f}"
    return f"{one['ratio']:.2f}{'' if one['exact'] else ' (roughly)'}"
