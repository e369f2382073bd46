"""Arm configuration: one YAML file an arm in ``config/arms``."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import numpy as np

from deskhand.arms.arm_file import ArmFile, find_arm, list_arms, merged, read_arm_file
from deskhand.arms.driver_config import DriverConfig, read_driver
from deskhand.arms.gripper import GripperConfig, read_gripper
from deskhand.arms.problems import ArmFileError
from deskhand.geometry import Array, pose_from_xyz_rpy

__all__ = ["ArmConfig", "list_arms", "load_arm", "merged"]


@dataclass(frozen=True)
class ArmConfig:
    """An arm as the YAML file says it; ``joints`` fixes the order of every joint vector in the package.

    Attributes:
        reach: farthest that tcp gets from the base [m].
        work_radius: from the base's axis [m], least and most, where objects on the table are grasped from straight above and lifted.
        resolution: smallest step of the joints' servos [rad].
        gravity_compensation: whether its controller itself bears the arm's own weight, so that no joint yields to it.
        geometry: arguments of the URDF that differ from unit to unit.
        driver: how its servos are driven.
        file: that says all this; empty for one that was made otherwise.
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
    gravity_compensation: bool = False
    geometry: dict[str, float] = field(default_factory=dict)
    file: Path = Path()

    @property
    def base(self) -> str:
        """What a file of one unit ``extends``: the arm's name, or its file where that is one's own."""
        own = self.file != Path() and self.name not in list_arms()
        return str(self.file.resolve()) if own else self.name

    @property
    def free_roll(self) -> bool:
        """True for arms with fewer than 6 joints, which meet a pose only up to a roll about the approach axis."""
        return len(self.joints) < 6


def load_arm(name_or_file: str) -> ArmConfig:
    """The configuration of an arm by name, or of a YAML file of your own, which may say ``extends: <arm or YAML file>`` and only what differs.

    The same file gives the same object, until the file changes.

    Raises:
        DeskhandError: ``config_error``: the arms there are; as :class:`deskhand.arms.problems.ArmFileError` everything that is wrong with the file, its URDF
            and its SRDF, each with the field and what to do.
    """
    path = find_arm(name_or_file)
    state = path.stat()
    return _loaded(path, (state.st_mtime_ns, state.st_size, state.st_ino))


@cache
def _loaded(path: Path, _state: tuple[int, int, int]) -> ArmConfig:
    file = read_arm_file(path)
    problems = file.problems()
    if problems:
        raise ArmFileError(path, problems)
    return _arm_from(file)


def _arm_from(file: ArmFile) -> ArmConfig:
    """Of a file without problems."""
    data = file.data
    joints = tuple(data["joints"])
    return ArmConfig(
        name=data["name"],
        urdf=file.beside(data["urdf"]),
        srdf=file.beside(data["srdf"]),
        group=data["group"],
        joints=joints,
        base_link=data["base_link"],
        tcp=data["tcp"],
        approach_axis=tuple(data["approach_axis"]),
        world_T_base=pose_from_xyz_rpy(data["mount"]["xyz"], data["mount"]["rpy"]),
        named_poses={key: tuple(map(float, value)) for key, value in data["named_poses"].items()},
        max_velocity=np.asarray(data["max_velocity"], dtype=float),
        max_acceleration=np.asarray(data["max_acceleration"], dtype=float),
        payload=float(data["payload"]),
        reach=float(data["reach"]),
        work_radius=(float(data["work_radius"][0]), float(data["work_radius"][1])),
        resolution=float(data["resolution"]),
        driver=read_driver(data["driver"]),
        gripper=read_gripper(data["gripper"]),
        gravity_compensation=data.get("gravity_compensation", False),
        geometry={key: float(value) for key, value in data.get("geometry", {}).items()},
        file=file.path,
    )
