"""Joint states and trajectories."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from deskhand import types
from deskhand.errors import DeskhandError
from deskhand.geometry import Array
from deskhand.nodes.conversions.geometry import duration_to_msg, header, time_from_msg


def joint_state_to_msg(state: types.JointState) -> JointState:
    """JointState -> message."""
    return JointState(
        header=header(state.stamp, ""),
        name=list(state.names),
        position=np.asarray(state.positions, float).tolist(),
        velocity=np.asarray(state.velocities, float).tolist(),
        effort=np.asarray(state.efforts, float).tolist(),
    )


def joint_state_from_msg(message: JointState) -> types.JointState:
    """Message -> JointState; absent velocities become zeros."""
    count = len(message.name)
    if len(message.position) != count:
        raise DeskhandError("invalid_input", f"joint state has {count} names but {len(message.position)} positions.")
    velocity = np.asarray(message.velocity, float) if len(message.velocity) == count else np.zeros(count)
    return types.JointState(
        tuple(message.name), np.asarray(message.position, float), velocity, np.asarray(message.effort, float), time_from_msg(message.header.stamp)
    )


def joints_to_msg(joints: Mapping[str, float] | None) -> JointState:
    """Joint positions by name -> message; None gives an empty one."""
    return JointState(name=list(joints or {}), position=[float(v) for v in (joints or {}).values()])


def joints_from_msg(message: JointState) -> dict[str, float] | None:
    """Message -> positions by name; an empty one gives None."""
    if len(message.name) != len(message.position):
        raise DeskhandError("invalid_input", f"{len(message.name)} joint names but {len(message.position)} positions.")
    if len(set(message.name)) != len(message.name):
        raise DeskhandError("invalid_input", f"a joint is named twice: {list(message.name)}.")
    return dict(zip(message.name, map(float, message.position), strict=True)) or None


def trajectory_to_msg(trajectory: types.Trajectory) -> JointTrajectory:
    """Trajectory -> message."""
    rows = zip(trajectory.times, trajectory.positions, trajectory.velocities, trajectory.accelerations, strict=True)
    points = [
        JointTrajectoryPoint(positions=p.tolist(), velocities=v.tolist(), accelerations=a.tolist(), time_from_start=duration_to_msg(t)) for t, p, v, a in rows
    ]
    return JointTrajectory(joint_names=list(trajectory.joint_names), points=points)


def trajectory_from_msg(message: JointTrajectory) -> types.Trajectory:
    """Message -> Trajectory; absent velocities and accelerations become zeros. Raises ``invalid_input`` for ragged points, and for no joints or points."""
    count = len(message.joint_names)
    if not count or not message.points:
        raise DeskhandError("invalid_input", f"a trajectory of {len(message.points)} points for {count} joints moves nothing.")

    def rows(name: str, required: bool) -> Array:
        values = [np.asarray(getattr(point, name), float) for point in message.points]
        if all(len(value) == count for value in values):
            return np.array(values, float).reshape(-1, count)
        if required or any(len(value) not in (0, count) for value in values):
            raise DeskhandError("invalid_input", f"a trajectory point has not {count} {name}, one for each of {list(message.joint_names)}.")
        return np.zeros((len(values), count))

    times = np.array([time_from_msg(point.time_from_start) for point in message.points], float)
    return types.Trajectory(tuple(message.joint_names), times, rows("positions", True), rows("velocities", False), rows("accelerations", False))
