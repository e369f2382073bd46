"""Direct mode, the baseline without tools: the model reads where objects are in cells, and writes actions of seven numbers (tools/execution/direct.py).

As EB-Manipulation has it: objects without names, a numbered picture where the model is shown any, examples, several actions a reply, 15 actions an episode,
what came of each action and a new look after every reply. The present reward, which the paper tells as well, is the scorer's alone here. What the loop checks
elsewhere, nobody checks here but the safety envelope; whether it worked is the scorer's word.

``direct_labelled`` tells ids, labels, colours and sizes as well. ``direct+tools`` and ``direct+tools_hidden`` ask twice, with tools between
(direct_tools.py).
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from deskhand.etp.base import ToolResult
from deskhand.language.resolve import Seen
from deskhand.llm.base import Message, Reply, ToolCall
from deskhand.types.action_cells import CELL, TURNS, angle_of, cells_of
from deskhand.types.resources import resource_path
from deskhand.types.yaml_file import read_yaml

MODES = ("direct", "direct_labelled", "direct+tools", "direct+tools_hidden")
ACT = "direct_action"
LOOKS = {mode: "detect_objects" if mode == "direct_labelled" else "direct_look" for mode in MODES}
EXAMPLES = "config/direct/examples.yaml"
MOST_ACTIONS = 15
"""Executed actions of an episode, as in EB-Manipulation; replies as well."""
KEPT = 3
"""Exchanges that the model is shown again; what the desk looked like before the newest look is left out, so that the prompt does not grow."""
SYSTEM = f"""You move a robot arm with a parallel gripper over a desk. An action is seven whole numbers [X, Y, Z, Roll, Pitch, Yaw, Gripper].
X, Y, Z are 0 to 100, cells of {1000 * CELL:g} mm: X grows away from the robot, Y to its left, Z up, 0 is the table.
Roll, Pitch, Yaw are 0 to {TURNS}: an angle is 3 times the number less 180 degrees, about the fixed axes x, y and z. 0, 60, Yaw points straight down;
with Yaw 60 the fingers close along Y. Gripper is 1 for open and 0 for closed, and moves after the arm has arrived.
To grasp an object: 8 to 10 cells above it, open; down to it, open; the same, closed; up. To let go: above the place, down, open.
At most {MOST_ACTIONS} actions are executed. Of every object you are told where the middle of what is seen of it is, sorted by Y.
Answer with JSON: visual_state_description, reasoning_and_reflection, language_plan, executable_plan (a list of actions; empty when the task is done)."""
_ACTION = {"type": "array", "minItems": 7, "maxItems": 7, "items": {"type": "integer", "minimum": 0, "maximum": TURNS}}
_TEXT = {"type": "string", "maxLength": 600}
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "visual_state_description": _TEXT,
        "reasoning_and_reflection": _TEXT,
        "language_plan": _TEXT,
        "executable_plan": {"type": "array", "maxItems": MOST_ACTIONS, "items": _ACTION},
    },
    "required": ["visual_state_description", "reasoning_and_reflection", "language_plan", "executable_plan"],
    "additionalProperties": False,
}

Ask = Callable[[Sequence[Message]], tuple[Reply, float]]
"""The model's reply to a conversation, held to :data:`SCHEMA`, and its latency [s]."""
Act = Callable[[ToolCall, Reply, float], ToolResult]
"""Makes a call and records it."""
See = Callable[[ToolResult], tuple[bytes, ...]]
"""The pictures that belong to a look."""


@dataclass(frozen=True)
class Direct:
    """One way of the mode: ``mode`` is one of :data:`MODES`; ``pictures``: whether the model is shown any."""

    mode: str = "direct"
    pictures: bool = False

    def look(self) -> ToolCall:
        """The call for a look."""
        return ToolCall(LOOKS[self.mode], {"picture": True} if self.mode != "direct_labelled" and self.pictures else {})

    def told(self, seen: ToolResult) -> str:
        """What a look has shown, in words."""
        if not seen.ok or not isinstance(seen.data, Mapping):
            return f"The camera shows nothing: {seen.message}"
        return boxes(seen.data["objects"]) if self.mode == "direct_labelled" else points(seen.data["objects"])


