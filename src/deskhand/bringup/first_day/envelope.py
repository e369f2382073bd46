"""The envelope on this desk: how far the arm may reach out, and what stands there that nothing may enter."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import yaml

from deskhand.arms.config import load_arm
from deskhand.arms.model import RobotModel
from deskhand.bringup.first_day.base import Day
from deskhand.errors import DeskhandError
from deskhand.geometry import Array, inverse, transform_points
from deskhand.safety.checker import CollisionChecker
from deskhand.safety.kinematics import link_poses
from deskhand.safety.scene import PlanningScene
from deskhand.safety.settings import parse_safety
from deskhand.types.resources import resource_path
from deskhand.types.yaml_file import read_yaml

SIDES = {"front": (0, 1), "back": (0, -1), "left": (1, 1), "right": (1, -1)}
"""Axis of the base's frame and way along it, by what the question names."""
MOST = 2.0  # [m]
MOST_OBSTACLES = 8
RESTING = "home"


def run(day: Day) -> Mapping[str, Any]:
    """Ask for the free room around the arm and what stands in it, write safety.yaml and nodes.yaml, and see that the arm can rest within.

    Raises:
        DeskhandError: ``invalid_input`` for what cannot be, ``envelope_violated`` when the arm's resting pose is not free.
    """
    arm = load_arm(day.unit)
    data: dict[str, Any] = read_yaml(resource_path("config/safety.yaml"))
    day.operator.say(
        "    Measure from the middle of the arm's base, along the desk, seen from behind the arm. What is beyond is out of bounds for it: give the desk's\n"
        "    edge, or less where somebody sits. A wrist may stick out a little behind the base: give 25 cm to the back at least."
    )
    default = {"lower": data["workspace"]["lower"], "upper": data["workspace"]["upper"]}
    room = {side: _metres(day, f"safety.{side}", f"free room to the {side} [cm]", side, default, arm.world_T_base) for side in SIDES}
    room["height"] = _length(day, "safety.height", "free height above the desk [cm]", 100 * float(default["upper"][2]), 0.3)
    corners = np.array([[x, y, 0.0] for x in (room["front"], -room["back"]) for y in (room["left"], -room["right"])])
    world = transform_points(arm.world_T_base, corners)
    lower = [*map(float, world.min(axis=0)[:2]), float(default["lower"][2])]
    upper = [*map(float, world.max(axis=0)[:2]), room["height"]]
    data["workspace"] = {"lower": [round(value, 3) for value in lower], "upper": [round(value, 3) for value in upper]}
    data["keep_out"] = [*(data.get("keep_out") or []), *_obstacles(day, arm.world_T_base)]
    _check(day, data)
    day.folder.mkdir(parents=True, exist_ok=True)
    day.safety_file.write_text("# The envelope on one desk, by deskhand first-day; see config/safety.yaml.\n" + yaml.safe_dump(data, sort_keys=False))
    file = str(day.safety_file.resolve())
    parameters = {f"/**/{node}": {"ros__parameters": {"settings": file}} for node in ("motion", "safety", "tool_server")}
    day.parameter_file.write_text(yaml.safe_dump(parameters, sort_keys=False))
    return {"workspace": data["workspace"], "keep_out": [zone["name"] for zone in data["keep_out"]]}


def _metres(day: Day, key: str, text: str, side: str, default: Mapping[str, Any], world_T_base: Array) -> float:
    """Free room [m] to one side of the base; the default is what config/safety.yaml has."""
    axis, way = SIDES[side]
    corners = np.array([default["lower"], default["upper"]], dtype=float)
    inside = transform_points(inverse(world_T_base), corners)[:, axis] * way
    return _length(day, key, text, round(100 * float(inside.max()), 1), 0.02)


def _length(day: Day, key: str, text: str, default: float | None, least: float, most: float = MOST) -> float:
    """A length in metres, asked for in centimetres."""
    value = day.operator.number(key, text, default) / 100
    if not least <= value <= most:
        raise DeskhandError("invalid_input", f"{text}: {100 * value:g} is not between {100 * least:g} and {100 * most:g}.", hint="Centimetres, please.")
    return value


def _obstacles(day: Day, world_T_base: Array) -> list[dict[str, Any]]:
    """Boxes around what stands within the room, as config/safety.yaml has them."""
    zones: list[dict[str, Any]] = []
    while len(zones) < MOST_OBSTACLES:
        name = f"obstacle_{len(zones) + 1}"
        more = "anything else" if zones else "anything"
        if not day.operator.confirm(f"safety.{name}", f"Does {more} stand for good within that room (monitor, lamp, wall)?"):
            break
        middle = [
            day.operator.number(f"safety.{name}.{axis}", f"its middle, cm {where} of the base's middle (negative: the other way)", None) / 100
            for axis, where in (("x", "in front"), ("y", "to the left"))
        ]
        size = [
            _length(day, f"safety.{name}.{edge}", f"its {edge} [cm]: {what}", None, 0.005)
            for edge, what in (("depth", "front to back"), ("width", "left to right"), ("height", "above the desk"))
        ]
        base = transform_points(world_T_base, [*middle, 0.0])
        yaw = float(np.arctan2(world_T_base[1, 0], world_T_base[0, 0]))
        zones.append({"name": name, "xyz": [round(float(base[0]), 3), round(float(base[1]), 3), round(size[2] / 2, 3)], "rpy": [0.0, 0.0, yaw], "size": size})
    return zones


def _check(day: Day, data: dict[str, Any]) -> None:
    """The settings are valid, and the arm at rest is within them: a motion may begin outside and come in, a resting pose must not be there."""
    model, settings = RobotModel.load(load_arm(day.unit)), parse_safety(data)
    checker, scene = CollisionChecker(model), PlanningScene()
    pose = np.array([model.arm.named_poses[RESTING]], dtype=float)
    placed = checker.placed(link_poses(model, model.arm.joints, pose, None), scene)
    wrong = [f"{name} is outside by {1000 * over:.0f} mm" for _, name, over in checker.outside(placed, settings.lower, settings.upper)]
    near, _ = checker.survey(placed, scene, frozenset(), settings.keep_out, -settings.max_penetration, False)
    wrong += [f"{item.a} is within {item.b} by {-1000 * item.distance:.0f} mm" for item in near if "keep_out:" in item.a + item.b]
    if wrong:
        raise DeskhandError(
            "envelope_violated",
            f"the arm's resting pose {RESTING!r} would not be within what you gave: {'; '.join(wrong)}.",
            hint="Make room, or give the room that there is; lengths are from the middle of the arm's base.",
        )
