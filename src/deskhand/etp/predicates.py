"""What must hold before a tool is called, and what holds after it, as words in its card.

A predicate is ``name`` or ``name(argument)``, where ``argument`` is one of the tool's arguments, or, in what holds after it, a field of its result.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from deskhand.errors import DeskhandError

if TYPE_CHECKING:
    from deskhand.etp.card import Card
    from deskhand.etp.tool import ToolContext

_FORM = re.compile(r"([a-z_]+)(?:\(([a-z_0-9]+)\))?")
AT_HOME = 0.03  # [rad] of every joint from the pose home


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


def _holding(ctx: ToolContext, value: Any) -> None:
    held = ctx.belief.held
    if held is None:
        raise PreconditionFailed("holding", "the gripper holds nothing.", hint="Pick something first.")
    if value and held.object.id != value:
        raise PreconditionFailed("holding", f"the gripper holds {held.object.id!r}, not {value!r}.", hint="Place it first, then pick the other.")


def _not_holding(ctx: ToolContext, _: Any) -> None:
    if ctx.belief.held is not None:
        raise PreconditionFailed("not_holding", f"the gripper already holds {ctx.belief.held.object.id!r}.", hint="Place it first.")


def _scene_known(ctx: ToolContext, _: Any) -> None:
    if ctx.belief.scene is None:
        raise PreconditionFailed("scene_known", "nobody has looked at the desk yet.", hint="Call detect_objects first.")


def _object_known(ctx: ToolContext, value: Any) -> None:
    for name in [value] if isinstance(value, str) else value or ():
        if not name:
            continue
        _scene_known(ctx, None)
        assert ctx.belief.scene is not None
        try:
            ctx.belief.scene.get(str(name))
        except DeskhandError as error:
            raise PreconditionFailed("object_known", error.message, hint=error.hint, code=error.code) from error


def _view_fresh(ctx: ToolContext, _: Any) -> None:
    _scene_known(ctx, None)
    if not ctx.belief.fresh:
        raise PreconditionFailed("view_fresh", "the robot has touched the desk since the last look, or the arm was in its way.", hint="Call look.")


def _at_home(ctx: ToolContext, _: Any) -> None:
    arm = ctx.robot.arm
    if float(np.abs(ctx.robot.joint_state().of(arm.joints) - np.asarray(arm.named_poses["home"])).max()) > AT_HOME:
        raise PreconditionFailed("at_home", "the arm is not at home, where it hides nothing from the camera.", hint="Call move_home.")


def _stored(ctx: ToolContext, value: Any) -> None:
    if not value:
        return
    uri = str(value["uri"] if isinstance(value, Mapping) else value)
    try:
        ctx.resources.get(uri)
    except DeskhandError as error:
        raise PreconditionFailed("stored", error.message, hint=error.hint, code=error.code) from error


def _watch_runs(ctx: ToolContext, value: Any) -> None:
    running = [info.watch_id for info in ctx.watches.infos() if info.running] if ctx.watches else []
    if value not in running:
        raise PreconditionFailed("watch_runs", f"no watch {value!r} runs.", hint="list_watches tells which do.", code="unknown_watch")


PREDICATES: dict[str, tuple[str, Callable[[ToolContext, Any], None]]] = {
    "not_stopped": ("the safety stop is not latched", _not_stopped),
    "holding": ("the gripper holds an object, with an argument: that one", _holding),
    "not_holding": ("the gripper holds nothing", _not_holding),
    "scene_known": ("detect_objects has looked at the desk at least once", _scene_known),
    "object_known": ("the last look has an object of this id, or all of these", _object_known),
    "view_fresh": ("the arm hid nothing from the last look, and the robot has touched nothing since", _view_fresh),
    "at_home": ("the arm is at home, where it hides nothing from the camera", _at_home),
    "stored": ("the store has what this uri names", _stored),
    "watch_runs": ("a continuous tool runs under this id", _watch_runs),
}
"""Name -> what it says, and a check that raises :class:`PreconditionFailed`."""


def parsed(text: str) -> tuple[str, str]:
    """(name, argument or empty) of a predicate.

    Raises:
        DeskhandError: ``config_error`` for what is none, with what is valid.
    """
    match = _FORM.fullmatch(text)
    if not match or match[1] not in PREDICATES:
        raise DeskhandError("config_error", f"unknown predicate {text!r}; valid: {', '.join(PREDICATES)}.")
    return match[1], match[2] or ""


def check_predicates(card: Card) -> None:
    """Every predicate of a card is known, and about an argument that exists; what holds after it may be about a field of the result.

    Raises:
        DeskhandError: ``config_error`` with what is valid.
    """
    arguments, results = (schema.get("properties", {}) for schema in (card.input_schema, card.output_schema))
    if card.mode != "on_demand":
        results = {"watch_id": {}}  # what the call answers; the result is its last word
    for kind, texts, fields in (("precondition", card.preconditions, arguments), ("postcondition", card.postconditions, {**arguments, **results})):
        for text in texts:
            try:
                _, argument = parsed(text)
            except DeskhandError as error:
                raise DeskhandError("config_error", f"the card of tool {card.name!r} is broken: {kind}: {error.message}") from error
            if argument and argument not in fields:
                raise DeskhandError("config_error", f"the card of tool {card.name!r} is broken: {kind} {text!r} names no {_meant(kind)}.")


def _meant(kind: str) -> str:
    return "argument" if kind == "precondition" else "argument and no field of the result"


def check_preconditions(card: Card, context: ToolContext, arguments: Mapping[str, Any]) -> None:
    """Raise :class:`PreconditionFailed` for the first precondition that does not hold."""
    for text in card.preconditions:
        name, argument = parsed(text)
        PREDICATES[name][1](context, _value(card, argument, arguments))


def unmet(card: Card, context: ToolContext, arguments: Mapping[str, Any] | None = None) -> list[str]:
    """The preconditions that do not hold now. Without ``arguments`` those about an argument count as met."""
    return list(_failing(card.preconditions, context, lambda argument: _value(card, argument, arguments or {}), arguments is None))


def broken_promises(card: Card, context: ToolContext, arguments: Mapping[str, Any], data: Any) -> list[str]:
    """What a card says to hold after a success and does not; ``data`` is the result of that call."""
    fields = data if isinstance(data, Mapping) else {}
    return list(_failing(card.postconditions, context, lambda argument: arguments.get(argument, fields.get(argument)), False))


def _failing(texts: tuple[str, ...], context: ToolContext, value: Callable[[str], Any], only_plain: bool) -> Iterator[str]:
    for text in texts:
        name, argument = parsed(text)
        if argument and only_plain:
            continue
        try:
            PREDICATES[name][1](context, value(argument) if argument else None)
        except PreconditionFailed:
            yield text


def _value(card: Card, argument: str, arguments: Mapping[str, Any]) -> Any:
    """An argument's value, or what it is when it is not given."""
    return arguments.get(argument, card.input_schema.get("properties", {}).get(argument, {}).get("default")) if argument else None
