"""Arguments and results checked against JSON Schema before anything runs; errors name the field, what was given, what is valid."""

from __future__ import annotations

import difflib
import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NoReturn

from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError

from deskhand.errors import DeskhandError

MAX_DEPTH = 16
MAX_VALUES = 20_000
MAX_TEXT = 200_000
MAX_KEY = 1000  # characters of the name of a field
MAX_INTEGER = 2**53  # beyond it JSON readers disagree
MAX_PROBLEMS = 10


@dataclass(frozen=True)
class Problem:
    """One mistake in arguments: ``field`` is a path like ``conditions[0].relation``, empty for the whole."""

    field: str
    given: str
    problem: str
    valid: str

    def __str__(self) -> str:
        where = f"{self.field}: " if self.field else ""
        return f"{where}{self.problem}; valid: {self.valid}" if self.valid else f"{where}{self.problem}"

    def to_json(self) -> dict[str, str]:
        """As plain JSON data."""
        return {"field": self.field, "given": self.given, "problem": self.problem, "valid": self.valid}


class InvalidArguments(DeskhandError):
    """``invalid_arguments`` with its problems one by one."""

    def __init__(self, tool: str, problems: list[Problem]) -> None:
        text = ". ".join(str(problem) for problem in problems[:3])
        more = f" (and {len(problems) - 3} more)" if len(problems) > 3 else ""
        super().__init__("invalid_arguments", f"{tool}: {text}{more}.", retry=True, hint="Correct the named fields and call again.")
        self.problems = problems


class Schema:
    """A compiled JSON Schema (draft 2020-12)."""

    def __init__(self, schema: Mapping[str, Any]) -> None:
        self._schema = schema
        self._validator = Draft202012Validator(schema)

    def problems(self, value: Any) -> list[Problem]:
        """What is wrong with ``value``, at most :data:`MAX_PROBLEMS`, the outermost first; empty when it fits."""
        found = unreadable(value)
        if found:
            return [found]
        problems: list[Problem] = []
        for error in self._validator.iter_errors(value):
            problems.extend(self._explain(error))
            if len(problems) >= MAX_PROBLEMS:
                break
        return sorted(problems, key=lambda problem: (problem.field.count(".") + problem.field.count("["), problem.field))[:MAX_PROBLEMS]

    def _explain(self, error: ValidationError) -> Iterator[Problem]:
        path = _path(error.absolute_path)
        instance: Any = error.instance
        schema = error.schema if isinstance(error.schema, Mapping) else {}
        properties = schema.get("properties", {})
        if error.validator == "additionalProperties":
            for key in sorted(set(instance) - set(properties)):
                near = difflib.get_close_matches(key[:80], list(properties), n=1, cutoff=0.5)
                advice = f"did you mean {near[0]!r}? " if near else ""
                yield Problem(_join(path, key), shown(instance[key]), "there is no such field", f"{advice}the fields are {_names(properties)}")
        elif error.validator == "required":
            required: Any = error.validator_value
            for key in required:
                if key not in instance:
                    yield Problem(_join(path, key), "nothing", "is missing", self.describe(properties.get(key, {})))
        elif branch := _meant(error):
            for inner in branch:
                yield from self._explain(inner)
        else:
            yield Problem(path, shown(instance), f"{shown(instance)} is not valid", self.describe(schema))

    def describe(self, schema: Mapping[str, Any]) -> str:
        """What a (sub)schema accepts, in words."""
        if "$ref" in schema:
            schema = {**self._resolve(str(schema["$ref"])), **{key: value for key, value in schema.items() if key != "$ref"}}
        text = _describe_type(schema) if "anyOf" not in schema else ", or ".join(self.describe(option) for option in schema["anyOf"])
        if description := schema.get("description"):
            text += f" ({description})"
        return text

    def _resolve(self, reference: str) -> Mapping[str, Any]:
        node: Any = self._schema
        for step in reference.removeprefix("#/").split("/"):
            node = node.get(step, {}) if isinstance(node, Mapping) else {}
        return node if isinstance(node, Mapping) else {}


def parse_arguments(text: str, tool: str = "") -> dict[str, Any]:
    """The arguments of a call from JSON text; an empty text is no arguments.

    Raises:
        DeskhandError: ``invalid_arguments`` when it is not one JSON object, holds NaN or Infinity, a key twice, or is too large.
    """
    if len(text) > MAX_TEXT:
        raise InvalidArguments(tool, [Problem("", f"{len(text)} characters", "the arguments are too large", f"at most {MAX_TEXT} characters of JSON")])
    try:
        value = json.loads(text or "{}", parse_constant=_no_constant, object_pairs_hook=_no_repeats)
    except RecursionError:
        raise InvalidArguments(tool, [Problem("", "JSON", "the arguments are nested too deeply", f"at most {MAX_DEPTH} levels")]) from None
    except ValueError as error:
        raise InvalidArguments(tool, [Problem("", shown(text), f"the arguments are not JSON: {error}", "one JSON object")]) from None
    if not isinstance(value, dict):
        raise InvalidArguments(tool, [Problem("", shown(value), "the arguments are not an object", "one JSON object, {} for none")])
    return value


