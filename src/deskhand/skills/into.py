"""Where in a container there is room for what is held, and whether it is there already."""

from __future__ import annotations

import numpy as np

from deskhand.errors import DeskhandError
from deskhand.skills.base import SkillContext
from deskhand.skills.belief import Brought, Held
from deskhand.skills.change_detection import inside_container
from deskhand.skills.placement_sampling import Spot, spots_in
from deskhand.skills.reach import lean_axis
from deskhand.skills.why import other_container
from deskhand.types import Scene, SceneObject

FULL = 0.05  # share of a container's room that must be free
STAYED = 0.004  # [m] that the hand may be from where it brought something


def brought_to(ctx: SkillContext, held: Held, container: SceneObject) -> Brought | None:
    """Where in the container ``held`` is to be let go, if the hand has brought it there already; asked once."""
    brought, ctx.belief.brought = ctx.belief.brought, None
    if brought is None or (brought.object_id, brought.container_id) != (held.object.id, container.id):
        return None
    return brought if np.linalg.norm(ctx.robot.tcp_pose()[:3, 3] - brought.tcp[:3, 3]) < STAYED else None


def contents_of(scene: Scene, container: SceneObject) -> tuple[str, ...]:
    """Ids of what lies in it."""
    return tuple(item.id for item in scene.objects if item.id != container.id and (item.support == container.id or inside_container(container, item)))


def room_for(ctx: SkillContext, container: SceneObject, tilt: float) -> list[Spot]:
    """Where what is held can be let down, the hand leaning by ``tilt`` [rad]. Raises ``no_free_space``."""
    held, arm = ctx.belief.held, ctx.robot.arm
    assert held is not None
    spots = spots_in(ctx.belief.everything(), container, held, arm.gripper, arm.world_T_base[:3, 3], tilt, axis=lean_axis(ctx))
    if not spots:
        raise DeskhandError("no_free_space", f"there is no room in {container.id} for {held.object.id}; {other_container(ctx.belief.everything(), container)}.")
    return spots
