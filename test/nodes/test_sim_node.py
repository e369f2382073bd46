"""The simulated robot as a process over DDS: what a controller, a gripper and a camera driver owe, and that it gives nothing away."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

pytest.importorskip("rclpy")
pytest.importorskip("mujoco")

from action_msgs.msg import GoalStatus
from builtin_interfaces.msg import Duration
from control_msgs.action import FollowJointTrajectory, GripperCommand
from lifecycle_msgs.msg import Transition
from lifecycle_msgs.srv import ChangeState
from rcl_interfaces.srv import GetParameters, ListParameters
from rclpy.qos import DurabilityPolicy, QoSProfile
from robot_process import RobotProcess
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import CameraInfo, Image
from std_msgs.msg import String
from tf2_msgs.msg import TFMessage
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from deskhand.arms.config import load_arm
from deskhand.arms.description import urdf_text
from deskhand.nodes import conversions
from deskhand.nodes.node import call_service, wait_future
from deskhand.sim.truth import TruthClient
from deskhand.sim.worldfile import load_world

DOMAIN = 37
ARM = load_arm("wx250s")
HOME = np.array(ARM.named_poses["home"])
NAMES = {"secret_block": "block", "secret_bin": "bin"}


class Bench(RobotProcess):
    """The node as a process, a client in this one, and the truth's socket."""

    def __init__(self, scene: Path) -> None:
        self.world = load_world(scene)
        ours, theirs = socket.socketpair()
        # reality none: depth, colour and poses are held against the scene's own numbers
        arguments = ["--scene", str(scene), "--reality", "none", "--truth-fd", str(theirs.fileno())]
        super().__init__("deskhand.nodes.sim_node", arguments, theirs, DOMAIN)
        self.truth = TruthClient(ours)
        self.subscribe(Clock, "/clock")

    def joints(self) -> np.ndarray:
        return self.state().of(ARM.joints)

    def send(self, goal: FollowJointTrajectory.Goal, feedback: Callable[[Any], None] | None = None) -> Any:
        return wait_future(self.follow.send_goal_async(goal, feedback_callback=feedback), 10, "goal")


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    scene = tmp_path_factory.mktemp("scene") / "scene.yaml"
    objects = [{"name": name, "kind": kind, "pose": [0.1, 0.2 * index]} for index, (name, kind) in enumerate(NAMES.items())]
    scene.write_text(yaml.safe_dump({"objects": objects}))
    bench = Bench(scene)
    try:
        bench.until(lambda: bench.follow.server_is_ready() and bench.grip.server_is_ready() and "joint_states" in bench.newest, "simulation", 30)
        yield bench
    finally:
        bench.close()


def clock_runs(bench: Bench, seconds: float) -> None:
    def now() -> float:
        return conversions.time_from_msg(bench.newest["/clock"].clock)

    end = now() + seconds
    bench.until(lambda: now() >= end, "simulated time")


def rest(bench: Bench) -> np.ndarray:
    """Where the arm is, half a second of its time later."""
    clock_runs(bench, 0.5)
    return bench.joints()


def goal_to(*positions: np.ndarray, seconds: float = 1.5) -> FollowJointTrajectory.Goal:
    goal = FollowJointTrajectory.Goal()
    goal.trajectory = JointTrajectory(joint_names=list(ARM.joints))
    for index, position in enumerate(positions, 1):
        time_from_start = conversions.duration_to_msg(seconds * index)
        goal.trajectory.points.append(JointTrajectoryPoint(positions=position.tolist(), time_from_start=time_from_start))
    return goal


def turned(angle: float) -> np.ndarray:
    return HOME + angle * np.eye(6)[0]


def test_a_trajectory_is_executed_with_feedback_and_time_runs_faster_meanwhile(bench: Bench) -> None:
    told: list[Any] = []
    handle = bench.send(goal_to(turned(0.5), turned(-0.5), HOME), told.append)
    assert handle.accepted
    result = wait_future(handle.get_result_async(), 30, "result")
    assert result.status == GoalStatus.STATUS_SUCCEEDED
    assert result.result.error_code == FollowJointTrajectory.Result.SUCCESSFUL
    assert bench.joints() == pytest.approx(HOME, abs=0.02)
    assert told
    assert list(told[-1].feedback.joint_names) == list(ARM.joints)
    assert max(abs(item.feedback.actual.positions[0]) for item in told) > 0.2


def test_cancel_stops_the_arm(bench: Bench) -> None:
    handle = bench.send(goal_to(turned(1.5), HOME, seconds=4.0))
    bench.until(lambda: bench.joints()[0] > 0.2, "motion")
    wait_future(handle.cancel_goal_async(), 10, "cancel")
    assert wait_future(handle.get_result_async(), 10, "result").status == GoalStatus.STATUS_CANCELED
    stopped = bench.joints()
    assert 0.15 < stopped[0] < 1.45
    assert rest(bench) == pytest.approx(stopped, abs=0.05)


