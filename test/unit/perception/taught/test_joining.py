"""Pieces of a taught object find each other where they are nearer to something else."""

import math

import numpy as np

from deskhand.perception.segment.segmentation import Segment
from deskhand.perception.taught.joining import _distances, _filled, _groups
from deskhand.perception.taught.naming import Known

RACK = (0.27, 0.27, 0.32)


def _board(low: tuple[float, float, float], high: tuple[float, float, float], seed: int) -> Segment:
    points = np.random.default_rng(seed).uniform(low, high, (400, 3))
    pixels = np.arange(len(points)) + 400 * seed
    return Segment(pixels, points, np.ones(len(points), bool), np.full(3, 1 / 3), 100.0, pixels)


def test_a_rack_of_boards_against_a_cabinet_is_filled_up_to_its_size() -> None:
    boards = [
        _board((0.0, 0.0, 0.24), (0.27, 0.10, 0.32), 0),
        _board((0.0, 0.15, 0.12), (0.27, 0.25, 0.19), 1),
        _board((0.0, 0.0, 0.0), (0.27, 0.26, 0.04), 2),
    ]
    cabinet = [_board((-0.25, 0.0, 0.0), (-0.005, 0.22, 0.22), 3), _board((-0.25, 0.225, 0.0), (-0.005, 0.24, 0.22), 4)]
    segments = [*boards, *cabinet]
    apart, unsure = _distances(segments), list(range(5))
    assert (0, 1, 2) not in set(_groups(apart, unsure))  # what touches the cabinet is of its cluster first
    known = Known("rack", 0.43, RACK)
    assert _filled(segments, apart, unsure, (0,), known) == (0, 1, 2)
    assert _filled(segments, apart, [0, 1], (0,), known) == (0, 1)
    assert _filled(segments, apart, unsure, (0,), Known("strange", 0.43, None)) == (0,)
    assert math.isclose(apart[0, 1], apart[1, 0])
