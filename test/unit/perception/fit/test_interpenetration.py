"""A piece within another object is a part of it; what stands beside it, lies in a container or is held, is not."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from deskhand.geometry import make_transform, rotation_rpy
from deskhand.perception.containers.hollow import Hollow
from deskhand.perception.fit.interpenetration import shared_volume, without_pieces
from deskhand.perception.fit.solid import Solid
from deskhand.perception.footprint import rectangle
from deskhand.perception.segment.segmentation import Segment
from deskhand.perception.support.support import Placed


def segment(pixels: np.ndarray) -> Segment:
    return Segment(pixels, np.zeros((len(pixels), 3)), np.ones(len(pixels), bool), np.zeros(3), 0.0, pixels)


def body(size: tuple[float, float, float], at: tuple[float, float, float], pixels: list[int], **more: object) -> Placed:
    return replace(Placed(segment(np.array(pixels)), Solid("box", make_transform(None, at), np.array(size), 0.0)), **more)


CAN, LID, MILK = (
    body((0.066, 0.066, 0.084), (0, 0, 0.042), [7, 8]),
    body((0.04, 0.038, 0.072), (0, 0.005, 0.036), [1, 2]),
    body((0.05, 0.05, 0.14), (0.1, 0, 0.07), [5]),
)


def test_a_piece_gives_its_pixels_to_the_whole() -> None:
    on_it = body((0.03, 0.03, 0.03), (0, 0, 0.1), [9], support=2)
    found = without_pieces([LID, MILK, CAN, on_it], segment)
    assert [sorted(item.segment.pixels.tolist()) for item in found] == [[5], [1, 2, 7, 8], [9]]
    assert found[1].solid is CAN.solid and found[2].support == 1  # by the numbers of what is left
    assert without_pieces([replace(LID, support=1), CAN], segment)[0].support == -1
    assert without_pieces([MILK, replace(CAN, support=2), LID], segment)[1].support == -1  # it stands on nothing of its own


OPEN = Hollow(CAN.segment, rectangle(np.zeros(2), np.array([0.2, 0.2]), 0.0), True, 0.084, 0.003, 0.003)


@pytest.mark.parametrize("other", [body((0.04, 0.04, 0.04), (0.06, 0, 0.02), [1]), replace(LID, relation="held"), replace(CAN, hollow=OPEN)])
def test_others_stay_what_they_are(other: Placed) -> None:
    assert len(without_pieces([LID if other.hollow is not None else CAN, other], segment)) == 2


def test_the_share_is_that_of_the_volume() -> None:
    half = body((0.02, 0.02, 0.02), (0.033, 0, 0.042), [1]).solid
    assert shared_volume(half, CAN.solid) == pytest.approx(0.5, abs=0.01) and shared_volume(MILK.solid, CAN.solid) == 0.0
    turned = replace(LID.solid, pose=make_transform(rotation_rpy(0, 0, 1.0), LID.solid.pose[:3, 3]))
    assert shared_volume(turned, CAN.solid) > 0.9
