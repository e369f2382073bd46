"""Why an episode with tools has failed: one of five classes, by rules that are asked in their order, from the record and from ground truth; or none of them,
where what was asked for was not offered, time or memory ran out, or the right act did not succeed.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from deskhand.bench.gain.truth import LOOKS, SAME, Steps, TrueObject, at, known_as, told_by, true_objects
from deskhand.geometry import Array
from deskhand.sim.spec import KINDS

NOT_OFFERED, NOT_UNDERSTOOD, INVALID_CALL, MACHINE_FAILED, TOOL_BIAS, IGNORED_OUTPUT, MISSED_INVOCATION, ACT_FAILED, WRONG_SELECTION = (
    "not_offered",
    "not_understood",
    "invalid_call",
    "machine_failed",
    "tool_induced_bias",
    "ignored_output",
    "missed_invocation",
    "act_failed",
    "wrong_selection",
)
CLASSES = (NOT_OFFERED, NOT_UNDERSTOOD, INVALID_CALL, MACHINE_FAILED, TOOL_BIAS, IGNORED_OUTPUT, MISSED_INVOCATION, ACT_FAILED, WRONG_SELECTION)
IN_A_ROW = 3
"""Calls at the end that failed validation: from here on they are what the episode failed of."""
LABELS = frozenset(KINDS) - {"mesh"}
"""Kinds that are also what perception calls them."""
_INVALID = frozenset(("unknown_tool", "invalid_arguments", "invalid_input"))
_MACHINE = frozenset(("limit_exceeded", "timeout", "budget_exceeded"))  # time or memory was not enough
_WORLD = frozenset(("place_failed", "grasp_failed", "gripper_failed", "object_lost", "no_grasp", "path_incomplete", "start_in_collision", "planning_failed"))
"""An act that was tried and did not succeed, or that the arm cannot do there."""
_TIDYING = frozenset(("put_aside", "move_home", "open_gripper", "close_gripper"))
"""Acts that clear up after another."""
_FINISH, _PLAN = "finish", "submit_plan"
_UNMET, _NONE, _LOST = "task_incomplete", "unknown_object", "object_lost"
_NOT_SO = (_NONE, "impossible", "no_answer")


def failure_of(result: Mapping[str, Any], steps: Steps, acts: frozenset[str], informing: frozenset[str]) -> tuple[str, str]:
    """The class of a failed episode, and what in the record says so.

    Args:
        result: of the trial (``result.json``): ``false_claims``, ``first_objects``, ``final_objects`` and ``objects`` are ground truth.
        steps: decisions of the agent (``agent.json``).
        acts: names of the tools that move something; informing: of those offered that tell what is where.
    """
    rules = (_withheld, _not_understood, _invalid, _machine, _biased, _ignored, _missed, _undone)
    for name, rule in zip(CLASSES, rules, strict=False):
        if why := rule(result, steps, acts, informing):
            return name, why
    return WRONG_SELECTION, "none of the other rules holds"


def _withheld(result: Mapping[str, Any], steps: Steps, acts: frozenset[str], informing: frozenset[str]) -> str:
    """It knew which tool it needed and gave up since that is not among those that are offered: no fault of its use of tools."""
    if not steps or steps[-1]["tool"] != _FINISH or steps[-1]["arguments"].get("code") != "unknown_tool":
        return ""
    return str(steps[-1]["arguments"].get("summary") or "a tool that is not offered was needed")


def _not_understood(result: Mapping[str, Any], steps: Steps, acts: frozenset[str], informing: frozenset[str]) -> str:
    """It gave up since it did not understand the words of the task: no tool tells what they mean."""
    if not steps or steps[-1]["tool"] != _FINISH or steps[-1]["arguments"].get("code") != NOT_UNDERSTOOD:
        return ""
    return str(steps[-1]["arguments"].get("summary") or "the task was not understood")


def _invalid(result: Mapping[str, Any], steps: Steps, acts: frozenset[str], informing: frozenset[str]) -> str:
    """The last calls failed validation."""
    count = 0
    for step in reversed([step for step in steps if step["tool"]]):
        if step["valid"] and step["code"] not in _INVALID:
            break
        count += 1
    return f"the last {count} calls were not valid" if count >= IN_A_ROW else ""


def _machine(result: Mapping[str, Any], steps: Steps, acts: frozenset[str], informing: frozenset[str]) -> str:
    """Time or memory ran out, of the episode or of the last call of a tool that was not called again."""
    if result.get("error_code") in _MACHINE:
        return f"the episode ended with {result['error_code']}"
    last = {step["tool"]: step for step in steps if step["tool"]}
    return next((f"{tool} ended with {step['code']}" for tool, step in last.items() if step["code"] in _MACHINE), "")


def _undone(result: Mapping[str, Any], steps: Steps, acts: frozenset[str], informing: frozenset[str]) -> str:
    """The last act was the right one and did not succeed, or not as well as it was asked: no fault of the use of tools."""
    tried = [number for number, step in enumerate(steps) if step["tool"] in acts - _TIDYING]
    after = {step["tool"] for step in steps[tried[-1] + 1 :]} - acts - informing - {_FINISH, "", "check_goal", "get_robot_state"} if tried else set()
    if tried and steps[tried[-1]]["code"] in _WORLD and not after:
        return f"{steps[tried[-1]]['tool']} did not succeed ({steps[tried[-1]]['code']})"
    for item in true_objects(result):
        away = min((float(number) / 1000 for number in re.findall(r"\b(\d+) mm\b", item.reason)), default=np.inf)
        if item.reason and away < SAME and (moved := _moved(steps, acts, item)):
            return f"{moved} went well by what it told, and {item.name} {item.reason}"
    return ""


def _moved(steps: Steps, acts: frozenset[str], item: TrueObject) -> str:
    """The last act that went well on an object, by the name under which a look told it; empty for none."""
    ids = {str(told.get("id")) for _, told in known_as(steps, item)}
    done = [step["tool"] for step in steps if step["ok"] and step["tool"] in acts and ids & _named(step)]
    return str(done[-1]) if done else ""


def _named(step: Mapping[str, Any]) -> set[str]:
    """Every text among the arguments of a call, and the object that its result tells."""
    found, left = set(), [step["arguments"], (step.get("data") or {}).get("object_id") if isinstance(step.get("data"), Mapping) else None]
    while left:
        value = left.pop()
        if isinstance(value, Mapping):
            left += list(value.values())
        elif isinstance(value, list | tuple):
            left += list(value)
        elif isinstance(value, str):
            found.add(value)
    return found


def _biased(result: Mapping[str, Any], steps: Steps, acts: frozenset[str], informing: frozenset[str]) -> str:
    """A result that truth contradicts was followed, and nothing told otherwise later."""
    for claim in reversed(result.get("false_claims") or ()):
        said = [n for n, step in enumerate(steps) if step["ok"] and step["tool"] == claim["tool"] and step["arguments"] == claim["arguments"]]
        if said and not any(step["code"] == _UNMET for step in steps[said[-1] + 1 :]):
            return f"{claim['tool']} told of a success, but {claim['truth']}"
    truth = true_objects(result)
    if why := _renamed(steps, acts, truth) or _misnamed(steps, acts, truth):
        return why
    told, lost = [step for step in steps if step["ok"] and step["tool"] in informing], _was_handled(steps, acts)
    ended = str(steps[-1]["arguments"].get("code") if steps and steps[-1]["tool"] == _FINISH else result.get("error_code"))
    if lost and (left := next((item for item in truth if item.reason and item.where != "floor"), None)) is not None:
        return f"{lost} was handled and is said to be no more, and {left.name} is still there ({left.where})"
    if told and not lost and ended in _NOT_SO:  # that it failed says that there is one, that it can be done, and that it is clear which is meant
        return f"{told[-1]['tool']} and other results told otherwise than it is ({ended}): {steps[-1]['arguments'].get('summary', '')}"
    looks = [number for number, step in enumerate(steps) if step["ok"] and step["tool"] in LOOKS]
    if not looks:
        return ""
    last = told_by(steps[looks[-1]])
    acted = any(step["tool"] in acts for step in steps[looks[-1] + 1 :])
    for item in truth:
        there = not acted or (item.start is not None and float(np.linalg.norm(item.end - item.start)) < SAME)
        if there and item.reason and item.where == "table" and at(last, item.end, item.reach) is None:
            return f"the last look told of nothing where {item.name} is"
    if acted:
        return ""  # what was there at the last look is not known: the truth is that of the end
    used = {name for step in steps if step["tool"] in acts or step["tool"] == _PLAN for name in _named(step)}
    return _false_look(last, truth, used) or _false_place(last, truth)


def _stood(item: TrueObject, place: Array) -> bool:
    """Whether an object was or is at a place (3,)."""
    return any(float(np.linalg.norm(place - there)) < item.reach for there in (_begun(item), item.end))


def _begun(item: TrueObject) -> Array:
    return item.end if item.start is None else item.start


def _renamed(steps: Steps, acts: frozenset[str], truth: Sequence[TrueObject]) -> str:
    """The last call that failed for want of an object that a look had told, and that the next look tells where it was, under another name."""
    for step in reversed(steps):
        if step["ok"] and step["tool"] in acts - _TIDYING:
            return ""  # it went on all the same
        code = step["arguments"].get("code") if step["tool"] == _FINISH else step["code"]
        if code not in (_NONE, _LOST):
            continue
        text = step["arguments"].get("summary") if step["tool"] == _FINISH else step["message"]
        missing = _named(step) | set(re.findall(r"\w+", str(text or "").split(";")[0]))
        looks = [told for other in steps if (told := told_by(other))]
        for before, after in pairwise(looks):
            for item in before:
                again = {other["id"] for other in after}
                place = np.asarray(item["position"], float)
                if item.get("id") not in missing or item["id"] in again or not any(_stood(one, place) for one in truth):
                    continue
                now = at([other for other in after if other["id"] not in {old["id"] for old in before}], place, SAME)
                if now is not None:
                    return f"what one look told as {item['id']} the next told as {now['id']}, and {step['tool']} failed for it ({code})"
    return ""


def _misnamed(steps: Steps, acts: frozenset[str], truth: Sequence[TrueObject]) -> str:
    """Of the objects that are amiss one that was told as another kind, or in another colour, than it is, when it was taken or was left."""
    for item in truth:
        told = known_as(steps, item) if item.reason else []
        if not told:
            continue
        by = [number for number, step in enumerate(steps) if step["tool"] in acts and str(told[0][1].get("id")) in _named(step)]
        if by and not steps[by[-1]]["ok"]:
            continue  # it was tried with that object, and that did not succeed
        seen = [one for number, one in told if not by or number < by[0]] or [told[0][1]]
        said = seen[-1]
        if item.kind in LABELS and said.get("label") and said["label"] != item.kind:
            return f"a look told of {item.name}, a {item.kind}, as {said['id']}, a {said['label']}"
        if item.color and said.get("color") and said["color"] != item.color:
            return f"a look told of {item.name}, which is {item.color}, as {said['id']}, which is {said['color']}"
    return ""


def _was_handled(steps: Steps, acts: frozenset[str]) -> str:
    """The object that an episode ended without knowing where it is, though it had handled it; empty for none."""
    if not steps or steps[-1]["tool"] != _FINISH or steps[-1]["arguments"].get("code") != _NONE:
        return ""
    handled = {name for step in steps if step["tool"] in acts for name in _named(step)}
    return next((name for name in re.findall(r"'(\w+)'", str(steps[-1]["arguments"].get("summary"))) if name in handled), "")


def _false_look(told: Sequence[Mapping[str, Any]], truth: Sequence[TrueObject], used: set[str]) -> str:
    """Of the objects that acts and plans (``used``) name one that is told where none is. Others do no harm; what is beyond reach may be background, which the
    truth does not list.
    """
    for item in told if truth else ():
        place = np.asarray(item["position"], float)
        away = min(float(np.linalg.norm(one.end - place)) - max(0.0, one.reach - SAME) for one in truth)
        if item.get("id") in used and not item.get("beyond_reach") and away > max(SAME, 0.5 * max(item.get("size") or [0.0])):
            return f"the last look told of {item['id']} where nothing is within {1000 * away:.0f} mm"
    return ""


def _false_place(told: Sequence[Mapping[str, Any]], truth: Sequence[TrueObject]) -> str:
    """Of the objects that are amiss one that the last look told in another container than it is in."""
    for item in truth:
        seen = at(told, item.end, item.reach) if item.reason else None
        if seen is None or seen.get("is_container"):
            continue
        carrier = next((other for other in told if other.get("id") == seen.get("support") and other.get("is_container")), None)
        real = next(
            (one.name for one in truth if carrier is not None and np.linalg.norm(one.end - np.asarray(carrier["position"], float)) < one.reach), "table"
        )
        names = {one.name for one in truth}
        if carrier is not None and real in names and item.where in names and item.where != real:
            return f"the last look told of {item.name} in {real}, and it is in {item.where}"
    return ""


def _ignored(result: Mapping[str, Any], steps: Steps, acts: frozenset[str], informing: frozenset[str]) -> str:
    """What would have saved it was told, and the next decision was against it."""
    for before, step in reversed(list(pairwise(steps))):
        if step["tool"] in acts and step["ok"]:
            return ""  # an act that went well in between: what was told before is of another state
        if not before["ok"] and (before["tool"], before["arguments"]) == (step["tool"], step["arguments"]):
            return f"{step['tool']} was called again as it had just failed ({before['code']})"
        if before["tool"] == _FINISH and before["code"] == _UNMET and step["tool"] == _FINISH:
            return "it was told what is unmet, and claimed again to be done"
        if step.get("failure") == IGNORED_OUTPUT:
            return f"{step['tool']}: {step['message']}"
    return ""


def _missed(result: Mapping[str, Any], steps: Steps, acts: frozenset[str], informing: frozenset[str]) -> str:
    """What was missing is told by a tool that was offered and was not called."""
    called = [step for step in steps if step["tool"] and step["tool"] != _FINISH]
    if not called:
        return "no tool was called"
    if steps[-1].get("failure") == "missed_call":
        return "words instead of the call that was needed"
    first = next((n for n, step in enumerate(steps) if step["tool"] in acts), len(steps))
    if informing and not any(step["tool"] in informing and step["ok"] for step in steps[:first]):
        return "it acted without having looked"
    if acts and not any(step["tool"] in acts for step in steps):
        return "nothing was moved"
    return ""
