"""Lids that stand open, in made clouds: an upright plate that leans away from its box; and what is none."""

import numpy as np
import pytest
from test_handles import sheet

from deskhand.geometry import make_transform, rotation_about, transform_points
from deskhand.perception.lids import find_open_lid
from deskhand.types import SceneObject


def box(at=(0.0, 0.0), size=(0.12, 0.14, 0.06), yaw=0.0):
    pose = make_transform(rotation_about([0, 0, 1], yaw), [*at, size[2] / 2])
    return SceneObject("box_1", "box", "blue", "box", np.array(size), pose, np.zeros((0, 3), np.float32), 0.9)


def lid(item, lean, length=0.12, width=0.14):
    """Points of a plate on the hinge at the far (+x) edge of a box, ``lean`` [rad] beyond upright."""
    plate = sheet((0.0, -width / 2, 0.0), (0.0, width / 2, length))
    hinge = make_transform(rotation_about([0, 1, 0], lean), [item.size[0] / 2, 0.0, item.size[2] / 2])
    return transform_points(item.pose @ hinge, plate)


def walls(item):
    x, y, z = np.asarray(item.size) / 2
    return transform_points(item.pose, np.concatenate([sheet((x, -y, -z), (x, y, z), seed=3), sheet((-x, -y, z), (x, y, z), seed=4)]))


@pytest.mark.parametrize("yaw", [0.0, 0.7, -2.0])
@pytest.mark.parametrize("lean", [10.0, 20.0])
def test_a_lid_is_told_where_its_edge_is_and_to_which_side_it_leans(yaw, lean):
    item = box(yaw=yaw, at=(0.1, -0.05))
    found = find_open_lid(np.concatenate([walls(item), lid(item, np.radians(lean))]).astype(np.float32), item)
    edge = transform_points(item.pose, np.array([[0.06 + 0.12 * np.sin(np.radians(lean)), 0.0, 0.03 + 0.12 * np.cos(np.radians(lean))]]))[0]
    assert found is not None and found.edge == pytest.approx(edge, abs=0.008)
    assert found.away @ item.pose[:3, 0] > 0.98 and found.width == pytest.approx(0.14, abs=0.015) and np.degrees(found.lean) == pytest.approx(lean, abs=2.0)


@pytest.mark.parametrize("what", ["shut", "upright", "lying far back", "a can on the box"])
def test_what_is_no_open_lid(what):
    item = box()
    angle = np.linspace(0, 2 * np.pi, 90)
    can = np.concatenate([np.column_stack([0.03 * np.cos(angle), 0.03 * np.sin(angle), np.full(90, z)]) for z in np.arange(0.06, 0.16, 0.003)])
    more = {"shut": np.zeros((0, 3)), "upright": lid(item, 0.0), "lying far back": lid(item, np.radians(60.0)), "a can on the box": can}[what]
    assert find_open_lid(np.concatenate([walls(item), more]).astype(np.float32), item) is None
