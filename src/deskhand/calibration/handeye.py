"""Where the camera is, from pictures of a board: on the desk while the arm carries the board, or on the arm while the board lies still.

One equation for both: camera_T_board = X^-1 A Y. Camera fixed: X is world_T_camera, A world_T_hand, Y hand_T_board. Camera on the wrist: X is
hand_T_camera, A hand_T_world, Y world_T_board.

What is minimised is the distance of all corners in all pictures to where they should be, while the hand in each picture may be off by what its joints
may be off; see solve.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.spatial.transform import Rotation

from deskhand.calibration.board import Board, Corners
from deskhand.calibration.solve import Problem, mean_pose, start
from deskhand.errors import DeskhandError
from deskhand.geometry import Array, inverse, rotation_angle
from deskhand.types import CameraIntrinsics

Mounting = Literal["fixed", "wrist"]
FEWEST_VIEWS = 8
OUTLIER = 5.0
"""Pictures whose residual is so many times the median are left out, at most a quarter of them."""


@dataclass(frozen=True)
class HandView:
    """One picture.

    Attributes:
        world_T_hand: as the joints tell it.
        corners: that were seen.
        scatter: (6, 6) covariance of the hand's pose (rotation vector, shift; in its own frame) for joints that scatter by 1 rad; see poses.py.
    """

    world_T_hand: Array
    corners: Corners
    scatter: Array


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
        joint_sigma: standard deviation of what a joint tells [rad], as the residuals tell it.
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
    joint_sigma: float

    def words(self) -> str:
        """One line for people."""
        return (
            f"{len(self.used)} pictures: residual {1000 * _rms(self.shifts):.2f} mm, {np.degrees(_rms(self.turns)):.3f} deg, {self.pixels:.2f} px; "
            f"joints {np.degrees(self.joint_sigma):.3f} deg; camera known to {1000 * self.shift_sigma:.2f} mm, {np.degrees(self.turn_sigma):.3f} deg"
        )

    def notes(self) -> dict[str, float]:
        """How well the camera's place is known, as camera files have it."""
        return {
            "pictures": len(self.used),
            "residual_mm": round(1000 * _rms(self.shifts), 2),
            "residual_deg": round(float(np.degrees(_rms(self.turns))), 3),
            "uncertainty_mm": round(1000 * self.shift_sigma, 2),
            "uncertainty_deg": round(float(np.degrees(self.turn_sigma)), 3),
        }


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


Seen = Sequence[tuple[int, HandView, Array]]


def _solve(seen: Seen, board: Board, intrinsics: CameraIntrinsics, mounting: Mounting) -> HandEye:
    """``seen``: index, view and camera_T_board of each."""
    moves = [view.world_T_hand if mounting == "fixed" else inverse(view.world_T_hand) for _, view, _ in seen]
    poses = [pose for _, _, pose in seen]
    camera = start(moves, poses)
    target = mean_pose([inverse(move) @ camera @ pose for move, pose in zip(moves, poses, strict=True)])
    corners, scatters = [view.corners for _, view, _ in seen], [view.scatter for _, view, _ in seen]
    problem = Problem(moves, scatters, [board.points[item.ids] for item in corners], [item.pixels for item in corners], intrinsics, mounting == "fixed")
    solution = problem.solve(camera, target)
    told = [inverse(solution.camera) @ move @ solution.target for move in moves]
    shifts = np.array([np.linalg.norm(a[:3, 3] - b[:3, 3]) for a, b in zip(told, poses, strict=True)])
    turns = np.array([rotation_angle(a, b) for a, b in zip(told, poses, strict=True)])
    used, pixels = tuple(index for index, _, _ in seen), problem.pixels(told)
    sigmas = (solution.shift_sigma, solution.turn_sigma, solution.joint_sigma)
    return HandEye(mounting, solution.camera, solution.target, used, shifts, turns, pixels, *sigmas)
