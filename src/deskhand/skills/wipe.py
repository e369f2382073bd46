"""Wipe an area of the table: what is held, or the closed fingers, go along lines over it, as near as is safe; a look tells whether its stains went."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from deskhand.arms.config import ArmConfig
from deskhand.errors import DeskhandError
from deskhand.geometry import Array, make_transform, rotation_about, transform_points
from deskhand.motion.obstacles import obstacle_from_object
from deskhand.perception.desk_view import view_of
from deskhand.perception.stains import SMALLEST, find_stains, left_of, seen_of
from deskhand.skills.base import SkillContext, SkillError, skill
from deskhand.skills.belief import Held
from deskhand.skills.carry import check_held, settled
from deskhand.skills.why import RINGS, STEP, around, joined
from deskhand.types import MotionGoal, PlanOptions, Scene, SceneObject, SceneUpdate, SkillResult, moved
from deskhand.world.level import level
from deskhand.world.spatial import footprint

ABOVE = 0.05  # [m]
GAP = 0.002  # [m] between what wipes and the table
LOOSE = 0.004  # [m] that the fingers open to let it sink: it stays between them
SINKS = 0.3  # [s] until it lies still
SLOW = 0.5  # of the full speed
OVERLAP = 0.7  # distance of the lines, in widths of what wipes
LARGEST = 0.30  # [m] edge of an area
CLEAR = 0.01  # [m] to objects
REACHED = 0.012  # [m] that the path may end off
SEEN = 0.6  # share of the area that a look must show to tell what is on it
LEFT = 0.5  # share of what was stained that may be left
NAMED = 3  # objects that a message names


@dataclass(frozen=True)
class Area:
    """A rectangle of the table about (x, y) [m, world], ``length`` along x and ``width`` along y [m]."""

    x: float
    y: float
    length: float
    width: float

    def __str__(self) -> str:
        return f"the area about ({self.x:.3f}, {self.y:.3f})"

    @property
    def corners(self) -> Array:
        """(4, 2) [m]."""
        return np.array([(self.x + a * self.length / 2, self.y + b * self.width / 2) for a in (-1, 1) for b in (-1, 1)])

    def beyond(self, scene: Scene) -> Array:
        """How far (2,) [m] it reaches over the table's edges in x and y; not positive: it does not."""
        reach = np.abs(np.array([self.x, self.y]) - scene.table.pose[:2, 3]) + np.array([self.length, self.width]) / 2
        return np.asarray(reach - np.asarray(scene.table.size) / 2)

    def overlap(self, item: SceneObject) -> float:
        """How far [m] an object must move, at least, to be ``CLEAR`` of the area (separating axes of both rectangles); not positive: it is, or is held."""
        if item.relation == "held":
            return 0.0
        heading = level(item.pose, item.size).yaw
        axes = np.array([[1.0, 0.0], [0.0, 1.0], [np.cos(heading), np.sin(heading)], [-np.sin(heading), np.cos(heading)]])
        mine, its = self.corners @ axes.T, footprint(item) @ axes.T
        return float(np.minimum(mine.max(axis=0) - its.min(axis=0), its.max(axis=0) - mine.min(axis=0)).min()) + CLEAR


