"""Where the camera is, from pictures of a board: on the desk while the arm carries the board, or on the arm while the board lies still.

One equation for both: camera_T_board = X^-1 A Y. Camera fixed: X is world_T_camera, A world_T_hand, Y hand_T_board. Camera on the wrist: X is
hand_T_camera, A hand_T_world, Y world_T_board.

A closed form gives the start; then what is minimised is the distance of all corners in all pictures to where they should be, and the pose of the hand
in each picture may be off by what an arm with servos is off (:data:`HAND_SHIFT`, :data:`HAND_TURN`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.optimize import least_squares
from scipy.spatial.transform import Rotation

from deskhand.calibration.board import Board, Corners, matrix_of
from deskhand.errors import DeskhandError
from deskhand.geometry import Array, inverse, make_transform, rotation_angle
from deskhand.types import CameraIntrinsics

Mounting = Literal["fixed", "wrist"]
HAND_SHIFT, HAND_TURN = 0.001, 0.002
"""Standard deviation of the hand's pose as the joints tell it [m], [rad]: play and resolution of hobby servos."""
PIXEL = 0.25
"""Standard deviation of a corner in a picture [px]."""
FEWEST_VIEWS = 8
STEP = 1e-6  # [rad], [m] of differences
MOST_STEPS = 100
OUTLIER = 5.0
"""Pictures whose residual is so many times the median are left out, at most a quarter of them."""


@dataclass(frozen=True)
class HandView:
    """One picture: ``world_T_hand`` as the joints tell it, and the corners seen."""

    world_T_hand: Array
    corners: Corners


@dataclass(frozen=True)
class HandEye:
    """The result.

    Attributes:
        camera: world_T_camera (fixed) or hand_T_camera (wrist).
        board: hand_T_board (fixed) or world_T_board (wrist).
        used: which of the views went in.
        shifts, turns: (V,) [m], [rad] by which the board's pose in each used picture, on its own, differs from the one that the result and the joints tell.
        pixels: root mean square of the corners' distance to where they should be [px], by the result and the joints alone.
        shift_sigma, turn_sigma: standard deviation of the camera's pose [m], [rad], as the residuals tell it.
    """

    mounting: Mounting
    camera: Array
    board: Array
    used: tuple[int, ...]
    shifts: Array
    turns: Array
    pixels: float
    shift_sigma: float
    turn_sigma: float

    def words(self) -> str:
        """One line for people."""
        return (
            f"{len(self.used)} pictures: residual {1000 * _rms(self.shifts):.2f} mm, {np.degrees(_rms(self.turns)):.3f} deg, {self.pixels:.2f} px; "
            f"camera known to {1000 * self.shift_sigma:.2f} mm, {np.degrees(self.turn_sigma):.3f} deg"
        )


@dataclass(frozen=True)
class Limits:
    """What is good enough.

    Attributes:
        views: pictures, at least.
        spread: [rad] by which the hand must have turned about two axes at least.
        shift, turn: root mean square residual [m], [rad], at most.
        shift_sigma, turn_sigma: uncertainty of the camera's pose [m], [rad], at most.
    """

    views: int = FEWEST_VIEWS
    spread: float = 0.26
    shift: float = 0.006
    turn: float = 0.020
    shift_sigma: float = 0.0013
    turn_sigma: float = 0.0030


def calibrate(views: Sequence[HandView], board: Board, intrinsics: CameraIntrinsics, mounting: Mounting, limits: Limits | None = None) -> HandEye:
    """Solve and see whether it is good enough.

    Raises:
        DeskhandError: ``calibration_failed`` saying what is wrong with the pictures and what to do.
    """
    limits = limits or Limits()
    seen = [(index, view, pose) for index, view in enumerate(views) if (pose := board.pose(view.corners, intrinsics)) is not None]
    if len(seen) < limits.views:
        raise _refused(f"the board was found in {len(seen)} of {len(views)} pictures, {limits.views} are needed", "Take more pictures with the board in view.")
    spread = _spread([view.world_T_hand for _, view, _ in seen])
    if spread < limits.spread:
        raise _refused(
            f"the hand turned by {np.degrees(spread):.0f} degrees about a second axis, {np.degrees(limits.spread):.0f} are needed",
            "The poses are too alike: tilt the hand about different axes between pictures.",
        )
    result = _solve(seen, board, intrinsics, mounting)
    worst = np.flatnonzero(result.shifts > OUTLIER * max(float(np.median(result.shifts)), 0.0005))
    if 0 < len(worst) <= len(seen) // 4 and len(seen) - len(worst) >= limits.views:
        result = _solve([item for place, item in enumerate(seen) if place not in worst], board, intrinsics, mounting)
    _judge(result, limits)
    return result