def test_a_newer_goal_takes_over(bench: Bench) -> None:
    first = bench.send(goal_to(turned(1.0), seconds=4.0))
    second = bench.send(goal_to(HOME, seconds=2.0))
    assert wait_future(first.get_result_async(), 10, "result").status == GoalStatus.STATUS_ABORTED
    assert wait_future(second.get_result_async(), 20, "result").status == GoalStatus.STATUS_SUCCEEDED
    assert bench.joints() == pytest.approx(HOME, abs=0.02)


def spoiled(how: str) -> FollowJointTrajectory.Goal:
    goal = goal_to(turned(0.3), HOME)
    points = goal.trajectory.points
    if how == "unknown joint":
        goal.trajectory.joint_names[0] = "hip"
    elif how == "not a number":
        points[0].positions[0] = float("nan")
    elif how == "times go back":
        points[1].time_from_start = Duration(sec=0)
    elif how == "ragged":
        points[0].positions = points[0].positions[:4]
    elif how == "empty":
        goal.trajectory.points = []
    return goal


@pytest.mark.parametrize("how", ["unknown joint", "not a number", "times go back", "ragged", "empty"])
def test_bad_goals_are_rejected_and_nothing_moves(bench: Bench, how: str) -> None:
    before = bench.joints()
    assert not bench.send(spoiled(how)).accepted
    assert bench.joints() == pytest.approx(before, abs=0.005)


@pytest.mark.parametrize(("position", "effort"), [(float("nan"), 1.0), (0.02, -1.0)])
def test_bad_gripper_commands_are_rejected(bench: Bench, position: float, effort: float) -> None:
    goal = GripperCommand.Goal()
    goal.command.position, goal.command.max_effort = position, effort
    assert not wait_future(bench.grip.send_goal_async(goal), 10, "goal").accepted


def test_the_gripper_goes_to_the_position_of_its_finger_joint(bench: Bench) -> None:
    goal = GripperCommand.Goal()
    goal.command.position, goal.command.max_effort = 0.02, 3.0
    handle = wait_future(bench.grip.send_goal_async(goal), 10, "goal")
    result = wait_future(handle.get_result_async(), 20, "result").result
    assert result.reached_goal
    assert not result.stalled
    assert result.position == pytest.approx(0.02, abs=0.001)


def test_who_comes_late_has_the_description_of_the_arm_as_on_a_robot(bench: Bench) -> None:
    latched = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
    subscription = bench.subscribe(String, "robot_description", latched)
    text = bench.until(lambda: bench.newest.get("robot_description"), "description").data
    bench.node.destroy_subscription(subscription)
    assert text == urdf_text(ARM)


def test_camera_info_comes_though_nobody_wants_the_pictures(bench: Bench) -> None:
    infos: list[CameraInfo] = []
    subscription = bench.node.create_subscription(CameraInfo, "camera/color/camera_info", infos.append, 10)
    bench.until(lambda: len(infos) >= 5, "camera_info")
    bench.node.destroy_subscription(subscription)
    stamps = [conversions.time_from_msg(info.header.stamp) for info in infos]
    assert np.all(np.diff(stamps) > 0.05) and infos[0].k[0] > 100 and infos[0].header.frame_id == "camera_color_optical_frame"


def test_the_camera_sends_aligned_pictures_of_one_exposure_with_its_pose(bench: Bench) -> None:
    topics = {"camera/color/image_raw": Image, "camera/aligned_depth_to_color/image_raw": Image, "camera/color/camera_info": CameraInfo}
    subscriptions = [bench.subscribe(kind, topic) for topic, kind in topics.items()]
    latched = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
    subscriptions.append(bench.subscribe(TFMessage, "/tf_static", latched))
    bench.until(lambda: {*topics, "/tf_static"} <= set(bench.newest), "pictures")
    bench.until(lambda: len({conversions.time_from_msg(bench.newest[topic].header.stamp) for topic in topics}) == 1, "pictures of one exposure")
    for subscription in subscriptions:
        bench.node.destroy_subscription(subscription)
    color, depth, info = (bench.newest[topic] for topic in topics)
    assert (color.encoding, depth.encoding) == ("rgb8", "16UC1")
    pose = next(item for item in bench.newest["/tf_static"].transforms if item.child_frame_id == "camera_color_optical_frame")
    assert pose.header.frame_id == "world"
    frame = conversions.frame_from_msg(color, depth, info, bench.world.camera.world_T_camera)
    position = pose.transform.translation
    assert (position.x, position.y, position.z) == pytest.approx(tuple(frame.world_T_camera[:3, 3]))
    top = bench.truth.get().get("secret_block").pose[:3, 3] + np.array([0, 0, 0.0175])
    u, v = np.round(frame.project(top[None])[0]).astype(int)
    patch = frame.points()[v - 2 : v + 3, u - 2 : u + 3].reshape(-1, 3)
    assert np.nanmedian(patch, axis=0) == pytest.approx(top, abs=0.008)


LIFECYCLE = ("change_state", "get_state", "get_available_states", "get_available_transitions", "get_transition_graph")


