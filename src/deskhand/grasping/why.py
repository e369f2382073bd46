"""Why an object has no grasp, in words that help: too wide by how much, what the gripper would touch, how far out of reach."""

from __future__ import annotations

import numpy as np
from scipy.spatial import cKDTree

from deskhand.arms.config import ArmConfig
from deskhand.arms.gripper import GripperConfig
from deskhand.errors import DeskhandError
from deskhand.geometry import Array
from deskhand.grasping.collision import OPEN_MORE, container_points, hand_clearance, opening
from deskhand.grasping.sampling import Candidates, antipodal_pairs
from deskhand.perception.fit.surface import Surface, Surfaces
from deskhand.types import Scene, SceneObject

ASKED = 40  # of the promising hands that are tested against each neighbour
WIDEST = 1.0  # [m] up to which two sides are looked for, to say how much is missing
SPACING = 0.004  # [m]
CLEAR = 0.001  # [m] that the hand stays off everything


def no_two_sides(item: SceneObject, surface: Surface, narrowest: float, widest: float) -> str:
    """By how much its sides are too far apart for the gripper, or too near to each other."""
    pairs, _, _ = antipodal_pairs(surface, 0.0, WIDEST)
    size = ", ".join(f"{1000 * edge:.0f}" for edge in item.size)
    text = f"{item.id} ({size} mm) has no two sides between {1000 * narrowest:.0f} and {1000 * widest:.0f} mm apart, as the gripper needs"
    if not len(pairs):
        return f"{text}: no two of its sides are opposite each other."
    apart = np.linalg.norm(pairs[:, 1] - pairs[:, 0], axis=1)
    wider, thinner = apart[apart >= widest], apart[apart <= narrowest]
    if len(wider):
        least = float(wider.min())
        return f"{text}: the narrowest way across it is {1000 * least:.0f} mm, {1000 * (least - widest):.0f} mm too wide."
    most = float(thinner.max())
    return f"{text}: it is {1000 * most:.1f} mm thick there, {1000 * (narrowest - most):.1f} mm too thin."


def all_touch(scene: Scene, item: SceneObject, own: Array, candidates: Candidates, gripper: GripperConfig, surfaces: Surfaces) -> DeskhandError:
    """What the gripper would touch at the promising grasps ``candidates``, most frequent first, and how near it is. ``own`` (N, 3): samples of the object."""
    hands = candidates.take(np.arange(min(ASKED, len(candidates))))
    opened: Array = np.asarray(opening(hands.widths, gripper, min(OPEN_MORE)))
    tree = cKDTree(own)
    near: list[tuple[int, str, float]] = []
    for other in scene.objects:
        reach = 0.16 + float(np.linalg.norm(other.size)) / 2
        if other.id == item.id or other.relation == "held" or np.linalg.norm(other.position - item.position) > reach:
            continue
        points = container_points(other, SPACING, floor=item.support != other.id) if other.is_container else surfaces.of(other).body
        hits = int((hand_clearance(hands.poses, opened, gripper, own[:0], points, CLEAR) < 0).sum())
        if hits:
            near.append((hits, other.id, float(np.min(tree.query(points)[0]))))
    near.sort(reverse=True)
    needed = gripper.finger_thickness + min(OPEN_MORE) / 2 + CLEAR
    free = f"each finger needs {1000 * needed:.0f} mm beside it"
    if not near:
        what = "the support, or something nameless that is seen close to it,"
        return DeskhandError("no_grasp", f"the gripper would touch {what} at every grasp of {item.id}; {free}.", hint="Push it to where it lies free.")
    said = " and ".join(f"{name} ({1000 * gap:.0f} mm off)" for _, name, gap in near[:3])
    text = f"the gripper would touch {said} at the grasps of {item.id}; {free}."
    return DeskhandError("no_grasp", text, hint=f"Move {near[0][1]} away first, or push them apart (separate).")


def beyond_reach(item: SceneObject, arm: ArmConfig) -> str:
    """How far it lies from the base, against what the arm reaches, and the nearest place on that line that it would reach."""
    base = arm.world_T_base[:2, 3]
    out = item.position[:2] - base
    away, (low, high) = float(np.linalg.norm(out)), arm.work_radius
    text = f"it lies {away:.2f} m from the base as seen from above, and the arm grasps from above between {low:.2f} and {high:.2f} m"
    if low <= away <= high:
        return f"{text}: it is the height, the lean or the wrist, not the distance"
    best = base + out / max(away, 1e-9) * float(np.clip(away, low, high))
    missing = away - high if away > high else low - away
    return f"{text}: {1000 * missing:.0f} mm too {'far' if away > high else 'near'}; the nearest place that works is about ({best[0]:.2f}, {best[1]:.2f})"
