"""What a conversation amounts to now: read from the messages alone, as any model could."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from deskhand.llm.base import SAID, Message, ToolCall
from deskhand.world.acts import PUTS
from deskhand.world.model import WorldModel

REFUSED = frozenset(("permission_denied", "impossible"))
NOTHING_MOVES = "all of that is so already, and nothing would move. Say it again if the task wants nothing else, or say what goes elsewhere."


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
        world: what is where, by the results that the messages tell.
        goals: (object, relation, target) of accepted plans.
        failed: calls, and tools, that failed since they last went well -> how often.
        refused: calls that nobody will allow, however often they are made.
        complaint: why the newest plan or end was refused; empty when none was since.
        planned: a plan was accepted; ``news``: the user has said something since. ``steps``: of the newest planned structure, by object.
        draft: the plan that was refused. ``faults``: objects that the refusal is about, ``wanted``: what it says they should be,
            ``refused_goals``: (object, goal) that it rules out, an empty goal for all.
        corrected: the call that the newest refusal, or advice, has instead of the one that was made.
        idle: it was said that a plan moves nothing; once is enough.
        doubted: objects that a refusal says are not where they were put. ``given_up``: how often a held object could not be put where it should.
    """

    instruction: str = ""
    said: list[str] = field(default_factory=list)
    hint: str = ""
    world: WorldModel = field(default_factory=WorldModel)
    goals: dict[str, tuple[str, str]] = field(default_factory=dict)
    acts: list[Act] = field(default_factory=list)
    failed: Counter[str] = field(default_factory=Counter)
    refused: set[str] = field(default_factory=set)
    complaint: str = ""
    planned: bool = False
    news: bool = False
    steps: dict[str, dict[str, Any]] = field(default_factory=dict)
    draft: dict[str, tuple[str, str]] = field(default_factory=dict)
    faults: set[str] = field(default_factory=set)
    wanted: dict[str, tuple[str, str]] = field(default_factory=dict)
    refused_goals: set[tuple[str, str]] = field(default_factory=set)
    corrected: ToolCall | None = None
    idle: bool = False
    doubted: set[str] = field(default_factory=set)
    given_up: Counter[str] = field(default_factory=Counter)
    images: tuple[bytes, ...] = ()

    @property
    def objects(self) -> dict[str, Mapping[str, Any]]:
        """Id -> the object as last seen, or as a verified act left it; the held one among them."""
        return {str(item["id"]): item for item in self.world.visible()}

    @property
    def looked(self) -> bool:
        """Whether anybody has looked."""
        return self.world.looked

    @property
    def holding(self) -> str:
        """Id of what the hand holds, or empty."""
        return self.world.held

    @property
    def moved(self) -> bool:
        """Whether anything was moved in this task."""
        return any(act.ok and act.call.name in (*PUTS, "pick") for act in self.acts)

    def done(self, name: str) -> bool:
        """Whether an object is where the plan wants it, as it was put there or as last seen; a place in a structure only as it was put there."""
        item, goal = self.objects.get(name), self.goals.get(name)
        if goal is None:
            return False
        put = self.world.put.get(name)
        if put is not None and name not in self.doubted and (put.relation, put.target) == goal:
            return True
        return name not in self.steps and item is not None and (item.get("relation"), item.get("support")) == goal


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
            now.images = message.images or now.images
            _take(now, calls.get(message.tool_call_id) or ToolCall(message.name, {}), message.content)
    return now


