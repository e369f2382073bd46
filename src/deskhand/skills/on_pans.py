"""What lies on the pans of a balance, by what the robot put there: a pan that moves carries it up and down, so that its pose follows from the pan's height.

A look alone does not tell: an object and the pan that it stands on touch, and are seen as one now, as two then; and blocks that look the same change places
in a look when both pans move.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from deskhand.errors import DeskhandError
from deskhand.geometry import Array, inverse, make_transform, transform_points
from deskhand.perception.balance import Balance, Pan, find_balance, follow
from deskhand.perception.fit.pose_verification import evidence_for, locate, shifted
from deskhand.types import Frame, Scene, SceneObject, moved

RIM = 0.010  # [m] above a pan's plate that its rim may seem to reach
STANDS = 0.008  # [m] above or below a pan's plate that the underside of what stands on it may be seen
BESIDE = 0.006  # [m] beyond a pan's edges that its points may be seen
MERGED = 0.1  # share of the points of what a look shows that lie in an object from which the object is a part of it
PIECE = 0.8  # .. and share of its points that are a balance's, from which it is a piece of that
MISSES = 1  # pictures in a row that may show it to be gone, as one does while the pan still moves
LEAST = 12  # points of what is left of a piece
INSIDE = 0.007  # [m] that points may lie outside of the box that explains them


@dataclass
class OnPans:
    """Of one session.

    Attributes:
        items: id -> (side, the object as it stands there); its height is that of the last picture that showed the pan.
        balance: as it was last seen.
    """

    items: dict[str, tuple[str, SceneObject]] = field(default_factory=dict)
    balance: Balance | None = None
    _missed: Counter[str] = field(default_factory=Counter)

    def put(self, item: SceneObject, side: str) -> None:
        """``item`` stands on the pan of that side."""
        self.items[item.id] = (side, item)
        self._missed[item.id] = 0

    def taken(self, name: str) -> None:
        """The hand has it."""
        self.items.pop(name, None)
        self._missed.pop(name, None)

    def on(self, side: str) -> list[str]:
        """Ids of what stands on a pan."""
        return [name for name, (there, _) in self.items.items() if there == side]

    def seen(self, frame: Frame) -> dict[str, SceneObject]:
        """What stands on the pans, as high as they are in ``frame``; what that shows to be gone is forgotten."""
        try:
            self.balance = find_balance(frame) if self.balance is None else follow(frame, self.balance)
        except DeskhandError:  # the arm hides it: all is as it was
            return {}
        for name, (side, item) in list(self.items.items()):
            self.items[name] = (side, on_top(item, getattr(self.balance, side)))
        boxes = [item for _, item in self.items.values()]
        for item in boxes:
            if not evidence_for(frame, item, boxes).gone:
                self._missed[item.id] = 0
                continue
            shift, evidence = locate(frame, item, boxes)
            if evidence.there:  # a finger has pushed it a little
                self.put(shifted(item, shift), self.items[item.id][0])
                continue
            self._missed[item.id] += 1
            if self._missed[item.id] > MISSES:
                self.taken(item.id)
        return {name: item for name, (_, item) in self.items.items()}

    def apart(self, scene: Scene) -> Scene:
        """``scene`` where what a look has taken for one, an object and the pan below it, is two."""
        boxes = [item for _, item in self.items.values()]
        out: list[SceneObject] = []
        taken = {item.id for item in scene.objects} | set(self.items)
        for item in scene.objects:
            points = np.asarray(item.points, dtype=float)
            inside = _within(points, boxes)
            if item.is_container or not len(points) or not MERGED <= inside.mean() <= 1 - MERGED:
                out.append(item)
                continue
            left = points[~inside & ~self._above(points)]
            if len(left) >= LEAST:
                name = next(f"object_{number}" for number in range(1, 1000) if f"object_{number}" not in taken)
                taken.add(name)
                out.append(_rest(item, left, name))
        return replace(scene, objects=tuple(out))

    def _above(self, points: Array) -> npt.NDArray[np.bool_]:
        """Which points (N, 3) lie over a pan and above its rim: edges of what stands there."""
        above = np.zeros(len(points), bool)
        for pan in (self.balance.left, self.balance.right) if self.balance is not None else ():
            above |= (points[:, 2] > pan.height + RIM) & np.array([pan.over(x, y, -BESIDE) for x, y in points[:, :2]], dtype=bool)
        return above


def on_top(item: SceneObject, pan: Pan) -> SceneObject:
    """``item``, upright as it is, with its underside on the pan's plate."""
    pose = item.pose.copy()
    pose[2, 3] += pan.height - item.bottom
    return moved(item, pose)


def standing_on(scene: Scene, pan: Pan, but: Sequence[str] = ()) -> list[SceneObject]:
    """What a look shows on a pan: objects that stand on its plate, and what is above the plate of those that are seen as one with it."""
    found = []
    for item in scene.objects:
        if item.id in but or item.is_container or not pan.over(*map(float, item.position[:2])) or is_piece(item, pan):
            continue
        if abs(item.bottom - pan.height) < STANDS:
            found.append(on_top(item, pan))
        elif (cut := _above(item, pan)) is not None:
            found.append(cut)
    return found


def is_piece(item: SceneObject, pan: Pan) -> bool:
    """Whether what a look shows is the pan, its rim or what is below it, and nothing that stands on it."""
    points = np.asarray(item.points, dtype=float)
    if not len(points):
        return item.top < pan.height + RIM
    low = points[:, 2] < pan.height + RIM
    return bool(low.mean() >= PIECE or item.top < pan.height + RIM)


def _above(item: SceneObject, pan: Pan) -> SceneObject | None:
    """The part of ``item`` that stands above the rim, as an object on the plate; None where that is too little."""
    points = np.asarray(item.points, dtype=float)
    upper = points[(points[:, 2] > pan.height + RIM) & np.array([pan.over(x, y, -BESIDE) for x, y in points[:, :2]], dtype=bool)] if len(points) else points
    if len(upper) < LEAST:
        return None
    top = float(np.quantile(upper[:, 2], 0.98))
    local = transform_points(inverse(make_transform(item.pose[:3, :3], item.position)), upper)
    low, high = np.quantile(local[:, :2], 0.01, axis=0), np.quantile(local[:, :2], 0.99, axis=0)
    pose = item.pose.copy()
    pose[:3, 3] = transform_points(item.pose, np.array([*((low + high) / 2), 0.0])[None])[0]
    pose[2, 3] = (top + pan.height) / 2
    size = np.array([*np.minimum(high - low, np.asarray(item.size[:2], dtype=float)), top - pan.height])
    return replace(item, pose=pose, size=size, points=upper.astype(np.float32))


def _rest(item: SceneObject, points: Array, name: str) -> SceneObject:
    """What is left of a piece without the object on it: an upright box about its points."""
    low, high = points.min(axis=0), points.max(axis=0)
    pose = make_transform(np.eye(3), (low + high) / 2)
    size = np.maximum(high - low, 0.002)
    return replace(item, id=name, label="object", shape="box", pose=pose, size=size, points=points.astype(np.float32), support="table", relation="on", names=())


def _within(points: Array, boxes: Sequence[SceneObject]) -> npt.NDArray[np.bool_]:
    inside = np.zeros(len(points), bool)
    for box in boxes:
        local = np.abs(transform_points(inverse(box.pose), points))
        inside |= np.all(local <= np.asarray(box.size) / 2 + INSIDE, axis=1)
    return inside
