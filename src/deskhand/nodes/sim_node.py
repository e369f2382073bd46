"""The simulated robot: the standard interfaces of an arm, a gripper and an RGB-D camera, nothing more.

Arguments: ``--task NAME --seed N`` or ``--scene FILE``, and ``--truth-fd N``, an inherited socket for the scorer (sim/truth.py).
With ``--bus KIND --port PATH`` the arm hangs on an emulated servo bus instead of serving actions and joint states: the arm node's driver does that
(sim/driven.py). With ``--no-transforms`` nobody is told where links and camera are, as hardware does not tell it either; else the arm's
description is there too (``robot_description``, latched), as robot_state_publisher has it on a robot.
The node is managed (nodes/managed.py), as a robot's drivers are: unconfigured, it shows neither joints nor pictures; inactive, the arm holds, its joints are
published, goals are refused and no picture is made. The world itself, its clock and the bus go on whatever the state.
gripper_controller/gripper_cmd takes the position of the driven finger joint [m, or rad of a jaw that turns], as ros2_control's gripper controllers do.
"""

from __future__ import annotations

import argparse
import sys
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rclpy.utilities import remove_ros_args

from deskhand.arms.emulate.choice import EMULATORS
from deskhand.errors import DeskhandError
from deskhand.nodes.arm_actions import INACTIVE, ArmActions
from deskhand.nodes.diagnostics import Health
from deskhand.nodes.managed import ManagedNode
from deskhand.nodes.node import run_node
from deskhand.nodes.parameters import declare_parameters
from deskhand.nodes.simulated import Described, PicturePublishers, StatePublishers
from deskhand.sim import driven
from deskhand.sim.camera import RgbdRenderer
from deskhand.sim.faults import FAULTS
from deskhand.sim.joint_servos import servos_of
from deskhand.sim.pacer import Pacer
from deskhand.sim.simulation import SimSettings, Simulation
from deskhand.sim.truth import TruthServer
from deskhand.tasks import world_of

GIL_SWITCH = 0.0005  # [s] (Python's own: 0.005) that the physics thread may have to wait for the executor's


@dataclass
class SimParameters:
    """Parameters of the node; none of them says anything about the world.

    Attributes:
        arm: name in config/arms or file.
        realtime_factor: how much faster than real time it runs, as far as the machine can.
        camera_rate: [Hz] of simulated time, at most.
        state_period: [s] of simulated time between joint states.
        max_state_rate: [Hz] of wall time, at most, for joint states and clock.
    """

    arm: str = "wx250s"
    realtime_factor: float = 4.0
    camera_rate: float = 10.0
    state_period: float = 0.02
    max_state_rate: float = 60.0


class SimNode(ManagedNode):
    """Serves a simulation."""

    def __init__(self, arguments: argparse.Namespace) -> None:
        super().__init__("sim")
        self.parameters = declare_parameters(self, SimParameters)
        world = world_of(self.parameters.arm, arguments.task, arguments.seed, arguments.scene, arguments.reality)
        self.simulation = Simulation(world, SimSettings(fault=arguments.fault))
        self.robot = self.simulation.built.robot
        self.failure: DeskhandError | None = None
        self._paced = (time.monotonic(), self.simulation.time)
        reality = servos_of(world, arguments.servos, arguments.seed)
        self._bus = driven.Bus(self.simulation, arguments.bus, arguments.port, reality=reality) if arguments.bus else None
        pace = self.parameters.state_period, self.parameters.max_state_rate
        self._states = StatePublishers(self, self._described(), *pace, states=self._bus is None, transforms=not arguments.no_transforms)
        self._actions = None if self._bus else ArmActions(self, self.simulation, self.simulation.arm.gripper.lever, refusal=INACTIVE)
        self._camera = CameraThread(self)
        self._truth = TruthServer(arguments.truth_fd, self.simulation.truth) if arguments.truth_fd is not None else None
        stepping: dict[str, Any] = {"chunk": driven.CHUNK, "gate": self._bus.gate} if self._bus else {}
        self._pacer = Pacer(self.simulation, self.parameters.realtime_factor, self._after_step, self._broke, **stepping)

    def start(self) -> None:
        """Let the robot, the scorer's socket and time run. Raises ``missing_dependency`` when the machine cannot render."""
        super().start()
        if self._truth is not None:
            self._truth.start()
        if self._bus is not None:
            self._bus.start()
        self._pacer.start()
        self.get_logger().info(f"{self.simulation.arm.name} is up")

    def close(self) -> None:
        """Stop the robot, time and the scorer's socket."""
        if self._bus is not None:
            self._bus.close()
        super().close()
        self._pacer.close()
        if self._truth is not None:
            self._truth.close()

    def configure(self) -> None:
        """Open the camera and show the joints. Raises ``missing_dependency`` when the machine cannot render."""
        self._camera.open()
        self._states.shown = True

    def activate(self) -> None:
        """Take goals and send pictures."""
        self._camera.streams = True
        if self._actions is not None:
            self._actions.accept()

    def deactivate(self) -> None:
        """Stop the arm where it is, holding, refuse goals, and send no picture any more."""
        if self._actions is not None:
            self._actions.refuse(INACTIVE)
        self._camera.pause()

    def cleanup(self) -> None:
        """Close the camera and show nothing any more."""
        self._states.shown = False
        self._camera.close()

    def device_health(self) -> Health:
        """See base. Nothing of the world: that is the scorer's."""
        (wall, simulated), now = self._paced, (time.monotonic(), self.simulation.time)
        self._paced = now
        pace = (now[1] - simulated) / max(now[0] - wall, 1e-6)
        values = {"simulated time [s]": round(now[1], 2), "times real time": pace, "moving": self.simulation.moving()}
        broken = str(self.failure) if self.failure is not None else "" if pace > 0 else "time stands still"
        return Health("error" if broken else "ok", broken, values, self.simulation.arm.name)

    def _broke(self, error: DeskhandError) -> None:
        self.failure = error
        self.context.try_shutdown()

    # ------------------------------------------------------------ state

    def _described(self) -> Described:
        camera = self.simulation.built.spec.camera
        return Described(self.robot.joints, self.robot.urdf, camera.link or "world", camera.frame_id, camera.world_T_camera)

    def _after_step(self) -> None:
        if self._actions is not None:
            self._actions.look()
        now = self.simulation.time
        if self._states.due(now):
            self._states.publish(now, self.simulation.joint_state())


