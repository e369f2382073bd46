"""Direct mode with tools, as EB-Manipulation's tool branch: a plan, at most three tools, their results, and a second plan; then a guard picks which is made.

First pass: the prompt of direct mode and, where the policy is shown, what the tools are for; the reply may ask for tools. Where the policy is hidden the model
is asked as in direct mode, and the runtime makes the calls that fit its plan. The results name objects by their numbers and places by their cells, and hold a
conservative candidate: the first plan, mended. Second pass: the plan after them. The guard: where that is unreadable, or is not feasible while the candidate
is, the candidate is made.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from deskhand.agent.direct import LOOKS, MOST_ACTIONS, SCHEMA, read_actions
from deskhand.etp.base import ToolResult
from deskhand.llm.base import Message, Reply, ToolCall
from deskhand.types.action_cells import CELL, CELLS, CORNER, TURNS, angle_of, cells_of
from deskhand.types.colors import NAMED, PALETTE

MODE, HIDDEN = "direct+tools", "direct+tools_hidden"
TOOLS = ("color_grounding", "grounding_repair", "path_feasibility", "sanitize_actions")
"""What the tool branch offers, by the names of the tool base."""
MOST_TOOLS = 3
WHOLE = {"step": 1.0, "turn": 3.2}
"""Of ``sanitize_actions``: no step is cut into several, each is one of the episode's actions."""
POLICY = f"""
Tools may check a plan before it is made. Rely on your own plan by default; ask only when something is unclear, for at most {MOST_TOOLS} tools.
color_grounding {{"color": "maroon", "candidates": [2, 5]}}: only when the task names a colour and several objects may be meant: which number has it.
grounding_repair {{"phrase": "the star"}}: only when it is unclear which object is meant: numbers that a phrase of the task may mean.
path_feasibility {{"actions": [...]}}: only when a place may be out of reach, too low, too high or too far: the first action that cannot be made, and why.
sanitize_actions {{"actions": [...]}}: only for a plan that may be malformed or repeats itself: the plan with such actions mended.
Pixels are never coordinates. Then also answer with: need_tool (true or false) and tool_calls (a list of {{"name", "arguments"}})."""
AFTER = "Tool results; the candidate is your plan with what was malformed mended. Answer with your plan again, changed only where the results say so."
_CALL = {
    "type": "object",
    "properties": {"name": {"enum": list(TOOLS)}, "arguments": {"type": "object"}},
    "required": ["name", "arguments"],
    "additionalProperties": False,
}
CALLING: dict[str, Any] = {
    **SCHEMA,
    "properties": {**SCHEMA["properties"], "need_tool": {"type": "boolean"}, "tool_calls": {"type": "array", "maxItems": MOST_TOOLS, "items": _CALL}},
    "required": [*SCHEMA["required"], "need_tool", "tool_calls"],
}

AskFor = Callable[[Sequence[Message], Mapping[str, Any]], tuple[Reply, float]]
Act = Callable[[ToolCall, Reply, float], ToolResult]


