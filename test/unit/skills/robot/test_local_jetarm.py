"""The five-joint arm in the simulation: what its skills say is checked against the truth."""

import numpy as np
import pytest

from deskhand.arms.model import RobotModel
from deskhand.geometry import inverse, transform_points
from deskhand.motion.roll import out_of_plane
from deskhand.sim.devices import SimArm, SimCamera, SimClock, SimGripper
from deskhand.sim.simulation import Simulation
from deskhand.sim.spec import ObjectSpec, WorldSpec, pose_at
from deskhand.skills.base import SkillContext
from deskhand.skills.belief import Belief
from deskhand.skills.move import look
from deskhand.skills.pick import pick
from deskhand.skills.place import place_in
from deskhand.skills.put import place_at
from deskhand.skills.robot.local import Devices, make_local_robot

BIN = ObjectSpec("bin", "bin", (0.165, 0.17, 0.07), (0.22, 0.24, 0.27), 0.6, pose_at(-0.15, 0.205, 0.035))
BLOCK = ObjectSpec("block", "block", (0.032, 0.032, 0.032), (0.78, 0.08, 0.08), 0.02, pose_at(0.02, 0.06, 0.016, 0.5))
BALL = ObjectSpec("ball", "ball", (0.036, 0.036, 0.036), (0.93, 0.4, 0.04), 0.02, pose_at(0.13, -0.06, 0.018))  # out of reach from straight above


@pytest.fixture(scope="module")
def bench():
    simulation = Simulation(WorldSpec((BIN, BLOCK, BALL), arm="jetarm"))
    devices = Devices(SimArm(simulation), SimGripper(simulation), SimCamera(simulation), SimClock(simulation))
    robot = make_local_robot(simulation.arm, devices)
    belief = Belief()
    assert look(SkillContext(robot, belief)).ok
    yield simulation, robot, belief
    robot.close()


def seen_as(bench, name):
    simulation, _, belief = bench
    truth = simulation.truth().get(name).pose[:3, 3]
    item = min(belief.scene.objects, key=lambda item: float(np.linalg.norm(item.position - truth)))
    assert np.linalg.norm(item.position - truth) < 0.02, f"{name} is not seen"
    return item.id


def test_a_turned_block_is_put_where_it_was_asked_and_then_into_the_bin(bench):
    simulation, robot, belief = bench
    name = seen_as(bench, "block")
    picked = pick(SkillContext(robot, belief), name)
    assert picked.ok, picked.message
    assert simulation.truth().in_hand == ("block",)
    placed = place_at(SkillContext(robot, belief), 0.04, -0.09)
    assert placed.ok, placed.message
    assert simulation.truth().get("block").pose[:2, 3] == pytest.approx([0.04, -0.09], abs=0.008)
    assert pick(SkillContext(robot, belief), seen_as(bench, "block")).ok
    placed = place_in(SkillContext(robot, belief), seen_as(bench, "bin"))
    assert placed.ok, placed.message
    truth = simulation.truth()
    local = transform_points(inverse(truth.get("bin").pose), truth.get("block").pose[:3, 3])
    assert np.all(np.abs(local) < np.asarray(BIN.size) / 2)


def test_what_lies_too_far_for_a_hand_from_above_is_picked_with_the_hand_leaning_out(bench):
    simulation, robot, belief = bench
    name = seen_as(bench, "ball")
    picked = pick(SkillContext(robot, belief), name)
    assert picked.ok, picked.message
    assert simulation.truth().in_hand == ("ball",)
    assert simulation.truth().get("ball").pose[2, 3] > 0.03
    grasp = belief.held.grasp
    assert grasp.pose[2, 2] > -0.99, "the hand looked straight down"
    reached = RobotModel.load(robot.arm).tcp_pose(dict(zip(robot.arm.joints, grasp.joints, strict=True)))
    assert np.abs(reached - grasp.pose).max() < 0.02  # the roll too: the hand closes along the contacts
    assert out_of_plane(grasp.pose, robot.arm.world_T_base[:3, 3]) < 1e-3
    placed = place_in(SkillContext(robot, belief), seen_as(bench, "bin"))
    assert placed.ok, placed.message