def _judge(result: HandEye, limits: Limits) -> None:
    shift, turn = _rms(result.shifts), _rms(result.turns)
    if shift > limits.shift or turn > limits.turn:
        raise _refused(
            f"the pictures contradict the joints by {1000 * shift:.1f} mm and {np.degrees(turn):.2f} degrees "
            f"({1000 * limits.shift:.0f} mm and {np.degrees(limits.turn):.1f} degrees are allowed)",
            "Is the board fixed and flat, its size on paper right, the arm calibrated and at rest in every picture?",
        )
    if result.shift_sigma > limits.shift_sigma or result.turn_sigma > limits.turn_sigma:
        raise _refused(
            f"the camera would be known to {1000 * result.shift_sigma:.1f} mm and {np.degrees(result.turn_sigma):.2f} degrees only "
            f"({1000 * limits.shift_sigma:.1f} mm and {np.degrees(limits.turn_sigma):.2f} degrees are needed)",
            "Take more pictures, from poses that differ more, with the board nearer to the camera.",
        )


def _refused(what: str, advice: str) -> DeskhandError:
    return DeskhandError("calibration_failed", f"{what}.", hint=advice)


def _rms(values: Array) -> float:
    return float(np.sqrt(np.mean(np.square(values))))


def _spread(poses: Sequence[Array]) -> float:
    """Angle [rad] of the turns between poses about the second of their principal axes, peak."""
    turns = np.array([Rotation.from_matrix(poses[0][:3, :3].T @ pose[:3, :3]).as_rotvec() for pose in poses])
    turns = turns - turns.mean(axis=0)
    _, _, axes = np.linalg.svd(turns, full_matrices=False)
    along = turns @ axes.T
    return float(np.ptp(along[:, 1])) if along.shape[1] > 1 else 0.0


# ---------------------------------------------------------------- the solution


Seen = Sequence[tuple[int, HandView, Array]]


def _solve(seen: Seen, board: Board, intrinsics: CameraIntrinsics, mounting: Mounting) -> HandEye:
    """``seen``: index, view and camera_T_board of each."""
    moves = [view.world_T_hand if mounting == "fixed" else inverse(view.world_T_hand) for _, view, _ in seen]
    poses = [pose for _, _, pose in seen]
    camera = _start(moves, poses)
    target = _mean([inverse(move) @ camera @ pose for move, pose in zip(moves, poses, strict=True)])
    problem = _Problem(moves, [view.corners for _, view, _ in seen], board, intrinsics, mounting)
    best = least_squares(problem.residuals, problem.pack(camera, target), problem.jacobian, method="lm", x_scale=problem.scale(), max_nfev=MOST_STEPS)
    camera, target = problem.unpack(best.x)[:2]
    told = [inverse(camera) @ move @ target for move in moves]
    shifts = np.array([np.linalg.norm(a[:3, 3] - b[:3, 3]) for a, b in zip(told, poses, strict=True)])
    turns = np.array([rotation_angle(a, b) for a, b in zip(told, poses, strict=True)])
    shift_sigma, turn_sigma = problem.uncertainty(best.x)
    return HandEye(mounting, camera, target, tuple(index for index, _, _ in seen), shifts, turns, problem.pixels(told), shift_sigma, turn_sigma)


def _start(moves: Sequence[Array], poses: Sequence[Array]) -> Array:
    """X in closed form, from motions between views: R_a = X R_b X^-1, so their axes turn into each other (Park and Martin 1994).

    Own code, since OpenCV 5 has no calibrateHandEye any more.
    """
    pairs = [(i, j) for i in range(len(moves)) for j in range(i)]
    hand = [moves[i] @ inverse(moves[j]) for i, j in pairs]  # in the frame in which the camera's pose is wanted
    eye = [poses[i] @ inverse(poses[j]) for i, j in pairs]
    before, after = (Rotation.from_matrix(np.array([motion[:3, :3] for motion in motions])).as_rotvec() for motions in (hand, eye))
    small = np.linalg.norm(before, axis=1) < 3.0  # near half a turn the axis may point either way
    rotation = Rotation.align_vectors(before[small], after[small])[0].as_matrix()
    left = np.concatenate([motion[:3, :3] - np.eye(3) for motion in hand])
    right = np.concatenate([rotation @ b[:3, 3] - a[:3, 3] for a, b in zip(hand, eye, strict=True)])
    return make_transform(rotation, np.linalg.lstsq(left, right, rcond=None)[0])


def _mean(poses: Sequence[Array]) -> Array:
    rotation = Rotation.from_matrix(np.array([pose[:3, :3] for pose in poses])).mean().as_matrix()
    return make_transform(rotation, np.median([pose[:3, 3] for pose in poses], axis=0))


