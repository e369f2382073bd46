"""Following in the background, at the rate of the camera: one target, points, the pose of an object."""

from __future__ import annotations

from typing import Annotated

import numpy as np
from pydantic import Field
from typing_extensions import TypedDict

from deskhand.errors import DeskhandError
from deskhand.etp.tool import ToolContext, tool
from deskhand.geometry import quaternion_from_matrix
from deskhand.perception.monitor.points import PointTracker
from deskhand.perception.monitor.pose import PoseTracker
from deskhand.perception.monitor.sample import Floats
from deskhand.perception.monitor.settings import SAMPLE
from deskhand.perception.monitor.target import TargetTracker
from deskhand.tools.looking import last_look
from deskhand.tools.objects import ObjectId, number_or_none, rounded
from deskhand.tools.perception.monitoring import Watching
from deskhand.tools.pictures import Pixel, box_of
from deskhand.tools.watching import pictures, target_pixels, watched
from deskhand.types import Frame

NEARER = 0.06  # [m] by which a point cannot come nearer from one picture to the next: then something came before it


class TargetState(TypedDict):
    """The target in one picture."""

    time: Annotated[float, Field(description="ROS time of the picture [s]")]
    lost: Annotated[bool, Field(description="true: it is not seen; it is looked for in every picture")]
    position: Annotated[list[float], Field(description="middle of what is seen of it [x, y, z] in world [m]; where it was last seen when it is lost")]
    box: Annotated[list[int], Field(description="[left, top, width, height] in the picture [px]; zeros when it is lost")]
    confidence: Annotated[float, Field(description="likeness with how it looked at first, 0 to 1")]


class PointState(TypedDict):
    """One point in one picture."""

    pixel: Annotated[list[float], Field(description="[column, row] [px]; of a hidden one where it was last seen")]
    visible: bool
    position: Annotated[list[float] | None, Field(description="[x, y, z] in world [m]; null where it is hidden or has no depth")]


class PointStates(TypedDict):
    """All points in one picture, in the order in which they were given."""

    time: Annotated[float, Field(description="ROS time of the picture [s]")]
    points: list[PointState]


class PoseState(TypedDict):
    """The pose in one picture."""

    time: Annotated[float, Field(description="ROS time of the picture [s]")]
    lost: Annotated[bool, Field(description="true: too little of it is seen; the pose is the last one")]
    position: Annotated[list[float], Field(description="centre of its box [x, y, z] in world [m]")]
    quaternion: Annotated[list[float], Field(description="orientation of its box in world, x y z w")]
    residual: Annotated[float | None, Field(description="rms distance of what is seen from the surface [m]; null when it is lost")]


@tool(
    group="perception",
    unit="segmentation_and_tracking",
    mode="continuous",
    event=TargetState,
    needs=("camera",),
    preconditions=("scene_known", "object_known(object_id)"),
    when_to_use="For the live position of one object in motion, picture by picture, for example something that rolls or is carried by a person, also after "
    "it was out of sight for a while.",
    limits="By place, size and colour: of two objects that look the same and touch it may follow the other. The position is of the visible part. For a camera "
    "that stands still; after it has moved the target is looked for anew.",
    examples=[("Give me the running position of the rolling ball", {"object_id": "ball_1"})],
    failures=[("The object is not on the desk", {"object_id": "ghost_9"}, "unknown_object")],
)
def track_target(ctx: ToolContext, object_id: ObjectId) -> Watching:
    """Track one target live: publish with every picture where it is and whether it is lost; it is found again when it comes back."""
    last_look(ctx).get(object_id)
    tracker: TargetTracker | None = None
    count = 0
    for picture in watched(ctx):
        count += 1
        if tracker is None:
            tracker = TargetTracker(picture.sample, target_pixels(ctx, picture, object_id))
            now = tracker.now
        else:
            now = tracker.update(picture.sample)
        box = [SAMPLE.stride * value for value in box_of(now.mask)]
        state = TargetState(time=picture.sample.stamp, lost=now.lost, position=rounded(now.center), box=box, confidence=round(now.sure, 3))
        ctx.publish(state)
    return Watching(pictures=count, events=count)


