"""A tool: one typed, documented function behind a card."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from pydantic import BaseModel, ValidationError
from pydantic_core import PydanticSerializationError, to_jsonable_python

from deskhand.errors import DeskhandError
from deskhand.etp.card import Card, Effects, Example, Mode, Need, explain
from deskhand.etp.schema import arguments_model, input_schema, output_schema

if TYPE_CHECKING:
    from deskhand.robot import Cancelled, Progress, Robot
    from deskhand.skills.belief import Belief


def _no_progress(fraction: float, text: str) -> None:
    pass


def _never() -> bool:
    return False


@dataclass(frozen=True)
class Placement:
    """The robot put an object, ``height`` [m] tall, ``relation`` (on or in) ``target_id`` at ROS time ``stamp`` [s].

    ``seen`` says whether the look after it showed the object there, under the id ``seen_as``; else it was seen nowhere else.
    """

    relation: str
    target_id: str
    height: float
    stamp: float
    seen_as: str
    seen: bool


@dataclass
class ToolContext:
    """What a tool gets from the session; the first parameter of every tool, ``ctx``.

    Attributes:
        robot: the arm, gripper and camera.
        belief: the last scene and what is held, shared by all calls of a session.
        progress: report a fraction 0..1 and a line of text.
        cancelled: poll it in every long step and stop when it is true.
        caller: who asked, for records.
        placed: object id -> where a tool of this session put it, verified, until it is picked again; shared by all calls.
    """

    robot: Robot
    belief: Belief
    progress: Progress = _no_progress
    cancelled: Cancelled = _never
    caller: str = ""
    placed: dict[str, Placement] = field(default_factory=dict)


class Tool(Protocol):
    """What the registry holds: a function of ours, or one mounted from elsewhere."""

    @property
    def card(self) -> Card:
        """What it can do."""
        ...

    def run(self, context: ToolContext, arguments: Mapping[str, Any]) -> Any:
        """Do it. ``arguments`` already fit the card's schema; returns JSON-able data. Raises DeskhandError."""
        ...


@dataclass(frozen=True)
class FunctionTool:
    """A tool that is a Python function in this process."""

    card: Card
    function: Callable[..., Any]
    arguments: type[BaseModel]

    def run(self, context: ToolContext, arguments: Mapping[str, Any]) -> Any:
        """Call the function with typed arguments; models and TypedDicts come back as JSON data.

        Raises:
            DeskhandError: ``invalid_arguments``, ``invalid_output``, or what the function raised.
        """
        try:
            model = self.arguments.model_validate_json(json.dumps(arguments), strict=True)
        except ValidationError as error:
            raise DeskhandError("invalid_arguments", f"{self.card.name}: {explain(error)}.") from error
        result = self.function(context, **{name: getattr(model, name) for name in self.arguments.model_fields})
        try:
            return to_jsonable_python(result, inf_nan_mode="constants")
        except PydanticSerializationError as error:
            raise DeskhandError("invalid_output", f"{self.card.name} returned what JSON cannot say: {error}.") from error


F = TypeVar("F", bound=Callable[..., Any])
ATTRIBUTE = "__deskhand_tool__"


def tool(
    *,
    group: str,
    unit: str,
    when_to_use: str,
    limits: str,
    examples: Iterable[Mapping[str, Any] | tuple[str, Mapping[str, Any]]],
    effects: Effects = "none",
    needs: Iterable[Need] = (),
    preconditions: Iterable[str] = (),
    postconditions: Iterable[str] = (),
    timeout: float = 10.0,
    mode: Mode = "on_demand",
    version: str = "1.0",
    name: str = "",
    source: str = "deskhand",
) -> Callable[[F], F]:
    """Make a function a tool: its name, docstring (first line: the summary) and type hints become the card.

    ``examples`` are argument objects, or pairs of a situation and an argument object. The function itself stays as it is.

    Raises:
        DeskhandError: ``config_error``, at import, naming what is missing or wrong.
    """

    def decorate(function: F) -> F:
        title = name or function.__name__
        model = arguments_model(function, title)
        summary = (inspect.getdoc(function) or "").split("\n\n")[0].replace("\n", " ").strip()
        if not summary:
            raise DeskhandError("config_error", f"tool {title!r} has no docstring; its first paragraph is the summary.")
        card = Card.from_json(
            {
                "name": title,
                "version": version,
                "group": group,
                "unit": unit,
                "summary": summary,
                "when_to_use": when_to_use,
                "limits": limits,
                "input_schema": input_schema(model),
                "output_schema": output_schema(function, title),
                "mode": mode,
                "effects": effects,
                "needs": tuple(needs),
                "preconditions": tuple(preconditions),
                "postconditions": tuple(postconditions),
                "timeout": timeout,
                "source": source,
                "examples": [_example(item) for item in examples],
            }
        )
        setattr(function, ATTRIBUTE, FunctionTool(card, function, model))
        return function

    return decorate


def _example(item: Mapping[str, Any] | tuple[str, Mapping[str, Any]]) -> Example:
    if isinstance(item, tuple):
        return Example(situation=item[0], arguments=dict(item[1]))
    return Example(arguments=dict(item))


def tool_of(function: Any) -> FunctionTool | None:
    """The tool that a decorated function is, None for anything else."""
    found = getattr(function, ATTRIBUTE, None)
    return found if isinstance(found, FunctionTool) else None
