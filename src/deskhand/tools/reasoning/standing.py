"""Whether a thing is at the very place where it shall be, by a fresh picture."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from deskhand.etp.tool import ToolContext
from deskhand.perception.fit.pose_verification import ENOUGH, locate, shifted
from deskhand.types import Scene

EXACT = 0.010  # [m]


def at_position(ctx: ToolContext, scene: Scene, object_id: str, position: Sequence[float]) -> tuple[bool, str]:
    """Whether the centre of an object is within 10 mm of ``position`` (x, y) [m], and what was measured."""
    item = next((other for other in scene.objects if other.id == object_id), None)
    if item is None:
        return False, f"{object_id} is not seen."
    how = "seen"
    if object_id in ctx.belief.known:
        others = [other for other in ctx.belief.known.values() if other.id != object_id]
        shift, evidence = locate(ctx.robot.observe(), item, others)
        if evidence.there:
            item, how = shifted(item, shift), f"{evidence.share:.0%} of what is seen of it agrees"
        elif evidence.seen >= ENOUGH:
            return False, f"{object_id} is not where it was put: only {evidence.share:.0%} of what is seen there agrees."
        else:
            how = "put there and hidden since by what stands around it"
    off = float(np.linalg.norm(item.position[:2] - np.asarray(position, dtype=float)))
    return off <= EXACT, f"{object_id} is {1000 * off:.0f} mm off the place ({how})."
