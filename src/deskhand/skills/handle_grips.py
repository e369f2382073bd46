"""Ways to grip the handle of a drawer, a lid or a knob: from where the hand comes, and across what the fingers close."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from deskhand.arms.gripper import GripperConfig
from deskhand.geometry import Array, make_transform
from deskhand.perception.handles import Handle

PREGRASP = 0.07  # [m] back along the approach
SHORT = 0.035  # [m] of the same, where the arm does not reach farther
ROOM = 0.006  # [m] that the fingers are open wider than a handle
BEHIND = 0.004  # [m] beside a finger that goes behind a bar
TIPS = 0.003  # [m] between the finger tips and the side that the handle is on, or the table
UP = 0.75  # of an upright handle, at which it is gripped: a lid turns towards the fingers
LONG = 0.05  # [m] of a bar, from which on it is gripped off its middle too, where that is in the way of something
ASIDE = 0.3  # of its length
TILTS = np.deg2rad([90.0, 75.0, 60.0, 45.0, 30.0, 0.0])  # of the approach from straight down, towards straight in
SQUARE = 0.1  # cosine between approach and closing
SAME = 0.9  # cosine from which on a direction is the one asked for


@dataclass(frozen=True)
class HandleGrip:
    """``pose`` world_T_tcp (4, 4), and the handle's extent ``width`` [m] between the fingers."""

    pose: Array
    width: float

    def before(self, back: float = PREGRASP) -> Array:
        """world_T_tcp (4, 4) from where the hand comes straight in, ``back`` [m] along the approach."""
        return np.asarray(self.pose @ make_transform(translation=[0, 0, -back]))


def handle_grips(handle: Handle, gripper: GripperConfig, floor: float, pivot: Array | None = None) -> list[HandleGrip]:
    """Grips that the fingers are wide enough for: straight in first, then more and more from above; a handle on top from above only. Long
    bars last off their middle.

    ``floor`` [m]: height of the table. ``pivot`` (3,): the handle turns about it between the fingers, which close along it.
    """
    down = np.array([0.0, 0.0, -1.0])
    found, beside = [], []
    for tilt in (0.0,) if handle.on_top else TILTS:
        approach = down if handle.on_top else np.cos(tilt) * down - np.sin(tilt) * handle.outward
        for closing, width in _closings(handle, approach, gripper):
            if width <= gripper.width_max - ROOM and (pivot is None or abs(closing @ pivot) > SAME):
                found += [HandleGrip(_pose(handle, approach, sign * closing, width, gripper, floor), width) for sign in (1.0, -1.0)]
                if not handle.on_top and handle.size[1] > LONG and abs(closing @ handle.along) < SQUARE:
                    beside += [
                        HandleGrip(_pose(_part(handle, share), approach, sign * closing, width, gripper, floor), width)
                        for share in (ASIDE, -ASIDE)
                        for sign in (1.0, -1.0)
                    ]
    return found + beside


def _part(handle: Handle, share: float) -> Handle:
    """The handle about a place off its middle by a share of its length."""
    return replace(handle, centre=handle.centre + share * handle.size[1] * handle.along)


def _closings(handle: Handle, approach: Array, gripper: GripperConfig) -> Iterator[tuple[Array, float]]:
    """Unit vectors (3,) along which fingers that come along ``approach`` may close, and how wide [m] the handle is there."""
    for closing, width in ((handle.across, float(handle.size[2])), (handle.along, float(handle.size[1]))):
        if abs(closing @ approach) < SQUARE:
            yield closing, width
    around = np.cross(approach, handle.along)
    behind = (gripper.finger_thickness + BEHIND) * abs(float(around @ handle.outward))
    if handle.gap > behind > SQUARE * BEHIND and np.linalg.norm(around) > SAME:  # a rod is as thick from everywhere
        yield around / np.linalg.norm(around), float(handle.size[0]) - handle.gap


def _pose(handle: Handle, approach: Array, closing: Array, width: float, gripper: GripperConfig, floor: float) -> Array:
    """world_T_tcp (4, 4) with the pads about the bar, or the upper part of a knob; the tips touch neither the side behind it nor the table."""
    size = float(handle.size[0])
    middle = UP * size if handle.on_top else (size + handle.gap) / 2  # of the bar, or of all that sticks out
    off = max(middle, TIPS + gripper.finger_depth * float(-approach @ handle.outward))
    turn = np.column_stack([np.cross(closing, approach), closing, approach])
    pose = make_transform(turn, handle.centre + handle.outward * (off - size / 2) - turn @ gripper.tcp_offset(width))
    pose[2, 3] += max(0.0, floor + TIPS - float(pose[2, 3] + gripper.finger_depth * approach[2]))
    return pose
