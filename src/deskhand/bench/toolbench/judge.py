"""Judges the two stages of an execution item: the call by its form, by whether it could be made, and by its values; the next act by running it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from deskhand.bench.toolbench.items import Item
from deskhand.bench.toolbench.making import begun
from deskhand.bench.toolbench.play import Play, Turn, leaves
from deskhand.bench.toolbench.trying import ARGUMENTS
from deskhand.errors import DeskhandError
from deskhand.etp.registry import Registry

PLACE, ANGLE = 0.015, 0.175  # [m] and [rad] by which a value may be off
ANGLES = ("yaw", "direction")
REFUSED = (*ARGUMENTS, "precondition_failed", "unknown_object", "unknown_tool")


@dataclass(frozen=True)
class Judged:
    """``valid``: it fits the tool and could be made; ``grounded``: its values are the expert's; ``match``: the next act reaches what the expert's reaches."""

    valid: bool
    grounded: bool
    match: bool


def judge(registry: Registry, item: Item, arguments: Mapping[str, Any], action: Mapping[str, Any]) -> Judged:
    """The state is made again, and what differs from the expert's call is run in it."""
    wanted, follows = item.reference, item.reference["next"]
    fits = not registry.get(wanted["tool"]).inputs.problems(dict(arguments))
    grounded = fits and same_values(wanted["arguments"], arguments)
    tool, given = str(action.get("tool", "")), action.get("arguments")
    known = tool in {card.name for card in registry.cards()} and isinstance(given, Mapping)
    match = known and tool == follows["tool"] and same_values(follows["arguments"], given or {})
    valid = grounded
    if (fits and not grounded) or (known and not match):
        with begun(registry, item.family, item.seed, 2) as (play, _):
            for step in play.case.steps[: wanted["cut"]]:
                play.make(step)
            state = play.snapshot()
            if fits and not grounded:
                said = _renamed(item.history, play.turns)
                result = play.call(wanted["tool"], said(dict(arguments))).result
                valid = result.ok or result.code not in REFUSED
                play.restore(state)
            if known and not match:
                match = _reaches(play, item, tool, dict(given or {}))
    return Judged(valid, grounded, match)


def same_values(wanted: Mapping[str, Any], given: Mapping[str, Any]) -> bool:
    """Whether every value of the expert's is given: ids equal, places within 15 mm, angles within 10 degrees."""
    return all(name in given and _same(value, given[name], ANGLE if name in ANGLES else PLACE) for name, value in wanted.items())


def _same(wanted: Any, given: Any, within: float) -> bool:
    if isinstance(wanted, bool | str) or wanted is None:
        return bool(wanted == given)
    if isinstance(wanted, int | float):
        return isinstance(given, int | float) and not isinstance(given, bool) and abs(wanted - given) <= max(within, 2.0 * isinstance(wanted, int))
    if isinstance(wanted, Mapping):
        return isinstance(given, Mapping) and all(name in given and _same(value, given[name], within) for name, value in wanted.items())
    if not isinstance(given, list | tuple) or len(wanted) != len(given):
        return False
    if all(isinstance(value, str) for value in wanted):
        return sorted(wanted) == sorted(map(str, given))
    return all(_same(one, two, within) for one, two in zip(wanted, given, strict=True))


def _reaches(play: Play, item: Item, tool: str, arguments: dict[str, Any]) -> bool:
    """Whether the act, after the expert's call and before what the expert does then, reaches the goal."""
    cut = item.reference["cut"]
    try:
        play.make(play.case.steps[cut])
        told = [*item.history, {"tool": item.reference["tool"], "result": item.reference["output"]}]
        if not play.call(tool, _renamed(told, play.turns)(arguments)).result.ok:
            return False
        for step in play.case.steps[cut + 2 :]:
            play.make(step)
        return play.reached()
    except (DeskhandError, KeyError, IndexError):
        return False


def _renamed(told: Any, turns: list[Turn]) -> Any:
    """Names that only hold in one run (uris, plans) as they are in this one: a function of plain data."""
    names: dict[str, str] = {}
    for before, turn in zip(told, turns, strict=False):
        now = turn.result.data if turn.result.ok else None
        for (_, one), (_, two) in zip(leaves(before.get("result")), leaves(now), strict=False):
            if isinstance(one, str) and isinstance(two, str) and one != two:
                names[one] = two
    return partial(_with_names, names)


def _with_names(names: Mapping[str, str], data: Any) -> Any:
    if isinstance(data, dict):
        return {name: _with_names(names, value) for name, value in data.items()}
    if isinstance(data, list | tuple):
        return [_with_names(names, value) for value in data]
    return names.get(data, data) if isinstance(data, str) else data


def shown_output(data: Any, how: str) -> Any:
    """A result as JSON, as prose or as bare values."""
    if how == "json":
        return data
    pairs = [(name, round(value, 4) if isinstance(value, float) else value) for name, value in leaves(data)]
    if how == "numbers":
        return " ".join(str(value) for _, value in pairs)
    return "The tool reports: " + ", ".join(f"{name.replace('_', ' ')} is {value}" for name, value in pairs) + "."


def verified(registry: Registry, item: Item, noise: int) -> bool:
    """Whether an item's label is the same again, with other noise in the pictures.

    Raises:
        DeskhandError: what a call before the decision fails with.
    """
    from deskhand.bench.toolbench.making import is_minimal, order_of
    from deskhand.bench.toolbench.need import settle
    from deskhand.bench.toolbench.play import way_works
    from deskhand.bench.toolbench.trying import stays_wrong

    if item.kind == "need":
        settled = settle(registry, item.family, item.seed, bool(item.reference["need"]), noise)
        return settled is not None and settled.needed is item.reference["need"]
    with begun(registry, item.family, item.seed, 1 if item.kind == "selection" else 2, noise) as (play, _):
        state, steps = play.snapshot(), play.case.steps
        if item.kind == "chain":
            return is_minimal(play, state, steps, noise) and sorted(order_of(play, state, steps, noise)) == sorted(item.reference["before"])
        if not way_works(play, state, steps, noise):
            return False
        if item.kind == "execution":
            return True
        cut = [step.tool for step in steps].index(item.reference["tool"])
        for step in steps[:cut]:
            play.make(step)
        state = play.snapshot()
        wrong = [name for name in item.candidates if name != item.reference["tool"]]
        return all(stays_wrong(play, state, registry, name, steps[cut + 1 :], steps[cut].tool, noise) for name in wrong)
