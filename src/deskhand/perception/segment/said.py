"""Segments that a learned segmenter says are one object, though shape or colours cut them."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np

from deskhand.perception.learned.segmenter import Said
from deskhand.perception.segment.convexity import contracted
from deskhand.perception.segment.segmentation import Segment, union_of
from deskhand.perception.view import View


def join_as_said(view: View, segments: list[Segment], said: Said) -> list[Segment]:
    """The segments, largest first, with those joined that are one object with more than ``said.sure``; these are whole: what cuts objects would cut them there
    again. The surest are joined first, and what is said of both against a third is added up.
    """
    if len(segments) < 2 or said.sure >= 1:
        return segments
    numbers = np.full(view.valid.shape, -1, np.int64)
    for number, item in enumerate(segments):
        numbers.reshape(-1)[item.pixels] = number
    borders = np.array(list(combinations(range(len(segments)), 2)))
    told = said.evidence(numbers, borders)
    met = told.count > 0
    weight = (told.logit - np.log(said.sure / (1 - said.sure))) * told.count
    size = np.array([len(item) for item in segments], float)
    whose = contracted(size, borders[met], weight[met], 0.0, np.inf)
    joined = []
    for number in range(int(whose.max()) + 1):
        main, *parts = (segments[index] for index in np.flatnonzero(whose == number))
        joined.append(replace(union_of(main, parts), whole=True) if parts else main)
    return sorted(joined, key=len, reverse=True)
