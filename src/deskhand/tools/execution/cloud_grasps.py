"""A grasp from points alone: no object model, no completion, only the smallest rectangle around what was seen from above."""

from __future__ import annotations

from typing import Annotated, Literal

import cv2
import numpy as np
from pydantic import Field
from scipy.spatial import cKDTree
from typing_extensions import TypedDict

from deskhand.arms.gripper import GripperConfig
from deskhand.errors import DeskhandError
from deskhand.etp.tool import ToolContext, tool
from deskhand.geometry import Array, make_transform
from deskhand.grasping.collision import closing, hand_clearance, lowest_point, opening
from deskhand.grasping.sampling import FRICTION
from deskhand.tools.looking import last_look
from deskhand.tools.objects import Position, number_or_none, rounded
from deskhand.types import Scene

FEWEST = 20  # points
OFF_TABLE = 0.004  # [m] above the table from which points count
TOP = 0.035  # [m] below the highest point that the fingers reach around
LOW = 0.003  # [m] that finger tips stay above the table
REST = 0.004  # [m] around the points within which others belong to the object too


class CloudGrasp(TypedDict):
    """One grasp from above."""

    position: Annotated[
        list[float], Field(description="of the tcp in world [m], as plan_motion takes it: the point between the finger tips, or rigid to the fixed jaw")
    ]
    approach: Annotated[list[float], Field(description="unit vector in which the gripper moves in")]
    closing: Annotated[list[float], Field(description="unit vector along which the fingers close")]
    yaw: Annotated[float, Field(description="turn of the closing direction about world z [rad], as plan_motion takes it with approach down")]
    width: Annotated[float, Field(description="of the points between the pads [m]")]
    clearance: Annotated[float | None, Field(description="of the open gripper to other points [m]")]
    reachable: bool


class CloudGrasps(TypedDict):
    """Ranked, best first."""

    grasps: list[CloudGrasp]
    points: Annotated[int, Field(description="that were used")]
    extent: Annotated[list[float], Field(description="of the rectangle around the points seen from above, longer edge first, and their height [m]")]


@tool(
    group="execution",
    unit="grasping",
    needs=("arm",),
    preconditions=("scene_known",),
    timeout=30.0,
    when_to_use="To find a grasp of something that detection did not tell apart or has no model of, from its points in a region; or as a second "
    "opinion on generate_grasps.",
    limits="From straight above, closing along the shorter (or longer) edge of the smallest rectangle around the seen points, hidden sides unknown: less "
    "careful than generate_grasps, "
    "which completes the shape. Nothing moves.",
    examples=[
        ("Grasp pose from the point cloud around a spot that is no known object", {"position": [0.05, 0.1, 0.02], "radius": 0.05}),
        ("Top-down grasp across the main axes of the pen's points", {"object_id": "pen_1"}),
    ],
    failures=[("There is nothing in the region", {"position": [0.3, -0.4, 0.02], "radius": 0.02}, "no_grasp")],
)
def grasp_from_cloud(
    ctx: ToolContext,
    object_id: Annotated[str, Field(max_length=64, description="id of an object, to use its points; empty when position is given")] = "",
    position: Position | None = None,
    radius: Annotated[float, Field(ge=0.01, le=0.15, description="[m] around position from which points are taken, as seen from above")] = 0.05,
    across: Annotated[Literal["short", "long", "both"], Field(description="which edge of the rectangle the fingers close along")] = "both",
) -> CloudGrasps:
    """Find top-down grasps from a point cloud by its main axes, with the width between the pads and the room for the gripper."""
    if bool(object_id) == (position is not None):
        raise DeskhandError("invalid_input", "grasp_from_cloud: give exactly one of object_id and position.", retry=True)
    scene = last_look(ctx)
    floor = float(scene.table.pose[2, 3])
    points = _points(scene, object_id, position, radius)
    points = points[points[:, 2] > floor + OFF_TABLE]
    if len(points) < FEWEST:
        raise DeskhandError("no_grasp", f"there are only {len(points)} points; {FEWEST} are needed.", hint="Look again, or take a larger radius.")
    middle, axes, extent = _axes(points)
    others = _others(scene, points)
    gripper = ctx.robot.arm.gripper
    order = {"short": (1,), "long": (0,), "both": (1, 0)}[across]
    found = [grasp for number in order if (grasp := _grasp(ctx, points, others, middle, axes[number], floor, gripper)) is not None]
    if not found:
        sides = " and ".join(f"{1000 * extent[number]:.0f} mm" for number in order)
        raise DeskhandError(
            "no_grasp",
            f"the points are {sides} across; the gripper takes {1000 * gripper.width_min:.0f} to {1000 * gripper.width_max:.0f} mm, with room beside.",
        )
    found.sort(key=lambda grasp: (not grasp["reachable"], (grasp["clearance"] or 0.0) < 0.003, grasp["width"]))
    return CloudGrasps(grasps=found, points=len(points), extent=rounded([*extent, np.ptp(points[:, 2])]))


