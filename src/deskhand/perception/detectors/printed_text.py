"""Reads what is printed on objects, with two ONNX networks of PaddleOCR (as `deskhand detectors import` takes them out of the package rapidocr).

Lines are found by differentiable binarization (Liao et al. 2020: a map of the probability that a pixel is text, its components grown again), and read by
connectionist temporal classification (Graves et al. 2006: the likeliest sign of each column, repeated ones once). Sizes, thresholds and normalisation are
those of PaddleOCR's configuration for these networks.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import cv2
import numpy as np

from deskhand.errors import DeskhandError
from deskhand.geometry import Array
from deskhand.perception.detectors.base import Detection, Mask, Pixels
from deskhand.perception.detectors.onnx_model import Floats, OnnxModel
from deskhand.perception.naming_settings import PRINT
from deskhand.types import Frame, Image

CHARACTERS = "character"
"""Entry of the reading network's metadata: its signs, one a line; before them comes nothing, after them a space."""


@dataclass(frozen=True)
class Line:
    """What one line says: ``corners`` (4, 2) [px] clockwise from where its first letter begins, ``height`` [px] of its letters."""

    text: str
    score: float
    corners: Array
    height: float


class PrintedTextDetector:
    """What is printed on each object, its largest words, as a name that the object may have beside its kind."""

    def __init__(self, name: str, weights: str | Path, reader: str | Path, *, min_score: float = 0.8, weight: float = 0.5) -> None:
        self.name, self.weight, self._min_score = f"ocr:{name}", weight, min_score
        self.finder, self.reader = OnnxModel(weights, "network that finds text"), OnnxModel(reader, "network that reads text")
        self._signs: tuple[str, ...] = ()

    def detect(self, frame: Frame, objects: Sequence[Pixels] = ()) -> list[Detection]:
        """See Detector; without ``objects`` each line of the picture is one detection."""
        if not objects:
            return [
                Detection(words, line.score, self.name, _around(line.corners), printed=True)
                for line in self.lines(frame.color)
                if (words := phrase([line], self._min_score))
            ]
        found = []
        for pixels in objects:
            mask = np.zeros(frame.depth.shape, bool)
            mask.reshape(-1)[pixels] = True
            lines = [line for line in self.on(frame.color, mask) if line.score >= self._min_score]
            if words := phrase(lines, self._min_score):
                found.append(Detection(words, float(np.mean([line.score for line in lines])), self.name, _bounds(mask), mask, printed=True))
        return found

    def lines(self, picture: Image) -> list[Line]:
        """Every line of a picture (H, W, 3) RGB that is found, as it is read."""
        shown = np.ascontiguousarray(picture[..., ::-1])
        return [line for corners in self._found(shown) if (line := self._line(shown, corners)) is not None]

    def on(self, color: Image, mask: Mask) -> list[Line]:
        """The lines on an object, which ``mask`` (H, W) shows in a picture (H, W, 3) RGB; it is looked at closely."""
        left, top, right, bottom = (int(value) for value in _bounds(mask))
        margin = round(PRINT.margin * max(right - left, bottom - top))
        left, top = max(0, left - margin), max(0, top - margin)
        rows, columns = slice(top, bottom + margin), slice(left, right + margin)
        part = color[rows, columns]
        zoom = min(PRINT.zoom, PRINT.side / max(part.shape[:2]))
        lines = self.lines(cv2.resize(part, None, fx=zoom, fy=zoom, interpolation=cv2.INTER_CUBIC))
        own = cv2.resize(mask[rows, columns].astype(np.uint8), None, fx=zoom, fy=zoom, interpolation=cv2.INTER_NEAREST)
        return [
            replace(line, corners=line.corners / zoom + [left, top], height=line.height / zoom) for line in lines if _inside(own, line.corners) >= PRINT.inside
        ]

    def _found(self, shown: Image) -> list[Array]:
        """Corners (4, 2) [px] of the lines in a picture BGR."""
        height, width = shown.shape[:2]
        size = (max(PRINT.step, PRINT.step * round(width / PRINT.step)), max(PRINT.step, PRINT.step * round(height / PRINT.step)))
        (name, _), *_ = self.finder.inputs()
        likely = self.finder.run({name: _planes(cv2.resize(shown, size, interpolation=cv2.INTER_LINEAR))})[0][0, 0]
        text = cv2.dilate((likely > PRINT.pixel).astype(np.uint8), np.ones((2, 2), np.uint8))
        found = []
        for outline in cv2.findContours(text, cv2.RETR_LIST, cv2.CHAIN_APPROX_SIMPLE)[0]:
            centre, (long, short), angle = cv2.minAreaRect(outline)
            if min(long, short) < PRINT.thinnest:
                continue
            inside = np.zeros_like(text)
            cv2.fillPoly(inside, [np.intp(cv2.boxPoints((centre, (long, short), angle)))], 1)
            if float(likely[inside > 0].mean()) < PRINT.line:
                continue
            grown = 2 * PRINT.grown * long * short / (2 * (long + short))  # to both sides: area over perimeter, times a ratio
            corners = cv2.boxPoints((centre, (long + grown, short + grown), angle))
            found.append(_ordered(corners * [width / size[0], height / size[1]]))
        return found

    def _line(self, shown: Image, corners: Array) -> Line | None:
        """The line, read the way round in which it is surest; None of one without a sign."""
        across, down = (float(np.linalg.norm(corners[index] - corners[0])) for index in (1, 3))
        flat = np.array([[0, 0], [across, 0], [across, down], [0, down]], np.float32)
        size = (max(1, round(across)), max(1, round(down)))
        straight = cv2.warpPerspective(
            shown, cv2.getPerspectiveTransform(corners.astype(np.float32), flat), size, flags=cv2.INTER_CUBIC, borderMode=cv2.BORDER_REPLICATE
        )
        turns = (0, 2) if down < PRINT.upright * across else (1, 3)
        text, score = max((self._read(np.ascontiguousarray(np.rot90(straight, turn))) for turn in turns), key=lambda read: read[1])
        return Line(text, score, corners, min(across, down)) if text else None

    def _read(self, strip: Image) -> tuple[str, float]:
        """What stands in a strip BGR, and the mean probability of its signs."""
        signs = self._letters()
        width = max(PRINT.height // 3, round(PRINT.height * strip.shape[1] / strip.shape[0]))
        (name, _), *_ = self.reader.inputs()
        chances = self.reader.run({name: _planes(cv2.resize(strip, (width, PRINT.height)))})[0][0]
        if chances.shape[1] != len(signs):
            raise DeskhandError("config_error", f"{self.reader.file} tells {chances.shape[1]} signs apart, but names {len(signs)}.")
        best = chances.argmax(axis=1)
        new = (best != 0) & np.concatenate([[True], best[1:] != best[:-1]])
        return "".join(signs[index] for index in best[new]).strip(), float(chances.max(axis=1)[new].mean()) if new.any() else 0.0

    def _letters(self) -> tuple[str, ...]:
        if not self._signs:
            listed = self.reader.metadata().get(CHARACTERS, "")
            if not listed:
                raise DeskhandError("config_error", f"{self.reader.file} does not say which signs it reads.", hint="deskhand detectors import ocr")
            self._signs = ("", *listed.split("\n"), " ")
        return self._signs


def phrase(lines: Sequence[Line], min_score: float) -> str:
    """The words of an object's print that a person would call it by, joined by ``_``: those of the largest letters, in the order of their size; or empty."""
    words: dict[str, float] = {}
    for line in lines:
        if line.score >= min_score:
            for word in re.findall(rf"[^\W\d_]{{{PRINT.letters},}}", line.text.lower()):
                words[word] = max(words.get(word, 0.0), line.height)
    largest = max(words.values(), default=0.0)
    told = [word for word in sorted(words, key=lambda word: -words[word]) if words[word] >= PRINT.smallest * largest]
    return "_".join(told[: PRINT.words])


def _planes(picture: Image) -> Floats:
    """A picture (H, W, 3) as (1, 3, H, W), -1..1."""
    return np.ascontiguousarray((picture.astype(np.float32) / np.float32(127.5) - np.float32(1)).transpose(2, 0, 1)[None])


def _ordered(corners: Array) -> Array:
    """Corners (4, 2) as top left, top right, bottom right, bottom left."""
    by_x = corners[np.argsort(corners[:, 0], kind="stable")]
    left, right = by_x[:2][np.argsort(by_x[:2, 1])], by_x[2:][np.argsort(by_x[2:, 1])]
    return np.array([left[0], right[0], right[1], left[1]])


def _around(corners: Array) -> tuple[float, float, float, float]:
    (left, top), (right, bottom) = corners.min(axis=0), corners.max(axis=0)
    return float(left), float(top), float(right), float(bottom)


def _bounds(mask: Mask) -> tuple[float, float, float, float]:
    rows, columns = np.flatnonzero(mask.any(axis=1)), np.flatnonzero(mask.any(axis=0))
    return float(columns[0]), float(rows[0]), float(columns[-1] + 1), float(rows[-1] + 1)


def _inside(own: Mask, corners: Array) -> float:
    """Share of a line that lies on an object."""
    line = np.zeros(own.shape, np.uint8)
    cv2.fillPoly(line, [np.intp(np.round(corners))], 1)
    return float(own[line > 0].mean()) if line.any() else 0.0
