"""A simulated robot as a user starts it (``deskhand up sim``), and a client as anybody writes one: plain rclpy, nothing of deskhand's but the interfaces."""

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import rclpy
from action_msgs.msg import GoalStatus
from rclpy.action import ActionClient
from rclpy.context import Context
from rclpy.executors import SingleThreadedExecutor
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from sensor_msgs.msg import JointState
from std_msgs.msg import String
from std_srvs.srv import Trigger

from deskhand.bringup.domains import free_domain
from deskhand.bringup.environment import apply_workstation_defaults, workstation_defaults
from deskhand_interfaces.action import RunTask

START = 120.0  # [s] of wall time, on a busy machine
END = 30.0  # [s]
STILL = 0.03  # [rad/s]
ARM_JOINTS = ("waist", "shoulder", "elbow", "forearm_roll", "wrist_angle", "wrist_rotate")
NODES = ("sim", "perception", "grasping", "motion", "safety", "tool_server", "orchestrator", "recorder")
"""All processes of the robot; the simulation serves the arm, the gripper and the camera, motion has the planner."""
INSTRUCTION = "Clean the desk."  # whatever stands on it


class Goal:
    """One goal of ``run_task``: when it was sent, what it told, its result."""

    def __init__(self, client, instruction):
        self.began, self.heard, self.feedbacks, self.result, self.ended = time.monotonic(), 0.0, 0, None, 0.0
        self.accepted, self.done = threading.Event(), threading.Event()
        self.handle = None
        client.in_executor(lambda: self._send(client.tasks, instruction))

    def _send(self, tasks, instruction):
        tasks.send_goal_async(RunTask.Goal(instruction=instruction), feedback_callback=self._on_feedback).add_done_callback(self._on_accepted)

    def _on_feedback(self, _):
        self.heard, self.feedbacks = time.monotonic(), self.feedbacks + 1

    def _on_accepted(self, future):
        self.handle = future.result()
        self.accepted.set()
        self.handle.get_result_async().add_done_callback(self._on_result)

    def _on_result(self, future):
        self.ended, self.result, self.status = time.monotonic(), future.result().result, future.result().status
        self.done.set()

    @property
    def aborted(self):
        """Whether it ended as one that failed."""
        return self.done.is_set() and self.status == GoalStatus.STATUS_ABORTED


class Client:
    """Gives goals; hears joint states and which process every node is."""

    def __init__(self, domain):
        apply_workstation_defaults()
        self.samples, self.pids, self.stamps = [], {}, 0
        self._context = Context()
        rclpy.init(context=self._context, domain_id=domain)
        self.node = rclpy.create_node("somebody", context=self._context)
        self.tasks = ActionClient(self.node, RunTask, "run_task")
        self._reset = self.node.create_client(Trigger, "safety/reset")
        self.node.create_subscription(JointState, "joint_states", self._on_joints, QoSProfile(depth=50, reliability=ReliabilityPolicy.BEST_EFFORT))
        latched = QoSProfile(depth=50, durability=DurabilityPolicy.TRANSIENT_LOCAL, reliability=ReliabilityPolicy.RELIABLE)
        self.node.create_subscription(String, "heartbeat", self._on_beat, latched)
        self._executor = SingleThreadedExecutor(context=self._context)
        self._executor.add_node(self.node)
        self._thread = threading.Thread(target=self._executor.spin, daemon=True)
        self._thread.start()

    def _on_joints(self, message):
        indices = [message.name.index(name) for name in ARM_JOINTS]
        speed = float(np.abs(np.asarray(message.velocity)[indices]).max())
        self.samples.append((message.header.stamp.sec + message.header.stamp.nanosec * 1e-9, time.monotonic(), speed))

    def _on_beat(self, message):
        name, pid, _ = message.data.split()
        self.pids[name] = int(pid)

    def in_executor(self, act):
        """Do it in the thread that takes the answers: rclpy drops an answer that comes while another thread still notes the request."""
        self._executor.create_task(act)

    def wait(self, true, seconds):
        """Whether ``true()`` became so within ``seconds`` [s]."""
        end = time.monotonic() + seconds
        while not true():
            if time.monotonic() > end:
                return False
            time.sleep(0.005)
        return True

    def moved_after(self, stamp, began):
        """How long after ``stamp`` [s, the arm's time] and ``began`` [s, wall] the arm was last seen moving, in both; zeros where it was at rest."""
        return max(((time - stamp, wall - began) for time, wall, speed in self.samples if time > stamp and speed > STILL), default=(0.0, 0.0))

    def now(self):
        """The arm's time [s]."""
        return self.samples[-1][0] if self.samples else 0.0

    def reset(self):
        """Whether the stop could be taken back."""
        futures = []
        self.in_executor(lambda: futures.append(self._reset.call_async(Trigger.Request())))
        return self.wait(lambda: futures and futures[0].done(), 5.0) and futures[0].result().success

    def close(self):
        self._executor.shutdown()
        self._thread.join(2.0)
        self.node.destroy_node()
        rclpy.shutdown(context=self._context)


class Robot:
    """The process of ``deskhand up sim``, and its output."""

    def __init__(self, domain, folder, seed):
        folder.mkdir(parents=True, exist_ok=True)
        self.folder = folder
        own = {"ROS_DOMAIN_ID": str(domain), "ROS_HOME": str(folder / "home"), "PYTHONUNBUFFERED": "1"}
        command = [
            sys.executable,
            "-c",
            "import sys; from deskhand.commands.cli import main; sys.exit(main())",
            "up",
            "sim",
            "--seed",
            str(seed),
            "--log",
            "log",
        ]
        environment = {**os.environ, **workstation_defaults(os.environ), **own}
        self.process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, text=True, env=environment, cwd=folder, start_new_session=True
        )
        self.lines = []
        self.ready = threading.Event()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self):
        for line in self.process.stdout:
            self.lines.append(line.rstrip())
            if "nodes ready" in line:
                self.ready.set()
        self.ready.set()

    def wait_ready(self):
        assert self.ready.wait(START) and self.process.poll() is None, "\n".join(self.lines[-20:])

    def ended(self, seconds=END):
        """The exit code, None where it does not end by itself within ``seconds`` [s]."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(seconds)
        self._reader.join(1.0)
        return self.process.returncode

    def stop(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
            if self.ended() is None:
                self.process.kill()
                self.process.wait()


@contextlib.contextmanager
def running(folder, seed):
    """A robot that is ready, and a client that knows all its nodes."""
    with free_domain() as domain:
        robot = Robot(domain, folder, seed)
        client = Client(domain)
        try:
            robot.wait_ready()
            assert client.tasks.wait_for_server(timeout_sec=30.0)
            assert client.wait(lambda: set(NODES) <= set(client.pids) and client.samples, 30.0), client.pids
            yield robot, client
        finally:
            client.close()
            robot.stop()
