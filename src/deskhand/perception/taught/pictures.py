"""Views of an object from picture files: with transparency, with a mask, or before a plain background."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import cv2
import numpy as np
import numpy.typing as npt

from deskhand.errors import DeskhandError
from deskhand.perception.taught.settings import PICTURES
from deskhand.world.taught import TaughtView


def view_from_files(picture: Path, mask: Path | None = None, size: Sequence[float] = ()) -> TaughtView:
    """A view from a picture. ``size``: extents [m] or nothing.

    Raises:
        DeskhandError: ``invalid_input`` when a file is no picture, sizes differ, or the object cannot be told from its background.
    """
    data = _read(picture, cv2.IMREAD_UNCHANGED)
    data = data if data.ndim == 3 else cv2.cvtColor(data, cv2.COLOR_GRAY2BGR)
    color = cv2.cvtColor(np.ascontiguousarray(data[..., :3]), cv2.COLOR_BGR2RGB).astype(np.uint8)
    if mask is not None:
        own = _read(mask, cv2.IMREAD_GRAYSCALE) > 127
        if own.shape != color.shape[:2]:
            raise DeskhandError("invalid_input", f"{mask} has {own.shape[::-1]} pixels and {picture} {color.shape[1::-1]}.")
    elif data.shape[2] == 4 and data[..., 3].min() < 128:
        own = data[..., 3] > 127
    else:
        own = before_plain(color, str(picture))
    return TaughtView(color, own, tuple(float(side) for side in size), "picture")


def before_plain(color: npt.NDArray[np.uint8], name: str = "the picture") -> npt.NDArray[np.bool_]:
    """Which pixels of a picture (H, W, 3) show the object that stands before a plain background. Raises ``invalid_input`` where that cannot be told."""
    lab = cv2.cvtColor(color.astype(np.float32) / 255, cv2.COLOR_RGB2Lab)
    rows, columns = (max(2, round(PICTURES.border * side)) for side in color.shape[:2])
    border = np.ones(color.shape[:2], bool)
    border[rows:-rows, columns:-columns] = False
    middle, spread = np.median(lab[border], axis=0), lab[border].std(axis=0)
    hint = "Give a --mask, a PNG with transparency, or a picture of the object alone before a plain background."
    if float(np.linalg.norm(spread)) > PICTURES.plain:
        raise DeskhandError("invalid_input", f"the background of {name} is not plain.", hint=hint)
    other = np.linalg.norm(lab - middle, axis=-1) > max(PICTURES.least_other, PICTURES.other * float(np.linalg.norm(spread)))
    closed = cv2.morphologyEx(other.astype(np.uint8), cv2.MORPH_CLOSE, np.ones((5, 5), np.uint8))
    count, parts, stats, _ = cv2.connectedComponentsWithStats(closed)
    if count < 2:
        raise DeskhandError("invalid_input", f"{name} shows nothing before its background.", hint=hint)
    own = parts == 1 + int(np.argmax(stats[1:, cv2.CC_STAT_AREA]))
    outline, _ = cv2.findContours(own.astype(np.uint8), cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_NONE)
    filled = cv2.drawContours(np.zeros(own.shape, np.uint8), outline, -1, 1, cv2.FILLED) > 0
    if not PICTURES.least_share < float(filled.mean()) < PICTURES.most_share:
        raise DeskhandError("invalid_input", f"the object fills {100 * float(filled.mean()):.1f} % of {name}.", hint=hint)
    return np.asarray(filled)


def _read(path: Path, way: int) -> npt.NDArray[np.uint8]:
    data = cv2.imread(str(path.expanduser()), way)
    if data is None:
        raise DeskhandError("invalid_input", f"{path} is no picture that can be read.")
    return np.asarray(data if data.dtype == np.uint8 else (data / 257).astype(np.uint8))
