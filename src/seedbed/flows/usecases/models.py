"""Models as people use them: train, predict, recipes."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from numpy.typing import NDArray

from seedbed.assets.access.roles import Identity, Role
from seedbed.assets.data.decode import Undecodable, decode
from seedbed.assets.projects.classes import Kind
from seedbed.assets.projects.projects import Project
from seedbed.assets.store.bundle import Bundle, Draft
from seedbed.assets.store.store import Store
from seedbed.base.errors import Conflict, InvalidInput, NotFound
from seedbed.base.files import expanded
from seedbed.base.registry import Registry
from seedbed.base.resources import Resources
from seedbed.flows.kinds.data import DataSet, Decoded
from seedbed.flows.kinds.models import FACTS_FILE, ONNX_FILE, Download, Model, without_onnx
from seedbed.flows.outside import Roots
from seedbed.flows.recipes import RECIPES
from seedbed.flows.recipes.few_labels import SIZE
from seedbed.flows.recipes.recipe import Recipe, RecipeParams, in_a_name
from seedbed.flows.starting import TRAIN, Beginning, begun
from seedbed.flows.training import (
    defaults,
    refuse_gaps,
    refuse_labels,
    told_rate,
    with_a_gpu,
    with_habits,
    with_ranks,
    with_values,
)
from seedbed.flows.usecases.bundles import Bundles
from seedbed.flows.usecases.given_labels import draft_of_table, is_table
from seedbed.flows.usecases.jobs import Jobs
from seedbed.flows.usecases.pages import may_see
from seedbed.flows.usecases.projects import Projects
from seedbed.flows.usecases.starts import Starts
from seedbed.methods.learn.ordered import expected_values
from seedbed.methods.learn.settings import TrainSettings
from seedbed.runtime.executors.protocol import Node
from seedbed.runtime.jobs.records import Job
from seedbed.runtime.jobs.spec import JobClass, JobSpec

# loaded with the first question: a service that only schedules needs no inference engine
_ENGINES: Registry[Any] = Registry("engine", {"onnx": "seedbed.flows.onnx:OnnxModel"})
_LENGTHS = {"steps", "epochs", "patience"}  # who sets one of these has said how long to train
_OPEN_MODELS = 4


@dataclass(frozen=True)
class Guess:
    """How probable a class is for one image; `value` is what it stands for, where the classes are ordered."""

    label: str
    probability: float
    value: float | None = None


@dataclass(frozen=True)
class Answer:
    """What a model makes of one image: every class, the most probable first; of ordered ones the value to expect."""

    guesses: tuple[Guess, ...]
    value: float | None = None


class Models:
    """What people do with models."""

    def __init__(
        self,
        bundles: Bundles,
        jobs: Jobs,
        projects: Projects,
        store: Store,
        roots: Roots,
        starts: Starts,
        *,
        nodes: Callable[[], Sequence[Node]],
        pixel_limit: int,
    ) -> None:
        self._bundles = bundles
        self._jobs = jobs
        self._projects = projects
        self._store = store
        self._roots = roots
        self._starts = starts
        self._nodes = nodes
        self._pixel_limit = pixel_limit
        self._open = lru_cache(maxsize=_OPEN_MODELS)(_open_model)

    def train(
        self,
        data_ref: str = "",
        labels_ref: str = "",
        *,
        project: str = "",
        params: Mapping[str, Any] | None = None,
        seed: int = 0,
        test_share: float = 0.3,
        group: str = "",
        folds: int = 0,
        fold: int = 0,
        labels_per_class: int = 0,
        weights: str = "",
        cls: JobClass = JobClass.TE,
        resources: Resources | None = None,
        by: Identity,
    ) -> list[Job]:
        """Train on a data set with a labels bundle, or with a project's data set and labels; tested and exported.

        A share of the labels is held out for the test and not used in training; with `group`, the images of one group
        (a column of the data set, such as the plant) all stay on one side; with `folds`, the part number `fold`. Of
        the rest all are used, or `labels_per_class`. Where nothing is said and there is a GPU, it is used; resources
        with several GPUs train with as many ranks. `weights`: 'auto', which ranks those of the zoo for the network that
        the parameters name; a card's name; 'pretrained', the usual ones of the network; or 'none', from scratch. Where
        a ranking chooses weights that are surely faster, and nobody said how long to train, it takes fewer steps.
        """
        fixed = _LENGTHS & {*(params or {})}
        resources = self._on(params or {}, resources)
        params, resources = with_ranks(with_habits(params or {}, resources), resources)
        place = self._projects.get(project, by=by) if project else None
        by.require(Role.TRAINER, place.id if place else "")
        data = data_ref or (place.data if place else "")
        if not data:
            raise InvalidInput("There is no data set to train on.", hint="Name one, or give the project its data.")
        with TemporaryDirectory() as folder:
            given, drafts = labels_ref, []
            if place and not labels_ref:
                labels = self._projects.draft_labels(place.id, Path(folder), by=by)
                params = self._of_project(place, params, by)
                given, drafts = labels.uuid, [labels] if isinstance(labels, Draft) else []
            images = self._images(data, by)
            name = in_a_name(place.name if place else images.name)
            if labels_ref:
                labels = self._labels(labels_ref, Path(folder), f"{name}.truth", place.id if place else "", by)
                refuse_labels(labels, params, images.name)
                given, drafts = labels.uuid, [labels] if isinstance(labels, Draft) else []
            elif not place:
                self._refuse_without_labels(images, params, by)
            beginning = self._starts.beginning(
                weights, params, images, shorten=not fixed, project=place.id if place else "", by=by
            )
            params, drafts = beginning.params, [*drafts, *beginning.drafts]
            settings = {
                "name": name,
                "project": place.id if place else "",
                "data": data,
                "truth" if labels_per_class else "labels": given,
                "labels_per_class": labels_per_class,
                "test_share": test_share,
                "group": group,
                "folds": folds,
                "fold": fold,
                "size": params.get("size", SIZE),
                "seed": seed,
                "train": dict(params),
            }
            chosen = partial(_as_chosen, cls, resources, beginning, images.name)
            return self._start("few-labels", settings, by, chosen, drafts)

    def _images(self, ref: str, by: Identity) -> Bundle:
        """The data set to train on; who names one that is not there is told how to have one."""
        try:
            return self._bundles.show(ref, by=by)
        except NotFound as error:
            hint = f"{error.hint} See which there are: seedbed data list. Bring images in: seedbed data add FOLDER."
            raise NotFound(error.message, hint=hint.strip()) from None

    def _refuse_without_labels(self, images: Bundle, params: Mapping[str, Any], by: Identity) -> None:
        """Where nobody gives labels, the folders of the images must; a project that works on them is named."""
        try:
            refuse_labels(images, params, images.name)
        except InvalidInput as error:
            about = next((one.name for one in self._projects.list(by=by) if one.data == images.uuid), "")
            if not about:
                raise
            hint = f"Project '{about}' works on these images: train it with its labels (--project, or on its page)."
            raise InvalidInput(error.message, hint=hint) from error

    def training_defaults(self) -> TrainSettings:
        """What a training takes here where nothing is said."""
        return defaults(self._nodes())

    def told_rate(self, params: Mapping[str, Any], resources: Resources | None = None) -> str:
        """The learning rate that a training would take here, and why; '' where the parameters cannot be used."""
        return told_rate(params, self._on(params, resources))

    def _on(self, params: Mapping[str, Any], resources: Resources | None) -> Resources | None:
        """Ranks without GPUs are processes, and one GPU is no place for several."""
        return resources if "ranks" in params else with_a_gpu(resources, self._nodes())

    def predict(
        self, model_ref: str, data_ref: str = "", *, source: Path | None = None, project: str = "", by: Identity
    ) -> list[Job]:
        """Label every image of a data set, or of a folder, which is ingested first; a model is exported first."""
        if bool(data_ref) == bool(source):
            raise InvalidInput("Give either a data set or a folder of images to predict on.")
        model = self._bundles.show(model_ref, by=by)
        _require_model(model)
        images = source.stem if source else self._bundles.show(data_ref, by=by).name
        base = in_a_name(f"{model.name.removesuffix('.model').removesuffix('.download')}-{images}")
        common: dict[str, Any] = {"cls": JobClass.TE, "project": project}
        specs, exported, data = [], model.uuid, data_ref
        if model.kind != Download.kind:
            specs.append(JobSpec("export", name=f"{base}.export", inputs={"model": model.uuid}, **common))
            exported = f"job:{base}.export/download"
        if source:
            params = {"source": str(expanded(source).absolute())}
            specs.append(JobSpec("ingest", name=f"{base}.ingest", params=params, **common))
            data = f"job:{base}.ingest/data"
        inputs = {"model": exported, "data": data}
        return self._jobs.submit_flow([*specs, JobSpec("predict", name=base, inputs=inputs, **common)], by=by)

    def predict_image(self, model_ref: str, image: bytes, *, by: Identity) -> Answer:
        """What the exported model makes of an image, within this process."""
        exported = self._exported(self._bundles.show(model_ref, by=by))
        files = {link.name: self._store.path_of(link.digest) for link in exported.arrays["files"].files}
        if ONNX_FILE not in files:
            raise without_onnx(exported.name)
        model = self._open(files[ONNX_FILE], files[FACTS_FILE])
        try:
            pixels = decode(image, size=model.size, pixel_limit=self._pixel_limit).pixels
        except Undecodable as error:
            raise InvalidInput(f"This is not an image that can be used: {error.reason}.") from None
        return answer_of(model.classes, model.predict(pixels[None]), model.values)

    def recipes(self) -> dict[str, str]:
        """Name and one line of each recipe."""
        return {name: RECIPES.get(name).about for name in RECIPES}

    def recipe_schema(self, name: str) -> dict[str, Any]:
        """The recipe's parameters as a JSON schema."""
        return RECIPES.get(name).params.model_json_schema()

    def start_recipe(self, name: str, params: Mapping[str, Any], *, by: Identity) -> list[Job]:
        """Queue a recipe's jobs."""
        return self._start(name, params, by)

    def _labels(self, given: str, folder: Path, name: str, project: str, by: Identity) -> Bundle | Draft:
        """Labels of a table, which are yet to be published, or of a bundle."""
        if is_table(given):
            return draft_of_table(given, folder / "labels", name=name, project=project, roots=self._roots, by=by)
        return self._bundles.show(given, by=by)

    def _of_project(self, place: Project, params: Mapping[str, Any], by: Identity) -> dict[str, Any]:
        """The parameters that a project's classes ask for; refused where one has no labels, unless it is 'other'."""
        classes = self._projects.classes(place.id, by=by)
        others = {one.name for one in classes if one.other}
        counts = self._projects.counts(place.id, by=by)
        needed = {name: count for name, count in counts.items() if count or name not in others}
        refuse_gaps(needed, place.name, str(params.get("algorithm", "")))
        return with_values(params, classes, counts) if place.kind is Kind.BINS else dict(params)

    def _start(
        self,
        name: str,
        params: Mapping[str, Any],
        by: Identity,
        chosen: Callable[[Sequence[JobSpec]], Sequence[JobSpec]] = lambda specs: specs,
        labels: Sequence[Draft] = (),
    ) -> list[Job]:
        """Nothing is published and no project made before it is known that the jobs can be submitted."""
        recipe = RECIPES.get(name)
        checked = recipe.check_params(params)
        place = self._place(recipe, checked, by)
        by.require(Role.TRAINER, place)
        with TemporaryDirectory() as folder:
            drafts = list(labels)
            specs = list(chosen(self._specs_of(recipe, checked, by, Path(folder), drafts, place)))
            if checked.project and not place:
                self._jobs.check([replace(spec, project="") for spec in specs], by=by, drafts=drafts)
                made = self._projects.create(checked.project, by=by).id
                specs = [replace(spec, project=made) for spec in specs]
                drafts = [replace(draft, project=made) for draft in drafts]
            return self._jobs.submit_flow(specs, by=by, drafts=drafts)

    def _place(self, recipe: Recipe, params: RecipeParams, by: Identity) -> str:
        """The id of the project; empty where there is none, or where the recipe makes it."""
        if not params.project:
            return ""
        try:
            return self._projects.get(params.project, by=by).id
        except NotFound:
            if not recipe.makes_project:
                raise
            return ""

    def _specs_of(
        self, recipe: Recipe, checked: RecipeParams, by: Identity, folder: Path, drafts: list[Draft], place: str
    ) -> list[JobSpec]:
        """The recipe's jobs; labels that come from a file are added to the drafts, with their files in the folder."""
        known = {}
        for slot, given in recipe.labels(checked).items():
            if given in {draft.uuid for draft in drafts}:
                known[slot] = given
                continue
            made = self._labels(given, folder / slot, f"{checked.name or recipe.name}.{slot}", place, by)
            drafts += [made] if isinstance(made, Draft) else []
            known[slot] = made.uuid
        ref, size = recipe.data(checked)
        if ref:
            data = self._bundles.show(ref, by=by)
            checked = checked.model_copy(update={"name": checked.name or in_a_name(data.name)})
            known |= self._decoded(data, size, by)
        return list(recipe.jobs(checked, known))

    def _decoded(self, data: Bundle, size: int, by: Identity) -> dict[str, str]:
        if data.kind != DataSet.kind:
            raise InvalidInput(f"'{data.name}' is of kind '{data.kind}', not a data set.")
        for bundle in self._made_of(data, Decoded.kind):
            if bundle.arrays["size"].items == (size,) and may_see(by, bundle.project):
                return {"decoded": bundle.uuid}
        return {}

    def _exported(self, model: Bundle) -> Bundle:
        _require_model(model)
        if model.kind == Download.kind:
            return model
        found = self._made_of(model, Download.kind)
        if not found:
            raise Conflict(f"The model '{model.name}' is not exported yet.", hint="Run the step export on it first.")
        return found[0]

    def _made_of(self, bundle: Bundle, kind: str) -> list[Bundle]:
        nodes = self._store.lineage(bundle.uuid, depth=1, direction="down").nodes.values()
        return [self._store.get(node.uuid) for node in nodes if node.kind == kind and not node.gone]


