"""Where the time of each object goes, from records of tasks, beside what the arm and its fingers need at least.

A cycle is all between one object put down and the next. Two bounds stand beside it: motion in straight lines of joint space from where the fingers opened to
where they close and on to where they open again, each from rest to rest at the limits of velocity and acceleration, past anything that is in the way; and the
fingers' own way at their speed. No robot that carries objects one by one, and stops to grip and to let go, is faster than both together.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from deskhand.arms.config import ArmConfig, load_arm
from deskhand.errors import DeskhandError
from deskhand.geometry import Array
from deskhand.motion.timing import rest_to_rest
from deskhand.recording.episode.reader import Episode, read_episode
from deskhand.recording.episode.record import RESULT
from deskhand.recording.episode.timeline import ROBOT_PHASES, Call, calls_from
from deskhand.recording.episode.writer import FILE

PICK, PLACE = "pick", "place"
NEAR = 0.0015  # [m] of the width at which the fingers come to rest, and by which they have opened


@dataclass(frozen=True)
class Joints:
    """What was recorded of the joints: times (N,) [s], of the arm (N, n) [rad], distance of the pads (N,) [m]."""

    times: Array
    arm: Array
    widths: Array


@dataclass(frozen=True)
class Cycle:
    """One object.

    Attributes:
        object_id: as the robot called it.
        robot, wall: [s] of its clock, and of that on the wall.
        phases: the robot's time [s] by ROBOT_PHASES.
        motion_bound, gripper_bound: [s] at least; nan where the joints were not recorded.
    """

    object_id: str
    robot: float
    wall: float
    phases: Mapping[str, float]
    motion_bound: float
    gripper_bound: float


def cycles_of(calls: Iterable[Call], joints: Joints, arm: ArmConfig) -> list[Cycle]:
    """The cycles of one task, in their order; what follows the last object put down, or comes of one that was not, is in none."""
    cycles: list[Cycle] = []
    since: list[Call] = []
    begun = (0.0, 0.0)
    at = joints.arm[0] if len(joints.times) else None
    for call in calls:
        if not since and not cycles:
            begun = call.sim_started, call.started
        since.append(call)
        if not call.tool.startswith(PLACE) or not call.ok:
            continue
        picked = next((earlier for earlier in reversed(since) if earlier.tool == PICK and earlier.ok), None)
        if picked is not None:
            motion, fingers, at = _bounds(picked, call, at, joints, arm)
            phases = {name: sum(item.robot_phases.get(name, 0.0) for item in since) for name in ROBOT_PHASES}
            ended = call.sim_ended, call.started + call.duration
            robot, wall = ended[0] - begun[0], ended[1] - begun[1]
            phases["other"] += max(0.0, robot - sum(phases.values()))
            cycles.append(Cycle(str(picked.arguments.get("object_id", "")), robot, wall, phases, motion, fingers))
            begun, since = ended, []
    return cycles


def _bounds(pick: Call, place: Call, at: Array | None, joints: Joints, arm: ArmConfig) -> tuple[float, float, Array | None]:
    """Of motion and fingers [s], and where the arm let go."""
    closed = _first(joints, pick, lambda widths: widths <= widths.min() + NEAR, from_widest=True)
    opened = _first(joints, place, lambda widths: widths >= widths[0] + NEAR)
    if at is None or closed is None or opened is None:
        return float("nan"), float("nan"), None
    ways = ((at, joints.arm[closed]), (joints.arm[closed], joints.arm[opened]))
    motion = sum(rest_to_rest(start, end, arm.max_velocity, arm.max_acceleration) for start, end in ways)
    chosen = (joints.times >= pick.sim_started) & (joints.times <= place.sim_ended)
    travel = float(np.abs(np.diff(joints.widths[chosen])).sum())
    return motion, travel / (arm.gripper.speed * (1 if arm.gripper.one_sided else 2)), joints.arm[opened]


def _first(joints: Joints, call: Call, where: Any, from_widest: bool = False) -> int | None:
    """Index of the first sample within a call for whose distances of the pads ``where`` holds; ``from_widest``: after they were widest."""
    inside: npt.NDArray[np.intp] = np.flatnonzero((joints.times >= call.sim_started) & (joints.times <= call.sim_ended))
    if len(inside) and from_widest:
        inside = inside[int(joints.widths[inside].argmax()) :]
    found = np.flatnonzero(where(joints.widths[inside])) if len(inside) else inside
    return int(inside[found[0]]) if len(found) else None


def joints_of(episode: Episode, arm: ArmConfig) -> Joints:
    """What an episode has of them; empty where nothing was recorded."""
    names = (*arm.joints, arm.gripper.joint)
    rows = [
        (stamp, *(message.position[list(message.name).index(name)] for name in names)) for stamp, message in episode.joints if set(names) <= set(message.name)
    ]
    data = np.array(rows, dtype=float).reshape(-1, 1 + len(names))
    return Joints(data[:, 0], data[:, 1:-1], np.array([arm.gripper.width_of(float(value)) for value in data[:, -1]]))


def episode_folders(folders: Sequence[Path]) -> list[Path]:
    """All below these that hold a record.

    Raises:
        DeskhandError: ``invalid_input`` where there is none.
    """
    found = sorted({file.parent for folder in folders for file in folder.rglob(FILE)})
    if not found:
        raise DeskhandError(
            "invalid_input", f"there is no {FILE} below {', '.join(map(str, folders))}.", hint="Name the folder that `deskhand trial --episodes` wrote."
        )
    return found


def measure(folders: Sequence[Path]) -> list[Cycle]:
    """The cycles of all episodes below ``folders``; the arm is the one that each names.

    Raises:
        DeskhandError: ``invalid_input``; ``config_error`` for an arm that this installation does not have.
    """
    cycles: list[Cycle] = []
    for folder in episode_folders(folders):
        episode = read_episode(folder)
        if not episode.result.get("arm"):
            raise DeskhandError("invalid_input", f"{folder / RESULT} is missing, or does not say which arm it was.", hint="A task that was killed leaves none.")
        arm = load_arm(str(episode.result["arm"]))
        cycles += cycles_of(calls_from(episode.events), joints_of(episode, arm), arm)
    return cycles


def summarise(cycles: Sequence[Cycle]) -> dict[str, Any]:
    """``{"objects", "robot_s": {"median", "p90"}, "wall_s": {…}, "per_hour", "in_motion", "phases": {phase: mean seconds}, "motion_bound_s", "gripper_bound_s",
    "times_bound"}``: ``in_motion`` is the share of the robot's time, ``times_bound`` the median of a cycle over its bounds, None where those are not known.

    Raises:
        DeskhandError: ``invalid_input`` without cycles.
    """
    if not cycles:
        raise DeskhandError("invalid_input", "no object was put down in these records.")
    robot, wall = (np.array([getattr(cycle, name) for cycle in cycles]) for name in ("robot", "wall"))
    bounds = np.array([(cycle.motion_bound, cycle.gripper_bound) for cycle in cycles])
    known = np.isfinite(bounds).all(axis=1)
    phases = {name: float(np.mean([cycle.phases[name] for cycle in cycles])) for name in ROBOT_PHASES}
    moving = sum(seconds for name, seconds in phases.items() if name.startswith("motion"))
    median = float(np.median(robot))
    return {
        "objects": len(cycles),
        "robot_s": _spread(robot),
        "wall_s": _spread(wall),
        "per_hour": round(3600 / median) if median > 0 else None,
        "in_motion": round(moving / max(float(robot.mean()), 1e-9), 3),
        "phases": {name: round(seconds, 3) for name, seconds in phases.items()},
        "motion_bound_s": round(float(np.median(bounds[known, 0])), 3) if known.any() else None,
        "gripper_bound_s": round(float(np.median(bounds[known, 1])), 3) if known.any() else None,
        "times_bound": round(float(np.median(robot[known] / bounds[known].sum(axis=1))), 3) if known.any() else None,
    }


def _spread(values: Array) -> dict[str, float]:
    return {"median": round(float(np.median(values)), 3), "p90": round(float(np.percentile(values, 90)), 3)}
