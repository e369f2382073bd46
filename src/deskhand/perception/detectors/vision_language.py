"""A vision-language model as a detector: it is shown the picture and asked for boxes with labels."""

from __future__ import annotations

import json
import logging
from collections.abc import Sequence
from typing import Any

import cv2

from deskhand.errors import DeskhandError
from deskhand.llm.base import ChatModel, Message
from deskhand.perception.detectors.base import Detection, Pixels, Vocabulary
from deskhand.types import Frame, Image

log = logging.getLogger(__name__)

GRID = 1000
"""Boxes are asked for in thousandths of the picture's sides, as such models are trained to give them."""
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "objects": {
            "type": "array",
            "maxItems": 40,
            "items": {
                "type": "object",
                "properties": {
                    "label": {"type": "string", "maxLength": 40},
                    "box": {"type": "array", "items": {"type": "integer", "minimum": 0, "maximum": GRID}, "minItems": 4, "maxItems": 4},
                    "sure": {"type": "number", "minimum": 0, "maximum": 1},
                },
                "required": ["label", "box", "sure"],
                "additionalProperties": False,
            },
        }
    },
    "required": ["objects"],
    "additionalProperties": False,
}
ORDERS = {False: "[left, top, right, bottom]", True: "[top, left, bottom, right]"}
_TASK = (
    "The picture shows a desk seen by a robot's camera. List every separate object that lies or stands on the desk, not the desk itself and not the "
    f"robot. For each give a label of one or two words, its box as {{order}} in thousandths of the picture's width and height (0 to {GRID}), "
    "and how sure you are (0 to 1). Answer with one JSON object: objects."
)


class VisionLanguageDetector:
    """``model`` is any ChatModel that takes pictures; ``labels`` are kinds that it should prefer, because the robot knows them; ``boxes``: the order that
    it was trained to give them in (a profile's field).
    """

    def __init__(
        self, name: str, model: ChatModel, labels: Sequence[str] = (), vocabulary: Vocabulary | None = None, weight: float = 0.5, boxes: str = "x_first"
    ) -> None:
        self.name, self.weight = f"vlm:{name}", weight
        self._model, self._labels, self._vocabulary = model, tuple(labels), vocabulary or Vocabulary()
        self._y_first = boxes == "y_first"

    def detect(self, frame: Frame, objects: Sequence[Pixels] = ()) -> list[Detection]:
        """See Detector; entries of the reply that are no boxes are left out."""
        task = _TASK.replace("{order}", ORDERS[self._y_first]) + (f" Use these labels where they fit: {', '.join(self._labels)}." if self._labels else "")
        reply = self._model.reply([Message("user", task, images=(png(frame.color),))], (), SCHEMA)
        try:
            entries = json.loads(_object_in(reply.text))["objects"]
            if not isinstance(entries, list):
                raise TypeError(f"objects is a {type(entries).__name__}")
        except (ValueError, KeyError, TypeError) as error:
            raise DeskhandError("model_failed", f"{self._model.name} answered no list of objects: {reply.text[:200]!r}.", retry=True) from error
        height, width = frame.color.shape[:2]
        found = [item for entry in entries if (item := self._detection(entry, width, height)) is not None]
        return sorted(found, key=lambda item: -item.score)

    def _detection(self, entry: Any, width: int, height: int) -> Detection | None:
        try:
            a, b, c, d = (min(max(float(value), 0.0), GRID) / GRID for value in entry["box"])
            left, top, right, bottom = (b, a, d, c) if self._y_first else (a, b, c, d)
            kind, score = self._vocabulary.kind(str(entry["label"])), float(entry["sure"])
        except (KeyError, TypeError, ValueError):
            log.warning("%s gave an object that is none: %.200r", self._model.name, entry)
            return None
        if not kind or left >= right or top >= bottom or not 0 <= score <= 1:
            return None
        return Detection(kind, score, self.name, (left * width, top * height, right * width, bottom * height))


def png(color: Image) -> bytes:
    """A picture (H, W, 3) RGB as a PNG file."""
    written, data = cv2.imencode(".png", cv2.cvtColor(color, cv2.COLOR_RGB2BGR))
    assert written
    return bytes(data)


def _object_in(text: str) -> str:
    """The JSON object in a reply that may have words or a code fence around it."""
    first, last = text.find("{"), text.rfind("}")
    return text[first : last + 1] if 0 <= first < last else text
