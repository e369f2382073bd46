"""The ChArUco board: a chess board with markers, of which every corner tells its name, so that a part of it is enough."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import cv2
import numpy as np
import numpy.typing as npt

from deskhand.errors import DeskhandError
from deskhand.geometry import Array, make_transform
from deskhand.types import CameraIntrinsics, Image

DICTIONARY = "DICT_4X4_50"
FEWEST = 6
"""Corners without which a picture of the board says too little."""
_TEXT = re.compile(r"(\d+)x(\d+)@(\d+(?:\.\d+)?)/(\d+(?:\.\d+)?)mm")


@dataclass(frozen=True)
class Corners:
    """What was seen of a board: ``ids`` (N,) of its inner corners, ``pixels`` (N, 2)."""

    ids: npt.NDArray[np.int64]
    pixels: Array

    def __len__(self) -> int:
        return len(self.ids)


@dataclass(frozen=True)
class Board:
    """``columns`` x ``rows`` squares with edges of ``square`` [m], white ones with markers of ``marker`` [m].

    The board's frame has its origin in the corner of the first square, x along the columns, y along the rows, z into the paper. The number of rows must be
    odd: for even ones OpenCV before and after 4.6 disagree on the pattern.
    """

    columns: int = 5
    rows: int = 7
    square: float = 0.035
    marker: float = 0.026

    def __post_init__(self) -> None:
        if not (self.columns >= 3 and self.rows >= 3 and self.rows % 2 == 1 and 0 < self.marker < self.square and self.columns * self.rows // 2 <= 50):
            raise DeskhandError(
                "invalid_input",
                f"a board of {self.columns}x{self.rows} squares of {self.square * 1000:g} mm with markers of {self.marker * 1000:g} mm cannot be.",
                hint="At least 3x3 and at most 100 squares, an odd number of rows, markers smaller than squares.",
            )

    @property
    def name(self) -> str:
        """Such as ``5x7@35/26mm``: columns x rows @ square / marker."""
        return f"{self.columns}x{self.rows}@{self.square * 1000:g}/{self.marker * 1000:g}mm"

    @classmethod
    def parse(cls, text: str) -> Board:
        """From its name.

        Raises:
            DeskhandError: ``invalid_input`` saying what a name looks like.
        """
        match = _TEXT.fullmatch(text.strip())
        if match is None:
            raise DeskhandError("invalid_input", f"{text!r} is not a board; one is written like 5x7@35/26mm: columns x rows @ square / marker.")
        return cls(int(match[1]), int(match[2]), float(match[3]) / 1000, float(match[4]) / 1000)

    @property
    def size(self) -> tuple[float, float]:
        """Width and height [m]."""
        return self.columns * self.square, self.rows * self.square

    @cached_property
    def points(self) -> Array:
        """Inner corners (N, 3) [m] in the board's frame, by id."""
        y, x = np.mgrid[1 : self.rows, 1 : self.columns]
        return np.column_stack([x.ravel() * self.square, y.ravel() * self.square, np.zeros(x.size)])

    @cached_property
    def outline(self) -> Array:
        """The four outer corners (4, 3) [m]."""
        w, h = self.size
        return np.array([[0, 0, 0], [w, 0, 0], [w, h, 0], [0, h, 0]], float)

    def marker_bits(self, number: int) -> npt.NDArray[np.bool_]:
        """(6, 6) cells of a marker with its border, True for black."""
        dictionary = _aruco().getPredefinedDictionary(getattr(_aruco(), DICTIONARY))
        draw = getattr(_aruco(), "generateImageMarker", None) or _aruco().drawMarker
        return np.asarray(draw(dictionary, number, 6) < 128)

    def black(self) -> list[tuple[float, float, float, float]]:
        """Everything black on it as rectangles (x, y, width, height) [m], y down."""
        rectangles, number, gap = [], 0, (self.square - self.marker) / 2
        cell = self.marker / 6
        for row in range(self.rows):
            for column in range(self.columns):
                x, y = column * self.square, row * self.square
                if (row + column) % 2 == 0:
                    rectangles.append((x, y, self.square, self.square))
                    continue
                rows, columns = np.nonzero(self.marker_bits(number))
                rectangles += [(x + gap + c * cell, y + gap + r * cell, cell, cell) for r, c in zip(rows.tolist(), columns.tolist(), strict=True)]
                number += 1
        return rectangles

    def picture(self, pixels_per_square: int = 60) -> npt.NDArray[np.uint8]:
        """(H, W) grey picture of the board, without a margin."""
        scale = pixels_per_square / self.square
        canvas = np.full((self.rows * pixels_per_square, self.columns * pixels_per_square), 255, np.uint8)
        for rectangle in self.black():
            x, y, w, h = (round(value * scale) for value in (rectangle[0], rectangle[1], rectangle[0] + rectangle[2], rectangle[1] + rectangle[3]))
            canvas[y:h, x:w] = 0
        return canvas

    def find(self, image: Image) -> Corners:
        """Corners in an (H, W, 3) RGB or (H, W) grey picture, to a fraction of a pixel; none when the board is not in it.

        Raises:
            DeskhandError: ``missing_dependency`` when this OpenCV has no aruco.
        """
        grey = cv2.cvtColor(image, cv2.COLOR_RGB2GRAY) if image.ndim == 3 else image
        pixels, ids = _detect(self, grey)
        if ids is None or len(ids) == 0:
            return Corners(np.zeros(0, np.int64), np.zeros((0, 2)))
        return Corners(np.asarray(ids).reshape(-1).astype(np.int64), np.asarray(pixels, float).reshape(-1, 2))

    def pose(self, corners: Corners, intrinsics: CameraIntrinsics) -> Array | None:
        """camera_T_board of a rectified picture; None when too little is seen of it, or only a line."""
        if len(corners) < FEWEST or np.linalg.matrix_rank(self.points[corners.ids][:, :2] - self.points[corners.ids][:, :2].mean(axis=0), tol=1e-6) < 2:
            return None
        done, turn, shift = cv2.solvePnP(self.points[corners.ids], corners.pixels, matrix_of(intrinsics), None, flags=cv2.SOLVEPNP_IPPE)
        if not done:
            return None
        turn, shift = cv2.solvePnPRefineLM(self.points[corners.ids], corners.pixels, matrix_of(intrinsics), None, turn, shift)
        return make_transform(cv2.Rodrigues(turn)[0], shift.reshape(3))


