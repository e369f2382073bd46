"""Makes items of selection, execution and chain from an expert's case, and settles them by running."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np

from deskhand.bench.toolbench.families import drawn_case, family_of
from deskhand.bench.toolbench.items import Item, drawn_order, kept_picture
from deskhand.bench.toolbench.play import Play, PlaySnapshot, Step, way_works
from deskhand.bench.toolbench.trying import nearest_tools, stays_wrong
from deskhand.bench.tools.desk import ScenarioDesk
from deskhand.bench.tools.drawing import Random
from deskhand.etp.registry import Registry

DISTRACTORS, SAME_GROUP, TRIED = 3, 2, 14
EXTRA = 4  # candidates of a chain beside those that it takes
SHOWN = ("json", "prose", "numbers")


@contextmanager
def begun(registry: Registry, family: str, seed: int, least: int = 1, noise: int = 0) -> Iterator[tuple[Play, Random]]:
    """The case of a family at its decision, with ``least`` calls or more still to come; with another ``noise``, with other noise in all pictures.

    Raises:
        DeskhandError: what a call before the decision fails with.
    """
    random = np.random.default_rng([seed, 7])
    case = drawn_case(family_of(family), seed)
    if len(case.steps) > least and case.steps[0].tool == "detect_objects" and random.integers(2):
        case = replace(case, before=(*case.before, case.steps[0]), steps=case.steps[1:])  # has been looked at already
    with ScenarioDesk(case.world, registry, seed) as desk:
        play = Play(desk, case)
        play.begin(noise)
        yield play, random


def make_selection(registry: Registry, family: str, seed: int, folder: Path) -> Item | None:
    """One of four tools; None where the expert fails or too few wrong ones were found."""
    with begun(registry, family, seed) as (play, random):
        steps = play.case.steps
        start = play.snapshot()
        if not way_works(play, start, steps):
            return None
        cut = int(random.integers(len(steps)))
        play.go(start, steps[:cut])
        state, right = play.snapshot(), steps[cut].tool
        wrong = _wrong_tools(play, state, registry, right, steps[cut + 1 :])
        if len(wrong) < DISTRACTORS:
            return None
        names = [right, *wrong]
        same_unit = sum(registry.get(name).card.unit == registry.get(right).card.unit for name in wrong)
        difficulty = ("easy", "medium", "hard")[min(2, same_unit)]
        settled = {"goal": play.case.goal_words, "right": "reaches it with the expert's calls", "wrong": wrong}
        return _item("selection", family, seed, play, folder, difficulty, tuple(names), {"tool": right}, settled)


def _wrong_tools(play: Play, state: PlaySnapshot, registry: Registry, right: str, after: tuple[Step, ...]) -> dict[str, str]:
    """Three tools that were tried and do not do it, with why; two at least of the right one's group."""
    group = registry.get(right).card.group
    near = nearest_tools(registry, right)[:60]
    own = [name for name in near if registry.get(name).card.group == group][:TRIED]
    others = [name for name in near if registry.get(name).card.group != group][:TRIED]
    found: dict[str, str] = {}
    for names, count in ((own, SAME_GROUP), (others, DISTRACTORS), (own, DISTRACTORS)):
        for name in names:
            if len(found) >= count:
                break
            if name not in found and name != right and (why := stays_wrong(play, state, registry, name, after, right)):
                found[name] = why
    return found


def make_execution(registry: Registry, family: str, seed: int, folder: Path) -> Item | None:
    """A call to make, and then what follows from its result; None where the expert fails or makes one call only."""
    if not _several(family, seed):
        return None
    with begun(registry, family, seed, 2) as (play, random):
        steps = play.case.steps
        if len(steps) < 2 or not way_works(play, play.snapshot(), steps):
            return None
        cut = int(random.integers(len(steps) - 1))
        for step in steps[:cut]:
            play.make(step)
        history, picture = [turn.told() for turn in play.turns], kept_picture(folder, play.desk.frame().color)
        turn = play.make(steps[cut])
        follows = steps[cut + 1]
        arguments = follows.arguments(play)
        candidates = tuple(sorted({follows.tool, *nearest_tools(registry, follows.tool)[:5]}))
        read = len([value for value in turn.arguments.values() if isinstance(value, str | list)])
        reference = {"tool": turn.tool, "arguments": dict(turn.arguments), "output": turn.result.data, "shown": SHOWN[seed % len(SHOWN)]}
        reference |= {"next": {"tool": follows.tool, "arguments": arguments}, "cut": cut}
        made = _item("execution", family, seed, play, folder, ("easy", "medium", "hard")[min(2, read)], candidates, reference, {"goal": play.case.goal_words})
        return replace(made, history=tuple(history), picture=picture)


