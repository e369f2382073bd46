"""Every field of an arm's file: its unit, its range, what it is. docs/adding-an-arm.md shows the same tables; a test compares."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

from deskhand.arms.driver_config import KINDS as DRIVERS
from deskhand.arms.driver_config import MOST_BACKLASH, VENDORS
from deskhand.arms.fields import Choice, Field, Flag, Items, Number, Section, Spec, Table, Text
from deskhand.arms.problems import Problem

LEAST_JOINTS, MOST_JOINTS = 5, 7
TURN = 2 * math.pi + 1e-3  # [rad]: as far as any joint or pose goes
NAME = Text("a name of letters, digits, - and _", r"[A-Za-z][A-Za-z0-9_-]*")
PART = Text("a name", r"[A-Za-z_][\w./-]*")
FILE = Text("a file's name")
POSITION = Items(Number("m", -3, 3), 3, 3)
ROTATION = Items(Number("rad", -TURN, TURN), 3, 3)
SERVO_ID = Number("", 0, 253, whole=True)
LENGTH = Number("m", 0, 0.5, above=True)
TICK = Number("ticks", -1e6, 1e6)


def _per_joint(item: Spec) -> Items:
    return Items(item, 1, MOST_JOINTS)


def _optional(spec: Spec, about: str, default: str = "none") -> Field:
    return Field(spec, about, False, default)


MOUNT = Section({"xyz": Field(POSITION, "where the base stands in `world`"), "rpy": Field(ROTATION, "how it is turned: roll, pitch, yaw")})

SERVO = Section(
    {
        "id": Field(SERVO_ID, "the servo's number on the bus; every number once"),
        "at_0": _optional(Number("degrees", -720, 720), "angle of the joint at tick 0; goes with `at_1000`"),
        "at_1000": _optional(Number("degrees", -720, 720), "angle of the joint at tick 1000"),
        "zero": _optional(Number("ticks", -1e5, 1e5), "where the servo stands when the joint is at 0; goes with `step`"),
        "step": _optional(Number("degrees", -5, 5, nonzero=True), "that a tick turns the joint; below 0 where the servo counts the other way"),
        "offset": _optional(Number("degrees", -180, 180), "added to the angle; measured by `deskhand calibrate arm`", "0"),
        "range": _optional(Items(TICK, 2, 2), "where the joint of this unit ends, the smaller first", "as the URDF says"),
        "open_loop": _optional(Number("degrees", -360, 360), "the servo answers nothing, and is driven from this angle on", "it must answer"),
        "backlash": _optional(Number("degrees", 0, MOST_BACKLASH), "whole play between the servo's encoder and the link", "0"),
    }
)
GRIPPER_SERVO = Section(
    {
        "id": Field(SERVO_ID, "the servo's number"),
        "table": Field(
            Items(Items(Number("ticks, m", -1e6, 1e6), 2, 2), 2, 500), "rows of ticks and the distance of the pads [m], which only grows or only shrinks"
        ),
        "squeeze": Field(Number("ticks", 0, 5000), "beyond where it stalled, with which it holds at full force"),
    }
)
HEALTH = Section(
    {
        "warm": _optional(Number("degrees C", 20, 150), "from here on the arm goes slower", "60"),
        "hot": _optional(Number("degrees C", 20, 150), "here it stops", "70"),
        "low": _optional(Number("V", 0, 100), "below this it does not move", "0"),
        "high": _optional(Number("V", 0, 100, above=True), "above this it does not move", "100"),
    }
)
DYNAMIXEL = Section(
    {
        "shadows": _optional(Table(SERVO_ID, SERVO_ID), "second servo of a joint: the one that it follows (Secondary ID)"),
        "reversed": _optional(Items(SERVO_ID, 0, 254), "servos that count backwards (Drive Mode, bit 0)", "not checked"),
        "output": _optional(Table(SERVO_ID, Number("", 0, 1, above=True)), "share of its output that a servo may use", "all of it"),
        "limits": _optional(Table(SERVO_ID, Items(TICK, 2, 2)), "least and greatest goal [ticks] by servo"),
        "velocity_limit": _optional(Number("0.229 turns/min", 0, 2047, whole=True), "of all servos", "not checked"),
    }
)
DRIVER = Section(
    {
        "kinds": Field(
            Items(Choice(DRIVERS), 1, len(DRIVERS)), "drivers that can serve the arm, the usual one first; for simulation only say `[ros2_control]`"
        ),
        "vendor": _optional(Choice(("", *VENDORS)), "whose nodes `driver:=ros2_control` starts"),
        "port": _optional(Text("a serial port", empty=True), "of the bus"),
        "baud": _optional(Number("baud", 0, 10_000_000, whole=True), "of the bus; 0: its own", "0"),
        "ticks": _optional(Items(TICK, 2, 2), "range of the servos' positions", "[0, 1000]"),
        "fastest": _optional(Number("ticks/s", 0, 1e6, above=True), "that no servo exceeds: what moves faster was misread", "2000"),
        "servos": _optional(Table(PART, SERVO), "by joint; needed by every kind but `ros2_control`"),
        "gripper": _optional(GRIPPER_SERVO, "the gripper's servo"),
        "health": _optional(HEALTH, "temperatures and voltages"),
        "period": _optional(Number("s", 0.001, 1), "between commands along a trajectory", "0.06"),
        "lookahead": _optional(Number("s", 0.001, 2), "ahead of now, where each command sends the arm", "0.12"),
        "reference": _optional(PART, "named pose into which the arm is put by hand to be calibrated", "upright"),
        "path_tolerance": _optional(Number("rad", 0, math.pi, above=True), "from the path, when a goal names none", "0.3"),
        "goal_tolerance": _optional(Number("rad", 0, math.pi, above=True), "from the end, when a goal names none", "0.03"),
        "dynamixel": _optional(DYNAMIXEL, "what Dynamixel servos must have been told"),
    }
)
_GRIPPER = {
    "kind": _optional(Choice(("parallel", "pivot")), "two fingers that move alike, or one jaw that turns against a fixed one", "parallel"),
    "joint": Field(PART, "the driven joint"),
    "mimic": _optional(PART, "the joint that follows it (`<mimic>` in the URDF)"),
    "links": Field(Items(PART, 1, 20), "of the hand, which may touch what is grasped"),
    "width_min": Field(Number("m", 0, 0.3), "distance of the pads, closed"),
    "width_max": Field(Number("m", 0, 0.3, above=True), "distance of the pads, open"),
    "force_max": Field(Number("N", 0, 500, above=True), "of each pad"),
    "force_default": Field(Number("N", 0, 500, above=True), "of each pad, when a grasp names none"),
    "speed": Field(Number("m/s", 0, 2, above=True), "of a pad"),
    "finger_depth": Field(Number("m", -0.05, 0.1), "how far the tips reach beyond the tcp along its z"),
    "finger_length": Field(LENGTH, "from the palm to the tips"),
    "finger_thickness": Field(Number("m", 0, 0.1, above=True), "outward of the pad, along the tcp's y, at the tips"),
    "finger_breadth": Field(Number("m", 0, 0.2, above=True), "across the pad, along the tcp's x"),
    "palm": Field(Items(LENGTH, 3, 3), "box x, y, z of the hand behind the fingers"),
}
_BOXES = Items(Items(Number("m", -0.5, 0.5), 4, 4), 1, 50)
PARALLEL = Section({**_GRIPPER, "width_offset": Field(Number("m", -0.3, 0.3), "distance of the pads is twice the joint's position and this")})
PIVOT = Section(
    {
        **_GRIPPER,
        "fixed_link": Field(PART, "link of the jaw that does not move"),
        "pivot": Field(Items(Number("m", -0.3, 0.3), 2, 2), "y, z of the turning jaw's axis in the tcp's frame"),
        "fixed_jaw": Field(_BOXES, "boxes of the fixed jaw: y from, y to, z from, z to in the tcp's frame; the last is its pad"),
        "moving_jaw": Field(_BOXES, "the same of the turning jaw at 0, seen from its axis"),
        "approach_gap": Field(Number("m", 0, 0.05, above=True), "between the fixed pad and an object on the way in"),
    }
)


class Gripper:
    """The section ``gripper``, whose ``kind`` says which fields it has."""

    words = "section"

    def check(self, value: Any, where: str) -> Iterator[Problem]:
        """See Spec."""
        pivot = isinstance(value, Mapping) and value.get("kind") == "pivot"
        yield from (PIVOT if pivot else PARALLEL).check(value, where)


ARM = Section(
    {
        "name": Field(NAME, "the arm's name, which `config/moveit/NAME` and `config/ros2_control/NAME.yaml` have too"),
        "urdf": Field(FILE, "the URDF or xacro file, beside this file or in `urdf/`"),
        "srdf": Field(FILE, "the SRDF file, beside this file or in `urdf/`"),
        "group": Field(PART, "the group of the arm in the SRDF"),
        "joints": Field(Items(PART, LEAST_JOINTS, MOST_JOINTS), "from the base to the tcp; their order is that of every list below"),
        "base_link": Field(PART, "the link that stands on the desk: it may touch the table"),
        "tcp": Field(PART, "the link between the finger tips: z forward out of the gripper, y along the closing direction"),
        "approach_axis": Field(Items(Number("", -1, 1), 3, 3), "of the tcp, must be `[0, 0, 1]`"),
        "mount": Field(MOUNT, "the base's pose in `world`, the centre of the table top with z up"),
        "named_poses": Field(
            Table(PART, _per_joint(Number("rad", -TURN, TURN)), 1), "by name; `home` must be there, out of the camera's view, touching nothing"
        ),
        "max_velocity": Field(_per_joint(Number("rad/s", 0, 20, above=True)), "of each joint, no more than the URDF says"),
        "max_acceleration": Field(_per_joint(Number("rad/s²", 0, 100, above=True)), "of each joint"),
        "payload": Field(Number("kg", 0, 20, above=True), "that it lifts"),
        "reach": Field(Number("m", 0.05, 3), "farthest that the tcp gets from the base"),
        "work_radius": Field(
            Items(Number("m", 0, 3, above=True), 2, 2), "least and most from the base's axis where objects on the table are grasped from above"
        ),
        "resolution": Field(Number("rad", 0, 0.05, above=True), "smallest step of the servos"),
        "gravity_compensation": _optional(Flag(), "its controller bears the arm's own weight, so that no joint yields to it", "false"),
        "geometry": _optional(Table(NAME, Number("m", -3, 3)), "lengths of the unit: arguments (`xacro:arg`) of the URDF by name"),
        "driver": Field(DRIVER, "how the servos are driven"),
        "gripper": Field(Gripper(), "the hand"),
    }
)
SECTIONS: dict[str, Section] = {
    "": ARM,
    "mount": MOUNT,
    "driver": DRIVER,
    "driver.servos.JOINT": SERVO,
    "driver.gripper": GRIPPER_SERVO,
    "driver.health": HEALTH,
    "driver.dynamixel": DYNAMIXEL,
    "gripper": PARALLEL,
    "gripper, kind: pivot": PIVOT,
}
"""All sections, for the documentation."""


def unit_of(spec: Any) -> str:
    """The unit [of its numbers]; empty where it has none."""
    if isinstance(spec, Number):
        return spec.unit
    inner = getattr(spec, "item", None) or (spec.value if isinstance(spec, Table) else None)
    return unit_of(inner) if inner is not None and not isinstance(inner, Section) else ""


def field_tables() -> Iterator[str]:
    """Lines of Markdown: a table for each section."""
    for number, (name, section) in enumerate(SECTIONS.items()):
        yield from ("",) if number else ()
        yield from (f"### `{name}`" if name else "### The file", "", "| field | unit | valid | what it is | default |", "|---|---|---|---|---|")
        for key, part in section.fields.items():
            if name.endswith("kind: pivot") and key in PARALLEL.fields:
                continue
            unit, default = unit_of(part.spec), "" if part.required else part.default
            yield f"| `{key}` | {unit} | {part.spec.words} | {part.about} | {default} |"
