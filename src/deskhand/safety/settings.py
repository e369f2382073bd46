"""The envelope's settings: ``config/safety.yaml``."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import yaml

from deskhand.errors import DeskhandError
from deskhand.geometry import Array, pose_from_xyz_rpy
from deskhand.types import CollisionObject, Shape
from deskhand.types.resources import resource_path
from deskhand.types.yaml_file import read_yaml

APPROVALS = ("never", "motion", "always")
AUTHORISATIONS = ("task", "strict", "off")
KEEP_OUT_MARGIN = 0.005  # [m]


@dataclass(frozen=True)
class WatchdogSettings:
    """Wall clock, [s].

    Attributes:
        timeout: silence of another machine's node.
        hang_timeout: silence of a node of this machine whose process lives (its death is known at once): it hangs, or the machine is very busy.
        status_timeout: age of the safety status at which motion stops.
    """

    timeout: float = 1.0
    hang_timeout: float = 5.0
    status_timeout: float = 1.0


@dataclass(frozen=True)
class SlowSettings:
    """Where the tcp moves no faster than ``tcp_speed`` [m/s].

    Attributes:
        near: while the arm or what it holds is nearer than this [m] to an obstacle that it may not touch.
        near_people: the same for obstacles whose id begins with "person".
    """

    tcp_speed: float = 0.25
    near: float = 0.03
    near_people: float = 0.5


@dataclass(frozen=True)
class SafetySettings:
    """What no motion may exceed; see ``config/safety.yaml`` for the fields. ``keep_out``: what :func:`keep_out_zone` makes, margins included.

    ``rules`` are sentences about the order of acts, which the agent's loop holds every plan and call against, and the tool server the calls of others.
    ``approval`` holds for every caller; ``approval_others``, where it is stricter, for those that are not the operator's own task.
    ``authorisation``: what a language model may move without asking the operator (agent/authorisation.py).
    """

    lower: Array
    upper: Array
    keep_out: tuple[CollisionObject, ...] = ()
    max_tcp_speed: float = 1.0
    max_joint_speed: float = 1.0
    max_penetration: float = 0.001
    check_step: float = 0.004
    approval: str = "never"
    approval_others: str = "motion"
    authorisation: str = "task"
    watchdog: WatchdogSettings = field(default_factory=WatchdogSettings)
    slow: SlowSettings = field(default_factory=SlowSettings)
    rules: tuple[str, ...] = ()

    def walls(self) -> tuple[CollisionObject, ...]:
        """The workspace's sides and lid as boxes, so that a planner keeps inside it."""
        thick, center, size = 0.2, (self.lower + self.upper) / 2, self.upper - self.lower
        result = []
        for axis, name in enumerate("xyz"):
            for sign, at in ((-1, self.lower[axis]), (1, self.upper[axis])):
                if axis == 2 and sign < 0:
                    continue  # the table is there
                position, extent = center.copy(), size + 2 * thick
                position[axis], extent[axis] = at + sign * thick / 2, thick
                result.append(CollisionObject(f"workspace:{'-' if sign < 0 else '+'}{name}", (Shape("box", tuple(map(float, extent))),), _at(position)))
        return tuple(result)


def keep_out_zone(name: str, pose: Array, size: npt.ArrayLike, margin: float = KEEP_OUT_MARGIN) -> CollisionObject:
    """A box of ``size`` (3,) [m] that nothing enters, as the obstacle ``keep_out:<name>``: larger by ``margin`` [m] on every side."""
    return CollisionObject(f"keep_out:{name}", (Shape("box", tuple(float(edge) + 2 * margin for edge in np.asarray(size))),), pose)


def load_safety(path: str | Path | None = None) -> SafetySettings:
    """Settings of a file, default ``config/safety.yaml``.

    Raises:
        DeskhandError: ``config_error`` naming the file, the field and what is valid.
    """
    file = Path(path) if path else resource_path("config/safety.yaml")
    try:
        data = read_yaml(file)
    except (OSError, yaml.YAMLError) as error:
        raise DeskhandError("config_error", f"{file} cannot be read: {error}.") from error
    try:
        return parse_safety(data)
    except DeskhandError as error:
        raise DeskhandError("config_error", f"{file}: {error.message}", hint=error.hint) from error


