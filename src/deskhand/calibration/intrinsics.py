"""The camera's own numbers (intrinsics), from pictures of a board that somebody moves before it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np

from deskhand.calibration.board import FEWEST, Board, Corners, matrix_of
from deskhand.errors import DeskhandError
from deskhand.types import CameraIntrinsics

FEWEST_PICTURES = 12
LARGEST_ERROR = 0.6  # [px] root mean square
LARGEST_DOUBT = 0.005
"""Standard deviation of the focal length, as a share of it."""
PLAUSIBLE = (0.4, 4.0)
"""Focal length as a share of the picture's width; what is flat and never tilted looks the same at any."""
CELLS = 6
"""The picture is cut into CELLS x CELLS; corners must have been seen in most of them."""
COVERED = 0.6
NEW_VIEW = 0.06
"""A picture counts as another view when the middle of its board, its size or its tilt changed by this share of the picture."""


@dataclass(frozen=True)
class Lens:
    """``intrinsics`` with ``distortion`` (k1, k2, p1, p2, k3) of the picture as it is; ``error`` [px] root mean square; ``covered`` share of the picture."""

    intrinsics: CameraIntrinsics
    distortion: tuple[float, ...]
    error: float
    covered: float

    def difference(self, told: CameraIntrinsics) -> float:
        """How far a corner of the picture is from where the ``told`` pinhole puts it [px]."""
        k = self.intrinsics
        corners = np.array([[0.0, 0.0], [k.width, 0], [k.width, k.height], [0, k.height]])
        rays = np.column_stack([(corners - [told.cx, told.cy]) / [told.fx, told.fy], np.ones(4)])
        seen, _ = cv2.projectPoints(rays, np.zeros(3), np.zeros(3), matrix_of(k), np.array(self.distortion))
        return float(np.linalg.norm(seen.reshape(-1, 2) - corners, axis=1).max())


def is_new_view(corners: Corners, others: Sequence[Corners], width: int) -> bool:
    """Whether a picture adds something: enough corners, not where they were in a picture before."""
    if len(corners) < 2 * FEWEST:
        return False
    return all(_apart(corners, other) > NEW_VIEW * width for other in others)


def _apart(a: Corners, b: Corners) -> float:
    shared, first, second = np.intersect1d(a.ids, b.ids, return_indices=True)
    if len(shared) < FEWEST:
        return float("inf")
    return float(np.median(np.linalg.norm(a.pixels[first] - b.pixels[second], axis=1)))


def covered(views: Sequence[Corners], width: int, height: int) -> float:
    """Share of the picture's cells in which corners were seen."""
    cells = {(int(u * CELLS / width), int(v * CELLS / height)) for view in views for u, v in view.pixels}
    return len(cells) / CELLS**2


def calibrate_lens(views: Sequence[Corners], board: Board, width: int, height: int) -> Lens:
    """Solve and see whether it is good enough.

    Raises:
        DeskhandError: ``calibration_failed`` saying what is missing and what to do.
    """
    good = [view for view in views if len(view) >= FEWEST]
    share = covered(good, width, height)
    if len(good) < FEWEST_PICTURES:
        raise DeskhandError("calibration_failed", f"{len(good)} pictures show the board, {FEWEST_PICTURES} are needed.", hint="Take more.")
    if share < COVERED:
        raise DeskhandError(
            "calibration_failed", f"the board was in {100 * share:.0f} % of the picture, {100 * COVERED:.0f} % are needed.", hint="Bring it into the corners."
        )
    objects = [board.points[view.ids].astype(np.float32) for view in good]
    pixels = [view.pixels.astype(np.float32) for view in good]
    error, matrix, distortion, _, _, doubt, _, _ = cv2.calibrateCameraExtended(objects, pixels, (width, height), None, None)
    if error > LARGEST_ERROR:
        raise DeskhandError(
            "calibration_failed", f"corners are {error:.2f} px from where they should be, {LARGEST_ERROR} px are allowed.", hint="Is the board flat and sharp?"
        )
    unsure = float(np.ravel(doubt)[0] / matrix[0, 0])
    if unsure > LARGEST_DOUBT or not PLAUSIBLE[0] < matrix[0, 0] / width < PLAUSIBLE[1]:
        raise DeskhandError(
            "calibration_failed",
            f"these pictures do not tell the focal length ({matrix[0, 0]:.0f} px, to {100 * unsure:.1f} %): the board always faced the camera the same way.",
            hint="Tilt it, about both of its edges.",
        )
    intrinsics = CameraIntrinsics(width, height, float(matrix[0, 0]), float(matrix[1, 1]), float(matrix[0, 2]), float(matrix[1, 2]))
    return Lens(intrinsics, tuple(float(value) for value in np.ravel(distortion)[:5]), float(error), share)
