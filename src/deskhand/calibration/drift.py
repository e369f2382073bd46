"""Whether the camera is still where its calibration says: by the table, which is at world z = 0, and by a board that lies on it for good."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from deskhand.calibration.board import Board
from deskhand.cameras.config import CameraMount
from deskhand.errors import DeskhandError
from deskhand.geometry import inverse, pose_from_xyz_quaternion, rotation_angle
from deskhand.perception.settings import PerceptionSettings
from deskhand.perception.table import fit_table
from deskhand.types import Frame

WIDE = PerceptionSettings(max_table_offset=0.08, max_table_tilt=0.2)
"""Limits within which the table is looked for."""


@dataclass(frozen=True)
class Drift:
    """By how much the camera seems to have moved [m] and turned [rad] since it was calibrated, and what told it (``board`` or ``table``).

    The table tells height and tilt only.
    """

    shift: float
    turn: float
    by: str

    def words(self) -> str:
        """For people."""
        seen = "the board on the desk" if self.by == "board" else "the table's plane"
        return f"the camera moved by {1000 * self.shift:.0f} mm and {np.degrees(self.turn):.1f} degrees (seen by {seen})"


def camera_drift(frame: Frame, mount: CameraMount | None = None) -> Drift:
    """What one picture tells; ``mount`` for the board that its camera file names.

    Raises:
        DeskhandError: ``no_table`` when neither the board nor a table near world z = 0 is seen.
    """
    landmark = mount.landmarks if mount is not None else {}
    if landmark:
        board = Board.parse(str(landmark["board"]))
        seen = board.pose(board.find(frame.color), frame.intrinsics)
        if seen is not None:
            is_at = pose_from_xyz_quaternion(landmark["xyz"], landmark["quaternion"]) @ inverse(seen)
            moved = inverse(frame.world_T_camera) @ is_at
            return Drift(float(np.linalg.norm(moved[:3, 3])), rotation_angle(frame.world_T_camera, is_at), "board")
    fit = fit_table(frame, WIDE)
    # fit_table turns the camera about itself and shifts it along z until the table is level at z = 0
    shift = abs(float(fit.world_T_camera[2, 3] - frame.world_T_camera[2, 3]))
    return Drift(shift, fit.tilt, "table")


def require_still(frame: Frame, mount: CameraMount | None, shift: float, turn: float) -> Drift:
    """The drift, when it is within ``shift`` [m] and ``turn`` [rad].

    Raises:
        DeskhandError: ``camera_moved`` when it is not; ``no_table``.
    """
    drift = camera_drift(frame, mount)
    if drift.shift > shift or drift.turn > turn:
        raise DeskhandError(
            "camera_moved",
            f"{drift.words()}; {1000 * shift:.0f} mm and {np.degrees(turn):.1f} degrees are allowed.",
            hint="Put it back, or run `deskhand calibrate handeye` (or `table`).",
        )
    return drift


def levelled(frames: list[Frame]) -> tuple[Frame, float, float]:
    """The last frame with the camera's pose for which the table lies at z = 0 in the mean of all, and by how much [m], [rad] single frames differ from that.

    Raises:
        DeskhandError: ``no_table``; ``calibration_failed`` when the frames do not agree.
    """
    fits = [fit_table(frame, WIDE) for frame in frames]
    heights = np.array([fit.world_T_camera[2, 3] for fit in fits])
    middle = fits[int(np.argsort(heights)[len(fits) // 2])]
    spread = float(np.abs(heights - np.median(heights)).max())
    tilts = max(rotation_angle(middle.world_T_camera, fit.world_T_camera) for fit in fits)
    if spread > 0.003 or tilts > np.radians(0.5):
        raise DeskhandError(
            "calibration_failed",
            f"the table is seen differently in each picture, by {1000 * spread:.1f} mm and {np.degrees(tilts):.2f} degrees.",
            hint="Is the camera fixed, the desk empty and not shiny, and does the camera see enough of it?",
        )
    return replace(frames[-1], world_T_camera=middle.world_T_camera), spread, tilts
