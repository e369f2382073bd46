"""Direct mode, the baseline without tools: the model reads boxes of the objects in bins and writes actions of seven numbers (tools/execution/direct.py).

As EB-Manipulation has it: several actions a reply, a look and a new reply after them, nothing else. What the loop checks elsewhere, nobody checks here but
the safety envelope; whether it worked is the scorer's word.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from deskhand.etp.base import ToolResult
from deskhand.language.resolve import Seen
from deskhand.llm.base import Message, Reply, ToolCall
from deskhand.tools.execution.direct import TURNS, bins_of

ACT, LOOK = "direct_action", "detect_objects"
TURNS_OF_MODEL = 15
"""Replies of one run, as in EB-Manipulation."""
MOST_ACTIONS = 10
"""Actions of one reply."""
KEPT = 3
"""Exchanges that the model is shown again; what the desk looked like before the newest look is left out, so that the prompt does not grow."""
SYSTEM = """You move a robot arm over a desk. An action is seven whole numbers [x, y, z, roll, pitch, yaw, gripper].
x, y, z are 0 to 100: x grows away from the robot (6 mm a step), y to its left (8 mm), z up (4 mm, 0 is the table).
roll, pitch, yaw are 0 to 120, 3 degrees a step; 0, 60, yaw points straight down; yaw turns the fingers, which close along y at yaw 0.
gripper is 1 for open and 0 for closed, and moves after the arm has arrived.
To grasp an object: above it open, down to its middle open, the same closed, up. To let go: above the place, down, open, up.
Answer with JSON: thought, actions (at most 10), done (true when the task is finished)."""
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "thought": {"type": "string", "maxLength": 200},
        "actions": {
            "type": "array",
            "maxItems": MOST_ACTIONS,
            "items": {"type": "array", "minItems": 7, "maxItems": 7, "items": {"type": "integer", "minimum": 0, "maximum": TURNS}},
        },
        "done": {"type": "boolean"},
    },
    "required": ["thought", "actions", "done"],
    "additionalProperties": False,
}

Ask = Callable[[Sequence[Message]], tuple[Reply, float]]
"""The model's reply to a conversation, held to :data:`SCHEMA`, and its latency [s]."""
Act = Callable[[ToolCall, Reply, float], ToolResult]
"""Makes a call and records it."""


def run_direct(instruction: str, ask: Ask, act: Act) -> tuple[str, str]:
    """Act until the model says that it is done or its replies are used up.

    Returns:
        A code and what happened: ``task_incomplete`` always, for nobody has checked; or the code of a model that writes no actions.
    """
    nothing = Reply("")
    seen = act(ToolCall(LOOK, {}), nothing, 0.0)
    system, task, wrong = Message("system", SYSTEM), f"Task: {instruction}", 0
    exchanges: list[tuple[str, str]] = []
    for _ in range(TURNS_OF_MODEL):
        reply, latency = ask([system, *_shown(task, exchanges[-KEPT:], boxes(seen))])
        said = reply.text
        actions, done, problem = read_actions(reply.text)
        wrong = wrong + 1 if problem else 0
        if wrong >= 3:
            return "model_failed", f"three replies in a row were no actions; the last: {problem}"
        told = [problem] if problem else []
        for action in actions:
            result = act(ToolCall(ACT, {"action": action}), reply, latency)
            reply, latency = nothing, 0.0
            told.append(f"{action}: {'done' if result.ok else f'{result.code}: {result.message}'}")
            if not result.ok:
                break
        if done and not problem:
            return "task_incomplete", "The model says that it is done; in direct mode nobody has checked it."
        exchanges.append((said, "\n".join(told)))
        seen = act(ToolCall(LOOK, {}), nothing, 0.0)
    return "budget_exceeded", f"{TURNS_OF_MODEL} replies were not enough."


def _shown(task: str, exchanges: Sequence[tuple[str, str]], desk: str) -> list[Message]:
    """The task, the last exchanges, and the desk as it is now."""
    messages, text = [], task
    for said, told in exchanges:
        messages += [Message("user", text), Message("assistant", said)]
        text = told
    return [*messages, Message("user", f"{text}\n{desk}")]


def read_actions(text: str) -> tuple[list[list[int]], bool, str]:
    """Actions, whether it is done, and what is wrong with the reply."""
    try:
        body = json.loads(text)
    except ValueError:
        return [], False, f"no JSON object: {text[:100]!r}"
    if not isinstance(body, Mapping) or not isinstance(body.get("actions"), list):
        return [], False, "the reply has no list of actions."
    actions = body["actions"][:MOST_ACTIONS]
    good = all(isinstance(action, list) and len(action) == 7 and all(type(value) is int for value in action) for action in actions)
    if not good:
        return [], False, "an action is seven whole numbers."
    done = body.get("done") is True
    return actions, done, "" if actions or done else "there are no actions, and it is not done."


def boxes(seen: ToolResult) -> str:
    """What a look has shown, one object a line: centre, size and turn in bins."""
    if not seen.ok or not isinstance(seen.data, Mapping):
        return f"The camera shows nothing: {seen.message}"
    return "\n".join(["Objects (id, colour, label: x, y, z, width x, width y, height, yaw):", *(_box(item) for item in seen.data.get("objects", ()))])


def _box(item: Seen) -> str:
    size = [round(float(edge) / step) for edge, step in zip(item["size"], (0.006, 0.008, 0.004), strict=True)]
    yaw = round(float(item.get("yaw", 0.0)) / math.tau * TURNS) % TURNS
    kind = ", a container" if item.get("is_container") else ""
    return f"- {item['id']}, {item.get('color', '')}, {item['label']}{kind}: {', '.join(map(str, [*bins_of(item['position']), *size, yaw]))}"
