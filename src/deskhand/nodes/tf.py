"""Transforms between frames, from /tf and /tf_static (tf2_ros has no wheel, and needs little of what it does)."""

from __future__ import annotations

import threading
from bisect import bisect_left, insort
from dataclasses import dataclass, field

import numpy as np
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from tf2_msgs.msg import TFMessage

from deskhand.errors import DeskhandError
from deskhand.geometry import Array, inverse, make_transform, pose_from_xyz_quaternion, rotation_about
from deskhand.nodes.conversions import time_from_msg
from deskhand.nodes.node import DeskhandNode

HISTORY = 10.0  # [s]
EARLY = 0.2  # [s] a transform this much older than the asked time still counts as current


@dataclass
class _Edge:
    """parent_T_child over time; one entry without a time when static."""

    parent: str
    static: bool
    stamps: list[float] = field(default_factory=list)
    poses: dict[float, Array] = field(default_factory=dict)


class TfBuffer:
    """The tree of frames; every method is safe from any thread."""

    def __init__(self) -> None:
        self._edges: dict[str, _Edge] = {}
        self._news = threading.Condition()

    def put(self, parent: str, child: str, pose: Array, stamp: float = 0.0, static: bool = False) -> None:
        """Take in parent_T_child (4, 4) at ``stamp`` [s]."""
        with self._news:
            edge = self._edges.get(child)
            if edge is None or edge.parent != parent or edge.static != static:
                edge = self._edges[child] = _Edge(parent, static)
            if static or (edge.stamps and stamp < edge.stamps[-1] - HISTORY):  # time went back: a new run of the simulation
                edge.stamps, edge.poses = [], {}
            if stamp not in edge.poses:
                insort(edge.stamps, stamp)
            edge.poses[stamp] = pose
            while edge.stamps[-1] - edge.stamps[0] > HISTORY:
                del edge.poses[edge.stamps.pop(0)]
            self._news.notify_all()

    def lookup(self, target: str, source: str, time: float | None = None, timeout: float = 0.0) -> Array:
        """target_T_source (4, 4) at ``time`` [s] (default: the newest of each link), waiting up to ``timeout`` [s] of wall time.

        Raises:
            DeskhandError: ``no_frame`` when the frames are not connected, naming those there are; ``stale_data`` when a moving
                link has nothing near that time.
        """
        problem = DeskhandError("no_frame", "")

        def find() -> Array | None:
            nonlocal problem
            try:
                return self._find(target, source, time)
            except DeskhandError as error:
                problem = error
                return None

        with self._news:
            found: list[Array] = []

            def ready() -> bool:
                result = find()
                if result is not None:
                    found.append(result)
                return bool(found)

            if self._news.wait_for(ready, timeout):
                return found[-1]
        raise problem

    def ancestors(self, frame: str) -> list[str]:
        """``frame``, what carries it, what carries that, up to the root."""
        with self._news:
            return self._chain(frame)

    def _find(self, target: str, source: str, time: float | None) -> Array:
        up, down = self._chain(source), self._chain(target)
        common = next((frame for frame in up if frame in down), None)
        if common is None:
            known = ", ".join(sorted({*self._edges, *(edge.parent for edge in self._edges.values())})) or "none"
            raise DeskhandError(
                "no_frame", f"no transform from {source!r} to {target!r}; known frames: {known}.", hint="Who publishes it on /tf or /tf_static?"
            )
        return inverse(self._to(common, down, time)) @ self._to(common, up, time)

    def _chain(self, frame: str) -> list[str]:
        """``frame`` and its ancestors."""
        chain = [frame]
        while (edge := self._edges.get(chain[-1])) is not None and edge.parent not in chain:
            chain.append(edge.parent)
        return chain

    def _to(self, ancestor: str, chain: list[str], time: float | None) -> Array:
        """ancestor_T_(first of the chain)."""
        pose = np.eye(4)
        for child in chain[: chain.index(ancestor)]:
            pose = _at(child, self._edges[child], time) @ pose
        return pose


def _at(child: str, edge: _Edge, time: float | None) -> Array:
    if edge.static or time is None:
        return edge.poses[edge.stamps[-1]]
    first, last = edge.stamps[0], edge.stamps[-1]
    if time < first - EARLY or time > last + EARLY:
        raise DeskhandError(
            "stale_data", f"the transform {edge.parent} -> {child} is known from {first:.2f} to {last:.2f} s, asked for {time:.2f} s.", retry=True
        )
    i = bisect_left(edge.stamps, time)
    if i == 0 or i == len(edge.stamps):
        return edge.poses[edge.stamps[min(i, len(edge.stamps) - 1)]]
    before, after = edge.stamps[i - 1], edge.stamps[i]
    return interpolate(edge.poses[before], edge.poses[after], (time - before) / (after - before))


def interpolate(a: Array, b: Array, share: float) -> Array:
    """Pose (4, 4) on the way from ``a`` (0) to ``b`` (1): straight, and about one axis."""
    relative = a[:3, :3].T @ b[:3, :3]
    angle = float(np.arccos(np.clip((np.trace(relative) - 1) / 2, -1, 1)))
    rotation = a[:3, :3]
    if angle > 1e-9:
        values, vectors = np.linalg.eigh(relative + relative.T)  # the axis is the eigenvector of the largest eigenvalue, also for half a turn
        axis = vectors[:, int(np.argmax(values))]
        skew = np.array([relative[2, 1] - relative[1, 2], relative[0, 2] - relative[2, 0], relative[1, 0] - relative[0, 1]])
        rotation = rotation @ rotation_about(axis if axis @ skew >= 0 else -axis, share * angle)
    return make_transform(rotation, (1 - share) * a[:3, 3] + share * b[:3, 3])


class TfListener(TfBuffer):
    """A buffer that listens to /tf_static, and to /tf from the first lookup on that needs it."""

    def __init__(self, node: DeskhandNode) -> None:
        super().__init__()
        self._node = node
        self._dynamic = threading.Lock()
        self._listens = False
        latched = QoSProfile(depth=100, durability=DurabilityPolicy.TRANSIENT_LOCAL, reliability=ReliabilityPolicy.RELIABLE)
        node.create_subscription(TFMessage, "/tf_static", lambda message: self._take(message, True), latched, callback_group=node.reentrant)

    def lookup(self, target: str, source: str, time: float | None = None, timeout: float = 0.0) -> Array:
        """As TfBuffer.lookup."""
        if not self._listens:
            try:
                return super().lookup(target, source, time, 0.0)
            except DeskhandError:
                self._listen()
        return super().lookup(target, source, time, timeout)

    def _listen(self) -> None:
        with self._dynamic:
            if not self._listens:
                self._node.create_subscription(
                    TFMessage, "/tf", lambda message: self._take(message, False), QoSProfile(depth=100), callback_group=self._node.reentrant
                )
                self._listens = True

    def _take(self, message: TFMessage, static: bool) -> None:
        for item in message.transforms:
            t, q = item.transform.translation, item.transform.rotation
            try:
                pose = pose_from_xyz_quaternion([t.x, t.y, t.z], [q.x, q.y, q.z, q.w])
            except DeskhandError as error:
                self._node.get_logger().warning(f"transform to {item.child_frame_id} ignored: {error}", throttle_duration_sec=10.0)
                continue
            self.put(item.header.frame_id.lstrip("/"), item.child_frame_id.lstrip("/"), pose, time_from_msg(item.header.stamp), static)