def _points(scene: Scene, object_id: str, position: list[float] | None, radius: float) -> Array:
    if object_id:
        return np.asarray(scene.get(object_id).points, dtype=float)
    cloud = np.asarray(scene.cloud, dtype=float).reshape(-1, 3)
    return np.asarray(cloud[np.linalg.norm(cloud[:, :2] - np.asarray(position)[:2], axis=1) <= radius])


def _axes(points: Array) -> tuple[Array, Array, Array]:
    """Middle (3,), axes (2, 3) of the smallest rectangle around them as seen from above, longer first, and its edges (2,) [m].

    Only of the part that the fingers reach around.
    """
    upper = points[points[:, 2] > points[:, 2].max() - TOP]
    low, high = np.quantile(upper[:, :2], 0.005, axis=0), np.quantile(upper[:, :2], 0.995, axis=0)  # stray points would turn the rectangle
    flat = upper[np.all((upper[:, :2] >= low) & (upper[:, :2] <= high), axis=1), :2]
    centre, extent, turn = cv2.minAreaRect(np.asarray(flat, dtype=np.float32))
    along = np.deg2rad(turn + (90.0 if extent[0] < extent[1] else 0.0))
    axes = np.array([[np.cos(along), np.sin(along), 0.0], [-np.sin(along), np.cos(along), 0.0]])
    return np.append(centre, float(points[:, 2].max())), axes, np.sort(extent)[::-1]


def _others(scene: Scene, points: Array) -> Array:
    """Points (N, 3) of other objects near by."""
    cloud = np.asarray(scene.cloud, dtype=float).reshape(-1, 3)
    near = cloud[np.linalg.norm(cloud[:, :2] - points[:, :2].mean(axis=0), axis=1) < 0.16]
    if not len(near):
        return np.zeros((0, 3))
    return np.asarray(near[np.asarray(cKDTree(points).query(near)[0]) > REST])


def _grasp(ctx: ToolContext, points: Array, others: Array, middle: Array, axis: Array, floor: float, gripper: GripperConfig) -> CloudGrasp | None:
    """The grasp that closes along ``axis``, None where the points are too wide or too narrow, or the gripper has no room."""
    down = np.array([0.0, 0.0, -1.0])
    axis = axis if axis[1] >= 0 else -axis
    height = max(
        floor + LOW + float(gripper.tip_reach(gripper.width_max)), float(middle[2]) - min(TOP, float(np.ptp(points[:, 2])) * 0.6) + gripper.finger_depth
    )
    pose = make_transform(np.column_stack([np.cross(axis, down), axis, down]), [middle[0], middle[1], height])[None]
    wide = np.array([gripper.width_max])
    pose = pose @ make_transform(translation=-gripper.tcp_offset(gripper.width_max))
    met = closing(pose, wide, gripper, points)
    width = float(met.width[0])
    if not (np.isfinite(width) and gripper.width_min < width < min(gripper.width_max - 0.002, gripper.widest(FRICTION))):
        return None
    pose[:, :3, 3] += (met.offset + gripper.stand_off(wide, met.width))[:, None] * pose[:, :3, 1]
    opened = np.atleast_1d(opening(met.measured, gripper))
    pose[:, :3, 3] -= gripper.stand_off(opened, met.width)[:, None] * pose[:, :3, 1]
    clearance = min(float(hand_clearance(pose, opened, gripper, points, others)[0]), float(lowest_point(pose, opened, gripper)[0]) - floor)
    if clearance < 0:
        return None
    return CloudGrasp(
        position=rounded(pose[0, :3, 3]),
        approach=rounded(down),
        closing=rounded(axis),
        yaw=round(float(np.arctan2(-axis[0], axis[1])), 4),
        width=round(width, 4),
        clearance=number_or_none(clearance),
        reachable=_reached(ctx, pose[0]),
    )


def _reached(ctx: ToolContext, pose: Array) -> bool:
    for hand in (pose, pose @ np.diag([-1.0, -1.0, 1.0, 1.0])):
        try:
            if ctx.robot.solve_ik(hand, check_collisions=False):
                return True
        except DeskhandError as error:
            if error.code != "no_ik_solution":
                raise
    return False
