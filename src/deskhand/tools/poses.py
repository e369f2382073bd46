"""From a position and a way to approach it to poses of the gripper."""

from __future__ import annotations

import math
from typing import Annotated, Literal

import numpy as np
from pydantic import Field

from deskhand.arms.config import ArmConfig
from deskhand.geometry import Array, make_transform, rotation_about

Approach = Annotated[
    Literal["down", "tilted", "forward"],
    Field(description="where the fingers point: down, 45 degrees down and away from the base, or level and away from the base"),
]
Yaw = Annotated[
    float | None,
    Field(
        ge=-3.15,
        le=3.15,
        description="[rad] turn of the closing direction about the approach; 0: the fingers close along world y (down), or level; null: any that works",
    ),
]
TargetPosition = Annotated[
    list[Annotated[float, Field(ge=-1.5, le=1.5)]],
    Field(min_length=3, max_length=3, description="[m] [x, y, z] of the point between the finger tips in world: x away from the robot, y to its left, z up"),
]
_DROP = {"down": math.pi / 2, "tilted": math.pi / 4, "forward": 0.0}
_YAWS = tuple(np.linspace(0, math.pi, 6, endpoint=False))  # the hand is the same after half a turn


def hand_poses(arm: ArmConfig, position: list[float], approach: str = "down", yaw: float | None = None, width: float | None = None) -> tuple[Array, ...]:
    """world_T_tcp (4, 4) of every hand that fits: both rolls, and several yaws when none is wanted.

    ``position`` is that of the tcp; with a ``width`` [m] that of the middle between pads that are so far apart, which is another where one jaw turns.
    """
    middle = np.zeros(3) if width is None else arm.gripper.tcp_offset(width)
    point = np.asarray(position, dtype=float)
    base = arm.world_T_base[:3, 3]
    heading = 0.0 if approach == "down" else math.atan2(point[1] - base[1], point[0] - base[0])
    drop = _DROP[approach]
    forward = np.array([math.cos(heading) * math.cos(drop), math.sin(heading) * math.cos(drop), -math.sin(drop)])
    level = np.array([-math.sin(heading), math.cos(heading), 0.0])
    sign = -1.0 if approach == "down" else 1.0  # a positive yaw turns left as seen from above, although the hand looks down
    poses = []
    for angle in _YAWS if yaw is None else (yaw,):
        closing = rotation_about(forward, sign * angle) @ level
        for y in (closing, -closing):
            turn = np.column_stack([np.cross(y, forward), y, forward])
            poses.append(make_transform(turn, point - turn @ middle))
    return tuple(poses)
