"""Surfaces: the one that objects stand on, the hidden sides of an object, depth without a depth sensor, and whether the camera is where it should be."""

from __future__ import annotations

from typing import Annotated

import numpy as np
from pydantic import Field
from typing_extensions import TypedDict

from deskhand.errors import DeskhandError
from deskhand.etp.resources import DEPTH, POINTS, ResourceRef
from deskhand.etp.tool import ToolContext, tool
from deskhand.perception.corrected import corrected
from deskhand.perception.fit.surface import complete_surface
from deskhand.perception.free_area import SupportSurface, find_surface
from deskhand.perception.monocular import estimate_depth as depth_of
from deskhand.perception.neighbours import nearest
from deskhand.perception.registration import register_clouds
from deskhand.tools.looking import last_look
from deskhand.tools.objects import ObjectId, number_or_none, rounded
from deskhand.tools.pictures import put_mask, stored_picture
from deskhand.tools.viewing import SETTINGS, desk_view, owners

SEEN = 0.006  # [m] from what was seen of it, beyond which a surface is inferred
OFF, TILTED, SHIFTED, TURNED = 0.010, np.deg2rad(1.5), 0.006, np.deg2rad(0.8)
ENOUGH = 0.5  # share of the cloud that must lie on the reference


class SurfaceArea(TypedDict):
    """A level surface, seen from above; world frame."""

    height: Annotated[float, Field(description="above the table [m]")]
    outline: Annotated[list[list[float]], Field(description="polygon [x, y] around what is seen of it and what stands on it [m]")]
    free: Annotated[list[list[list[float]]], Field(description="polygons [x, y] of its free parts, largest first, 10 at most [m]")]
    area: Annotated[float, Field(description="of the outline's inside that is known [m2]")]
    free_area: Annotated[float, Field(description="[m2]")]
    largest_circle: Annotated[list[float], Field(description="[x, y, radius] of the largest free circle [m]")]


class CompletedShape(TypedDict):
    """An object's closed surface."""

    surface: Annotated[ResourceRef, Field(description="points (N, 3) in world [m] on all its sides")]
    hidden: Annotated[ResourceRef, Field(description="those of them that are inferred, not seen")]
    inferred: Annotated[float, Field(description="share of the surface that is inferred, 0 to 1")]
    size: Annotated[list[float], Field(description="of its box [m]")]
    guessed_axes: Annotated[list[str], Field(description="x, y, z of its box along which its size is estimated")]
    solid: Annotated[bool, Field(description="true: a box, cylinder or ball explains what is seen; false: what is seen, filled down to its foot")]


class EstimatedDepth(TypedDict):
    """Depth from colour alone."""

    depth: Annotated[ResourceRef, Field(description="depth (H, W) [m] along the optical axis; NaN off the table")]
    standing: Annotated[ResourceRef, Field(description="mask of what is taken for objects on the table")]
    known: Annotated[float, Field(description="share of pixels with depth")]


class CameraDrift(TypedDict):
    """Where the camera is, beside where it is told to be."""

    ok: Annotated[bool, Field(description="nothing speaks against the told pose")]
    problems: list[str]
    table_offset: Annotated[float, Field(description="height at which the table is seen; it should be 0 [m]")]
    table_tilt: Annotated[float, Field(description="angle of the seen table to level [rad]")]
    shift: Annotated[list[float] | None, Field(description="[x, y] by which what stands is seen off the reference [m]; null without one")]
    yaw: Annotated[float | None, Field(description="turn about the vertical against the reference [rad]; null without one")]
    overlap: Annotated[float | None, Field(description="share of what is seen that lies on the reference; null without one")]


