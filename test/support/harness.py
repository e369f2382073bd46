"""What the end-to-end tests share: a stack with a watcher on its joints, run in a thread so that nodes can be killed on the way."""

import contextlib
import os
import signal
import threading
import time
from dataclasses import dataclass, field, replace

import numpy as np
import rclpy
from rclpy.context import Context
from rclpy.qos import QoSProfile, ReliabilityPolicy
from sensor_msgs.msg import JointState

from deskhand.bringup.environment import apply_workstation_defaults
from deskhand.errors import DeskhandError
from deskhand.nodes.spinner import Spinner
from deskhand.trials.base import Attempt, TrialOptions
from deskhand.trials.ros import run_task, running_stack

MOVING = 0.25  # [rad/s] of the fastest joint: the arm is on its way
STILL = 0.03  # [rad/s]
WATCH = 1.0  # [s] of simulated time that the arm is watched after a kill
PACE = 0.5  # simulated seconds a second: half a second of the arm's time is not what a busy machine takes to hand on a message
ARM_JOINTS = ("waist", "shoulder", "elbow", "forearm_roll", "wrist_angle", "wrist_rotate")


class JointWatcher:
    """Joint states as anyone in the ROS domain sees them: (simulated time, speed of the fastest arm joint)."""

    def __init__(self, domain):
        apply_workstation_defaults()
        self.samples: list[tuple[float, float]] = []
        self._context = Context()
        rclpy.init(context=self._context, domain_id=int(domain))
        self.node = rclpy.create_node("joint_watcher", context=self._context)
        quality = QoSProfile(depth=50, reliability=ReliabilityPolicy.BEST_EFFORT)
        self.node.create_subscription(JointState, "joint_states", self._on_state, quality)
        self._spinner = Spinner(self.node, 1)
        self._spinner.start()

    def _on_state(self, message):
        indices = [message.name.index(name) for name in ARM_JOINTS]
        speed = float(np.abs(np.asarray(message.velocity)[indices]).max())
        self.samples.append((message.header.stamp.sec + message.header.stamp.nanosec * 1e-9, speed))

    def wait_for_nodes(self, names, timeout):
        """Until DDS has found all of them."""
        end = time.monotonic() + timeout
        while missing := names - {name for name, _ in self.node.get_node_names_and_namespaces()}:
            assert time.monotonic() < end, f"not found within {timeout} s: {missing}"
            time.sleep(0.05)

    def wait_until_moving(self, timeout):
        """Simulated time at which the arm was seen moving for a few samples in a row."""
        end = time.monotonic() + timeout
        while time.monotonic() < end:
            if len(self.samples) > 5 and all(speed > MOVING for _, speed in self.samples[-3:]):
                return self.samples[-1][0]
            time.sleep(0.002)
        raise AssertionError(f"the arm did not move within {timeout} s")

    def wait_until(self, stamp, timeout):
        """Go on listening until simulated time has reached ``stamp``."""
        end = time.monotonic() + timeout
        while self.samples[-1][0] < stamp:
            assert time.monotonic() < end, f"simulated time stands at {self.samples[-1][0]}"
            time.sleep(0.01)

    def last_motion(self):
        """Simulated time at which the arm was last seen moving."""
        return max((stamp for stamp, speed in self.samples if speed > STILL), default=0.0)

    def close(self):
        self._spinner.end()
        self.node.destroy_node()
        rclpy.shutdown(context=self._context)


@dataclass
class Run:
    """What came of :func:`kill_during_motion`."""

    attempt: Attempt = field(default_factory=Attempt)
    killed_at: float = 0.0
    stopped_at: float = 0.0
    seconds_to_end: float = 0.0


@contextlib.contextmanager
def stack_with_watcher(options, folder, pace=0.0):
    with running_stack(replace(options, pace=pace), folder) as stack:
        watcher = JointWatcher(stack.environment["ROS_DOMAIN_ID"])
        try:
            yield stack, watcher
        finally:
            watcher.close()


def kill_during_motion(node, folder, seed):
    """Bring a stack up, give it its task, kill -9 ``node`` while the arm moves, wait for the trial's own end."""
    options = TrialOptions(seed=seed, timeout=120.0, composed=node == "composed")
    run = Run()
    with stack_with_watcher(options, folder, PACE) as (stack, watcher):
        task = threading.Thread(target=run_task, args=(stack, "Put everything into the tray.", options, lambda _: None, run.attempt))
        task.start()
        watcher.wait_until_moving(60.0)
        os.kill(stack.supervisor.pid(node), signal.SIGKILL)
        run.killed_at, killed = watcher.samples[-1][0], time.monotonic()
        task.join(30.0)
        assert not task.is_alive(), "the trial did not end"
        run.seconds_to_end = time.monotonic() - killed
        if node != "sim":
            watcher.wait_until(run.killed_at + WATCH, 20.0)
        run.stopped_at = watcher.last_motion()
        with contextlib.suppress(DeskhandError):
            run.attempt.end = stack.truth.get()
    return run
