"""A plan as a form: for every object one choice of where it goes. A small model fills in what it could not write freely, and nothing is left out."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from deskhand.language.resolve import is_receptacle
from deskhand.llm.base import ToolCall
from deskhand.llm.situation import Situation, by_relevance

STAYS = "stays"
SUMMARY = "Say for every object where it goes"
MOST = 24
"""Objects of one form, those that the task speaks of first; what is left over comes up again when the end is checked."""
_ON = re.compile(r"\b(on|onto|top|stack|stacked|pile|upon)\b")
_BESIDE = {
    "left_of": re.compile(r"\bleft\b"),
    "right_of": re.compile(r"\bright\b"),
    "in_front_of": re.compile(r"\bfront\b"),
    "behind": re.compile(r"\bbehind\b"),
    "near": re.compile(r"\b(near|next|beside|by|close)\b"),
}
_ALL = re.compile(r"\b(everything|rest|others|else|remaining|clean|clear|tidy|sort|declutter)\b")
"""Words that speak of all objects: none may stay, and a small model that is given no way out takes none."""
_SOME = re.compile(
    r"\b(but|except|save|besides|apart|other than|without|not|no|never|only|just|leave|keep|stays?|remains?|unless|until|instead|or|half|some)\b|n't\b"
)
"""Words that take something out of what others say of all: then objects may stay after all."""
_OUT = re.compile(r"\b(out|off|unload|empty|remove|down|table)\b")


def form(now: Situation) -> dict[str, Any] | None:
    """The card of ``submit_plan`` as a form over the objects that are open; None when there is nothing to say."""
    choices = {name: values for name, values in _open(now).items() if values != [STAYS]}
    if not choices:
        return None
    properties = {_key(now, name): {"enum": values} for name, values in choices.items()}
    schema = {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}
    return {"name": "submit_plan", "summary": SUMMARY, "input_schema": schema}


def corrected(now: Situation) -> ToolCall | None:
    """The refused plan, or what is unmet at the end, as the refusal says, where that leaves nothing to choose."""
    if not now.faults:
        return None
    values = _open(now)
    if any(len(each) > 1 for each in values.values()) or not any(now.wanted.get(name) or name in now.draft for name in now.faults):
        return None
    goals = {name: goal for name, goal in now.draft.items() if name not in now.faults}
    return ToolCall("submit_plan", _subgoals(goals | {name: now.wanted[name] for name in values if name in now.wanted}, keep=not now.draft))


def unfold(call: ToolCall, now: Situation) -> ToolCall:
    """A filled-in form as the call that the loop knows; what stood in the refused plan and was not found fault with stays in it."""
    if call.name != "submit_plan" or "subgoals" in call.arguments:
        return call
    named = {_key(now, name): name for name in now.objects}
    goals = {name: goal for name, goal in now.draft.items() if name not in now.faults}
    for key, value in call.arguments.items():
        relation, _, target = str(value).rpartition(" ")
        if target != STAYS and key in named:
            goals[named[key]] = (relation or "in", target)
    return ToolCall(call.name, _subgoals(goals, keep=bool(now.faults) and not now.draft), call.id)


def _subgoals(goals: Mapping[str, tuple[str, str]], keep: bool) -> dict[str, Any]:
    subgoals = [{"object_id": name, "relation": relation, "target_id": target} for name, (relation, target) in goals.items()]
    return {"subgoals": subgoals, **({"keep": True} if keep else {})}


def _key(now: Situation, name: str) -> str:
    """Colour and kind before the id: what a model reads where it fills in."""
    item = now.objects[name]
    label = str(item.get("label", "")).replace("_", " ")
    return " ".join(filter(None, (str(item.get("color") or ""), label, f"({name})")))


def _open(now: Situation) -> dict[str, list[str]]:
    """Objects that the form asks for, and what may be said of each: all at first, after a refusal those that it was about, without what was refused."""
    objects = [name for name, item in now.objects.items() if not is_receptacle({"label": "", **item})]
    asked = [name for name in objects if name in now.faults] if now.faults else [name for name in by_relevance(now) if name in objects][:MOST]
    said = f"{now.instruction} {' '.join(now.said)}".lower()
    return {name: _values(now, name, said) for name in asked}


def _values(now: Situation, name: str, said: str) -> list[str]:
    if (name, "") in now.refused_goals:
        return [STAYS]
    wanted = now.wanted.get(name)
    if wanted is not None:
        return [" ".join(wanted).removeprefix("in ")]
    values = [other for other, item in now.objects.items() if other != name and is_receptacle({"label": "", **item})]
    others = [other for other, item in now.objects.items() if other != name and not is_receptacle({"label": "", **item})]
    if _ON.search(said):
        values += [f"on {other}" for other in others]
    for relation, word in _BESIDE.items():
        if word.search(said):
            values += [f"{relation} {other}" for other in now.objects if other != name]
    if _OUT.search(said) or not values:
        values.append("on table")
    left = [value for value in values if (name, value if " " in value else f"in {value}") not in now.refused_goals]
    return left if left and _ALL.search(said) and not _SOME.search(said) and not now.refused_goals else [*left, STAYS]


def asks_for_an_answer(instruction: str) -> bool:
    """Whether the words ask for an answer rather than for an act."""
    text = instruction.strip().lower()
    return text.endswith("?") and not re.match(r"(can|could|would|will) you\b|(may|might) i ask you to\b", text)