class _Problem:
    """Unknown: X, Y, and by how much the hand was off in each view, six numbers each (rotation vector, shift)."""

    def __init__(self, moves: Sequence[Array], corners: Sequence[Corners], board: Board, intrinsics: CameraIntrinsics, mounting: Mounting) -> None:
        self._moves, self._fixed = np.array(moves), mounting == "fixed"
        self._matrix = matrix_of(intrinsics)
        self._view = np.concatenate([np.full(len(item), place) for place, item in enumerate(corners)])
        self._points = np.concatenate([board.points[item.ids] for item in corners])
        self._pixels = np.concatenate([item.pixels for item in corners])

    def pack(self, camera: Array, target: Array) -> Array:
        return np.concatenate([_vector(camera), _vector(target), np.zeros(6 * len(self._moves))])

    def unpack(self, x: Array) -> tuple[Array, Array, Array]:
        """X, Y and the errors of the hand (V, 4, 4)."""
        return _pose(x[:6]), _pose(x[6:12]), _poses(x[12:].reshape(-1, 6))

    def residuals(self, x: Array) -> Array:
        camera, target, errors = self.unpack(x)
        told = self._told(camera, target, errors)
        return np.concatenate([(self._seen_at(told) - self._pixels).ravel() / PIXEL, (x[12:].reshape(-1, 6) / _HAND).ravel()])

    def scale(self) -> Array:
        """Of the unknowns: what is a small step."""
        return np.concatenate([np.full(12, 0.01), np.tile(_HAND, len(self._moves))])

    def _told(self, camera: Array, target: Array, errors: Array) -> Array:
        """camera_T_board (V, 4, 4); the errors are in the frame of the hand, which is on one side of A or the other."""
        first, second = (self._moves, errors) if self._fixed else (errors, self._moves)
        return np.asarray(inverse(camera) @ first @ second @ target)

    def _seen_at(self, camera_T_board: Array) -> Array:
        poses = camera_T_board[self._view]
        points = np.einsum("nij,nj->ni", poses[:, :3, :3], self._points) + poses[:, :3, 3]
        points = points / np.maximum(points[:, 2:], 1e-3)
        return np.asarray(points[:, :2] * [self._matrix[0, 0], self._matrix[1, 1]] + self._matrix[:2, 2])

    def pixels(self, camera_T_board: Sequence[Array]) -> float:
        error = self._seen_at(np.array(camera_T_board)) - self._pixels
        return float(np.sqrt(np.mean(np.sum(error**2, axis=1))))

    def jacobian(self, x: Array) -> Array:
        """By differences; a view's own numbers matter to its own residuals alone, so those of all views are moved together."""
        views, corners = len(self._moves), len(self._view)
        base, result = self.residuals(x), np.zeros((2 * corners + 6 * views, len(x)))
        for place in range(12):
            moved = x.copy()
            moved[place] += STEP
            result[:, place] = (self.residuals(moved) - base) / STEP
        rows = np.arange(2 * corners)
        for place in range(6):
            moved = x.copy()
            moved[12 + place :: 6] += STEP
            result[rows, 12 + 6 * np.repeat(self._view, 2) + place] = (self.residuals(moved) - base)[: 2 * corners] / STEP
        result[2 * corners :, 12:] = np.diag(np.tile(1 / _HAND, views))
        return result

    def uncertainty(self, x: Array) -> tuple[float, float]:
        """Standard deviations of X: shift [m], turn [rad]; scaled by how well the model fits."""
        jacobian = self.jacobian(x)
        information = jacobian.T @ jacobian
        try:
            covariance = np.linalg.inv(information)
        except np.linalg.LinAlgError:
            return float("inf"), float("inf")
        views = x[12:].reshape(-1, 6) / _HAND
        scale = max(0.25, float(np.mean(views**2)))  # no arm is perfect, however well a few pictures agree
        variance = np.diag(covariance) * scale
        return float(np.sqrt(variance[3:6].sum())), float(np.sqrt(variance[:3].sum()))


_HAND = np.array([HAND_TURN] * 3 + [HAND_SHIFT] * 3)


def _vector(pose: Array) -> Array:
    return np.concatenate([Rotation.from_matrix(pose[:3, :3]).as_rotvec(), pose[:3, 3]])


def _pose(vector: Array) -> Array:
    return make_transform(Rotation.from_rotvec(vector[:3]).as_matrix(), vector[3:])


def _poses(vectors: Array) -> Array:
    poses = np.tile(np.eye(4), (len(vectors), 1, 1))
    poses[:, :3, :3] = Rotation.from_rotvec(vectors[:, :3]).as_matrix()
    poses[:, :3, 3] = vectors[:, 3:]
    return poses
