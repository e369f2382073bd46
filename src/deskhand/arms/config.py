"""Arm configuration: one YAML file an arm in ``config/arms``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from deskhand.arms.driver_config import DriverConfig, read_driver
from deskhand.arms.gripper import GripperConfig, read_gripper
from deskhand.errors import DeskhandError
from deskhand.geometry import Array, pose_from_xyz_rpy
from deskhand.resources import resource_path
from deskhand.yaml_file import read_yaml


@dataclass(frozen=True)
class ArmConfig:
    """An arm as the YAML file says it; ``joints`` fixes the order of every joint vector in the package.

    Attributes:
        reach: farthest that tcp gets from the base [m].
        work_radius: from the base's axis [m], least and most, where things on the table are grasped from straight above and lifted.
        resolution: smallest step of the joints' servos [rad].
        geometry: arguments of the URDF that differ from unit to unit.
        driver: how its servos are driven.
    """

    name: str
    urdf: Path
    srdf: Path
    group: str
    joints: tuple[str, ...]
    base_link: str
    tcp: str
    approach_axis: tuple[float, float, float]
    world_T_base: Array
    named_poses: dict[str, tuple[float, ...]]
    max_velocity: Array
    max_acceleration: Array
    payload: float
    reach: float
    work_radius: tuple[float, float]
    resolution: float
    driver: DriverConfig
    gripper: GripperConfig
    geometry: dict[str, float] = field(default_factory=dict)

    @property
    def free_roll(self) -> bool:
        """True for arms with fewer than 6 joints, which meet a pose only up to a roll about the approach axis."""
        return len(self.joints) < 6


def list_arms() -> list[str]:
    """Names that :func:`load_arm` knows."""
    return sorted(path.stem for path in resource_path("config/arms").glob("*.yaml"))


def load_arm(name_or_file: str) -> ArmConfig:
    """The configuration of an arm by name, or of a YAML file of your own, which may say ``extends: <arm>`` and only what differs.

    The same file gives the same object, until the file changes.

    Raises:
        DeskhandError: ``config_error`` naming the field, or the arms there are.
    """
    path = Path(name_or_file) if name_or_file.endswith((".yaml", ".yml")) else resource_path("config/arms") / f"{name_or_file}.yaml"
    if not path.is_file():
        raise DeskhandError("config_error", f"there is no arm {name_or_file!r} ({path}); known: {', '.join(list_arms())}.")
    state = path.stat()
    return _loaded(path, (state.st_mtime_ns, state.st_size, state.st_ino))


@cache
def _loaded(path: Path, _state: tuple[int, int, int]) -> ArmConfig:
    try:
        return _arm_from(_read(path), path)
    except (OSError, yaml.YAMLError, KeyError, TypeError, ValueError) as error:
        raise DeskhandError("config_error", f"{path} is not a valid arm file: {error!r}.") from error


def _read(path: Path) -> dict[str, Any]:
    """The file, laid over the arm that it ``extends``, as the calibration of one unit does."""
    data = read_yaml(path)
    if not isinstance(data, dict):
        raise ValueError("it is no mapping")
    base = data.pop("extends", None)
    return data if base is None else merged(_read(resource_path("config/arms") / f"{base}.yaml"), data)


def merged(below: dict[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    """A mapping laid over another, mappings within them likewise."""
    both = {key: merged(below[key], value) if isinstance(value, dict) and isinstance(below.get(key), dict) else value for key, value in above.items()}
    return {**below, **both}


def _arm_from(data: dict[str, Any], path: Path) -> ArmConfig:
    def file(name: str) -> Path:
        beside = path.parent / name
        return beside if beside.is_file() else resource_path("urdf") / name

    joints = tuple(data["joints"])
    poses = {key: tuple(map(float, value)) for key, value in data["named_poses"].items()}
    wrong = [key for key, value in poses.items() if len(value) != len(joints)]
    if wrong:
        raise ValueError(f"named_poses {wrong} must have {len(joints)} values")
    return ArmConfig(
        name=data["name"],
        urdf=file(data["urdf"]),
        srdf=file(data["srdf"]),
        group=data["group"],
        joints=joints,
        base_link=data["base_link"],
        tcp=data["tcp"],
        approach_axis=tuple(data["approach_axis"]),
        world_T_base=pose_from_xyz_rpy(data["mount"]["xyz"], data["mount"]["rpy"]),
        named_poses=poses,
        max_velocity=np.asarray(data["max_velocity"], dtype=float),
        max_acceleration=np.asarray(data["max_acceleration"], dtype=float),
        payload=float(data["payload"]),
        reach=float(data["reach"]),
        work_radius=(float(data["work_radius"][0]), float(data["work_radius"][1])),
        resolution=float(data["resolution"]),
        driver=read_driver(data["driver"], joints),
        gripper=read_gripper(data["gripper"]),
        geometry={key: float(value) for key, value in data.get("geometry", {}).items()},
    )
