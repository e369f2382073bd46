"""The camera: which one, where it is meant to be, and whether it sees the desk, with depth."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import cv2
import numpy as np

from deskhand.arms.config import load_arm
from deskhand.bringup.cameras import CAMERAS
from deskhand.bringup.first_day.base import Day
from deskhand.cameras.config import camera_of
from deskhand.cameras.registration import MOST_LOOKS, RegistrationWatch
from deskhand.errors import DeskhandError
from deskhand.skills.robot import Robot
from deskhand.types import Frame, Image

MOTION = frozenset({"motion", "safety"})
"""Nodes of the stack that the camera's steps need: the same for all of them, so that they are started once."""
LEAST_DEPTH = 0.4  # share of the picture with a depth
DARK, BRIGHT = 25.0, 235.0  # mean of a picture that shows something
ATTEMPTS = 3  # to get a picture
NEAREST, FARTHEST = 0.12, 2.0  # [m] of what a camera of a desk looks at


def nominal(day: Day) -> str:
    """The camera's file before it is calibrated: a name in config/cameras or a file."""
    return day.settings["mount"]


def calibrated(day: Day) -> str:
    """The unit's camera file.

    Raises:
        DeskhandError: ``config_error`` when there is none yet.
    """
    if not day.camera_file.is_file():
        raise DeskhandError("config_error", f"there is no {day.camera_file} yet.", hint="Do the step handeye first: --redo handeye.")
    return str(day.camera_file)


def robot_before_calibration(day: Day) -> Robot:
    """The robot for everything about the camera."""
    return day.needs().robot(MOTION, nominal(day))


def observed(robot: Robot) -> Frame:
    """A new picture; a busy machine may need more than one attempt.

    Raises:
        DeskhandError: ``no_frame``, ``stale_data`` of the last attempt.
    """
    for _ in range(ATTEMPTS - 1):
        try:
            return robot.observe()
        except DeskhandError as error:
            if not error.retry:
                raise
    return robot.observe()


def choose(day: Day) -> Mapping[str, Any]:
    """Ask which camera there is, take a picture, check and show it.

    Raises:
        DeskhandError: ``no_frame`` when no picture comes, or one that shows nothing; ``cancelled`` when the person does not see the desk on it.
    """
    operator, settings = day.operator, day.settings
    kinds = tuple(kind for kind in CAMERAS if kind != "file")
    settings["camera"] = operator.choose("camera.kind", "Which camera? ros: one whose node already publishes.", kinds, settings.get("camera", kinds[0]))
    where = operator.choose("camera.where", "Does it stand beside the desk (fixed), or does the gripper carry it (wrist)?", ("fixed", "wrist"), "fixed")
    settings["mount"] = settings.get(f"mount.{where}") or camera_of(load_arm(day.unit).name, where)
    operator.act("camera.place", _PLACE[where])
    robot = robot_before_calibration(day)
    frame = observed(robot)
    share, middle = checked(frame)
    files = save(day, "camera", frame)
    shown = f"Look at {files[0]} and {files[1]} (near is red, far is blue, black has no depth)."
    if not operator.confirm("camera.seen", f"{shown} Do both show the desk, the right way up?"):
        raise DeskhandError("cancelled", "the camera does not show the desk.", hint="Turn it, clean it, light the desk evenly, and run again.")
    k = frame.intrinsics
    return {"camera": settings["camera"], "where": where, "size": [k.width, k.height], "depth_share": share, "middle_m": middle, "pictures": files}


def registered(day: Day) -> Mapping[str, Any]:
    """Edges of depth lie on those of colour: the depth of each pixel is that of what the pixel shows.

    Raises:
        DeskhandError: ``config_error`` when depth is not aligned; ``no_frame`` when the pictures do not tell, and the person does not know either.
    """
    day.operator.act(
        "registration.things", "Lay two or three boxes or cups of different height into the picture; the arm may be in it too. They need not be measured."
    )
    robot, watch = robot_before_calibration(day), RegistrationWatch()
    for _ in range(MOST_LOOKS):
        frame = observed(robot)
        watch.look(frame.color, frame.depth)
        if watch.seen.verdict == "registered":
            break
    day.operator.act("registration.away", "Take them away again.")
    if watch.seen.verdict != "registered" and not day.operator.confirm(
        "registration.unknown", f"{watch.seen.words()}. Has its driver depth registration (aligned depth) switched on, so that we go on?"
    ):
        raise DeskhandError("no_frame", f"{watch.seen.words()}.", hint="More objects with clear edges, half a metre from the camera, in good light.")
    return {"verdict": watch.seen.verdict, "edges": watch.seen.edges}


_PLACE = {
    "fixed": "Fix the camera so that it does not move any more: about 60 cm in front of the arm and 60 cm above the desk, looking at the middle of the desk.",
    "wrist": "The camera is screwed to the gripper, its cable loose enough for every pose; plug it in.",
}


def checked(frame: Frame) -> tuple[float, float]:
    """Share of the picture with a depth, and the depth [m] in its middle.

    Raises:
        DeskhandError: ``no_frame`` for a picture that is black, white, or without depth.
    """
    light = float(frame.color.mean())
    if not DARK <= light <= BRIGHT:
        raise DeskhandError("no_frame", f"the picture is {'black' if light < DARK else 'white'}.", hint="Lens cap? Light? Exposure?")
    share = float(np.isfinite(frame.depth).mean())
    if share < LEAST_DEPTH:
        raise DeskhandError("no_frame", f"only {100 * share:.0f} % of the picture have a depth.", hint="Too near, too shiny, or depth switched off?")
    height, width = frame.depth.shape
    middle = float(np.nanmedian(frame.depth[height // 3 : -height // 3, width // 3 : -width // 3]))
    if not NEAREST <= middle <= FARTHEST:
        raise DeskhandError("no_frame", f"the middle of the picture is {middle:.2f} m away.", hint="Does the camera look at the desk? Is its depth in metres?")
    return round(share, 3), round(middle, 3)


def save(day: Day, name: str, frame: Frame) -> list[str]:
    """Colour and depth as files that anybody can look at; their paths."""
    near, far = np.nanpercentile(frame.depth, [2, 98]) if np.isfinite(frame.depth).any() else (0.0, 1.0)
    scaled = np.clip((far - np.nan_to_num(frame.depth, nan=far)) / max(far - near, 1e-3), 0, 1)
    depth = cv2.applyColorMap((255 * scaled).astype(np.uint8), cv2.COLORMAP_JET)
    depth[~np.isfinite(frame.depth)] = 0
    return [str(write(day.picture(name), frame.color)), str(write(day.picture(f"{name}_depth"), depth[..., ::-1]))]


def write(path: Path, image: Image) -> Path:
    """An RGB picture as a file.

    Raises:
        DeskhandError: ``config_error`` when it cannot be written.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    if not cv2.imwrite(str(path), np.ascontiguousarray(image[..., ::-1])):
        raise DeskhandError("config_error", f"{path} cannot be written.")
    return path