def test_nothing_on_the_graph_carries_the_truth(bench: Bench) -> None:
    """Every topic, service and parameter of the node is a standard one of a robot, and no name of an object is among them."""
    node = bench.node
    ours = {name for name, _ in node.get_publisher_names_and_types_by_node("sim", "/")}
    allowed = {"/clock", "/joint_states", "/tf", "/tf_static", "/robot_description", "/heartbeat", "/diagnostics", "/rosout", "/parameter_events"}
    allowed.add("/sim/transition_event")
    allowed |= {"/camera/color/image_raw", "/camera/aligned_depth_to_color/image_raw", "/camera/color/camera_info"}
    actions = ("/arm_controller/follow_joint_trajectory/_action/", "/gripper_controller/gripper_cmd/_action/")
    assert {name for name in ours if not name.startswith(actions)} == allowed
    services = {name for name, _ in node.get_service_names_and_types_by_node("sim", "/") if not name.startswith(actions)}
    assert all(name.startswith("/sim/") and (name.removeprefix("/sim/") in LIFECYCLE or "parameter" in name or "type_description" in name) for name in services)
    ask = {kind: node.create_client(kind, f"sim/{verb}_parameters") for kind, verb in ((ListParameters, "list"), (GetParameters, "get"))}
    names = call_service(ask[ListParameters], ListParameters.Request()).result.names
    assert set(names) <= {
        "arm",
        "autostart",
        "realtime_factor",
        "camera_rate",
        "state_period",
        "max_state_rate",
        "use_sim_time",
        "start_type_description_service",
    } | {name for name in names if name.startswith("qos_overrides")}
    said = str(call_service(ask[GetParameters], GetParameters.Request(names=names)))
    assert not any(secret in said for secret in NAMES)


def test_the_scorer_is_told_the_truth_over_its_own_socket(bench: Bench) -> None:
    truth = bench.truth.get()
    assert {item.name: item.kind for item in truth.objects} == NAMES
    assert truth.get("secret_block").pose[:3, 3] == pytest.approx([0.1, 0.0, 0.0175], abs=0.002)


def test_deactivated_the_arm_holds_and_refuses_and_cleaned_up_it_is_gone_until_it_is_configured_again(bench: Bench) -> None:
    change = bench.node.create_client(ChangeState, "sim/change_state")

    def go(transition: int) -> bool:
        return bool(call_service(change, ChangeState.Request(transition=Transition(id=transition))).success)

    infos: list[CameraInfo] = []
    subscription = bench.node.create_subscription(CameraInfo, "camera/color/camera_info", infos.append, 10)
    bench.until(lambda: infos, "camera_info")
    start = bench.joints()
    moving = bench.send(goal_to(start + 1.5 * np.eye(6)[0], seconds=4.0))
    bench.until(lambda: bench.joints()[0] > start[0] + 0.2, "motion")
    assert go(Transition.TRANSITION_DEACTIVATE)
    ended = wait_future(moving.get_result_async(), 10, "result")
    assert ended.status == GoalStatus.STATUS_ABORTED and "not active" in ended.result.error_string
    assert not bench.send(goal_to(start)).accepted and not go(Transition.TRANSITION_DEACTIVATE)
    last = conversions.time_from_msg(infos[-1].header.stamp)
    held = rest(bench)
    assert start[0] + 0.15 < held[0] < start[0] + 1.45
    assert rest(bench) == pytest.approx(held, abs=0.01)
    assert go(Transition.TRANSITION_CLEANUP)
    bench.newest.pop("joint_states")
    clock_runs(bench, 0.5)
    assert "joint_states" not in bench.newest and conversions.time_from_msg(infos[-1].header.stamp) <= last + 0.2
    assert go(Transition.TRANSITION_CONFIGURE) and rest(bench) == pytest.approx(held, abs=0.02)
    assert not bench.send(goal_to(start)).accepted
    infos.clear()
    assert go(Transition.TRANSITION_ACTIVATE)
    bench.until(lambda: infos, "camera_info")
    bench.node.destroy_subscription(subscription)
    back = bench.send(goal_to(start, seconds=2.0))
    assert wait_future(back.get_result_async(), 20, "result").status == GoalStatus.STATUS_SUCCEEDED


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--scene", "nowhere.yaml"], "scene_file_error"),
        (["--task", "desk_cleaning", "--truth-fd", "997"], "config_error"),
        (["--task", "desk_cleaning", "--seed", "0", "--ros-args", "-p", "realtime_factor:=0.0"], "config_error"),
    ],
)
def test_a_bad_start_is_one_clear_line(arguments: list[str], said: str) -> None:
    environment = {**os.environ, "ROS_DOMAIN_ID": str(DOMAIN + 1), "ROS_LOCALHOST_ONLY": "1"}
    command = [sys.executable, "-m", "deskhand.nodes.sim_node", *arguments]
    ended = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=30, check=False)
    assert ended.returncode == 2
    assert said in ended.stderr
    assert "Traceback" not in ended.stderr
