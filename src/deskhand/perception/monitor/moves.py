"""Objects that are moved, taken away or put down on a desk that a standing camera watches."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np

from deskhand.geometry import Array
from deskhand.perception.monitor.change import Background, ChangedRegion, PictureChanges
from deskhand.perception.monitor.sample import Mask, ThinnedPicture
from deskhand.perception.monitor.settings import MOVES

Kind = Literal["moved", "taken", "appeared"]


@dataclass(frozen=True)
class ObjectMove:
    """What happened to an object; positions (3,) are middles of what is seen of it [m, levelled world], None for none."""

    kind: Kind
    object_id: str
    before: Array | None
    after: Array | None


@dataclass
class _Watched:
    mask: Mask
    chroma: Array
    place: Array
    gone: int = 0  # pictures in a row that do not show it where it was


class MoveMonitor:
    """Tells from picture to picture which objects have moved.

    Args:
        first: the picture in which the objects stand where ``masks`` say.
        masks: object id -> its pixels (h, w) in the thinned picture.
    """

    def __init__(self, first: ThinnedPicture, masks: Mapping[str, Mask]) -> None:
        self._background = Background(first)
        self._objects = {name: _watched(first, mask) for name, mask in masks.items() if mask.any()}
        self._new: list[tuple[ChangedRegion, int]] = []

    def update(self, now: ThinnedPicture) -> list[ObjectMove]:
        """What has happened by this picture; each event once."""
        changes = self._background.changes(now)
        fresh = self._seen_again(changes)
        left = [name for name, item in self._objects.items() if self._is_gone(item, changes)]
        moves = []
        for name in left:
            item = self._objects[name]
            region = self._new_place(item, [new for new, times in fresh if times >= MOVES.again], now)
            moves += self._left(name, item, region, now)
            fresh = [(new, times) for new, times in fresh if region is None or new is not region]
        if not any(item.gone for item in self._objects.values()):
            for region, times in list(fresh):
                if times >= MOVES.again and _is_object(region, now):
                    moves.append(ObjectMove("appeared", "", None, region.center))
                    self._take_up(f"new {len(self._objects)}", region, now)
                    fresh = [(new, count) for new, count in fresh if new is not region]
        self._new = fresh
        return moves

    def _seen_again(self, changes: PictureChanges) -> list[tuple[ChangedRegion, int]]:
        """Regions that show something new, and how many pictures in a row have shown them."""
        found = []
        for region in changes.regions:
            before = [times for old, times in self._new if (old.mask & region.mask).sum() > 0.5 * min(old.mask.sum(), region.mask.sum())]
            found.append((region, 1 + max(before, default=0)))
        return found

    def _is_gone(self, item: _Watched, changes: PictureChanges) -> bool:
        seen = item.mask & ~changes.unknown
        enough = seen.sum() >= max(4, 0.3 * item.mask.sum())
        behind = (seen & changes.changed & ~changes.nearer).sum()
        hidden = (seen & changes.nearer).sum()
        off = enough and behind > MOVES.left * max(1, seen.sum() - hidden) and behind > 0.1 * seen.sum()
        item.gone = item.gone + 1 if off else 0
        return item.gone >= MOVES.again

    def _new_place(self, item: _Watched, regions: list[ChangedRegion], now: ThinnedPicture) -> ChangedRegion | None:
        """The new region that looks like what left its place; the nearest of several."""
        alike: list[tuple[float, int, ChangedRegion]] = []
        for region in regions:
            pixels = region.mask & ~item.mask if (region.mask & ~item.mask).sum() > 5 else region.mask
            shown = pixels & (region.nearer | ~np.isfinite(now.depth) | (now.points[..., 2] > MOVES.height))
            if shown.sum() >= 4 and np.linalg.norm(now.chroma[shown].mean(axis=0) - item.chroma) < MOVES.alike:
                alike.append((float(np.linalg.norm(region.center - item.place)), len(alike), region))
        return min(alike)[2] if alike else None

    def _left(self, name: str, item: _Watched, region: ChangedRegion | None, now: ThinnedPicture) -> list[ObjectMove]:
        self._background.forget(now, item.mask)
        if region is None:
            del self._objects[name]
            return [ObjectMove("taken", name, item.place, None)]
        body = _body(item, region, now)
        self._background.forget(now, region.mask)
        if not body.any():
            del self._objects[name]
            return [ObjectMove("taken", name, item.place, None)]
        moved = self._objects[name] = _watched(now, body)
        far = float(np.linalg.norm(moved.place - item.place))
        return [ObjectMove("moved", name, item.place, moved.place)] if far > MOVES.moved else []

    def _take_up(self, name: str, region: ChangedRegion, now: ThinnedPicture) -> None:
        self._background.forget(now, region.mask)
        self._objects[name] = _watched(now, region.mask & (region.nearer | ~region.farther))


def _watched(now: ThinnedPicture, mask: Mask) -> _Watched:
    points = now.points[mask & np.isfinite(now.depth)]
    place = np.median(points, axis=0) if len(points) else np.full(3, np.nan)
    return _Watched(mask, np.asarray(now.chroma[mask].mean(axis=0), float), np.asarray(place, float))


def _body(item: _Watched, region: ChangedRegion, now: ThinnedPicture) -> Mask:
    """Where the object is now: what is new and rises above the table, or has its colour; also where it covers its old place."""
    alike = np.linalg.norm(now.chroma - item.chroma, axis=-1) < MOVES.alike
    with np.errstate(invalid="ignore"):
        high = now.points[..., 2] > MOVES.height
    return np.asarray((region.mask | item.mask) & alike & (high | ~np.isfinite(now.depth) | region.nearer))


def _is_object(region: ChangedRegion, now: ThinnedPicture) -> bool:
    """Something that stands on what is below it: nearer than what was seen, not in from the edge of the picture, its foot not in the air."""
    if region.nearer.sum() < 0.5 * region.mask.sum() or _touches_edge(region.mask):
        return False
    heights = now.points[..., 2][region.nearer & np.isfinite(now.depth)]
    return bool(len(heights) and np.percentile(heights, 90) > MOVES.height)


def _touches_edge(mask: Mask) -> bool:
    return bool(mask[[0, -1]].any() or mask[:, [0, -1]].any())
