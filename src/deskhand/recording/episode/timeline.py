"""Tool calls of an episode, and where the time went."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

PHASES = ("perception", "grasping", "planning", "motion", "other")

_PHASE_OF_TOOL = {
    "detect_objects": "perception",
    "find_objects": "perception",
    "describe_scene": "perception",
    "query_relation": "perception",
    "check_goal": "perception",
    "generate_grasps": "grasping",
    "solve_ik": "planning",
    "plan_motion": "planning",
    "check_reachable": "planning",
    "execute_plan": "motion",
    "move_home": "motion",
    "open_gripper": "motion",
    "close_gripper": "motion",
    "stop_motion": "motion",
}
"""For tools that do not measure their own phases; skills do (``data["times"]``)."""


ROBOT_PHASES = (
    "motion_limits",
    "motion_tcp_speed",
    "motion_near_obstacle",
    "motion_near_person",
    "motion_speed_scale",
    "motion",
    "gripper",
    "perception",
    "grasping",
    "planning",
    "other",
)
"""Of the robot's time: moving at the limits of the joints, held back by the greatest tcp speed, beside obstacles, beside people, by who planned it, by what
is not known; the fingers; standing still for perception, grasps, planning; and for anything else, which is whoever decides.
"""


@dataclass(frozen=True)
class Call:
    """One tool call. Times are wall clock [s since the epoch] and ROS time [s]; a call that never ended has the code ``unfinished``."""

    id: str
    tool: str
    caller: str
    arguments: dict[str, Any]
    started: float
    sim_started: float
    duration: float = 0.0
    sim_ended: float = 0.0
    code: str = ""
    message: str = ""
    data: Any = None
    phases: dict[str, float] = field(default_factory=dict)
    robot_phases: dict[str, float] = field(default_factory=dict)

    @property
    def ok(self) -> bool:
        """Whether it ended well."""
        return not self.code

    @property
    def phase(self) -> str:
        """The phase that took most of it."""
        return max(self.phases, key=lambda name: self.phases[name]) if self.phases else "other"


def calls_from(events: Iterable[Mapping[str, Any]]) -> list[Call]:
    """Pairs of start and end events, in the order of their starts."""
    started: dict[str, Mapping[str, Any]] = {}
    calls: dict[str, Call] = {}
    for event in events:
        if event.get("event") == "start":
            started[event["id"]] = event
            calls[event["id"]] = _call(event, {"code": "unfinished", "message": "the record ends before the call does"})
        elif event.get("event") == "end" and event["id"] in started:
            calls[event["id"]] = _call(started[event["id"]], event)
    return list(calls.values())


def _call(start: Mapping[str, Any], end: Mapping[str, Any]) -> Call:
    duration = float(end.get("duration") or 0.0)
    data = end.get("data")
    times = data.get("times") if isinstance(data, Mapping) else None
    sim_started, sim_ended = float(start.get("sim_time", 0.0)), float(end.get("sim_time", start.get("sim_time", 0.0)))
    return Call(
        id=start["id"],
        tool=start["tool"],
        caller=start.get("caller", ""),
        arguments=dict(start.get("arguments") or {}),
        started=float(start["time"]),
        sim_started=sim_started,
        duration=duration,
        sim_ended=sim_ended,
        code=end.get("code", ""),
        message=end.get("message", ""),
        data=data,
        phases=_phases(start["tool"], duration, times),
        robot_phases=_robot_phases(start["tool"], sim_ended - sim_started, times),
    )


def _phases(tool: str, duration: float, times: Any) -> dict[str, float]:
    if isinstance(times, Mapping):
        phases = {name: float(times.get(name, 0.0)) for name in PHASES[:-1]}
        phases["other"] = max(0.0, duration - sum(phases.values()))
        return phases
    return {_PHASE_OF_TOOL.get(tool, "other"): duration}


def _robot_phases(tool: str, duration: float, times: Any) -> dict[str, float]:
    if isinstance(times, Mapping) and isinstance(times.get("robot_phases"), Mapping):
        return {name: float(seconds) for name, seconds in times["robot_phases"].items() if name in ROBOT_PHASES}
    return {_PHASE_OF_TOOL.get(tool, "other"): max(0.0, duration)}


def robot_shares(calls: Iterable[Call], robot: float) -> dict[str, float]:
    """The robot's time [s] by :data:`ROBOT_PHASES` over a trial that took ``robot`` [s] of it."""
    total = dict.fromkeys(ROBOT_PHASES, 0.0)
    for call in calls:
        for name, seconds in call.robot_phases.items():
            total[name] += seconds
    total["other"] += max(0.0, robot - sum(total.values()))
    return {name: round(seconds, 3) for name, seconds in total.items()}


def time_shares(calls: Iterable[Call], wall: float) -> dict[str, float]:
    """Wall time [s] by phase over a trial that took ``wall`` [s]; what no call took (thinking, messages) is ``other``."""
    total = dict.fromkeys(PHASES, 0.0)
    for call in calls:
        for name, seconds in call.phases.items():
            total[name] += seconds
    total["other"] += max(0.0, wall - sum(total.values()))
    return {name: round(seconds, 3) for name, seconds in total.items()}


def thoughts(calls: Iterable[Call], steps: Iterable[Mapping[str, Any]]) -> list[str]:
    """What the agent said with each call; empty where it said nothing or somebody else called."""
    left = iter(steps)
    said = []
    for call in calls:
        rest, left = itertools.tee(left)
        step = next((step for step in rest if step["tool"] == call.tool and step["arguments"] == call.arguments), None)
        if step is not None:
            left = rest
        said.append(str(step["text"]) if step else "")
    return said
