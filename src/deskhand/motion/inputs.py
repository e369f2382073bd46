"""What motion requests must look like; every refusal names what is wrong and what is valid."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from deskhand.arms.config import ArmConfig
from deskhand.arms.model import RobotModel
from deskhand.errors import DeskhandError
from deskhand.geometry import Array, check_pose
from deskhand.types import MotionGoal, PlanOptions

START_SLACK = 0.03  # [rad] that measured joints may be beyond their limits
FARTHEST = 1e3  # [m]; beyond it squares overflow
MOST_POSES = 200
MOST_WAYPOINTS = 200
UNIT, LAST_ROW = np.eye(3), np.array([0.0, 0.0, 0.0, 1.0])
ROUNDING = 1e-14


def check_joints(model: RobotModel, joints: Mapping[str, float], what: str) -> Array:
    """Values (n,) in the arm's order.

    Raises:
        DeskhandError: ``invalid_input`` for unknown or missing joints or values that are not finite, ``limits_violated`` outside the limits.
    """
    names = model.arm.joints
    if not isinstance(joints, Mapping):
        raise DeskhandError("invalid_input", f"{what} must map joint names to positions, got {type(joints).__name__}; joints: {', '.join(names)}.")
    others = set(model.limits) - set(names)
    unknown = [str(name) for name in joints if name not in names and name not in others]
    missing = [name for name in names if name not in joints]
    if unknown or missing:
        wrong = [f"unknown {unknown}"] * bool(unknown) + [f"missing {missing}"] * bool(missing)
        raise DeskhandError("invalid_input", f"{what}: {' and '.join(wrong)}; it must give exactly {', '.join(names)}.")
    try:
        values = np.array([float(joints[name]) for name in names])
    except (TypeError, ValueError) as error:
        raise DeskhandError("invalid_input", f"{what}: a position is not a number ({error}).") from error
    if not np.isfinite(values).all():
        raise DeskhandError("invalid_input", f"{what}: positions must be finite, got {values.tolist()}.")
    return values


def check_limits(model: RobotModel, values: Array, what: str, slack: float = 1e-4) -> Array:
    """``values`` clamped to the limits, when they are within ``slack`` [rad] of them.

    Raises:
        DeskhandError: ``limits_violated`` naming joint, value and range.
    """
    lower, upper = zip(*(model.limits[name][:2] for name in model.arm.joints), strict=True)
    for name, value, low, high in zip(model.arm.joints, values.tolist(), lower, upper, strict=True):
        if not low - slack <= value <= high + slack:
            raise DeskhandError("limits_violated", f"{what}: {name} at {value:.4g} rad is outside {low:.3f}..{high:.3f}.")
    return np.clip(values, lower, upper)


def check_options(options: PlanOptions | None) -> PlanOptions:
    """Options in range; None gives the defaults.

    Raises:
        DeskhandError: ``invalid_input`` naming the field and its range.
    """
    options = options or PlanOptions()
    ranges: dict[str, tuple[float, float]] = {
        "speed_scale": (0.01, 1.0),
        "max_planning_time": (0.01, 60.0),
        "max_deviation": (1e-4, 0.1),
        "min_fraction": (0.0, 1.0),
    }
    for name, (low, high) in ranges.items():
        _in_range(name, getattr(options, name), low, high)
    if options.upright_tolerance is not None:
        _in_range("upright_tolerance", options.upright_tolerance, 0.01, float(np.pi))
    return options


def _in_range(name: str, value: float, low: float, high: float) -> None:
    if isinstance(value, bool) or not isinstance(value, (int, float, np.floating, np.integer)) or not low <= value <= high:
        raise DeskhandError("invalid_input", f"{name} must be a number from {low:g} to {high:g}, got {value!r}.")


def check_goal(model: RobotModel, goal: MotionGoal) -> MotionGoal:
    """A goal that gives exactly one of joints, named pose and poses.

    Raises:
        DeskhandError: ``invalid_input``.
    """
    given = [name for name, there in (("joints", goal.joints is not None), ("named", bool(goal.named)), ("poses", len(goal.poses) > 0)) if there]
    if len(given) != 1:
        raise DeskhandError("invalid_input", f"a goal must give exactly one of joints, named, poses; got {' and '.join(given) or 'none'}.")
    if goal.named and goal.named not in model.arm.named_poses:
        raise DeskhandError("invalid_input", f"there is no named pose {goal.named!r}; valid: {', '.join(sorted(model.arm.named_poses))}.")
    if len(goal.poses) > MOST_POSES:
        raise DeskhandError("invalid_input", f"{len(goal.poses)} goal poses; at most {MOST_POSES}.")
    return MotionGoal(goal.joints, goal.named, tuple(check_rigid(pose, f"goal pose {i}") for i, pose in enumerate(goal.poses)))


def check_rigid(pose: Array, name: str) -> Array:
    """As ``geometry.check_pose``, with its rotation made exactly orthonormal."""
    try:
        given = np.asarray(pose, dtype=float)
    except (TypeError, ValueError) as error:
        raise DeskhandError("invalid_input", f"{name} must be a 4x4 matrix of numbers ({error}).") from error
    largest = np.abs(given).max(initial=0.0)
    if np.isfinite(largest) and largest > FARTHEST:
        raise DeskhandError("invalid_input", f"{name} has values beyond {FARTHEST:g} m.")
    matrix: Array = check_pose(given, name).copy()
    if np.abs(matrix[3] - LAST_ROW).max() > 1e-6:
        raise DeskhandError("invalid_input", f"the last row of {name} must be 0 0 0 1, got {matrix[3].tolist()}.")
    rotation = matrix[:3, :3]
    for _ in range(3):  # Newton's steps to the nearest rotation: from 1e-3 off to rounding
        square = rotation @ rotation.T
        if np.abs(square - UNIT).max() < ROUNDING:
            break
        rotation = 1.5 * rotation - 0.5 * square @ rotation
    matrix[:3, :3] = rotation
    return matrix


def check_waypoints(poses: Sequence[Array]) -> tuple[Array, ...]:
    """Way-points of a Cartesian plan.

    Raises:
        DeskhandError: ``invalid_input`` when there are none, too many, or one is no pose.
    """
    if not 1 <= len(poses) <= MOST_WAYPOINTS:
        raise DeskhandError("invalid_input", f"a Cartesian plan needs 1 to {MOST_WAYPOINTS} way-points, got {len(poses)}.")
    return tuple(check_rigid(pose, f"way-point {i}") for i, pose in enumerate(poses))


def check_reach(model: RobotModel, pose: Array, what: str) -> None:
    """Refuse at once what is far out of reach.

    Raises:
        DeskhandError: ``no_ik_solution`` with the distance and the reach.
    """
    distance = float(np.linalg.norm(pose[:3, 3] - model.arm.world_T_base[:3, 3]))
    most = model.arm.reach * 1.25
    if distance > most:
        where = ", ".join(f"{value:.3g}" for value in pose[:3, 3])
        raise DeskhandError("no_ik_solution", f"{what} at ({where}) is {distance:.3g} m from the arm's base{against_reach(model.arm, pose[:3, 3])}.")


def against_reach(arm: ArmConfig, position: Array) -> str:
    """Behind a distance from the base: what the arm reaches, how much is missing, and the nearest point on the way there."""
    base = arm.world_T_base[:3, 3]
    out = np.asarray(position, dtype=float) - base
    missing = float(np.linalg.norm(out)) - arm.reach
    if missing <= 0:
        return f"; it reaches {arm.reach:.2f} m"
    x, y, z = base + out * arm.reach / np.linalg.norm(out)
    return f"; it reaches {arm.reach:.2f} m: {1000 * missing:.0f} mm are missing, and towards there it ends at ({x:.2f}, {y:.2f}, {z:.2f})"
