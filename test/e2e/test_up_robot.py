"""``deskhand up robot`` on a machine with ROS 2 from wheels alone: an emulated controller, recorded pictures, everything else as on a real robot."""

import json
import os
import signal
import subprocess
import sys
import time

import cv2
import numpy as np
import pytest

pytest.importorskip("rclpy")
import rclpy
from rclpy.context import Context
from rclpy.executors import SingleThreadedExecutor
from rclpy.qos import DurabilityPolicy, QoSProfile
from sensor_msgs.msg import JointState
from std_msgs.msg import String
from tf2_msgs.msg import TFMessage

from deskhand.arms.model import RobotModel
from deskhand.bringup.domains import free_domain
from deskhand.bringup.environment import workstation_defaults
from deskhand.geometry import pose_from_xyz_quaternion
from deskhand.nodes.conversions import time_from_msg
from deskhand.nodes.tf import TfBuffer

START = 120.0  # [s] of wall time, on a busy machine


class Watcher:
    """What anybody in the ROS domain sees of the robot; it joins after the nodes have started."""

    def __init__(self, domain):
        self.context = Context()
        rclpy.init(context=self.context, domain_id=domain)
        self.node = rclpy.create_node("watcher", context=self.context)
        self.buffer, self.moving, self.fixed, self.states, self.description = TfBuffer(), set(), set(), {}, ""
        latched = QoSProfile(depth=10, durability=DurabilityPolicy.TRANSIENT_LOCAL)
        self.node.create_subscription(TFMessage, "/tf", lambda message: self.take(message, False), 50)
        self.node.create_subscription(TFMessage, "/tf_static", lambda message: self.take(message, True), latched)
        self.node.create_subscription(String, "robot_description", self.described, latched)
        self.node.create_subscription(JointState, "joint_states", self.told, 50)
        self.executor = SingleThreadedExecutor(context=self.context)
        self.executor.add_node(self.node)

    def described(self, message):
        self.description = message.data

    def told(self, message):
        self.states[time_from_msg(message.header.stamp)] = dict(zip(message.name, message.position, strict=True))

    def take(self, message, static):
        for item in message.transforms:
            (self.fixed if static else self.moving).add(item.child_frame_id)
            t, q = item.transform.translation, item.transform.rotation
            pose = pose_from_xyz_quaternion([t.x, t.y, t.z], [q.x, q.y, q.z, q.w])
            self.buffer.put(item.header.frame_id, item.child_frame_id, pose, time_from_msg(item.header.stamp), static)

    def wait(self, ready, seconds=60.0):
        end = time.monotonic() + seconds
        while not ready():
            assert time.monotonic() < end, f"seen: moving {sorted(self.moving)}, fixed {sorted(self.fixed)}, {len(self.states)} joint states"
            self.executor.spin_once(timeout_sec=0.1)

    def close(self):
        self.executor.shutdown()
        self.node.destroy_node()
        rclpy.shutdown(context=self.context)


def recorded_pictures(folder):
    """A folder that the camera ``file`` plays: two pictures of a table 0.6 m away."""
    for name in ("color", "depth"):
        (folder / name).mkdir(parents=True)
    for stamp in (0, 100_000_000):
        cv2.imwrite(str(folder / f"color/{stamp}.png"), np.full((240, 320, 3), 120, np.uint8))
        cv2.imwrite(str(folder / f"depth/{stamp}.png"), np.full((240, 320), 600, np.uint16))
    (folder / "camera.yaml").write_text(json.dumps({"width": 320, "height": 240, "fx": 300.0, "fy": 300.0, "cx": 160.0, "cy": 120.0}))
    return folder


def deskhand(*arguments, domain, home):
    environment = {**os.environ, **workstation_defaults(os.environ), "ROS_DOMAIN_ID": str(domain), "ROS_HOME": str(home), "PYTHONUNBUFFERED": "1"}
    command = [sys.executable, "-c", "import sys; from deskhand.commands.cli import main; sys.exit(main())", *arguments]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment, start_new_session=True, cwd=home)


@pytest.mark.timeout(300)
def test_an_arm_on_a_servo_bus_comes_up_with_transforms_and_ends_quietly(tmp_path):
    with free_domain() as domain:
        emulator = deskhand("emulate", "rrc", domain=domain, home=tmp_path)
        port = emulator.stdout.readline().strip()
        camera = ("--camera", "file", "--camera-file", str(recorded_pictures(tmp_path / "pictures")), "--camera-mount", "fixed")
        arm = ("--arm", "jetarm", "--driver", "hiwonder_rrc", "--port", port)
        robot = deskhand("up", "robot", *arm, *camera, "--log", str(tmp_path / "log"), domain=domain, home=tmp_path)
        watcher = Watcher(domain)
        try:
            lines = []
            for line in robot.stdout:
                lines.append(line)
                if "nodes ready" in line:
                    break
            assert "nodes ready" in "".join(lines[-1:]), "".join(lines)
            model = RobotModel.load("jetarm")
            above = {joint.child: joint for joint in model.joints.values()}
            links = set(model.links) - {model.root}
            watcher.wait(lambda: links <= watcher.moving | watcher.fixed and len(watcher.states) > 5 and watcher.description)
            assert all((link in watcher.fixed) == (above[link].kind == "fixed") for link in links)
            assert "<robot" in watcher.description
            joints = watcher.states[max(watcher.states)]
            seen = watcher.buffer.lookup("world", model.arm.tcp)
            assert np.allclose(seen, model.tcp_pose(joints), atol=1e-3)  # the emulated servos stand still, and read to a pulse
        finally:
            watcher.close()
            robot.send_signal(signal.SIGINT)
            rest = robot.stdout.read()
            code = robot.wait(timeout=60)
            emulator.send_signal(signal.SIGINT)
            emulator.wait(timeout=30)
        assert code == 0, rest
        assert rest.rstrip().endswith("stopped") and "Traceback" not in rest, rest
        assert emulator.returncode == 0
