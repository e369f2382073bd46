"""Where a camera is mounted and what is known about it: one YAML file a camera in ``config/cameras``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from deskhand.errors import DeskhandError
from deskhand.geometry import Array, look_at, pose_from_xyz_quaternion, quaternion_from_matrix
from deskhand.types import CameraIntrinsics
from deskhand.types.resources import resource_path
from deskhand.types.yaml_file import read_yaml

_FIELDS = {"parent", "child", "xyz", "look_at", "quaternion", "intrinsics", "landmarks", "calibration"}
_INTRINSICS = {"width", "height", "fx", "fy", "cx", "cy"}


@dataclass(frozen=True)
class CameraMount:
    """What a camera file says.

    Attributes:
        parent, child: frames; ``child`` is the optical frame.
        pose: parent_T_child.
        intrinsics: measured ones, which replace those of the driver; None: the driver's.
        distortion: that goes with them, k1, k2, p1, p2, k3.
        landmarks: a board that lies on the desk for good: ``board`` (its name in calibration/board.py's terms) and ``pose`` world_T_board as xyz and
            quaternion; empty: none.
        calibration: how the pose was measured and how well, as the calibration wrote it; nothing reads it but people.
    """

    parent: str
    child: str
    pose: Array
    intrinsics: CameraIntrinsics | None = None
    distortion: tuple[float, ...] = ()
    landmarks: Mapping[str, Any] = field(default_factory=dict)
    calibration: Mapping[str, Any] = field(default_factory=dict)


def camera_of(arm: str, name_or_file: str) -> str:
    """``name_or_file``, or the camera that this arm has of that name: ``wrist`` of the jetarm is ``wrist_jetarm``; ``arm`` is its name in config/arms."""
    own = f"{name_or_file}_{arm}"
    return own if (resource_path("config/cameras") / f"{own}.yaml").is_file() else name_or_file


def load_camera(name_or_file: str, arm: str = "") -> CameraMount:
    """The mount of a camera by name in ``config/cameras``, or of a YAML file of your own; with ``arm`` (its name), the arm's own where it has one.

    Raises:
        DeskhandError: ``config_error`` naming the field, or the cameras there are.
    """
    folder, name_or_file = resource_path("config/cameras"), camera_of(arm, name_or_file) if arm else name_or_file
    path = Path(name_or_file) if name_or_file.endswith((".yaml", ".yml")) else folder / f"{name_or_file}.yaml"
    if not path.is_file():
        known = ", ".join(sorted(file.stem for file in folder.glob("*.yaml")))
        raise DeskhandError("config_error", f"there is no camera {name_or_file!r} ({path}); known: {known}.")
    try:
        return _mount(read_yaml(path))
    except (yaml.YAMLError, KeyError, TypeError, ValueError, DeskhandError) as error:
        raise DeskhandError("config_error", f"{path} is not a valid camera file: {error!r}.") from error


def _mount(data: dict[str, Any]) -> CameraMount:
    if set(data) - _FIELDS:
        raise ValueError(f"unknown fields {sorted(set(data) - _FIELDS)}; valid: {sorted(_FIELDS)}")
    if ("look_at" in data) == ("quaternion" in data):
        raise ValueError("give exactly one of look_at and quaternion")
    xyz = np.asarray(data["xyz"], dtype=float)
    pose = look_at(xyz, np.asarray(data["look_at"], dtype=float)) if "look_at" in data else pose_from_xyz_quaternion(xyz, data["quaternion"])
    if pose.shape != (4, 4) or not np.isfinite(pose).all():
        raise ValueError("xyz and look_at must be three finite numbers, not on a vertical line")
    intrinsics: CameraIntrinsics | None = None
    distortion: tuple[float, ...] = ()
    if "intrinsics" in data:
        intrinsics, distortion = _intrinsics(dict(data["intrinsics"]), str(data["child"]))
    landmarks = dict(data.get("landmarks") or {})
    if landmarks and set(landmarks) != {"board", "xyz", "quaternion"}:
        raise ValueError(f"landmarks must have board, xyz and quaternion, got {sorted(landmarks)}")
    return CameraMount(str(data["parent"]), str(data["child"]), pose, intrinsics, distortion, landmarks, dict(data.get("calibration") or {}))


def _intrinsics(data: dict[str, Any], frame_id: str) -> tuple[CameraIntrinsics, tuple[float, ...]]:
    distortion = tuple(float(value) for value in data.pop("distortion", ()))
    if set(data) != _INTRINSICS or len(distortion) not in (0, 4, 5, 8):
        raise ValueError(f"intrinsics must have {sorted(_INTRINSICS)}, and distortion of 4, 5 or 8 numbers if any; got {sorted(data)}")
    fx, fy, cx, cy = (float(data[name]) for name in ("fx", "fy", "cx", "cy"))
    return CameraIntrinsics(int(data["width"]), int(data["height"]), fx, fy, cx, cy, frame_id), distortion or (0.0,) * 5


def save_camera(mount: CameraMount, path: Path) -> None:
    """Write a camera file that :func:`load_camera` reads.

    Raises:
        DeskhandError: ``config_error`` when it cannot be written.
    """
    data: dict[str, Any] = {"parent": mount.parent, "child": mount.child, **pose_fields(mount.pose)}
    if mount.intrinsics is not None:
        numbers = {name: getattr(mount.intrinsics, name) for name in ("width", "height", "fx", "fy", "cx", "cy")}
        data["intrinsics"] = {**numbers, "distortion": [float(value) for value in mount.distortion]}
    data |= {name: dict(getattr(mount, name)) for name in ("landmarks", "calibration") if getattr(mount, name)}
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("# Written by `deskhand calibrate`; see docs/cameras.md.\n" + yaml.safe_dump(data, sort_keys=False, default_flow_style=None, width=150))
    except OSError as error:
        raise DeskhandError("config_error", f"{path} cannot be written: {error}.") from error


def pose_fields(pose: Array) -> dict[str, list[float]]:
    """``xyz`` [m] and ``quaternion`` (xyzw) of a pose, as camera files have them."""
    return {"xyz": [round(float(v), 6) for v in pose[:3, 3]], "quaternion": [round(float(v), 8) for v in quaternion_from_matrix(pose[:3, :3])]}
