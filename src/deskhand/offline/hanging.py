"""Moving rings from peg to peg, part of the offline brain's script: take one, hang it, see where all are."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np

from deskhand.offline.script import Call, DecisionScript, Script
from deskhand.offline.task_executive import TaskExecutive

CAPABILITIES = {
    "find_pegs": "find pegs and the rings on them",
    "take_ring": "take a ring off a peg",
    "hang_ring": "hang a ring on a peg",
}
"""Tools that it needs, and what they are looked for by."""
TRIES = 3
"""How often a ring is taken and hung."""
NEAR = 0.025
"""[m] between a peg in two looks."""

Row = dict[str, Any]


def hanging(executive: TaskExecutive, tools: Collection[str], answers: list[str], acts: Sequence[Row]) -> Script:
    """Each act in order; what could not be done is among the problems of the executive."""
    for tool, does in CAPABILITIES.items():
        if tool not in tools:
            yield Call("find_tools", {"query": does}, f"I look for a tool that can {does}.")
    for number, act in enumerate(acts):
        done = yield from _move(executive, act, f"{act['text']} ({number + 1} of {len(acts)})")
        if not done:
            return
    answers.append(f"I moved {len(acts)} times a ring to another peg, and a look has shown each there.")


def _move(executive: TaskExecutive, act: Row, why: str) -> DecisionScript:
    """One ring to its peg, tried again from where it then is; True where it is there."""
    goal, take = [act["x"], act["y"]], act["take"]
    for attempt in range(TRIES):
        taken = yield Call("take_ring", {"peg": take}, why)
        heard = taken
        if taken.ok:
            heard = yield Call("hang_ring", {"peg": goal})
            if heard.ok:
                executive.count(heard, act["text"])
                return True
        if attempt + 1 == TRIES or heard.code in ("unknown_tool", "permission_denied", "cancelled", "safety_stop"):
            break
        state = yield Call("get_robot_state", {}, f"That failed ({heard.message}); is a ring in the hand?")
        if state.ok and state.data.get("holding"):
            heard = yield Call("hang_ring", {"peg": goal}, "It is held still: once more.")
            if heard.ok:
                executive.count(heard, act["text"])
                return True
            heard = yield Call("hang_ring", {"peg": take}, "Back to where it came from.")
            if not heard.ok:
                break
        if not (yield from executive.look("I look again before I retry.")):
            break
        seen = yield Call("find_pegs", {}, "Which ring is where now?")
        take = _peg_of(str(act["text"]).split()[2], seen.data["stands"] if seen.ok else []) or take
    executive.count(heard, act["text"])
    return False


def _peg_of(color: str, stands: Sequence[Row]) -> list[float] | None:
    """[x, y] of the only peg on which a ring of a colour is the uppermost; None where there is none."""
    pegs = [peg for stand in stands for peg in stand["pegs"] if peg["rings"] and peg["rings"][-1]["color"] == color]
    return list(np.asarray(pegs[0]["position"], dtype=float)) if len(pegs) == 1 else None
