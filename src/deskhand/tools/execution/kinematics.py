"""Joints for a position of the gripper."""

from __future__ import annotations

import math
from typing import Annotated

import numpy as np
from pydantic import Field
from scipy.ndimage import distance_transform_edt
from typing_extensions import TypedDict

from deskhand.arms.model import RobotModel
from deskhand.errors import DeskhandError
from deskhand.etp.tool import ToolContext, tool
from deskhand.tools.execution.jacobian import manipulability, nearest_limit
from deskhand.tools.objects import rounded
from deskhand.tools.poses import Approach, TargetPosition, Yaw, hand_poses


class Solution(TypedDict):
    """Joints that bring the gripper there."""

    joints: Annotated[dict[str, float], Field(description="[rad]")]
    position_error: Annotated[float, Field(description="[m]")]
    rotation_error: Annotated[float, Field(description="[rad]")]
    collision_free: bool


class Solutions(TypedDict):
    """What was found."""

    solutions: Annotated[list[Solution], Field(description="nearest to the present joints first")]


@tool(
    group="execution",
    unit="inverse_kinematics",
    needs=("arm",),
    timeout=20.0,
    when_to_use="To compute the joint angles for a position of the tool centre point, or to test whether a point in space can be reached by the arm.",
    limits="Computes only, nothing moves; a solution does not say that a collision-free way leads there (plan_motion does).",
    examples=[("Which joint angles put the tool centre point 20 cm above the middle of the desk?", {"position": [0.0, 0.0, 0.2]})],
    failures=[("A point far out of reach", {"position": [1.2, 0.0, 0.2]}, "no_ik_solution")],
)
def solve_ik(ctx: ToolContext, position: TargetPosition, approach: Approach = "down", yaw: Yaw = None) -> Solutions:
    """Solve inverse kinematics: joint angles that bring the tool centre point to a position with the fingers down, tilted or forward."""
    poses = hand_poses(ctx.robot.arm, position, approach, yaw)
    last: DeskhandError | None = None
    for pose in poses:
        try:
            found = ctx.robot.solve_ik(pose)
        except DeskhandError as error:
            if error.code != "no_ik_solution":
                raise
            last = error
            continue
        return Solutions(
            solutions=[
                Solution(
                    joints=dict(zip(ctx.robot.arm.joints, rounded(item.joints), strict=True)),
                    position_error=float(item.position_error),
                    rotation_error=float(item.rotation_error),
                    collision_free=bool(item.collision_free),
                )
                for item in found
            ]
        )
    assert last is not None
    nearest = _nearest_reached(ctx, position, approach, yaw)
    raise DeskhandError("no_ik_solution", f"none of {len(poses)} hands at {position} can be reached ({approach}): {last.message}{nearest}")


TOWARDS = 8
"""Points between a position that cannot be reached and the middle of the reach that are tried."""


def _nearest_reached(ctx: ToolContext, position: TargetPosition, approach: Approach, yaw: Yaw) -> str:
    """The first point on the way from the position to the middle of the arm's work area, at the same height, that the gripper can be brought to, in words."""
    arm = ctx.robot.arm
    base, there = arm.world_T_base[:2, 3], np.asarray(position, dtype=float)
    out = there[:2] - base
    middle = base + out / max(float(np.linalg.norm(out)), 1e-9) * float(np.mean(arm.work_radius))
    for share in np.linspace(0.0, 1.0, TOWARDS + 1)[1:]:
        place = np.append(there[:2] + share * (middle - there[:2]), there[2])
        for pose in hand_poses(arm, [float(value) for value in place], approach, yaw)[:2]:
            try:
                ctx.robot.solve_ik(pose)
            except DeskhandError as error:
                if error.code not in ("no_ik_solution", "goal_in_collision"):
                    raise
                continue
            off = 1000 * float(np.linalg.norm(place - there))
            return f" The nearest that I find within reach, at that height: ({place[0]:.3f}, {place[1]:.3f}, {place[2]:.3f}), {off:.0f} mm off."
    return ""


class HandPose(TypedDict):
    """Where joints bring the gripper, and how well it can move there."""

    position: Annotated[list[float], Field(description="[x, y, z] of the point between the finger tips in world [m]")]
    approach: Annotated[list[float], Field(description="unit vector in which the fingers point")]
    closing: Annotated[list[float], Field(description="unit vector along which the fingers close")]
    dexterity: Annotated[float, Field(description="0: singular, some way the gripper cannot move; 1: it moves equally well all ways")]
    nearest_limit: Annotated[str, Field(description="the joint that is nearest to its limit")]
    limit_margin: Annotated[float, Field(description="how far that joint may still turn [rad]; negative when beyond")]
    free: Annotated[bool, Field(description="within limits and workspace, touching nothing")]
    touching: Annotated[list[str], Field(description="what touches what, and other rules that are broken")]


