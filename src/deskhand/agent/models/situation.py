"""What a conversation amounts to now: read from the messages alone, as any model could."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from deskhand.agent.base import Message, ToolCall
from deskhand.agent.user import SAID

LOOKS = ("detect_objects", "look", "describe_scene")
PUT = {"place_in": ("in", "container_id"), "place_on": ("on", "target_id"), "place_at": ("on", ""), "place_beside": ("on", ""), "put_aside": ("on", "")}
"""Tools that put the held thing down: relation, and the argument that names where (empty: the table)."""

REFUSED = frozenset(("permission_denied", "impossible"))


@dataclass(frozen=True)
class Act:
    """A call and what came of it; ``message`` of a failed one."""

    call: ToolCall
    ok: bool
    code: str = ""
    message: str = ""
    data: Any = None

    @property
    def key(self) -> str:
        """The call as text, the same for the same call."""
        return f"{self.call.name}({', '.join(_short(value) for value in self.call.arguments.values())})"


@dataclass
class Situation:
    """Where a task stands.

    Attributes:
        said: what the user said after the instruction. ``hint``: what the loop said, if nothing has been done since.
        objects: id -> the object as last seen, or as a verified act left it; the held one among them.
        goals: (object, relation, target) of accepted plans.
        placed: what was put down, verified, and not picked again.
        failed: calls, and tools, that failed since they last went well -> how often.
        refused: calls that nobody will allow, however often they are made.
        complaint: why the newest plan or end was refused; empty when none was since.
    """

    instruction: str = ""
    said: list[str] = field(default_factory=list)
    hint: str = ""
    objects: dict[str, dict[str, Any]] = field(default_factory=dict)
    looked: bool = False
    holding: str = ""
    goals: dict[str, tuple[str, str]] = field(default_factory=dict)
    placed: set[str] = field(default_factory=set)
    acts: list[Act] = field(default_factory=list)
    failed: Counter[str] = field(default_factory=Counter)
    refused: set[str] = field(default_factory=set)
    complaint: str = ""
    images: tuple[bytes, ...] = ()

    def done(self, name: str) -> bool:
        """Whether a thing is where the plan wants it, as last seen."""
        item, goal = self.objects.get(name), self.goals.get(name)
        return bool(item and goal and (item.get("relation"), item.get("support")) == goal)


def read(messages: Sequence[Message]) -> Situation:
    """The situation that the messages tell."""
    now = Situation()
    calls: dict[str, ToolCall] = {}
    for message in messages:
        if message.role == "user":
            _heard(now, message)
        elif message.role == "assistant":
            calls |= {call.id: call for call in message.tool_calls}
        elif message.role == "tool":
            _take(now, calls.get(message.tool_call_id) or ToolCall(message.name, {}), message.content)
    return now


def _heard(now: Situation, message: Message) -> None:
    now.images = message.images or now.images
    if not now.instruction:
        now.instruction = message.content
    elif message.content.startswith(SAID):
        now.said.append(message.content)
    else:
        now.hint = message.content


def _take(now: Situation, call: ToolCall, content: str) -> None:
    try:
        body = json.loads(content)
    except ValueError:
        body = {"ok": False, "code": "", "message": content[:200]}
    body = body if isinstance(body, Mapping) else {"ok": True, "data": body}
    act = Act(call, bool(body.get("ok")), str(body.get("code", "")), f"{body.get('message', '')} {body.get('hint', '')}".strip(), body.get("data"))
    now.acts.append(act)
    now.hint = ""
    if act.ok:
        now.failed.pop(act.key, None)
        now.failed.pop(call.name, None)
    else:
        now.failed.update({act.key: 1, call.name: 1})
        now.refused |= {act.key} if act.code in REFUSED else set()
    if call.name in {"submit_plan", "finish"}:
        now.complaint = "" if act.ok else act.message
    data = act.data if isinstance(act.data, Mapping) else {}
    if act.ok:
        _went_well(now, call, data)


def _went_well(now: Situation, call: ToolCall, data: Mapping[str, Any]) -> None:
    name = call.name
    if name in LOOKS and isinstance(data.get("objects"), list):
        held = now.objects.get(now.holding)
        now.looked, now.objects = True, {str(item["id"]): dict(item) for item in _items(data["objects"])}
        if held is not None:
            now.objects.setdefault(now.holding, {**held, "relation": "held", "support": "gripper"})
    elif name == "get_robot_state":
        now.holding = str(data.get("holding") or "")
    elif name == "submit_plan":
        goals = _items(call.arguments.get("subgoals") or ())
        now.goals |= {str(goal["object_id"]): (str(goal.get("relation")), str(goal.get("target_id"))) for goal in goals if "object_id" in goal}
    elif name == "pick":
        now.holding = str(call.arguments.get("object_id", ""))
        now.placed.discard(now.holding)
        now.objects.setdefault(now.holding, {"id": now.holding}).update(relation="held", support="gripper")
    elif name in PUT and now.holding:
        relation, key = PUT[name]
        now.objects.setdefault(now.holding, {"id": now.holding}).update(relation=relation, support=str(call.arguments.get(key, "table")) if key else "table")
        now.placed.add(now.holding)
        now.holding = ""
    elif name == "open_gripper":
        now.holding = ""


def _items(values: Any) -> Iterator[Mapping[str, Any]]:
    return (item for item in values if isinstance(item, Mapping) and ("id" in item or "object_id" in item))


def _short(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.3g}"
    text = value if isinstance(value, str) else json.dumps(value, separators=(",", ":"), default=str)
    return text if len(text) <= 60 else f"{text[:57]}…"
