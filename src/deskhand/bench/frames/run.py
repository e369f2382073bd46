"""Runs a method over a folder of frames; numbers as plain data."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import cv2
import numpy as np

from deskhand.bench.frames.measure import TABLE, Score, compare, total
from deskhand.bench.frames.methods import Method, make_method
from deskhand.bench.frames.pictures import side_by_side
from deskhand.bench.frames.plane import Labels, PlaneSettings, Region, find_region
from deskhand.errors import DeskhandError
from deskhand.recording.frames import RecordedFrame, recorded_frames
from deskhand.types import Depth, Frame

LABELS = "seg"
Told = Callable[[str], None]


@dataclass(frozen=True)
class Options:
    """What is measured: ``folder`` of frames, see docs/perception.md; ``pictures``: where to draw what was found."""

    folder: Path
    method: str = "deskhand"
    pictures: Path | None = None
    plane: PlaneSettings = field(default_factory=PlaneSettings)


def run(options: Options, told: Told) -> dict[str, Any]:
    """All numbers; see docs/perception.md for the schema.

    Raises:
        DeskhandError: ``invalid_input`` when there are no frames, ``missing_dependency`` when the method lacks its library.
    """
    method = make_method(options.method)
    rows: list[dict[str, Any]] = []
    scores: list[Score] = []
    for recorded in recorded_frames(options.folder):
        told(f"frame {len(rows) + 1}")
        depth = np.where(recorded.depth == 0, np.nan, recorded.depth.astype(np.float32) / 1000).astype(np.float32)
        labels = _labels(options.folder, recorded, depth)
        found, region, spent, error = _found(method(), recorded, depth, options.plane)
        row: dict[str, Any] = {"frame": recorded.name, "seconds": round(spent, 4), "error": error}
        if labels is None or region is None:
            row["segments"] = len(np.unique(found[found > 0]))
        else:
            scores.append(compare(found, labels, region.inside))
            row |= asdict(scores[-1])
        rows.append(row)
        if options.pictures is not None and region is not None:
            _keep(options.pictures / f"{recorded.name or len(rows)}.png", side_by_side(recorded.color, found, labels, region.inside))
    if not rows:
        raise DeskhandError("invalid_input", f"there are no frames in {options.folder}.")
    result: dict[str, Any] = {"folder": options.folder.name, "method": options.method, "frames": len(rows)}
    result |= total(scores) if scores else {"segments": sum(row["segments"] for row in rows)}
    result["seconds"] = {"median": round(float(np.median([row["seconds"] for row in rows])), 4), "most": max(row["seconds"] for row in rows)}
    return result | {"each": rows}


def _found(method: Method, recorded: RecordedFrame, depth: Depth, plane: PlaneSettings) -> tuple[Labels, Region | None, float, str]:
    """What the method finds, the region, how long it took [s], and what went wrong. Outside of the region there is no depth, for any method."""
    nothing = np.zeros(depth.shape, np.int32)
    begun = time.perf_counter()
    region: Region | None = None
    try:
        region = find_region(depth, recorded.intrinsics, plane)
        cropped = np.where(region.inside, depth, np.nan).astype(np.float32)
        frame = Frame(recorded.color, cropped, recorded.intrinsics, region.world_T_camera, recorded.stamp)
        begun = time.perf_counter()
        return method(frame, region), region, time.perf_counter() - begun, ""
    except DeskhandError as error:
        return nothing, region, time.perf_counter() - begun, str(error)


def _labels(folder: Path, recorded: RecordedFrame, depth: Depth) -> Labels | None:
    """Numbers (H, W) of table and objects, None where nobody labelled the frame. Where no table is labelled, all that has a depth and no label is table."""
    file = next(_files(folder / LABELS, recorded.name), None) if recorded.name else None
    if file is None:
        return None
    picture = cv2.imread(str(file), cv2.IMREAD_UNCHANGED)
    if picture is None or picture.shape[:2] != depth.shape:
        raise DeskhandError("invalid_input", f"{file} must be a picture of labels as large as the depth {depth.shape[1]} x {depth.shape[0]}.")
    labels: Labels = np.asarray(picture[..., 0] if picture.ndim == 3 else picture).astype(np.int32)
    if not (labels == TABLE).any():
        labels[(labels == 0) & np.isfinite(depth)] = TABLE
    return labels


def _files(folder: Path, stem: str) -> Iterator[Path]:
    return (folder / f"{stem}{suffix}" for suffix in (".png", ".tif", ".tiff", ".bmp") if (folder / f"{stem}{suffix}").is_file())


def _keep(file: Path, picture: Any) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    if not cv2.imwrite(str(file), np.ascontiguousarray(picture[..., ::-1])):
        raise DeskhandError("invalid_input", f"{file} cannot be written.")
