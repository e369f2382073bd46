"""What an episode holds as plain data: ROS messages as nested dictionaries, and what they say as JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from deskhand.geometry import Array, quaternion_from_matrix
from deskhand.recording.frames import stamp_of
from deskhand.types import Scene, SceneObject

SAME = ("id", "label", "label_source", "color", "shape", "is_container", "support", "relation")
"""Fields of an object that JSON has as they are."""


def stamp_to_msg(seconds: float) -> dict[str, int]:
    """builtin_interfaces/Time of a time [s]."""
    nanoseconds = round(seconds * 1e9)
    return {"sec": nanoseconds // 1_000_000_000, "nanosec": nanoseconds % 1_000_000_000}


def header(stamp: float, frame_id: str) -> dict[str, Any]:
    """std_msgs/Header at ``stamp`` [s]."""
    return {"stamp": stamp_to_msg(stamp), "frame_id": frame_id}


def scene_to_ros(scene: Scene) -> dict[str, Any]:
    """A deskhand_interfaces/SceneObjects without its points, as nested dictionaries."""
    return {
        "header": header(scene.stamp, "world"),
        "objects": [_object(item, scene.stamp) for item in scene.objects],
        "table_pose": _pose(scene.table.pose),
        "table_size": [float(value) for value in scene.table.size],
        "cloud": _no_points(scene.stamp),
    }


def _object(item: SceneObject, stamp: float) -> dict[str, Any]:
    same = ("id", "label", "label_source", "color", "shape", "material", "is_container", "support", "relation")
    return {
        **{name: getattr(item, name) for name in same},
        "pose": _pose(item.pose),
        "size": dict(zip("xyz", map(float, item.size), strict=True)),
        "cloud": _no_points(stamp),
        "confidence": float(item.confidence),
        "wall": float(item.wall),
        "box2d": [int(value) for value in item.box2d],
        "guessed": bytes(item.guessed),
    }


def _pose(pose: Array) -> dict[str, dict[str, float]]:
    return {"position": dict(zip("xyz", map(float, pose[:3, 3]), strict=True)), "orientation": _quaternion(pose)}


def _quaternion(pose: Array) -> dict[str, float]:
    return dict(zip("xyzw", map(float, quaternion_from_matrix(pose[:3, :3])), strict=True))


def transform_to_ros(parent: str, child: str, pose: Array, stamp: float) -> dict[str, Any]:
    """geometry_msgs/TransformStamped of parent_T_child (4, 4)."""
    translation = dict(zip("xyz", map(float, pose[:3, 3]), strict=True))
    return {"header": header(stamp, parent), "child_frame_id": child, "transform": {"translation": translation, "rotation": _quaternion(pose)}}


def _no_points(stamp: float) -> dict[str, Any]:
    """An empty sensor_msgs/PointCloud2 with x, y, z as float32."""
    fields = [{"name": name, "offset": 4 * index, "datatype": 7, "count": 1} for index, name in enumerate("xyz")]
    size = {"height": 1, "width": 0, "point_step": 12, "row_step": 0}
    return {"header": header(stamp, "world"), **size, "fields": fields, "is_bigendian": False, "data": b"", "is_dense": True}


# ---------------------------------------------------------------- JSON


def message_to_json(message: Any) -> dict[str, Any]:
    """What a recorded message says: a scene without points, a safety state, or a String of JSON, as both of those were in older episodes."""
    if hasattr(message, "stopped"):
        return {"stopped": message.stopped, "code": message.code, "reason": message.reason}
    if hasattr(message, "objects"):
        objects = [_object_to_json(item, *_numbers(item.pose), (item.size.x, item.size.y, item.size.z)) for item in message.objects]
        return _scene_to_json(stamp_of(message), objects, *_numbers(message.table_pose), message.table_size)
    data: dict[str, Any] = json.loads(message.data)
    return data


def scene_to_json(scene: Scene) -> dict[str, Any]:
    """The same of a Scene."""
    objects = [_object_to_json(item, item.pose[:3, 3], quaternion_from_matrix(item.pose[:3, :3]), item.size) for item in scene.objects]
    table = scene.table.pose
    return _scene_to_json(scene.stamp, objects, table[:3, 3], quaternion_from_matrix(table[:3, :3]), scene.table.size)


def _scene_to_json(stamp: float, objects: list[dict[str, Any]], position: Any, orientation: Any, size: Any) -> dict[str, Any]:
    table = {"position": _rounded(position), "orientation": _rounded(orientation), "size": _rounded(size)}
    return {"stamp": stamp, "objects": objects, "table": table}


def _object_to_json(item: Any, position: Any, orientation: Any, size: Any) -> dict[str, Any]:
    return {
        **{name: getattr(item, name) for name in SAME},
        "position": _rounded(position),
        "orientation": _rounded(orientation),
        "size": _rounded(size),
        "confidence": round(float(item.confidence), 3),
        "wall": round(float(item.wall), 4),
        "box2d": [int(value) for value in item.box2d],
    }


def _numbers(pose: Any) -> tuple[tuple[float, ...], tuple[float, ...]]:
    p, q = pose.position, pose.orientation
    return (p.x, p.y, p.z), (q.x, q.y, q.z, q.w)


def _rounded(values: Sequence[float] | Array) -> list[float]:
    return [round(float(value), 4) for value in values]
