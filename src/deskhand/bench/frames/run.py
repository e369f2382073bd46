"""Runs a method over a folder of frames; numbers as plain data."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import cv2
import numpy as np

from deskhand.bench.frames.labelled import LabelledFrame, labelled_frames
from deskhand.bench.frames.measure import Score, compare, total
from deskhand.bench.frames.methods import Maker, Method, make_method
from deskhand.bench.frames.pictures import side_by_side
from deskhand.bench.frames.plane import Labels, PlaneSettings, Region, find_region
from deskhand.bench.frames.stress.draw import CHANGES, stressed
from deskhand.bench.segmenter.judged import labelled_piles
from deskhand.errors import DeskhandError
from deskhand.perception.learned.config import load_segmenter
from deskhand.types import Frame

TaskEnd = Callable[[str], None]


@dataclass(frozen=True)
class Options:
    """What is measured.

    Attributes:
        folder: of frames, see docs/perception.md; None with ``piles``.
        method: of METHODS.
        pictures: where to draw what was found.
        stress: frames with each of the changes that other cameras, lights and desks make; 0 for the frames as they are.
        seed: of those changes, or of the first pile.
        piles: so many rendered piles of random objects, in place of a folder.
        segmenter: what the methods deskhand and network hear: ``geometry``, an ONNX file, or empty for what is configured.
        trust, sure: of it, in place of what is configured; see Segmenter.
    """

    folder: Path | None
    method: str = "deskhand"
    pictures: Path | None = None
    plane: PlaneSettings = field(default_factory=PlaneSettings)
    stress: int = 0
    seed: int = 0
    piles: int = 0
    segmenter: str = ""
    trust: float | None = None
    sure: float | None = None

    @property
    def name(self) -> str:
        """Of what is measured on."""
        return "piles" if self.folder is None else self.folder.name


def run(options: Options, told: TaskEnd) -> dict[str, Any]:
    """All numbers; see docs/perception.md for the schema.

    Raises:
        DeskhandError: ``invalid_input`` when there are no frames, ``missing_dependency`` when the method lacks its library.
    """
    segmenter = load_segmenter(options.segmenter, options.trust, options.sure)
    method = make_method(options.method, segmenter)
    head: dict[str, Any] = {"folder": options.name, "method": options.method}
    if segmenter is not None:
        head |= {"segmenter": segmenter.file.name, "trust": segmenter.trust, "sure": segmenter.sure}
    if not options.stress:
        return head | _measured(_frames(options), method, options, told)
    frames = [frame for frame in _frames(options) if frame.labels is not None]
    if not frames:
        raise DeskhandError("invalid_input", f"there are no labelled frames in {options.name}.", hint="Changed frames are judged by their labels.")
    changes = {}
    for change in CHANGES:
        told(change)
        changes[change] = _measured(stressed(frames, change, options.stress, options.seed), method, options, told)
    return head | {"seed": options.seed, "changes": changes}


def _frames(options: Options) -> Iterator[LabelledFrame]:
    return labelled_piles(options.seed, options.piles) if options.folder is None else labelled_frames(options.folder)


def _measured(frames: Iterable[LabelledFrame], method: Maker, options: Options, told: TaskEnd) -> dict[str, Any]:
    rows: list[dict[str, Any]] = []
    scores: list[Score] = []
    for frame in frames:
        told(f"frame {len(rows) + 1}")
        found, region, spent, error = _found(method(), frame, options.plane)
        row: dict[str, Any] = {"frame": frame.name, "seconds": round(spent, 4), "error": error}
        if frame.labels is None or region is None:
            row["segments"] = len(np.unique(found[found > 0]))
        else:
            scores.append(compare(found, frame.labels, region.inside))
            row |= asdict(scores[-1])
        rows.append(row)
        if options.pictures is not None and region is not None:
            _keep(options.pictures / f"{frame.name or len(rows)}.png", side_by_side(frame.color, found, frame.labels, region.inside))
    if not rows:
        raise DeskhandError("invalid_input", f"there are no frames in {options.name}.")
    result: dict[str, Any] = {"frames": len(rows)}
    result |= total(scores) if scores else {"segments": sum(row["segments"] for row in rows)}
    result["seconds"] = {"median": round(float(np.median([row["seconds"] for row in rows])), 4), "most": max(row["seconds"] for row in rows)}
    return result | {"each": rows}


def _found(method: Method, frame: LabelledFrame, plane: PlaneSettings) -> tuple[Labels, Region | None, float, str]:
    """What the method finds, the region, how long it took [s], and what went wrong. Outside of the region there is no depth, for any method."""
    nothing = np.zeros(frame.depth.shape, np.int32)
    begun = time.perf_counter()
    region: Region | None = None
    try:
        region = find_region(frame.depth, frame.intrinsics, plane)
        cropped = np.where(region.inside, frame.depth, np.nan).astype(np.float32)
        given = Frame(frame.color, cropped, frame.intrinsics, region.world_T_camera, frame.stamp)
        begun = time.perf_counter()
        return method(given, region), region, time.perf_counter() - begun, ""
    except DeskhandError as error:
        return nothing, region, time.perf_counter() - begun, str(error)


def _keep(file: Path, picture: Any) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    if not cv2.imwrite(str(file), np.ascontiguousarray(picture[..., ::-1])):
        raise DeskhandError("invalid_input", f"{file} cannot be written.")
