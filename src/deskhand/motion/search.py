"""From a start to the nearest of several goals: paddings, escapes from contact, retries. Shared by all backends."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from deskhand.arms.config import ArmConfig
from deskhand.arms.model import RobotModel
from deskhand.errors import DeskhandError
from deskhand.geometry import Array
from deskhand.motion.base import Backend
from deskhand.safety.checker import CollisionChecker, Near
from deskhand.safety.envelope import START_DEPTH, Envelope, leaving
from deskhand.safety.kinematics import link_poses
from deskhand.safety.scene import Pairs, PlanningScene

PADDINGS = (0.003, 0.001)  # [m]; the second where start or goal is nearer to something than the first
ESCAPE_STEP = 0.004  # [m]
ESCAPE_MOST = 0.10  # [m]
ATTEMPT_TIME = 1.0  # [s] of one run of the planner


@dataclass(frozen=True)
class Query:
    """What a path is searched in: scene, allowed pairs, joints that stand still."""

    scene: PlanningScene
    allow: Pairs
    others: Mapping[str, float]


@dataclass(frozen=True)
class GoalJoints:
    """Joints (n,) and which of the caller's goals they meet."""

    joints: Array
    index: int = 0


def paddings_of(arm: ArmConfig) -> tuple[float, ...]:
    """[m] around obstacles that are tried, the largest first: of an arm whose play is known (driver.servos) also what its hand may be off, and half of it.

    Off: half the play of each joint at the length of the arm, taken together as errors that have nothing to do with each other.
    """
    off = arm.reach * float(np.linalg.norm([servo.backlash / 2 for servo in arm.driver.servos.values()]))
    return tuple(padding for padding in (off, off / 2) if padding > PADDINGS[0]) + PADDINGS


