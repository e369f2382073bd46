"""A robot in a simulator of others (sim/foreign) at the seam: the standard interfaces of an arm, a gripper and an RGB-D camera, nothing more.

The simulator is a process of its own, in its own environment. With ``--robot-fd N`` somebody else has started it, has loaded a case and keeps the scorer's
socket: N is the inherited socket of the robot's side. Without it the node starts one by ``--python FILE --kind KIND --case JSON``.
The node is managed as that of our own simulation (sim_node.py): unconfigured, it shows neither joints nor pictures; inactive, the arm holds, its joints are
published, goals are refused and no picture is made. The world and its clock go on whatever the state.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import socket
import sys
import tempfile
import threading
import time
from dataclasses import dataclass
from pathlib import Path

from rclpy.utilities import remove_ros_args

from deskhand.arms.config import load_arm
from deskhand.arms.model import RobotModel
from deskhand.errors import DeskhandError
from deskhand.nodes.arm_actions import INACTIVE, ArmActions
from deskhand.nodes.diagnostics import Health
from deskhand.nodes.managed import ManagedNode
from deskhand.nodes.node import run_node
from deskhand.nodes.parameters import declare_parameters
from deskhand.nodes.simulated import Described, PicturePublishers, StatePublishers
from deskhand.sim.foreign.controlled import ForeignControlled
from deskhand.sim.foreign.link import ForeignProcess, Link
from deskhand.sim.foreign.robot import foreign_parts
from deskhand.sim.pacer import Pacer
from deskhand.sim.reality.file import load_reality


@dataclass
class ForeignParameters:
    """Parameters of the node; none of them says anything about the world.

    Attributes:
        arm: file of the arm, as sim/foreign/robot.py writes it.
        realtime_factor: how much faster than real time it runs, as far as the machine can.
        camera_rate: [Hz] of simulated time, at most.
    """

    arm: str = "panda"
    realtime_factor: float = 1.0
    camera_rate: float = 5.0


class ForeignNode(ManagedNode):
    """Serves the robot behind ``link``."""

    def __init__(self, link: Link, sensor: str, seed: int) -> None:
        super().__init__("sim")
        self.parameters = declare_parameters(self, ForeignParameters)
        arm = load_arm(self.parameters.arm)
        parts = foreign_parts(link, arm, reality=load_reality(sensor, seed) if sensor != "none" else None)
        self.eye, self.robot = parts.devices.camera, ForeignControlled(parts.body)
        self.failure: DeskhandError | None = None
        self._paced = (time.monotonic(), self.robot.time)
        model, first = RobotModel.load(arm), self.eye.capture()
        described = Described(model.joints, model.urdf, "world", first.intrinsics.frame_id, first.world_T_camera)
        self._intrinsics = first.intrinsics
        self._states = StatePublishers(self, described, parts.body.period, 1.0 / parts.body.period * max(1.0, self.parameters.realtime_factor))
        self._pictures, self._streams, self._sending = PicturePublishers(self), False, threading.Lock()
        self._actions = ArmActions(self, self.robot, arm.gripper.lever, refusal=INACTIVE)
        self._pacer = Pacer(self.robot, self.parameters.realtime_factor, self._after_step, self._broke, chunk=parts.body.period)
        self._ended = threading.Event()
        self._camera = threading.Thread(target=self._look, name="camera", daemon=True)

    def start(self) -> None:
        """Let the robot and time run."""
        super().start()
        self._pacer.start()
        self._camera.start()
        self.get_logger().info(f"{self.robot.arm.name} is up")

    def close(self) -> None:
        """Stop the robot and time."""
        super().close()
        self._ended.set()
        self._pacer.close()
        if self._camera.is_alive():
            self._camera.join(timeout=2.0)

    def configure(self) -> None:
        """Show the joints."""
        self._states.shown = True

    def activate(self) -> None:
        """Take goals and send pictures."""
        self._streams = True
        self._actions.accept()

    def deactivate(self) -> None:
        """Stop the arm where it is, holding, refuse goals, and send no picture any more; one that is being made is sent first."""
        self._actions.refuse(INACTIVE)
        with self._sending:
            self._streams = False

    def cleanup(self) -> None:
        """Show nothing any more."""
        self._states.shown = False

    def device_health(self) -> Health:
        """See base. Nothing of the world: that is the scorer's."""
        (wall, simulated), now = self._paced, (time.monotonic(), self.robot.time)
        self._paced = now
        pace = (now[1] - simulated) / max(now[0] - wall, 1e-6)
        broken = str(self.failure) if self.failure is not None else "" if pace > 0 else "time stands still"
        values = {"simulated time [s]": round(now[1], 2), "times real time": pace, "moving": self.robot.moving()}
        return Health("error" if broken else "ok", broken, values, self.robot.arm.name)

    def _broke(self, error: DeskhandError) -> None:
        self.failure = error
        self.context.try_shutdown()

    def _after_step(self) -> None:
        self._actions.look()
        now = self.robot.time
        if self._states.due(now):
            self._states.publish(now, self.robot.joint_state())

    def _look(self) -> None:
        """Pictures, only while somebody subscribes; camera_info comes at the camera's rate all the same."""
        due = 0.0
        while not self._ended.wait(0.01):
            now = self.robot.time
            if now < due or not self._streams:
                continue
            due = now + 1 / self.parameters.camera_rate
            with self._sending:
                if not self._streams:
                    continue
                if not self._pictures.wanted():
                    self._pictures.publish_info(self._intrinsics, now)
                    continue
                try:
                    self._pictures.publish(self.eye.capture())
                except DeskhandError as error:
                    self._broke(error)
                    return