def _heard(now: Situation, message: Message) -> None:
    now.images = message.images or now.images
    if not now.instruction:
        now.instruction = message.content
    elif message.content.startswith(SAID):
        now.said.append(message.content)
        now.news = True
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
    data = act.data if isinstance(act.data, Mapping) else {}
    advice: Mapping[str, Any] = data["advice"] if isinstance(data.get("advice"), Mapping) else {}
    read = advice if act.ok else data
    now.corrected = ToolCall(call.name, dict(read["arguments"])) if isinstance(read.get("arguments"), Mapping) else None
    if call.name in {"submit_plan", "finish"}:
        now.complaint = "" if act.ok else act.message
        _refused(now, call, data) if not act.ok else _forgiven(now)
    if act.ok:
        _went_well(now, call, data)
        if advice:  # a small model does better by it than by its own reading
            now.complaint = str(advice.get("text", ""))
            _refused(now, call, advice)
    elif call.name in PUTS and call.name != "put_aside":
        now.given_up[now.holding] += 1


def _forgiven(now: Situation) -> None:
    now.draft, now.faults, now.wanted, now.refused_goals = {}, set(), {}, set()


def _refused(now: Situation, call: ToolCall, data: Mapping[str, Any]) -> None:
    """What a refusal of a plan or an end says of each object."""
    if call.name == "submit_plan":
        goals = _items(call.arguments.get("subgoals") or ())
        now.draft = {str(goal["object_id"]): (str(goal.get("relation")), str(goal.get("target_id"))) for goal in goals if "object_id" in goal}
    for item in _items(data.get("unmet") or ()):
        name, goal = str(item["object_id"]), (str(item.get("relation")), str(item.get("target_id")))
        now.wanted[name] = goal
        now.doubted.add(name)
        now.faults.add(name)
    ruled_out = {str(name) for name in data.get("not_covered") or ()} | {str(item["object_id"]) for item in _items(data.get("problems") or ())}
    for name, goal in now.draft.items():
        if ruled_out & {name, goal[1]} and name not in now.wanted:
            now.refused_goals |= {(name, " ".join(goal)), *([(name, "")] if name in (data.get("not_covered") or ()) else [])}
            now.faults.add(name)


def _went_well(now: Situation, call: ToolCall, data: Mapping[str, Any]) -> None:
    now.world.apply(call.name, call.arguments, True, data)
    if call.name == "submit_plan":
        goals = [*_items(data.get("order") or ()), *_items(call.arguments.get("subgoals") or ())]
        kept = now.goals if call.arguments.get("keep") else {}
        now.goals = kept | {str(goal["object_id"]): (str(goal.get("relation")), str(goal.get("target_id"))) for goal in goals if "object_id" in goal}
        now.planned, now.news = True, False
        if now.goals and not now.idle and set(now.goals) <= set(map(str, data.get("already_done") or ())) and not now.moved:
            now.planned, now.idle, now.complaint = False, True, NOTHING_MOVES
    elif call.name == "plan_structure":
        now.steps = {str(step["object_id"]): dict(step) for step in _items(data.get("steps") or ())}
        now.planned = False
    elif call.name == "pick":
        asked, name = str(call.arguments.get("object_id", "")), now.world.held
        now.doubted.discard(name)
        if name != asked and asked not in now.world.objects and asked in now.goals:
            now.goals.setdefault(name, now.goals.pop(asked))
    elif call.name in PUTS:
        now.doubted -= set(now.world.put)


def _items(values: Any) -> Iterator[Mapping[str, Any]]:
    return (item for item in values if isinstance(item, Mapping) and ("id" in item or "object_id" in item))


def _short(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.3g}"
    text = value if isinstance(value, str) else json.dumps(value, separators=(",", ":"), default=str)
    return text if len(text) <= 60 else f"{text[:57]}…"


def by_relevance(now: Situation) -> list[str]:
    """Ids: held, meant by the plan, named in the instruction, containers, the others."""
    said = f"{now.instruction} {' '.join(now.said)}".lower()

    def rank(name: str) -> int:
        item = now.objects[name]
        if name == now.holding or name in now.goals:
            return 0
        if any(str(item.get(key) or "-") in said for key in ("label", "color")):
            return 1
        return 2 if item.get("is_container") else 3

    return sorted(now.objects, key=rank)
