"""Puts what detectors say onto the objects that perception found: by mask where there is one, by box where not."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.optimize import linear_sum_assignment

from deskhand.errors import DeskhandError
from deskhand.perception.classify import CONTAINERS, PLAIN, UNKNOWN, Classifier
from deskhand.perception.detectors.base import Detection, Detector, Mask, Pixels, overlap
from deskhand.perception.naming_settings import DETECTOR_WORDS, KINDS
from deskhand.types import Frame, NameCandidate, SceneObject

OPEN = CONTAINERS | {"bowl", "cup", "mug", "vase", "wine_glass", "plate", "pot", "pan", "basket", "bucket", "crate", "jar"}
"""What a container may be called: only what is open at the top."""
log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Opinion:
    """One detector's word on one object; ``score`` already has the detector's weight in it; ``printed``: it stands on the object."""

    label: str
    score: float
    source: str
    printed: bool = False


def rename(
    items: Sequence[SceneObject], pixels: Sequence[Pixels], frame: Frame, detectors: Sequence[Detector], classifier: Classifier | None = None
) -> list[SceneObject]:
    """``items`` with the labels that geometry and the detectors together give, and who says so in ``label_source``.

    ``pixels``: flat indices of each item in the picture; with ``classifier`` a word counts as far as shape and sides allow it. A detector that fails says
    nothing; the log tells why, and its name is in no label_source.
    """
    opinions: list[list[Opinion]] = [[] for _ in items]
    for detector in detectors:
        try:
            found = detector.detect(frame, pixels)
        except DeskhandError as error:
            log.warning("detector %s: %s: %s", detector.name, error.code, error)
            continue
        for index, detection in assigned(pixels, frame.depth.shape, found):
            item, score = items[index], detector.weight * detection.score
            if classifier is not None and not detection.printed:
                score *= classifier.allows(detection.label, item.shape, item.size, bool(item.guessed))
            opinions[index].append(Opinion(detection.label, score, detection.source, detection.printed))
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
    """The label with the most belief, and ``names`` with that of all, by Dempster's rule of combination (Shafer 1976).

    Geometry believes in kinds as far as it is sure of them; the word for a shape (``box``) is no kind, but leaves open what it is, as does what is left of a
    detector's score. So one detector names what geometry has no kind for, several that agree overrule it, and words against each other make all less sure.
    """
    heard = [opinion for opinion in opinions if opinion.score >= DETECTOR_WORDS.least_sure]
    heard = [opinion for opinion in heard if (opinion.label in OPEN if item.is_container else opinion.label not in CONTAINERS)]
    if not heard:
        return item
    told = item.names or (() if item.label == UNKNOWN else (NameCandidate(item.label, item.named, item.label_source),))
    words = {name.name: name for name in told if name.name in PLAIN}
    belief = {name.name: DETECTOR_WORDS.geometry * name.probability for name in told if name.name not in PLAIN}
    sources = {name.name: [name.source] for name in told}
    open_left = max(0.0, 1.0 - sum(belief.values()))
    plain = KINDS.shape_sure if words else 0.0
    for opinion in heard:
        score = min(DETECTOR_WORDS.most, opinion.score)
        own = belief.get(opinion.label, 0.0)
        belief = {name: share * (1.0 - score) for name, share in belief.items()}
        belief[opinion.label] = own + score * open_left
        open_left *= 1.0 - score
        total = sum(belief.values()) + open_left
        belief, open_left = {name: share / total for name, share in belief.items()}, open_left / total
        sources.setdefault(opinion.label, []).append(opinion.source)
    shares = {**belief, **_shared_out(words, open_left * plain)}
    names = [NameCandidate(name, share, "+".join(dict.fromkeys(sources[name]))) for name, share in sorted(shares.items(), key=lambda pair: -pair[1])]
    best = names[0]
    if best.name in PLAIN and shares.get(item.label, 0.0) >= KINDS.worth * best.probability:
        best = next(name for name in names if name.name == item.label)
    if best.name in PLAIN and item.label == UNKNOWN:  # a word for a shape is no label of its own
        best = NameCandidate(UNKNOWN, 0.0, item.label_source)
    return replace(
        item,
        label=best.name,
        label_source=best.source,
        names=tuple(name for name in names if name.probability >= KINDS.least_share),
    )


def _shared_out(words: Mapping[str, NameCandidate], share: float) -> dict[str, float]:
    """``share`` among words as it was before."""
    total = sum(word.probability for word in words.values())
    return {name: share * word.probability / total for name, word in words.items()} if total else {}


def with_print(item: SceneObject, words: Sequence[Opinion]) -> SceneObject:
    """What is printed on an object is a name that it may have beside its kind: one of ``names``, never the label."""
    if not words or item.is_container:
        return item
    best = max(words, key=lambda opinion: opinion.score)
    others = item.names or (NameCandidate(item.label, item.named, item.label_source),)
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
