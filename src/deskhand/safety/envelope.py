"""One envelope for all motion, whatever asked for it: a second opinion that shares no code with the planner.

A trajectory is cut into states between which no point of the arm or of what it holds moves more than ``check_step`` (4 mm), so every position
in between is within half of that of one of them. A pair that stays farther apart than that half, less ``max_penetration``, cannot be deeper than
``max_penetration`` anywhere on the way. Around the states where one comes nearer, the path is cut anew into steps of at most
``FINE`` (0.5 mm). So nothing is missed that is deeper than ``max_penetration`` by more than half of ``FINE``: 0.25 mm.

How far a step moves the arm is bounded by joint angle times lever arm, summed over the joints, which holds whatever the posture.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from deskhand.arms.model import RobotModel
from deskhand.errors import DeskhandError
from deskhand.geometry import Array
from deskhand.safety.bodies import pieces_of
from deskhand.safety.checker import CollisionChecker, Near
from deskhand.safety.kinematics import lever_arms, link_poses
from deskhand.safety.placed import Placed
from deskhand.safety.scene import Pairs, PlanningScene, pair
from deskhand.safety.settings import SafetySettings
from deskhand.types import Trajectory

START_DEPTH = 0.012  # [m] of contact that a motion may begin with, see Envelope
DEEPER = 0.001  # [m] that such a contact may grow while it is left
LIMIT_SLACK = 1e-3  # [rad, m] beyond a position limit: encoders are never exact
SPEED_SLACK = 1.01
MOST_STATES = 20000
FINE = 5e-4  # [m]


@dataclass(frozen=True)
class Violation:
    """``kind``: collision, workspace, joint_limit, joint_speed, tcp_speed, or trajectory; ``amount`` [m, rad, rad/s, m/s] beyond what is allowed."""

    kind: str
    link: str
    obstacle: str
    amount: float
    time: float

    def __str__(self) -> str:
        if self.kind == "collision":
            return f"{self.link} would enter {self.obstacle} by {self.amount * 1000:.1f} mm at {self.time:.2f} s"
        if self.kind == "workspace":
            return f"{self.link} would leave the workspace by {self.amount * 1000:.1f} mm at {self.time:.2f} s"
        if self.kind == "trajectory":
            return f"the trajectory {self.obstacle}"
        unit = {"joint_limit": "rad beyond its limit", "joint_speed": "rad/s too fast", "tcp_speed": "m/s too fast"}[self.kind]
        return f"{self.link}: {self.amount:.3f} {unit} at {self.time:.2f} s"


@dataclass(frozen=True)
class EnvelopeReport:
    """``violations``: the worst of each kind, link and obstacle; ``clearance`` [m] to the scene, NaN when it was not asked for."""

    violations: tuple[Violation, ...]
    clearance: float

    def require(self) -> None:
        """Raise ``envelope_violated`` naming link, obstacle, depth and time when there are violations."""
        if self.violations:
            more = f" (and {len(self.violations) - 3} more)" if len(self.violations) > 3 else ""
            raise DeskhandError("envelope_violated", "; ".join(map(str, self.violations[:3])) + more + ".")


class Envelope:
    """All links and what is held against workspace, keep-out zones, table, obstacles, themselves, joint limits and speeds.

    A motion may begin in contact (after a grasp, or with an object that stands on the table): a pair that touches at the start by at most
    12 mm may stay in contact while it gets no more than 1 mm deeper than it was; once apart, it must stay apart.
    """

    def __init__(self, model: RobotModel, settings: SafetySettings) -> None:
        self.model, self.arm, self.settings = model, model.arm, settings
        self.checker = CollisionChecker(model)
        self._levers = lever_arms(model)

    def check(
        self, trajectory: Trajectory, scene: PlanningScene, others: Mapping[str, float] | None = None, allow: Pairs = frozenset(), clearance: bool = False
    ) -> EnvelopeReport:
        """What a trajectory of the arm's joints would break. ``others``: joints that stand still (fingers)."""
        flaw = _flaw(trajectory, self.arm.joints)
        if flaw:
            return EnvelopeReport((Violation("trajectory", "trajectory", flaw, 0.0, 0.0),), float("nan"))
        times, positions = self._states(trajectory, scene)
        placed = self._placed(trajectory.joint_names, positions, scene, others)
        collisions, least = self._collisions(trajectory.joint_names, placed, times, positions, scene, others, allow, clearance)
        found = [*self._limits(trajectory), *self._speeds(trajectory, others), *self._outside(placed, times), *collisions]
        return EnvelopeReport(_worst(found), least)

    def _placed(self, names: tuple[str, ...], positions: Array, scene: PlanningScene, others: Mapping[str, float] | None) -> Placed:
        return self.checker.placed(link_poses(self.model, names, positions, others), scene)

    def _levers_of(self, names: tuple[str, ...], scene: PlanningScene) -> Array:
        return np.array([self._levers[name] for name in names]) + self._held_reach(scene)

    def _states(self, trajectory: Trajectory, scene: PlanningScene) -> tuple[Array, Array]:
        """Times (N,) and positions (N, n) of the states that are looked at."""
        path = trajectory.positions
        if len(path) == 1:
            return trajectory.times, path
        moved = np.abs(np.diff(path, axis=0)) @ self._levers_of(trajectory.joint_names, scene)
        if moved.sum() / self.settings.check_step > MOST_STATES:
            raise DeskhandError("invalid_input", f"the path moves the arm by {moved.sum():.1f} m in all; that is too long to be checked.")
        # Corners of the path are states, so that between two states the joints move straight.
        index = _cut(moved, self.settings.check_step)
        return _between(index, trajectory.times[:, None])[:, 0], _between(index, path)

    def _held_reach(self, scene: PlanningScene) -> float:
        if scene.held is None:
            return 0.0
        pieces = pieces_of(scene.held.shapes).moved(scene.held.pose)
        return float((np.linalg.norm(pieces.centers, axis=1) + pieces.bounds).max())

    def _limits(self, trajectory: Trajectory) -> list[Violation]:
        result = []
        for index, name in enumerate(trajectory.joint_names):
            lower, upper = self.model.limits[name][:2]
            over = np.maximum(lower - trajectory.positions[:, index], trajectory.positions[:, index] - upper)
            worst = int(over.argmax())
            if over[worst] > LIMIT_SLACK:
                result.append(Violation("joint_limit", name, "", float(over[worst]), float(trajectory.times[worst])))
        return result

    def _speeds(self, trajectory: Trajectory, others: Mapping[str, float] | None) -> list[Violation]:
        if len(trajectory.times) < 2:
            return []
        result = []
        steps = np.diff(trajectory.times)
        speeds = np.abs(np.diff(trajectory.positions, axis=0)) / steps[:, None]
        for index, name in enumerate(trajectory.joint_names):
            most = self.settings.max_joint_speed * float(self.arm.max_velocity[self.arm.joints.index(name)])
            worst = int(speeds[:, index].argmax())
            if speeds[worst, index] > most * SPEED_SLACK:
                result.append(Violation("joint_speed", name, "", float(speeds[worst, index] - most), float(trajectory.times[worst])))
        tcp = link_poses(self.model, trajectory.joint_names, trajectory.positions, others, self.arm.tcp)[self.arm.tcp][:, :3, 3]
        along = np.linalg.norm(np.diff(tcp, axis=0), axis=1) / steps
        worst = int(along.argmax())
        if along[worst] > self.settings.max_tcp_speed * SPEED_SLACK:
            result.append(Violation("tcp_speed", self.arm.tcp, "", float(along[worst] - self.settings.max_tcp_speed), float(trajectory.times[worst])))
        return result

    def _outside(self, placed: Placed, times: Array) -> list[Violation]:
        slack = self.settings.max_penetration
        outside = self.checker.outside(placed, self.settings.lower - slack, self.settings.upper + slack)
        first = {name: over for t, name, over in outside if t == 0}
        # As with contacts: who begins outside may come back in, but not go farther out.
        return [
            Violation("workspace", name, "workspace", over + slack, float(times[t]))
            for t, name, over in outside
            if over > first.get(name, 0.0) + DEEPER * (name in first)
        ]

    def _collisions(
        self,
        names: tuple[str, ...],
        placed: Placed,
        times: Array,
        positions: Array,
        scene: PlanningScene,
        others: Mapping[str, float] | None,
        allow: Pairs,
        clearance: bool,
    ) -> tuple[list[Violation], float]:
        most = self.settings.max_penetration
        doubt = max(self.settings.check_step / 2 - most, -most) if len(times) > 1 else -most
        near, least = self.checker.survey(placed, scene, allow, self.settings.keep_out, doubt, clearance)
        if near and len(times) > 1:
            # Where something is so near that more than max_penetration might lie between two states: in between, finely.
            index = _around(sorted({item.state for item in near}), np.abs(np.diff(positions, axis=0)) @ self._levers_of(names, scene))
            times, positions = _between(index, times[:, None])[:, 0], _between(index, positions)
            near, _ = self.checker.survey(self._placed(names, positions, scene, others), scene, allow, self.settings.keep_out, -most)
        near = leaving([item for item in near if item.distance < -most])
        return [Violation("collision", item.a, item.b, -item.distance, float(times[item.state])) for item in near], least


