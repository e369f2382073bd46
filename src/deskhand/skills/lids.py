"""Close a hinged lid that stands open: pushed over from behind, so that it falls shut; a look tells whether it has."""

from __future__ import annotations

import logging
from itertools import product

import numpy as np

from deskhand.errors import DeskhandError
from deskhand.geometry import Array, make_transform
from deskhand.perception.lids import OpenLid, find_open_lid
from deskhand.skills.base import UNREACHED, SkillContext, SkillError, skill
from deskhand.skills.handle_moves import LITTLE, NEAR, SLOW, apart_from
from deskhand.types import MotionGoal, Plan, PlanOptions, Scene, SkillResult

log = logging.getLogger(__name__)

BELOW_EDGE = 0.022  # [m] of the finger tips below the upper edge as they push
BEHIND = 0.035  # [m] between the lid and the fingers before they push: they are 2 cm thick
ABOVE = 0.09  # [m] from where the fingers come down
OVER = 1.0 / np.tan(np.deg2rad(50.0))  # the lid is pushed until it stands at this angle above level: it falls from there
HINGE = 0.35  # of the height of the upper edge: that of the hinge, where no box is seen
LOWER = 0.75  # of the same: what is lower belongs to the box
FALLEN = 0.7  # of the height of the upper edge, below which all that is seen there must be afterwards
ENOUGH = 60  # points of it that must be seen
TILTS = np.deg2rad([0.0, 10.0, 20.0, 35.0])  # of the approach from straight down towards the box: the hand leans away from the lid, whose edge passes it
UP = 0.08  # [m]
ASIDE = (0.28, -0.28)  # of its width off the middle of the edge, where handles are
FAR = 0.8  # of the push that must be within reach


@skill
def close_lid(ctx: SkillContext, object_id: str) -> SkillResult:
    """Push the lid that stands open on or beside ``object_id`` over, so that it falls shut.

    ``data``: ``object_id``, ``height_before`` and ``height_after`` [m, world] of what is highest where the lid stood and where it comes to lie, ``times``.
    Codes: ``already_holding``, ``unknown_object``, ``no_lid``, ``not_moved``, and those of motion and safety.
    """
    if ctx.belief.held is not None:
        raise DeskhandError("already_holding", f"the gripper holds {ctx.belief.held.object.id}.", hint="Place it first.")
    ctx.step(0.0, f"close the lid of {object_id}")
    scene = ctx.scene()
    if not len(scene.cloud):
        scene = ctx.look()
    item = scene.get(object_id)
    lid = find_open_lid(scene.cloud, item, float(scene.table.pose[2, 3]))
    if lid is None:
        raise DeskhandError("no_lid", f"no lid is seen that stands open at {object_id}.", hint="Look from another side, or name another object.")
    ctx.step(0.15, "go behind the lid")
    ctx.grip(ctx.robot.arm.gripper.width_min)
    allow = tuple(("gripper", name) for name in _touched(scene, lid))
    above, onto, over = _planned(ctx, lid, _hinge_height(scene, lid), allow)
    ctx.execute(above)
    ctx.belief.disturb(pushes=True)
    ctx.execute(onto)
    ctx.step(0.5, "push it over")
    ctx.execute(ctx.plan_line(over, PlanOptions(speed_scale=SLOW, allow=allow, min_fraction=LITTLE)))
    try:
        ctx.rise(UP, allow)
    except DeskhandError as error:
        if error.code not in UNREACHED:
            raise
        log.info("not straight up from the lid: %s: %s", error.code, error)
    ctx.step(0.8, "look whether it is shut")
    return _told(ctx.look(), object_id, lid)


def _hinge_height(scene: Scene, lid: OpenLid) -> float:
    """Height [m] of the hinge: of the box that is seen below the lid, else what is usual."""
    foot = lid.edge - lid.away * np.tan(lid.lean) * lid.edge[2]
    floor = float(scene.table.pose[2, 3])
    low = [item.top for item in scene.objects if item.top - floor < LOWER * (lid.edge[2] - floor) and apart_from(item, np.append(foot[:2], item.top)) < NEAR]
    return max(low, default=floor + HINGE * float(lid.edge[2] - floor))