def make_chain(registry: Registry, family: str, seed: int, folder: Path) -> Item | None:
    """Which tools in which order; None where the expert fails, makes one call only, or a call of it can be left out."""
    if not _several(family, seed):
        return None
    with begun(registry, family, seed, 2) as (play, _):
        state, steps = play.snapshot(), play.case.steps
        if len(steps) < 2 or not is_minimal(play, state, steps):
            return None
        before = order_of(play, state, steps)
        names = [step.tool for step in steps]
        extra = _overlapping(play, state, registry, steps)
        candidates = (*names, *extra)
        settled = {"goal": play.case.goal_words, "left_out": "every call of the chain: fails without it", "wrong": extra}
        difficulty = "medium" if len(steps) == 2 else "hard"
        return _item("chain", family, seed, play, folder, difficulty, candidates, {"tools": names, "before": before}, settled)


def _several(family: str, seed: int) -> bool:
    """Whether the expert makes two calls or more: asked before the desk is built, which takes a second."""
    return len(drawn_case(family_of(family), seed).steps) > 1


def is_minimal(play: Play, state: PlaySnapshot, steps: tuple[Step, ...], noise: int = 0) -> bool:
    """Whether these calls reach the goal and none of them can be left out."""
    return way_works(play, state, steps, noise) and not any(way_works(play, state, steps[:k] + steps[k + 1 :], noise) for k in range(len(steps)))


def order_of(play: Play, state: PlaySnapshot, steps: tuple[Step, ...], noise: int = 0) -> list[list[str]]:
    """Pairs (a, b) of tools of which a comes before b in every order that reaches the goal; that of the calls does, the others are run."""
    first, *others = permutations(range(len(steps)))
    works = [first, *(order for order in others if way_works(play, state, tuple(steps[k] for k in order), noise))]
    pairs = permutations(range(len(steps)), 2)
    return [[steps[a].tool, steps[b].tool] for a, b in pairs if all(order.index(a) < order.index(b) for order in works)]


def _overlapping(play: Play, state: PlaySnapshot, registry: Registry, steps: tuple[Step, ...]) -> dict[str, str]:
    """Tools near to those of the chain that can take the place of none of them, and a look again where the desk is known."""
    names = {step.tool for step in steps}
    found: dict[str, str] = {}
    known = [turn.tool for turn in play.turns if turn.tool == "detect_objects"]
    if known and "detect_objects" not in names:
        found["detect_objects"] = "was called already"
    lists = [nearest_tools(registry, step.tool)[:TRIED] for step in steps]
    for rank in range(TRIED):
        for place, near in enumerate(lists):
            if len(found) >= EXTRA:
                return found
            name = near[rank]
            if name in names or name in found or name in {turn.tool for turn in play.turns}:
                continue
            if why := _takes_no_place(play, state, registry, name, steps, place):
                found[name] = why
    return found


def _takes_no_place(play: Play, state: PlaySnapshot, registry: Registry, name: str, steps: tuple[Step, ...], place: int) -> str:
    """Why a tool cannot stand for the call at a place of the chain; empty where it can."""
    play.go(state, steps[:place])
    why = stays_wrong(play, play.snapshot(), registry, name, steps[place + 1 :], steps[place].tool)
    play.restore(state)
    return why


def _item(
    kind: str,
    family: str,
    seed: int,
    play: Play,
    folder: Path,
    difficulty: str,
    candidates: tuple[str, ...],
    reference: dict[str, Any],
    settled: dict[str, Any],
) -> Item:
    history = tuple(turn.told() for turn in play.turns)
    picture = kept_picture(folder, play.desk.frame().color)
    name = f"{kind}_{family}_{seed}"
    return Item(name, kind, family, play.case.environment, seed, difficulty, play.case.say, history, picture, drawn_order(name, candidates), reference, settled)
