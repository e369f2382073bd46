"""Poses that come in any frame that /tf knows, brought into ``world``."""

from __future__ import annotations

import threading
import time

import numpy as np
from std_msgs.msg import Header

from deskhand.errors import DeskhandError
from deskhand.geometry import Array
from deskhand.nodes.conversions import WORLD, time_from_msg
from deskhand.nodes.node import DeskhandNode
from deskhand.nodes.tf import TfListener

PATIENCE = 1.0  # [s] of wall time: a transform that has not come by then does not come


class Frames:
    """``frames(header)`` is world_T_frame (4, 4) of a message's header; hand it to the readers of ``conversions``.

    A header's stamp says when; without one (0) it is now, as everywhere in tf. /tf is listened to from the first frame on that needs it.
    """

    def __init__(self, node: DeskhandNode) -> None:
        self._node, self._tf = node, TfListener(node)
        self._first = threading.Lock()
        self._since: float | None = None  # [s] wall time of the first question

    def __call__(self, header: Header) -> Array:
        """world_T_frame (4, 4); identity for ``world`` and for an empty name.

        Raises:
            DeskhandError: ``invalid_input`` for a frame that is not connected with ``world``, naming those that are known; ``stale_data`` when a link that
                moves has no transform near the time.
        """
        frame = header.frame_id.lstrip("/")
        if frame in ("", WORLD):
            return np.eye(4)
        stamp = time_from_msg(header.stamp) or self._node.seconds()
        try:
            return self._tf.lookup(WORLD, frame, stamp)
        except DeskhandError:
            pass
        try:
            return self._tf.lookup(WORLD, frame, stamp, self._patience())
        except DeskhandError as error:
            if error.code == "no_frame":  # which is a camera's that gives no picture, to whoever asks for a motion
                hint = "Who publishes it on /tf or /tf_static? Or give the pose in a frame that is known."
                raise DeskhandError("invalid_input", error.message[:2000], hint=hint) from error
            raise DeskhandError(error.code, f"a pose in frame {frame!r} cannot be placed: {error.message}", retry=True, hint=error.hint) from error

    def _patience(self) -> float:
        """[s] that one more look may wait. Who has just begun to listen has not heard everybody; later what is moving comes many times a second."""
        with self._first:
            if self._since is None:
                self._since = time.monotonic()
            heard = time.monotonic() - self._since
        return max(0.2, PATIENCE - heard)