@tool(
    group="perception",
    unit="segmentation_and_tracking",
    needs=("camera",),
    preconditions=("scene_known",),
    timeout=30.0,
    when_to_use="To get the supporting surface itself as a polygon: the outline of the table, or of the top of an object, with its unoccupied patches.",
    limits="Level surfaces only, from one view: what is behind objects is unknown, not free. ground_place chooses a spot by words.",
    examples=[
        ("Outline and free patches of the table top", {}),
        ("How much room is left on top of the box?", {"object_id": "box_1"}),
    ],
    failures=[("The object is not on the desk", {"object_id": "ghost_9"}, "unknown_object")],
)
def segment_surface(
    ctx: ToolContext, object_id: Annotated[str, Field(max_length=64, description="id of the object whose top is meant; empty: the table")] = ""
) -> SurfaceArea:
    """Segment a supporting surface, the table or an object's top: its outline, its free polygons and the largest free circle."""
    scene = last_look(ctx)
    item = scene.get(object_id) if object_id else None
    view = desk_view(ctx)
    seen = view.valid & ~view.robot
    if item is None:
        points, height, above = view.points[seen & ~view.objects], 0.0, [view.points[view.objects]]
        above += [np.asarray(obj.points, np.float32) for obj in scene.objects]
    else:
        own = np.asarray(owners(view, scene) == [other.id for other in scene.objects].index(item.id))
        points, height = view.points[own & view.valid], item.top  # what is half something else at its edge is at no level of it
        above = [view.points[view.objects & ~own & (view.points[..., 2] > height - SEEN)]]
    found = find_surface(points, height, np.concatenate(above))
    if found is None:
        raise DeskhandError("object_lost", "too little of the surface is seen.", hint="Bring the arm home, or look from elsewhere.")
    return _area(found)


def _area(surface: SupportSurface) -> SurfaceArea:
    return SurfaceArea(
        height=round(surface.height, 4),
        outline=[rounded(point) for point in surface.outline],
        free=[[rounded(point) for point in piece] for piece in surface.free[:10]],
        area=round(surface.area, 5),
        free_area=round(surface.free_area, 5),
        largest_circle=rounded(surface.circle),
    )


@tool(
    group="perception",
    unit="depth_and_3d_geometry",
    preconditions=("scene_known", "object_known(object_id)"),
    timeout=20.0,
    when_to_use="To get the full body of an object that is seen from one side only: its closed surface, with the back and underside inferred and "
    "marked as such.",
    limits="The hidden sides follow from symmetry, a fitted solid or straight walls down to the foot; they were not measured. Looking from another "
    "side is surer.",
    examples=[("What does the hidden back of the can look like?", {"object_id": "can_1"})],
    failures=[("The object is not on the desk", {"object_id": "ghost_9"}, "unknown_object")],
)
def complete_shape(
    ctx: ToolContext, object_id: ObjectId, spacing: Annotated[float, Field(ge=0.002, le=0.02, description="[m] between the points")] = 0.004
) -> CompletedShape:
    """Complete the shape of an object seen from one side: points on all its sides, and which of them are inferred."""
    item = last_look(ctx).get(object_id)
    surface = complete_surface(item, spacing)
    points = np.asarray(surface.points, np.float32)
    seen = np.asarray(item.points, float)
    hidden = nearest(seen, points)[0] > SEEN if len(seen) else np.ones(len(points), bool)
    return CompletedShape(
        surface=ctx.resources.put(points, POINTS, f"surface of {object_id}, completed"),
        hidden=ctx.resources.put(points[hidden], POINTS, f"inferred surface of {object_id}"),
        inferred=round(float(hidden.mean()), 4),
        size=rounded(item.size),
        guessed_axes=["xyz"[axis] for axis in item.guessed],
        solid=bool(surface.simple),
    )


@tool(
    group="perception",
    unit="depth_and_3d_geometry",
    needs=("camera",),
    timeout=30.0,
    when_to_use="Monocular: rough ranges from an RGB photo alone, when the 3-D sensor is out of order; scale comes from the table plane.",
    limits="No learned model: everything is taken to stand upright on the table, so that tops of wide objects come out a little too near, and what "
    "hangs in the air "
    "is wrong. Objects must differ from the table in colour. The camera's pose must be known; a stored picture counts as taken from where it is now.",
    examples=[("Monocular depth of the scene", {}), ("Distances in this photo without depth", {"picture": "deskhand://c"})],
    failures=[("The picture is no longer kept", {"picture": "deskhand://gone"}, "unknown_resource")],
)
def estimate_depth(
    ctx: ToolContext, picture: Annotated[str, Field(max_length=200, description="uri of a colour picture; empty: a new one of the camera")] = ""
) -> EstimatedDepth:
    """Estimate monocular depth: ranges of the table and of what stands on it, from one RGB photo and the table plane."""
    frame = ctx.robot.observe()
    image = stored_picture(ctx.resources, picture) if picture else frame.color
    if image.shape != frame.color.shape:
        raise DeskhandError("invalid_input", f"the picture is {image.shape[:2]} and the camera's {frame.color.shape[:2]} (height, width).")
    scene = ctx.belief.scene
    half = np.asarray(scene.table.size if scene is not None else (0.8, 1.2)) / 2
    depth, standing = depth_of(image, frame.intrinsics, frame.world_T_camera, half)
    return EstimatedDepth(
        depth=ctx.resources.put(depth, DEPTH, "depth estimated from colour"),
        standing=put_mask(ctx.resources, standing, "what stands on the table"),
        known=round(float(np.isfinite(depth).mean()), 4),
    )