def _touched(scene: Scene, lid: OpenLid) -> list[str]:
    """What looks took the lid and the box for."""
    foot = lid.edge - lid.away * np.tan(lid.lean) * lid.edge[2]
    line = [lid.edge + share * (foot * [1.0, 1.0, 0.0] - lid.edge) for share in (0.0, 0.25, 0.5, 0.75)]
    return [item.id for item in scene.objects if any(apart_from(item, place) < NEAR for place in line)]


def _planned(ctx: SkillContext, lid: OpenLid, hinge: float, allow: tuple[tuple[str, str], ...]) -> tuple[Plan, Plan, tuple[Array, ...]]:
    """To above the place behind the lid, down to it, and the pose at the end of the push: all is planned before anything moves."""
    starts = _starts(ctx, lid)
    height = max(float(lid.edge[2]) - BELOW_EDGE - hinge, 0.03)
    way = BEHIND + height * (np.tan(lid.lean) + OVER)
    left, last = list(starts), DeskhandError("planning_failed", "no way behind the lid could be planned.")
    while left:
        above = ctx.plan(MotionGoal(poses=tuple(make_transform(translation=[0, 0, ABOVE]) @ pose for pose in left)), PlanOptions(allow=allow))
        start = left.pop(above.goal_index)
        end = make_transform(translation=-way * lid.away) @ start
        try:
            onto = ctx.plan_line((start,), PlanOptions(start=above.end, speed_scale=2 * SLOW, allow=allow))
            ctx.plan_line((end,), PlanOptions(start=onto.end, speed_scale=SLOW, allow=allow, min_fraction=FAR))
            return above, onto, (end,)
        except DeskhandError as error:
            if error.code not in UNREACHED:
                raise
            log.info("not behind the lid by one way: %s: %s", error.code, error)
            last = error
    raise last


def _starts(ctx: SkillContext, lid: OpenLid) -> list[Array]:
    """World_T_tcp (4, 4) with the closed fingers behind the lid, their tips below its edge: pointing down, or towards the box."""
    gripper = ctx.robot.arm.gripper
    along = np.cross(lid.away, [0.0, 0.0, 1.0])
    tips = lid.edge - lid.away * np.tan(lid.lean) * BELOW_EDGE + lid.away * BEHIND - [0.0, 0.0, BELOW_EDGE]
    poses = []
    for tilt, aside in product(TILTS, ASIDE):
        approach = -np.cos(tilt) * np.array([0.0, 0.0, 1.0]) - np.sin(tilt) * lid.away
        across = np.cross(along, approach)
        for closing in (along, -along, across, -across):
            turn = np.column_stack([np.cross(closing, approach), closing, approach])
            poses.append(
                make_transform(turn, tips + aside * lid.width * along - gripper.finger_depth * approach - turn @ gripper.tcp_offset(gripper.width_min))
            )
    return poses


def _told(after: Scene, object_id: str, lid: OpenLid) -> SkillResult:
    """By what is seen where the lid stood and where it should lie now."""
    points = np.asarray(after.cloud, dtype=float).reshape(-1, 3)
    foot = lid.edge - lid.away * np.tan(lid.lean) * lid.edge[2]
    along = np.cross(lid.away, [0.0, 0.0, 1.0])
    ahead, beside = (foot - points) @ lid.away, np.abs((points - lid.edge) @ along)
    low = points[:, 2] < lid.edge[2] + NEAR  # what is higher is not the lid
    within = points[low & (ahead > -np.tan(lid.lean) * lid.edge[2] - NEAR) & (ahead < lid.edge[2]) & (beside < lid.width / 2)]
    data = {"object_id": object_id, "height_before": round(float(lid.edge[2]), 4), "height_after": 0.0}
    if len(within) < ENOUGH:
        raise SkillError("not_moved", f"neither the lid of {object_id} nor what it lies on is seen after it was pushed.", data)
    data["height_after"] = round(float(np.quantile(within[:, 2], 0.995)), 4)
    if data["height_after"] > FALLEN * lid.edge[2]:
        raise SkillError("not_moved", f"the lid of {object_id} still stands: {data['height_after']:.3f} m is seen where it was {lid.edge[2]:.3f} m high.", data)
    text = f"the lid of {object_id} lies: {data['height_after']:.3f} m high where it stood {lid.edge[2]:.3f} m high"
    return SkillResult("", text, data)
