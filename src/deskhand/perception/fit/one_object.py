"""Segments that are one object by all that tells it: the evidence of each pair that touches weighed, the surest joined first.

Rules of one kind of body each (coaxial, faces, resting) know when they are sure; most bodies of several bulges are none of those. Here what tells is
weighed as a logistic model, whose weights were fitted to looks at bodies and heaps of them (``config/one_object.yaml``).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import combinations

import numpy as np

from deskhand.errors import DeskhandError
from deskhand.geometry import Array
from deskhand.perception.fit.pair_evidence import NAMES, REACH, Inside, Piece, error_of, evidence, nowhere, piece_of
from deskhand.perception.fit.solids import SolidFits
from deskhand.perception.rows import highest, lowest
from deskhand.perception.segment.segmentation import Segment, union_of
from deskhand.perception.segment.settings import SegmentSettings
from deskhand.perception.segment.shape import voxel_edge
from deskhand.perception.view import View
from deskhand.types.resources import resource_path
from deskhand.types.yaml_file import read_yaml

FILE = "config/one_object.yaml"
Apart = Callable[[Segment, Segment], bool]
"""Whether two segments are of two objects by what earlier looks knew."""


def never(one: Segment, other: Segment) -> bool:
    """Nothing is known."""
    return False


@dataclass(frozen=True)
class PairModel:
    """Probability that two segments are one object: a logistic function of features and of what they are beyond ``knots``.

    Attributes:
        knots: (feature, value) of each hinge, in order.
        weights: (features + hinges,).
        bias: of the sum.
        joined: pairs above this probability are joined.
        odd: two pieces that plain solids explain are two objects: of one at least the solid errs by more, over the noise of the depth.
    """

    knots: tuple[tuple[int, float], ...]
    weights: Array
    bias: float
    joined: float
    odd: float

    def probability(self, features: Array) -> float:
        """Of one pair (len(NAMES),)."""
        return float(1.0 / (1.0 + np.exp(-(expanded(features[None], self.knots)[0] @ self.weights + self.bias))))


def expanded(features: Array, knots: Sequence[tuple[int, float]]) -> Array:
    """Features (N, F) with their hinges (N, F + K)."""
    return np.column_stack([features, *(np.maximum(features[:, index] - value, 0.0) for index, value in knots)])


@lru_cache(maxsize=1)
def pair_model() -> PairModel:
    """The model of :data:`FILE`.

    Raises:
        DeskhandError: ``config_error`` naming what is wrong in it.
    """
    try:
        data = read_yaml(resource_path(FILE))
        knots = tuple((NAMES.index(name), float(value)) for name, values in data["knots"].items() for value in values)
        weights = np.array([float(data["weights"][name]) for name in NAMES] + [float(value) for name in data["knots"] for value in data["beyond"][name]])
        if len(weights) != len(NAMES) + len(knots):
            raise ValueError("each knot needs one weight in `beyond`")
        return PairModel(knots, weights, float(data["bias"]), float(data["joined"]), float(data["odd"]))
    except (OSError, KeyError, TypeError, ValueError, AttributeError) as error:
        raise DeskhandError("config_error", f"{FILE} is no model of pairs: {error!r}.") from error


def join_by_evidence(view: View, fits: SolidFits, segments: list[Segment], inside: Inside = nowhere, apart: Apart = never) -> list[Segment]:
    """The segments, largest first, with those joined that are one object; these are whole: what cuts objects would cut them there again.

    ``inside`` tells which are in a container, ``apart`` which are known to be two.
    """
    if len(segments) < 2:
        return segments
    model, edge = pair_model(), voxel_edge(view, SegmentSettings())
    left = dict(enumerate(segments))
    bounds = {number: _bounds(item) for number, item in left.items()}
    pieces: dict[int, Piece | None] = {}
    sure: dict[tuple[int, int], float] = {}

    def weigh(one: int, other: int) -> None:
        (low, high), (first, last) = bounds[one], bounds[other]
        if ((low > last + REACH * edge) | (first > high + REACH * edge)).any():
            return
        if max(error_of(view, fits.of(left[number])) for number in (one, other)) < model.odd:
            return
        for number in (one, other):
            if number not in pieces:
                pieces[number] = piece_of(view, left[number], edge, inside(left[number]))
        a, b = pieces[one], pieces[other]
        features = evidence(view, fits, a, b) if a is not None and b is not None else None
        if features is not None and (chance := model.probability(features)) > model.joined and not apart(left[one], left[other]):
            sure[one, other] = chance

    for one, other in combinations(left, 2):
        weigh(one, other)
    while sure:
        one, other = max(sure, key=lambda pair: sure[pair])
        main, part = sorted((left.pop(one), left.pop(other)), key=len, reverse=True)
        number = max((*left, one, other)) + 1
        left[number] = replace(union_of(main, [part]), whole=True)
        sure = {pair: value for pair, value in sure.items() if not {one, other} & set(pair)}
        bounds[number] = _bounds(left[number])
        for another in list(left)[:-1]:
            weigh(another, number)
    return sorted(left.values(), key=len, reverse=True)


def _bounds(item: Segment) -> tuple[Array, Array]:
    return lowest(item.points), highest(item.points)
