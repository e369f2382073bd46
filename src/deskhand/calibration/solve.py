"""Solves camera_T_board = X^-1 A E Y (or X^-1 E^-1 A Y) for X and Y, where E is by how much the hand was off: joints scatter, and so does the hand, more the
longer the arm is stretched.

The start is in closed form. Then corners are brought to where they were seen, and the hands' errors kept as small as their covariance allows (maximum
likelihood). How much corners and joints scatter is not assumed but taken from the residuals, each on its own (variance components: what is left of each,
over the share of it that is not used up by unknowns), so that the uncertainty that comes out is that of this arm and this camera.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.spatial.transform import Rotation

from deskhand.calibration.board import matrix_of
from deskhand.geometry import Array, inverse, make_transform
from deskhand.types import CameraIntrinsics

PIXEL, JOINT = 0.15, 0.002
"""First guess of how a corner [px] and a joint [rad] scatter."""
PLAY = np.diag([0.15**2] * 3 + [0.1**2] * 3)
"""Covariance of the hand by itself in whatever pose (bending, the grip), for joints that scatter by 1 rad, which is the unit of HandView.scatter."""
ROUNDS = 4  # of solving and taking the scatter from what is left
CHANGE = 4.0  # by which a scatter changes in one round, at most
STEP, FREE_STEP = 1e-6, 1e-3  # of differences: [rad], [m]; of errors in units of their standard deviation
MOST_STEPS, MOST_DAMPING = 100, 1e8
CONVERGED = 1e-8  # share of the sum of squares that a last step saves


@dataclass(frozen=True)
class Solution:
    """``camera`` X and ``target`` Y; standard deviations of X, shift [m] and turn [rad], and of a joint's reading [rad]."""

    camera: Array
    target: Array
    shift_sigma: float
    turn_sigma: float
    joint_sigma: float


def start(moves: Sequence[Array], poses: Sequence[Array]) -> Array:
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


def mean_pose(poses: Sequence[Array]) -> Array:
    """Of poses (4, 4) that differ little: mean rotation, median shift."""
    rotation = Rotation.from_matrix(np.array([pose[:3, :3] for pose in poses])).mean().as_matrix()
    return make_transform(rotation, np.median([pose[:3, 3] for pose in poses], axis=0))


