"""Fiducials: square markers (AprilTag, ArUco) in a picture, and where they are."""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np

from deskhand.errors import DeskhandError
from deskhand.geometry import Array, make_transform
from deskhand.types import CameraIntrinsics, Image

FAMILIES = {
    "apriltag_36h11": cv2.aruco.DICT_APRILTAG_36H11,
    "apriltag_25h9": cv2.aruco.DICT_APRILTAG_25H9,
    "apriltag_16h5": cv2.aruco.DICT_APRILTAG_16H5,
    "aruco_original": cv2.aruco.DICT_ARUCO_ORIGINAL,
    "aruco_4x4": cv2.aruco.DICT_4X4_250,
    "aruco_5x5": cv2.aruco.DICT_5X5_250,
    "aruco_6x6": cv2.aruco.DICT_6X6_250,
    "aruco_7x7": cv2.aruco.DICT_7X7_250,
}
"""Families of markers by name -> dictionary of OpenCV."""
SCALES = (2, 1)
"""The picture is searched enlarged, where AprilTag's refinement is truer (on 15 tags of 30 pixels 2.8 mm off at most instead of 7.7) and also finds small
markers whose thin white border lies against something dark, and as it is; what both find is where the first has it."""


@dataclass(frozen=True)
class Marker:
    """A marker in a picture.

    Attributes:
        corners: (4, 2) [px], clockwise from its upper left one.
        camera_T_marker: x to its right, y up, z out of it, origin in its middle; None where its size is not known.
        error: rms distance of its corners from where that pose puts them [px].
        ambiguity: error of the best pose over that of the second; near 1 the tilt is uncertain.
    """

    number: int
    corners: Array
    camera_T_marker: Array | None = None
    error: float = float("nan")
    ambiguity: float = float("nan")


def find_markers(image: Image, family: str, intrinsics: CameraIntrinsics | None = None, edge: float | None = None) -> list[Marker]:
    """Markers of a family in a picture (H, W, 3) of a rectified camera; with ``intrinsics`` and the ``edge`` of the black square [m] also their pose.

    Raises:
        DeskhandError: ``invalid_input`` for a family that there is not.
    """
    if family not in FAMILIES:
        raise DeskhandError("invalid_input", f"there is no family of markers {family!r}; valid: {', '.join(FAMILIES)}.")
    dictionary, grey = cv2.aruco.getPredefinedDictionary(FAMILIES[family]), cv2.cvtColor(image, cv2.COLOR_RGB2GRAY)
    squares: dict[int, list[Array]] = {}
    parameters = cv2.aruco.DetectorParameters()
    parameters.cornerRefinementMethod = cv2.aruco.CORNER_REFINE_APRILTAG  # small ones too: 0.4 % of the distance where SUBPIX is 1.4 % off
    detector = cv2.aruco.ArucoDetector(dictionary, parameters)
    for scale in SCALES:
        large = grey if scale == 1 else cv2.resize(grey, None, fx=scale, fy=scale, interpolation=cv2.INTER_CUBIC)
        corners, numbers, _ = detector.detectMarkers(large)
        for square, number in zip(corners, [] if numbers is None else numbers.ravel(), strict=True):
            known, new = squares.setdefault(int(number), []), (np.asarray(square, float).reshape(4, 2) + 0.5) / scale - 0.5
            if all(np.linalg.norm((new - other).mean(axis=0)) > np.ptp(other, axis=0).max() / 2 for other in known):
                known.append(new)
    found = []
    for number, square in ((number, square) for number, several in squares.items() for square in several):
        marker = Marker(number, square)
        found.append(marker if intrinsics is None or edge is None else _posed(marker, intrinsics, edge))
    return sorted(found, key=lambda marker: (marker.number, *marker.corners[0]))


def _posed(marker: Marker, k: CameraIntrinsics, edge: float) -> Marker:
    """The marker with its pose: infinitesimal plane-based pose estimation (Collins and Bartoli 2014)."""
    half = edge / 2
    square = np.array([[-half, half, 0], [half, half, 0], [half, -half, 0], [-half, -half, 0]])
    matrix = np.array([[k.fx, 0, k.cx], [0, k.fy, k.cy], [0, 0, 1]], float)
    count, turns, shifts, errors = cv2.solvePnPGeneric(square, marker.corners, matrix, np.zeros(5), flags=cv2.SOLVEPNP_IPPE_SQUARE)
    if not count:
        return marker
    errors = np.asarray(errors, float).ravel()
    best = int(np.argmin(errors))
    other = float(np.delete(errors, best).min()) if len(errors) > 1 else float("inf")
    rotation, _ = cv2.Rodrigues(turns[best])
    return Marker(
        marker.number,
        marker.corners,
        make_transform(rotation, np.asarray(shifts[best], float).ravel()),
        float(errors[best]),
        float(errors[best]) / max(other, 1e-9),
    )