@tool(
    group="perception",
    unit="pose_and_localisation",
    needs=("camera",),
    timeout=60.0,
    when_to_use="When grasps miss by the same offset every time: has the camera been knocked, is its told pose (extrinsics) still right, by how much "
    "is it off?",
    limits="The table tells height and tilt. Shift and turn along the table need a reference: a cloud that capture_rgbd gave when all was right, most "
    "of which must "
    "still stand where it stood. Corrects nothing: calibrate anew.",
    examples=[("Has somebody bumped into the camera since this cloud was taken?", {"reference": "deskhand://a"}), ("Are the extrinsics still right?", {})],
    failures=[("The reference is no longer kept", {"reference": "deskhand://gone"}, "unknown_resource")],
)
def check_camera_pose(
    ctx: ToolContext,
    reference: Annotated[str, Field(max_length=200, description="uri of a cloud that capture_rgbd gave when the pose was right; empty: the table alone")] = "",
) -> CameraDrift:
    """Check the camera's told pose against the table and a reference cloud: height, tilt, shift and turn that it is off."""
    frame = ctx.robot.observe()
    _, fit = corrected(frame, SETTINGS)
    drift = CameraDrift(ok=True, problems=[], table_offset=round(fit.offset, 5), table_tilt=round(fit.tilt, 5), shift=None, yaw=None, overlap=None)
    if abs(fit.offset) > OFF or fit.tilt > TILTED:
        drift["problems"].append(f"the table is seen {1000 * fit.offset:.0f} mm high and {np.rad2deg(fit.tilt):.1f} deg tilted")
    if reference:
        known = np.asarray(ctx.resources.get(reference).array(), float)
        if known.ndim != 2 or known.shape[1] != 3 or len(known) < 200:
            raise DeskhandError("invalid_input", f"{reference} is no cloud (N, 3) of at least 200 points.", hint="Ask capture_rgbd for one with cloud: true.")
        view = desk_view(ctx, frame)
        now = view.points[view.objects & view.valid].astype(float)
        now = now[np.linspace(0, len(now) - 1, min(len(now), 4000)).astype(int)] if len(now) else np.zeros((0, 3))
        _compare(drift, now, known)
    drift["ok"] = not drift["problems"]
    return drift


def _compare(drift: CameraDrift, now: np.ndarray, known: np.ndarray) -> None:
    """Lay what is seen on the reference: the way it must go is what the camera is off."""
    if len(now) < 200:
        drift["problems"].append("too little stands on the table to compare with the reference")
        return
    pose, rms, overlap, _ = register_clouds(now, known, np.eye(4), 0.06)
    drift["overlap"] = round(overlap, 3)
    if overlap < ENOUGH or not np.isfinite(rms):
        drift["problems"].append(f"only {overlap:.0%} of what is seen lies on the reference: objects were moved, or the camera is far off")
        return
    middle = now.mean(axis=0)
    shift = pose[:3, :3] @ middle + pose[:3, 3] - middle
    drift["shift"], drift["yaw"] = rounded(-shift[:2], 5), number_or_none(-np.arctan2(pose[1, 0], pose[0, 0]), 5)
    if np.linalg.norm(shift[:2]) > SHIFTED or abs(drift["yaw"] or 0.0) > TURNED:
        drift["problems"].append(
            f"what stands is seen {1000 * float(np.linalg.norm(shift[:2])):.0f} mm and {np.rad2deg(drift['yaw'] or 0.0):.1f} deg off: calibrate"
        )