@tool(
    group="execution",
    unit="inverse_kinematics",
    needs=("arm",),
    when_to_use="To compute where joint angles bring the tool centre point (forward kinematics), whether that is near a singularity or a joint limit, and "
    "whether it touches anything.",
    limits="Computes only. Without joints it tells of where the arm stands now. The obstacles are those of the last look.",
    examples=[
        (
            "Forward kinematics: where is the tool centre point when all joints are at these angles?",
            {"joints": {"waist": 0.3, "shoulder": 0.2, "elbow": 0.1, "forearm_roll": 0.0, "wrist_angle": 0.8, "wrist_rotate": 0.0}},
        ),
        ("Is the arm near a singular posture right now?", {}),
    ],
    failures=[("A joint that the arm does not have", {"joints": {"tail": 0.1}}, "invalid_input")],
)
def hand_pose_at(
    ctx: ToolContext,
    joints: Annotated[dict[str, float] | None, Field(description="[rad] joint name to angle, all joints of the arm; null for the measured ones")] = None,
) -> HandPose:
    """Compute the pose of the tool centre point for joint angles (forward kinematics), its dexterity there, the nearest joint limit, and contacts."""
    arm = ctx.robot.arm
    if joints is not None and set(joints) != set(arm.joints):
        raise DeskhandError("invalid_input", f"hand_pose_at: joints: give exactly {', '.join(arm.joints)}.", retry=True)
    values = ctx.robot.joint_state().of(arm.joints) if joints is None else np.array([joints[name] for name in arm.joints])
    model = RobotModel.load(arm)
    pose = model.tcp_pose(model.arm_joints(values))
    name, margin = nearest_limit(model, values)
    check = ctx.robot.check_state(model.arm_joints(values))
    touching = [f"{a} enters {b} by {1000 * depth:.0f} mm" for a, b, depth in check.collisions]
    return HandPose(
        position=rounded(pose[:3, 3]),
        approach=rounded(pose[:3, 2]),
        closing=rounded(pose[:3, 1]),
        dexterity=round(manipulability(model, values), 4),
        nearest_limit=name,
        limit_margin=round(margin, 4),
        free=bool(check.valid),
        touching=[*touching, *check.violations],
    )


class ReachMap(TypedDict):
    """Where the gripper can be at one height."""

    rows: Annotated[list[str], Field(description="one text a row, from far (+x) to near; in each, from left (+y) to right: # reached, . not")]
    x: Annotated[list[float], Field(description="x of the rows [m]")]
    y: Annotated[list[float], Field(description="y of the columns [m]")]
    share: Annotated[float, Field(description="share of the cells that are reached")]
    middle: Annotated[list[float] | None, Field(description="[x, y] of the reached cell with most reached cells around it; null when none is")]


@tool(
    group="execution",
    unit="inverse_kinematics",
    needs=("arm",),
    timeout=300.0,
    when_to_use="To see the whole area of the desk that the gripper can work in at some height, for example to decide where to put objects or to build.",
    limits="A grid of inverse kinematics: it knows obstacles of the last look when free is true, but not whether a way leads there. With the fingers "
    "down and no yaw, the gripper is turned as suits the arm. Takes seconds.",
    examples=[
        ("Which part of the desk is reachable with the fingers down, 10 cm high?", {"height": 0.1}),
        ("Map the workspace for a tilted hand", {"height": 0.15, "approach": "tilted", "cells": 12}),
    ],
    failures=[("A height that is given in centimetres", {"height": 20.0}, "invalid_arguments")],
)
def reachability_map(
    ctx: ToolContext,
    height: Annotated[float, Field(ge=0.0, le=0.6, description="[m] of the point between the finger tips above the table")] = 0.1,
    approach: Approach = "down",
    yaw: Yaw = None,
    cells: Annotated[int, Field(ge=4, le=24, description="how many cells along the longer side of the area")] = 8,
    free: Annotated[bool, Field(description="true: also without contacts with what was seen")] = False,
) -> ReachMap:
    """Map where on the desk the gripper can be at a height, by inverse kinematics on a grid."""
    base, reach = ctx.robot.arm.world_T_base[:3, 3], ctx.robot.arm.reach
    step = 2 * reach / cells
    xs = np.arange(base[0] + step / 2, base[0] + reach, step)[::-1]
    ys = np.arange(base[1] - reach + step / 2, base[1] + reach, step)[::-1]
    reached = np.zeros((len(xs), len(ys)), dtype=bool)
    for i, x in enumerate(xs):
        if ctx.cancelled():
            raise DeskhandError("cancelled", "the map was cancelled.")
        ctx.progress(i / len(xs), f"row {i + 1} of {len(xs)}")
        for j, y in enumerate(ys):
            point = np.array([x, y, height])
            if np.linalg.norm(point - base) <= reach:
                turn = math.atan2(y - base[1], x - base[0]) if yaw is None and approach == "down" else yaw
                reached[i, j] = _reaches(ctx, [float(x), float(y), height], approach, turn, free)
    around = distance_transform_edt(np.pad(reached, 1))[1:-1, 1:-1]
    best = np.unravel_index(int(around.argmax()), around.shape)
    return ReachMap(
        rows=["".join("#" if cell else "." for cell in row) for row in reached],
        x=rounded(xs),
        y=rounded(ys),
        share=round(float(reached.mean()), 4),
        middle=rounded([xs[best[0]], ys[best[1]]]) if reached.any() else None,
    )


def _reaches(ctx: ToolContext, point: list[float], approach: str, yaw: float | None, free: bool) -> bool:
    for pose in hand_poses(ctx.robot.arm, point, approach, yaw):
        try:
            if ctx.robot.solve_ik(pose, check_collisions=free):
                return True
        except DeskhandError as error:
            if error.code not in ("no_ik_solution", "goal_in_collision"):
                raise
    return False
