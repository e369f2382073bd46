"""Contacts as they happen, told from the joints."""

from __future__ import annotations

from typing import Annotated, Literal

import numpy as np
from pydantic import Field
from typing_extensions import TypedDict

from deskhand.etp.tool import ToolContext, tool
from deskhand.motion.contacts import ContactMonitor
from deskhand.tools.watching import feed_of, finger_width


class ContactEvent(TypedDict):
    """A contact that began, changed or ended."""

    kind: Annotated[
        Literal["touch", "slip", "lost", "released", "stuck", "free"],
        Field(
            description="touch: closing fingers met something; slip: it gave way between them; lost: it is gone, they are shut; released: they opened; "
            "stuck: the resting arm is loaded from outside; free: it no longer is"
        ),
    ]
    time: Annotated[float, Field(description="ROS time of the joint state that showed it [s]")]
    width: Annotated[float, Field(description="between the finger pads [m]")]
    joint: Annotated[str, Field(description="the joint with the load, for stuck and free; else empty")]


class ContactWatch(TypedDict):
    """The last word of the watch."""

    readings: int
    events: int


@tool(
    group="cognition",
    unit="physical_and_contact_state",
    mode="event",
    event=ContactEvent,
    needs=("arm", "gripper"),
    when_to_use="To be alerted at once, while other tools run, when the fingers touch something, when what they carry slips or drops out, or when the "
    "resting arm is pressed against something.",
    limits="From finger width and joint efforts alone: loads on the arm are told only while it rests, and only by servos that report efforts; a slip that "
    "leaves the fingers as wide as before is not felt.",
    examples=[("Tell me the moment the gripper drops what it carries", {})],
    failures=[("An argument is given although it takes none", {"force": 2.0}, "invalid_arguments")],
)
def contact_events(ctx: ToolContext) -> ContactWatch:
    """Feel contacts in the background: publish touch, slip, lost, released, stuck and free as they happen."""
    arm = ctx.robot.arm
    monitor = ContactMonitor(arm.gripper.width_min, tuple(arm.joints))
    count = events = 0
    for reading in feed_of(ctx).joints(ctx.cancelled):
        joints = reading.joints
        count += 1
        places = [joints.names.index(name) for name in arm.joints]
        efforts = np.asarray(joints.efforts)[places] if len(joints.efforts) == len(joints.names) else np.zeros(0)
        for contact in monitor.update(joints.stamp, finger_width(ctx, joints), joints.of(arm.joints), efforts):
            ctx.publish(ContactEvent(kind=contact.kind, time=contact.time, width=round(contact.width, 5), joint=contact.joint))
            events += 1
    return ContactWatch(readings=count, events=events)
