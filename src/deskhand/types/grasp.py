"""Grasps. SI units; every pose is ``world_T_x``, (4, 4); see geometry.py."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from deskhand.geometry import Array


@dataclass(frozen=True)
class Grasp:
    """A parallel-gripper grasp.

    Attributes:
        pose: world_T_tcp at closing: z forward out of the gripper, y along the closing direction.
        width: distance of the contacts [m]; the gripper opens wider before.
        score: 0..1, the probability that the pick succeeds (grasping/success.py).
        contacts: (2, 3) in ``world``.
        friction_margin: [rad] left between the contact forces and the friction cone.
        clearance: smallest distance [m] of the open hand to the rest of the scene.
        joints: an arm configuration that reaches ``pose`` (n,), empty when reach was not checked.
        opening: distance of the pads [m] on the way in, for which the clearance holds; 0: as wide as the gripper opens.
        force: to close with [N]; 0: the gripper's usual one.
    """

    object_id: str
    pose: Array
    width: float
    score: float
    contacts: Array
    friction_margin: float = 0.0
    clearance: float = 0.0
    joints: Array = field(default_factory=lambda: np.zeros(0))
    opening: float = 0.0
    force: float = 0.0
