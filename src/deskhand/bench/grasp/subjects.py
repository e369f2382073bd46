"""The objects that the grasp benchmark picks: primitives and generated meshes of many sizes, each with a side, rim or handle that the gripper can take."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from deskhand.arms.config import ArmConfig, load_arm
from deskhand.arms.model import RobotModel
from deskhand.geometry import Array, make_transform, rotation_rpy
from deskhand.sim.convex import volume_of
from deskhand.sim.objectfile import COLORS, DENSITIES, DROP, SIZES, WALLS
from deskhand.sim.shapes import SHAPES, shape_pieces
from deskhand.sim.spec import ObjectSpec, WorldSpec
from deskhand.tasks.clutter import BASE
from deskhand.tasks.placement import Footprint, footprint_of

Size = tuple[float, float, float]
PRIMITIVES = ("block", "ball", "can", "pen", "marker", "box", "eraser", "sponge", "cup")
SUBJECTS = (*PRIMITIVES, *SHAPES)
LYING = {"pen": 1.0, "marker": 1.0, "can": 0.3, "bottle": 0.3, "cone": 0.2, "pipe": 0.3, "hex_prism": 0.3}
"""Share that lies on its side; the rest stands as it is drawn."""
SCALES = {"ball": (0.75, 1.0), "can": (0.75, 1.05), "cup": (0.9, 1.0), "pen": (0.9, 1.15), "cup_tapered": (0.85, 1.0), "sponge": (0.85, 1.05)}
USUAL_SCALE = (0.85, 1.05)
HEAVIEST, TOO_HEAVY = 0.12, 0.4  # [kg]
STRETCH = (0.7, 1.2)
TURN = np.deg2rad(50.0)  # to either side of straight ahead
COLOURS = tuple(name for name in COLORS if name not in ("gray", "beige", "brown", "white", "black"))


@dataclass(frozen=True)
class Subject:
    """An object to pick, before it has a place."""

    name: str
    size: Size
    lying: bool


def draw(name: str, rng: np.random.Generator) -> Subject:
    """A size and a way to lie for a subject."""
    low, high = SCALES.get(name, USUAL_SCALE)
    usual = SHAPES[name].size if name in SHAPES else SIZES[name]
    x, y, z = (edge * rng.uniform(low, high) for edge in np.repeat(usual, 1))
    if name == "ball":
        y = z = x
    elif usual[0] == usual[1]:  # round or square from above
        y = x
    elif usual[1] == usual[2]:
        z = y
    return Subject(name, (float(x), float(y), float(z)), bool(rng.random() < LYING.get(name, 0.0)))


def single_world(arm_name: str, seed: int, name: str = "") -> WorldSpec:
    """One subject on an empty desk where the arm works; ``name`` default: the next one of :data:`SUBJECTS`, by seed."""
    rng = np.random.default_rng([seed, 77])
    arm = load_arm(arm_name)
    subject = draw(name or SUBJECTS[seed % len(SUBJECTS)], rng)
    return WorldSpec((placed(subject, arm, rng),), arm=arm_name, seed=seed)


@dataclass(frozen=True)
class Hardship:
    """What makes a scene harder than the default: factors of the ``friction`` of pads and objects and of the depth sensor's ``noise``."""

    friction: float = 1.0
    noise: float = 1.0


def hard_world(arm_name: str, seed: int, name: str = "") -> tuple[WorldSpec, Hardship]:
    """As :func:`single_world` with an object that is thinner or wider, up to six times as heavy, on slippery pads, seen with up to three times the noise."""
    rng = np.random.default_rng([seed, 78])
    arm = load_arm(arm_name)
    subject = draw(name or SUBJECTS[seed % len(SUBJECTS)], rng)
    x, y, z = np.asarray(subject.size) * rng.uniform(*STRETCH)
    item = placed(replace(subject, size=(float(x), float(y), float(z))), arm, rng)
    item = replace(item, mass=min(TOO_HEAVY, item.mass * float(np.exp(rng.uniform(0.0, np.log(6.0))))))
    return WorldSpec((item,), arm=arm_name, seed=seed), Hardship(float(np.exp(rng.uniform(np.log(0.15), 0.0))), float(rng.uniform(1.0, 3.0)))


def placed(subject: Subject, arm: ArmConfig, rng: np.random.Generator) -> ObjectSpec:
    """The subject at rest somewhere within the arm's work radius, clear of the arm's base and of its open hand at home."""
    low, high = arm.work_radius
    base_x, base_y = (float(value) for value in arm.world_T_base[:2, 3])
    base = Footprint(base_x, base_y, BASE, BASE, 0.0)
    home = {**dict(zip(arm.joints, arm.named_poses["home"], strict=True)), arm.gripper.joint: 0.0}
    hand_x, hand_y, tips = map(float, RobotModel.load(arm).forward(home)[arm.tcp][:3, 3])
    half = arm.gripper.width_max / 2 + arm.gripper.finger_thickness
    hand = Footprint(hand_x, hand_y, half, half, 0.0)
    while True:
        radius, angle = rng.uniform(low + 0.02, high - 0.02), rng.uniform(-TURN, TURN)
        x, y = arm.world_T_base[:2, 3] + radius * np.array([np.cos(angle), np.sin(angle)])
        rotation = rotation_rpy(0.0, 0.0, rng.uniform(-np.pi, np.pi))
        if subject.lying:
            rotation = rotation @ rotation_rpy(0.0, np.pi / 2, 0.0)
        item = spec_of(subject, make_transform(rotation, (x, y, _rest(rotation, subject.size))), "thing", rng)
        top = float(item.pose[2, 3] + np.abs(rotation[2]) @ np.asarray(subject.size) / 2)
        if footprint_of(item).apart(base, 0.005) and (top < tips - half or footprint_of(item).apart(hand, 0.005)):
            return item


def spec_of(subject: Subject, pose: Array, name: str, rng: np.random.Generator) -> ObjectSpec:
    """The object with a colour and a mass."""
    kind, shape = ("mesh", subject.name) if subject.name in SHAPES else (subject.name, "")
    volume = sum(map(volume_of, shape_pieces(shape, subject.size))) if shape else float(np.prod(subject.size)) * (0.2 if kind == "cup" else 0.9)
    mass = min(HEAVIEST, max(0.004, 0.9 * DENSITIES["block" if shape else kind] * volume))
    colour = COLORS[COLOURS[int(rng.integers(len(COLOURS)))]]
    return ObjectSpec(name, kind, subject.size, colour, mass, pose, WALLS.get(kind, 0.004), None, shape)


def _rest(rotation: Array, size: Size) -> float:
    return float(np.abs(rotation[2]) @ np.asarray(size) / 2 + DROP)
