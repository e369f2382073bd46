"""What stands on its like: a look takes the two for one object as high as both, which is taken apart again by what the hand knows of them."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from deskhand.perception.fit.pose_verification import shifted
from deskhand.skills.standing import cells_middle
from deskhand.types import Scene, SceneObject

AS_HIGH = 0.008  # [m] that the top of a column may differ from where the upper one's should be
ASIDE = 0.6  # times the lesser of their edges: what is seen farther beside the place of the upper one is not that one
PART = 0.3  # share of the upper one's height above the lower one's top from which on points are surely its own


@dataclass
class Columns:
    """Of one session.

    Attributes:
        pairs: id of the upper one -> it and the lower one, where they should stand.
    """

    pairs: dict[str, tuple[SceneObject, SceneObject]] = field(default_factory=dict)

    def put(self, upper: SceneObject, lower: SceneObject) -> None:
        """``upper`` was let go on top of ``lower``; looks say whether it stands there."""
        self.pairs[upper.id] = upper, lower

    def taken(self, name: str) -> None:
        """``name`` is in the hand, or was moved."""
        self.pairs = {key: pair for key, pair in self.pairs.items() if name not in (pair[0].id, pair[1].id)}

    def apart(self, scene: Scene) -> Scene:
        """The scene with each column in two. A pair whose upper one is shown by itself is none any more; the column may have the id of either."""
        for name, (upper, lower) in list(self.pairs.items()):
            column = next((item for item in scene.objects if _as_one(item, upper, lower)), None)
            if any(item.id == name and item is not column for item in scene.objects):
                del self.pairs[name]
                continue
            found = _upper_of(column, upper, lower) if column is not None else None
            if column is not None and found is not None:
                below = replace(lower, points=column.points[column.points[:, 2] < lower.top])
                others = (item for item in scene.objects if item is not column and item.id != lower.id)
                scene = replace(scene, objects=(*others, below, found))
        return scene


def _as_one(item: SceneObject, upper: SceneObject, lower: SceneObject) -> bool:
    """Whether ``item`` is as high as both, where they stand, and reaches down into the lower one."""
    beside = float(np.linalg.norm(item.position[:2] - lower.position[:2]))
    low = float(item.bottom) < (lower.top + lower.bottom) / 2
    return not item.is_container and low and abs(item.top - upper.top) < AS_HIGH and beside < float(np.min(lower.size[:2]))


def _upper_of(column: SceneObject, upper: SceneObject, lower: SceneObject) -> SceneObject | None:
    """The upper one where its part of the column shows it; None where that lies beside its place."""
    own = column.points[column.points[:, 2] > lower.top + PART * (upper.top - lower.top)]
    seen, expected = cells_middle(replace(upper, points=own)), cells_middle(upper)
    if seen is None or expected is None:
        return None
    shift = seen - expected
    if float(np.linalg.norm(shift)) > ASIDE * float(min(*upper.size[:2], *lower.size[:2])):
        return None
    return replace(shifted(upper, shift), points=own, support=lower.id, relation="on")
