"""Where one object can stand on another: at its top, or where it is level."""

from __future__ import annotations

import numpy as np
import pytest

from deskhand.geometry import make_transform
from deskhand.skills.standing import standing_place, standing_places
from deskhand.types import SceneObject

LENGTH, WIDTH, HEIGHT, KNOB = 0.26, 0.18, 0.025, 0.06


def _object(points: np.ndarray, size: tuple[float, float, float], yaw: float = 0.0) -> SceneObject:
    c, s = np.cos(yaw), np.sin(yaw)
    turn = np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]])
    pose = make_transform(turn, [0.1, -0.05, size[2] / 2])
    return SceneObject("hob_1", "hob", "grey", "box", np.array(size), pose, (points @ turn.T + [0.1, -0.05, 0]).astype(np.float32), 0.9)


def _plane(low: tuple[float, float], high: tuple[float, float], z: float) -> np.ndarray:
    x, y = np.meshgrid(np.arange(low[0], high[0], 0.004), np.arange(low[1], high[1], 0.004))
    return np.column_stack([x.ravel(), y.ravel(), np.full(x.size, z)])


def _hob(yaw: float) -> SceneObject:
    plate = _plane((-LENGTH / 2, -WIDTH / 2), (LENGTH / 2 - 0.07, WIDTH / 2), HEIGHT)
    knob = _plane((LENGTH / 2 - 0.05, -0.02), (LENGTH / 2, 0.02), KNOB)
    return _object(np.vstack([plate, knob]), (LENGTH, WIDTH, KNOB), yaw)


@pytest.mark.parametrize("yaw", [0.0, 0.6, 2.0])
def test_on_what_is_higher_at_its_edge_it_stands_on_the_level_part(yaw: float) -> None:
    hob = _hob(yaw)
    place, height = standing_place(hob, 0.055)
    local = (np.append(place, 0) - [0.1, -0.05, 0]) @ hob.pose[:3, :3]
    assert height == pytest.approx(HEIGHT, abs=1e-4)
    assert local[0] + 0.055 < LENGTH / 2 - 0.05 and abs(local[1]) < 0.02


def test_on_a_plain_block_it_stands_on_the_middle_of_its_top() -> None:
    block = _object(_plane((-0.05, -0.05), (0.05, 0.05), 0.04), (0.1, 0.1, 0.04))
    place, height = standing_place(block, 0.03)
    assert np.allclose(place, [0.1, -0.05]) and height == pytest.approx(0.04)


def test_where_nothing_is_level_or_nothing_is_seen_its_box_tells() -> None:
    slope = _plane((-0.1, -0.1), (0.1, 0.1), 0.0)
    slope[:, 2] = 0.1 + slope[:, 0]
    for points in (slope, np.zeros((0, 3))):
        place, height = standing_place(_object(points, (0.2, 0.2, 0.2)), 0.04)
        assert np.allclose(place, [0.1, -0.05]) and height == pytest.approx(0.2)


def test_other_places_on_a_cabinet_hold_all_of_the_underside_and_none_is_tried_on_a_block() -> None:
    cabinet = _object(_plane((-0.13, -0.1), (0.13, 0.1), 0.22), (0.26, 0.2, 0.22), 0.5)
    places = list(standing_places(cabinet, np.array([0.11, 0.11, 0.05])))
    assert np.allclose(places[0][0], [0.1, -0.05])
    local = np.array([(np.append(place, 0) - [0.1, -0.05, 0]) @ cabinet.pose[:3, :3] for place, _ in places])[:, :2]
    assert 5 < len(places) <= 14 and all(height == pytest.approx(0.22) for _, height in places)
    assert (np.abs(local) + 0.055 < [0.131, 0.101]).all() and np.abs(local).max() > 0.05
    block = _object(_plane((-0.02, -0.02), (0.02, 0.02), 0.04), (0.04, 0.04, 0.04))
    assert len(list(standing_places(block, np.array([0.035, 0.035, 0.035])))) == 1


def test_no_other_place_is_where_something_stands() -> None:
    top = _plane((-0.13, -0.1), (0.13, 0.1), 0.22)
    free = _object(top[top[:, 0] > -0.02], (0.26, 0.2, 0.22))  # what stands at the back hides the rest of it
    places = [place for place, _ in standing_places(free, np.array([0.06, 0.06, 0.05]))]
    assert len(places) > 2 and all(place[0] > 0.1 - 0.07 for place in places)


@pytest.mark.parametrize("yaw", [0.0, 0.5, 2.6])
def test_the_sides_of_a_smaller_block_do_not_make_its_top_uneven(yaw: float) -> None:
    edge = 0.034
    top, side = _plane((-edge / 2, -edge / 2), (edge / 2, edge / 2), edge), _plane((-edge / 2, 0.0), (edge / 2, edge), 0.0)
    front = np.column_stack([side[:, 0], np.full(len(side), -edge / 2 + 0.0005), side[:, 1]])
    block = _object(np.vstack([top, *[front] * 3]), (edge, edge, edge), yaw)
    place, height = standing_place(block, 0.0175)
    assert place == pytest.approx([0.1, -0.05]) and height == pytest.approx(edge)
