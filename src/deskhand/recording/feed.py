"""What a recorded robot saw and measured, frame by frame, as perception takes it; no ROS is needed."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from deskhand.arms.model import RobotModel
from deskhand.errors import DeskhandError
from deskhand.geometry import Array, identity, pose_from_xyz_quaternion
from deskhand.recording.frames import COLOR, DEPTH, INFO, TOGETHER, color_of, depth_of, intrinsics_of, kind_of, stamp_of
from deskhand.recording.reader import Record, Recording
from deskhand.types import CameraIntrinsics, Frame, JointState

JOINTS_APART = 0.15  # [s] between a picture and its joint state at most


@dataclass(frozen=True)
class Observation:
    """One frame, and the joints at its time (None where none were recorded)."""

    frame: Frame
    joints: JointState | None


@dataclass
class _Taken:
    color: Record
    depth: Record
    stamp: float


class Feed:
    """The observations of a recording in their order.

    Args:
        path: the recording.
        model: of the arm; needed where it carries the camera.
        period: [s] between observations, at least.
        camera: world_T_camera where the recording has no transforms; None: it must have.
    """

    def __init__(self, path: Path, model: RobotModel, period: float = 0.0, camera: Array | None = None) -> None:
        self._recording, self._model, self._period, self._camera = Recording(path), model, period, camera
        self._static: dict[str, tuple[str, Array]] = {}
        self._joints: deque[JointState] = deque(maxlen=400)
        self._info: CameraIntrinsics | None = None

    def __iter__(self) -> Iterator[Observation]:
        """Raises ``invalid_input`` when the recording lacks what is needed, ``no_frame`` when it does not tell where the camera was."""
        pair: dict[str, tuple[float, Record]] = {}
        waiting: deque[_Taken] = deque()
        last = float("-inf")
        for record in self._recording.in_time():
            kind = kind_of(record.topic)
            if kind == INFO:
                self._info = intrinsics_of(record.message)
            elif kind:
                pair[kind] = (stamp_of(record.message), record)
                if len(pair) == 2 and abs(pair[COLOR][0] - pair[DEPTH][0]) <= TOGETHER:
                    if self._info is not None and not 0 <= pair[COLOR][0] - last < self._period:
                        last = pair[COLOR][0]
                        waiting.append(_Taken(pair[COLOR][1], pair[DEPTH][1], last))
                    pair = {}
            elif record.topic.endswith("joint_states"):
                self._joints.append(_joints(record.message))
            elif record.topic.endswith("tf_static"):
                self._keep(record.message)
            while waiting and self._joints and self._joints[-1].stamp >= waiting[0].stamp:
                yield self._observation(waiting.popleft())
        for taken in waiting:
            yield self._observation(taken)

    def _observation(self, taken: _Taken) -> Observation:
        assert self._info is not None
        joints = self._joints_at(taken.stamp)
        raw = depth_of(taken.depth.message)
        depth = np.where(raw == 0, np.nan, raw * 0.001).astype(np.float32)
        pose = self._camera if self._camera is not None else self._world_T(self._info.frame_id, joints)
        return Observation(Frame(color_of(taken.color.message), depth, self._info, pose, taken.stamp), joints)

    def _joints_at(self, stamp: float) -> JointState | None:
        """Several publishers of parts of the joints are merged, the nearest in time last."""
        near = sorted((state for state in self._joints if abs(state.stamp - stamp) <= JOINTS_APART), key=lambda state: -abs(state.stamp - stamp))
        if not near:
            return None
        positions = {name: float(value) for state in near for name, value in zip(state.names, state.positions, strict=True)}
        empty = np.zeros(0)
        return JointState(tuple(positions), np.array(list(positions.values())), empty, empty, near[-1].stamp)

    def _keep(self, message: Any) -> None:
        for item in message.transforms:
            t, q = item.transform.translation, item.transform.rotation
            self._static[item.child_frame_id] = (item.header.frame_id, pose_from_xyz_quaternion([t.x, t.y, t.z], [q.x, q.y, q.z, q.w]))

    def _world_T(self, frame: str, joints: JointState | None) -> Array:
        """Along the fixed transforms, up to the world or to a link of the arm, whose place the joints tell."""
        pose, name = identity(), frame
        while name in self._static and name != self._model.root:
            if name in self._model.links and self._model.moves(name):
                break
            name, step = self._static[name]
            pose = step @ pose
        if name == self._model.root:
            return pose
        if name in self._model.links and joints is not None:
            return self._model.forward(dict(zip(joints.names, map(float, joints.positions), strict=True)))[name] @ pose
        raise DeskhandError(
            "no_frame", f"the recording does not tell where {frame!r} was: its transforms end at {name!r}.", hint="Give the camera file (--camera)."
        )


def _joints(message: Any) -> JointState:
    empty = np.zeros(0)
    return JointState(tuple(message.name), np.asarray(message.position, float), empty, empty, stamp_of(message))
