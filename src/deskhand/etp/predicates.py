"""What must hold before a tool is called, as words in its card.

A precondition is ``name`` or ``name(argument)``, where ``argument`` is one of the tool's arguments.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from deskhand.errors import DeskhandError

if TYPE_CHECKING:
    from deskhand.etp.card import Card
    from deskhand.etp.tool import ToolContext

_FORM = re.compile(r"([a-z_]+)(?:\(([a-z_0-9]+)\))?")


class PreconditionFailed(DeskhandError):
    """``precondition_failed`` (or a stop's own code) with the predicate that does not hold."""

    def __init__(self, predicate: str, message: str, *, hint: str, code: str = "precondition_failed") -> None:
        super().__init__(code, message, hint=hint)
        self.predicate = predicate


def _not_stopped(ctx: ToolContext, _: Any) -> None:
    status = ctx.robot.safety_status()
    if status.stopped:
        raise PreconditionFailed(
            "not_stopped",
            f"the robot is stopped: {status.reason or status.code}.",
            code=status.code or "safety_stop",
            hint="Only the operator can reset the stop.",
        )


def _holding(ctx: ToolContext, _: Any) -> None:
    if ctx.belief.held is None:
        raise PreconditionFailed("holding", "the gripper holds nothing.", hint="Pick something first.")


def _not_holding(ctx: ToolContext, _: Any) -> None:
    if ctx.belief.held is not None:
        raise PreconditionFailed("not_holding", f"the gripper already holds {ctx.belief.held.object.id!r}.", hint="Place it first.")


def _scene_known(ctx: ToolContext, _: Any) -> None:
    if ctx.belief.scene is None:
        raise PreconditionFailed("scene_known", "nobody has looked at the desk yet.", hint="Call detect_objects first.")


PREDICATES: dict[str, tuple[str, Callable[[ToolContext, Any], None]]] = {
    "not_stopped": ("the safety stop is not latched", _not_stopped),
    "holding": ("the gripper holds an object", _holding),
    "not_holding": ("the gripper holds nothing", _not_holding),
    "scene_known": ("detect_objects has looked at the desk at least once", _scene_known),
}
"""Name -> what it says, and a check that raises :class:`PreconditionFailed`."""


def check_predicates(card: Card) -> None:
    """Every precondition of a card is a known predicate about an argument that exists.

    Raises:
        DeskhandError: ``config_error`` with what is valid.
    """
    for text in card.preconditions:
        match = _FORM.fullmatch(text)
        if not match or match[1] not in PREDICATES:
            raise DeskhandError("config_error", f"the card of tool {card.name!r} is broken: unknown precondition {text!r}; valid: {', '.join(PREDICATES)}.")
        if match[2] and match[2] not in card.input_schema.get("properties", {}):
            raise DeskhandError("config_error", f"the card of tool {card.name!r} is broken: precondition {text!r} names no argument.")


def check_preconditions(card: Card, context: ToolContext, arguments: Mapping[str, Any]) -> None:
    """Raise :class:`PreconditionFailed` for the first precondition that does not hold."""
    for text in card.preconditions:
        match = _FORM.fullmatch(text)
        assert match is not None  # check_predicates saw the card
        PREDICATES[match[1]][1](context, arguments.get(match[2]) if match[2] else None)
