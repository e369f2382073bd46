"""The SO-101 in physics: its one turning jaw takes hold beside the fixed one, holds, and lets go without moving what stands there."""

import numpy as np
import pytest

from deskhand.bench.grasp.picks import bench
from deskhand.bench.grasp.subjects import single_world
from deskhand.skills.carry import settled
from deskhand.skills.gripper import open_gripper
from deskhand.skills.pick import pick
from deskhand.skills.put import place_at

SEED = 3


@pytest.fixture(scope="module")
def picked():
    """A desk with a block of 31 mm that was picked, and what pick said."""
    with bench(single_world("so101", SEED, "block")) as desk:
        context = desk.context()
        (block,) = context.look().objects
        result = pick(context, block.id, attempts=1)
        assert result.ok, result.message
        yield desk, context, result


def true_place(desk, context):
    return np.linalg.inv(context.robot.tcp_pose()) @ desk.simulation.truth().get("thing").pose


def test_a_block_is_held_beside_the_fixed_jaw_and_the_belief_says_so(picked):
    desk, context, result = picked
    gripper, item = desk.robot.arm.gripper, desk.simulation.truth().get("thing")
    assert desk.in_hand() == ("thing",)
    assert result.data["width"] == pytest.approx(item.size[1], abs=0.002)
    where = true_place(desk, context)
    assert where[1, 3] == pytest.approx(gripper.tcp_offset(item.size[1])[1], abs=0.0008)
    assert where[1, 3] > 0.005, "not in the middle of the tcp frame, as between parallel fingers"
    believed = settled(context.belief.held, gripper).tcp_T_object
    assert believed[1, 3] == pytest.approx(where[1, 3], abs=0.001)
    assert desk.simulation.finger_force() == pytest.approx(context.belief.held.grasp.force, abs=0.5)  # [N] at the pad, not the joint's torque


def test_friction_holds_it(picked):
    desk, context, _ = picked
    before = true_place(desk, context)
    desk.simulation.step(5.0)
    assert np.linalg.norm((true_place(desk, context) - before)[:3, 3]) < 0.001
    assert desk.simulation.truth().in_hand == ("thing",)


def test_it_is_put_down_where_it_was_asked_and_the_hand_leaves_it_there(picked):
    desk, context, _ = picked
    place = desk.robot.arm.world_T_base[:2, 3] + 0.19 * np.array([np.cos(0.4), np.sin(0.4)])
    result = place_at(context, float(place[0]), float(place[1]), 0.3)
    assert result.ok, result.message
    item = desk.simulation.truth().get("thing")
    assert np.linalg.norm(item.pose[:2, 3] - place) < 0.004
    assert item.pose[2, 2] > 0.999 and desk.simulation.truth().in_hand == ()
    assert open_gripper(context).ok and context.width() == pytest.approx(desk.robot.arm.gripper.width_max, abs=0.003)
