"""Reading what is printed on objects and elsewhere in a picture."""

from __future__ import annotations

from functools import lru_cache
from typing import Annotated

import numpy as np
from pydantic import Field
from typing_extensions import TypedDict

from deskhand.errors import DeskhandError
from deskhand.etp.tool import ToolContext, tool
from deskhand.geometry import Array
from deskhand.perception.detectors.config import GEOMETRY, DetectorConfig, detector_list, make_detector, read, users_file
from deskhand.perception.detectors.packages import OCR
from deskhand.perception.detectors.printed_text import Line, PrintedTextDetector
from deskhand.tools.looking import look
from deskhand.tools.objects import rounded
from deskhand.tools.pictures import stored_picture
from deskhand.tools.viewing import DeskView, desk_view, owners
from deskhand.types import Scene


class PrintedLine(TypedDict):
    """One line of text."""

    text: str
    score: Annotated[float, Field(description="mean probability of its signs, 0 to 1")]
    object_id: Annotated[str, Field(description="object that it stands on; empty for text elsewhere, and in a stored picture")]
    corners: Annotated[list[list[float]], Field(description="4 corners [column, row] in the picture [px], clockwise from where the first letter begins")]
    position: Annotated[list[float] | None, Field(description="middle [x, y, z] in world [m]; null where there is no depth, and in a stored picture")]


class PrintedText(TypedDict):
    """What is written, by object and from the top down."""

    lines: list[PrintedLine]
    note: Annotated[str, Field(description="what may have been missed, else empty")]


@tool(
    group="perception",
    unit="detection",
    effects="memory",
    needs=("camera",),
    timeout=120.0,
    when_to_use="To read what is written: labels and words printed on objects, signs, numbers on a display (optical character recognition). To tell alike "
    "packages apart by what they say.",
    limits="Needs the networks of the package rapidocr (else missing_dependency, which says how to get them). Print that the camera shows lower than some "
    "10 px is not read, nor print on sides that it does not see.",
    examples=[
        ("What does the label of this box say?", {"object_id": "box_1"}),
        ("Read all text in the camera's picture", {}),
        ("Read the words in a picture that was kept, also what is read with some doubt", {"picture_uri": "deskhand://a", "min_score": 0.3}),
    ],
    failures=[
        ("The picture is no longer kept", {"picture_uri": "deskhand://gone"}, "unknown_resource"),
        ("An object and a stored picture are given", {"object_id": "box_1", "picture_uri": "deskhand://a"}, "invalid_input"),
    ],
)
def read_text(
    ctx: ToolContext,
    object_id: Annotated[str, Field(max_length=64, description="read only what stands on this object; empty: everything that is seen")] = "",
    picture_uri: Annotated[str, Field(max_length=200, description="uri of a stored picture to read instead of a new one; empty: a new look")] = "",
    min_score: Annotated[float, Field(ge=0, le=1, description="share of certainty below which lines are left out, 0 to 1")] = 0.5,
) -> PrintedText:
    """Read the text that is printed on objects or stands in a picture: each line with its score, its place and the object that it stands on."""
    if object_id and picture_uri:
        raise DeskhandError("invalid_input", "read_text: give object_id or picture_uri, not both.", retry=True)
    if picture_uri:
        shown = stored_picture(ctx.resources, picture_uri)
        told = [_told(line, "", None) for line in _reader().lines(shown)]
        note = ""
    else:
        reader = _reader()
        scene, note = look(ctx)
        told = _on_desk(reader, scene, desk_view(ctx), object_id)
    told = [line for line in told if line["score"] >= min_score]
    return PrintedText(lines=sorted(told, key=lambda line: (line["object_id"], float(np.mean([row for _, row in line["corners"]])))), note=note)


def _on_desk(reader: PrintedTextDetector, scene: Scene, view: DeskView, object_id: str) -> list[PrintedLine]:
    """Lines on each object, looked at closely, and those of the whole picture that stand on none."""
    chosen = [scene.get(object_id)] if object_id else scene.objects
    numbers = owners(view, scene)
    told = []
    for item in chosen:
        own = numbers == scene.objects.index(item)
        if own.any():
            told += [_told(line, item.id, view) for line in reader.on(view.frame.color, own)]
    if not object_id:
        height, width = numbers.shape
        for line in reader.lines(view.frame.color):
            column, row = np.clip(line.corners.mean(axis=0).astype(int), 0, [width - 1, height - 1])
            if numbers[row, column] < 0:
                told.append(_told(line, "", view))
    return told


def _told(line: Line, object_id: str, view: DeskView | None) -> PrintedLine:
    return PrintedLine(
        text=line.text,
        score=round(line.score, 3),
        object_id=object_id,
        corners=[rounded(corner, 1) for corner in line.corners],
        position=_position(line.corners, view) if view is not None else None,
    )


def _position(corners: Array, view: DeskView) -> list[float] | None:
    """Median of the points that are seen in the box around a line."""
    (left, top), (right, bottom) = np.maximum(0, np.floor(corners.min(axis=0))).astype(int), np.ceil(corners.max(axis=0)).astype(int)
    points = view.points[top : bottom + 1, left : right + 1][view.valid[top : bottom + 1, left : right + 1]]
    return rounded(np.median(points, axis=0)) if len(points) else None


def _reader() -> PrintedTextDetector:
    """The reader that the user's file of detectors uses.

    Raises:
        DeskhandError: ``missing_dependency`` where it uses none, or onnxruntime is missing; ``config_error``.
    """
    use, known, path = detector_list(users_file())
    for name in use:
        entry = known.get(name) if name != GEOMETRY else None
        if isinstance(entry, dict) and entry.get("kind") == "printed_text":
            config = read(name, entry, path)
            return _made(config.model_dump_json())
    raise DeskhandError(
        "missing_dependency",
        f"read_text: {path} uses no network that reads text.",
        hint=f"Get one once, then restart the robot: pip install onnxruntime; {OCR.get}; deskhand detectors import rapidocr-*.whl",
    )


@lru_cache(maxsize=2)
def _made(config: str) -> PrintedTextDetector:
    """Kept open from call to call."""
    made = make_detector(DetectorConfig.model_validate_json(config))
    assert isinstance(made, PrintedTextDetector)
    return made