def parse_arguments(argv: list[str]) -> argparse.Namespace:
    """The node's own arguments, ROS arguments left out."""
    parser = argparse.ArgumentParser(prog="foreign_node", description="Serve a robot in a simulator of others.")
    parser.add_argument("--robot-fd", type=int, help="inherited socket of the robot's side of a simulator whose case is loaded")
    parser.add_argument("--python", type=Path, help="without --robot-fd: interpreter of the simulator's environment")
    parser.add_argument("--kind", default="libero", help="without --robot-fd: libero or robosuite (default: %(default)s)")
    parser.add_argument("--case", default="", help="without --robot-fd: what to load, as JSON")
    parser.add_argument("--sensor", default="none", help="errors of the camera: none, or a name of config/reality (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=0, help="of the camera's errors (default: %(default)s)")
    arguments = parser.parse_args(argv)
    if arguments.robot_fd is None and not (arguments.python and arguments.case):
        parser.error("give --robot-fd, or --python and --case")
    return arguments


def link_of(arguments: argparse.Namespace, ending: contextlib.ExitStack) -> Link:
    """The robot's side of the simulator. Raises ``config_error`` when the descriptor is no open socket, and what starting one raises."""
    if arguments.robot_fd is None:
        folder = ending.enter_context(tempfile.TemporaryDirectory(prefix="deskhand_foreign_"))
        process = ending.enter_context(ForeignProcess(arguments.python, arguments.kind, Path(folder) / "simulator.log"))
        process.scorer.load(json.loads(arguments.case))
        return process.robot
    try:
        link = Link(socket.socket(fileno=arguments.robot_fd))
    except OSError as error:
        raise DeskhandError("config_error", f"--robot-fd {arguments.robot_fd} is not an open socket: {error.strerror}.") from error
    ending.callback(link.close)
    return link


def main() -> int:
    """Run the node."""
    arguments = parse_arguments(remove_ros_args(sys.argv)[1:])
    nodes: list[ForeignNode] = []
    with contextlib.ExitStack() as ending:

        def make() -> ForeignNode:
            nodes.append(ForeignNode(link_of(arguments, ending), arguments.sensor, arguments.seed))
            return nodes[0]

        code = run_node(make, threads=6)
    return 1 if nodes and nodes[0].failure is not None else code


if __name__ == "__main__":
    sys.exit(main())
