"""Pieces of a taught object find each other where they are nearer to something else."""

import math
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np

from deskhand.perception.segment.segmentation import Segment, make_segment
from deskhand.perception.taught.joining import _distances, _filled, _groups, are_two, kept_pieces
from deskhand.perception.taught.naming import STRANGE, Known

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


HEIGHT, WIDTH, PIXEL = 60, 100, 0.004  # [px], [px], [m]


class _Shown:
    """Knows a hob of a plate and a knob by how much of it a picture shows."""

    def __init__(self, hob: np.ndarray) -> None:
        self._hob = np.flatnonzero(hob)

    def name(self, items: Any, pixels: Any, frame: Any) -> Any:
        return items

    def known(self, frame: Any, pixels: np.ndarray, size: Any) -> Known:
        both = len(np.intersect1d(pixels, self._hob))
        share = both / (len(pixels) + len(self._hob) - both)
        return Known("hob", share**2, (0.06, 0.20, 0.24)) if both else STRANGE


def test_a_board_that_stands_against_a_hob_is_cut_off_it_by_its_colour() -> None:
    rows, columns = np.mgrid[:HEIGHT, :WIDTH]
    plate, board, knob = (columns < 50) & (rows < 40), (columns >= 50) & (columns < 70) & (rows < 40), (columns < 15) & (rows >= 46)
    chroma = np.where(board[..., None], np.array([0.6, 0.25, 0.15]), 1 / 3).astype(np.float32)
    points = np.stack([columns * PIXEL, rows * PIXEL, np.where(knob, 0.06, 0.001 * (rows % 4))], axis=-1).astype(np.float32)
    view: Any = SimpleNamespace(
        valid=np.ones((HEIGHT, WIDTH), bool), filled=np.zeros((HEIGHT, WIDTH), bool), chroma=chroma, light=np.full((HEIGHT, WIDTH), 90.0), points=points,
        whole=None, in_picture=lambda pixels: pixels,
    )  # fmt: skip
    both, handle = (make_segment(view, np.flatnonzero(part)) for part in (plate | board, knob))
    taught, loose = kept_pieces(view, _Shown(plate | knob), [replace(both, whole=True), handle], {})
    assert sorted(map(len, taught)) == sorted([int(plate.sum()), int(knob.sum())]) and all(item.whole for item in taught)
    assert [len(item) for item in loose] == [int(board.sum())]
    one_colour: Any = SimpleNamespace(**{**vars(view), "chroma": np.full_like(chroma, 1 / 3)})
    assert [len(item) for item in kept_pieces(one_colour, _Shown(plate | knob), [replace(both, whole=True), handle], {})[1]] == [len(both), len(handle)]


class _ByHeight:
    """Knows what ends at 5 cm as a bowl and what ends higher as a jar; a jar is 5 cm high."""

    def __init__(self, surely: float, high: np.ndarray) -> None:
        self._surely, self._high = surely, high

    def name(self, items: Any, pixels: Any, frame: Any) -> Any:
        return items

    def known(self, frame: Any, pixels: np.ndarray, size: Any) -> Known:
        own = len(np.intersect1d(pixels, self._high))
        if own < len(pixels):
            return Known("jar", 0.97, (0.05, 0.10, 0.10)) if own else STRANGE
        return Known("bowl", self._surely, (0.05, 0.10, 0.10))


def test_a_taught_object_and_what_makes_it_too_large_are_two() -> None:
    bowl, below = _board((0.0, 0.0, 0.05), (0.10, 0.10, 0.10), 0), _board((0.0, 0.0, 0.0), (0.08, 0.08, 0.05), 1)
    points = np.concatenate([bowl.points, below.points])
    view: Any = SimpleNamespace(
        valid=np.ones((2, 400), bool), filled=np.zeros((2, 400), bool), chroma=np.full((2, 400, 3), 1 / 3), light=np.full((2, 400), 90.0),
        points=points.reshape(2, 400, 3), whole=None, in_picture=lambda pixels: pixels,
    )  # fmt: skip
    assert are_two(view, _ByHeight(0.6, bowl.pixels), bowl, below, {})
    low = replace(below, points=np.add(below.points, (0.0, 0.0, 0.05)))  # both together are a jar, and no larger
    raised: Any = SimpleNamespace(**{**vars(view), "points": np.concatenate([bowl.points, low.points]).reshape(2, 400, 3)})
    assert not are_two(raised, _ByHeight(0.6, bowl.pixels), bowl, low, {})
    assert not are_two(view, _Shown(np.zeros((2, 400), bool)), bowl, below, {}), "nobody taught any of it"
