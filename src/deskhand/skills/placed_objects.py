"""What the robot has put down itself, and where: proved or dropped at every look, so that blocks which touch keep their names and sizes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import count

import numpy as np

from deskhand.geometry import inverse, transform_points
from deskhand.perception.fit.pose_verification import evidence_for
from deskhand.perception.track.presence import seen_at_place
from deskhand.skills.change_detection import MOVED, alike
from deskhand.types import Frame, Scene, SceneObject

WITHIN = 0.007  # [m] that the points of a segment may lie outside the boxes that explain it
EXPLAINED = 0.6  # share of its points


def with_known(scene: Scene, frame: Frame, known: Mapping[str, SceneObject]) -> tuple[Scene, dict[str, SceneObject]]:
    """``scene`` with the objects of ``known`` that the picture proves in place of the segments that they explain, and those objects.

    One that other objects hide counts as there while what stands on it is proved; one that is seen to be gone does not.
    """
    boxes = list(known.values())
    found = {item.id: evidence_for(frame, item, boxes) for item in boxes}
    there = {name for name, evidence in found.items() if evidence.there}
    hidden = sorted((name for name, evidence in found.items() if not evidence.there and not evidence.gone), key=lambda name: -known[name].top)
    there |= {
        name for name in hidden if _carries(known[name], [known[other] for other in there]) or _covered(known[name], [known[other] for other in there], frame)
    }
    proved = {name: known[name] for name in known if name in there}
    rest = [item for item in scene.objects if item.is_container or not _explained(item, list(proved.values()))]
    taken = set(proved) | {item.id for item in rest if item.id not in proved}
    renamed: list[SceneObject] = []
    for item in rest:
        name = item.id
        if name in proved:  # the tracker gave an object that is elsewhere the name of one that stands where it was put
            name = next(new for number in count(10) if (new := f"{name.rpartition('_')[0] or name}_{number}") not in taken)
        taken.add(name)
        renamed.append(item if name == item.id else replace(item, id=name))
    return replace(scene, objects=(*renamed, *proved.values())), proved


def with_unshown(scene: Scene, frame: Frame, before: Scene) -> Scene:
    """``scene`` with the objects of ``before`` that the picture says nothing about: they lie beyond its edges, or something stands before them."""
    names = {item.id for item in scene.objects}
    kept = [
        item
        for item in before.objects
        if item.id not in names
        and item.relation != "held"
        and seen_at_place(frame, item, item.bottom) == "hidden"
        and not any(alike(other, item) and float(np.linalg.norm(other.position - item.position)) < MOVED for other in scene.objects)
    ]
    return replace(scene, objects=(*scene.objects, *kept))


def _carries(item: SceneObject, others: Sequence[SceneObject]) -> bool:
    """Whether one of ``others`` stands on ``item``: right above it, with no gap."""
    reach = float(np.hypot(*item.size[:2]) / 2)
    return any(abs(other.bottom - item.top) < WITHIN and float(np.hypot(*(other.position - item.position)[:2])) < reach for other in others)


def _covered(item: SceneObject, others: Sequence[SceneObject], frame: Frame) -> bool:
    """Whether proved objects hide nearly all of ``item`` from the camera: then nothing speaks against it."""
    alone, among = evidence_for(frame, item), evidence_for(frame, item, others)
    return among.seen < 0.3 * max(1, alone.seen) or alone.seen == 0


def _explained(item: SceneObject, boxes: Sequence[SceneObject]) -> bool:
    """Whether the points of a segment lie in boxes that are proved."""
    points = np.asarray(item.points, dtype=float)
    if not len(points) or not boxes:
        return False
    inside = np.zeros(len(points), bool)
    for box in boxes:
        local = np.abs(transform_points(inverse(box.pose), points))
        inside |= np.all(local <= np.asarray(box.size) / 2 + WITHIN, axis=1)
    return float(inside.mean()) > EXPLAINED
