"""When something is reached, by the truth: in the world, or told by a result, whatever tool gave it and in whatever field and unit."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from deskhand.bench.toolbench.play import Goal, Play, leaves, lists
from deskhand.errors import DeskhandError
from deskhand.geometry import Array

NEAR = 0.015  # [m] that a told place may be off
ON = 0.012  # [m] along the desk between the middles of what is stacked
OVERLAP = 0.7  # intersection over union of a told mask
UNITS = (1.0, 10.0, 100.0, 1000.0)
"""Factors between units in which the same value may be told."""


def inside(name: str, container: str) -> Goal:
    """An object lies in a container and nothing holds it."""

    def goal(play: Play) -> bool:
        item, box = play.desk.truth(name), play.desk.truth(container)
        off = np.abs((box.pose[:3, :3].T @ (item.pose[:3, 3] - box.pose[:3, 3]))[:2])
        return bool((off < np.asarray(box.size[:2]) / 2).all()) and item.pose[2, 3] < box.size[2] and name not in held(play)

    return goal


def on_top(name: str, below: str) -> Goal:
    """An object lies on another one and nothing holds it."""

    def goal(play: Play) -> bool:
        upper, lower = play.desk.truth(name), play.desk.truth(below)
        apart = upper.pose[:3, 3] - lower.pose[:3, 3]
        return float(np.hypot(*apart[:2])) < ON and apart[2] > 0.8 * (upper.size[2] + lower.size[2]) / 2 and name not in held(play)

    return goal


def at(name: str, place: Callable[[Play], Array], within: float = NEAR) -> Goal:
    """An object lies at a place [m, world] (2,) on the table, and nothing holds it."""

    def goal(play: Play) -> bool:
        item = play.desk.truth(name)
        return float(np.linalg.norm(item.pose[:2, 3] - place(play))) < within and item.pose[2, 3] < 0.8 * max(item.size) and name not in held(play)

    return goal


def in_hand(name: str) -> Goal:
    """The gripper holds an object off the table."""
    return lambda play: name in held(play) and play.desk.truth(name).pose[2, 3] > 0.04


def held(play: Play) -> tuple[str, ...]:
    """Names of what the fingers hold."""
    return play.desk.simulation.truth().in_hand


def told_number(value: Callable[[Play], float], within: float, fields: tuple[str, ...]) -> Goal:
    """A result has this number, in any unit, in one of these fields."""

    def goal(play: Play) -> bool:
        wanted = value(play)
        found = [(name, item) for turn in play.news() for name, item in leaves(turn.result.data)]
        numbers = [float(item) for name, item in found if name in fields and isinstance(item, int | float) and not isinstance(item, bool)]
        return any(abs(number * unit - wanted) <= within or abs(number / unit - wanted) <= within for number in numbers for unit in UNITS)

    return goal


def told_place(place: Callable[[Play], Array], within: float = NEAR) -> Goal:
    """A result has this place [m, world] (2,) or (3,)."""

    def goal(play: Play) -> bool:
        wanted = np.asarray(place(play), float)
        for turn in play.news():
            for row in lists(turn.result.data):
                if len(row) in (2, 3) and all(isinstance(item, int | float) and not isinstance(item, bool) for item in row):
                    count = min(len(row), len(wanted))
                    if float(np.linalg.norm(np.asarray(row, float)[:count] - wanted[:count])) <= within:
                        return True
        return False

    return goal


def told_objects(names: Callable[[Play], list[str]]) -> Goal:
    """A result names just these objects (by their names in the world) in one of its lists or, for a single one, by itself."""

    def goal(play: Play) -> bool:
        wanted = sorted(play.ids[name] for name in names(play) if name in play.ids)
        if len(wanted) != len(names(play)):
            return False
        for turn in play.news():
            if any(sorted(_named(row)) == wanted for row in lists(turn.result.data) if _named(row)):
                return True
            own = turn.result.data.get("object_id") if isinstance(turn.result.data, dict) else None
            if [own] == wanted and own not in turn.arguments.values():
                return True
        return False

    return goal


def _named(row: list[Any]) -> list[str]:
    """Ids in a list of ids, or of objects with ids."""
    found = [item.get("object_id") or item.get("id") if isinstance(item, dict) else item for item in row]
    return [str(item) for item in found] if all(isinstance(item, str) and item for item in found) else []


def told_words(words: Callable[[Play], list[str]]) -> Goal:
    """A result has a list of just these words."""
    return lambda play: any(row == words(play) for turn in play.news() for row in lists(turn.result.data))


def told_word(word: Callable[[Play], str], among: tuple[str, ...]) -> Goal:
    """A result has a field whose value is this one of the words ``among``, and none that is another of them."""

    def goal(play: Play) -> bool:
        wanted = word(play)
        return any({item for _, item in leaves(turn.result.data) if item in among} == {wanted} for turn in play.news())

    return goal


def told_mask(name: str) -> Goal:
    """A result refers to a picture that is white where an object shows and nowhere else."""

    def goal(play: Play) -> bool:
        shown = play.desk.mask(name)
        for turn in play.news():
            for _, item in leaves(turn.result.data):
                if isinstance(item, str) and item.startswith("deskhand://"):
                    try:
                        array = play.desk.session.resources.get(item).array()
                    except DeskhandError:  # what is no array is no mask
                        continue
                    mask = (array[..., 0] if array.ndim == 3 else array) > 127
                    if mask.shape == shown.shape and (mask & shown).sum() > OVERLAP * (mask | shown).sum():
                        return True
        return False

    return goal


def told_joints(position: Callable[[Play], Array], within: float = 0.005) -> Goal:
    """A result has joint angles that bring the hand to a place [m, world] (3,)."""

    def goal(play: Play) -> bool:
        robot = play.desk.simulation.built.robot
        for turn in play.news():
            for item in _mappings(turn.result.data):
                joints = {name: item[name] for name in robot.arm.joints if isinstance(item.get(name), int | float)}
                if len(joints) == len(robot.arm.joints) and float(np.linalg.norm(robot.forward(joints)[robot.arm.tcp][:3, 3] - position(play))) < within:
                    return True
        return False

    return goal


def _mappings(data: Any) -> list[dict[str, Any]]:
    if isinstance(data, dict):
        return [data, *(each for value in data.values() for each in _mappings(value))]
    return [each for value in data for each in _mappings(value)] if isinstance(data, list) else []
