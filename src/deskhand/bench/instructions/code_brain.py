"""The scripted brain in code mode: the same look, plan and moves, written as Python."""

from __future__ import annotations

import ast
import json
from collections.abc import Mapping, Sequence
from typing import Any

from deskhand.agent.controls import RUN_CODE
from deskhand.bench.instructions.brains import Calls, ScriptedBrain
from deskhand.llm.base import Message, ToolCall

LOOK = """seen = detect_objects()
print(seen["desk"])
for item in seen["objects"]:
    print({key: item[key] for key in ("id", "label", "color", "size", "position", "yaw", "is_container", "support")})"""
"""Prints what a plan needs: as much as a model that calls tools reads of a look."""


class CodeBrain(ScriptedBrain):
    """See :class:`ScriptedBrain`; a piece is a piece of code."""

    def _look(self) -> tuple[ToolCall, ...]:
        return (ToolCall(RUN_CODE, {"code": LOOK}),)

    def _seen(self, messages: Sequence[Message]) -> list[Mapping[str, Any]] | None:
        ran = [message for message in messages if message.role == "tool" and message.name == RUN_CODE]
        if not ran:
            return None
        printed = str(json.loads(ran[0].content)["data"]["printed"]).splitlines()
        return [item for line in printed if line.startswith("{") and "id" in (item := ast.literal_eval(line))]

    def _asking(self, calls: Calls) -> tuple[ToolCall, ...]:
        return (ToolCall(RUN_CODE, {"code": as_code(calls)}),)

    def _left(self, messages: Sequence[Message]) -> Calls:
        """Of its last code, what comes after the motions that the report says were made; the plan, where it was that which failed, too."""
        if not self._asked:
            return []
        answer = json.loads([message for message in messages if message.role == "tool"][-1].content)
        if answer["ok"]:
            return []
        failed = (answer.get("data") or {}).get("failed", {}).get("tool")
        motions = [call for call in self._asked if call[0] != "submit_plan"]
        plan = self._asked[:1] if failed == "submit_plan" else []
        return plan + motions[len(answer["data"].get("made", ())) :]


def as_code(calls: Calls) -> str:
    """Calls as lines of Python: a plan from a variable, alike pairs of calls as a loop."""
    lines: list[str] = []
    rest = list(calls)
    if rest and rest[0][0] == "submit_plan":
        goals = rest.pop(0)[1]["subgoals"]
        lines += [f"goals = {goals!r}", "plan = submit_plan(subgoals=goals)", 'print(plan["already_done"], plan.get("advice"))']
    while rest:
        alike = _alike(rest)
        if len(alike) > 1:
            pairs = [(pick["object_id"], next(iter(put.values()))) for pick, put in alike]
            lines += [f"for name, target in {pairs!r}:", "    pick(name)", f"    {rest[1][0]}(target)"]
            rest = rest[2 * len(alike) :]
        else:
            name, arguments = rest.pop(0)
            lines.append(f"{name}({', '.join(f'{key}={value!r}' for key, value in arguments.items())})")
    return "\n".join(lines)


def _alike(calls: Calls) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    """The pairs at the beginning that pick something and put it by the same tool with nothing but a target."""
    found: list[tuple[dict[str, Any], dict[str, Any]]] = []
    for (first, picked), (second, put) in zip(calls[::2], calls[1::2], strict=False):
        if first != "pick" or second not in ("place_in", "place_on") or second != calls[1][0]:
            break
        found.append((picked, put))
    return found
