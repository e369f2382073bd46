"""What was let go over a full container and is not made out afterwards: the surface that has newly come there tells whether it lies above the rim."""

import numpy as np
import pytest

from deskhand.geometry import make_transform
from deskhand.skills.place import _above_rim
from deskhand.types import Scene, SceneObject, Table

TRAY = SceneObject(
    "tray_1", "tray", "white", "box", np.array([0.2, 0.16, 0.035]), make_transform(None, (0.0, 0.3, 0.0175)), np.zeros((0, 3), np.float32), 1.0, True
)
SPONGE = SceneObject(
    "sponge_1", "sponge", "blue", "box", np.array([0.08, 0.04, 0.025]), make_transform(None, (0.0, 0.3, 0.0165)), np.zeros((0, 3), np.float32), 1.0
)


def seen(height):
    """A look that shows a level surface [m] over the place, and a can beside it."""
    u, v = np.meshgrid(np.linspace(-0.04, 0.04, 17), np.linspace(-0.02, 0.02, 9))
    there = np.column_stack([u.ravel(), 0.3 + v.ravel(), np.full(u.size, height)])
    can = np.column_stack([np.full(40, 0.07), np.linspace(0.28, 0.32, 40), np.full(40, 0.07)])
    return Scene((TRAY,), Table(np.eye(4), (1.2, 0.8)), 0.0, np.vstack([there, can]).astype(np.float32))


@pytest.mark.parametrize(
    ("before", "after", "too_high"),
    [
        (0.035, 0.060, 0.004),  # on a block that was not known
        (0.004, 0.029, 0.0),  # on the floor
        (0.060, 0.060, 0.0),  # what is high there was so before: ours is below it
        (0.014, 0.039, 0.0),  # on an eraser, its underside below the rim
        (0.060, 0.085, 0.029),  # on the top of a heap
    ],
)
def test_the_underside_is_reckoned_from_the_new_surface(before, after, too_high):
    assert _above_rim(seen(before), seen(after), TRAY, SPONGE) == pytest.approx(too_high, abs=1e-6)


def test_nothing_seen_says_nothing():
    empty = Scene((TRAY,), Table(np.eye(4), (1.2, 0.8)), 0.0, np.zeros((0, 3), np.float32))
    assert _above_rim(empty, empty, TRAY, SPONGE) == 0.0
