"""Runs of legs (:mod:`deskhand.motion.blending`) as a trajectory: within the arm's limits, slow beside obstacles and people, straight where that was asked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from deskhand.errors import DeskhandError
from deskhand.geometry import Array
from deskhand.motion import cartesian
from deskhand.motion.blending import SHARES, WIDE, Blended, Leg, Rounding, Run, blended, pieces, places
from deskhand.motion.search import PathSearch, Query
from deskhand.motion.timing import RATE, WINDOW, lengths, stop_at_corners, time_path
from deskhand.safety.envelope import EnvelopeReport
from deskhand.safety.scene import TABLE
from deskhand.safety.settings import SafetySettings
from deskhand.types import Trajectory

PERSON = "person"  # how the ids of people among the obstacles begin
SLOW_STRIDE = 5  # points of the timing's grid (0.01 rad) between those whose surroundings are looked at first
SLOW_MARGIN = 0.025  # [m] for what the arm moves between those
SLOW_FINE = 0.006  # [m] for what it moves between neighbours on the grid, and within the window (0.08 s) that its speed is averaged over
SLOWER = 0.6  # factor of the speed with which a line is tried again that the smoothing has bent too far
TRIES = 5
ROOM = 0.01  # [m] between a wide curve and what may not be touched: more than looks are wrong by


NEAR_OBSTACLE, NEAR_PERSON = "near_obstacle", "near_person"
BOUNDS = ("limits", "tcp_speed", NEAR_OBSTACLE, NEAR_PERSON, "speed_scale")
"""What may bound the speed of a motion: the joints' limits, the envelope's greatest tcp speed, its rule beside obstacles and beside people, who planned it."""
AT_BOUND = 0.85  # of a speed, from which on it is what bounds the motion


Mask = npt.NDArray[np.bool_]
Index = npt.NDArray[np.intp]


@dataclass(frozen=True)
class Zones:
    """At which points of a path (T, n) people, or other obstacles, are so near that the tcp is slow there: (T,) each."""

    path: Array
    people: Mask
    others: Mask

    def at(self, positions: Array) -> tuple[Mask, Mask]:
        """The same at states (N, n) along the path, by the share of its length."""
        if len(self.path) < 2:
            return np.zeros(len(positions), bool), np.zeros(len(positions), bool)
        index = np.clip(np.searchsorted(_shares(self.path), _shares(positions)), 0, len(self.path) - 1)
        return self.people[index], self.others[index]


def _shares(path: Array) -> Array:
    """How much of the length of a path (T, n) lies before each of its points (T,), 0 to 1."""
    along = lengths(path)
    return np.asarray(along / max(float(along[-1]), 1e-12))


def _grown(points: Index, count: int) -> Mask:
    """(count,): these points and their neighbours."""
    mask = np.zeros(count, bool)
    for shift in (-1, 0, 1):
        mask[np.clip(points + shift, 0, count - 1)] = True
    return mask


class RunTimer:
    """Times runs in one scene: that of ``query``, whose allowed pairs are those of each leg instead."""

    def __init__(self, search: PathSearch, settings: SafetySettings, query: Query) -> None:
        self._search, self._arm, self._settings, self._query = search, search.arm, settings, query
        self._zones = Zones(np.zeros((1, 1)), np.zeros(1, bool), np.zeros(1, bool))

    def timed(self, runs: Sequence[Run]) -> tuple[Trajectory, EnvelopeReport, dict[str, float]]:
        """One run after another, what the envelope says of it, and for how long [s] what bounds its speed (:data:`BOUNDS`).

        A run whose rounded corners the envelope refuses gets tighter ones, and at last none.

        Raises:
            DeskhandError: ``path_incomplete`` when a line cannot be kept, ``invalid_input``, ``limits_violated``.
        """
        parts, reports, bounds = zip(*(self._run(run) for run in runs), strict=True)
        return stop_at_corners(parts), _of_all(reports), _sum(bounds)

    def _run(self, run: Run) -> tuple[Trajectory, EnvelopeReport, dict[str, float]]:
        if len(run) > 1:
            for roundings in self._roundings(run):
                way = blended(run, roundings)
                trajectory = self._kept_straight(run, way)
                report = self._checked(run, way, trajectory)
                if not report.violations:
                    return trajectory, report, self._bounds(run, trajectory)
        alone, bounds = [], []
        for leg in run:
            alone.append(self._kept_straight((leg,), Blended(leg.smooth)))
            bounds.append(self._bounds((leg,), alone[-1]))
        trajectory = stop_at_corners(alone)
        return trajectory, self._checked(run, Blended(trajectory.positions, tuple(leg.path[0] for leg in run[1:])), trajectory), _sum(bounds)

    def _roundings(self, run: Run) -> list[tuple[Rounding, ...]]:
        """How far the corners of a run are rounded: what is tried, in this order."""
        usual = [(share,) * (len(run) - 1) for share in SHARES]
        widest: tuple[Rounding, ...] = ()
        for corner in range(len(run) - 1):
            later = usual[0][corner + 1 :]
            widest += (next((share for share in WIDE if self._has_room(run, corner, (*widest, share, *later))), SHARES[0]),)
        return usual if widest == usual[0] else [widest, *usual]

    def _has_room(self, run: Run, corner: int, roundings: tuple[Rounding, ...]) -> bool:
        """Whether the curve at a corner keeps :data:`ROOM` from everything but what may be touched on both legs that it joins."""
        checker, scene, allow = self._search.checker, self._query.scene, run[corner].allow & run[corner + 1].allow
        placed = checker.placed(self._search.poses(blended(run, roundings).curves[corner], self._query), scene)
        return not checker.approaches(placed, scene, allow, {TABLE, *scene.obstacles}, ROOM).any()

    def _bounds(self, run: Run, trajectory: Trajectory) -> dict[str, float]:
        """For how long [s] of the trajectory that was timed last each of :data:`BOUNDS` held it back."""
        steps = np.diff(trajectory.times)
        speeds = np.linalg.norm(np.diff(self._tcps(trajectory.positions), axis=0), axis=1) / steps
        scale = min(leg.speed_scale for leg in run)
        people, others = self._zones.at(trajectory.positions[1:])
        slow = speeds > AT_BOUND * self._settings.slow.tcp_speed
        fast = speeds > AT_BOUND * self._settings.max_tcp_speed
        chosen = np.select([people & slow, others & slow, fast, np.full(len(steps), scale < 1.0)], [3, 2, 1, 4], 0)
        return {name: float(steps[chosen == number].sum()) for number, name in enumerate(BOUNDS)}

    def _kept_straight(self, run: Run, way: Blended) -> Trajectory:
        """Slower where smoothing would take the tcp farther from a line than its leg allows."""
        scale = min(leg.speed_scale for leg in run)
        for _ in range(TRIES):
            trajectory = self._trajectory(run, way, scale)
            away = self._off_lines(run, way, trajectory)
            if away <= 1.0:
                return trajectory
            scale *= SLOWER
        most = max(leg.max_deviation for leg in run)
        raise DeskhandError("path_incomplete", f"the tcp would leave the line by {away * most * 1000:.1f} mm; allowed are {most * 1000:.1f} mm.")

    def _off_lines(self, run: Run, way: Blended, trajectory: Trajectory) -> float:
        """How far the tcp strays from the lines, as a share of what is allowed; what is rounded is not counted."""
        half = int(WINDOW * RATE / 2)  # the average reaches so far over the ends of a curve
        begins = [0, *(place + half for place in places(trajectory.positions, [curve[-1] for curve in way.curves]))]
        stops = [*(place - half for place in places(trajectory.positions, [curve[0] for curve in way.curves])), len(trajectory.times)]
        worst = 0.0
        for leg, a, b in zip(run, begins, stops, strict=True):
            if leg.line is None or a >= b:
                continue
            tcps = self._tcps(trajectory.positions[a:b])
            worst = max(worst, cartesian.deviation(tcps, leg.line) / leg.max_deviation)
        return worst

    def _checked(self, run: Run, way: Blended, trajectory: Trajectory) -> EnvelopeReport:
        """Each leg with the contacts that are allowed on it."""
        query, envelope = self._query, self._search.envelope
        parts = pieces(trajectory, way.corners)
        return _of_all([envelope.check(part, query.scene, query.others, leg.allow, clearance=True) for part, leg in zip(parts, run, strict=True)])

    def _trajectory(self, run: Run, way: Blended, scale: float) -> Trajectory:
        return time_path(
            self._arm.joints,
            way.path,
            self._arm.max_velocity * self._settings.max_joint_speed,
            self._arm.max_acceleration,
            scale,
            0.0,
            self._tcps,
            self._settings.max_tcp_speed,
            self._slower(run, way),
        )

    def _tcps(self, joints: Array) -> Array:
        return np.asarray(self._search.tcps(joints, self._query)[:, :3, 3])

    def _slower(self, run: Run, way: Blended) -> Callable[[Array], Array]:
        """The tcp's greatest speed (T,) along a path (T, n): slow beside obstacles and people that may not be touched there. Looked at coarsely, then finely
        where something is near.
        """
        slow, stride = self._settings.slow, SLOW_STRIDE

        def speeds(path: Array) -> Array:
            of_leg = np.searchsorted(places(path, way.corners), np.arange(len(path)), side="right")
            picked = np.unique(np.append(np.arange(0, len(path), stride), len(path) - 1))
            coarse = picked[np.logical_or(*self._beside(run, path, picked, of_leg, SLOW_MARGIN))]
            maybe = np.unique(np.clip((coarse[:, None] + np.arange(-stride, stride + 1)).ravel(), 0, len(path) - 1))
            people, others = (_grown(maybe[near], len(path)) for near in self._beside(run, path, maybe, of_leg, SLOW_FINE))
            self._zones = Zones(path, people, others)
            return np.where(people | others, slow.tcp_speed, np.inf)

        return speeds

    def _beside(self, run: Run, path: Array, picked: Index, of_leg: Index, margin: float) -> tuple[Mask, Mask]:
        """(len(picked),) twice: which of these points of the path have people, or other obstacles, within the distance of the rule, and ``margin``."""
        by_people, by_others = np.zeros(len(picked), bool), np.zeros(len(picked), bool)
        if not len(picked):
            return by_people, by_others
        slow, checker, scene = self._settings.slow, self._search.checker, self._query.scene
        people = {name for name in scene.obstacles if name.startswith(PERSON)}
        placed = checker.placed(self._search.poses(path[picked], self._query), scene)
        for number, leg in enumerate(run):
            on = of_leg[picked] == number
            if on.any():
                by_others |= on & checker.approaches(placed, scene, leg.allow, scene.obstacles.keys() - people, slow.near + margin)
                by_people |= on & checker.approaches(placed, scene, leg.allow, people, slow.near_people + margin)
        return by_people, by_others


def _of_all(reports: Sequence[EnvelopeReport]) -> EnvelopeReport:
    """What several say together."""
    clearances = [report.clearance for report in reports if not np.isnan(report.clearance)]
    return EnvelopeReport(tuple(item for report in reports for item in report.violations), min(clearances, default=float("nan")))


def _sum(bounds: Sequence[dict[str, float]]) -> dict[str, float]:
    return {name: sum(each[name] for each in bounds) for name in BOUNDS}


def legs_of_line(followed: cartesian.CartesianPath, corners: Array, query: Query, scale: float, max_deviation: float) -> tuple[Run, ...]:
    """A followed polyline (``corners`` (M, 3) [m]), at rest at its sharp corners: a run for each part."""
    return tuple((Leg(path, query.allow, scale, corners, max_deviation),) for path in followed.legs)


def chained(before: Sequence[Run], then: Sequence[Run]) -> tuple[Run, ...]:
    """Both, without a stop where they meet; ``before`` may be empty."""
    if not before:
        return tuple(then)
    return (*before[:-1], (*before[-1], *then[0]), *then[1:])
