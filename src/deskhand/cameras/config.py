"""Where a camera is mounted: one YAML file a camera in ``config/cameras``."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import yaml

from deskhand.errors import DeskhandError
from deskhand.geometry import Array, look_at, pose_from_xyz_quaternion
from deskhand.resources import resource_path

_FIELDS = {"parent", "child", "xyz", "look_at", "quaternion"}


@dataclass(frozen=True)
class CameraMount:
    """``pose`` is parent_T_child; ``child`` is the optical frame."""

    parent: str
    child: str
    pose: Array


def load_camera(name_or_file: str) -> CameraMount:
    """The mount of a camera by name in ``config/cameras``, or of a YAML file of your own.

    Raises:
        DeskhandError: ``config_error`` naming the field, or the cameras there are.
    """
    folder = resource_path("config/cameras")
    path = Path(name_or_file) if name_or_file.endswith((".yaml", ".yml")) else folder / f"{name_or_file}.yaml"
    if not path.is_file():
        known = ", ".join(sorted(file.stem for file in folder.glob("*.yaml")))
        raise DeskhandError("config_error", f"there is no camera {name_or_file!r} ({path}); known: {known}.")
    try:
        data = yaml.safe_load(path.read_text())
        if set(data) - _FIELDS:
            raise ValueError(f"unknown fields {sorted(set(data) - _FIELDS)}; valid: {sorted(_FIELDS)}")
        if ("look_at" in data) == ("quaternion" in data):
            raise ValueError("give exactly one of look_at and quaternion")
        xyz = np.asarray(data["xyz"], dtype=float)
        pose = look_at(xyz, np.asarray(data["look_at"], dtype=float)) if "look_at" in data else pose_from_xyz_quaternion(xyz, data["quaternion"])
        if pose.shape != (4, 4) or not np.isfinite(pose).all():
            raise ValueError("xyz and look_at must be three finite numbers, not on a vertical line")
        return CameraMount(str(data["parent"]), str(data["child"]), pose)
    except (yaml.YAMLError, KeyError, TypeError, ValueError) as error:
        raise DeskhandError("config_error", f"{path} is not a valid camera file: {error!r}.") from error
