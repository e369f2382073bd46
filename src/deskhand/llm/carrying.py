"""What an accepted plan leaves no choice in: the next call follows from it, and a small model need not be asked for it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from deskhand.language.building import parse_building
from deskhand.llm.base import ToolCall
from deskhand.llm.form import corrected
from deskhand.llm.situation import Situation
from deskhand.world.relations import SIDEWAYS

TRIES = 2
"""How often the plan's own way is tried with one object before the model is asked what to do."""
MOTIONS = frozenset(("pick", "place_in", "place_on", "place_at", "place_beside", "put_aside"))


def next_call(now: Situation, known: Mapping[str, Mapping[str, Any]]) -> ToolCall | None:
    """The call that follows, None where something has to be decided. ``known``: cards of the tools that may be called."""
    call = _first_look(now) or now.corrected or _looked_again(now) or corrected(now) or _given_structure(now) or _plan_of_steps(now) or _carried_on(now)
    return call if call is not None and call.name in known else None


def _first_look(now: Situation) -> ToolCall | None:
    return ToolCall("detect_objects", {}) if not now.looked and not now.failed["detect_objects"] else None


def _given_structure(now: Situation) -> ToolCall | None:
    """A plan or a picture that stands in the instruction is handed on as it is."""
    if now.steps or now.planned or now.said or now.failed["plan_structure"]:
        return None
    wish = parse_building(now.instruction)
    if wish is None or wish.unclear or (wish.plan is None and not wish.file):
        return None
    return ToolCall("plan_structure", {"plan": wish.plan} if wish.plan is not None else {"file": wish.file})


def _plan_of_steps(now: Situation) -> ToolCall | None:
    """The steps of a structure are its sub-goals."""
    if not now.steps or now.planned or now.complaint:
        return None
    goals = []
    for step in now.steps.values():
        target = str((step.get("on") or ["table"])[0])
        goals.append({"object_id": str(step["object_id"]), "relation": "on", "target_id": target, "position": [step["x"], step["y"]]})
    return ToolCall("submit_plan", {"subgoals": goals})


def _looked_again(now: Situation) -> ToolCall | None:
    """Objects may have moved."""
    last = now.acts[-1] if now.acts else None
    failed = last is not None and not last.ok and (last.call.name in MOTIONS or (last.call.name == "finish" and bool(now.faults)))
    return ToolCall("detect_objects", {}) if failed else None


def _carried_on(now: Situation) -> ToolCall | None:
    if not now.planned or now.complaint or now.news:
        return None
    if now.holding:
        return _put(now)
    todo = [name for name in now.goals if not now.done(name)]
    if not todo and now.goals:
        return ToolCall("finish", {"status": "done", "summary": ""})
    ready = [name for name in todo if name in now.objects and now.failed[f"pick({name})"] < TRIES and now.given_up[name] < TRIES]
    if not ready:
        return None
    return ToolCall("pick", {"object_id": min(ready, key=lambda name: now.failed[f"pick({name})"] + now.given_up[name])})


def _put(now: Situation) -> ToolCall | None:
    """Where the plan wants what is held; aside after that has failed, or where the plan does not speak of it."""
    name = now.holding
    if name not in now.goals or now.given_up[name] >= TRIES:
        return ToolCall("put_aside", {}) if not now.failed["put_aside"] else None
    relation, target = now.goals[name]
    step = now.steps.get(name)
    if step is not None:
        return ToolCall("place_at", {key: step[key] for key in ("x", "y", "yaw", "on") if key in step})
    if relation in SIDEWAYS:
        return ToolCall("place_beside", {"target_id": target, "side": relation})
    if target == "table":
        return ToolCall("put_aside", {})
    return ToolCall("place_in", {"container_id": target}) if relation == "in" else ToolCall("place_on", {"target_id": target})