def parse_safety(data: Any) -> SafetySettings:
    """Settings from what YAML gave; the same errors without the file's name."""
    if not isinstance(data, dict):
        raise DeskhandError("config_error", f"a mapping is expected, got {type(data).__name__}.")
    valid = (
        "workspace",
        "keep_out",
        "keep_out_margin",
        "max_tcp_speed",
        "max_joint_speed",
        "max_penetration",
        "check_step",
        "approval",
        "approval_others",
        "authorisation",
        "watchdog",
        "slow",
        "rules",
    )
    _only(data, valid, "the file")
    workspace = _mapping(data.get("workspace"), "workspace")
    _only(workspace, ("lower", "upper"), "workspace")
    lower, upper = _vector(workspace.get("lower"), "workspace.lower"), _vector(workspace.get("upper"), "workspace.upper")
    if not (upper > lower).all():
        raise DeskhandError("config_error", f"workspace.upper {upper.tolist()} must be above workspace.lower {lower.tolist()}.")
    zones = data.get("keep_out") or []
    if not isinstance(zones, list):
        raise DeskhandError("config_error", "keep_out must be a list of boxes {name, xyz, rpy, size}.")
    margin = _number(data, "keep_out_margin", KEEP_OUT_MARGIN, 0.1)
    approval, others = _approval(data, "approval", "never"), _approval(data, "approval_others", "motion")
    authorisation = data.get("authorisation", "task")
    if authorisation is False:  # YAML reads a bare off as no
        authorisation = "off"
    if authorisation not in AUTHORISATIONS:
        raise DeskhandError("config_error", f"authorisation must be one of {', '.join(AUTHORISATIONS)}, got {authorisation!r}.")
    watchdog = _mapping(data.get("watchdog", {}), "watchdog")
    _only(watchdog, ("timeout", "hang_timeout", "status_timeout"), "watchdog")
    slow = _mapping(data.get("slow", {}), "slow")
    _only(slow, ("tcp_speed", "near", "near_people"), "slow")
    rules = data.get("rules") or []
    if not isinstance(rules, list) or not all(isinstance(rule, str) and rule.strip() for rule in rules):
        raise DeskhandError("config_error", f"rules must be a list of sentences, got {rules!r}.")
    return SafetySettings(
        lower,
        upper,
        tuple(_zone(zone, index, margin) for index, zone in enumerate(zones)),
        _number(data, "max_tcp_speed", 1.0, 10.0),
        _number(data, "max_joint_speed", 1.0, 1.0),
        _number(data, "max_penetration", 0.001, 0.02),
        _number(data, "check_step", 0.004, 0.05),
        approval,
        others,
        authorisation,
        WatchdogSettings(_number(watchdog, "timeout", 1.0, 60.0), _number(watchdog, "hang_timeout", 5.0, 60.0), _number(watchdog, "status_timeout", 1.0, 60.0)),
        SlowSettings(_number(slow, "tcp_speed", 0.25, 10.0), _number(slow, "near", 0.03, 0.3), _number(slow, "near_people", 0.5, 3.0)),
        tuple(rules),
    )


def _at(position: Array) -> Array:
    return pose_from_xyz_rpy(position, (0.0, 0.0, 0.0))


def _mapping(value: Any, name: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise DeskhandError("config_error", f"{name} must be a mapping, got {value!r}.")
    return value


def _only(data: dict[str, Any], valid: tuple[str, ...], where: str) -> None:
    unknown = [str(key) for key in data if key not in valid]
    if unknown:
        raise DeskhandError("config_error", f"unknown field {', '.join(unknown)} in {where}; valid: {', '.join(valid)}.")


def _vector(value: Any, name: str) -> Array:
    good = isinstance(value, list) and len(value) == 3 and all(isinstance(v, (int, float)) and not isinstance(v, bool) and np.isfinite(v) for v in value)
    if not good:
        raise DeskhandError("config_error", f"{name} must be three numbers, got {value!r}.")
    return np.asarray(value, dtype=float)


def _approval(data: dict[str, Any], name: str, default: str) -> str:
    value = data.get(name, default)
    if value not in APPROVALS:
        raise DeskhandError("config_error", f"{name} is {value!r}; valid: {', '.join(APPROVALS)}. (YAML reads a bare `off` or `no` as false.)")
    return str(value)


def _number(data: dict[str, Any], name: str, default: float, most: float) -> float:
    value = data.get(name, default)
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 < value <= most:
        raise DeskhandError("config_error", f"{name} must be a number above 0 and at most {most:g}, got {value!r}.")
    return float(value)


def _zone(value: Any, index: int, margin: float) -> CollisionObject:
    where = f"keep_out[{index}]"
    zone = _mapping(value, where)
    _only(zone, ("name", "xyz", "rpy", "size"), where)
    name = zone.get("name")
    if not isinstance(name, str) or not name:
        raise DeskhandError("config_error", f"{where}.name must be a text.")
    size = _vector(zone.get("size"), f"{where}.size")
    if size.min() <= 0:
        raise DeskhandError("config_error", f"{where}.size must be above 0, got {size.tolist()}.")
    rpy = _vector(zone.get("rpy", [0, 0, 0]), f"{where}.rpy")
    pose = pose_from_xyz_rpy(_vector(zone.get("xyz"), f"{where}.xyz"), [float(v) for v in rpy])
    return keep_out_zone(name, pose, size, margin)
