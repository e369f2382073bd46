"""A piece within another object is a part of it; what stands beside it, lies in a container or is held, is not."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from deskhand.geometry import make_transform, rotation_rpy
from deskhand.perception.fit.interpenetration import shared_volume, without_pieces
from deskhand.types import SceneObject


def body(name: str, size: tuple[float, float, float], at: tuple[float, float, float], **more: object) -> SceneObject:
    random = np.random.default_rng(len(name))
    points = random.uniform(-0.5, 0.5, (20, 3)) * size + at
    item = SceneObject(id=name, label="box", color="red", shape="box", size=np.array(size), pose=make_transform(None, at), points=points, confidence=1.0)
    return replace(item, **more)


CAN, LID, MILK = (
    body("can_1", (0.066, 0.066, 0.084), (0, 0, 0.042)),
    body("lid", (0.04, 0.038, 0.072), (0, 0.005, 0.036)),
    body("m", (0.05, 0.05, 0.14), (0.1, 0, 0.07)),
)


def test_a_piece_gives_its_points_and_pixels_to_the_whole() -> None:
    objects, pixels = without_pieces([LID, MILK, CAN], [np.array([1, 2]), np.array([5]), np.array([7, 8])])
    assert [item.id for item in objects] == ["m", "can_1"] and len(objects[1].points) == 40
    assert [sorted(own.tolist()) for own in pixels] == [[5], [1, 2, 7, 8]]


@pytest.mark.parametrize("other", [body("b", (0.04, 0.04, 0.04), (0.06, 0, 0.02)), replace(LID, relation="held"), replace(CAN, is_container=True, id="bin")])
def test_others_stay_what_they_are(other: SceneObject) -> None:
    pair = [LID if other.is_container else CAN, other]
    assert len(without_pieces(pair, [np.array([0]), np.array([1])])[0]) == 2


def test_the_share_is_that_of_the_volume() -> None:
    half = body("h", (0.02, 0.02, 0.02), (0.033, 0, 0.042))
    assert shared_volume(half, CAN) == pytest.approx(0.5, abs=0.01) and shared_volume(MILK, CAN) == 0.0
    turned = replace(LID, pose=make_transform(rotation_rpy(0, 0, 1.0), LID.position))
    assert shared_volume(turned, CAN) > 0.9
