"""Two objects that were seen whole before they were put into a container stay two there, where together they are larger than either."""

import numpy as np

from deskhand.perception.track.pieces import are_apart
from deskhand.perception.track.settings import TRACKING

BLUE, RED = np.array([0.2, 0.3, 0.5]), np.array([0.6, 0.2, 0.2])
ERASER, SPONGE = np.array([0.06, 0.03, 0.015]), np.array([0.11, 0.07, 0.03])


def box(size, middle):
    return np.random.default_rng(0).uniform(-0.5, 0.5, (600, 3)) * size + np.asarray(middle)


def test_two_erasers_end_to_end_are_two_and_the_halves_of_one_may_be_one():
    two = [(box(ERASER, (0.0, 0.0, 0.01)), BLUE), (box(ERASER, (0.061, 0.0, 0.01)), BLUE)]
    halves = [(box(ERASER / [2, 1, 1], (x, 0.0, 0.01)), BLUE) for x in (-0.015, 0.015)]
    known = [(BLUE, ERASER), (RED, SPONGE)]
    assert are_apart(two, known, TRACKING) and not are_apart(halves, known, TRACKING)


def test_nothing_is_told_of_colours_that_nobody_has_seen_or_where_a_larger_object_has_one_of_them():
    two = [(box(ERASER, (0.0, 0.0, 0.01)), BLUE), (box(ERASER, (0.061, 0.0, 0.01)), RED)]
    assert not are_apart(two, [], TRACKING) and not are_apart(two, [(BLUE, ERASER)], TRACKING)
    assert are_apart(two, [(BLUE, ERASER), (RED, ERASER)], TRACKING)
    assert not are_apart(two, [(BLUE, ERASER), (RED, SPONGE)], TRACKING)