@skill
def wipe(ctx: SkillContext, x: float, y: float, length: float, width: float) -> SkillResult:
    """Go over the rectangle of ``length`` along x and ``width`` along y [m] about (x, y) [m, world] in lines along y.

    What is held slips between the fingers while it is carried: where the wiping begins it is let sink onto the table and gripped anew.

    ``data``: ``area`` [m2] that was gone over, ``lines``, ``height`` [m] of what wipes over the table, ``tool``, ``times``;
    where it was stained before, ``stained`` [m2] then, and ``left``, the share of that which a look shows afterwards (None: it did not show enough).
    Codes: ``invalid_input``, ``no_free_space`` (something stands there), ``object_lost``, ``wipe_failed`` (more than half is left), and those of motion and
    safety.
    """
    if not (np.isfinite([x, y]).all() and 0.01 <= length <= LARGEST and 0.01 <= width <= LARGEST):
        raise DeskhandError("invalid_input", f"length and width must be 0.01 to {LARGEST:g} m, got {length} and {width}.")
    ctx.step(0.0, f"wipe {100 * length:.0f} by {100 * width:.0f} cm at ({x:.2f}, {y:.2f})")
    scene = ctx.scene() if ctx.belief.held is None else ctx.belief.scene or ctx.look()
    area = Area(x, y, length, width)
    _check_free(scene, ctx.robot.arm, area)
    before = _stained(ctx, area) or 0.0
    below, breadth, tool = _wiper(ctx)
    closed = ctx.robot.arm.gripper.tcp_offset(ctx.width())
    data: dict[str, object] = {"area": round(length * width, 5), "tool": tool}
    path = _lines(x, y, length, width, breadth, float(scene.table.pose[2, 3]) + GAP + below)
    off = _go_over(ctx, scene, area, [_poses(path, side, closed) for side in (1, -1)])
    data |= {"lines": len(path) // 2, "height": GAP, "off_by": round(off, 4)}
    if off > REACHED:
        raise SkillError("tracking_error", f"the gripper ended {1000 * off:.0f} mm off the path.", data)
    left: float | None = None
    if before > SMALLEST:
        ctx.step(0.8, "look whether it is clean")
        ctx.go_home()
        after = _stained(ctx, area)
        left = None if after is None else after / before
        data |= {"stained": round(before, 6), "left": None if left is None else round(left, 3)}
    if left is not None and left > LEFT:
        raise SkillError("wipe_failed", f"{100 * left:.0f} % of what was stained in {area} is still there.", data)
    unseen = "; whether it is clean now is not seen" if before > SMALLEST and left is None else ""
    return SkillResult("", f"{len(path) // 2} lines over {100 * length:.0f} by {100 * width:.0f} cm with {tool}{unseen}", data)


def _go_over(ctx: SkillContext, scene: Scene, area: Area, ways: list[list[Array]]) -> float:
    """Along one of the ways, whichever can be reached; how far [m] from its end the gripper stopped."""
    above = [way[0].copy() for way in ways]
    for pose in above:
        pose[2, 3] += ABOVE
    ctx.step(0.2, "come over the area")
    held = ctx.belief.held
    allow = ((held.object.id, "table"),) if held else ()
    try:
        plan = ctx.plan(MotionGoal(poses=tuple(above)), PlanOptions(allow=allow))
        poses = ways[plan.goal_index]
        ctx.execute(plan)
        ctx.belief.disturb(pushes=True)
        if held is not None:
            higher = _gripped_anew(ctx, held, scene, poses[0], allow)
            poses = [_raised(pose, higher) for pose in poses]
        ctx.step(0.4, "wipe")
        line = ctx.plan_line(tuple(poses), PlanOptions(speed_scale=SLOW, allow=allow))
    except DeskhandError as error:
        if error.code != "no_ik_solution":
            raise
        text = joined(error.message.rstrip("."), _nearest(scene, ctx.robot.arm, area))
        raise DeskhandError(error.code, f"{text}.", retry=error.retry, hint=error.hint) from error
    ctx.execute(line)
    off = float(np.linalg.norm(ctx.robot.tcp_pose()[:3, 3] - poses[-1][:3, 3]))
    if held is not None:
        check_held(ctx, ctx.belief.held or held)
    ctx.rise(ABOVE, allow)
    return off


def _gripped_anew(ctx: SkillContext, held: Held, scene: Scene, first: Array, allow: tuple[tuple[str, str], ...]) -> float:
    """Lower what is held onto the table, let it sink and lie flat between the fingers, and grip it deeper; how much higher [m] the tcp then has to go.

    ``first``: world_T_tcp (4, 4) at which it should be ``GAP`` above the table. What was taken with a tilted hand is tilted when the hand looks down.
    """
    ctx.step(0.3, "let it sink onto the table and grip it anew")
    arm, name, table = ctx.robot.arm, held.object.id, float(scene.table.pose[2, 3])
    ctx.execute(ctx.plan_line((_raised(first, -GAP / 2),), PlanOptions(speed_scale=SLOW, allow=allow)))
    flat = _lying(ctx.robot.tcp_pose() @ held.tcp_T_object, np.asarray(held.object.size), table)
    ctx.grip(min(arm.gripper.width_max, ctx.width() + LOOSE))
    ctx.robot.sleep(SINKS)
    ctx.detach()
    ctx.robot.update_scene(SceneUpdate(add=(obstacle_from_object(moved(held.object, flat)),)))
    deep = max(arm.gripper.finger_depth + GAP, float(flat[2, 3]) - table)
    lower = _raised(first, table + deep - float(first[2, 3]))
    ctx.execute(ctx.plan_line((lower,), PlanOptions(speed_scale=SLOW, allow=(*allow, ("gripper", name)))))
    ctx.grip(arm.gripper.width_min, held.grasp.force or arm.gripper.force_default)
    ctx.attach(name)
    held = ctx.belief.held = replace(held, tcp_T_object=np.linalg.inv(ctx.robot.tcp_pose()) @ flat)
    check_held(ctx, held)
    return float(lower[2, 3] - first[2, 3]) + GAP


def _lying(pose: Array, size: Array, table: float) -> Array:
    """The pose (4, 4) of a box of ``size`` (3,) [m] that has sunk from there onto the face that was lowest, on a table at that height [m]."""
    axis = int(np.argmax(np.abs(pose[2, :3])))
    up = pose[:3, axis] * np.sign(pose[2, axis])
    turn = np.cross(up, [0.0, 0.0, 1.0])
    angle = float(np.arctan2(np.linalg.norm(turn), up[2]))
    rotation = rotation_about(turn / np.linalg.norm(turn), angle) if angle > 1e-6 else np.eye(3)
    return make_transform(rotation @ pose[:3, :3], [pose[0, 3], pose[1, 3], table + size[axis] / 2])


def _raised(pose: Array, by: float) -> Array:
    """The pose (4, 4), higher by ``by`` [m]."""
    higher: Array = pose.copy()
    higher[2, 3] += by
    return higher


def _stained(ctx: SkillContext, area: Area) -> float | None:
    """How much [m2] of the area is stained, as a picture shows it now; None where it does not show enough of it."""
    low, high = area.corners.min(axis=0), area.corners.max(axis=0)
    try:
        view = view_of(ctx.robot.observe(), ctx.robot.joint_state(), ctx.robot.arm)
    except DeskhandError as error:
        if error.code not in ("no_frame", "no_table", "stale_data"):
            raise
        return None
    return left_of(find_stains(view), low, high) if seen_of(view, low, high) >= SEEN else None


def _check_free(scene: Scene, arm: ArmConfig, area: Area) -> None:
    """Raises ``invalid_input`` for an area that is not all on the table, ``no_free_space`` for one in which something stands."""
    over = area.beyond(scene)
    if (over > 0).any():
        side = " and ".join(f"{1000 * value:.0f} mm in {name}" for name, value in zip("xy", over, strict=True) if value > 0)
        raise DeskhandError("invalid_input", f"{joined(f'{area} reaches beyond the table by {side}', _nearest(scene, arm, area))}.")
    depths = sorted(((depth, item.id) for item in scene.objects if (depth := area.overlap(item)) > 0), reverse=True)
    if depths:
        stand = " and ".join(f"{name} is {1000 * depth:.0f} mm too near" for depth, name in depths[:NAMED])
        more = f", and {len(depths) - NAMED} more objects" if len(depths) > NAMED else ""
        text = f"{stand}{more} in {area} ({1000 * CLEAR:.0f} mm are kept clear around it)"
        raise DeskhandError("no_free_space", f"{joined(text, _nearest(scene, arm, area))}.", hint="Move away what stands there, or wipe elsewhere.")


def _nearest(scene: Scene, arm: ArmConfig, area: Area) -> str:
    """The nearest area of the same size that is on the table, free and within reach, in words."""
    low, high = arm.work_radius
    for place in around(np.array([area.x, area.y])):
        moved = replace(area, x=float(place[0]), y=float(place[1]))
        away = np.linalg.norm(moved.corners - arm.world_T_base[:2, 3], axis=1)
        if away.min() > low and away.max() < high and (moved.beyond(scene) <= 0).all() and all(moved.overlap(item) <= 0 for item in scene.objects):
            off = float(np.hypot(moved.x - area.x, moved.y - area.y))
            return f"the nearest area of that size that is free and within reach is about ({moved.x:.3f}, {moved.y:.3f}), {1000 * off:.0f} mm off"
    return f"no area of that size is free and within reach up to {1000 * STEP * RINGS:.0f} mm off"


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
