"""The first look and the first pick: a block is where the person measured it, and the robot lays it into a tray."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from deskhand.arms.config import load_arm
from deskhand.bringup.first_day.base import Day
from deskhand.bringup.first_day.camera import calibrated, observed, write
from deskhand.bringup.stack import STACK
from deskhand.errors import DeskhandError
from deskhand.geometry import Array, inverse, transform_points
from deskhand.perception.annotate import annotate
from deskhand.skills.base import SkillContext
from deskhand.skills.belief import Belief
from deskhand.skills.robot import Robot
from deskhand.types import Frame, Scene, SceneObject

COLORS = ("red", "green", "blue", "yellow", "orange")
EDGE = (0.025, 0.040)  # [m] of the block
OFF = 0.015  # [m] that the block may be seen beside where the person measured it
SIZE_OFF = 0.006  # [m] that its edge may be seen longer or shorter
ANGLES = (0.0, np.radians(50))
"""Where the block and the tray are proposed: seen from the base, to the left of straight ahead."""


def proposed(day: Day, angle: float) -> tuple[float, float]:
    """A place in easy reach, in front of the base's middle and to its left [m]."""
    radius = float(np.mean(load_arm(day.unit).work_radius))
    return round(radius * float(np.cos(angle)), 2), round(radius * float(np.sin(angle)), 2)


def _place(ahead: float, left: float) -> str:
    beside = "" if abs(left) < 0.01 else f" and {100 * left:.0f} cm to the left"
    return f"about {100 * ahead:.0f} cm in front of the middle of the arm's base{beside}"


def robot_at_work(day: Day) -> Robot:
    """The whole robot, with the unit's own files."""
    return day.needs().robot(frozenset(STACK), calibrated(day))


def seen_whole(robot: Robot) -> tuple[Scene, Frame]:
    """What is on the desk where the arm works, and a picture of it. A camera on the arm is brought to views that show all of it together; it MOVES then."""
    if robot.camera_mount() is None:
        return robot.detect_objects(), observed(robot)
    scene = SkillContext(robot, Belief()).look()
    return scene, observed(robot)


def look(day: Day) -> Mapping[str, Any]:
    """The person lays a block and measures where; the robot must see it there.

    Raises:
        DeskhandError: ``object_lost`` when no such block is seen, ``camera_moved`` when it is seen elsewhere.
    """
    operator, arm = day.operator, load_arm(day.unit)
    (ahead, left), (tray_ahead, tray_left) = (proposed(day, angle) for angle in ANGLES)
    operator.act(
        "look.block",
        f"Lay one block of a single bright colour, edge {1000 * EDGE[0]:.0f} to {1000 * EDGE[1]:.0f} mm, flat on the desk, "
        f"{_place(ahead, left)}. Lay a tray or a low open box, 12 cm wide at least, {_place(tray_ahead, tray_left)}. Nothing else on the desk.",
    )
    color = operator.choose("look.color", "the colour of the block", COLORS, COLORS[0])
    edge = operator.number("look.edge", "its edge [mm]", 30.0) / 1000
    place = (
        operator.number("look.x", "where its middle is: cm in front of the middle of the base", round(100 * ahead, 1)) / 100,
        operator.number("look.y", "cm to the left of it, seen from behind the arm (to the right: negative)", round(100 * left, 1)) / 100,
    )
    robot = robot_at_work(day)
    if robot.camera_mount() is not None and not operator.confirm(
        "look.start", "The arm carries the camera, and will MOVE to look at the desk from several sides. Keep clear, a hand on its power switch. Go on?"
    ):
        raise DeskhandError("cancelled", "nothing was moved.", hint="Run again when you are ready.")
    scene, frame = seen_whole(robot)
    picture = write(day.picture("look"), annotate(frame, scene))
    block, tray = _block(scene, color), _tray(scene)
    seen = transform_points(inverse(arm.world_T_base), block.position)[:2]
    off = float(np.hypot(*(seen - place)))
    told = {"color": color, "seen_mm": [round(1000 * float(value)) for value in seen], "off_mm": round(1000 * off, 1), "picture": str(picture)}
    if off > OFF:
        raise DeskhandError(
            "camera_moved",
            f"the block is seen {1000 * off:.0f} mm beside where you measured it, {1000 * OFF:.0f} are allowed: at {told['seen_mm']} mm.",
            hint=f"Measure again, from the middle of the base. If that is right, do the calibration again: --from handeye. See {picture}.",
        )
    edges = sorted(map(float, block.size))
    if abs(edges[1] - edge) > SIZE_OFF:
        raise DeskhandError(
            "camera_moved",
            f"the block is seen with an edge of {1000 * edges[1]:.0f} mm, you measured {1000 * edge:.0f}.",
            hint="Is the depth registered to the colour and in metres? --from registration.",
        )
    return {**told, "edge_seen_mm": round(1000 * edges[1], 1), "tray": tray.label}


