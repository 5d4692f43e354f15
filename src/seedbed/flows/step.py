"""A step: a typed function from input bundles and parameters to output bundles.

    @step("evaluate", methods=("seedbed.methods.learn",))
    def evaluate(model: Model, decoded: Decoded, test: Labels, params: EvaluateParams, run: RunContext) -> Report:
        '''How good a model is on images that it has not seen.'''

The signature is the declaration: arguments annotated with kinds are inputs (`Labels | None = None` may be left out,
`Model | Weights` takes either; `**signatures: Signature` takes any number, under any names), `params` is a `Params`
model, `run` the RunContext. It returns one kind, which is then the output named like the kind's own name, or a
TypedDict of kinds, whose names are the outputs' names.
"""

import inspect
import types
import typing
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Union

from pydantic import BaseModel, ConfigDict, ValidationError

from seedbed.base.errors import InvalidInput
from seedbed.base.mistakes import sentences_of
from seedbed.base.registry import near_matches
from seedbed.base.resources import Resources
from seedbed.base.run import RunContext
from seedbed.flows.kinds.kind import Kind

Body = Callable[..., Any]


class Params(BaseModel):
    """Base of every step's parameters: an unknown name is refused, and nothing changes once it is made."""

    model_config = ConfigDict(frozen=True, extra="forbid")


@dataclass(frozen=True)
class Slot:
    """One input: the kinds that it takes, and whether it may be left out."""

    name: str
    kinds: tuple[type[Kind], ...]
    optional: bool = False

    @property
    def allowed(self) -> str:
        """The kinds in words."""
        return " or ".join(f"'{kind.kind}'" for kind in self.kinds)

    def takes(self, kind: str) -> bool:
        """Whether a bundle of this kind fits."""
        return any(kind == allowed.kind for allowed in self.kinds)


@dataclass(frozen=True)
class Step:
    """A unit of work that the platform can run; made by `@step`, looked up in `flows.steps.STEPS`."""

    name: str
    body: Body
    params: type[Params]
    inputs: Mapping[str, Slot]
    outputs: Mapping[str, type[Kind]]
    methods: tuple[str, ...] = ()
    resources: Resources = field(default_factory=Resources)
    grace: float = 30.0
    version: int = 1
    device_matters: bool = False
    seed_matters: bool = False
    outside: Callable[[Any], Mapping[str, str]] | None = None
    paths: Callable[[Any], Sequence[str]] | None = None
    more: Slot | None = None  # what further inputs are, under any names

    @property
    def module(self) -> str:
        """Where its source lies."""
        return self.body.__module__

    @property
    def about(self) -> str:
        """One line for people."""
        return (self.body.__doc__ or "").strip().partition("\n")[0]

    def __call__(self, *inputs: Kind, **named: Any) -> Any:
        """Call the function itself: handy in notebooks and tests."""
        return self.body(*inputs, **named)

    def check_params(self, given: Mapping[str, Any]) -> Params:
        """The parameters as a model; everything wrong with them in one error."""
        if problems := self.params_problems(given):
            raise InvalidInput(f"The parameters of step '{self.name}' cannot be used.", problems=problems)
        return self.params.model_validate(dict(given))

    def slot(self, name: str) -> Slot | None:
        """What an input of this name takes; None: there is no such input."""
        return self.inputs.get(name, self.more)

    def params_problems(self, given: Mapping[str, Any]) -> list[str]:
        """What is wrong with parameters, a sentence each."""
        try:
            self.params.model_validate(dict(given))
        except ValidationError as error:
            return sentences_of(error.errors(), self.params.model_fields)
        return []

    def inputs_problems(self, given: Mapping[str, str | None]) -> list[str]:
        """What is wrong with inputs, given as input name -> kind of the bundle (None: unknown); a sentence each."""
        problems = [
            f"'{name}' is not an input of step '{self.name}'. {near_matches(name, list(self.inputs))}"
            for name in given
            if self.slot(name) is None
        ]
        problems += [
            f"input '{slot.name}' of step '{self.name}' is missing; it takes a bundle of kind {slot.allowed}."
            for slot in self.inputs.values()
            if slot.name not in given and not slot.optional
        ]
        return problems + [
            f"input '{name}' of step '{self.name}' was given a bundle of kind '{kind}'; it takes {slot.allowed}."
            for name, kind in given.items()
            if kind is not None and (slot := self.slot(name)) and not slot.takes(kind)
        ]


def step(
    name: str,
    *,
    version: int = 1,
    methods: tuple[str, ...] = (),
    resources: Resources | None = None,
    grace: float = 30.0,
    device_matters: bool = False,
    seed_matters: bool = False,
    outside: Callable[[Any], Mapping[str, str]] | None = None,
    paths: Callable[[Any], Sequence[str]] | None = None,
) -> Callable[[Body], Step]:
    """Declare a step.

    `methods` are the modules or packages whose source decides its result beside its own module. `device_matters`: the
    kind of device and the number of threads change the result; `seed_matters`: the job's seed does. `outside(params)`
    fingerprints what it reads outside the store (name -> digest), so that a changed folder is a changed step;
    `paths(params)` names those paths, so that people without rights to them are refused.
    """

    def declare(body: Body) -> Step:
        hints = typing.get_type_hints(body)
        result = hints.pop("return", None)
        inputs, more = _inputs_of(name, body, hints)
        return Step(
            name=name,
            body=body,
            params=_params_of(name, hints),
            inputs=inputs,
            outputs=_outputs_of(name, result),
            methods=methods,
            resources=resources or Resources(),
            grace=grace,
            version=version,
            device_matters=device_matters,
            seed_matters=seed_matters,
            outside=outside,
            paths=paths,
            more=more,
        )

    return declare


def _params_of(step_name: str, hints: Mapping[str, Any]) -> type[Params]:
    params = hints.get("params", Params)
    if not (isinstance(params, type) and issubclass(params, Params)):
        raise TypeError(f"step '{step_name}': params is annotated {params}; it must be a subclass of Params")
    if hints.get("run") is not RunContext:
        raise TypeError(f"step '{step_name}' must take run: RunContext")
    return params


def _inputs_of(step_name: str, body: Body, hints: Mapping[str, Any]) -> tuple[dict[str, Slot], Slot | None]:
    slots, more = {}, None
    for name, parameter in inspect.signature(body).parameters.items():
        if name in ("params", "run"):
            continue
        members = _members(hints.get(name))
        kinds = tuple(member for member in members if isinstance(member, type) and issubclass(member, Kind))
        optional = type(None) in members and parameter.default is None
        if not kinds or len(kinds) + optional != len(members):
            raise TypeError(f"step '{step_name}': '{name}' is annotated {hints.get(name)}; it must be a kind")
        if parameter.kind is inspect.Parameter.VAR_KEYWORD:
            more = Slot(name, kinds, optional=True)
        else:
            slots[name] = Slot(name, kinds, optional=optional)
    return slots, more


def _outputs_of(step_name: str, result: Any) -> dict[str, type[Kind]]:
    named = {result.kind: result} if _is_kind(result) else None
    if named is None and typing.is_typeddict(result):
        named = typing.get_type_hints(result)
    if not named or not all(_is_kind(kind) for kind in named.values()):
        raise TypeError(f"step '{step_name}' returns {result}; it must be a kind or a TypedDict of kinds")
    return named


def _is_kind(value: Any) -> bool:
    return isinstance(value, type) and issubclass(value, Kind)


def _members(hint: Any) -> tuple[Any, ...]:
    if typing.get_origin(hint) in (Union, types.UnionType):
        return typing.get_args(hint)
    return (hint,)
