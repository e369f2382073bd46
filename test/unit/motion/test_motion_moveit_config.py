"""What needs no MoveIt: its configuration, our own IK steps, the process around a backend."""

from __future__ import annotations

import os
import signal
import time
from xml.etree import ElementTree

import numpy as np
import pytest
from backends import ARMS, make_embedded

from deskhand.arms.config import list_arms
from deskhand.arms.model import RobotModel
from deskhand.errors import DeskhandError
from deskhand.geometry import Array, rotation_angle
from deskhand.motion.moveit_config import moveit_parameters
from deskhand.motion.numerical_ik import NumericalIk
from deskhand.motion.process import ProcessBackend
from deskhand.safety.scene import PlanningScene
from deskhand.testing.motion_desk import box, code_of
from deskhand.types import IkSolution

HOME = np.array(RobotModel.load("wx250s").arm.named_poses["home"])
OPEN = {"left_finger": 0.037}


@pytest.mark.parametrize("name", list_arms())
def test_moveit_is_told_what_the_rest_of_the_package_uses(name: str) -> None:
    model = RobotModel.load(name)
    arm, told = model.arm, moveit_parameters(model)
    limits = told["robot_description_planning"]["joint_limits"]
    assert list(limits) == list(arm.joints)
    for index, joint in enumerate(arm.joints):
        assert limits[joint]["max_velocity"] == pytest.approx(arm.max_velocity[index])
        assert limits[joint]["max_acceleration"] == pytest.approx(arm.max_acceleration[index])
    assert told["robot_description"] == model.urdf
    groups = ElementTree.fromstring(told["robot_description_semantic"]).findall("group")
    assert arm.group in {group.attrib["name"] for group in groups}
    assert told["robot_description_kinematics"][arm.group].get("position_only_ik", False) == arm.free_roll
    assert told["planning_pipelines"]["pipeline_names"] == ["ompl"]
    assert told["plan_request_params"]["planner_id"] in told["ompl"]["planner_configs"]
    extent = sum(model.limits[joint][1] - model.limits[joint][0] for joint in arm.joints)
    assert told["ompl"][arm.group]["longest_valid_segment_fraction"] * extent == pytest.approx(0.02, rel=0.02)
    controllers = told["moveit_simple_controller_manager"]
    assert controllers["arm_controller"]["joints"] == list(arm.joints)
    assert controllers["gripper_controller"]["joints"] == [arm.gripper.joint]


@pytest.mark.parametrize("name", ARMS)
def test_our_own_steps_arrive_near_the_seed(name: str) -> None:
    model = RobotModel.load(name)
    newton, rng = NumericalIk(model), np.random.default_rng(0)
    lower, upper = (np.array([model.limits[joint][i] for joint in model.arm.joints]) for i in (0, 1))
    for _ in range(40):
        joints = rng.uniform(lower * 0.9, upper * 0.9)
        found = newton.refine(newton.pose(joints), joints + rng.uniform(-0.05, 0.05, len(joints)))
        assert found is not None and rotation_angle(newton.pose(found), newton.pose(joints)) < 1e-3
        assert np.linalg.norm(newton.pose(found)[:3, 3] - newton.pose(joints)[:3, 3]) < 1e-4
    far = newton.pose(np.zeros(len(lower)))
    far[:3, 3] += [2.0, 0, 0]
    assert newton.refine(far, np.zeros(len(lower))) is None


class Crashing:
    """A backend that dies, hangs or objects when asked."""

    def in_collision(self, scene: PlanningScene, joints: Array, *_: object, **__: object) -> bool:
        if joints[0] > 0:
            os.kill(os.getpid(), signal.SIGSEGV)
        return "wall" in scene.obstacles

    def solve_ik(self, scene: PlanningScene, pose: Array, *_: object, **__: object) -> list[IkSolution]:
        raise DeskhandError("planning_failed", "not today", retry=True, hint="Tomorrow.")

    def refine_ik(self, *_: object) -> None:
        time.sleep(60)


def make_crashing() -> Crashing:
    return Crashing()


def make_nothing() -> Crashing:
    raise DeskhandError("missing_dependency", "there is no such planner", hint="Install it.")


def test_a_backend_that_crashes_is_an_error_and_starts_again() -> None:
    backend = ProcessBackend("crashing", "test_motion_moveit_config:make_crashing")
    still, crash = np.zeros(6), np.ones(6)
    walled = PlanningScene({"wall": box("wall", 0, 0, 0.1, (0.1, 0.1, 0.1))})
    assert not backend.in_collision(PlanningScene(), still, {})
    assert backend.in_collision(walled, still, {})
    with pytest.raises(DeskhandError, match="exit code -11") as caught:
        backend.in_collision(walled, crash, {})
    assert caught.value.code == "internal_error" and caught.value.retry
    assert backend.in_collision(walled, still, {}), "the fresh process was not told of the scene"
    with pytest.raises(DeskhandError, match="not today") as caught:
        backend.solve_ik(walled, np.eye(4), still, {})
    assert (caught.value.code, caught.value.retry, caught.value.hint) == ("planning_failed", True, "Tomorrow.")
    backend.close()


def test_a_backend_that_hangs_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("deskhand.motion.process.SPARE_TIME", 0.2)
    backend = ProcessBackend("hanging", "test_motion_moveit_config:make_crashing")
    assert code_of(backend.refine_ik, np.eye(4), np.zeros(6), {}) == "timeout"
    backend.close()


def test_what_keeps_a_backend_from_starting_is_told() -> None:
    assert code_of(ProcessBackend, "nothing", "test_motion_moveit_config:make_nothing") == "missing_dependency"
    assert code_of(ProcessBackend, "nothing", "test_motion_moveit_config:nobody") == "internal_error"


def test_a_process_answers_as_its_backend_does() -> None:
    direct, apart = make_embedded("wx250s"), ProcessBackend("embedded", "backends:make_embedded", "wx250s")
    scene = PlanningScene({"wall": box("wall", 0.1, 0, 0.1, (0.02, 0.3, 0.2))})
    goal = HOME + np.eye(6)[0] * 0.7
    first, second = (backend.plan_path(scene, HOME, goal, OPEN, max_time=2.0) for backend in (direct, apart))
    assert first is not None and second is not None
    np.testing.assert_allclose(first, second, atol=1e-9)
    direct.close()
    apart.close()