def pick(day: Day) -> Mapping[str, Any]:
    """The robot puts the block into the tray, and a fresh look must find it there.

    Raises:
        DeskhandError: ``cancelled`` without the person's yes; what the task failed with; ``place_failed`` when the look does not find the block in the tray.
    """
    operator = day.operator
    color = str(day.measured["look"]["color"])
    instruction = f"put the {color} block into the {day.measured['look']['tray']}"
    if not operator.confirm("pick.start", f"The arm will MOVE by itself now, to {instruction}. Keep clear, a hand on its power switch. Go on?"):
        raise DeskhandError("cancelled", "nothing was moved.", hint="Run again when you are ready.")
    robot = robot_at_work(day)
    result = day.needs().task(instruction)
    scene, frame = seen_whole(robot)
    picture = write(day.picture("pick"), frame.color)
    episode = str(result["episode"]) or _newest(day.folder / "episodes")
    where = f"See {picture} and {episode}."
    if not result["success"]:
        raise DeskhandError(result["error_code"] or "task_incomplete", f"the pick did not succeed: {result['error_message'] or result['summary']}", hint=where)
    tray = _tray(scene)
    inside = [item for item in scene.objects if item.color == color and not item.is_container and within(tray, item.position)]
    if not inside:
        raise DeskhandError("place_failed", f"the {color} block is not seen in the {tray.label}.", hint=where)
    if not operator.confirm("pick.seen", f"Does the {color} block lie in the {tray.label}?"):
        raise DeskhandError("place_failed", "the block does not lie where the robot sees it.", hint=where)
    return {"instruction": instruction, "summary": result["summary"], "tool_calls": result["tool_calls"], "picture": str(picture), "episode": episode}


def _newest(folder: Path) -> str:
    """The newest episode that the recorder has begun; empty without one."""
    return max((str(path) for path in folder.glob("*") if path.is_dir()), default="")


def within(tray: SceneObject, point: Array) -> bool:
    """Whether ``point`` (3,) [m, world] is above the floor of a container, within its walls."""
    local = transform_points(inverse(tray.pose), point)
    return bool(np.all(np.abs(local[:2]) <= tray.size[:2] / 2))


def _block(scene: Scene, color: str) -> SceneObject:
    found = [item for item in scene.objects if item.color == color and not item.is_container]
    if len(found) != 1:
        seen = ", ".join(f"{item.color} {item.label}" for item in scene.objects) or "nothing"
        raise DeskhandError(
            "object_lost",
            f"one {color} block is expected, {len(found)} are seen among: {seen}.",
            retry=True,
            hint="Is it in view, alone, well lit, of that colour?",
        )
    return found[0]


def _tray(scene: Scene) -> SceneObject:
    found = [item for item in scene.objects if item.is_container]
    if len(found) != 1:
        seen = ", ".join(f"{item.color} {item.label}" for item in scene.objects) or "nothing"
        raise DeskhandError("object_lost", f"one tray is expected, {len(found)} are seen among: {seen}.", hint="An open box with a rim, in view.", retry=True)
    return found[0]
