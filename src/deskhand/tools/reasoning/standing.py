"""Whether an object is at the very place where it shall be, by a fresh picture."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from deskhand.etp.tool import ToolContext
from deskhand.perception.fit.pose_verification import locate, shifted
from deskhand.perception.fit.surface_settings import VERIFICATION
from deskhand.skills.presence import levelled
from deskhand.types import Scene
from deskhand.world.level import TURNED, heading_error, level

EXACT = 0.010  # [m]
UPRIGHT = 0.9  # cosine of the angle between the axis of what stands and up


def at_position(ctx: ToolContext, scene: Scene, object_id: str, position: Sequence[float]) -> tuple[bool, str]:
    """Whether the centre of an object is within 10 mm of ``position`` (x, y) [m], and what was measured."""
    item = next((other for other in scene.objects if other.id == object_id), None)
    if item is None:
        return False, f"{object_id} is not seen."
    how = "seen"
    if object_id in ctx.belief.known:
        others = [other for other in ctx.belief.known.values() if other.id != object_id]
        shift, evidence = locate(levelled(ctx.robot.observe()), item, others)
        if evidence.there:
            item, how = shifted(item, shift), f"{evidence.share:.0%} of what is seen of it agrees"
        elif evidence.seen >= VERIFICATION.enough:
            return False, f"{object_id} is not where it was put: only {evidence.share:.0%} of what is seen there agrees."
        else:
            how = "put there and hidden since by what stands around it"
    off = float(np.linalg.norm(item.position[:2] - np.asarray(position, dtype=float)))
    return off <= EXACT, f"{object_id} is {1000 * off:.0f} mm off the place ({how})."


def at_heading(scene: Scene, object_id: str, yaw: float) -> tuple[bool, str]:
    """Whether the longer side of an object has a heading [rad], to 10 degrees, and what was measured; what is round has any."""
    item = next((other for other in scene.objects if other.id == object_id), None)
    if item is None:
        return False, f"{object_id} is not seen."
    lies = level(item.pose, item.size)
    if item.shape == "sphere" or (item.shape == "cylinder" and abs(item.pose[2, 2]) > UPRIGHT):
        return True, f"{object_id} is round and has no heading."
    off = heading_error(lies.size.tolist(), lies.yaw, yaw)
    return off <= TURNED, f"{object_id} is turned by {np.degrees(off):.0f} degrees from the heading."