def matrix_of(k: CameraIntrinsics) -> Array:
    """(3, 3) camera matrix."""
    return np.array([[k.fx, 0, k.cx], [0, k.fy, k.cy], [0, 0, 1]])


def _aruco() -> Any:
    if not hasattr(cv2, "aruco"):
        raise DeskhandError(
            "missing_dependency",
            f"OpenCV {cv2.__version__} has no aruco.",
            hint="Use python3-opencv of Debian or Ubuntu, or opencv-python-headless 4.7 or newer.",
        )
    return cv2.aruco


def _detect(board: Board, grey: npt.NDArray[np.uint8]) -> tuple[Any, Any]:
    aruco = _aruco()
    dictionary = aruco.getPredefinedDictionary(getattr(aruco, DICTIONARY))
    if hasattr(aruco, "CharucoDetector"):  # 4.7 and newer
        made = aruco.CharucoBoard((board.columns, board.rows), board.square, board.marker, dictionary)
        pixels, ids, _, _ = aruco.CharucoDetector(made).detectBoard(grey)
        return pixels, ids
    made = aruco.CharucoBoard_create(board.columns, board.rows, board.square, board.marker, dictionary)
    found, numbers, _ = aruco.detectMarkers(grey, dictionary)
    if numbers is None or len(numbers) == 0:
        return None, None
    _, pixels, ids = aruco.interpolateCornersCharuco(found, numbers, grey, made)
    if ids is None or len(ids) == 0:
        return None, None
    edge = float(np.median([np.linalg.norm(quad.reshape(4, 2)[1] - quad.reshape(4, 2)[0]) for quad in found]))
    window = int(np.clip(edge / 4, 2, 6))
    stop = (cv2.TERM_CRITERIA_EPS | cv2.TERM_CRITERIA_COUNT, 40, 0.002)
    return cv2.cornerSubPix(grey, np.asarray(pixels, np.float32), (window, window), (-1, -1), stop), ids
