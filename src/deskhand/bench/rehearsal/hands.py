"""What the person's hands do in the arms' own steps, by arm and by the question's key."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from deskhand.bench.rehearsal.nodes import RehearsedNodes
from deskhand.bench.rehearsal.person import Answer, yes

SET_SQUARE = np.radians(0.3)  # to which a person puts a joint right with a set square
TURN = np.radians(12.0)  # by which a person turns a joint that is to be turned by 10 degrees
CALIPER = 0.0001  # [m] to which a person reads a caliper


def unit_hands(nodes: RehearsedNodes) -> dict[str, Answer]:
    """For arms/unit.py: the reference pose, link lengths, the gripper's opening."""
    rng, servos = np.random.default_rng([nodes.unit.seed, 5]), nodes.servos

    def put_into_pose(*_: Any) -> bool:
        truth = nodes.unit.truth
        servos.put(np.array(truth.named_poses[truth.driver.reference]) + rng.normal(0, SET_SQUARE, len(truth.joints)))
        return True

    def length(key: str, _text: str, _default: Any) -> float:
        return round(1000 * nodes.unit.truth.geometry[key.split(".")[-1]])

    def opening(*_: Any) -> float:
        return 1000 * round(servos.opening() / CALIPER) * CALIPER

    return {"offsets": yes, "offsets.pose": put_into_pose, "lengths": yes, "lengths.": length, "gripper": yes, "gripper.width.": opening}


def wx250s_hands(nodes: RehearsedNodes) -> dict[str, Answer]:
    """For first_day/wx250s.py, besides: each joint turned by hand."""
    servos = nodes.servos

    def turn(key: str, *_: Any) -> None:
        servos.put(servos.angles() + TURN * (np.array(nodes.unit.truth.joints) == key.split(".")[-1]))

    return {**unit_hands(nodes), "servos.restart.": yes, "registers.write": yes, "senses.let_go": yes, "sense.": turn}


HANDS: Mapping[str, Callable[[RehearsedNodes], Mapping[str, Answer]]] = {"jetarm": unit_hands, "wx250s": wx250s_hands}