def run_direct(instruction: str, ask: Ask, act: Act, way: Direct | None = None, see: See = lambda _: ()) -> tuple[str, str]:
    """Act until the model writes an empty plan, or its actions or replies are used up.

    Returns:
        A code and what happened: ``task_incomplete`` when the model has ended it, for nobody has checked; ``budget_exceeded``; or the code of a model that
        writes no actions.
    """
    way, nothing, wrong, made = way or Direct(), Reply(""), 0, 0
    seen = act(way.look(), nothing, 0.0)
    system, task = Message("system", SYSTEM), f"{examples(instruction)}Task: {instruction}"
    exchanges: list[tuple[str, str]] = []
    for _ in range(MOST_ACTIONS):
        reply, latency = ask([system, *_shown(task, exchanges[-KEPT:], way.told(seen), see(seen))])
        said = reply.text
        actions, problem = read_actions(reply.text)
        wrong = wrong + 1 if problem else 0
        if wrong >= 3:
            return "model_failed", f"three replies in a row were no actions; the last: {problem}"
        if not actions and not problem:
            return "task_incomplete", "The model says that it is done; in direct mode nobody has checked it."
        told = [problem] if problem else []
        for action in actions[: MOST_ACTIONS - made]:
            result = act(ToolCall(ACT, {"action": action}), reply, latency)
            reply, latency, made = nothing, 0.0, made + 1
            told.append(f"step {made} of {MOST_ACTIONS}, {action}: {'valid, executed' if result.ok else f'not valid, {result.code}: {result.message}'}")
            if not result.ok:
                break
        if made >= MOST_ACTIONS:
            return "budget_exceeded", f"{MOST_ACTIONS} actions were not enough."
        exchanges.append((said, "\n".join(told)))
        seen = act(way.look(), nothing, 0.0)
    return "budget_exceeded", f"{MOST_ACTIONS} replies were not enough."


def _shown(task: str, exchanges: Sequence[tuple[str, str]], desk: str, pictures: tuple[bytes, ...]) -> list[Message]:
    """The task, the last exchanges, and the desk as it is now."""
    messages, text = [], task
    for said, told in exchanges:
        messages += [Message("user", text), Message("assistant", said)]
        text = told
    return [*messages, Message("user", f"{text}\n{desk}", images=pictures)]


def read_actions(text: str) -> tuple[list[list[int]], str]:
    """Actions, and what is wrong with the reply; no actions and nothing wrong: the model is done. A bare array of seven numbers counts as one action."""
    try:
        body = json.loads(text)
    except ValueError:
        found = re.search(r"\[\s*\d+(?:\s*,\s*\d+){6}\s*\]", text)
        if found is None:
            return [], f"no JSON object: {text[:100]!r}"
        body = json.loads(found[0])
    if isinstance(body, Mapping):
        body = body.get("executable_plan")
    if isinstance(body, list) and body and all(type(value) is int for value in body):
        body = [body]
    if not isinstance(body, list):
        return [], "the reply has no executable_plan, which is a list of actions."
    if not all(isinstance(action, list) and len(action) == 7 and all(type(value) is int for value in action) for action in body):
        return [], "an action is seven whole numbers."
    return body[:MOST_ACTIONS], ""


# ---------------------------------------------------------------- what the model is told


def points(objects: Sequence[Sequence[int]]) -> str:
    """Where unnamed objects are, one a line."""
    return "\n".join(["Objects:", *(f"object {number}: {list(cells)}" for number, cells in enumerate(objects, 1))])


def boxes(objects: Sequence[Seen]) -> str:
    """Objects with id, colour, label, middle, size and turn in cells, one a line."""
    return "\n".join(["Objects (id, colour, label: X, Y, Z, width x, width y, height, Yaw):", *(_box(item) for item in objects)])


def _box(item: Seen) -> str:
    size = [round(float(edge) / CELL) for edge in item["size"]]
    yaw = angle_of(math.degrees(float(item.get("yaw", 0.0))))
    kind = ", a container" if item.get("is_container") else ""
    return f"- {item['id']}, {item.get('color', '')}, {item['label']}{kind}: {', '.join(map(str, [*cells_of(item['position']), *size, yaw]))}"


@cache
def _pool() -> dict[str, Any]:
    data: dict[str, Any] = read_yaml(resource_path(EXAMPLES))
    return data


def examples(instruction: str) -> str:
    """Tasks of the same family with plans that worked (config/direct/examples.yaml): for one that stacks those, else those that put something away."""
    words = set(re.findall(r"[a-z]+", instruction.lower()))
    pool = _pool()
    family = next((name for name, one in pool.items() if words & set(one["words"])), next(iter(pool)))
    rows = []
    for one in pool[family]["examples"]:
        plan = json.dumps(
            {"visual_state_description": one["seen"], "reasoning_and_reflection": one["why"], "language_plan": one["steps"]} | {"executable_plan": one["plan"]}
        )
        rows.append(f"Example task: {one['task']}\n{points(one['objects'])}\n{plan}\n")
    return "\n".join([*rows, ""])
