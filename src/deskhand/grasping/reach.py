"""Whether the arm reaches a grasp: free on the way in, and with a small step from there at the grasp itself."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from deskhand.errors import DeskhandError
from deskhand.geometry import Array, make_transform
from deskhand.grasping.generator import Reach
from deskhand.grasping.planar import Start
from deskhand.types import IkSolution

BACK = 0.05  # [m] from the grasp, where the hand must be free of contact
JUMP = 0.9  # [rad] that a joint may turn over those: more is another branch, which no straight line reaches
MAX_ROLL = 0.05  # [rad] that the closing direction may be off

Solve = Callable[[Array, "Array | None", bool], list[IkSolution]]
"""Solutions for world_T_tcp, from a seed (None: the measured joints), with or without a test for collisions; raises ``no_ik_solution``."""


def reach_by_ik(solve: Solve, start: Start = lambda _: None) -> Reach:
    """A reach test for :class:`GraspGenerator`.

    At the grasp itself the gripper is close to the object, so collisions are tested where the approach begins. A grasp that is met but for a roll
    about its approach closes along the wrong direction: it does not count as reached. ``start`` gives the joints to begin the search from.
    """

    def reach(poses: Array) -> list[Array | None]:
        return [_joints(solve, pose, start) for pose in poses]

    return reach


def _joints(solve: Solve, pose: Array, start: Start) -> Array | None:
    try:
        pregrasp = pose @ make_transform(translation=[0.0, 0.0, -BACK])
        near = start(pregrasp)
        first = solve(pregrasp, near, False)[0]
        if not first.collision_free:
            if near is not None:  # the arm has no other way to stand there but with the elbow down or bent over backwards: a search would take its whole time
                return None
            first = solve(pregrasp, first.joints, True)[0]
        before = first.joints
        last = solve(pose, before, False)[0]
        joints = last.joints
    except DeskhandError as error:
        if error.code in ("no_ik_solution", "goal_in_collision"):
            return None
        raise
    if max(abs(first.roll_error), abs(last.roll_error)) > MAX_ROLL:
        return None
    return joints if np.abs(joints - before).max() < JUMP else None
