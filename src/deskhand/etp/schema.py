"""JSON Schemas (draft 2020-12) from type hints, closed: what is not described is not accepted."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, get_type_hints

from pydantic import BaseModel, ConfigDict, PydanticUserError, TypeAdapter, create_model

from deskhand.errors import DeskhandError


def arguments_model(function: Callable[..., Any], name: str) -> tuple[type[BaseModel], dict[str, Any]]:
    """A pydantic model of the arguments of ``function``, its first parameter (the context) left out, and their schema.

    Units, frames and ranges come from ``Annotated[float, Field(ge=..., le=..., description="[m] ...")]``.

    Raises:
        DeskhandError: ``config_error`` when a parameter has no type hint or description, or is ``*args`` or ``**kwargs``.
    """
    hints = _hints(function, name)
    parameters = list(inspect.signature(function).parameters.values())
    if not parameters or parameters[0].name != "ctx":
        raise DeskhandError("config_error", f"tool {name!r}: the first parameter must be `ctx: ToolContext`.")
    fields: dict[str, Any] = {}
    for parameter in parameters[1:]:
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD, parameter.POSITIONAL_ONLY):
            raise DeskhandError("config_error", f"tool {name!r}: parameter {parameter.name!r} must be an ordinary named one.")
        if parameter.name not in hints:
            raise DeskhandError("config_error", f"tool {name!r}: parameter {parameter.name!r} has no type hint.")
        default = ... if parameter.default is parameter.empty else parameter.default
        fields[parameter.name] = (hints[parameter.name], default)
    try:
        model: type[BaseModel] = create_model(f"{name}_arguments", __config__=ConfigDict(extra="forbid", strict=True), **fields)
    except PydanticUserError as error:
        raise DeskhandError("config_error", f"tool {name!r}: its parameters cannot be described: {error}.") from error
    schema = _input_schema(model)
    bare = [key for key, value in schema["properties"].items() if not any("description" in each or "$ref" in each for each in (value, *value.get("anyOf", ())))]
    if bare:
        raise DeskhandError(
            "config_error", f"tool {name!r}: parameters {bare} have no description.", hint='Write Annotated[float, Field(description="[m] ...")].'
        )
    return model, schema


def _input_schema(model: type[BaseModel]) -> dict[str, Any]:
    schema: dict[str, Any] = _tidy(model.model_json_schema())
    schema.pop("title", None)
    schema.setdefault("properties", {})
    return schema


def output_schema(function: Callable[..., Any], name: str) -> dict[str, Any]:
    """The schema of what ``function`` returns, from its return annotation.

    Raises:
        DeskhandError: ``config_error`` when there is none, or one that JSON cannot say.
    """
    hint = _hints(function, name).get("return")
    if hint is None or hint is Any:
        raise DeskhandError("config_error", f"tool {name!r}: the return type must be annotated with a TypedDict or a pydantic model.")
    return schema_of(hint, name)


def schema_of(hint: Any, name: str) -> dict[str, Any]:
    """The schema of what fits a type.

    Raises:
        DeskhandError: ``config_error`` when JSON cannot say it.
    """
    try:
        schema: dict[str, Any] = _tidy(TypeAdapter(hint).json_schema(mode="serialization"))
    except PydanticUserError as error:
        raise DeskhandError("config_error", f"tool {name!r}: the type {hint!r} cannot be described: {error}.") from error
    schema.pop("title", None)
    return schema


def _hints(function: Callable[..., Any], name: str) -> dict[str, Any]:
    parameters = list(inspect.signature(function).parameters)
    annotations = {key: value for key, value in function.__annotations__.items() if key not in parameters[:1]}

    class Holder:
        __annotations__ = annotations

    try:
        return get_type_hints(Holder, globalns=inspect.unwrap(function).__globals__, include_extras=True)
    except (NameError, TypeError) as error:
        raise DeskhandError("config_error", f"tool {name!r}: a type hint cannot be resolved: {error}.") from error


def _tidy(schema: Any) -> Any:
    """Without the titles that pydantic makes up, and closed wherever an object lists its properties."""
    if isinstance(schema, list):
        return [_tidy(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    named = ("properties", "$defs")
    result = {
        key: {name: _tidy(item) for name, item in value.items()} if key in named else value if key in ("default", "enum", "const") else _tidy(value)
        for key, value in schema.items()
        if not (key == "title" and isinstance(value, str))
    }
    if "properties" in result:
        result.setdefault("additionalProperties", False)
    return result
