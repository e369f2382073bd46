"""Whether the gripper can follow way-points, and where and why not; asked of the robot's own planner, so that nothing is judged twice."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from deskhand.errors import DeskhandError
from deskhand.geometry import Array
from deskhand.skills.robot import Robot
from deskhand.tools.poses import hand_poses
from deskhand.types import MotionGoal, Plan, PlanOptions

NO_WAY = frozenset(("no_ik_solution", "goal_in_collision", "start_in_collision", "planning_failed", "path_incomplete", "limits_violated", "envelope_violated"))
"""Codes that say that a motion does not exist; all others are faults and are raised."""
HANDS = 3  # turns of the hand that are tried along a path
STEP = 0.05  # [rad] between the states of a joint path that are looked at
MOST_STATES = 400


@dataclass(frozen=True)
class Followed:
    """How far it gets: ``fraction`` of the whole, ``index`` of the way-point that it does not reach (-1: none), ``code`` and ``reason`` of the failure.

    ``poses`` are the hands (4, 4) at the way-points, ``plans`` those to the first and on through the others, where they exist.
    """

    fraction: float
    index: int = -1
    code: str = ""
    reason: str = ""
    poses: tuple[Array, ...] = ()
    plans: tuple[Plan, ...] = ()

    @property
    def ok(self) -> bool:
        """True when it gets to the end."""
        return self.index < 0


def follow(robot: Robot, waypoints: Sequence[Sequence[float]], approach: str, yaw: float | None, speed_scale: float = 1.0) -> Followed:
    """To the first way-point (x, y, z) [m] any free way, on to the others in straight lines, the gripper turned alike all along."""
    hands = list(zip(*(hand_poses(robot.arm, list(point), approach, yaw) for point in waypoints), strict=True))
    first, best = hands[0], Followed(-1.0)
    for _ in range(HANDS):
        try:
            # All that are left at once: one call costs much less than one for each that is out of reach.
            to_first = robot.plan_motion(MotionGoal(poses=tuple(poses[0] for poses in hands)), PlanOptions(speed_scale=speed_scale))
        except DeskhandError as error:
            if error.code not in NO_WAY:
                raise
            return best if best.fraction > 0 else Followed(0.0, 0, error.code, error.message, first)
        found = _onward(robot, hands.pop(to_first.goal_index), to_first, speed_scale)
        if found.ok:
            return found
        best = max(best, found, key=lambda one: one.fraction)
        if not hands:
            break
    return best


def follow_actions(robot: Robot, poses: Sequence[Array], allow: tuple[tuple[str, str], ...] = ()) -> Followed:
    """From where the arm is to each pose (4, 4) of the gripper by any way, as separate motions; ``allow``: what may be touched."""
    plans: list[Plan] = []
    for index, pose in enumerate(poses):
        try:
            plans.append(robot.plan_motion(MotionGoal(poses=(pose,)), PlanOptions(start=plans[-1].end if plans else None, allow=allow)))
        except DeskhandError as error:
            if error.code not in NO_WAY:
                raise
            return Followed(index / len(poses), index, error.code, error.message, tuple(poses))
    return Followed(1.0, poses=tuple(poses), plans=tuple(plans))


def _onward(robot: Robot, poses: tuple[Array, ...], to_first: Plan, speed_scale: float) -> Followed:
    """In straight lines from the first of ``poses`` through the others."""
    if len(poses) == 1:
        return Followed(1.0, poses=poses, plans=(to_first,))
    try:
        line = robot.plan_cartesian(poses[1:], PlanOptions(start=to_first.end, speed_scale=speed_scale))
        return Followed(1.0, poses=poses, plans=(to_first, line))
    except DeskhandError as error:
        if error.code not in NO_WAY:
            raise
        return _broken(robot, poses, to_first, error)


def _broken(robot: Robot, poses: tuple[Array, ...], to_first: Plan, error: DeskhandError) -> Followed:
    """How far along the lines it goes before what ``error`` says."""
    lengths = np.linalg.norm(np.diff([pose[:3, 3] for pose in poses], axis=0), axis=1)
    start, done = to_first.end, 0.0
    for index, pose in enumerate(poses[1:], 1):
        try:
            leg = robot.plan_cartesian((pose,), PlanOptions(start=start, min_fraction=0.01))
        except DeskhandError as failure:
            if failure.code not in NO_WAY:
                raise
            return Followed(done / max(float(lengths.sum()), 1e-9), index, failure.code, failure.message, poses)
        done += float(lengths[index - 1]) * leg.fraction
        if leg.fraction < 0.999:
            return Followed(done / float(lengths.sum()), index, error.code, error.message, poses)
        start = leg.end
    return Followed(0.999, len(poses) - 1, error.code, error.message, poses)  # each line exists, but not one after the other


def joint_path(robot: Robot, joints: Sequence[Mapping[str, float]]) -> Followed:
    """Joint way-points joined by straight lines in joint space: limits, contacts and the workspace at states at most 0.05 rad apart."""
    names = robot.arm.joints
    path = np.array([[float(point[name]) for name in names] for point in joints])
    moved = np.abs(np.diff(path, axis=0)).max(axis=1) if len(path) > 1 else np.zeros(0)
    total = float(moved.sum())
    if total / STEP > MOST_STATES:
        raise DeskhandError(
            "invalid_input", f"the joint path is {total:.1f} rad long; at most {MOST_STATES * STEP:.0f} rad can be checked.", hint="Check it in parts."
        )
    done = 0.0
    for index in range(len(path)):
        before = path[max(index - 1, 0)]
        count = max(1, int(np.ceil(float(np.abs(path[index] - before).max()) / STEP)))
        for part in range(1, count + 1) if index else (1,):
            state = before + (path[index] - before) * part / count
            check = robot.check_state(dict(zip(names, map(float, state), strict=True)))
            if not check.valid:
                touching = [f"{a} enters {b} by {1000 * depth:.0f} mm" for a, b, depth in check.collisions[:3]]
                code = "goal_in_collision" if check.collisions else "limits_violated"
                return Followed(
                    (done + (part - 1) / count * (moved[index - 1] if index else 0.0)) / max(total, 1e-9),
                    index,
                    code,
                    "; ".join([*touching, *check.violations[:3]]),
                )
        done += float(moved[index - 1]) if index else 0.0
    return Followed(1.0)
