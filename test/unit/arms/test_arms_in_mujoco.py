"""What holds for every arm's description: the same in MuJoCo, no contact that is never checked, named poses that are free."""

from __future__ import annotations

from xml.etree import ElementTree

import mujoco
import numpy as np
import pytest

from deskhand.arms.config import list_arms, load_arm
from deskhand.arms.model import RobotModel


def compiled(robot: RobotModel) -> mujoco.MjModel:
    """The arm's URDF as MuJoCo reads it, contacts of neighbouring links included."""
    urdf = robot.urdf.replace('<link name="world"/>', '<mujoco><compiler fusestatic="false"/></mujoco><link name="world"/>')
    spec = mujoco.MjSpec.from_string(urdf)
    spec.option.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_FILTERPARENT)
    return spec.compile()


def random_joints(robot: RobotModel, rng: np.random.Generator) -> dict[str, float]:
    """Within the limits, the fingers alike."""
    joints = {name: rng.uniform(low, high) for name, (low, high, _, _) in robot.limits.items()}
    return joints | dict.fromkeys(robot.fingers, joints[robot.arm.gripper.joint])


def set_joints(model: mujoco.MjModel, data: mujoco.MjData, joints: dict[str, float]) -> None:
    """Put the arm there."""
    for name, position in joints.items():
        data.qpos[model.joint(name).qposadr[0]] = position


def touching(model: mujoco.MjModel, data: mujoco.MjData) -> set[frozenset[str]]:
    """Pairs of links that touch."""
    mujoco.mj_kinematics(model, data)
    mujoco.mj_comPos(model, data)
    mujoco.mj_collision(model, data)
    return {frozenset(model.body(model.geom_bodyid[geom]).name for geom in contact.geom) for contact in data.contact if contact.dist < 0}


@pytest.fixture(scope="module", params=list_arms())
def robot(request: pytest.FixtureRequest) -> RobotModel:
    return RobotModel.load(load_arm(request.param))


def test_forward_kinematics_agree_with_mujoco(robot: RobotModel) -> None:
    model, rng = compiled(robot), np.random.default_rng(0)
    data = mujoco.MjData(model)
    for _ in range(100):
        joints = random_joints(robot, rng)
        set_joints(model, data, joints)
        mujoco.mj_kinematics(model, data)
        for link, pose in robot.forward(joints).items():
            assert np.abs(pose[:3, 3] - data.body(link).xpos).max() < 1e-6
            assert np.abs(pose[:3, :3] - data.body(link).xmat.reshape(3, 3)).max() < 1e-6


def test_pairs_that_are_never_checked_never_touch(robot: RobotModel) -> None:
    model, rng = compiled(robot), np.random.default_rng(1)
    data = mujoco.MjData(model)
    pairs = ElementTree.fromstring(robot.srdf).findall("disable_collisions")
    never = {frozenset((pair.attrib["link1"], pair.attrib["link2"])) for pair in pairs if pair.attrib["reason"] == "Never"}
    seen: set[frozenset[str]] = set()
    for _ in range(3000):
        set_joints(model, data, random_joints(robot, rng))
        seen |= touching(model, data)
    assert not never & seen
    adjacent = {frozenset((joint.parent, joint.child)) for joint in robot.joints.values()}
    assert {frozenset((pair.attrib["link1"], pair.attrib["link2"])) for pair in pairs if pair.attrib["reason"] == "Adjacent"} <= adjacent
    assert seen - adjacent, "random states of this arm do touch, or the test sees nothing"


@pytest.mark.parametrize(("arm", "name"), [(arm, name) for arm in list_arms() for name in load_arm(arm).named_poses])
def test_named_poses_are_free_of_collision_and_agree_with_the_srdf(arm: str, name: str) -> None:
    robot = RobotModel.load(load_arm(arm))
    named = robot.arm_joints(robot.arm.named_poses[name])
    finger = robot.arm.gripper.position_of(robot.arm.gripper.width_max)
    joints = named | dict.fromkeys(robot.fingers, finger)
    model = compiled(robot)
    data = mujoco.MjData(model)
    set_joints(model, data, joints)
    assert not touching(model, data) - robot.allowed_collisions()
    state = next(item for item in ElementTree.fromstring(robot.srdf).findall("group_state") if item.attrib["name"] == name)
    assert {item.attrib["name"]: float(item.attrib["value"]) for item in state} == named
    assert all(low - 1e-9 <= joints[joint] <= high + 1e-9 for joint, (low, high, _, _) in robot.limits.items())
