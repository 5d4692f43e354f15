"""An example for every body of the API's description, put together from those of its fields."""

from types import GenericAlias
from typing import Any, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo

UUID = "01936d2e-7a10-7c3e-9d51-0c6a5f3a7b21"
OTHER = "01936d2f-1b22-7d4f-8e62-1d7b6a4b8c32"
DIGEST = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
WHEN = 1_764_000_000.0


def with_example(schema: dict[str, Any], model: type[BaseModel]) -> None:
    """For `json_schema_extra` of a model: what its fields have for examples, as one whole."""
    schema["examples"] = [example_of(model)]


def example_of(model: type[BaseModel]) -> dict[str, Any]:
    """The first example of each field; fields that have none, neither within them, are left out."""
    found = {field.alias or name: _of(field) for name, field in model.model_fields.items()}
    return {name: example for name, example in found.items() if example is not None}


def _of(field: FieldInfo) -> Any:
    if field.examples:
        return field.examples[0]
    if not field.is_required():
        return None
    inner: Any = field.annotation
    if inner is bool:
        return True
    if get_origin(inner) is list and _is_model(get_args(inner)[0]):
        return [example_of(get_args(inner)[0])]
    return example_of(inner) if _is_model(inner) else None


def _is_model(kind: Any) -> bool:
    return isinstance(kind, type) and not isinstance(kind, GenericAlias) and issubclass(kind, BaseModel)
