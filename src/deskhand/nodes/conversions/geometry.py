"""Times, poses, transforms, point clouds."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
from builtin_interfaces.msg import Duration, Time
from geometry_msgs.msg import Point, Pose, PoseStamped, Quaternion, TransformStamped
from sensor_msgs.msg import PointCloud2, PointField
from std_msgs.msg import Header

from deskhand.errors import DeskhandError
from deskhand.geometry import Array, pose_from_xyz_quaternion, quaternion_from_matrix

WORLD = "world"

Placed = Callable[[Header], Array]
"""world_T_frame (4, 4) of a message's header; nodes/frames.py asks tf."""


def only_world(header: Header) -> Array:
    """A Placed that knows ``world`` alone (empty stands for it). Raises ``invalid_input`` for any other frame."""
    if header.frame_id not in ("", WORLD):
        raise DeskhandError("invalid_input", f"poses must be in frame {WORLD!r}, got {header.frame_id!r}.", hint="Transform the pose before the call.")
    return np.eye(4)


def time_to_msg(seconds: float) -> Time:
    """[s] -> Time."""
    nanoseconds = round(seconds * 1e9)
    return Time(sec=nanoseconds // 1_000_000_000, nanosec=nanoseconds % 1_000_000_000)


def time_from_msg(message: Time | Duration) -> float:
    """Time or Duration -> [s]."""
    return float(message.sec) + float(message.nanosec) * 1e-9


def duration_to_msg(seconds: float) -> Duration:
    """[s] -> Duration."""
    nanoseconds = round(seconds * 1e9)
    return Duration(sec=nanoseconds // 1_000_000_000, nanosec=nanoseconds % 1_000_000_000)


def header(stamp: float = 0.0, frame_id: str = WORLD) -> Header:
    """A header at ``stamp`` [s]."""
    return Header(stamp=time_to_msg(stamp), frame_id=frame_id)


def pose_to_msg(pose: Array) -> Pose:
    """(4, 4) -> Pose."""
    x, y, z, w = map(float, quaternion_from_matrix(pose[:3, :3]))
    px, py, pz = map(float, pose[:3, 3])
    return Pose(position=Point(x=px, y=py, z=pz), orientation=Quaternion(x=x, y=y, z=z, w=w))


def pose_from_msg(message: Pose) -> Array:
    """Pose -> (4, 4). Raises ``invalid_input`` when a value is not finite or the quaternion is not of unit length."""
    p, q = message.position, message.orientation
    if not np.all(np.isfinite([p.x, p.y, p.z])):
        raise DeskhandError("invalid_input", f"the position ({p.x}, {p.y}, {p.z}) is not finite.")
    return pose_from_xyz_quaternion([p.x, p.y, p.z], [q.x, q.y, q.z, q.w])


def pose_stamped_to_msg(pose: Array, stamp: float = 0.0, frame_id: str = WORLD) -> PoseStamped:
    """(4, 4) in ``frame_id`` -> PoseStamped."""
    return PoseStamped(header=header(stamp, frame_id), pose=pose_to_msg(pose))


def pose_stamped_from_msg(message: PoseStamped, placed: Placed = only_world) -> Array:
    """PoseStamped -> (4, 4) in ``world``. Raises ``invalid_input`` for a bad pose, and what ``placed`` raises for its frame."""
    pose = pose_from_msg(message.pose)
    return np.asarray(placed(message.header) @ pose)


def transform_to_msg(parent: str, child: str, pose: Array, stamp: float) -> TransformStamped:
    """parent_T_child (4, 4) -> TransformStamped."""
    message = TransformStamped(header=header(stamp, parent), child_frame_id=child)
    translation, rotation = message.transform.translation, message.transform.rotation
    translation.x, translation.y, translation.z = map(float, pose[:3, 3])
    rotation.x, rotation.y, rotation.z, rotation.w = map(float, quaternion_from_matrix(pose))
    return message


def cloud_to_msg(points: npt.ArrayLike, stamp: float = 0.0, frame_id: str = WORLD) -> PointCloud2:
    """(N, 3) [m] -> PointCloud2 with x, y, z as float32."""
    data = np.ascontiguousarray(points, dtype=np.float32).reshape(-1, 3)
    fields = [PointField(name=name, offset=4 * i, datatype=PointField.FLOAT32, count=1) for i, name in enumerate("xyz")]
    message = PointCloud2(header=header(stamp, frame_id), height=1, width=len(data), fields=fields, point_step=12, row_step=12 * len(data), is_dense=True)
    message.data = data.tobytes()
    return message


def cloud_from_msg(message: PointCloud2) -> npt.NDArray[np.float32]:
    """PointCloud2 with float32 x, y, z at any offsets -> (N, 3) finite points [m]."""
    offsets = {field.name: field.offset for field in message.fields if field.datatype == PointField.FLOAT32}
    if not {"x", "y", "z"} <= set(offsets):
        if message.width * message.height == 0:
            return np.zeros((0, 3), np.float32)
        raise DeskhandError("invalid_input", f"the point cloud has no float32 x, y, z fields; it has {sorted(offsets)}.")
    raw = np.frombuffer(bytes(message.data), np.uint8).reshape(-1, message.point_step)
    points = np.stack([raw[:, offsets[a] : offsets[a] + 4].copy().view(np.float32)[:, 0] for a in "xyz"], axis=1)
    return np.asarray(points[np.isfinite(points).all(axis=1)], dtype=np.float32)
