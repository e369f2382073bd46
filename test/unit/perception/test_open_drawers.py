"""Drawers that stand open, ray cast from boxes: containers of their own, whichever way they face; and what is none."""

from __future__ import annotations

import numpy as np
import pytest
from test_compartments import BROWN, RED, seen

from deskhand.motion.obstacles import obstacle_from_object

WALL = 0.006


def cabinet(opened, facing=(1, 0), at=(0.0, 0.0), size=(0.20, 0.18, 0.12), bottom=0.04, height=0.07, handle=True, sides=True):
    """A case, and out of it a drawer whose walls go from ``bottom`` up by ``height``; ``facing``: the axis direction that it opens to."""
    axis, sign = (0, facing[0]) if facing[0] else (1, facing[1])
    long, wide, high = size
    boxes = [((-long / 2, -wide / 2, 0.0), (long / 2, wide / 2, high))]
    if opened:
        first, last, half = long / 2, long / 2 + opened, wide / 2 - 0.01
        boxes += [
            ((first, -half, bottom), (last, half, bottom + WALL)),
            *([((first, s * half - WALL / 2, bottom), (last, s * half + WALL / 2, bottom + height)) for s in (-1, 1)] if sides else []),
            ((last, -wide / 2, bottom), (last + WALL, wide / 2, bottom + height + 0.004)),
        ]
        boxes += [((last + WALL, -0.02, bottom + height / 2 - 0.006), (last + WALL + 0.03, 0.02, bottom + height / 2 + 0.006))] if handle else []
    placed = []
    for low, high_ in boxes:
        ends = np.array([low, high_])[:, [0, 1, 2] if axis == 0 else [1, 0, 2]]
        ends[:, axis] *= sign
        ends += np.array([*at, 0.0])
        placed.append((tuple(ends.min(axis=0)), tuple(ends.max(axis=0)), BROWN))
    return placed


def drawers(objects):
    return [item for item in objects if item.label == "drawer"]


@pytest.mark.parametrize("noise", [0.0, 0.001])
@pytest.mark.parametrize("facing", [(1, 0), (0, 1), (0, -1)])
def test_an_open_drawer_is_a_container_where_it_is_and_its_case_stays_a_box(facing, noise):
    found = seen(cabinet(0.13, facing), noise)
    (drawer,) = drawers(found)
    assert drawer.is_container
    middle = np.array([*(np.array(facing) * 0.165 if facing[0] else (0.0, facing[1] * 0.165)), 0.0])[:2]
    assert drawer.position[:2] == pytest.approx(middle, abs=0.012)
    assert drawer.bottom + drawer.wall == pytest.approx(0.046, abs=0.006) and drawer.top == pytest.approx(0.114, abs=0.008)
    case = min((item for item in found if item is not drawer), key=lambda item: np.linalg.norm(item.position[:2]))
    assert case.position[:2] == pytest.approx([0.0, 0.0], abs=0.012) and sorted(case.size[:2]) == pytest.approx([0.18, 0.20], abs=0.016)


def test_its_inside_is_free_for_the_planner_and_its_handle_is_not():
    (drawer,) = drawers(seen(cabinet(0.13)))
    boxes = [(drawer.pose @ shape.pose, np.asarray(shape.size)) for shape in obstacle_from_object(drawer).shapes]

    def touched(place):
        return any((np.abs(pose[:3, :3].T @ (np.asarray(place) - pose[:3, 3])) <= size / 2).all() for pose, size in boxes)

    assert not touched([0.165, 0.0, 0.08]) and touched([0.165, 0.0, 0.043]) and touched([0.165, 0.08, 0.08])
    assert touched([0.255, 0.0, 0.075]) and not touched([0.255, 0.0, 0.10])


def test_what_lies_in_it_is_an_object_in_it():
    found = seen([*cabinet(0.15, (0, 1)), ((-0.015, 0.16, 0.046), (0.015, 0.19, 0.076), RED)])
    (drawer,) = drawers(found)
    block = next(item for item in found if item.color == "red")
    assert (block.support, block.relation) == (drawer.id, "in") and block.bottom == pytest.approx(drawer.bottom + drawer.wall, abs=0.006)


@pytest.mark.parametrize(
    "boxes",
    [
        cabinet(0.0),
        cabinet(0.13, sides=False, handle=False),
        [*cabinet(0.0), ((0.16, -0.09, 0.0), (0.166, 0.09, 0.11), BROWN)],
        [
            *cabinet(0.0),
            ((0.11, -0.12, 0.0), (0.25, -0.09, 0.10), BROWN),
            ((0.11, 0.09, 0.0), (0.25, 0.12, 0.10), BROWN),
            ((0.25, -0.12, 0.0), (0.28, 0.12, 0.10), BROWN),
        ],
    ],
    ids=["shut", "a board without walls", "a board on the desk", "blocks about a place on the desk"],
)
def test_what_is_no_drawer(boxes):
    assert not drawers(seen(boxes, 0.001))


def test_nothing_carries_it_and_what_stands_below_it_carries_nothing():
    found = seen([*cabinet(0.15, (0, 1), bottom=0.08, size=(0.20, 0.18, 0.16)), ((0.06, 0.18, 0.0), (0.11, 0.25, 0.05), RED)])
    (drawer,) = drawers(found)
    assert drawer.support == "table" and any(item.color == "red" for item in found)


def open_box(low, high, wall, floor):
    """Boxes of an open box between two corners, with a floor so thick."""
    (x, y, z), (to_x, to_y, top) = low, high
    return [
        ((x, y, z), (to_x, to_y, floor), BROWN),
        *[((a, y, z), (a + wall, to_y, top), BROWN) for a in (x, to_x - wall)],
        *[((x, b, z), (to_x, b + wall, top), BROWN) for b in (y, to_y - wall)],
    ]


@pytest.mark.parametrize("noise", [0.0, 0.001])
def test_a_tray_that_stands_before_a_higher_bin_did_not_come_out_of_it(noise):
    tray, bin_ = open_box((0.0, -0.09, 0.0), (0.16, 0.09, 0.04), WALL, 0.01), open_box((-0.21, -0.09, 0.0), (-0.045, 0.09, 0.075), WALL, 0.006)
    found = seen([*tray, *bin_], noise)
    assert not drawers(found) and sum(item.is_container for item in found) == 2
