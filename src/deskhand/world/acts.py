"""What the tools that handle objects do to the world: said once, read by whoever follows or foresees their calls."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from deskhand.world.relations import TABLE

PUTS: dict[str, tuple[str, str]] = {
    "place_in": ("in", "container_id"),
    "insert": ("in", "target_id"),
    "place_on": ("on", "target_id"),
    "place_at": ("on", ""),
    "place_beside": ("on", ""),
    "put_aside": ("on", ""),
    "place_on_pan": ("on", "side"),
}
"""Tools that put down what is held: the relation, and the argument that names the target (none: the table, or the first of what ``on`` lists)."""
PAN = " pan"
"""Behind ``left`` and ``right``: what carries an object on a balance; no look has an id for it."""
LETS_GO = frozenset(("open_gripper", "handover"))
"""Tools after which the hand is empty, wherever the object has gone."""
CORRECTS = frozenset(("rename_object", "split_object", "merge_objects"))
"""Tools by which somebody with eyes puts right what perception found."""
LOOKS = frozenset(("detect_objects", "look", "describe_scene", *CORRECTS))
"""Tools whose ``objects`` are all that is seen."""


_ANNOUNCED = {"pick": ("next_container_id", "place_in", "container_id"), "place_in": ("next_object_id", "pick", "object_id")}
"""Tools that may be told what comes next, and begin with it: the argument, the tool, and that one's argument."""
_PLANNED = {"pick": ("next_object_id",)}
"""Arguments that say what comes later: it is planned, and not begun."""


def announced(tool: str, arguments: Mapping[str, Any]) -> tuple[dict[str, Any], tuple[str, dict[str, Any]] | None]:
    """The arguments of a call without what comes next, and the call (tool, arguments) that this is, or None."""
    key, after, its = _ANNOUNCED.get(tool, ("", "", ""))
    plain = {name: value for name, value in arguments.items() if name != key and name not in _PLANNED.get(tool, ())}
    return plain, (after, {its: arguments[key]}) if key and arguments.get(key) else None


def support_after(tool: str, arguments: Mapping[str, Any]) -> tuple[str, str]:
    """(relation, id) of what carries the held object after a call of a tool of :data:`PUTS`."""
    relation, key = PUTS[tool]
    if tool == "insert" and arguments.get("depth") is not None:
        relation = "on"  # in a recess it stands on the board
    if key == "side":
        return relation, f"{arguments.get(key, '')}{PAN}"
    return relation, str(arguments.get(key, TABLE) if key else (arguments.get("on") or [TABLE])[0])


def goal_met(tool: str, arguments: Mapping[str, Any]) -> tuple[str, str]:
    """(relation, id) of the goal that such a call fulfils: as :func:`support_after`, but beside its target what was put beside it."""
    if tool == "place_beside":
        return str(arguments.get("side", "near")), str(arguments.get("target_id", ""))
    return support_after(tool, arguments)
