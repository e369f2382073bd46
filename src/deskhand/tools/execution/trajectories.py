"""Trajectories of a shape: circles, arcs and polylines of the gripper, and joint paths timed under limits."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Annotated, Literal

import numpy as np
from pydantic import Field
from scipy.spatial import cKDTree
from typing_extensions import TypedDict

from deskhand.arms.model import RobotModel
from deskhand.errors import DeskhandError
from deskhand.etp.resources import TRAJECTORY, ResourceRef
from deskhand.etp.tool import ToolContext, tool
from deskhand.geometry import Array
from deskhand.motion.timing import differences, time_path
from deskhand.safety.settings import load_safety
from deskhand.tools.objects import number_or_none
from deskhand.tools.paths import NO_WAY
from deskhand.tools.poses import Approach, TargetPosition, Yaw, hand_poses
from deskhand.types import MotionGoal, Plan, PlanOptions

SAG = 0.0008  # [m] that the chords of a circle may cut off


class ShapePlan(TypedDict):
    """Two stored plans: to where the shape begins, and along it."""

    approach_plan_id: Annotated[str, Field(description="for execute_plan, first: to the beginning of the shape")]
    plan_id: Annotated[str, Field(description="for execute_plan, after it: along the shape")]
    duration: Annotated[float, Field(description="of both [s]")]
    length: Annotated[float, Field(description="of the shape [m]")]
    deviation: Annotated[float, Field(description="largest distance of the planned gripper from the shape [m]")]
    clearance: Annotated[float | None, Field(description="smallest distance to an obstacle along the shape [m]")]


class Retimed(TypedDict):
    """A trajectory that keeps the limits."""

    trajectory: Annotated[ResourceRef, Field(description="JSON: joint_names, times [s], positions [rad], velocities [rad/s], 100 rows a second")]
    duration: Annotated[float, Field(description="[s]")]
    points: int
    max_velocity: Annotated[dict[str, float], Field(description="greatest of each joint, by finite differences [rad/s]")]
    max_acceleration: Annotated[dict[str, float], Field(description="greatest of each joint, by finite differences [rad/s2]")]
    corner: Annotated[float, Field(description="how far the path is rounded off at its corners at most [rad]")]


@tool(
    group="execution",
    unit="trajectory_generation",
    effects="memory",
    needs=("arm",),
    preconditions=("not_stopped",),
    timeout=60.0,
    when_to_use="To plan a motion of the gripper along a circle, an arc or a line through several points, for example to stir, inspect around, trace or draw.",
    limits="Nothing moves: run approach_plan_id, then plan_id, with execute_plan. The gripper keeps its direction. Fails with path_incomplete "
    "where the arm cannot follow.",
    examples=[
        ("Plan a circle of 4 cm radius above the desk", {"shape": "circle", "center": [0.05, 0.0, 0.2], "radius": 0.04}),
        ("Trace a polyline through three points with the gripper", {"shape": "polyline", "points": [[0.0, -0.08, 0.18], [0.08, 0.0, 0.18], [0.0, 0.08, 0.18]]}),
    ],
    failures=[
        ("A circle without a centre", {"shape": "circle"}, "invalid_input"),
        ("A circle far out of reach", {"shape": "circle", "center": [1.2, 0.0, 0.2]}, "no_ik_solution"),
    ],
)
def plan_shape(
    ctx: ToolContext,
    shape: Annotated[
        Literal["circle", "arc", "polyline"], Field(description="circle: all around; arc: from start_angle by sweep; polyline: straight lines through points")
    ],
    center: TargetPosition | None = None,
    radius: Annotated[float, Field(ge=0.005, le=0.25, description="[m] of circle or arc")] = 0.05,
    plane: Annotated[
        Literal["level", "facing", "across"], Field(description="of circle or arc: level; upright facing the robot; upright along its view")
    ] = "level",
    start_angle: Annotated[float, Field(ge=-6.3, le=6.3, description="[rad] where it begins, from +x (level, across) or +y (facing)")] = 0.0,
    sweep: Annotated[float, Field(ge=-6.3, le=6.3, description="[rad] of an arc, positive to the left as seen from above")] = 3.1416,
    points: Annotated[list[TargetPosition] | None, Field(max_length=20, description="[m] [x, y, z] of a polyline in world, at least two")] = None,
    approach: Approach = "down",
    yaw: Yaw = None,
    speed_scale: Annotated[float, Field(ge=0.05, le=1.0, description="share of the arm's full speed")] = 0.5,
) -> ShapePlan:
    """Plan a Cartesian trajectory of the gripper along a circle, arc or polyline, without moving; the plans are for execute_plan."""
    path = _path(shape, center, radius, plane, start_angle, 2 * math.pi if shape == "circle" else sweep, points)
    error: DeskhandError | None = None
    for hand in hand_poses(ctx.robot.arm, list(map(float, path[0])), approach, yaw):
        poses = []
        for point in path:
            pose = hand.copy()
            pose[:3, 3] = point
            poses.append(pose)
        try:
            first = ctx.robot.plan_motion(MotionGoal(poses=(poses[0],)), PlanOptions(speed_scale=speed_scale))
            along = ctx.robot.plan_cartesian(tuple(poses[1:]), PlanOptions(start=first.end, speed_scale=speed_scale))
        except DeskhandError as failure:
            if failure.code not in NO_WAY:
                raise
            error = failure if error is None or failure.code == "path_incomplete" else error
            continue
        length = float(np.linalg.norm(np.diff(path, axis=0), axis=1).sum())
        return ShapePlan(
            approach_plan_id=first.id,
            plan_id=along.id,
            duration=round(first.trajectory.duration + along.trajectory.duration, 3),
            length=round(length, 4),
            deviation=round(_deviation(ctx, along, path), 5),
            clearance=number_or_none(along.clearance),
        )
    assert error is not None
    raise error


def _path(shape: str, center: list[float] | None, radius: float, plane: str, start: float, sweep: float, points: list[list[float]] | None) -> Array:
    """Points (K, 3) [m] of the shape, so close that the chords stay within 0.8 mm of it."""
    if shape == "polyline":
        if points is None or len(points) < 2:
            raise DeskhandError("invalid_input", "plan_shape: points: a polyline needs at least two points.", retry=True)
        return np.asarray(points, dtype=float)
    if center is None:
        raise DeskhandError("invalid_input", f"plan_shape: center: a {shape} needs a centre.", retry=True)
    if abs(sweep) < 0.05:
        raise DeskhandError("invalid_input", "plan_shape: sweep: an arc of less than 0.05 rad is none.", retry=True)
    u, v = {"level": ((1, 0, 0), (0, 1, 0)), "facing": ((0, 1, 0), (0, 0, 1)), "across": ((1, 0, 0), (0, 0, 1))}[plane]
    step = 2 * math.acos(max(-1.0, 1 - SAG / radius))
    angle = np.linspace(start, start + sweep, max(4, math.ceil(abs(sweep) / step) + 1))
    return np.asarray(center) + radius * (np.outer(np.cos(angle), u) + np.outer(np.sin(angle), v))


def _deviation(ctx: ToolContext, plan: Plan, path: Array) -> float:
    """How far the gripper of a plan gets from a path (K, 3) at most [m]: forward kinematics of every tenth state."""
    model = RobotModel.load(ctx.robot.arm)
    hand = np.array([model.tcp_pose(model.arm_joints(joints))[:3, 3] for joints in plan.trajectory.positions[::10]])
    dense = np.concatenate([np.linspace(a, b, 40) for a, b in pairwise(path)])
    return float(np.asarray(cKDTree(dense).query(hand)[0]).max())


@tool(
    group="execution",
    unit="trajectory_generation",
    needs=("arm",),
    timeout=30.0,
    when_to_use="To turn joint way-points into a timed trajectory that keeps the arm's velocity and acceleration limits, with rounded corners; and to "
    "learn how long it takes.",
    limits="Times and blends only: it does not check for collisions (path_feasibility does) and cannot be executed from here; move_joints moves.",
    examples=[
        (
            "Retime this joint path under the limits at half speed",
            {
                "joints": [
                    {"waist": 0.0, "shoulder": -0.5, "elbow": 0.5, "forearm_roll": 0.0, "wrist_angle": 0.8, "wrist_rotate": 0.0},
                    {"waist": 0.6, "shoulder": -0.2, "elbow": 0.5, "forearm_roll": 0.0, "wrist_angle": 0.8, "wrist_rotate": 0.0},
                ],
                "speed_scale": 0.5,
            },
        )
    ],
    failures=[("A joint that the arm does not have", {"joints": [{"tail": 0.0}, {"tail": 1.0}]}, "invalid_input")],
)
def retime_path(
    ctx: ToolContext,
    joints: Annotated[
        list[dict[str, float]], Field(min_length=2, max_length=200, description="[rad] joint name to angle at each way-point, all joints of the arm")
    ],
    speed_scale: Annotated[float, Field(ge=0.05, le=1.0, description="share of the joint limits")] = 1.0,
    corner: Annotated[float, Field(ge=0.0, le=0.3, description="[rad] that corners may be rounded off; 0 stops nowhere but keeps them sharp")] = 0.02,
) -> Retimed:
    """Retime a joint path: a smooth trajectory from rest to rest that keeps velocity and acceleration limits, corners blended."""
    arm = ctx.robot.arm
    for number, point in enumerate(joints):
        if set(point) != set(arm.joints) or not all(map(math.isfinite, point.values())):
            raise DeskhandError("invalid_input", f"retime_path: joints[{number}]: give exactly {', '.join(arm.joints)}, each a number.", retry=True)
    path = np.array([[point[name] for name in arm.joints] for point in joints])
    limit = arm.max_velocity * load_safety().max_joint_speed
    timed = time_path(arm.joints, path, limit, arm.max_acceleration, speed_scale, max(corner, 1e-4))
    velocity, acceleration = differences(timed)
    data = {"joint_names": list(timed.joint_names), "times": timed.times.round(4).tolist()} | {
        name: np.round(getattr(timed, name), 6).tolist() for name in ("positions", "velocities")
    }
    ref = ctx.resources.put(data, TRAJECTORY, f"joint trajectory of {timed.duration:.2f} s")
    return Retimed(
        trajectory=ref,
        duration=round(timed.duration, 3),
        points=len(timed.times),
        max_velocity={name: round(float(value), 4) for name, value in zip(arm.joints, velocity, strict=True)},
        max_acceleration={name: round(float(value), 4) for name, value in zip(arm.joints, acceleration, strict=True)},
        corner=corner,
    )
