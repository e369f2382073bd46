"""Segments of one frame against its labels, and totals over frames.

Recall, precision and F1 at an overlap (intersection over union), one to one, at the assignment with the largest sum. Weighted overlap, over- and
under-segmentation as A. Richtsfeld et al., Learning of perceptual grouping for object segmentation on RGB-D data, 2014, define them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.optimize import linear_sum_assignment

Labels = npt.NDArray[np.int32]
Mask = npt.NDArray[np.bool_]
TABLE = 1
"""Label of what carries the objects; 0 is no label, and objects have larger numbers."""
LEAST_OBJECT = 150
"""[px] objects with fewer labelled pixels do not count."""
LEAST_SEGMENT = 30
"""[px] segments with fewer judged pixels do not count."""
OVERLAPS = (0.5, 0.75)


@dataclass(frozen=True)
class Score:
    """One frame.

    Attributes:
        objects, segments: how many count.
        hits: pairs with more than each of OVERLAPS in common.
        overlap: area of the objects times the best overlap of each [px].
        area: of the objects [px].
        true, false: area of the best segment of each object that is on it, and that is not [px].
    """

    objects: int
    segments: int
    hits: tuple[int, ...]
    overlap: float
    area: float
    true: float
    false: float


def compare(found: Labels, labels: Labels, inside: Mask) -> Score:
    """Segments ``found`` (H, W), 0 for none, against ``labels`` (H, W). Judged are labelled pixels ``inside`` the region.

    An object or a segment of which less than half is judged does not count.
    """
    judged = inside & (labels > 0)
    objects = [number for number in np.unique(labels) if number > TABLE and (labels == number).sum() >= LEAST_OBJECT]
    outside = [number for number in objects if (judged & (labels == number)).sum() < 0.5 * (labels == number).sum()]
    judged &= ~np.isin(labels, outside)
    objects = [number for number in objects if number not in outside]
    segments = []
    for number in np.unique(found[found > 0]):
        own = found == number
        counted = int((own & judged).sum())
        if counted >= max(LEAST_SEGMENT, 0.5 * max(int((own & (labels > 0)).sum()), 1)):
            segments.append(number)
    return _score(_numbered(labels, objects)[judged], _numbered(found, segments)[judged], len(objects), len(segments))


def _numbered(picture: Labels, chosen: list[Any]) -> npt.NDArray[np.int64]:
    """The same with the chosen labels as 1, 2, .. and 0 for the others."""
    table = np.zeros(int(picture.max(initial=0)) + 1, np.int64)
    table[np.array(chosen, int)] = np.arange(1, len(chosen) + 1)
    return np.asarray(table[picture])


def _score(truth: npt.NDArray[np.int64], found: npt.NDArray[np.int64], objects: int, segments: int) -> Score:
    """``truth`` and ``found`` (N,) number the judged pixels."""
    count = np.bincount(truth * (segments + 1) + found, minlength=(objects + 1) * (segments + 1)).reshape(objects + 1, segments + 1)
    common, of_object, of_segment = count[1:, 1:].astype(float), count[1:].sum(axis=1).astype(float), count[:, 1:].sum(axis=0).astype(float)
    if not objects or not segments:
        return Score(objects, segments, (0,) * len(OVERLAPS), 0.0, float(of_object.sum()), 0.0, 0.0)
    overlap = common / np.maximum(of_object[:, None] + of_segment[None] - common, 1)
    pairs = overlap[linear_sum_assignment(-overlap)]
    best = common.argmax(axis=1)
    true = common[np.arange(objects), best]
    false = (of_segment[best] - true) * (true > 0)
    hits = tuple(int((pairs > least).sum()) for least in OVERLAPS)
    return Score(objects, segments, hits, float((overlap.max(axis=1) * of_object).sum()), float(of_object.sum()), float(true.sum()), float(false.sum()))


def total(scores: list[Score]) -> dict[str, float | int | None]:
    """Shares over all frames; None where there was nothing to count."""

    def of(name: str) -> float:
        return float(sum(getattr(score, name) for score in scores))

    def share(part: float, whole: float) -> float | None:
        return round(part / whole, 4) if whole else None

    result: dict[str, float | int | None] = {"objects": int(of("objects")), "segments": int(of("segments"))}
    for place, least in enumerate(OVERLAPS):
        hits = sum(score.hits[place] for score in scores)
        name = round(100 * least)
        result[f"recall_{name}"], result[f"precision_{name}"] = share(hits, of("objects")), share(hits, of("segments"))
        result[f"f1_{name}"] = share(2 * hits, of("objects") + of("segments"))
    result["weighted_overlap"] = share(of("overlap"), of("area"))
    result["over_segmentation"] = share(of("area") - of("true"), of("area"))
    result["under_segmentation"] = share(of("false"), of("area"))
    return result
