"""Objects of other people at the edge of the desk: they stay where they are, and belong to no task."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import mujoco
import numpy as np

from deskhand.arms.config import ArmConfig, load_arm
from deskhand.geometry import Array, quaternion_from_matrix
from deskhand.sim.fixtures.spec import FixtureSpec
from deskhand.sim.reality.spec import RGB, RealitySpec
from deskhand.sim.spec import ObjectSpec, WorldSpec

EDGE = "edge"
"""What the names of their bodies begin with."""
GAP = 0.03  # [m] at least between them and the objects of the task
BOX, CYLINDER, CAPSULE = mujoco.mjtGeom.mjGEOM_BOX, mujoco.mjtGeom.mjGEOM_CYLINDER, mujoco.mjtGeom.mjGEOM_CAPSULE
TOUCH = 0.005  # [m] between a finger, a thumb or the end of a cable and those
TRIES = 40


@dataclass(frozen=True)
class Piece:
    """A geom of an object: MuJoCo's half sizes, or the ends of a capsule of radius ``size[0]``, in the object's frame (x, y, z) on the desk."""

    kind: mujoco.mjtGeom
    size: tuple[float, ...]
    pos: tuple[float, float, float] = (0.0, 0.0, 0.0)
    rgb: RGB = (0.3, 0.3, 0.3)
    ends: tuple[float, ...] = ()
    pitch: float = 0.0


@dataclass(frozen=True)
class EdgeObject:
    """``reach``: half of its extent (x, y) [m] on the desk."""

    name: str
    reach: tuple[float, float]
    pieces: tuple[Piece, ...] = field(default_factory=tuple)


def add_edge_objects(spec: mujoco.MjSpec, world: WorldSpec, reality: RealitySpec) -> None:
    """Put what the seed draws at the edges of the desk, where no object of the task is near."""
    rng = np.random.default_rng([reality.seed, 331])
    count = int(reality.clutter.things) + int(rng.random() < reality.clutter.things % 1.0)
    makers = [MAKERS[int(index)] for index in rng.permutation(len(MAKERS))[:count]]
    if rng.random() < reality.clutter.hand:
        makers.append(_hand)
    standing: list[ObjectSpec | FixtureSpec] = [*world.objects, *world.fixtures]
    arm = load_arm(world.arm)
    taken: list[tuple[Array, float]] = [(item.pose[:2, 3], _radius(item)) for item in standing]
    for number, make in enumerate(makers):
        obj = make(rng)
        place = _place(obj, world.table, arm, taken, rng)
        if place is not None:
            taken.append((place[0], float(np.hypot(*obj.reach))))
            _add(spec, f"{EDGE}{number}/{obj.name}", obj, *place)


def _radius(item: ObjectSpec | FixtureSpec) -> float:
    return float(np.linalg.norm(sorted(item.size)[1:]) / 2)


def _place(
    item: EdgeObject, table: tuple[float, float], arm: ArmConfig, taken: list[tuple[Array, float]], rng: np.random.Generator
) -> tuple[Array, float] | None:
    """Centre (2,) and yaw at the far side of the desk from the robot or at one of its ends, its long side along the edge; None where there is no room.

    It does not move, so its middle line is where the arm does not grasp: what is meant by "everything" on the desk can be done.
    """
    x, y = table[0] / 2, table[1] / 2
    least = arm.work_radius[1] + arm.gripper.finger_breadth + abs(item.reach[0] - item.reach[1])
    for _ in range(TRIES):
        side = int(rng.integers(3))
        deep, wide = item.reach[0] + 0.01, item.reach[1]
        if side == 0:
            centre, yaw = np.array([x - deep, rng.uniform(-y + wide, y - wide)]), np.pi
        else:
            sign = 1.0 if side == 1 else -1.0
            centre, yaw = np.array([rng.uniform(-0.15, x - wide), sign * (y - deep)]), -sign * np.pi / 2
        yaw += rng.normal(0, 0.1)
        if np.linalg.norm(centre - arm.world_T_base[:2, 3]) > least and all(
            np.linalg.norm(centre - other) > radius + float(np.hypot(*item.reach)) * 0.75 + GAP and _is_clear(item, centre, yaw, other, radius)
            for other, radius in taken
        ):
            return centre, float(yaw)
    return None


def _is_clear(item: EdgeObject, centre: Array, yaw: float, other: Array, radius: float) -> bool:
    """Whether no finger, which reaches further than the rest, comes near what has ``radius`` about ``other`` (2,)."""
    turn = np.array([[np.cos(yaw), -np.sin(yaw)], [np.sin(yaw), np.cos(yaw)]])
    ends = [(end, piece.size[0]) for piece in item.pieces if piece.ends for end in (piece.ends[:2], piece.ends[3:5])]
    return all(float(np.linalg.norm(centre + turn @ end - other)) > radius + thick + TOUCH for end, thick in ends)


def _add(spec: mujoco.MjSpec, name: str, item: EdgeObject, centre: Array, yaw: float) -> None:
    c, s = np.cos(yaw), np.sin(yaw)
    turn = np.array([[c, -s, 0], [s, c, 0], [0, 0, 1.0]])
    body = spec.worldbody.add_body(name=name, pos=[*centre, 0.0], quat=np.roll(quaternion_from_matrix(turn), 1))
    for piece in item.pieces:
        c, s = np.cos(piece.pitch), np.sin(piece.pitch)
        quat = np.roll(quaternion_from_matrix(np.array([[c, 0, s], [0, 1, 0], [-s, 0, c]])), 1)
        place = {"fromto": piece.ends} if piece.ends else {"pos": piece.pos, "quat": quat}
        size = [*piece.size, 0.0, 0.0, 0.0][:3]
        body.add_geom(type=piece.kind, size=size, rgba=[*piece.rgb, 1], condim=4, friction=[0.6, 0.005, 0.0001], solref=[0.01, 1], **place)


# ---------------------------------------------------------------- objects; x points to the middle of the desk, y along its edge


def _laptop(rng: np.random.Generator) -> EdgeObject:
    grey = (0.62, 0.63, 0.65) if rng.random() < 0.6 else (0.10, 0.10, 0.11)
    lean = rng.uniform(0.15, 0.45)
    high = 0.20
    lid = Piece(BOX, (0.004, 0.16, high / 2), (-0.11 - high / 2 * np.sin(lean), 0, 0.016 + high / 2 * np.cos(lean)), (0.12, 0.12, 0.14), pitch=-lean)
    keys = Piece(BOX, (0.05, 0.13, 0.0008), (-0.03, 0, 0.0166), (0.10, 0.10, 0.11))
    return EdgeObject("laptop", (0.11, 0.16), (Piece(BOX, (0.11, 0.16, 0.008), (0, 0, 0.008), grey), keys, lid))


def _books(rng: np.random.Generator) -> EdgeObject:
    pieces, height = [], 0.0
    for _ in range(int(rng.integers(1, 4))):
        half = float(rng.uniform(0.008, 0.018))
        pieces.append(Piece(BOX, (0.075, 0.105, half), (float(rng.normal(0, 0.004)), float(rng.normal(0, 0.006)), height + half), _color(rng)))
        height += 2 * half
    return EdgeObject("books", (0.08, 0.115), tuple(pieces))


def _phone(rng: np.random.Generator) -> EdgeObject:
    return EdgeObject("phone", (0.075, 0.037), (Piece(BOX, (0.073, 0.036, 0.004), (0, 0, 0.004), (0.05, 0.05, 0.06)),))


def _cable(rng: np.random.Generator) -> EdgeObject:
    """A wavy cable along the edge."""
    y = np.linspace(-0.2, 0.2, 13)
    x = 0.02 * np.sin(2 * np.pi * (y / rng.uniform(0.15, 0.4) + rng.random()))
    rgb = (0.06, 0.06, 0.06) if rng.random() < 0.6 else (0.90, 0.90, 0.88)
    radius = float(rng.uniform(0.002, 0.0035))
    ends = [(x[i], y[i], radius, x[i + 1], y[i + 1], radius) for i in range(len(y) - 1)]
    return EdgeObject("cable", (0.03, 0.2), tuple(Piece(CAPSULE, (radius,), rgb=rgb, ends=end) for end in ends))


def _tumbler(rng: np.random.Generator) -> EdgeObject:
    radius, half = float(rng.uniform(0.036, 0.043)), float(rng.uniform(0.045, 0.06))
    return EdgeObject("mug", (radius, radius), (Piece(CYLINDER, (radius, half), (0, 0, half), _color(rng)),))


def _hand(rng: np.random.Generator) -> EdgeObject:
    """A hand that rests on the desk, its arm reaching in from the edge."""
    skin = ((0.87, 0.68, 0.56), (0.72, 0.50, 0.37), (0.42, 0.28, 0.20))[int(rng.integers(3))]
    sleeve = _color(rng)
    palm = Piece(BOX, (0.045, 0.04, 0.012), (0, 0, 0.016), skin)
    spread = rng.uniform(0.8, 1.4)
    fingers = [
        Piece(CAPSULE, (0.009,), rgb=skin, ends=(0.045, 0.028 * k - 0.042, 0.018, 0.045 + length, spread * (0.028 * k - 0.042), 0.011))
        for k, length in enumerate((0.055, 0.07, 0.075, 0.06))
    ]
    thumb = Piece(CAPSULE, (0.011,), rgb=skin, ends=(-0.01, 0.04, 0.016, 0.04, 0.075, 0.012))
    wrist = Piece(CAPSULE, (0.026,), rgb=skin, ends=(-0.05, 0, 0.03, -0.12, 0, 0.04))
    arm = Piece(CAPSULE, (0.036,), rgb=sleeve, ends=(-0.11, 0, 0.04, -0.30, 0.02, 0.09))
    return EdgeObject("hand", (0.06, 0.08), (palm, *fingers, thumb, wrist, arm))


def _color(rng: np.random.Generator) -> RGB:
    r, g, b = rng.uniform(0.1, 0.9, 3)
    return float(r), float(g), float(b)


MAKERS: tuple[Callable[[np.random.Generator], EdgeObject], ...] = (_laptop, _books, _phone, _cable, _tumbler)
