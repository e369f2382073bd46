"""What is known of a grasp before it is tried, as numbers of about unit size: the input of the success model."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from deskhand.arms.gripper import GripperConfig
from deskhand.geometry import Array
from deskhand.grasping.collision import Closing
from deskhand.grasping.sampling import FRICTION, Candidates
from deskhand.perception.fit.surface import Surface
from deskhand.types import SceneObject

DENSITY = 600.0  # [kg/m^3] of objects whose mass nobody knows
GRAVITY = 9.81
PAD_RADIUS = 0.006  # [m] at which a pad's friction resists a twist
SAFE = 2.0  # times the force that just holds

NAMES = ("leans", "friction", "room", "sideways", "lever", "shallow", "tight", "pushed", "load", "narrow", "completed", "short", "skew")


@dataclass(frozen=True)
class Judged:
    """``features`` (M, len(NAMES)) and the closing ``force`` (M,) [N] that holds with a margin."""

    features: Array
    force: Array


def judge(candidates: Candidates, clearance: Array, closed: Closing, item: SceneObject, surface: Surface, gripper: GripperConfig) -> Judged:
    """Features of candidates with their ``clearance`` (M,) [m] and what closing on the object meets.

    leans: approach from straight above 0 to 1 (60 degrees). friction: missing margin. room: missing clearance (of 12 mm). sideways: the object's centre
    beside the pads, lever: off the closing axis at all (3 cm). shallow: object above the finger tips missing (of 12 mm). tight: missing to the
    widest opening. pushed: off the middle of the gripper (1 cm). load: weight and its torque against what the pads hold. narrow: thinner than 12 mm.
    skew: the pads meet more than the contacts (5 mm). completed: not a simple solid. short: what is between the pads along them missing (of the pad's breadth).
    """
    poses, centres = candidates.poses, candidates.contacts.mean(axis=1)
    body = surface.body
    middle = np.array([*((body[:, :2].max(axis=0) + body[:, :2].min(axis=0)) / 2 * 0.5 + body[:, :2].mean(axis=0) * 0.5), item.position[2]])
    lever = middle - centres
    across = lever - np.einsum("ij,ij->i", lever, poses[:, :3, 1])[:, None] * poses[:, :3, 1]
    flat = np.linalg.norm(across[:, :2], axis=1)
    sideways = np.abs(np.einsum("ij,ij->i", lever, poses[:, :3, 0]))
    weight = GRAVITY * DENSITY * float(np.prod(np.asarray(item.size))) * (0.7 if surface.simple else 0.4)
    hold = 2 * FRICTION
    needed = SAFE * weight * np.hypot(1.0, flat / PAD_RADIUS) / hold
    force = np.clip(np.maximum(needed, gripper.force_default), 0.0, gripper.force_max)
    columns = {
        "leans": np.arccos(np.clip(-poses[:, 2, 2], -1.0, 1.0)) / np.deg2rad(60.0),
        "friction": 1.0 - np.clip(candidates.margins / np.arctan(FRICTION), 0.0, 1.0),
        "room": 1.0 - np.clip(clearance / 0.012, 0.0, 1.0),
        "sideways": np.clip(sideways / 0.03, 0.0, 2.0),
        "lever": np.clip(np.linalg.norm(across, axis=1) / 0.03, 0.0, 2.0),
        "shallow": 1.0 - np.clip(closed.depth / 0.012, 0.0, 1.0),
        "tight": 1.0 - np.clip((gripper.width_max - closed.width) / 0.015, 0.0, 1.0),
        "pushed": np.clip(np.abs(closed.offset) / 0.01, 0.0, 1.0),
        "load": np.clip(needed / gripper.force_max, 0.0, 2.0),
        "narrow": 1.0 - np.clip((closed.width - gripper.width_min) / 0.012, 0.0, 1.0),
        "skew": np.clip((closed.width - candidates.widths) / 0.005, 0.0, 2.0),
        "completed": np.full(len(poses), 0.0 if surface.simple else 1.0),
        "short": 1.0 - np.clip(closed.breadth / gripper.finger_breadth, 0.0, 1.0),
    }
    return Judged(np.column_stack([columns[name] for name in NAMES]), force)
