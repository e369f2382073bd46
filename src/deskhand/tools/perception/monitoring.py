"""Watching in the background, at the rate of the camera: objects that move, people that reach in, pictures that go bad."""

from __future__ import annotations

from typing import Annotated, Literal

import numpy as np
from pydantic import Field
from typing_extensions import TypedDict

from deskhand.etp.tool import ToolContext, tool
from deskhand.perception.monitor.intruder import IntruderMonitor, Presence
from deskhand.perception.monitor.moves import MoveMonitor, ObjectMove
from deskhand.tools.objects import number_or_none, rounded
from deskhand.tools.perception.quality import faults_of, quality_of
from deskhand.tools.watching import pictures, shown_objects, watched

AGAIN = 2  # pictures in a row that must say the same of their quality
Count = Annotated[int, Field(description="events that were published")]


class MoveEvent(TypedDict):
    """What happened to an object."""

    kind: Annotated[Literal["moved", "taken", "appeared"], Field(description="taken: it is not where it was, and is seen nowhere else")]
    object_id: Annotated[str, Field(description="as the last look before the watch gave it; empty for an object that is new")]
    time: Annotated[float, Field(description="ROS time of the picture that showed it [s]")]
    before: Annotated[list[float] | None, Field(description="middle of what was seen of it [x, y, z] in world [m]; null for what appeared")]
    after: Annotated[list[float] | None, Field(description="the same now; null for what was taken")]


class PersonEvent(TypedDict):
    """Somebody has come or gone."""

    kind: Literal["entered", "left"]
    time: Annotated[float, Field(description="ROS time of the picture that showed it [s]")]
    nearest: Annotated[list[float] | None, Field(description="point of them nearest to the gripper [x, y, z] in world [m]; null when they left")]
    distance: Annotated[float | None, Field(description="[m] from that point to the gripper; null when they left")]


class PictureEvent(TypedDict):
    """The quality of the pictures has changed."""

    kind: Literal["bad", "good"]
    time: Annotated[float, Field(description="ROS time of the picture [s]")]
    problems: Annotated[list[str], Field(description="what is wrong and what to do; empty when it is good again")]


class Watching(TypedDict):
    """The last word of a watch."""

    pictures: int
    events: Count


@tool(
    group="cognition",
    unit="spatio_temporal_state",
    mode="event",
    event=MoveEvent,
    needs=("camera",),
    preconditions=("scene_known",),
    when_to_use="To be told within a third of a second when anything on the desk is displaced, taken off or set down by others, whichever object it is, while "
    "the robot does something else.",
    limits="Compares pictures, for a camera that stands still; a wrist camera begins anew wherever it comes to rest. Shifts below about 1 cm, and what the arm "
    "covers, are not told. The positions are of the visible part: detect_objects measures exactly. watch_target follows chosen objects by whole looks.",
    examples=[("Tell me if somebody disturbs the layout while I work", {})],
    failures=[("An argument is given although it takes none", {"object_id": "cup_1"}, "invalid_arguments")],
)
def watch_layout(ctx: ToolContext) -> Watching:
    """Watch the whole layout from picture to picture and publish an event when any object is displaced, taken away or added."""
    monitor: MoveMonitor | None = None
    count = events = 0
    for picture in watched(ctx):
        count += 1
        if monitor is None or picture.begins:
            monitor = MoveMonitor(picture.sample, shown_objects(ctx, picture))
            continue
        for move in monitor.update(picture.sample):
            ctx.publish(_move_event(move, picture.sample.stamp))
            events += 1
    return Watching(pictures=count, events=events)


def _move_event(move: ObjectMove, stamp: float) -> MoveEvent:
    before, after = (None if place is None or not np.isfinite(place).all() else rounded(place) for place in (move.before, move.after))
    return MoveEvent(kind=move.kind, object_id=move.object_id if not move.object_id.startswith("new ") else "", time=stamp, before=before, after=after)


@tool(
    group="perception",
    unit="segmentation_and_tracking",
    mode="event",
    event=PersonEvent,
    needs=("camera",),
    when_to_use="To be warned in the background when a person's hand or arm reaches into the workspace, how near it is to the gripper, and when it is gone.",
    limits="No safety device: nothing is stopped by it. Whatever comes in from outside above the table and is not the robot counts, also a stick; a hand that "
    "was there from the beginning does not. For a camera that stands still.",
    examples=[("Warn me when a person reaches onto the desk", {})],
    failures=[("An argument is given although it takes none", {"who": "anybody"}, "invalid_arguments")],
)
def watch_people(ctx: ToolContext) -> Watching:
    """Watch for people: publish an event when a hand or arm that is not the robot's enters the workspace, and when it has left."""
    monitor: IntruderMonitor | None = None
    count = events = 0
    for picture in watched(ctx):
        count += 1
        if monitor is None or picture.begins:
            monitor = IntruderMonitor(picture.sample, picture.sampler.fit.table)
        elif monitor.update(picture.sample, picture.tcp[:3, 3]):
            ctx.publish(_person_event(monitor.present, picture.sample.stamp))
            events += 1
    return Watching(pictures=count, events=events)


def _person_event(present: Presence | None, stamp: float) -> PersonEvent:
    if present is None:
        return PersonEvent(kind="left", time=stamp, nearest=None, distance=None)
    return PersonEvent(kind="entered", time=stamp, nearest=rounded(present.nearest), distance=number_or_none(present.distance))


@tool(
    group="perception",
    unit="image_quality",
    mode="event",
    event=PictureEvent,
    needs=("camera",),
    when_to_use="To be warned in the background when the pictures turn dark, overexposed, blurred, noisy or frozen during work, and when they recover.",
    limits="Judges single colour pictures as check_picture does, two in a row; says nothing about depth.",
    examples=[("Alert me when the lens gets covered or the light goes out", {})],
    failures=[("An argument is given although it takes none", {"blur": 0.5}, "invalid_arguments")],
)
def watch_picture(ctx: ToolContext) -> Watching:
    """Watch the quality of the camera's pictures and publish an event when it turns bad, with what is wrong, and when it is good again."""
    told: list[str] = []
    pending, streak, count, events = told, 0, 0, 0
    before: np.ndarray | None = None
    for reading in pictures(ctx):
        assert reading.frame is not None
        count += 1
        image = reading.frame.color
        frozen = before is not None and np.array_equal(before, image)
        problems = faults_of(quality_of(image, None, frozen))
        before = image
        streak = streak + 1 if bool(problems) != bool(told) else 0
        pending = problems
        if streak >= AGAIN:
            told, streak = pending, 0
            ctx.publish(PictureEvent(kind="bad" if told else "good", time=reading.frame.stamp, problems=told))
            events += 1
    return Watching(pictures=count, events=events)
