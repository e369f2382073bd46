"""Joint states of an arm as somebody's driver publishes them, made what the package expects: measured numbers, and fingers that count alike."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np
from sensor_msgs.msg import JointState as JointStateMsg

from deskhand.arms.config import ArmConfig
from deskhand.nodes import conversions
from deskhand.types import JointState


class MeasuredJoints:
    """Reads messages of ``joint_states``.

    A joint whose position is no number has not been measured, and is left out. The second finger is where the first one is: some drivers (Interbotix' xs_sdk)
    count it the other way.

    Args:
        warn: told of joints that are left out; may be called with every message.
    """

    def __init__(self, arm: ArmConfig, warn: Callable[[str], None]) -> None:
        self._driven, self._second, self._warn = arm.gripper.joint, arm.gripper.mimic, warn

    def read(self, message: JointStateMsg) -> JointState:
        """Message -> JointState.

        Raises:
            DeskhandError: ``invalid_input`` for a message whose names and positions do not match.
        """
        state = conversions.joint_state_from_msg(message)
        if self._second in state.names and self._driven in state.names:
            positions = state.positions.copy()
            positions[state.names.index(self._second)] = positions[state.names.index(self._driven)]
            state = replace(state, positions=positions)
        measured = [index for index, position in enumerate(state.positions) if math.isfinite(position)]
        if len(measured) < len(state.names):
            self._warn(unmeasured([name for name, position in zip(state.names, state.positions, strict=True) if not math.isfinite(position)]))
            state = _only(state, measured)
        return state


def unmeasured(names: list[str]) -> str:
    """What to do about joints that are published without having been measured."""
    return (
        f"joint_states hold no measured position of {', '.join(names)}: it is missing or no number. With Interbotix' hardware interface no "
        "joint_state_broadcaster may run, since the finger is never read there; its node xs_sdk publishes what is measured."
    )


def _only(state: JointState, keep: list[int]) -> JointState:
    count = len(state.names)
    velocities, efforts = (values[keep] if len(values) == count else np.zeros(0) for values in (state.velocities, state.efforts))
    return JointState(tuple(state.names[index] for index in keep), state.positions[keep], velocities, efforts, state.stamp)
