"""A job as a person asks for it, in a file or a request: read as far as it can be, with every mistake kept.

A mistake in one field must not hide those of the others, nor what only the store knows (no such bundle, no machine as
large): what could not be read is left out, the rest is checked like any job, and all of it is refused together.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Self

from pydantic import (
    AliasChoices,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ModelWrapValidatorHandler,
    PrivateAttr,
    ValidationError,
    WithJsonSchema,
    model_validator,
)

from seedbed.base.errors import InvalidInput
from seedbed.base.mistakes import sentences_of
from seedbed.base.resources import Resources, parse_size
from seedbed.runtime.jobs.spec import JobClass, JobSpec

Name = Annotated[str, Field(min_length=1, max_length=200)]
Ref = Annotated[str, Field(max_length=500)]
_UNREAD = "-"  # stands where a step's name could not be read


def _bytes(given: Any) -> Any:
    try:
        return parse_size(given) if isinstance(given, (str, int)) else given
    except InvalidInput as error:
        raise ValueError(f"{error.message} {error.hint}") from None


def _schema(least: int) -> WithJsonSchema:
    return WithJsonSchema({"anyOf": [{"type": "integer", "minimum": least}, {"type": "string", "maxLength": 50}]})


Memory = Annotated[int, BeforeValidator(_bytes), _schema(0)]
SomeMemory = Annotated[int, Field(ge=1), BeforeValidator(_bytes), _schema(1)]


class ResourcesAsked(BaseModel):
    """How much of a machine a job needs; 0: what the step asks for itself."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"cpus": 2, "memory": "4G", "gpus": 0}]})

    cpus: float = Field(0.0, ge=0, le=1e6)
    memory: Memory = Field(0, ge=0, description="Bytes, or a text such as 512M or 2G.")
    gpus: int = Field(0, ge=0, le=1_000_000)

    def resources(self) -> Resources:
        """As the rooms below have it."""
        return Resources(self.cpus, self.memory, self.gpus)


class JobAsked(BaseModel):
    """A step to run."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "examples": [{"step": "sleep-and-count", "params": {"steps": 3}, "name": "first", "resources": {"cpus": 1}}]
        },
    )

    step: Name = Field(description="Name the step to run.")
    params: dict[str, Any] = Field(default_factory=dict)
    inputs: dict[str, Ref] = Field(default_factory=dict, description="Input: a bundle, or job:<job id>/<output>.")
    cls: JobClass = Field(
        JobClass.BE, validation_alias=AliasChoices("cls", "class"), description="te starts soon; be makes room for it."
    )
    resources: ResourcesAsked | None = Field(None, description="Nothing: what the step asks for itself.")
    grace: float = Field(30.0, ge=0, le=1e6, description="Seconds between the wish to stop and the kill.")
    retries: int = Field(2, ge=0, le=1000)
    project: Ref = ""
    name: Annotated[str, Field(max_length=200)] = ""
    after: list[Ref] = Field(default_factory=list, description="Jobs that must be done before.")
    seed: int = Field(0, ge=0)
    again: bool = Field(False, description="Run even if the store knows the answer.")
    timeout: float = Field(0.0, ge=0, le=1e9, description="Seconds; 0: no limit.")

    _mistakes: tuple[str, ...] = PrivateAttr(())
    _unread: frozenset[str] = PrivateAttr(frozenset())

    @model_validator(mode="wrap")
    @classmethod
    def _as_far_as_it_goes(cls, given: Any, read: ModelWrapValidatorHandler[Self]) -> Self:
        try:
            return read(given)
        except ValidationError as error:
            if not isinstance(given, Mapping):
                raise
            found = error.errors()
        places = [tuple(str(part) for part in problem["loc"][:2]) for problem in found]
        asked = read({"step": _UNREAD, **_without(given, places)})
        asked._mistakes = tuple(sentences_of(found, cls.model_fields, noun="a field of a job"))
        asked._unread = frozenset(".".join(place) for place in places)
        return asked

    def spec(self) -> JobSpec:
        """As the rooms below have it; a `Faulty` one where something is wrong with it."""
        given = self.model_dump(exclude={"resources", "after"})
        given |= {"resources": (self.resources or ResourcesAsked()).resources(), "after": tuple(self.after)}
        return Faulty(**given, mistakes=self._mistakes, unread=self._unread) if self._mistakes else JobSpec(**given)


@dataclass(frozen=True)
class Faulty(JobSpec):
    """A job of which not everything could be read: it is checked as far as it goes, and always refused.

    `unread` names the fields that stand there with their defaults (`step`, `inputs.data`), for nothing to be said of
    those twice.
    """

    mistakes: tuple[str, ...] = ()
    unread: frozenset[str] = frozenset()

    def check(self) -> None:
        """Refuse it, with whatever else is wrong."""
        problems = list(self.mistakes)
        try:
            super().check()
        except InvalidInput as error:
            problems += error.problems
        raise InvalidInput("The job cannot be submitted.", problems=problems)


def unread_in(spec: JobSpec) -> frozenset[str]:
    """The fields of a job that could not be read."""
    return spec.unread if isinstance(spec, Faulty) else frozenset()


def _without(given: Mapping[str, Any], places: Sequence[tuple[str, ...]]) -> dict[str, Any]:
    """What was given, less the fields at some places; of a field that holds names with values, only those."""
    kept = dict(given)
    for place in places:
        inner = kept.get(place[0])
        if len(place) > 1 and isinstance(inner, Mapping) and place[1] in inner:
            kept[place[0]] = {name: value for name, value in inner.items() if name != place[1]}
        else:
            kept.pop(place[0], None)
    return kept
