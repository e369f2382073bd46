"""LocalRobot on the simulated devices: what the skills say is checked against the truth."""

import mujoco
import numpy as np
import pytest

from deskhand.errors import DeskhandError
from deskhand.geometry import inverse, rotation_rpy, transform_points
from deskhand.sim.devices import SimArm, SimCamera, SimClock, SimGripper
from deskhand.sim.simulation import Simulation
from deskhand.sim.spec import ObjectSpec, WorldSpec, pose_at
from deskhand.skills.base import SkillContext
from deskhand.skills.belief import Belief
from deskhand.skills.move import look
from deskhand.skills.pick import pick
from deskhand.skills.place import place_in
from deskhand.skills.robot.local import Devices, make_local_robot
from deskhand.types import MotionGoal

BIN = ObjectSpec("bin", "bin", (0.165, 0.17, 0.07), (0.22, 0.24, 0.27), 0.6, pose_at(0.0, 0.27, 0.035))


def lying(x, y, z, yaw):
    pose = pose_at(x, y, z)
    pose[:3, :3] = rotation_rpy(0, 0, yaw) @ rotation_rpy(0, np.pi / 2, 0)
    return pose


OBJECTS = (
    ObjectSpec("pen", "pen", (0.010, 0.010, 0.13), (0.08, 0.2, 0.72), 0.010, lying(0.10, 0.08, 0.005, 0.6)),
    ObjectSpec("ball", "ball", (0.036, 0.036, 0.036), (0.93, 0.4, 0.04), 0.02, pose_at(0.08, -0.08, 0.018)),
    ObjectSpec("cup", "cup", (0.041, 0.041, 0.05), (0.42, 0.12, 0.55), 0.03, pose_at(-0.05, -0.12, 0.025)),
    ObjectSpec("eraser", "eraser", (0.022, 0.047, 0.013), (0.08, 0.2, 0.72), 0.015, pose_at(0.0, 0.02, 0.0065, 0.9)),
    ObjectSpec("can", "can", (0.038, 0.038, 0.066), (0.08, 0.52, 0.15), 0.04, lying(0.02, -0.22, 0.019, 0.3)),
)


class Bench:
    def __init__(self, objects):
        self.simulation = Simulation(WorldSpec((BIN, *objects)))
        devices = Devices(SimArm(self.simulation), SimGripper(self.simulation), SimCamera(self.simulation), SimClock(self.simulation))
        self.robot, self.belief = make_local_robot(self.simulation.arm, devices), Belief()

    def context(self, **more):
        return SkillContext(self.robot, self.belief, **more)

    def seen_as(self, name):
        """The id that perception gave to an object, by its place."""
        truth = self.simulation.truth().get(name).pose[:3, 3]
        item = min(self.belief.scene.objects, key=lambda item: float(np.linalg.norm(item.position - truth)))
        assert np.linalg.norm(item.position - truth) < 0.02, f"{name} is not seen"
        return item.id

    def inside(self, name):
        truth = self.simulation.truth()
        local = transform_points(inverse(truth.get("bin").pose), truth.get(name).pose[:3, 3])
        return bool(np.all(np.abs(local) < np.asarray(BIN.size) / 2))

    def take_away(self, name):
        """Somebody takes an object from the desk."""
        simulation = self.simulation
        index = [item.name for item in simulation.built.spec.objects].index(name)
        joint = simulation.model.body_jntadr[simulation.built.object_bodies[index]]
        with simulation.lock:
            simulation.data.qpos[simulation.model.jnt_qposadr[joint] + 0] = -2.0
            mujoco.mj_forward(simulation.model, simulation.data)


@pytest.fixture
def bench():
    made = []

    def make(*names):
        made.append(Bench([item for item in OBJECTS if item.name in names]))
        assert look(made[-1].context()).ok
        return made[-1]

    yield make
    for item in made:
        item.robot.close()


def test_objects_of_several_kinds_end_up_in_the_bin_and_the_skills_tell_the_truth(bench):
    objects = [item for item in OBJECTS if item.name != "eraser"]
    desk = bench(*(item.name for item in objects))
    for item in objects:
        name = desk.seen_as(item.name)
        picked = pick(desk.context(), name)
        assert picked.ok, f"{item.name}: {picked.message}"
        assert item.name in desk.simulation.truth().in_hand
        assert any(abs(picked.data["width"] - side) < 0.006 for side in item.size)
        placed = place_in(desk.context(), desk.seen_as("bin"))
        assert placed.ok, f"{item.name}: {placed.message}"
        assert desk.inside(item.name)
        assert not desk.simulation.truth().in_hand


def test_a_object_that_was_taken_away_is_lost_not_picked(bench):
    desk = bench("ball", "eraser")
    name = desk.seen_as("ball")
    desk.take_away("ball")
    result = pick(desk.context(), name)
    assert result.code == "object_lost"
    assert result.data["failures"] == ["grasp_failed"]
    assert not desk.simulation.truth().in_hand


def test_a_stop_halts_the_arm_and_stays(bench):
    desk = bench("ball")
    robot = desk.robot
    plan = robot.plan_motion(MotionGoal(named="upright"))
    report = robot.execute(plan.id, lambda share, _: robot.stop("the test says so") if share > 0.3 else None)
    assert report.code == "safety_stop" and 0.05 < report.progress < 0.8
    halted = robot.joint_state().of(robot.arm.joints)
    robot.sleep(0.5)
    assert np.abs(robot.joint_state().of(robot.arm.joints) - halted).max() < 0.02
    result = pick(desk.context(), desk.seen_as("ball"))
    assert result.code == "safety_stop"
    for call in (lambda: robot.gripper(0.03), lambda: robot.plan_motion(MotionGoal(named="home"))):
        with pytest.raises(DeskhandError, match="the test says so"):
            call()
    robot.reset_stop()
    assert robot.execute(robot.plan_motion(MotionGoal(named="home")).id).ok


def test_a_cancelled_pick_leaves_the_arm_still(bench):
    desk = bench("ball")
    steps = []
    result = pick(
        desk.context(progress=lambda share, text: steps.append(text), cancelled=lambda: any("approach" in text for text in steps)), desk.seen_as("ball")
    )
    assert result.code == "cancelled"
    before = desk.robot.joint_state().positions
    desk.robot.sleep(0.3)
    assert np.abs(desk.robot.joint_state().positions - before).max() < 0.01
