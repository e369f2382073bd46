"""Messages between deskhand and a foreign simulator: a head in JSON, then the arrays that it names.

A frame is the length of the head (4 bytes, big-endian), the head, and the arrays' bytes one after the other in the order of ``arrays``. This file imports
nothing of deskhand's: both sides use it.
"""

from __future__ import annotations

import json
import socket
import struct
from typing import Any

import numpy as np

HEAD_MOST = 1 << 20  # [bytes]
ARRAY_MOST = 1 << 28  # [bytes]
KINDS = ("uint8", "int32", "float32", "float64")

Arrays = dict[str, "np.ndarray[Any, Any]"]


class WireError(Exception):
    """The other side is gone, or what it sent is no message."""


def send(connection: socket.socket, head: dict[str, Any], arrays: Arrays | None = None) -> None:
    """Send one message; raises WireError."""
    parts = {name: np.ascontiguousarray(values) for name, values in (arrays or {}).items()}
    listed = [[name, str(values.dtype), list(values.shape)] for name, values in parts.items()]
    for name, kind, _ in listed:
        if kind not in KINDS:
            raise WireError(f"array {name} of {kind} cannot be sent; kinds are {', '.join(KINDS)}")
    text = json.dumps({**head, "arrays": listed}).encode()
    try:
        connection.sendall(struct.pack(">I", len(text)) + text + b"".join(values.tobytes() for values in parts.values()))
    except OSError as error:
        raise WireError(f"the other side is gone: {error}") from error


def receive(connection: socket.socket) -> tuple[dict[str, Any], Arrays]:
    """The next message; raises WireError, and TimeoutError where the socket has a time limit."""
    (length,) = struct.unpack(">I", _read(connection, 4))
    if length > HEAD_MOST:
        raise WireError(f"a head of {length} bytes is no message")
    try:
        head = json.loads(_read(connection, length))
        listed = head.pop("arrays")
    except (ValueError, KeyError, AttributeError, TypeError) as error:
        raise WireError(f"the head is no message: {error!r}") from error
    arrays: Arrays = {}
    for name, kind, shape in listed:
        if kind not in KINDS or any(not isinstance(side, int) or side < 0 for side in shape):
            raise WireError(f"array {name!r} of {kind!r} and shape {shape!r} is none")
        size = int(np.prod(shape, dtype=np.int64)) * np.dtype(kind).itemsize
        if size > ARRAY_MOST:
            raise WireError(f"array {name!r} of {size} bytes is too large")
        arrays[name] = np.frombuffer(_read(connection, size), dtype=kind).reshape(shape).copy()
    return head, arrays


def _read(connection: socket.socket, size: int) -> bytes:
    data = bytearray(size)
    view, got = memoryview(data), 0
    while got < size:
        try:
            count = connection.recv_into(view[got:], min(size - got, 1 << 20))
        except TimeoutError:
            raise
        except OSError as error:
            raise WireError(f"the other side is gone: {error}") from error
        if not count:
            raise WireError("the other side has closed the connection")
        got += count
    return bytes(data)
