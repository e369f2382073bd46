"""Puts what detectors say onto the objects that perception found: by mask where there is one, by box where not."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.optimize import linear_sum_assignment

from deskhand.errors import DeskhandError
from deskhand.perception.classify import CONTAINERS
from deskhand.perception.detectors.base import Detection, Detector, Mask, Pixels, overlap
from deskhand.perception.naming_settings import DETECTOR_WORDS, KINDS
from deskhand.types import Frame, NameCandidate, SceneObject

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Opinion:
    """One detector's word on one object; ``score`` already has the detector's weight in it; ``printed``: it stands on the object."""

    label: str
    score: float
    source: str
    printed: bool = False


def rename(items: Sequence[SceneObject], pixels: Sequence[Pixels], frame: Frame, detectors: Sequence[Detector]) -> list[SceneObject]:
    """``items`` with the labels that geometry and the detectors together give, and who says so in ``label_source``.

    ``pixels``: flat indices of each item in the picture. A detector that fails says nothing; the log tells why, and its name is in no label_source.
    """
    opinions: list[list[Opinion]] = [[] for _ in items]
    for detector in detectors:
        try:
            found = detector.detect(frame, pixels)
        except DeskhandError as error:
            log.warning("detector %s: %s: %s", detector.name, error.code, error)
            continue
        for index, detection in assigned(pixels, frame.depth.shape, found):
            opinions[index].append(Opinion(detection.label, detector.weight * detection.score, detection.source, detection.printed))
    return [
        with_print(agreed(item, [opinion for opinion in said if not opinion.printed]), [opinion for opinion in said if opinion.printed])
        for item, said in zip(items, opinions, strict=True)
    ]


def assigned(pixels: Sequence[Pixels], shape: tuple[int, ...], found: Sequence[Detection]) -> list[tuple[int, Detection]]:
    """(index of an object, detection) where they cover each other well, each used once, best pairs together."""
    if not pixels or not found:
        return []
    cost = np.array([[-_covers(own, shape, detection) for detection in found] for own in pixels])
    return [(int(i), found[int(j)]) for i, j in zip(*linear_sum_assignment(cost), strict=True) if cost[i, j] <= -DETECTOR_WORDS.least_overlap]


def agreed(item: SceneObject, opinions: Sequence[Opinion]) -> SceneObject:
    """The label with the most support; independent words for it add up, words for another label take away from it. ``names`` tells the support of all."""
    usable = [Opinion(item.label, item.confidence * (DETECTOR_WORDS.unknown if item.label == "object" else DETECTOR_WORDS.geometry), item.label_source)]
    heard = [opinion for opinion in opinions if (opinion.label in CONTAINERS) == item.is_container]
    if not heard:
        return item
    usable += [Opinion(other.name, other.probability * DETECTOR_WORDS.geometry, other.source) for other in item.names if other.name != item.label]
    usable += heard
    doubt: dict[str, float] = {}
    for opinion in usable:
        doubt[opinion.label] = doubt.get(opinion.label, 1.0) * (1.0 - min(DETECTOR_WORDS.most, opinion.score))
    support = {label: 1.0 - left for label, left in doubt.items()}
    best = max(support, key=lambda label: support[label])
    total = max(1.0, sum(support.values()))
    confidence = support[best] * support[best] / sum(support.values())
    sources = {label: "+".join(dict.fromkeys(opinion.source for opinion in usable if opinion.label == label)) for label in support}
    names = [NameCandidate(label, support[label] / total, sources[label]) for label in sorted(support, key=lambda label: -support[label])]
    names = [name for name in names if name.name != "object" and name.probability >= KINDS.least_share]
    return replace(
        item,
        label=best,
        confidence=float(np.clip(confidence, DETECTOR_WORDS.least_sure, DETECTOR_WORDS.most_sure)),
        label_source=sources[best],
        names=tuple(names),
    )


def with_print(item: SceneObject, words: Sequence[Opinion]) -> SceneObject:
    """What is printed on an object is a name that it may have beside its kind: one of ``names``, never the label."""
    if not words or item.is_container:
        return item
    best = max(words, key=lambda opinion: opinion.score)
    others = item.names or (NameCandidate(item.label, item.confidence, item.label_source),)
    left = 1.0 - best.score
    told = [NameCandidate(best.label, best.score, best.source), *(replace(other, probability=other.probability * left) for other in others)]
    return replace(item, names=tuple(sorted(told, key=lambda other: -other.probability)))


def _covers(own: Pixels, shape: tuple[int, ...], detection: Detection) -> float:
    """0..1 how well an object's pixels and a detection cover each other."""
    if detection.mask is not None:
        return _shared(own, detection.mask)
    v, u = own // shape[1], own % shape[1]
    left, top, right, bottom = detection.box
    inside = float(((u >= left) & (u <= right) & (v >= top) & (v <= bottom)).mean())
    return overlap((u.min(), v.min(), u.max() + 1, v.max() + 1), detection.box) if inside >= DETECTOR_WORDS.least_inside else 0.0


def _shared(own: Pixels, mask: Mask) -> float:
    both = int(mask.reshape(-1)[own].sum())
    return both / max(1, len(own) + int(mask.sum()) - both)
