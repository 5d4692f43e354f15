"""What pydantic finds wrong with values, as sentences: which value, what was given, what is allowed.

It reads the plain records of `ValidationError.errors()` and of `model_fields`, so it needs no pydantic itself.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from seedbed.base.registry import near_matches

_LONGEST = 80  # characters of what was given
_KINDS = {"int": "a whole number", "float": "a number", "bool": "true or false", "str": "text"}
_KINDS |= {"string": "text", "list": "a list", "tuple": "a list", "set": "a list", "none": "nothing", "bytes": "bytes"}
_KINDS |= dict.fromkeys(("dict", "mapping", "model", "dataclass", "model_attributes"), "names with values")
_TAGS = {"int", "float", "bool", "str", "none", "literal"}  # added to the place in a value of several types
_LIMITS = {
    "greater_than_equal": "{ge} or more",
    "greater_than": "more than {gt}",
    "less_than_equal": "{le} or less",
    "less_than": "less than {lt}",
    "multiple_of": "a multiple of {multiple_of}",
    "string_too_short": "at least {min_length} characters long",
    "string_too_long": "at most {max_length} characters long",
    "too_short": "at least {min_length} long",
    "too_long": "at most {max_length} long",
    "string_pattern_mismatch": "text that matches the pattern {pattern}",
    "literal_error": "{expected}",
    "enum": "{expected}",
    "finite_number": "a finite number",
    "int_from_float": "a whole number",
    "int_parsing_size": "a whole number of fewer digits",
}


def sentences_of(problems: Iterable[Any], fields: Mapping[str, Any], *, noun: str = "a parameter") -> list[str]:
    """A sentence for each value that is wrong; `fields` are the model's own."""
    known = {field.alias or name: field for name, field in fields.items()}
    told: dict[str, list[Mapping[str, Any]]] = {}
    for problem in problems:
        told.setdefault(_place(problem["loc"]), []).append(problem)
    return [_sentence(place, found, known, noun) for place, found in told.items()]


def allowed_by(problem: Mapping[str, Any], field: Any = None) -> str:
    """What may stand there instead, to be read after 'it must be'; '' where only pydantic's own words say it."""
    kind, context = str(problem["type"]), problem.get("ctx", {})
    span = _span(field)
    if span and (kind.startswith(("greater_than", "less_than", "int_", "float_")) or kind == "finite_number"):
        return span
    if kind in _LIMITS:
        return _LIMITS[kind].format_map({name: _number(value) for name, value in context.items()})
    name = kind.removesuffix("_type").removesuffix("_parsing").removesuffix("_required")
    return _KINDS.get(name, "") if name != kind else ""


def shown(value: object) -> str:
    """What was given, on one line and not too long."""
    text = repr(value)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}..."


def _sentence(place: str, found: list[Mapping[str, Any]], known: Mapping[str, Any], noun: str) -> str:
    first = found[0]
    if first["type"] in ("extra_forbidden", "unexpected_keyword_argument"):
        return f"'{place}' is not {noun}." + ("" if "." in place else f" {near_matches(place, list(known))}")
    if first["type"] == "missing":
        about = known[place].description if place in known else ""
        return f"'{place}' is missing: {_within(about or 'it has no default')}".rstrip(".") + "."
    allowed = dict.fromkeys(allowed_by(problem, known.get(place)) for problem in found)
    if all(allowed):
        return f"'{place}' is {shown(first['input'])}; it must be {' or '.join(allowed)}."
    message = str(first["msg"]).removeprefix("Value error, ").rstrip(".")
    return f"'{place}' is {shown(first['input'])}: {message[:1].lower()}{message[1:]}." if place else _ended(message)


def _within(sentence: str) -> str:
    """As it goes on after a colon; a word of capitals, such as GPU, stays."""
    return sentence if sentence[1:2].isupper() else f"{sentence[:1].lower()}{sentence[1:]}"


def _ended(message: str) -> str:
    return message if message.endswith("?") else f"{message}."


def _place(loc: tuple[Any, ...]) -> str:
    parts = [str(part) for part in loc]
    tagged = len(parts) > 1 and parts[-1].partition("[")[0] in _TAGS
    return ".".join(parts[:-1] if tagged else parts)


def _span(field: Any) -> str:
    """The numbers that a field takes: 'a whole number from 1 to 1,000'."""
    annotation: Any = getattr(field, "annotation", None)
    kind = "a whole number" if annotation is int else "a number" if annotation is float else ""
    limits = {name: value for rule in getattr(field, "metadata", ()) for name, value in _limits(rule)}
    if not kind or not limits:
        return kind
    if "ge" in limits and "le" in limits:
        return f"{kind} from {_number(limits['ge'])} to {_number(limits['le'])}"
    words = {"ge": "of at least {}", "gt": "above {}", "le": "of at most {}", "lt": "below {}"}
    return f"{kind} " + " and ".join(words[name].format(_number(value)) for name, value in limits.items())


def _limits(rule: object) -> list[tuple[str, Any]]:
    return [(name, getattr(rule, name)) for name in ("ge", "gt", "le", "lt") if hasattr(rule, name)]


def _number(value: Any) -> str:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return f"{value:,}".removesuffix(".0") if is_number else str(value)
