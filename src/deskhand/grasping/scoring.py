"""How good a grasp is, 0..1."""

from __future__ import annotations

import numpy as np

from deskhand.arms.config import GripperConfig
from deskhand.geometry import Array
from deskhand.grasping.sampling import FRICTION, Candidates
from deskhand.types import SceneObject


def score_candidates(candidates: Candidates, clearance: Array, item: SceneObject, gripper: GripperConfig) -> Array:
    """Score (M,) from the approach, the friction margin, the clearance, the lever to the object's centre and the room left in the hand."""
    poses, centres = candidates.poses, candidates.contacts.mean(axis=1)
    steep = np.clip((-poses[:, 2, 2] - 0.6) / 0.4, 0.0, 1.0)
    friction = np.clip(candidates.margins / np.arctan(FRICTION), 0.0, 1.0)
    room = np.clip(clearance / 0.012, 0.0, 1.0)
    # a lever across the closing axis lets the object turn between the pads
    lever = item.position - centres
    across = np.linalg.norm(lever - np.einsum("ij,ij->i", lever, poses[:, :3, 1])[:, None] * poses[:, :3, 1], axis=1)
    sideways = np.abs(np.einsum("ij,ij->i", lever, poses[:, :3, 0]))
    centred = 0.7 * np.exp(-np.square(sideways / 0.015)) + 0.3 * np.exp(-np.square(across / 0.03))
    # pads hold better when they reach below the top
    depth = np.clip((item.top - centres[:, 2]) / min(0.012, max(0.004, (item.top - item.bottom) / 2)), 0.0, 1.0)
    spare = np.clip((gripper.width_max - candidates.widths) / 0.015, 0.0, 1.0)
    return np.asarray(0.25 * steep + 0.15 * friction + 0.15 * room + 0.25 * centred + 0.1 * depth + 0.1 * spare)


def diverse_order(poses: Array, scores: Array, limit: int, apart: float = 0.009, turned: float = 0.3) -> list[int]:
    """Rows by falling score, near repeats (within ``apart`` [m] and ``turned`` [rad]) put behind all others; at most ``limit``."""
    order = [int(row) for row in np.argsort(-scores, kind="stable")]
    chosen: list[int] = []
    repeats: list[int] = []
    cosine = 1 + 2 * np.cos(turned)
    for row in order:
        if len(chosen) >= limit:
            break
        taken = poses[chosen] if chosen else np.zeros((0, 4, 4))
        close = np.linalg.norm(taken[:, :3, 3] - poses[row, :3, 3], axis=1) < apart
        straight = np.einsum("kij,ij->k", taken[:, :3, :3], poses[row, :3, :3])
        flip = np.array([-1.0, -1.0, 1.0])
        alike = np.maximum(straight, np.einsum("kij,ij->k", taken[:, :3, :3] * flip, poses[row, :3, :3])) > cosine
        (repeats if np.any(close & alike) else chosen).append(row)
    return (chosen + repeats)[:limit]
