"""The arm node as a process over DDS, its driver on an emulated bus that moves the simulated arm."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("rclpy")
pytest.importorskip("mujoco")
pytest.importorskip("serial")

import rclpy
from action_msgs.msg import GoalStatus
from control_msgs.action import FollowJointTrajectory, GripperCommand
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from lifecycle_msgs.msg import Transition
from lifecycle_msgs.srv import ChangeState
from rcl_interfaces.msg import Parameter, ParameterType, ParameterValue
from rcl_interfaces.srv import SetParameters
from rclpy.action import ActionClient
from rclpy.node import Node
from sensor_msgs.msg import JointState
from std_srvs.srv import SetBool
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from deskhand.arms.config import load_arm
from deskhand.nodes import conversions
from deskhand.nodes.node import wait_future
from deskhand.nodes.spinner import Spinner

DOMAIN = 83
ARM = load_arm("jetarm")
HOME = np.array(ARM.named_poses["home"])
OUT = HOME + np.array([0.6, 0.3, -0.3, 0.0, 0.5])


class Bench:
    """Simulation and arm node as processes, a client in this one."""

    def __init__(self, folder: Path) -> None:
        port = str(folder / "arm_port")
        environment = {**os.environ, "ROS_DOMAIN_ID": str(DOMAIN), "ROS_LOCALHOST_ONLY": "1"}
        # reality none: joints are held against what the driver was told, and worn servos are off by more
        sim = [
            "sim_node",
            "--task",
            "desk_cleaning",
            "--seed",
            "1",
            "--reality",
            "none",
            "--bus",
            "hiwonder_rrc",
            "--port",
            port,
            "--ros-args",
            "-p",
            "arm:=jetarm",
        ]
        arm = ["arm_node", "--ros-args", "-p", f"port:={port}", "-p", "use_sim_time:=true"]
        pace = ["-p", "realtime_factor:=1.0", "-p", "state_period:=0.01", "-p", "max_state_rate:=100.0"]
        self.processes = [
            subprocess.Popen([sys.executable, "-m", f"deskhand.nodes.{command[0]}", *command[1:]], env=environment) for command in ([*sim, *pace], arm)
        ]
        self.context = rclpy.Context()
        rclpy.init(context=self.context, domain_id=DOMAIN)
        self.node = Node("probe", context=self.context)
        self.newest: dict[str, Any] = {}
        self.node.create_subscription(JointState, "joint_states", lambda message: self.newest.__setitem__("joint_states", message), 5)
        self.node.create_subscription(DiagnosticArray, "/diagnostics", self._on_diagnostics, 5)
        self.arm = ActionClient(self.node, FollowJointTrajectory, "arm_controller/follow_joint_trajectory")
        self.gripper = ActionClient(self.node, GripperCommand, "gripper_controller/gripper_cmd")
        self.torque = self.node.create_client(SetBool, "arm/torque")
        self.parameters = self.node.create_client(SetParameters, "arm/set_parameters")
        self.change = self.node.create_client(ChangeState, "arm/change_state")
        self.spinner = Spinner(self.node, 1)
        self.spinner.start()

    def _on_diagnostics(self, message: DiagnosticArray) -> None:
        self.newest[f"/diagnostics of {message.status[0].name}"] = message

    def until(self, condition: Callable[[], Any], what: str, limit: float = 60.0) -> Any:
        end = time.monotonic() + limit
        while time.monotonic() < end:
            if found := condition():
                return found
            assert all(process.poll() is None for process in self.processes), "a node has died"
            time.sleep(0.01)
        raise AssertionError(f"no {what} within {limit} s")

    def joints(self) -> np.ndarray:
        self.newest.pop("joint_states", None)
        return conversions.joint_state_from_msg(self.until(lambda: self.newest.get("joint_states"), "joint state")).of(ARM.joints)

    def rest(self) -> np.ndarray:
        """Where the arm is, half a second of its time later."""

        def stamp() -> float:
            self.newest.pop("joint_states", None)
            return conversions.time_from_msg(self.until(lambda: self.newest.get("joint_states"), "joint state").header.stamp)

        end = stamp() + 0.5
        self.until(lambda: stamp() >= end, "simulated time")
        return self.joints()

    def go(self, transition: int) -> bool:
        request = ChangeState.Request(transition=Transition(id=transition))
        return bool(wait_future(self.change.call_async(request), 60, "transition").success)

    def send(self, *positions: np.ndarray, seconds: float = 1.5) -> Any:
        goal = FollowJointTrajectory.Goal(trajectory=JointTrajectory(joint_names=list(ARM.joints)))
        for index, position in enumerate(positions, 1):
            zero = [0.0] * len(position)
            stamp = conversions.duration_to_msg(seconds * index)
            goal.trajectory.points.append(JointTrajectoryPoint(positions=position.tolist(), velocities=zero, time_from_start=stamp))
        return wait_future(self.arm.send_goal_async(goal), 60, "goal")

    def close(self) -> None:
        for process in reversed(self.processes):
            process.send_signal(signal.SIGINT)
            assert process.wait(20) == 0
        self.spinner.end()
        self.node.destroy_node()
        rclpy.shutdown(context=self.context)


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    bench = Bench(tmp_path_factory.mktemp("arm"))
    try:
        bench.until(lambda: bench.arm.server_is_ready() and bench.gripper.server_is_ready() and "joint_states" in bench.newest, "arm", 120)
        yield bench
    finally:
        bench.close()


def test_the_simulated_arm_goes_where_its_driver_is_told(bench: Bench) -> None:
    assert np.abs(bench.joints() - HOME).max() < 0.03
    for goal in (OUT, HOME):
        handle = bench.send(goal)
        assert handle.accepted
        result = wait_future(handle.get_result_async(), 120, "result")
        assert (result.status, result.result.error_code) == (GoalStatus.STATUS_SUCCEEDED, 0), result.result.error_string
        assert np.abs(bench.joints() - goal).max() < 0.03


def test_what_cannot_be_is_refused(bench: Bench) -> None:
    assert not bench.send(OUT, seconds=0.02).accepted
    assert not bench.send(OUT + np.array([5.0, 0, 0, 0, 0])).accepted


def test_a_cancel_leaves_the_arm_standing_on_its_way(bench: Bench) -> None:
    start = bench.joints()
    handle = bench.send(OUT, seconds=4.0)
    bench.until(lambda: np.abs(bench.joints() - start).max() > 0.15, "movement")
    wait_future(handle.cancel_goal_async(), 60, "cancel")
    assert wait_future(handle.get_result_async(), 60, "result").status == GoalStatus.STATUS_CANCELED
    bench.joints()
    stood = bench.joints()
    assert np.abs(bench.rest() - stood).max() < 0.02
    assert np.abs(stood - OUT).max() > 0.1


def test_deactivated_it_holds_and_refuses_and_cleaned_up_it_gives_the_port_back_until_it_is_configured(bench: Bench) -> None:
    wait_future(bench.send(HOME).get_result_async(), 120, "result")
    start = bench.joints()
    moving = bench.send(OUT, seconds=4.0)
    bench.until(lambda: np.abs(bench.joints() - start).max() > 0.15, "movement")
    assert bench.go(Transition.TRANSITION_DEACTIVATE)
    ended = wait_future(moving.get_result_async(), 60, "result")
    assert ended.status == GoalStatus.STATUS_ABORTED and "not active" in ended.result.error_string
    bench.joints()
    held = bench.joints()
    assert np.abs(bench.rest() - held).max() < 0.02 and np.abs(held - OUT).max() > 0.1
    assert not bench.send(HOME).accepted and not bench.go(Transition.TRANSITION_DEACTIVATE)
    assert bench.go(Transition.TRANSITION_CLEANUP)
    refused = wait_future(bench.torque.call_async(SetBool.Request(data=True)), 60, "torque")
    assert not refused.success and "unconfigured" in refused.message
    assert bench.go(Transition.TRANSITION_CONFIGURE)
    assert np.abs(bench.joints() - held).max() < 0.03, "the servos held on while nobody drove them"
    assert bench.go(Transition.TRANSITION_ACTIVATE)
    result = wait_future(bench.send(HOME).get_result_async(), 120, "result")
    assert (result.status, result.result.error_code) == (GoalStatus.STATUS_SUCCEEDED, 0), result.result.error_string


def test_the_gripper_closes_on_nothing(bench: Bench) -> None:
    goal = GripperCommand.Goal()
    goal.command.position, goal.command.max_effort = ARM.gripper.position_of(0.004), 5.0
    handle = wait_future(bench.gripper.send_goal_async(goal), 60, "goal")
    result = wait_future(handle.get_result_async(), 120, "result").result
    assert result.reached_goal and not result.stalled
    assert ARM.gripper.width_of(result.position) == pytest.approx(0.004, abs=0.003)


def test_diagnostics_tell_of_every_servo(bench: Bench) -> None:
    bench.newest.pop("/diagnostics of arm", None)
    status = bench.until(lambda: bench.newest.get("/diagnostics of arm"), "diagnostics").status[0]
    if status.level != DiagnosticStatus.OK:  # on a loaded machine the emulated servos answer late, and for as long as they do the arm is slowed down
        assert status.level == DiagnosticStatus.WARN and "slowed down" in status.message, status.message
    values = {item.key: item.value for item in status.values}
    assert {f"{name} voltage [V]" for name in (*ARM.joints, "gripper")} <= set(values)
    assert 0 < float(values["tracking error max [rad]"]) < 0.3
    assert int(values["questions"]) > 100


def test_torque_goes_only_when_the_arm_is_supported(bench: Bench) -> None:
    refused = wait_future(bench.torque.call_async(SetBool.Request(data=False)), 60, "torque")
    assert not refused.success and "falls" in refused.message
    supported = Parameter(name="supported", value=ParameterValue(type=ParameterType.PARAMETER_BOOL, bool_value=True))
    assert wait_future(bench.parameters.call_async(SetParameters.Request(parameters=[supported])), 60, "parameter").results[0].successful
    assert wait_future(bench.torque.call_async(SetBool.Request(data=False)), 60, "torque").success
    assert wait_future(bench.torque.call_async(SetBool.Request(data=True)), 60, "torque").success
