"""Scripted brains: one that plays the reference plan, liars of several kinds, and a judge that knows the goal."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from deskhand.agent.judge import Evidence, Opinion
from deskhand.bench.instructions.cases import Case, Move, goals_of
from deskhand.bench.instructions.predicates import problems
from deskhand.llm.base import Message, Reply, ToolCall, Usage
from deskhand.sim.spec import CONTAINER_KINDS, ObjectSpec, WorldSpec
from deskhand.tasks.checks import JudgedDesk
from deskhand.world.relations import SIDEWAYS, TABLE

LIES = ("claim", "plan_only", "half_deed", "half_plan", "wrong_object", "wrong_place", "wrong_answer")
"""Claims without a plan; with a plan and no deed; with half of the deeds; with a plan and deeds of half of it; with another object; at another place; an
answer that is false."""
CLAIMS = 6
"""So often an end is claimed, in other words each time."""


PIECES = ("call", "object", "task")
"""What is asked for in one reply: one call, all calls of an object, all of the task."""

Calls = list[tuple[str, dict[str, Any]]]


class ScriptedBrain:
    """Plays moves: looks, plans, does, claims. It knows objects by where the scene file has them, and ids from its own look. What failed, or was not called
    for that, it asks for again, ``again`` times in all.

    Args:
        planned: the moves whose goals it submits, None for no plan. ``done``: those that it makes.
        said: its answer to a question, instead of all that.
        piece: one of :data:`PIECES`.
    """

    name, context_tokens, images = "scripted", 0, "none"

    def __init__(self, world: WorldSpec, planned: Sequence[Move] | None, done: Sequence[Move], said: str = "", piece: str = "object", again: int = 0) -> None:
        self._world, self._planned, self._done, self._said, self._piece, self._again = world, planned, list(done), said, piece, again
        self._ids: dict[str, str] = {}
        self._queue: list[Calls] = []
        self._asked: Calls = []
        self._claims = 0

    def reply(self, messages: Sequence[Message], tools: Sequence[Mapping[str, Any]], schema: Mapping[str, Any] | None = None) -> Reply:
        """See ChatModel; the usage is what a model would have read, in characters."""
        chars = sum(len(message.content) + sum(len(json.dumps(call.arguments)) for call in message.tool_calls) for message in messages)
        return Reply("", self._calls(messages), Usage(prompt_chars=chars + len(json.dumps([as_sent(card) for card in tools]))))

    def _calls(self, messages: Sequence[Message]) -> tuple[ToolCall, ...]:
        if not self._ids:
            seen = self._seen(messages)
            if seen is None:
                return self._look()
            self._ids = ids_by_place(self._world, seen)
            self._queue = self._script()
        elif self._again and (left := self._left(messages)):
            self._again -= 1
            self._queue.insert(0, left)
        if self._queue:
            self._asked = self._queue.pop(0)
            return self._asking(self._asked)
        self._asked = []
        self._claims += 1
        if self._claims > CLAIMS:
            return (ToolCall("finish", {"status": "partly", "summary": "I give up."}),)
        status, text = ("answered", self._said) if self._said else ("done", "It is done.")
        return (ToolCall("finish", {"status": status, "summary": f"{text}{' Really.' * (self._claims - 1)}"}),)

    def _script(self) -> list[Calls]:
        """What is asked for, reply by reply."""
        if self._said:
            return []
        plan: Calls = [("submit_plan", {"subgoals": [self._subgoal(move) for move in goals_of(self._planned)]})] if self._planned is not None else []
        moves: list[Calls] = [[("pick", {"object_id": self._ids[move.name]}), self._put(move)] for move in self._done]
        if self._piece == "task":
            return [plan + [call for calls in moves for call in calls]]
        return [each for each in [plan, *(moves if self._piece == "object" else [[call] for calls in moves for call in calls])] if each]

    # ------------------------------------------------------------ how it asks, and reads

    def _look(self) -> tuple[ToolCall, ...]:
        return (ToolCall("detect_objects", {}),)

    def _seen(self, messages: Sequence[Message]) -> list[Mapping[str, Any]] | None:
        """The objects of its look; None before it."""
        looks = [message for message in messages if message.role == "tool" and message.name == "detect_objects"]
        return list(json.loads(looks[0].content)["data"]["objects"]) if looks else None

    def _asking(self, calls: Calls) -> tuple[ToolCall, ...]:
        return tuple(ToolCall(name, arguments) for name, arguments in calls)

    def _left(self, messages: Sequence[Message]) -> Calls:
        """Of what was asked for last, from the call on that failed."""
        answers = [json.loads(message.content) for message in messages if message.role == "tool"][-len(self._asked) :] if self._asked else []
        done = next((number for number, answer in enumerate(answers) if not answer["ok"]), len(answers))
        return self._asked[done:]

    def _subgoal(self, move: Move) -> dict[str, Any]:
        goal: dict[str, Any] = {"object_id": self._ids[move.name], "relation": move.relation, "target_id": self._ids.get(move.target, move.target)}
        return goal | ({"position": list(move.position)} if move.position else {}) | ({"yaw": move.yaw} if move.yaw is not None else {})

    def _put(self, move: Move) -> tuple[str, dict[str, Any]]:
        target = self._ids.get(move.target, move.target)
        if move.position:
            more = {"on": [self._ids[name] for name in move.on]} if move.on else {}
            return "place_at", {"x": move.position[0], "y": move.position[1], **({"yaw": move.yaw} if move.yaw is not None else {}), **more}
        if move.relation in SIDEWAYS:
            return "place_beside", {"target_id": target, "side": move.relation}
        return ("place_in", {"container_id": target}) if move.relation == "in" else ("place_on", {"target_id": target})


def as_sent(card: Mapping[str, Any]) -> dict[str, Any]:
    """A card as a server gets it."""
    from deskhand.llm.openai_wire import functions

    return functions([card])[0]


def ids_by_place(world: WorldSpec, seen: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """Name in the scene file -> the id of the object that is seen nearest to where it is there, each once."""
    pairs = sorted((_off(item, other), item.name, str(other["id"])) for item in world.objects for other in seen)
    found: dict[str, str] = {}
    for _, name, object_id in pairs:
        if name not in found and object_id not in found.values():
            found[name] = object_id
    return found


def _off(item: ObjectSpec, seen: Mapping[str, Any]) -> float:
    """How far [m] an object of the file is from one that is seen; a container is never what is none."""
    other_kind = bool(seen.get("is_container")) != (item.kind in CONTAINER_KINDS)
    return math.dist(item.pose[:3, 3], seen["position"]) + (1.0 if other_kind else 0.0)


def perfect(case: Case, world: WorldSpec, kind: type[ScriptedBrain] = ScriptedBrain, piece: str = "object", again: int = 0) -> ScriptedBrain:
    """Plays the reference plan, or gives the true answer."""
    return kind(world, case.moves, case.moves, case.answer, piece, again)


def liar(case: Case, world: WorldSpec, lie: str) -> ScriptedBrain | None:
    """A liar of that kind; None where the case does not let one lie so."""
    moves, goals = list(case.moves), goals_of(case.moves)
    if case.answer or lie == "wrong_answer":
        return ScriptedBrain(world, None, (), case.lie) if case.answer and lie == "wrong_answer" else None
    if lie == "claim":
        return ScriptedBrain(world, None, ())
    if lie == "plan_only":
        return ScriptedBrain(world, moves, ()) if moves else None
    if lie in ("half_deed", "half_plan"):
        half = moves[: len(moves) // 2]
        return ScriptedBrain(world, moves if lie == "half_deed" else half, half) if len(goals) > 1 and half else None
    wrong = _wrong_object(case, world) if lie == "wrong_object" else _wrong_place(case, world)
    return ScriptedBrain(world, wrong, wrong) if wrong else None


def _wrong_object(case: Case, world: WorldSpec) -> list[Move]:
    """The same with one object in the place of another that nobody speaks of."""
    used = {name for move in case.moves for name in (move.name, move.target, *move.on)}
    supports = {item.name for item in world.objects if item.pose[2, 3] > 0.05}  # on or in something else
    spare = [item.name for item in world.objects if item.kind not in CONTAINER_KINDS and item.name not in used | supports]
    if not spare or not case.moves:
        return []
    first = case.moves[0].name
    return [Move(spare[0], move.relation, move.target, move.position, move.yaw, move.on) if move.name == first else move for move in case.moves]


def _wrong_place(case: Case, world: WorldSpec) -> list[Move]:
    """The last move ends in another container, or where there is none on the table's edge."""
    if not case.moves:
        return []
    last = case.moves[-1]
    containers = [item.name for item in world.objects if item.kind in CONTAINER_KINDS and item.name != last.target]
    wrong = Move(last.name, "in", containers[0]) if containers else Move(last.name, "on", TABLE, (0.15, 0.0))
    return [*case.moves[:-1], wrong]


class PredicateJudge:
    """A judge that knows the goal and the truth."""

    def __init__(self, case: Case, desk: Callable[[str], JudgedDesk]) -> None:
        self._case, self._desk = case, desk

    def judge(self, evidence: Evidence) -> Opinion:
        """See Judge."""
        right = not problems(self._desk(evidence.answer), self._case.want)
        return Opinion(right, "" if right else "that is not what was asked.")
