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
RULER = 0.5  # [mm] to which a person reads a ruler beside a moving point
BY_TAPE = 2.0  # [mm] by which a person misses the distance of a point from an axis
TURN = np.radians(12.0)  # that a person turns a joint by, to see which way it counts


def assembled(nodes: RehearsedNodes) -> dict[str, Answer]:
    """For an arm that came put together: its port and settings; and arms/unit.py: the reference pose, link lengths, the gripper's opening."""
    rng, servos = np.random.default_rng([nodes.unit.seed, 5]), nodes.servos

    def put_into_pose(*_: Any) -> bool:
        truth = nodes.unit.truth
        off = rng.uniform(-BY_SQUARE, BY_SQUARE, len(truth.joints))
        beside = rng.uniform(-0.5, 0.5, len(truth.joints)) * [nodes.unit.plays[joint] for joint in truth.joints]  # the encoders, within the play
        servos.put(np.array(truth.named_poses[truth.driver.reference]) + off + beside)
        return True

    def length(key: str, _text: str, _default: Any) -> float:
        return round(1000 * nodes.unit.truth.geometry[key.rsplit(".", maxsplit=1)[-1]])

    def opening(*_: Any) -> float:
        return 1000 * round(servos.opening() / CALIPER) * CALIPER

    def turn(key: str, *_: Any) -> None:
        joint, joints = key.rsplit(".", maxsplit=1)[-1], nodes.unit.truth.joints
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


def with_a_ruler(nodes: RehearsedNodes) -> dict[str, Answer]:
    """For every arm: the way of a point of each link within the joint's play, while its servo holds; both ends are read from a ruler."""
    rng, levers = np.random.default_rng([nodes.unit.seed, 7]), {}

    def hold(*_: Any) -> bool:
        return True

    def distance(key: str, _text: str, default: Any) -> float:
        joint = key.rsplit(".", maxsplit=1)[-1]
        levers[joint] = float(default)  # where the point really is
        return round(float(default) + float(rng.uniform(-BY_TAPE, BY_TAPE)))

    def way(key: str, *_: Any) -> float:
        joint = key.rsplit(".", maxsplit=1)[-1]
        begins = float(rng.uniform(0, RULER))  # the ruler lies anyhow
        ends = begins + levers[joint] * nodes.unit.plays[joint]
        return RULER * (round(ends / RULER) - round(begins / RULER))

    return {"play.hold": hold, "play.at.": distance, "play.way.": way}


ARMS: Mapping[str, Callable[[RehearsedNodes], Mapping[str, Answer]]] = {"jetarm": assembled, "wx250s": assembled, "so101": boxed}


def hands_of(arm: str, nodes: RehearsedNodes) -> dict[str, Answer]:
    """What the hands of a person at this arm do."""
    return {**ARMS[arm](nodes), **with_a_ruler(nodes)}