def sendable(text: str) -> bool:
    """Whether a text can be written as UTF-8: JSON may escape halves of characters that are none."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def shown(value: Any, length: int = 60) -> str:
    """``value`` for a message, shortened."""
    text = repr(value) if not isinstance(value, str | int | float | bool | type(None) | list | dict) else _json(value)
    return text if len(text) <= length else text[: length - 3] + "..."


def _json(value: Any) -> str:
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) > MAX_INTEGER:
        return "a huge integer"
    try:
        text = json.dumps(value, ensure_ascii=False, default=repr)
        return text if sendable(text) else json.dumps(value, default=repr)
    except (TypeError, ValueError, RecursionError):
        return f"a {type(value).__name__}"


def unreadable(value: Any) -> Problem | None:
    """What no schema can say: not JSON, not finite, too deep, too large."""
    count, text = 0, 0
    stack: list[tuple[Any, str, int]] = [(value, "", 0)]
    while stack:
        item, path, depth = stack.pop()
        count += 1
        if depth > MAX_DEPTH:
            return Problem(_short(path), "a nested value", "is nested too deeply", f"at most {MAX_DEPTH} levels")
        if count > MAX_VALUES:
            return Problem(_short(path), "a large value", "holds too many values", f"at most {MAX_VALUES} in all")
        if isinstance(item, str):
            if not sendable(item):
                return Problem(_short(path), "text with half of a character", "holds a lone surrogate, which is no character", "Unicode text")
            text += len(item)
            if text > MAX_TEXT:
                return Problem(_short(path), f"{text} characters", "is too long", f"at most {MAX_TEXT} characters in all")
        elif isinstance(item, bool) or item is None:
            continue
        elif isinstance(item, float):
            if not math.isfinite(item):
                return Problem(path, repr(item), f"{item!r} is not a finite number", "a finite number")
        elif isinstance(item, int):
            if abs(item) > MAX_INTEGER:
                return Problem(path, "a huge integer", "the integer is too large", f"integers from -{MAX_INTEGER} to {MAX_INTEGER}")
        elif isinstance(item, dict):
            wrong = next((key for key in item if not isinstance(key, str)), None)
            if wrong is not None:
                return Problem(path, shown(wrong), f"the key {shown(wrong)} is not text", "text as keys")
            if not all(map(sendable, item)):
                return Problem(path, "a key with half of a character", "holds a lone surrogate, which is no character", "Unicode text as keys")
            long = next((key for key in item if len(key) > MAX_KEY), None)
            if long is not None:
                return Problem(_join(path, long), f"{len(long)} characters", "the name of the field is too long", f"at most {MAX_KEY} characters")
            stack.extend((entry, _join(path, key), depth + 1) for key, entry in reversed(item.items()))
        elif isinstance(item, list | tuple):
            stack.extend((item[index], f"{path}[{index}]", depth + 1) for index in range(min(len(item), MAX_VALUES + 1) - 1, -1, -1))
        else:
            return Problem(path, type(item).__name__, f"a {type(item).__name__} is not JSON", "null, true or false, a number, text, a list or an object")
    return None


def _meant(error: ValidationError) -> list[ValidationError]:
    """Of alternatives that all failed: the errors of the one whose type the value has, so that they point at what is wrong in it."""
    branches: dict[Any, list[ValidationError]] = {}
    for inner in error.context or ():
        branches.setdefault(inner.schema_path[0], []).append(inner)
    right = [errors for errors in branches.values() if not any(each.validator in ("type", "const") and not each.path for each in errors)]
    return right[0] if len(right) == 1 else []


def _short(path: str) -> str:
    """The beginning of a deep path, enough to find the argument."""
    return path if len(path) <= 80 else path[:77] + "..."


def _path(steps: Any) -> str:
    path = ""
    for step in steps:
        path = f"{path}[{step}]" if isinstance(step, int) else _join(path, step)
    return path


def _join(path: str, key: str) -> str:
    key = key if len(key) <= 40 else key[:37] + "..."
    return f"{path}.{key}" if path else key


def _names(properties: Mapping[str, Any]) -> str:
    return ", ".join(properties) or "none: it takes no arguments"


_WORDS = {
    "number": "a number",
    "integer": "an integer",
    "string": "text",
    "boolean": "true or false",
    "null": "null",
    "array": "a list",
    "object": "an object",
}


def _describe_type(schema: Mapping[str, Any]) -> str:
    if "const" in schema:
        return shown(schema["const"])
    if "enum" in schema:
        return "one of " + ", ".join(shown(option) for option in schema["enum"])
    kind = schema.get("type", "")
    text = _WORDS.get(kind, "any value") if isinstance(kind, str) else " or ".join(_WORDS.get(item, item) for item in kind)
    if kind in ("number", "integer"):
        low, high = schema.get("minimum"), schema.get("maximum")
        above, below = schema.get("exclusiveMinimum"), schema.get("exclusiveMaximum")
        text += f" from {low:g}" if low is not None else f" above {above:g}" if above is not None else ""
        text += f" to {high:g}" if high is not None else f" below {below:g}" if below is not None else ""
    if kind == "string":
        text += f" that matches {schema['pattern']}" if "pattern" in schema else ""
        text += _amount(schema, "minLength", "maxLength", "characters")
    if kind == "array":
        text += _amount(schema, "minItems", "maxItems", "items")
    if kind == "object" and schema.get("properties"):
        text += f" with {_names(schema['properties'])}"
    return text


def _amount(schema: Mapping[str, Any], least: str, most: str, what: str) -> str:
    low, high = schema.get(least), schema.get(most)
    if low is not None and low == high:
        return f" of {low} {what}"
    if low is None and high is None:
        return ""
    return f" of {low if low is not None else 0}{f' to {high}' if high is not None else ' or more'} {what}"


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a finite number")


def _no_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) != len(pairs):
        keys = [key for key, _ in pairs]
        raise ValueError(f"the key {next(key for key in keys if keys.count(key) > 1)!r} is given twice")
    return result