@dataclass
class ToolPasses:
    """Two passes in the place of one reply: give :attr:`ask` and :attr:`act` to ``run_direct``.

    Args:
        instruction: the task's words, for the calls that the runtime makes.
        model: the model's reply to a conversation held to a schema, and its latency [s].
        make: makes a call and records it.
        hidden: whether the policy is hidden from the model.
    """

    instruction: str
    model: AskFor
    make: Act
    hidden: bool = False
    ids: list[str] = field(default_factory=list)

    def act(self, call: ToolCall, reply: Reply, latency: float) -> ToolResult:
        """Make a call of direct mode; of a look the ids are kept that belong to the numbers which the model reads."""
        result = self.make(call, reply, latency)
        if call.name == LOOKS[MODE] and result.ok and isinstance(result.data, Mapping):
            self.ids = [str(name) for name in result.data.get("ids", ())]
        return result

    def ask(self, messages: Sequence[Message]) -> tuple[Reply, float]:
        """The reply whose plan is made: that of the second pass, or the candidate; of the first where no tool was needed."""
        shown = list(messages) if self.hidden else [Message("system", messages[0].content + POLICY), *messages[1:]]
        first, latency = self.model(shown, SCHEMA if self.hidden else CALLING)
        calls, refused = self._calls(first.text)
        if not calls and not refused:
            return first, latency
        spent = Reply("", model=first.model)
        told, head, took = list(refused), first, latency
        for call in calls:
            told.append(_told(call.name, self.make(call, head, took), self.ids))
            head, took = spent, 0.0
        candidate = self._mended(first.text, spent)
        told.append(f"candidate: {json.dumps(candidate)}")
        again = [*shown, Message("assistant", first.text), Message("user", "\n".join([AFTER, *told]))]
        second, latency = self.model(again, SCHEMA)
        return self._guarded(second, candidate), latency

    def _calls(self, text: str) -> tuple[list[ToolCall], list[str]]:
        """The calls that the model asks for, or that the runtime makes for it, in the terms of the tool base; and what is wrong with others."""
        if self.hidden:
            return self._synthesised(text), []
        body = _json(text)
        asked = body.get("tool_calls") if body.get("need_tool") else None
        calls: list[ToolCall] = []
        refused: list[str] = []
        for one in asked if isinstance(asked, list) else []:
            name, arguments = (one.get("name"), one.get("arguments")) if isinstance(one, Mapping) else (None, None)
            if name not in TOOLS or not isinstance(arguments, Mapping):
                refused.append(f"{name}: there is no such tool; valid: {', '.join(TOOLS)}, each with arguments.")
            elif len(calls) >= MOST_TOOLS:
                refused.append(f"{name}: not called; {MOST_TOOLS} tools at most.")
            else:
                call = self._call(str(name), arguments)
                if isinstance(call, str):
                    refused.append(f"{name}: {call}")
                else:
                    calls.append(call)
        return calls, refused

    def _synthesised(self, text: str) -> list[ToolCall]:
        """What fits the plan: a colour that the task names, then whether the plan is well formed and can be made."""
        actions, _ = read_actions(text)
        wanted: list[ToolCall | str] = []
        words = re.findall(r"[a-z]+", self.instruction.lower())
        color = next((word for word in words if word in PALETTE or word in NAMED), "")
        if color and len(self.ids) > 1:
            wanted.append(self._call("color_grounding", {"color": color, "candidates": list(range(1, len(self.ids) + 1))}))
        if actions:
            wanted += [self._call(name, {"actions": actions}) for name in ("sanitize_actions", "path_feasibility")]
        return [call for call in wanted if isinstance(call, ToolCall)][:MOST_TOOLS]

    def _call(self, name: str, arguments: Mapping[str, Any]) -> ToolCall | str:
        """A call in the terms of the tool base: numbers of objects become ids, cells metres; a text says what is wrong."""
        if name == "grounding_repair":
            return ToolCall(name, {"phrase": str(arguments.get("phrase") or self.instruction)})
        if name == "color_grounding":
            numbers = arguments.get("candidates") or list(range(1, len(self.ids) + 1))
            if not isinstance(numbers, list) or not all(type(number) is int and 0 < number <= len(self.ids) for number in numbers):
                return f"candidates are numbers of objects, 1 to {len(self.ids)}."
            return ToolCall(name, {"color": str(arguments.get("color", "")), "candidates": [self.ids[number - 1] for number in numbers]})
        actions, problem = read_actions(json.dumps({"executable_plan": arguments.get("actions")}))
        if problem or not actions:
            return problem or "actions is an empty list."
        metres = [in_metres(action) for action in actions]
        return ToolCall(name, {"actions": metres, **(WHOLE if name == "sanitize_actions" else {})})

    def _mended(self, text: str, reply: Reply) -> list[list[int]]:
        """The first plan with what is malformed mended; empty where it has none."""
        actions, _ = read_actions(text)
        if not actions:
            return []
        result = self.make(ToolCall("sanitize_actions", {"actions": [in_metres(action) for action in actions], **WHOLE}), reply, 0.0)
        if not result.ok or not isinstance(result.data, Mapping):
            return actions
        return [in_cells(action) for action in result.data["actions"]][:MOST_ACTIONS]

    def _guarded(self, second: Reply, candidate: list[list[int]]) -> Reply:
        """The second reply, or the candidate in its place."""
        actions, problem = read_actions(second.text)
        if not candidate or (not problem and not actions):  # nothing to fall back on, or it says that it is done
            return second
        if problem or (actions != candidate and not self._feasible(actions) and self._feasible(candidate)):
            body = {"visual_state_description": "", "reasoning_and_reflection": f"guard: {problem or 'the second plan cannot be made'}", "language_plan": ""}
            return Reply(json.dumps({**body, "executable_plan": candidate}), usage=second.usage, model=second.model, said=second.text)
        return second

    def _feasible(self, actions: list[list[int]]) -> bool:
        result = self.make(ToolCall("path_feasibility", {"actions": [in_metres(action) for action in actions]}), Reply(""), 0.0)
        return bool(result.ok and isinstance(result.data, Mapping) and result.data["feasible"])


def in_metres(action: Sequence[int]) -> list[float]:
    """An action of cells and steps of angle as [x, y, z, roll, pitch, yaw, gripper] in [m] and [rad]."""
    places = [low + (value + 0.5) * CELL for value, low in zip(action[:3], CORNER, strict=True)]
    return [round(value, 5) for value in (*places, *(math.radians(3.0 * value - 180.0) for value in action[3:6]))] + [float(action[6])]


def in_cells(action: Sequence[float]) -> list[int]:
    """The action of cells and steps of angle that is nearest to [x, y, z, roll, pitch, yaw, gripper] in [m] and [rad]."""
    return [*(min(CELLS, value) for value in cells_of(action[:3])), *(angle_of(math.degrees(value)) % TURNS for value in action[3:6]), int(action[6] >= 0.5)]


def _json(text: str) -> Mapping[str, Any]:
    try:
        body = json.loads(text)
    except ValueError:
        return {}
    return body if isinstance(body, Mapping) else {}


def _told(name: str, result: ToolResult, ids: Sequence[str]) -> str:
    """What a tool has said, in numbers of objects and cells; nothing of ids, labels or sizes."""
    if not result.ok or not isinstance(result.data, Mapping):
        return f"{name}: failed, {result.code}."
    data = result.data
    numbers = {one: number for number, one in enumerate(ids, 1)}
    if name == "color_grounding":
        ranked = [f"object {numbers[row['object_id']]} {row['confidence']:.2f}" for row in data.get("ranked", ()) if row["object_id"] in numbers]
        return f"{name}: {', '.join(ranked) or 'nothing'}; the first is ahead by {float(data.get('gap', 0.0)):.2f}."
    if name == "grounding_repair":
        found = [sorted(numbers[one] for one in row["object_ids"] if one in numbers) for row in data["proposals"]]
        return f"{name}: {'; '.join('object ' + ' or '.join(map(str, row)) for row in found if row) or 'nothing is near it'}."
    if name == "path_feasibility":
        waypoint, code = data["waypoint"], data["code"]
        return f"{name}: feasible." if data["feasible"] else f"{name}: action {waypoint} cannot be made: {code}."
    mended = [f"action {row['index'] + 1}: {row['problem']}" for row in data["mended"]]
    return f"{name}: {'; '.join(mended) or 'nothing to mend'}; {json.dumps([in_cells(action) for action in data['actions']])}"
