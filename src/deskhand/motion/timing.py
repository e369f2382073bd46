"""From a path to a trajectory that keeps velocity and acceleration limits at the controller's rate, with smooth starts and stops.

1. Corners of the path are rounded (quadratic blends that stay within ``blend`` [rad] of the corner).
2. The fastest speed along it is found by a forward and a backward pass (as in TOPP-RA, on a grid), under joint velocity, joint
   acceleration and tcp speed limits.
3. The result is averaged over a short window: an average of positions has no larger differences than the positions have, so limits hold,
   and the acceleration no longer jumps.
4. Finite differences of what comes out are measured, and time is stretched by what is still missing, so the limits hold for what is sent.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from deskhand.errors import DeskhandError
from deskhand.geometry import Array
from deskhand.types import Trajectory

RATE = 100.0  # [Hz] of the output
WINDOW = 0.08  # [s] of the averaging
GRID = 0.01  # [rad] between grid points of the speed search
MARGIN = 0.98
MOST_TIME = 300.0  # [s]


@dataclass(frozen=True)
class _Curve:
    """A path (N, n) at arc lengths ``s``, reached at ``times`` with ``speed``."""

    times: Array
    s: Array
    speed: Array
    grid: Array


def time_path(
    joint_names: Sequence[str],
    path: Array,
    max_velocity: Array,
    max_acceleration: Array,
    speed_scale: float = 1.0,
    blend: float = 0.02,
    tcp_positions: Callable[[Array], Array] | None = None,
    max_tcp_speed: float = float("inf"),
    slower: Callable[[Array], Array] | None = None,
) -> Trajectory:
    """A trajectory along ``path`` (K, n) [rad], from rest to rest, sampled at 100 Hz.

    ``speed_scale`` (0, 1] of the joint limits and of the tcp speed; ``tcp_positions`` gives (T, 3) [m] of (T, n); ``slower`` the greatest tcp speed (T,) [m/s]
    at points (T, n) of the path, where it is below ``max_tcp_speed``.

    Raises:
        DeskhandError: ``invalid_input`` for a path that is not finite, or that would take more than five minutes.
    """
    points = distinct(np.asarray(path, dtype=float))
    velocity, acceleration = max_velocity * speed_scale * MARGIN, max_acceleration * speed_scale * MARGIN
    if len(points) == 1:
        return _trajectory(joint_names, np.array([0.0, 1 / RATE]), np.repeat(points, 2, axis=0))
    grid, s = _grid(rounded(points, blend))
    tangent, curvature = np.gradient(grid, s, axis=0), np.gradient(np.gradient(grid, s, axis=0), s, axis=0)
    fastest = (velocity / np.maximum(np.abs(tangent), 1e-9)).min(axis=1)
    fastest = np.minimum(fastest, np.sqrt((acceleration / np.maximum(np.abs(curvature), 1e-9)).min(axis=1)))
    if tcp_positions is not None:
        along = np.linalg.norm(np.gradient(tcp_positions(grid), s, axis=0), axis=1)
        greatest = np.full(len(grid), max_tcp_speed * speed_scale)
        if slower is not None:
            greatest = np.minimum(greatest, slower(grid))
        fastest = np.minimum(fastest, greatest * MARGIN / np.maximum(along, 1e-9))
    speed = _passes(s, tangent, curvature, np.minimum(fastest, 1e3), acceleration)
    times = _times(s, speed)
    if times[-1] > MOST_TIME:
        raise DeskhandError("invalid_input", f"this motion would take {times[-1]:.0f} s; the most is {MOST_TIME:.0f} s.", hint="Use a larger speed_scale.")
    return _sampled(joint_names, _Curve(times, s, speed, grid), velocity / MARGIN, acceleration / MARGIN, tcp_positions, max_tcp_speed * speed_scale)


def rest_to_rest(start: Array, end: Array, velocity: Array, acceleration: Array) -> float:
    """Shortest time [s] of a straight line of joint space (n,) from rest to rest within limits (n,) of velocity [rad/s] and acceleration [rad/s2].

    Raises:
        DeskhandError: ``invalid_input`` for what is not finite, or a limit that is not above 0.
    """
    way = np.abs(np.asarray(end, dtype=float) - np.asarray(start, dtype=float))
    if not np.isfinite(way).all() or not (np.asarray(velocity) > 0).all() or not (np.asarray(acceleration) > 0).all():
        raise DeskhandError("invalid_input", "a motion needs joints that are numbers, and limits above 0.")
    moves = way > 1e-9
    if not moves.any():
        return 0.0
    fastest, push = float((velocity[moves] / way[moves]).min()), float((acceleration[moves] / way[moves]).min())
    return float(2 / np.sqrt(push) if fastest**2 >= push else 1 / fastest + fastest / push)


def stop_at_corners(legs: Sequence[Trajectory]) -> Trajectory:
    """Trajectories one after another; each begins where the one before ended."""
    times, positions = [legs[0].times], [legs[0].positions]
    for leg in legs[1:]:
        times.append(leg.times[1:] + times[-1][-1])
        positions.append(leg.positions[1:])
    return _trajectory(legs[0].joint_names, np.concatenate(times), np.concatenate(positions))


def differences(trajectory: Trajectory) -> tuple[Array, Array]:
    """Largest |velocity| and |acceleration| (n,) by finite differences, from and to rest."""
    steps = np.diff(trajectory.times)[:, None]
    velocity = np.diff(trajectory.positions, axis=0) / steps
    rest = np.zeros((1, velocity.shape[1]))
    padded = np.vstack([rest, velocity, rest])
    acceleration = np.diff(padded, axis=0) / np.vstack([steps[:1], (steps[1:] + steps[:-1]) / 2, steps[-1:]])
    return np.abs(velocity).max(axis=0), np.abs(acceleration).max(axis=0)


def distinct(path: Array) -> Array:
    """The path (K, n) without points that repeat the one before.

    Raises:
        DeskhandError: ``invalid_input`` when it is not finite.
    """
    if path.ndim != 2 or not len(path) or not np.isfinite(path).all():
        raise DeskhandError("invalid_input", f"a path must be finite (K, n) joint positions, got shape {path.shape}.")
    keep = np.concatenate([[True], np.linalg.norm(np.diff(path, axis=0), axis=1) > 1e-6])
    points = path[keep]
    points[-1] = path[-1]
    return np.asarray(points)


def rounded(points: Array, blend: float) -> Array:
    """The polyline with its inner corners replaced by quadratic curves."""
    if blend <= 0 or len(points) < 3:
        return points
    corner = points[1:-1]
    first, second = points[:-2] - corner, points[2:] - corner
    a, b = (np.linalg.norm(side, axis=1, keepdims=True) for side in (first, second))
    # The curve's middle is a quarter of |u + v| * d away from the corner.
    sharp = np.linalg.norm(first / a + second / b, axis=1, keepdims=True) / 4
    reach = np.minimum(np.minimum(a, b) / 2, np.where(sharp > 1e-6, blend / np.maximum(sharp, 1e-6), np.inf))
    start, end = corner + first / a * reach, corner + second / b * reach
    count = np.maximum(3, np.ceil(2 * reach[:, 0] / GRID).astype(np.int64) + 1)
    of = np.repeat(np.arange(len(corner)), count)
    t = ((np.arange(len(of)) - np.repeat(np.cumsum(count) - count, count)) / (count - 1)[of])[:, None]
    curves = (1 - t) ** 2 * start[of] + 2 * t * (1 - t) * corner[of] + t**2 * end[of]
    return np.concatenate([points[:1], curves, points[-1:]])


def lengths(path: Array) -> Array:
    """Length [rad] along a path (K, n) up to each of its points (K,)."""
    return np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(path, axis=0), axis=1))])


def _grid(points: Array) -> tuple[Array, Array]:
    """Points at equal arc lengths (N, n), and the lengths (N,)."""
    keep = np.concatenate([[True], np.linalg.norm(np.diff(points, axis=0), axis=1) > 1e-9])
    points = points[keep]
    length = lengths(points)
    count = int(np.clip(np.ceil(length[-1] / GRID), 20, 20000)) + 1
    s = np.linspace(0, length[-1], count)
    return np.column_stack([np.interp(s, length, column) for column in points.T]), s


def _passes(s: Array, tangent: Array, curvature: Array, fastest: Array, acceleration: Array) -> Array:
    """Speed along the path at every grid point, 0 at both ends."""
    step = 2 * float(s[1] - s[0])
    squared = (fastest**2).tolist()
    squared[0] = squared[-1] = 0.0
    # What each joint leaves for speeding up: (limit - |curvature| * speed^2) / |tangent|; on straight parts it does not depend on the speed.
    slope = 1 / np.maximum(np.abs(tangent), 1e-9)
    limits, bends = acceleration * slope, np.abs(curvature) * slope
    straight = (bends.max(axis=1) < 1e-6).tolist()
    most = np.maximum(limits.min(axis=1), 1e-3).tolist()
    rows = [None if flat else list(zip(row, bend, strict=True)) for flat, row, bend in zip(straight, limits.tolist(), bends.tolist(), strict=True)]
    for order in (range(1, len(s)), range(len(s) - 2, -1, -1)):
        direction = -1 if order.step > 0 else 1
        for i in order:
            j = i + direction
            before, row = squared[j], rows[j]
            faster = most[j] if row is None else max(min(limit - bend * before for limit, bend in row), 1e-3)
            squared[i] = min(squared[i], before + step * faster)
    return np.asarray(np.sqrt(np.asarray(squared)))


def _times(s: Array, speed: Array) -> Array:
    mean = np.maximum((speed[1:] + speed[:-1]) / 2, 1e-6)
    return np.concatenate([[0.0], np.cumsum(np.diff(s) / mean)])


def _positions(at: Array, times: Array, s: Array, speed: Array, grid: Array) -> Array:
    """Positions (T, n) at times ``at``: constant acceleration along the path between grid points."""
    cell = np.clip(np.searchsorted(times, at, side="right") - 1, 0, len(times) - 2)
    length, duration = s[cell + 1] - s[cell], times[cell + 1] - times[cell]
    part = np.clip(at - times[cell], 0, duration)
    acceleration = (speed[cell + 1] - speed[cell]) / duration
    along = np.clip(speed[cell] * part + acceleration * part**2 / 2, 0, length)
    return np.asarray(grid[cell] + (along / length)[:, None] * (grid[cell + 1] - grid[cell]))


def _sampled(
    names: Sequence[str],
    curve: _Curve,
    velocity: Array,
    acceleration: Array,
    tcp_positions: Callable[[Array], Array] | None,
    tcp_speed: float,
) -> Trajectory:
    stretch = 1.0
    for _ in range(20):
        trajectory = _smooth(names, curve, stretch)
        v, a = differences(trajectory)
        need = max(float((v / velocity).max()), float(np.sqrt((a / acceleration).max())))
        if tcp_positions is not None and np.isfinite(tcp_speed):
            moved = np.linalg.norm(np.diff(tcp_positions(trajectory.positions), axis=0), axis=1) / np.diff(trajectory.times)
            need = max(need, float(moved.max()) / tcp_speed)
        if need <= 1.0:
            return trajectory
        stretch *= min(max(need, 1.005), 1.5)
    raise DeskhandError("limits_violated", f"no timing keeps the limits: {need:.2f} times too fast after stretching by {stretch:.1f}.")


def _smooth(names: Sequence[str], curve: _Curve, stretch: float) -> Trajectory:
    half = int(WINDOW * RATE / 2)
    count = int(np.ceil(curve.times[-1] * stretch * RATE)) + 1
    at = np.arange(-2 * half, count + 2 * half) / RATE  # standing still before and after, so that the average starts and ends at rest
    raw = _positions(at / stretch, curve.times, curve.s, curve.speed, curve.grid)
    kernel = np.ones(2 * half + 1) / (2 * half + 1)
    positions = np.column_stack([np.convolve(column, kernel, mode="valid") for column in raw.T])
    positions[0], positions[-1] = curve.grid[0], curve.grid[-1]
    return _trajectory(names, np.arange(len(positions)) / RATE, positions)


def _trajectory(names: Sequence[str], times: Array, positions: Array) -> Trajectory:
    """With velocities and accelerations by central differences, at rest at both ends."""
    velocities = np.gradient(positions, times, axis=0)
    velocities[0] = velocities[-1] = 0.0
    accelerations = np.gradient(velocities, times, axis=0)
    accelerations[0] = accelerations[-1] = 0.0
    return Trajectory(tuple(names), times, positions, velocities, accelerations)