class Problem:
    """Unknown: X, Y, and by how much the hand was off in each view: six numbers each, in units of their standard deviation.

    Args:
        moves: A of each view: world_T_hand (fixed camera) or hand_T_world.
        scatters: see HandView, of each view.
        points, pixels: (N, 3) [m] on the board and (N, 2) of each view.
        fixed: whether E stands behind A.
    """

    def __init__(
        self, moves: Sequence[Array], scatters: Sequence[Array], points: Sequence[Array], pixels: Sequence[Array], intrinsics: CameraIntrinsics, fixed: bool
    ) -> None:
        self._moves, self._fixed, self._matrix = np.array(moves), fixed, matrix_of(intrinsics)
        self._roots = np.linalg.cholesky(np.array(scatters) + PLAY)
        self._view = np.concatenate([np.full(len(item), place) for place, item in enumerate(points)])
        self._points, self._pixels = np.concatenate(points), np.concatenate(pixels)
        self._pixel, self._joint = PIXEL, JOINT

    def solve(self, camera: Array, target: Array) -> Solution:
        """From a start near by."""
        x = np.concatenate([_vector(camera), _vector(target), np.zeros(6 * len(self._moves))])
        for _ in range(ROUNDS):
            x = self._minimise(x)
            covariance = self._take_scatter(x)
        variance = np.diag(covariance)
        return Solution(_pose(x[:6]), _pose(x[6:12]), float(np.sqrt(variance[3:6].sum())), float(np.sqrt(variance[:3].sum())), self._joint)

    def _minimise(self, x: Array) -> Array:
        """Levenberg and Marquardt's method on the normal equations, which are small and well scaled here: ten times as fast as MINPACK's on all the rows."""
        residuals, damping = self._residuals(x), 1e-4
        for _ in range(MOST_STEPS):
            jacobian, before = self._jacobian(x), float(residuals @ residuals)
            information, slope = jacobian.T @ jacobian, jacobian.T @ residuals
            while damping < MOST_DAMPING:
                tried = x - np.linalg.solve(information + damping * np.diag(np.diag(information)), slope)
                there = self._residuals(tried)
                if there @ there <= before:
                    break
                damping *= 10
            else:
                return x
            x, residuals, damping = tried, there, max(damping / 10, 1e-12)
            if before - residuals @ residuals <= CONVERGED * before:
                return x
        return x

    def _take_scatter(self, x: Array) -> Array:
        """Set how corners and joints scatter, by the residuals at ``x``, whose errors are rescaled; the covariance of X and Y by that."""
        jacobian, residuals, corners = self._jacobian(x), self._residuals(x), 2 * len(self._view)
        information = jacobian.T @ jacobian
        used = np.einsum("ij,ji->i", jacobian, np.linalg.pinv(information, hermitian=True) @ jacobian.T)
        pixel = _scatter(residuals[:corners], used[:corners])
        joint = _scatter(residuals[corners:], used[corners:])
        self._pixel, self._joint = self._pixel * pixel, self._joint * joint
        x[12:] /= joint
        # what is known of X and Y once the errors are left to their own: Schur complement, with the new weights
        seen, free = jacobian[:corners] / pixel, slice(12, None)
        seen[:, free] *= joint
        information = seen.T @ seen
        information[free, free] += np.eye(len(x) - 12)
        rest = information[:12, :12] - information[:12, free] @ np.linalg.solve(information[free, free], information[free, :12])
        return np.asarray(np.linalg.pinv(rest, rcond=1e-14, hermitian=True))

    def _errors(self, x: Array) -> Array:
        """E of each view (V, 4, 4)."""
        errors = _poses(self._joint * np.einsum("vij,vj->vi", self._roots, x[12:].reshape(-1, 6)))
        return errors if self._fixed else np.linalg.inv(errors)

    def _residuals(self, x: Array) -> Array:
        first, second = (self._moves, self._errors(x)) if self._fixed else (self._errors(x), self._moves)
        told = inverse(_pose(x[:6])) @ first @ second @ _pose(x[6:12])
        return np.concatenate([(self._seen_at(told) - self._pixels).ravel() / self._pixel, x[12:]])

    def _seen_at(self, camera_T_board: Array) -> Array:
        poses = camera_T_board[self._view]
        points = np.einsum("nij,nj->ni", poses[:, :3, :3], self._points) + poses[:, :3, 3]
        points = points / np.maximum(points[:, 2:], 1e-3)
        return np.asarray(points[:, :2] * [self._matrix[0, 0], self._matrix[1, 1]] + self._matrix[:2, 2])

    def pixels(self, camera_T_board: Sequence[Array]) -> float:
        """Root mean square distance [px] of the corners to where boards at these poses (V, 4, 4) would show them."""
        error = self._seen_at(np.array(camera_T_board)) - self._pixels
        return float(np.sqrt(np.mean(np.sum(error**2, axis=1))))

    def _jacobian(self, x: Array) -> Array:
        """By differences; a view's own numbers matter to its own residuals alone, so those of all views are moved together."""
        views, corners = len(self._moves), 2 * len(self._view)
        base, result = self._residuals(x), np.zeros((corners + 6 * views, len(x)))
        for place in range(12):
            moved = x.copy()
            moved[place] += STEP
            result[:, place] = (self._residuals(moved) - base) / STEP
        rows = np.arange(corners)
        for place in range(6):
            moved = x.copy()
            moved[12 + place :: 6] += FREE_STEP
            result[rows, 12 + 6 * np.repeat(self._view, 2) + place] = ((self._residuals(moved) - base) / FREE_STEP)[:corners]
        result[corners:, 12:] = np.eye(6 * views)
        return result


def _scatter(residuals: Array, used: Array) -> float:
    """Factor by which residuals are larger than their weights say; ``used`` (N,): share of each that unknowns took up."""
    free = max(float(np.sum(1 - used)), 1e-3)
    return float(np.clip(np.sqrt(np.sum(residuals**2) / free), 1 / CHANGE, CHANGE))


def _vector(pose: Array) -> Array:
    return np.concatenate([Rotation.from_matrix(pose[:3, :3]).as_rotvec(), pose[:3, 3]])


def _pose(vector: Array) -> Array:
    return make_transform(Rotation.from_rotvec(vector[:3]).as_matrix(), vector[3:])


def _poses(vectors: Array) -> Array:
    poses = np.tile(np.eye(4), (len(vectors), 1, 1))
    poses[:, :3, :3] = Rotation.from_rotvec(vectors[:, :3]).as_matrix()
    poses[:, :3, 3] = vectors[:, 3:]
    return poses
