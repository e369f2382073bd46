"""What the person's hands do in the arms' own steps, by arm and by the question's key."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from deskhand.arms.emulate.so101_box import BY_SQUARE, Owner
from deskhand.bench.rehearsal.nodes import RehearsedNodes
from deskhand.bench.rehearsal.person import Answer, nothing, yes
from deskhand.bench.rehearsal.servos import BoxedServos

CALIPER = 0.0001  # [m] to which a person reads a caliper
TURN = np.radians(12.0)  # that a person turns a joint by, to see which way it counts


def assembled(nodes: RehearsedNodes) -> dict[str, Answer]:
    """For an arm that came put together: its port and settings; and arms/unit.py: the reference pose, link lengths, the gripper's opening."""
    rng, servos = np.random.default_rng([nodes.unit.seed, 5]), nodes.servos

    def put_into_pose(*_: Any) -> bool:
        truth = nodes.unit.truth
        servos.put(np.array(truth.named_poses[truth.driver.reference]) + rng.uniform(-BY_SQUARE, BY_SQUARE, len(truth.joints)))
        return True

    def length(key: str, _text: str, _default: Any) -> float:
        return round(1000 * nodes.unit.truth.geometry[key.split(".")[-1]])

    def opening(*_: Any) -> float:
        return 1000 * round(servos.opening() / CALIPER) * CALIPER

    def turn(key: str, *_: Any) -> None:
        joint, joints = key.split(".")[-1], nodes.unit.truth.joints
        servos.turn(joint, float(servos.angles()[joints.index(joint)] + TURN))

    return {
        "service.": nothing,
        "port.": nothing,
        "service.stop": nothing,
        "camera.turns": yes,
        "servos.restart.": yes,
        "registers.write": yes,
        "senses.let_go": yes,
        "sense.": turn,
        "offsets": yes,
        "offsets.pose": put_into_pose,
        "lengths": yes,
        "lengths.": length,
        "gripper": yes,
        "gripper.width.": opening,
    }


def boxed(nodes: RehearsedNodes) -> dict[str, Answer]:
    """For an SO-101: as arms/emulate/so101_box.py has it."""
    assert isinstance(nodes.servos, BoxedServos)
    owner = Owner(nodes.servos.box)

    def hands(key: str, text: str, _default: Any) -> None:
        owner.act(key, text)

    def answer(key: str, text: str, _default: Any) -> bool:
        return owner.confirm(key, text)

    def opening(key: str, text: str, default: Any) -> float:
        return owner.number(key, text, default)

    acts: dict[str, Answer] = dict.fromkeys(("ids.", "home.pose", "range.", "zero.", "check.pose", "port."), hands)
    return {
        **acts,
        "ids.found": answer,
        "settings.": answer,
        "home.": answer,
        "gripper.": answer,
        "gripper.gap": opening,
        "gripper.gap.": opening,
        "lerobot.": answer,
    }


HANDS: Mapping[str, Callable[[RehearsedNodes], Mapping[str, Answer]]] = {"jetarm": assembled, "wx250s": assembled, "so101": boxed}
