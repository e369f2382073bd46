"""Pictures, depth and clouds by reference: what other tools take."""

from __future__ import annotations

from typing import Annotated

import numpy as np
from pydantic import Field
from typing_extensions import TypedDict

from deskhand.etp.resources import DEPTH, IMAGE, POINTS, ResourceRef
from deskhand.etp.tool import ToolContext, tool
from deskhand.perception.voxel_downsample import thin
from deskhand.tools.objects import rounded
from deskhand.tools.viewing import desk_view


class Pinhole(TypedDict):
    """The camera's model [px]; pixel centres at whole numbers, no distortion."""

    width: int
    height: int
    fx: float
    fy: float
    cx: float
    cy: float


class Shot(TypedDict):
    """One exposure."""

    color: Annotated[ResourceRef, Field(description="picture (H, W, 3) RGB")]
    depth: Annotated[ResourceRef, Field(description="depth (H, W) [m] along the optical axis, NaN where nothing was measured")]
    cloud: Annotated[ResourceRef | None, Field(description="points (N, 3) in world [m] of what is above the table, robot left out; null when not asked for")]
    stamp: Annotated[float, Field(description="ROS time of the exposure [s]")]


class Shots(TypedDict):
    """Exposures of one camera."""

    shots: list[Shot]
    camera: Pinhole
    world_T_camera: Annotated[list[list[float]], Field(description="4 x 4 pose of the optical frame (x right, y down, z forward) at the last exposure")]


@tool(
    group="perception",
    unit="depth_and_3d_geometry",
    needs=("camera",),
    timeout=120.0,
    when_to_use="To get the raw colour picture, depth picture or point cloud by reference, one or a series over time, for tools that take pictures: tracking, "
    "segmentation, comparing, reconstruction.",
    limits="The camera stays where it is and nothing moves. Says nothing of objects: detect_objects does. The cloud is of one view, thinned to 3 mm.",
    examples=[
        ("Get the raw image and depth of the camera right now", {}),
        ("Record ten frames, five a second, to follow something that moves", {"count": 10, "interval": 0.2}),
        ("Get a point cloud of what stands on the desk", {"cloud": True}),
    ],
    failures=[("The camera gives no new picture", {}, "stale_data")],
)
def capture_rgbd(
    ctx: ToolContext,
    count: Annotated[int, Field(ge=1, le=60, description="how many exposures")] = 1,
    interval: Annotated[float, Field(ge=0, le=5, description="[s] of ROS time between exposures")] = 0.1,
    cloud: Annotated[bool, Field(description="also give the points above the table")] = False,
) -> Shots:
    """Take one or several RGB-D exposures: colour and depth picture, camera model and pose, and on request the point cloud, by reference."""
    shots: list[Shot] = []
    for number in range(count):
        if number:
            ctx.robot.sleep(interval)
        frame = ctx.robot.observe()
        points = None
        if cloud:
            view = desk_view(ctx, frame)
            points = ctx.resources.put(thin(view.points[view.objects & view.valid], 0.003), POINTS, f"points above the table at {frame.stamp:.2f} s")
        color = ctx.resources.put(frame.color, IMAGE, f"picture at {frame.stamp:.2f} s")
        depth = ctx.resources.put(np.asarray(frame.depth, np.float32), DEPTH, f"depth at {frame.stamp:.2f} s")
        shots.append(Shot(color=color, depth=depth, cloud=points, stamp=float(frame.stamp)))
        ctx.progress((number + 1) / count, f"exposure {number + 1} of {count}")
        if ctx.cancelled():
            break
    k = frame.intrinsics
    pose = [rounded(row, 6) for row in frame.world_T_camera]
    return Shots(shots=shots, camera=Pinhole(width=k.width, height=k.height, fx=k.fx, fy=k.fy, cx=k.cx, cy=k.cy), world_T_camera=pose)
