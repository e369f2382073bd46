"""Wipe an area of the table: what is held, or the closed fingers, go along lines over it, as near as is safe."""

from __future__ import annotations

import numpy as np

from deskhand.errors import DeskhandError
from deskhand.geometry import Array, make_transform, transform_points
from deskhand.skills.base import SkillContext, SkillError, skill
from deskhand.skills.carry import check_held, settled
from deskhand.types import MotionGoal, PlanOptions, Scene, SkillResult

ABOVE = 0.05  # [m]
GAP = 0.002  # [m] between what wipes and the table: no sensor tells the force
SLOW = 0.5  # of the full speed
OVERLAP = 0.7  # distance of the lines, in widths of what wipes
LARGEST = 0.30  # [m] edge of an area
CLEAR = 0.01  # [m] to objects
REACHED = 0.012  # [m] that the path may end off


@skill
def wipe(ctx: SkillContext, x: float, y: float, length: float, width: float) -> SkillResult:
    """Go over the rectangle of ``length`` along x and ``width`` along y [m] about (x, y) [m, world] in lines along y.

    ``data``: ``area`` [m2] that was gone over, ``lines``, ``height`` [m] of what wipes over the table, ``tool``, ``times``.
    Codes: ``invalid_input``, ``no_free_space`` (something stands there), ``object_lost`` and those of motion and safety.
    """
    if not (np.isfinite([x, y]).all() and 0.01 <= length <= LARGEST and 0.01 <= width <= LARGEST):
        raise DeskhandError("invalid_input", f"length and width must be 0.01 to {LARGEST:g} m, got {length} and {width}.")
    ctx.step(0.0, f"wipe {100 * length:.0f} by {100 * width:.0f} cm at ({x:.2f}, {y:.2f})")
    scene = ctx.scene() if ctx.belief.held is None else ctx.belief.scene or ctx.look()
    _check_free(scene, x, y, length, width)
    below, breadth, tool = _wiper(ctx)
    closed = ctx.robot.arm.gripper.tcp_offset(ctx.width())
    height = float(scene.table.pose[2, 3]) + GAP + below
    path = _lines(x, y, length, width, breadth, height)
    ways = [_poses(path, side, closed) for side in (1, -1)]
    above = [ways[side][0].copy() for side in (0, 1)]
    for pose in above:
        pose[2, 3] += ABOVE
    ctx.step(0.2, "come over the area")
    held = ctx.belief.held
    allow = ((held.object.id, "table"),) if held else ()
    plan = ctx.plan(MotionGoal(poses=tuple(above)), PlanOptions(allow=allow))
    poses = ways[plan.goal_index]
    ctx.execute(plan)
    ctx.step(0.4, "wipe")
    ctx.belief.disturb()
    ctx.execute(ctx.plan_line(tuple(poses), PlanOptions(speed_scale=SLOW, allow=allow)))
    off = float(np.linalg.norm(ctx.robot.tcp_pose()[:3, 3] - poses[-1][:3, 3]))
    if held is not None:
        check_held(ctx, held)
    ctx.rise(ABOVE, allow)
    data: dict[str, object] = {"area": round(length * width, 5), "lines": len(path) // 2, "height": GAP, "tool": tool, "off_by": round(off, 4)}
    if off > REACHED:
        raise SkillError("tracking_error", f"the gripper ended {1000 * off:.0f} mm off the path.", data)
    return SkillResult("", f"{len(path) // 2} lines over {100 * length:.0f} by {100 * width:.0f} cm with {tool}", data)


def _check_free(scene: Scene, x: float, y: float, length: float, width: float) -> None:
    half = np.asarray(scene.table.size) / 2
    reach = np.abs(np.array([x, y]) - scene.table.pose[:2, 3]) + np.array([length, width]) / 2
    if np.any(reach > half):
        raise DeskhandError("invalid_input", f"the area about ({x:g}, {y:g}) is not all on the table.")
    for item in scene.objects:
        corners = transform_points(item.pose, np.array([(a, b, 0.0) for a in (-1, 1) for b in (-1, 1)]) * np.asarray(item.size) / 2)[:, :2]
        near = np.abs(corners - [x, y]).min(axis=0) < np.array([length, width]) / 2 + CLEAR
        inside = np.abs(item.position[:2] - [x, y]) < np.array([length, width]) / 2 + CLEAR
        if item.relation != "held" and (near.all() or inside.all()):
            raise DeskhandError("no_free_space", f"{item.id} stands in the area.", hint="Move it away first.")


def _wiper(ctx: SkillContext) -> tuple[float, float, str]:
    """How far [m] it reaches below the tcp when the gripper looks down, how broad [m] it is, and what it is."""
    gripper = ctx.robot.arm.gripper
    held = ctx.belief.held
    if held is None:
        ctx.grip(gripper.width_min)
        return gripper.finger_depth, gripper.finger_breadth, "the closed fingers"
    held = settled(held, gripper)
    corners = np.array([(a, b, c) for a in (-1, 1) for b in (-1, 1) for c in (-1, 1)]) * np.asarray(held.object.size) / 2
    local = transform_points(held.tcp_T_object, corners)
    return max(float(local[:, 2].max()), gripper.finger_depth), float(np.ptp(local[:, 0])), held.object.id


def _lines(x: float, y: float, length: float, width: float, breadth: float, height: float) -> Array:
    """Corner points (2 N, 3) [m] of the lines, to and fro along y."""
    count = max(1, int(np.ceil(length / max(0.01, OVERLAP * breadth))))
    rows = np.linspace(x - length / 2, x + length / 2, count) if count > 1 else np.array([x])
    ends = []
    for number, row in enumerate(rows):
        first, last = (y - width / 2, y + width / 2) if number % 2 == 0 else (y + width / 2, y - width / 2)
        ends += [(row, first, height), (row, last, height)]
    return np.array(ends)


def _poses(path: Array, side: int, middle: Array) -> list[Array]:
    """The gripper looking down, closing along y: what it holds is broad along x. ``side``: 1 or -1, the same hand turned by half a turn.

    ``middle`` (3,) of the tcp frame, of what is between the pads, goes along the path.
    """
    turn = np.column_stack([[1.0 * side, 0.0, 0.0], [0.0, -1.0 * side, 0.0], [0.0, 0.0, -1.0]])
    return [make_transform(turn, point - turn @ middle) for point in path]
