"""What was put into a recess counts as there only while it stands there, whatever it rests on now."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np

from deskhand.etp.tool import Placement
from deskhand.testing.desk_scene import desk, scene_object
from deskhand.tools.reasoning.goals import _judge

TOP = 0.025
PLACED = {"piece": Placement("on", "plate", 0.02, 3.0, "piece", True, (0.0, 0.05, TOP))}


def judged(at, top, hand=0.0, called="piece", placed=PLACED):
    """Of a piece that is seen at ``at`` with points at a height, and a hand above it at another, if any; asked for as ``called``."""
    plate = scene_object("plate", "box", (0.13, 0.2, 0.01), (0.0, 0.0, 0.005), yaw=0.0, color="white")
    piece = scene_object("piece", "box", (0.03, 0.03, 0.02), (*at, top - 0.01), yaw=0.0, color="red")
    grid = np.stack(np.meshgrid(np.linspace(-0.014, 0.014, 9), np.linspace(-0.014, 0.014, 9)), axis=-1).reshape(-1, 2)
    points = [np.column_stack([grid + at, np.full(len(grid), height)]) for height in (top, hand) if height]
    scene = replace(desk(plate, piece), cloud=np.vstack(points))
    ctx = SimpleNamespace(belief=SimpleNamespace(held=None, shut={}), placed=placed)
    return _judge(ctx, scene, {"object_id": called, "relation": "on", "target_id": "plate"})


def test_a_piece_that_stands_in_its_recess_is_there():
    assert judged((0.002, 0.051), TOP)[0]
    assert judged((0.002, 0.051), TOP, hand=0.13)[0], "the hand above it is no part of it"


def test_a_piece_that_was_knocked_onto_the_plate_beside_its_recess_is_not():
    holds, why = judged((0.02, 0.05), TOP + 0.005)
    assert not holds and "20 mm beside" in why
    assert not judged((0.002, 0.051), TOP + 0.005)[0], "as far up as the plate"


def test_a_piece_that_only_the_look_after_it_was_put_there_had_by_another_id_is_known_by_that_one_too():
    """Seed 33 of kits: that look called it box_3, none after it did, and four pieces were taken out of
    their recesses to make room for a fifth, which lay in its own.
    """
    placed = {"piece": replace(PLACED["piece"], seen_as="box_3")}
    assert judged((0.002, 0.051), TOP, called="box_3", placed=placed)[0]
    assert not judged((0.002, 0.051), TOP + 0.005, called="box_3", placed=placed)[0]
    assert not judged((0.002, 0.051), TOP, called="box_4", placed=placed)[0]
