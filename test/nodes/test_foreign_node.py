"""The robot of a foreign simulator as a process over DDS: what stands at the seam, and that the truth's connection is not there."""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("rclpy")

import serving
from action_msgs.msg import GoalStatus
from control_msgs.action import FollowJointTrajectory, GripperCommand
from foreign_stand_in import StandIn
from rclpy.action import ActionClient
from rclpy.qos import DurabilityPolicy, QoSProfile
from robot_process import RobotProcess
from sensor_msgs.msg import CameraInfo, Image
from tf2_msgs.msg import TFMessage
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from deskhand.nodes import conversions
from deskhand.nodes.node import wait_future
from deskhand.sim.foreign.link import Link, Scorer
from deskhand.sim.foreign.robot import write_arm

DOMAIN = 41
BASE_HEIGHT = 0.012  # [m]


class Bench(RobotProcess):
    """A stand-in's world in a thread here, its robot's socket in the node's process, a client beside it."""

    def __init__(self, folder: Path) -> None:
        self.arm, self.world = write_arm(folder, BASE_HEIGHT), StandIn(held=0.042, target=0.08)
        ours, theirs = socket.socketpair()
        self.scorer = socket.socketpair()
        threading.Thread(target=serving.serve, args=(self.world, ours, self.scorer[1]), daemon=True).start()
        Scorer(Link(self.scorer[0], 10.0)).load({"task": "any"})
        arguments = ["--robot-fd", str(theirs.fileno()), "--ros-args", "-p", f"arm:={folder / 'panda_foreign.yaml'}", "-p", "realtime_factor:=4.0"]
        super().__init__("deskhand.nodes.foreign_node", arguments, theirs, DOMAIN)
        self.subscribe(TFMessage, "/tf_static", QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL))

    def result(self, client: ActionClient, goal: Any) -> Any:
        handle = wait_future(client.send_goal_async(goal), 20, "goal")
        assert handle.accepted
        return wait_future(handle.get_result_async(), 40, "result")


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    made = Bench(tmp_path_factory.mktemp("foreign"))
    try:
        made.until(lambda: made.follow.server_is_ready() and made.grip.server_is_ready() and "joint_states" in made.newest, "node", 60)
        yield made
    finally:
        made.close()


def test_a_trajectory_over_ros_ends_where_it_should(bench: Bench) -> None:
    start = bench.state().of(bench.arm.joints)
    end = start + 0.2
    goal = FollowJointTrajectory.Goal(trajectory=JointTrajectory(joint_names=list(bench.arm.joints)))
    for positions, seconds in ((start, 0.0), (end, 1.5)):
        point = JointTrajectoryPoint(positions=positions.tolist(), velocities=[0.0] * 7, time_from_start=conversions.duration_to_msg(seconds))
        goal.trajectory.points.append(point)
    done = bench.result(bench.follow, goal)
    assert done.status == GoalStatus.STATUS_SUCCEEDED, done.result.error_string
    assert np.abs(bench.state().of(bench.arm.joints) - end).max() < 0.005
    assert np.abs(bench.world.q - end).max() < 0.005, "in the simulator too"


def test_the_fingers_stop_on_what_is_between_them(bench: Bench) -> None:
    gripper = bench.arm.gripper
    goal = GripperCommand.Goal()
    goal.command.position, goal.command.max_effort = gripper.position_of(0.0), 10.0
    done = bench.result(bench.grip, goal).result
    assert done.stalled and not done.reached_goal
    assert gripper.width_of(done.position) == pytest.approx(0.042, abs=1e-6)


def test_pictures_come_in_millimetres_and_from_where_the_camera_is_mounted(bench: Bench) -> None:
    kept = [bench.subscribe(Image, name) for name in ("camera/color/image_raw", "camera/aligned_depth_to_color/image_raw")]
    kept.append(bench.subscribe(CameraInfo, "camera/color/camera_info"))
    depth = bench.until(lambda: bench.newest.get("camera/aligned_depth_to_color/image_raw"), "picture")
    info = bench.until(lambda: bench.newest.get("camera/color/camera_info"), "camera_info")
    assert set(np.unique(np.frombuffer(depth.data, np.uint16))) == {1200} and info.k[0] == 500.0
    frames = {item.child_frame_id: item for item in bench.newest["/tf_static"].transforms}
    told = frames[info.header.frame_id].transform.translation
    base = bench.arm.world_T_base[:3, 3]
    assert (told.x, told.y, told.z) == pytest.approx((base[0] + 1.5, base[1], base[2] + 0.5)) and base[2] == pytest.approx(BASE_HEIGHT)
    for subscription in kept:
        bench.node.destroy_subscription(subscription)


def test_the_node_offers_nothing_of_the_truth(bench: Bench) -> None:
    names = [name for name, _ in (*bench.node.get_topic_names_and_types(), *bench.node.get_service_names_and_types())]
    assert not [name for name in names if any(word in name for word in ("truth", "score", "object", "cube"))]
    held = {str(link.readlink()) for link in Path(f"/proc/{bench.process.pid}/fd").iterdir() if link.is_symlink()}
    scorers = {f"socket:[{os.fstat(end.fileno()).st_ino}]" for end in bench.scorer}
    assert held and not held & scorers
