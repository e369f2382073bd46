"""Whether a path can be followed, and what to change when it cannot."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Annotated

import numpy as np
from pydantic import Field
from typing_extensions import TypedDict

from deskhand.errors import DeskhandError
from deskhand.etp.tool import ToolContext, tool
from deskhand.geometry import pose_from_xyz_rpy
from deskhand.tools.objects import rounded
from deskhand.tools.paths import Followed, follow, follow_actions, joint_path
from deskhand.tools.poses import Approach, TargetPosition, Yaw

Waypoints = Annotated[
    list[TargetPosition], Field(max_length=12, description="[m] [x, y, z] points for the gripper in world, one after the other in straight lines")
]
Actions = Annotated[
    list[Annotated[list[float], Field(min_length=7, max_length=7)]],
    Field(max_length=40, description="[x, y, z, roll, pitch, yaw, gripper] in [m] and [rad], world: each reached by any way, as separate motions"),
]
JUMP = 0.6  # [m] from one action to the next beyond which it is hardly meant
JointPath = Annotated[list[dict[str, float]], Field(max_length=40, description="[rad] joint name to angle at each way-point, all joints of the arm")]


class Feasibility(TypedDict):
    """Whether a path can be followed from end to end."""

    feasible: bool
    fraction: Annotated[float, Field(description="share of the path that can be followed")]
    waypoint: Annotated[int | None, Field(description="number, from 1, of the way-point that is not reached; null when all are")]
    code: Annotated[str, Field(description="no_ik_solution, goal_in_collision, path_incomplete, limits_violated …; empty when feasible")]
    reason: str
    duration: Annotated[float | None, Field(description="[s] of the whole motion; null when not feasible or for joint paths")]


def _actions(ctx: ToolContext, actions: list[list[float]]) -> Followed:
    """Whether actions can be made one after the other: no leap, not into the table, within reach and free, the fingers among the objects."""
    places = np.array([ctx.robot.tcp_pose()[:3, 3], *(action[:3] for action in actions)])
    for index, (before, after) in enumerate(pairwise(places)):
        if float(np.linalg.norm(after - before)) > JUMP:
            return Followed(index / len(actions), index, "limits_violated", f"a leap of {np.linalg.norm(after - before):.2f} m; {JUMP} m at most.")
        if after[2] < 0.0:
            return Followed(index / len(actions), index, "limits_violated", f"it is {-1000 * after[2]:.0f} mm below the table.")
    scene = ctx.belief.scene
    allow = tuple((item.id, "gripper") for item in scene.objects) if scene is not None else ()
    return follow_actions(ctx.robot, [pose_from_xyz_rpy(action[:3], action[3:6]) for action in actions], allow)


class RepairedMotion(TypedDict):
    """A motion near the wanted one that exists."""

    repaired: bool
    changed: Annotated[str, Field(description="what is different from what was asked; empty when nothing had to change")]
    waypoints: Annotated[list[list[float]], Field(description="[x, y, z] [m] to use now")]
    approach: str
    yaw: Annotated[float | None, Field(description="[rad]")]
    offset: Annotated[float, Field(description="how far the last way-point was moved [m]")]
    plan_id: Annotated[str, Field(description="for execute_plan: the motion to the first way-point; empty when there is none")]
    tried: Annotated[list[str], Field(description="changes that did not help, with why")]


@tool(
    group="reasoning",
    unit="motion_planning",
    effects="memory",
    needs=("arm",),
    preconditions=("not_stopped",),
    timeout=60.0,
    when_to_use="Before moving along way-points or a joint path that somebody proposed (trigger: the path does not come from a planner of ours): tells whether "
    "each point and all between are within reach, limits and free of collision, and which one is not and why.",
    limits="Give one of waypoints, joints and actions. Against obstacles of the last look, which the fingers may touch in actions. Does not search for a way "
    "around: plan_motion does, and motion_repair.",
    examples=[
        ("Is the path from left to right over the desk feasible?", {"waypoints": [[0.0, -0.1, 0.2], [0.0, 0.1, 0.2]]}),
        (
            "Can these joint angles be driven through without a collision?",
            {"joints": [{"waist": 0.0, "shoulder": 0.0, "elbow": 0.0, "forearm_roll": 0.0, "wrist_angle": 0.5, "wrist_rotate": 0.0}]},
        ),
    ],
    failures=[("Nothing is given", {}, "invalid_input")],
)
def path_feasibility(
    ctx: ToolContext,
    waypoints: Waypoints | None = None,
    joints: JointPath | None = None,
    approach: Approach = "down",
    yaw: Yaw = None,
    actions: Actions | None = None,
) -> Feasibility:
    """Check whether a path of hand way-points, joint angles or seven-number actions is feasible, and name the first point that is not, with the reason."""
    if sum(map(bool, (waypoints, joints, actions))) != 1:
        raise DeskhandError("invalid_input", "path_feasibility: give exactly one of waypoints, joints and actions, not empty.", retry=True)
    if joints:
        missing = sorted({name for point in joints for name in set(ctx.robot.arm.joints) ^ set(point)})
        if missing:
            raise DeskhandError(
                "invalid_input", f"path_feasibility: joints: give exactly {', '.join(ctx.robot.arm.joints)}; wrong: {', '.join(missing)}.", retry=True
            )
    given = joint_path(ctx.robot, joints) if joints else None
    found = given or (_actions(ctx, actions) if actions else follow(ctx.robot, waypoints or [], approach, yaw))
    duration = round(sum(plan.trajectory.duration for plan in found.plans), 3) if found.ok and found.plans else None
    return Feasibility(
        feasible=found.ok,
        fraction=round(max(found.fraction, 0.0), 4),
        waypoint=None if found.ok else found.index + 1,
        code=found.code,
        reason=found.reason,
        duration=duration,
    )


@tool(
    group="reasoning",
    unit="motion_planning",
    effects="memory",
    needs=("arm",),
    preconditions=("not_stopped",),
    timeout=120.0,
    when_to_use="Only after path_feasibility said no, or plan_motion failed with no_ik_solution, goal_in_collision, planning_failed or "
    "path_incomplete: finds the nearest "
    "motion that exists by another turn or tilt of the gripper, a higher or shifted point, or a detour over what is in the way.",
    limits="Changes at most what it says in changed, the point by at most most_offset; whether that still serves the purpose is for the caller to judge. "
    "Nothing moves: execute_plan runs the plan_id.",
    examples=[
        ("plan_motion failed with goal_in_collision: repair the motion to this point", {"waypoints": [[0.1, 0.0, 0.03]]}),
        ("The straight path is blocked by a box: find a way over it", {"waypoints": [[0.05, -0.15, 0.05], [0.05, 0.15, 0.05]]}),
    ],
    failures=[("No way-points", {"waypoints": []}, "invalid_arguments")],
)
def motion_repair(
    ctx: ToolContext,
    waypoints: Annotated[Waypoints, Field(min_length=1)],
    approach: Approach = "down",
    yaw: Yaw = None,
    most_offset: Annotated[float, Field(ge=0.0, le=0.15, description="[m] that a point may be moved at most")] = 0.06,
) -> RepairedMotion:
    """Repair an infeasible motion: the nearest one that exists, and what had to change for it."""
    tried: list[str] = []
    for changed, points, way, turn, offset in _variants(waypoints, approach, yaw, most_offset):
        if "moved by" in changed and "table" in tried[0]:
            continue  # it is too low: nowhere beside it is better
        if ctx.cancelled():
            raise DeskhandError("cancelled", "motion_repair was cancelled.")
        ctx.progress(min(0.95, 0.03 * len(tried)), changed or "as asked")
        found = follow(ctx.robot, points, way, turn)
        if found.ok:
            return RepairedMotion(
                repaired=True,
                changed=changed,
                waypoints=[rounded(point) for point in points],
                approach=way,
                yaw=turn,
                offset=round(offset, 4),
                plan_id=found.plans[0].id,
                tried=tried,
            )
        tried.append(_told(changed, found))
    return RepairedMotion(repaired=False, changed="", waypoints=[], approach=approach, yaw=yaw, offset=0.0, plan_id="", tried=tried)


def _told(changed: str, found: Followed) -> str:
    return f"{changed or 'as asked'}: {found.reason or found.code} (way-point {found.index + 1})"


Variant = tuple[str, list[list[float]], str, float | None, float]


def _variants(waypoints: list[list[float]], approach: str, yaw: float | None, most: float) -> Iterator[Variant]:
    """What is asked, then what is less and less like it: what changed, the points, the approach, the yaw, how far the last point was moved."""
    yield "", waypoints, approach, yaw, 0.0
    if yaw is not None:
        yield "any turn of the gripper", waypoints, approach, None, 0.0
    others = [way for way in ("down", "tilted", "forward") if way != approach]
    for way in others:
        yield f"the gripper {way}", waypoints, way, None, 0.0
    if len(waypoints) > 1:
        for lift in (0.05, 0.10, 0.15):
            yield f"a detour {1000 * lift:.0f} mm higher", _over(waypoints, lift), approach, None, 0.0
    offsets = [offset for offset in (0.02, 0.04, 0.06, 0.10, 0.15) if offset <= most + 1e-9]
    for offset in offsets:
        yield f"{1000 * offset:.0f} mm higher", [[x, y, z + offset] for x, y, z in waypoints], approach, None, offset
        for dx, dy in ((-offset, 0.0), (0.0, offset), (0.0, -offset), (offset, 0.0)):
            points = [*waypoints[:-1], [waypoints[-1][0] + dx, waypoints[-1][1] + dy, waypoints[-1][2]]]
            yield f"the last point moved by x {1000 * dx:.0f}, y {1000 * dy:.0f} mm", points, approach, None, offset
    for offset in offsets:
        for way in others:
            yield f"the gripper {way}, {1000 * offset:.0f} mm higher", [[x, y, z + offset] for x, y, z in waypoints], way, None, offset


def _over(waypoints: list[list[float]], lift: float) -> list[list[float]]:
    """Up, across and down again between all points."""
    points = [waypoints[0]]
    for before, after in pairwise(waypoints):
        top = max(before[2], after[2]) + lift
        points += [[before[0], before[1], top], [after[0], after[1], top], after]
    return points
