"""What a hand with one fixed jaw does more than one whose fingers both move: it moves over to what it closes on, and away from what it lets go."""

from __future__ import annotations

import logging

import numpy as np

from deskhand.errors import DeskhandError
from deskhand.geometry import make_transform
from deskhand.grasping.sampling import turned_into_plane
from deskhand.skills.base import UNREACHED, SkillContext
from deskhand.skills.reach import lean_axis
from deskhand.types import Grasp, PlanOptions

log = logging.getLogger(__name__)

SLOW = 0.3  # of the full speed
SHORTEST = 0.0005  # [m] that is worth a motion


def move_onto(ctx: SkillContext, grasp: Grasp, allow: tuple[tuple[str, str], ...]) -> None:
    """Bring the fixed pad from its stand-off to the object that ``grasp`` is of; nothing for fingers that both move.

    Where the arm cannot, the turning jaw pushes the object over.
    """
    gripper = ctx.robot.arm.gripper
    width = abs(float((grasp.contacts[1] - grasp.contacts[0]) @ grasp.pose[:3, 1]))
    _aside(ctx, float(gripper.stand_off(np.array(grasp.opening or gripper.width_max), np.array(width))), allow)


def move_off(ctx: SkillContext, opened: float, width: float, allow: tuple[tuple[str, str], ...]) -> None:
    """Bring the fixed pad away from what was ``width`` [m] wide and let go by opening to ``opened`` [m]; nothing for fingers that both move."""
    _aside(ctx, -float(ctx.robot.arm.gripper.stand_off(np.array(opened), np.array(width))), allow)


def _aside(ctx: SkillContext, distance: float, allow: tuple[tuple[str, str], ...]) -> None:
    """Move the gripper by ``distance`` [m] along its closing direction."""
    if abs(distance) < SHORTEST:
        return
    pose = ctx.robot.tcp_pose() @ make_transform(translation=[0.0, distance, 0.0])
    axis = lean_axis(ctx)
    if axis is not None:
        pose = turned_into_plane(pose[None], axis)[0]
    try:
        ctx.execute(ctx.plan_line((pose,), PlanOptions(allow=allow, speed_scale=SLOW, min_fraction=0.5)))
    except DeskhandError as error:
        if error.code not in UNREACHED:
            raise
        log.info("the gripper cannot move over by %.1f mm: %s: %s", 1000 * distance, error.code, error)