@tool(
    group="perception",
    unit="segmentation_and_tracking",
    mode="continuous",
    event=PointStates,
    needs=("camera",),
    when_to_use="For visual servoing or gauging: the running place, in the live image and in space, of single features such as a corner, a hole or a screw.",
    limits="Optical flow on the camera's live pictures, checked against the first appearance: points need texture or a corner; a point that turned much or "
    "moved far while hidden is not taken up again, and one that comes 6 cm nearer from one picture to the next counts as hidden. track_points follows them "
    "on stored pictures.",
    examples=[("Keep telling where these two corners are in the live image", {"points": [[320, 240], [100, 80]]})],
    failures=[("No point is given", {"points": []}, "invalid_arguments")],
)
def follow_points(
    ctx: ToolContext,
    points: Annotated[list[Pixel], Field(min_length=1, max_length=50, description="[column, row] of each point in the present picture [px]")],
) -> Watching:
    """Follow points live: publish with every picture their pixels, positions in space and which are hidden."""
    tracker: PointTracker | None = None
    seen = [-np.inf] * len(points)  # how far from the camera each was when it was last visible
    count = 0
    for reading in pictures(ctx):
        assert reading.frame is not None
        frame, count = reading.frame, count + 1
        if tracker is None:
            height, width = frame.color.shape[:2]
            outside = [point for point in points if not (point[0] <= width - 1 and point[1] <= height - 1)]
            if outside:
                raise DeskhandError("invalid_input", f"the points {outside} are outside the picture, which is {width} x {height} px.")
            tracker = PointTracker(frame.color, points)
        else:
            tracker.update(frame.color)
        places = [_place(frame.points(), pixel) for pixel in tracker.pixels]
        for index, near in enumerate(_range(frame, pixel) for pixel in tracker.pixels):
            if tracker.visible[index] and seen[index] - near > NEARER:
                tracker.reject(index)  # what came before it looks alike there
            elif tracker.visible[index] and np.isfinite(near):
                seen[index] = near
        states = [
            PointState(pixel=rounded(pixel, 2), visible=bool(visible), position=place if visible else None)
            for pixel, visible, place in zip(tracker.pixels, tracker.visible, places, strict=True)
        ]
        ctx.publish(PointStates(time=frame.stamp, points=states))
    return Watching(pictures=count, events=count)


def _range(frame: Frame, pixel: Floats) -> float:
    """Distance [m] along the optical axis of the nearest that is seen at a pixel; NaN without depth."""
    column, row = (round(float(value)) for value in pixel)
    around = frame.depth[max(0, row - 1) : row + 2, max(0, column - 1) : column + 2]
    return float(np.nanmin(around)) if np.isfinite(around).any() else np.nan


def _place(points: Floats, pixel: Floats) -> list[float] | None:
    """The world point at a pixel: the median of those around it that have depth."""
    column, row = (round(float(value)) for value in pixel)
    around = points[max(0, row - 1) : row + 2, max(0, column - 1) : column + 2].reshape(-1, 3)
    around = around[np.isfinite(around).all(axis=1)]
    return rounded(np.median(around, axis=0)) if len(around) else None


@tool(
    group="perception",
    unit="pose_and_localisation",
    mode="continuous",
    event=PoseState,
    needs=("camera",),
    preconditions=("scene_known", "object_known(object_id)"),
    when_to_use="For the running position and orientation (6-D) of an object while it is turned, pushed or carried, for example to line something up with it.",
    limits="Lays the box, cylinder or ball that the last look gave on what is seen, picture by picture: turns about an axis of symmetry are not seen, and "
    "sides that are hidden leave the pose along them less sure. Follows up to about 0.5 m/s.",
    examples=[("Stream the orientation of the box while I turn it", {"object_id": "box_1"})],
    failures=[("The object is not on the desk", {"object_id": "ghost_9"}, "unknown_object")],
)
def track_pose(ctx: ToolContext, object_id: ObjectId) -> Watching:
    """Track how an object is turned and shifted, live in 6-D: publish position, orientation and residual with every picture."""
    item = last_look(ctx).get(object_id)
    target: TargetTracker | None = None
    tracker: PoseTracker | None = None
    count = 0
    for picture in watched(ctx):
        count += 1
        if target is None or tracker is None:
            target = TargetTracker(picture.sample, target_pixels(ctx, picture, object_id))
            tracker = PoseTracker(item)
            now = target.now
        else:
            now = target.update(picture.sample)
        residual = None if now.lost else tracker.update(picture.sample.points[now.mask].astype(float), picture.eye)
        ctx.publish(
            PoseState(
                time=picture.sample.stamp,
                lost=residual is None,
                position=rounded(tracker.pose[:3, 3]),
                quaternion=rounded(quaternion_from_matrix(tracker.pose[:3, :3])),
                residual=None if residual is None else number_or_none(residual, 5),
            )
        )
    return Watching(pictures=count, events=count)
