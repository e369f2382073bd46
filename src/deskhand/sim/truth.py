"""Ground truth as JSON over a socket that only the scoring process shares; no ROS topic, service or parameter carries it.

One JSON object a line: ``{"get": "truth"}`` is answered by :func:`truth_to_json`, anything else by ``{"error": …}``.
"""

from __future__ import annotations

import json
import logging
import socket
import threading
from collections.abc import Callable
from typing import Any

import numpy as np

from deskhand.errors import DeskhandError
from deskhand.sim.spec import Truth, TruthObject

logger = logging.getLogger(__name__)


def truth_to_json(truth: Truth) -> dict[str, Any]:
    """Truth as plain data."""
    objects = [
        {"name": item.name, "kind": item.kind, "size": list(item.size), "pose": item.pose.tolist(), "velocity": item.velocity, "shape": item.shape}
        for item in truth.objects
    ]
    return {"time": truth.time, "objects": objects, "in_hand": list(truth.in_hand), "joints": dict(truth.joints), "spots": dict(truth.spots)}


def truth_from_json(data: dict[str, Any]) -> Truth:
    """The inverse of :func:`truth_to_json`."""
    objects = tuple(
        TruthObject(
            item["name"],
            item["kind"],
            (item["size"][0], item["size"][1], item["size"][2]),
            np.array(item["pose"], float),
            float(item["velocity"]),
            item.get("shape", ""),
        )
        for item in data["objects"]
    )
    joints, spots = ({name: float(value) for name, value in data.get(key, {}).items()} for key in ("joints", "spots"))
    return Truth(float(data["time"]), objects, tuple(data["in_hand"]), joints, spots)


class TruthServer:
    """Answers on an inherited socket until it is closed by either side."""

    def __init__(self, descriptor: int, truth: Callable[[], Truth]) -> None:
        self._descriptor, self._truth = descriptor, truth
        self._socket: socket.socket | None = None

    def start(self) -> None:
        """Begin to answer.

        Raises:
            DeskhandError: ``config_error`` when the descriptor is no open socket.
        """
        try:
            self._socket = socket.socket(fileno=self._descriptor)
        except OSError as error:
            raise DeskhandError("config_error", f"--truth-fd {self._descriptor} is not an open socket: {error.strerror}.") from error
        threading.Thread(target=self._serve, args=(self._socket,), name="truth", daemon=True).start()

    def close(self) -> None:
        """Stop answering."""
        if self._socket is not None:
            try:
                self._socket.shutdown(socket.SHUT_RDWR)
            except OSError:
                logger.debug("the other side of the truth socket had gone")
            self._socket.close()

    def _serve(self, connection: socket.socket) -> None:
        try:
            with connection.makefile("rwb") as lines:
                for line in lines:
                    lines.write(json.dumps(self._answer(line)).encode() + b"\n")
                    lines.flush()
        except (OSError, ValueError):
            logger.info("the truth socket was closed")

    def _answer(self, line: bytes) -> dict[str, Any]:
        try:
            request = json.loads(line)
        except ValueError:
            return {"error": "not JSON"}
        if request != {"get": "truth"}:
            return {"error": 'only {"get": "truth"} is answered'}
        return truth_to_json(self._truth())


class TruthClient:
    """The scorer's end; ``connection`` is the other half of the socket pair."""

    def __init__(self, connection: socket.socket, timeout: float = 10.0) -> None:
        connection.settimeout(timeout)
        self._lines = connection.makefile("rwb")

    def get(self) -> Truth:
        """Ground truth now.

        Raises:
            DeskhandError: ``node_unavailable`` when the simulation is gone, ``timeout`` when it does not answer.
        """
        try:
            self._lines.write(b'{"get": "truth"}\n')
            self._lines.flush()
            line = self._lines.readline()
        except TimeoutError as error:
            raise DeskhandError("timeout", "the simulation does not answer the scorer.") from error
        except OSError as error:
            raise DeskhandError("node_unavailable", "the simulation has ended.") from error
        if not line:
            raise DeskhandError("node_unavailable", "the simulation has ended.")
        return truth_from_json(json.loads(line))