def leaving(near: list[Near]) -> list[Near]:
    """Those contacts that are not merely left over from the start: see :class:`Envelope` for the rule."""
    by_pair: dict[tuple[str, str], list[Near]] = {}
    for item in near:
        by_pair.setdefault(pair(item.a, item.b), []).append(item)
    result = []
    for items in by_pair.values():
        items.sort(key=lambda item: item.state)
        excused = items[0].state == 0 and -items[0].distance <= START_DEPTH
        limit, expected = -items[0].distance + DEEPER, 0
        for item in items:
            excused = excused and item.state == expected and -item.distance <= limit
            expected = item.state + 1
            if not excused:
                result.append(item)
    return result


def _cut(moved: Array, step: float) -> Array:
    """Fractional indices of the points of a path and of points in between, at most ``step`` apart; ``moved`` (K - 1,): from each point to the next."""
    counts = np.maximum(np.ceil(moved / step - 1e-9), 1).astype(int)
    start = np.repeat(np.arange(len(moved)), counts)
    part = np.arange(len(start)) - np.repeat(np.cumsum(counts) - counts, counts)
    return np.append(start + part / counts[start], float(len(moved)))


def _around(states: list[int], moved: Array) -> Array:
    """Fractional indices of all states and, before and after ``states``, of points in between at most ``FINE`` apart."""
    fine = np.zeros(len(moved), dtype=bool)
    for state in states:
        fine[max(state - 1, 0) : state + 1] = True
    return _cut(np.where(fine, moved, 0.0), FINE)


