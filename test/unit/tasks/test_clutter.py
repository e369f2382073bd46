"""Cluttered desks: as asked for, within reach, and at rest as they were placed."""

import numpy as np
import pytest

pytest.importorskip("mujoco")

from deskhand.arms.config import load_arm
from deskhand.arms.model import RobotModel
from deskhand.errors import DeskhandError
from deskhand.geometry import make_transform, rotation_rpy
from deskhand.grasping.wrist import WristReach
from deskhand.sim.simulation import Simulation
from deskhand.sim.spec import CONTAINER_KINDS
from deskhand.tasks.clutter import cluttered_desk
from deskhand.tasks.placement import is_inside

WAYS = {"touching": {"touching": 1.0}, "stacked": {"stacked": 0.4}, "filled": {"containers": 2, "filled": 0.5}}


@pytest.mark.parametrize("arm", ["wx250s", "jetarm"])
@pytest.mark.parametrize("way", WAYS)
def test_objects_stay_where_they_were_put(arm, way):
    for seed in (3, 4):
        world = cluttered_desk(arm, seed, 8, **WAYS[way])
        truth = Simulation(world).truth()
        objects = [item for item in world.objects if item.kind not in CONTAINER_KINDS]
        inside = [item.name for item in objects for box in world.objects if is_inside(truth.get(item.name), truth.get(box.name), box.wall)]
        upper = [item for item in objects if item.name not in inside and item.pose[2, 3] - np.abs(item.pose[2, :3]) @ np.asarray(item.size) / 2 > 0.008]
        assert len(objects) == 8
        assert len(inside) == (4 if way == "filled" else 0)
        assert way != "stacked" or len(upper) + sum(abs(item.pose[2, 2]) > 0.1 and item.kind in ("pen", "marker") for item in objects) == 3
        for item in objects:
            moved = np.linalg.norm(truth.get(item.name).pose[:3, 3] - item.pose[:3, 3])
            assert moved < (0.03 if item.name in inside else 0.004), (item.name, moved)
        radius = [np.hypot(*(item.pose[:2, 3] - load_arm(arm).world_T_base[:2, 3])) for item in objects if item.name not in inside]
        assert max(radius) < load_arm(arm).work_radius[1] + 0.08


def test_a_seed_is_a_desk():
    one, same, other = (cluttered_desk("wx250s", seed, stacked=0.3, containers=1, filled=0.2) for seed in (5, 5, 6))
    assert all(np.array_equal(a.pose, b.pose) for a, b in zip(one.objects, same.objects, strict=True))
    assert not np.array_equal(one.objects[-1].pose, other.objects[-1].pose)


def test_kinds_are_those_asked_for():
    world = cluttered_desk("wx250s", 0, 6, kinds=("block",), stacked=0.5)
    assert {item.kind for item in world.objects} == {"block"}


@pytest.mark.parametrize("wrong", [{"filled": 0.2}, {"stacked": 0.6, "filled": 0.6, "containers": 1}, {"kinds": ("chair",)}, {"containers": 9}, {"count": 60}])
def test_what_makes_no_desk_is_said(wrong):
    with pytest.raises(DeskhandError) as error:
        cluttered_desk("jetarm", 0, **wrong)
    assert error.value.code == "invalid_input"


def test_a_small_arm_is_not_asked_for_what_stands_too_high_for_it():
    arm = load_arm("jetarm")
    reach, base = WristReach(RobotModel.load(arm)), arm.world_T_base[:2, 3]
    stood = [item for seed in range(40) for item in cluttered_desk("jetarm", seed, 4, stacked=0.5, kinds=("can", "block", "box")).objects]
    high = [item for item in stood if item.pose[2, 3] > item.size[2] / 2 + 0.01]
    assert len(high) > 40
    hands = [make_transform(rotation_rpy(np.pi, 0.0, np.arctan2(*(item.pose[1::-1, 3] - base[::-1]))), item.pose[:3, 3]) for item in high]
    assert reach.within(np.stack(hands)).all()
