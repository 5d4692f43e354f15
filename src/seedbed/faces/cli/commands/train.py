"""`seedbed train`: every setting of a training, with the defaults that the method has."""

import contextlib
import re
from collections.abc import Collection, Iterator
from typing import Annotated, Any, Literal

import typer

from seedbed.base.errors import InvalidInput
from seedbed.base.resources import parse_size
from seedbed.faces.cli.commands.given import labels_of
from seedbed.faces.cli.commands.jobs import finish
from seedbed.faces.cli.commands.results import say_how_to_get
from seedbed.faces.cli.completion import CARDS, DATA_SETS, PROJECTS
from seedbed.faces.cli.options import Detach, Json, values
from seedbed.faces.cli.session import session
from seedbed.flows.written import read_values, settings_from
from seedbed.methods.learn.settings import ON_A_GPU, TrainSettings

_DEFAULTS = TrainSettings()
_OPTIONS = {"start": "--backbone", "learning_rate": "--lr", "labelled_batch": "--batch"}  # others as their settings
_SETTING = re.compile(r"(^|[.:?] )(?:params\.)?'?(\w+)'?(?=: | (?:is|has|names) )")  # that a sentence begins with


def _setting(name: str, help: str) -> Any:
    """An option that shows the method's own default, and is not sent when it is not given."""
    default = f"{_DEFAULTS.rate():g}" if name == "learning_rate" else getattr(_DEFAULTS, name)
    other = ON_A_GPU.get(name, default)
    on_gpu = f"; {other} on a GPU" if str(other) != str(default) else ""
    shown = f" [default: {default}{on_gpu}]" if default != "" else ""
    return typer.Option(help=f"{help}{shown}", show_default=False)


@contextlib.contextmanager
def _naming_options(given: Collection[str]) -> Iterator[None]:
    """Mistakes in settings that were given by options speak of those: --batch, and not labelled_batch."""

    def option(found: re.Match[str]) -> str:
        before, name = found.groups()
        return before + _OPTIONS.get(name, f"--{name.replace('_', '-')}") if name in given else found[0]

    try:
        yield
    except InvalidInput as error:
        problems = [_SETTING.sub(option, problem) for problem in error.problems]
        raise InvalidInput(_SETTING.sub(option, error.message), hint=error.hint, problems=problems) from None


def train(
    data: Annotated[
        str, typer.Argument(help="A data set; else --data, else the project's.", autocompletion=DATA_SETS)
    ] = "",
    data_option: Annotated[str, typer.Option("--data", help="The same, as an option.", autocompletion=DATA_SETS)] = "",
    labels: Annotated[
        str, typer.Option(help="A CSV file (columns file and class) or a labels bundle; else the project's labels.")
    ] = "",
    project: Annotated[
        str, typer.Option(help="A project whose data set and labels are taken.", autocompletion=PROJECTS)
    ] = "",
    labels_per_class: Annotated[
        int, typer.Option(min=0, help="Use so many labels of each class, chosen by seed; 0: all that there are.")
    ] = 0,
    test_share: Annotated[float, typer.Option(help="Share of the labels that is held out for the test.")] = 0.3,
    group: Annotated[
        str,
        typer.Option(help="A column of the data set: images that share its value are tested or learnt, never both."),
    ] = "",
    algorithm: Annotated[str | None, _setting("algorithm", "See: seedbed list algorithms.")] = None,
    backbone: Annotated[
        str | None, _setting("start", "The network and its weights; see: seedbed list backbones; or any timm name.")
    ] = None,
    weights: Annotated[
        str,
        typer.Option(
            help="auto: the best weights of the zoo for that network; a card's name; pretrained: the network's usual "
            "ones; none: from scratch.",
            autocompletion=CARDS,
        ),
    ] = "auto",
    size: Annotated[int | None, _setting("size", "Side of the images in pixels.")] = None,
    steps: Annotated[int | None, _setting("steps", "How long to train, unless --epochs is given.")] = None,
    epochs: Annotated[
        float | None, _setting("epochs", "How long, as passes over the unlabelled images; 0: --steps holds.")
    ] = None,
    patience: Annotated[
        int | None,
        _setting("patience", "End early after so many evaluations in a row that found nothing better; 0: never."),
    ] = None,
    lr: Annotated[
        float | None,
        _setting("learning_rate", "The highest learning rate; where none is given, smaller batches get a smaller one."),
    ] = None,
    batch: Annotated[int | None, _setting("labelled_batch", "Labelled images of a step.")] = None,
    unlabelled_batch: Annotated[int | None, _setting("unlabelled_batch", "Unlabelled images of a step.")] = None,
    values_: Annotated[
        str,
        typer.Option(
            "--values",
            help="Of ordered classes: none=0,low=10,high=50; or 0,10,50 where numbers are in their names.",
        ),
    ] = "",
    good: Annotated[
        str | None, _setting("good", "With --algorithm one-class: the class of good parts, if there are others.")
    ] = None,
    gpus: Annotated[
        int, typer.Option(min=0, help="GPUs to train on, with a process each; 0: one, where there is one.")
    ] = 0,
    memory: Annotated[
        str,
        typer.Option(
            help="Memory that it may take, like 8G; else 3G, 2G for each further rank, and more for large networks."
        ),
    ] = "",
    ranks: Annotated[int | None, _setting("ranks", "Processes that train together; as many as --gpus.")] = None,
    nodes: Annotated[int | None, _setting("nodes", "Machines; no executor has more than one so far.")] = None,
    scaling: Annotated[
        Literal["weak", "strong"] | None,
        _setting("scaling", "Of ranks; weak: batches per rank, rate times ranks; strong: batches and rate in all."),
    ] = None,
    set_: Annotated[
        list[str] | None,
        typer.Option(
            "--set", "--param", "-p", help="NAME=VALUE for any other setting, part of it, or algorithm's option."
        ),
    ] = None,
    seed: Annotated[int, typer.Option(help="Every random draw derives from it.")] = 0,
    cls: Annotated[str, typer.Option("--class", help="te (trial and error) or be (best effort).")] = "te",
    detach: Detach = False,
    as_json: Json = False,
) -> None:
    """Train a model on a few labels and the unlabelled rest; it is evaluated and exported.

    Every setting has a default; what they are good for is in docs/training.md.
    """
    if data and data_option:
        raise InvalidInput(f"The data set is given twice: '{data}' and --data '{data_option}'.", hint="Leave one out.")
    named: dict[str, Any] = {
        "algorithm": algorithm,
        "start": backbone,
        "size": size,
        "steps": steps,
        "epochs": epochs,
        "patience": patience,
        "learning_rate": lr,
        "labelled_batch": batch,
        "unlabelled_batch": unlabelled_batch,
        "values": values_ or None,
        "good": good,
        "ranks": ranks,
        "nodes": nodes,
        "scaling": scaling,
    }
    named = {name: value for name, value in named.items() if value is not None}
    with _naming_options(named), session() as here:
        if values_:
            named["values"] = read_values(values_)
        params = settings_from(values(set_, "--set"), named)
        asked: dict[str, Any] = {"project": project, "seed": seed, "cls": cls.lower(), "group": group}
        asked |= {"test_share": test_share, "labels_per_class": labels_per_class, "weights": weights}
        asked |= labels_of(here, labels, project)
        if gpus or memory:
            asked["resources"] = {"cpus": 0, "memory": parse_size(memory) if memory else 0, "gpus": gpus}
        jobs = here.client.models.train(data or data_option, params=params, **asked)
        ended = finish(here, jobs, detach=detach, as_json=as_json)
        say_how_to_get(ended, quiet=as_json or detach)