def _between(index: Array, rows: Array) -> Array:
    """Rows (N, n) of ``rows`` (K, n) at fractional indices."""
    low = np.minimum(index.astype(int), max(len(rows) - 2, 0))
    return np.asarray(rows[low] + (index - low)[:, None] * (rows[low + 1] - rows[low]))


def _flaw(trajectory: Trajectory, known: tuple[str, ...]) -> str:
    """What makes a trajectory no trajectory, or an empty text."""
    unknown = [name for name in trajectory.joint_names if name not in known]
    if unknown:
        return f"moves {unknown}; the arm's joints are {list(known)}"
    count, joints = len(trajectory.times), len(trajectory.joint_names)
    if count == 0 or trajectory.positions.shape != (count, joints):
        return f"has {count} times for positions of shape {trajectory.positions.shape} and {joints} joints"
    if not (np.isfinite(trajectory.times).all() and np.isfinite(trajectory.positions).all()):
        return "has values that are not finite"
    return "has times that do not grow" if count > 1 and np.diff(trajectory.times).min() <= 0 else ""


def _worst(found: list[Violation]) -> tuple[Violation, ...]:
    worst: dict[tuple[str, str, str], Violation] = {}
    for item in found:
        key = (item.kind, item.link, item.obstacle)
        if key not in worst or item.amount > worst[key].amount:
            worst[key] = item
    return tuple(sorted(worst.values(), key=lambda item: -item.amount))
