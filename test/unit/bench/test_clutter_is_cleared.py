"""Clearing a desk: everything on it is an object, open at the top or not, and a part that is seen tells whose it is."""

from types import SimpleNamespace

import numpy as np
import pytest

from deskhand.bench.grasp.picks import bench, nearest
from deskhand.bench.grasp.run import clear
from deskhand.geometry import make_transform, rotation_rpy
from deskhand.sim.spec import Truth, TruthObject
from deskhand.sim.worldfile import world_from_dict

BOWL = {"kind": "mesh", "shape": "bowl", "name": "bowl", "color": "blue", "size": [0.13, 0.13, 0.06], "pose": [0.02, 0.12]}
OTHER = {**BOWL, "name": "other", "color": "red", "pose": [0.02, -0.12]}


def test_what_is_open_at_the_top_is_cleared_too():
    with bench(world_from_dict({"arm": "panda", "objects": [BOWL, OTHER]})) as desk:
        assert any(item.is_container for item in desk.context().look().objects)
        picks, cleared, _ = clear(desk, 2)
        assert cleared == 2, [pick.message for pick in picks]


@pytest.mark.parametrize(
    ("seen", "whose"),
    [
        ((0.055, 0.0, 0.07), "book"),  # its spine
        ((0.0, 0.055, 0.07), ""),  # beside it
        ((0.3, 0.03, 0.02), "block"),
        ((0.3, 0.2, 0.02), ""),
    ],
)
def test_a_part_that_is_seen_tells_whose_it_is(seen, whose):
    turn = make_transform(rotation_rpy(0.0, 0.0, 0.7), (0.4, 0.1, 0.0))
    at = lambda x, y, z: turn @ make_transform(np.eye(3), (x, y, z))  # noqa: E731
    truth = Truth(0.0, (TruthObject("book", "mesh", (0.12, 0.03, 0.14), at(0.0, 0.0, 0.07)), TruthObject("block", "block", (0.03,) * 3, at(0.3, 0.0, 0.015))))
    assert nearest(truth, SimpleNamespace(position=at(*seen)[:3, 3])) == whose