BOTH = 0.03  # [s] that a listener to one kind of picture is given to listen to the other


class CameraThread:
    """Renders in its own thread, and only while somebody subscribes; camera_info comes at the camera's rate all the same."""

    def __init__(self, node: SimNode) -> None:
        self._node = node
        self._pictures = PicturePublishers(node)
        self.streams = False
        self._publishing = threading.Lock()
        self._stop = threading.Event()
        self._opened = threading.Event()
        self._error: DeskhandError | None = None
        self._thread: threading.Thread | None = None

    def open(self) -> None:
        """Open the renderer. Raises ``missing_dependency`` when the machine cannot render."""
        self._stop.clear()
        self._opened.clear()
        self._error = None
        self._thread = threading.Thread(target=self._run, name="camera", daemon=True)
        self._thread.start()
        self._opened.wait()
        if self._error is not None:
            raise self._error

    def pause(self) -> None:
        """Send nothing any more; a picture that is being made is sent first."""
        with self._publishing:
            self.streams = False

    def close(self) -> None:
        """Stop rendering."""
        self._stop.set()
        if self._thread is not None:
            self._thread.join(timeout=2.0)

    def _run(self) -> None:
        try:
            with RgbdRenderer(self._node.simulation) as renderer:
                self._opened.set()
                self._loop(renderer)
        except DeskhandError as error:
            self._error = error
            self._opened.set()

    def _loop(self, renderer: RgbdRenderer) -> None:
        due, watched = 0.0, 0
        while not self._stop.wait(0.004):
            now, before, watched = self._node.simulation.time, watched, self._pictures.listened()
            if not self.streams or (now < due and before >= watched):  # who begins to listen does not wait for the next picture
                continue
            if watched > before:
                watched, now = self._both(watched), self._node.simulation.time
            due = now + 1 / self._node.parameters.camera_rate
            with self._publishing:
                self._send(renderer, now)

    def _both(self, watched: int) -> int:
        """To how many kinds somebody listens a moment after the first: whoever wants both asks for one after the other."""
        end = time.monotonic() + BOTH
        while watched < 2 and time.monotonic() < end and not self._stop.wait(0.002):
            watched = self._pictures.listened()
        return watched

    def _send(self, renderer: RgbdRenderer, now: float) -> None:
        if not self.streams:
            return
        if self._pictures.wanted():
            self._pictures.publish(renderer.render())
        else:
            self._pictures.publish_info(renderer.intrinsics, now)


def parse_arguments(argv: list[str]) -> argparse.Namespace:
    """The node's own arguments, ROS arguments left out."""
    parser = argparse.ArgumentParser(prog="sim_node", description="Serve a simulated robot.")
    world = parser.add_mutually_exclusive_group()
    world.add_argument("--task", default="desk_cleaning", help="task whose world to make (default: %(default)s)")
    world.add_argument("--scene", type=Path, help="scene file (docs/scene-files.md)")
    parser.add_argument("--seed", type=int, default=0, help="of the task's world (default: %(default)s)")
    parser.add_argument("--fault", default="", choices=("", *FAULTS), help="what goes wrong on purpose (sim/faults.py)")
    parser.add_argument("--reality", default="", help="how the world differs from an ideal one: a name in config/reality or a YAML file")
    parser.add_argument("--bus", default="", choices=("", *EMULATORS), help="hang the arm on this emulated servo bus")
    parser.add_argument("--port", default="", help="with --bus: path at which its port appears")
    parser.add_argument("--servos", default="", help="with --bus: what is wrong with the servos, a name in config/servos or a YAML file")
    parser.add_argument("--no-transforms", action="store_true", help="publish no transforms")
    parser.add_argument("--truth-fd", type=int, help="inherited socket for the scorer")
    return parser.parse_args(argv)


def main() -> int:
    """Run the node."""
    arguments = parse_arguments(remove_ros_args(sys.argv)[1:])
    nodes: list[SimNode] = []

    def make() -> SimNode:
        nodes.append(SimNode(arguments))
        return nodes[0]

    sys.setswitchinterval(GIL_SWITCH)
    code = run_node(make, threads=6)
    return 1 if nodes and nodes[0].failure is not None else code


if __name__ == "__main__":
    sys.exit(main())
