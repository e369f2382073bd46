"""To where a camera on the arm sees an object from different sides."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from deskhand.cameras.config import CameraMount
from deskhand.errors import DeskhandError
from deskhand.geometry import Array
from deskhand.skills.base import SkillContext
from deskhand.skills.view_planning import View, seen_views
from deskhand.types import MotionGoal

CENTRAL = 0.30  # [rad] between the camera's axis and the object, at most: it must be whole in the picture
NEAREST, FARTHEST = 0.28, 0.70
"""[m] from the camera: nearer, a stereo camera of this size has no depth (RealSense D435 data sheet: 0.28 m at 1280 x 720)."""
TRIES = 6  # views that are asked of the planner for each that is wanted


def sides_of(ctx: SkillContext, mount: CameraMount, target: Array, most: int) -> Iterator[int]:
    """Bring the camera to up to ``most`` views of ``target`` (3,) [m], each as far round it from those before as the arm reaches; yields their number.

    Raises:
        DeskhandError: ``no_ik_solution`` when no view can be reached, and what moving raises.
    """
    arm = ctx.robot.arm
    views = [view for view in seen_views(arm, mount) if _shows(view, target)]
    ways = [_way(view, target) for view in views]
    taken: list[Array] = []
    tried = 0
    while views and len(taken) < most and tried < TRIES * most:
        far = [min((float(np.arccos(np.clip(way @ other, -1, 1))) for other in taken), default=0.0) for way in ways]
        index = int(np.argmax(far))
        view, way = views.pop(index), ways.pop(index)
        tried += 1
        if not _reached(ctx, view):
            continue
        taken.append(way)
        yield len(taken)
    if not taken:
        raise DeskhandError("no_ik_solution", "the arm cannot bring its camera to where it sees the object.", hint="Put the object where the arm works.")


def _shows(view: View, target: Array) -> bool:
    out = target - view.world_T_camera[:3, 3]
    away = float(np.linalg.norm(out))
    return NEAREST < away < FARTHEST and float(view.world_T_camera[:3, 2] @ out) / away > np.cos(CENTRAL)


def _way(view: View, target: Array) -> Array:
    """From the object to the camera, of length 1."""
    out = view.world_T_camera[:3, 3] - target
    return np.asarray(out / np.linalg.norm(out))


def _reached(ctx: SkillContext, view: View) -> bool:
    ctx.check()
    joints = dict(zip(ctx.robot.arm.joints, map(float, view.joints), strict=True))
    try:
        if not ctx.robot.check_state(joints).valid:
            return False
        ctx.execute(ctx.plan(MotionGoal(joints=joints)))
    except DeskhandError as error:
        if error.code not in ("planning_failed", "goal_in_collision", "no_ik_solution"):
            raise
        return False
    return True