class PathSearch:
    """Finds collision-free joint paths with a backend; contacts and clearances by the envelope's geometry."""

    def __init__(self, model: RobotModel, backend: Backend, envelope: Envelope) -> None:
        self.model, self.arm, self.backend, self.envelope = model, model.arm, backend, envelope
        self.checker: CollisionChecker = envelope.checker

        self.paddings = paddings_of(self.arm)

    def poses(self, joints: Array, query: Query) -> dict[str, Array]:
        """world_T_link (T, 4, 4) for joints (T, n)."""
        return link_poses(self.model, self.arm.joints, np.atleast_2d(joints), query.others)

    def tcp(self, joints: Array, query: Query) -> Array:
        """world_T_tcp (4, 4) at joints (n,)."""
        return np.asarray(self.tcps(joints, query)[0])

    def tcps(self, joints: Array, query: Query) -> Array:
        """world_T_tcp (T, 4, 4) for joints (T, n)."""
        return link_poses(self.model, self.arm.joints, np.atleast_2d(joints), query.others, self.arm.tcp)[self.arm.tcp]

    def contacts(self, joints: Array, query: Query, cutoff: float = 0.0) -> list[Near]:
        """What is nearer than ``cutoff`` [m] at joints (T, n), keep-out zones included."""
        return self.checker.near(self.poses(joints, query), query.scene, query.allow, self.envelope.settings.keep_out, cutoff)

    def describe(self, joints: Array, query: Query) -> str:
        """What touches at ``joints`` (n,), for an error message."""
        near = sorted(self.contacts(joints, query, PADDINGS[-1] + 5e-4), key=lambda item: item.distance)
        if near:
            return ", ".join(f"{item.a} and {item.b} ({_depth(item.distance)})" for item in near[:4])
        settings = self.envelope.settings
        outside = self.checker.outside(self.checker.placed(self.poses(joints, query), query.scene), settings.lower, settings.upper)
        return ", ".join(f"{name} is {over * 1000:.1f} mm outside the workspace" for _, name, over in outside[:4]) or "something touches"

    def find(
        self, query: Query, start: Array, goals: list[GoalJoints], max_time: float, upright: float | None = None, attempt: int = 0
    ) -> tuple[Array, GoalJoints]:
        """A path (K, n) to the first goal that can be reached, in the order given.

        Raises:
            DeskhandError: ``start_in_collision``, ``goal_in_collision`` naming what touches, ``planning_failed``.
        """
        end = time.monotonic() + max_time
        prefix = self._leave_contact(query, start)
        begin = prefix[-1]
        blocked = True
        for padding in self.paddings:
            if self.backend.in_collision(query.scene, begin, query.others, query.allow, padding):
                continue
            free = [goal for goal in goals if not self.backend.in_collision(query.scene, goal.joints, query.others, query.allow, padding)]
            blocked = blocked and not free
            found = self._try(query, begin, free, padding, end, upright, attempt)
            if found:
                return np.vstack([prefix[:-1], found[0]]), found[1]
        if blocked:
            raise DeskhandError("goal_in_collision", f"at the goal, {self.describe(goals[0].joints, query)} would touch.")
        raise DeskhandError(
            "planning_failed", f"no collision-free path was found within {max_time:g} s.", retry=True, hint="Clear the way or approach otherwise."
        )

    def _try(
        self, query: Query, start: Array, goals: list[GoalJoints], padding: float, end: float, upright: float | None, attempt: int
    ) -> tuple[Array, GoalJoints] | None:
        rounds = 0
        while goals and (left := end - time.monotonic()) > 0 and rounds < 3:
            for index, goal in enumerate(goals):
                left = end - time.monotonic()
                if left <= 0.005:
                    return None
                share = min(left, ATTEMPT_TIME, max(0.1, left / (len(goals) - index)))
                path = self.backend.plan_path(
                    query.scene,
                    start,
                    goal.joints,
                    query.others,
                    allow=query.allow,
                    padding=padding,
                    max_time=share,
                    upright=upright,
                    attempt=attempt + 10 * rounds,
                )
                if path is not None:
                    return path, goal
            rounds += 1
        return None

    def _leave_contact(self, query: Query, start: Array) -> Array:
        """(K, n) from ``start`` to where nothing touches any more; only ``start`` when nothing does.

        An arm that touches something by at most 12 mm (it has just grasped, or set down) first moves its tcp straight, back along its
        approach axis, up, or aside, by at most 10 cm, such that no contact gets more than 1 mm deeper and none is new.

        Raises:
            DeskhandError: ``start_in_collision`` naming what touches.
        """
        # The larger padding first: it is the one that paths are searched with, so that most queries need one scene of the backend only.
        if not all(self.backend.in_collision(query.scene, start, query.others, query.allow, padding) for padding in PADDINGS):
            return start[None]
        near = self.contacts(start, query)
        if all(-item.distance <= START_DEPTH for item in near):
            pose = self.tcp(start, query)
            for direction in (-pose[:3, 2], np.array([0.0, 0, 1]), pose[:3, 1], -pose[:3, 1], pose[:3, 0], -pose[:3, 0]):
                path = self._straight(query, start, pose, direction)
                if path is not None:
                    return path
        raise DeskhandError("start_in_collision", f"the arm stands in contact: {self.describe(start, query)}; no short way out was found.")

    def _straight(self, query: Query, start: Array, pose: Array, direction: Array) -> Array | None:
        points = [start]
        for step in range(1, int(ESCAPE_MOST / ESCAPE_STEP) + 1):
            target = pose.copy()
            target[:3, 3] += direction * ESCAPE_STEP * step
            joints = self.backend.refine_ik(target, points[-1], query.others)
            if joints is None or np.abs(joints - points[-1]).max() > 0.15:
                return None
            points.append(joints)
            if leaving(self.contacts(np.array(points), query, cutoff=-5e-4)):
                return None
            if not self.backend.in_collision(query.scene, joints, query.others, query.allow, PADDINGS[-1]):
                return np.array(points)
        return None


def _depth(distance: float) -> str:
    return f"{-distance * 1000:.1f} mm deep" if distance < 0 else f"{distance * 1000:.1f} mm apart"