def _require_model(found: Bundle) -> None:
    if found.kind not in (Model.kind, Download.kind):
        hint = "See which there are: seedbed store find --kind model."
        raise InvalidInput(f"'{found.name}' is of kind '{found.kind}', not a model.", hint=hint)


def _as_chosen(
    cls: JobClass, resources: Resources | None, beginning: Beginning, data: str, specs: Sequence[JobSpec]
) -> list[JobSpec]:
    """The jobs of a training in their class, with what the training itself is given to compute on and to start from."""
    begun_jobs = begun([replace(spec, cls=cls) for spec in specs], beginning, data=data)
    return [replace(spec, resources=resources) if resources and spec.step == TRAIN else spec for spec in begun_jobs]


def answer_of(classes: Sequence[str], rows: NDArray[np.float32], values: Sequence[float]) -> Answer:
    """The answer of one image's row of probabilities; `values` are what ordered classes stand for."""
    meant: Sequence[float | None] = values or [None] * len(classes)
    guesses = map(Guess, classes, map(float, rows[0]), meant)
    expected = float(expected_values(rows, values)[0]) if values else None
    return Answer(tuple(sorted(guesses, key=lambda guess: -guess.probability)), expected)


def _open_model(onnx: Path, facts: Path) -> Any:
    return _ENGINES.get("onnx")(onnx, facts)
