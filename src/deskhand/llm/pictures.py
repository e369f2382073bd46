"""Pictures in a conversation: made small enough to send, and only so many of them kept as a profile says."""

from __future__ import annotations

import base64
import hashlib
import struct
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import cv2
import numpy as np

from deskhand.errors import DeskhandError
from deskhand.llm.base import Message

NONE, FIRST, LAST = "none", "first", "last"
LEFT_OUT = "(picture left out)"
_IN_RESULT = ',"picture":"left out"}'
QUALITY = 85
"""Of JPEG; at this quality print of eight pixels' height stays as readable as it was."""


def is_valid(images: str) -> bool:
    """Whether a profile may say so: ``none``, ``first``, ``last`` or a number from 1."""
    return images in (NONE, FIRST, LAST) or (images.isascii() and images.isdigit() and int(images) > 0)


def limited(messages: Sequence[Message], images: str) -> list[Message]:
    """The messages with the pictures that stay: none, the first, the last or the newest ``images``; in the place of each other one stands a line."""
    places = [index for index, message in enumerate(messages) if message.images]
    kept = set(places[:1]) if images == FIRST else set() if images == NONE else set(places[-(1 if images == LAST else int(images)) :])
    return [
        message if index in kept or not message.images else replace(message, content=_without(message), images=()) for index, message in enumerate(messages)
    ]


def _without(message: Message) -> str:
    """The text with a line in the place of the picture; a result stays JSON."""
    if message.role == "tool" and message.content.endswith("}"):
        return message.content[:-1] + _IN_RESULT
    return f"{message.content}\n{LEFT_OUT}".strip()


def fitted(data: bytes, side: int) -> bytes:
    """A picture as JPEG whose longer side is at most ``side`` [px].

    Raises:
        DeskhandError: ``invalid_input`` when the bytes are no picture.
    """
    picture = cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_COLOR)
    if picture is None:
        raise DeskhandError("invalid_input", "the bytes are no picture that can be read.")
    scale = side / max(picture.shape[:2])
    if scale < 1:
        picture = cv2.resize(picture, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA)
    done, buffer = cv2.imencode(".jpg", picture, [cv2.IMWRITE_JPEG_QUALITY, QUALITY])
    if not done:
        raise DeskhandError("invalid_input", f"a picture {picture.shape} cannot be encoded.")
    return buffer.tobytes()


def media_type(data: bytes) -> str:
    """By the first bytes: JPEG, else PNG."""
    return "image/jpeg" if data[:2] == b"\xff\xd8" else "image/png"


def base64_of(data: bytes) -> str:
    """As it is sent."""
    return base64.b64encode(data).decode()


def record(data: bytes) -> dict[str, Any]:
    """What the record of a step keeps of a picture: digest (SHA-256, first half), size (width, height) [px], bytes."""
    return {"digest": hashlib.sha256(data).hexdigest()[:32], "size": list(_size(data)), "bytes": len(data)}


def _size(data: bytes) -> tuple[int, int]:
    if data[:8] == b"\x89PNG\r\n\x1a\n":
        width, height = struct.unpack(">II", data[16:24])
        return int(width), int(height)
    picture = cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_COLOR)
    return (0, 0) if picture is None else (picture.shape[1], picture.shape[0])
