"""Which grasp of an object is taken: the best that can be planned, where asked for one that closes along a direction in which it is not turned."""

from __future__ import annotations

import logging
from collections.abc import Sequence

import numpy as np

from deskhand.errors import DeskhandError
from deskhand.geometry import Array, make_transform, rotation_angle
from deskhand.skills.base import HALTED, SkillContext
from deskhand.types import Grasp, MotionGoal, Plan, Scene, SceneObject

log = logging.getLogger(__name__)

Touch = tuple[tuple[str, str], ...]
"""Pairs that may touch."""
GRASPS = (4, 16)  # asked of the generator: a few, and more when none of them can be planned
MANY = 64  # asked of it where the fingers shall close along a direction
ALONG = np.deg2rad(8.0)  # off such a direction, at most
PREGRASP = 0.06  # [m] back along the approach
OPEN_ENOUGH = 0.004  # [m] that the opening may differ from what the grasp was checked with
UNPLANNED = frozenset({"no_grasp", "planning_failed", "path_incomplete", "goal_in_collision", "no_ik_solution"})
AGAIN = UNPLANNED | HALTED | {"grasp_failed", "gripper_failed", "plan_expired", "start_in_collision"}
"""Failures after which another grasp, from a new look, may do."""


def find_grasp(
    ctx: SkillContext, scene: Scene, item: SceneObject, tried: Sequence[Array], touch: Touch, closing: Sequence[float] = (), below: float = 0.0
) -> tuple[Grasp, Plan]:
    """A grasp that can be planned: one that closes along one of ``closing`` [rad], with ``below`` [m] of the object, or as much as there is, under the finger
    tips, and one that was not ``tried`` (poses (4, 4)) before, when there is one.
    """
    if closing or below > 0.0:
        with ctx.timed("grasping"):
            upright = [grasp for grasp in ctx.robot.generate_grasps(scene, item.id, MANY) if _upright(grasp) and not _was_tried(grasp, tried)]
        along = [grasp for grasp in upright if _along(grasp, closing)] if closing else upright
        try:
            if along:
                depth = ctx.robot.arm.gripper.finger_depth
                return _plan_grasp(ctx, scene, item, sorted(along, key=lambda one: -min(below, _under(one, item, depth))), touch)
        except DeskhandError as error:
            if error.code not in AGAIN:
                raise
    looked_at: list[Array] = []
    for number, count in enumerate(GRASPS):
        with ctx.timed("grasping"):
            grasps = ctx.robot.generate_grasps(scene, item.id, count)
        fresh = [grasp for grasp in grasps if not _was_tried(grasp, [*tried, *looked_at])]
        last = number == len(GRASPS) - 1
        if not fresh and not last:
            continue
        try:
            return _plan_grasp(ctx, scene, item, fresh or grasps, touch)
        except DeskhandError as error:
            if last or error.code not in AGAIN:
                raise
            looked_at = [grasp.pose for grasp in grasps]
    raise AssertionError("unreachable")


def _plan_grasp(ctx: SkillContext, scene: Scene, item: SceneObject, grasps: list[Grasp], touch: Touch) -> tuple[Grasp, Plan]:
    """The first grasp that can be planned: to the pregrasp, and straight on from there to the object, as one motion."""
    last: DeskhandError | None = None
    for grasp in grasps:
        ctx.check()
        wanted = grasp.opening or ctx.robot.arm.gripper.width_max
        if abs(ctx.width() - wanted) > OPEN_ENOUGH:  # before planning: a plan holds for the hand as it stands
            ctx.grip(wanted)
        try:
            approach = ctx.plan_then_line(pregrasp_joints(ctx, scene, item, grasp), grasp.pose, touch)
        except DeskhandError as error:
            if error.code not in AGAIN:
                raise
            log.info("grasp of %s cannot be planned: %s: %s", item.id, error.code, error)
            last = error
            continue
        return grasp, approach
    assert last is not None
    raise DeskhandError(last.code, f"none of {len(grasps)} grasps of {item.id} can be planned; the last: {last.message}", hint=last.hint)


def pregrasp_joints(ctx: SkillContext, scene: Scene, item: SceneObject, grasp: Grasp) -> MotionGoal:
    """Joints from which the hand goes straight on to ``grasp``, near those of the grasp. Raises ``no_ik_solution``, ``goal_in_collision``."""
    pregrasp = grasp.pose @ make_transform(translation=[0, 0, -way_back(scene, item, grasp)])
    with ctx.timed("planning"):
        names = ctx.robot.arm.joints
        seed = dict(zip(names, map(float, grasp.joints), strict=True)) if len(grasp.joints) else None
        joints = ctx.robot.solve_ik(pregrasp, seed=seed)[0].joints
    return MotionGoal(joints=dict(zip(names, map(float, joints), strict=True)))


def way_back(scene: Scene, item: SceneObject, grasp: Grasp) -> float:
    """How far back [m] the approach begins; above the rim when the object is in a container."""
    for other in scene.objects:
        if other.id == item.support and other.is_container:
            return float(max(PREGRASP, (other.top + 0.02 - grasp.pose[2, 3]) / max(0.5, -grasp.pose[2, 2])))
    return PREGRASP


def _upright(grasp: Grasp) -> bool:
    """Whether the fingers come from above and close level."""
    return bool(abs(grasp.pose[2, 1]) < np.sin(ALONG) and grasp.pose[2, 2] < -np.cos(ALONG))


def _under(grasp: Grasp, item: SceneObject, finger_depth: float) -> float:
    """How much [m] of an object is below the finger tips of a grasp from above; steps of 1 mm, so that the better of two that are about as high stays first."""
    return round(float(grasp.pose[2, 3]) - finger_depth - item.bottom, 3)


def _along(grasp: Grasp, closing: Sequence[float]) -> bool:
    """Whether the fingers close along one of the directions."""
    axis = grasp.pose[:3, 1]
    turn = np.arctan2(axis[1], axis[0])
    return any(abs((turn - one + np.pi / 2) % np.pi - np.pi / 2) < ALONG for one in closing)


def _was_tried(grasp: Grasp, tried: Sequence[Array]) -> bool:
    return any(np.linalg.norm(pose[:3, 3] - grasp.pose[:3, 3]) < 0.005 and rotation_angle(pose, grasp.pose) < 0.15 for pose in tried)
