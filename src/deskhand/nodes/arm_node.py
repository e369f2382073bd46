"""An arm of bus servos: FollowJointTrajectory, GripperCommand, joint_states and /diagnostics, by arms/driver.py.

``arm/torque`` (std_srvs/SetBool) holds or lets go; letting go is refused until the parameter ``supported`` is true: somebody holds the arm.
The node is managed (nodes/managed.py): configured, the arm is held and its joint states are published; goals are taken while the node is active.
"""

from __future__ import annotations

import sys
import threading
import time
from dataclasses import dataclass, replace

from rclpy.qos import QoSProfile
from sensor_msgs.msg import JointState
from std_srvs.srv import SetBool

from deskhand.arms.bus.choice import make_bus
from deskhand.arms.config import load_arm
from deskhand.arms.driver import ArmDriver
from deskhand.arms.driver_status import DriverStatus
from deskhand.arms.model import RobotModel
from deskhand.errors import DeskhandError
from deskhand.nodes import conversions
from deskhand.nodes.arm_actions import INACTIVE, ArmActions
from deskhand.nodes.diagnostics import Health
from deskhand.nodes.managed import ManagedNode
from deskhand.nodes.node import run_node
from deskhand.nodes.parameters import declare_parameters, setting

SLOWED = 0.95  # of the speed: less is worth a warning


@dataclass
class ArmParameters:
    """Of the arm's node.

    Attributes:
        arm: name in config/arms or file.
        driver: one of our drivers of servo buses; empty: the arm's usual one.
        port: serial port; empty: as in the arm's file.
        baud: of the port; 0: as in the arm's file.
        supported: somebody holds the arm so that it cannot fall; only then arm/torque lets go.
    """

    arm: str = "jetarm"
    driver: str = ""
    port: str = ""
    baud: int = 0
    supported: bool = setting(False, at_run_time=True)


class ArmNode(ManagedNode):
    """Serves one arm."""

    def __init__(self) -> None:
        super().__init__("arm")
        parameters = declare_parameters(self, ArmParameters)
        arm = load_arm(parameters.arm)
        simulated = bool(self.get_parameter("use_sim_time").value)
        # the system's clock may be set; trajectories and readings must not notice
        self._time = self.seconds if simulated else time.monotonic
        bus = make_bus(arm.driver, parameters.driver, parameters.port, parameters.baud, self._time)
        self.driver = ArmDriver(RobotModel.load(arm), bus, self._time, on_round=self._publish)
        self._states = self.create_publisher(JointState, "joint_states", QoSProfile(depth=5))
        self._actions = ArmActions(self, self.driver, arm.gripper.lever, refusal=INACTIVE)
        self.create_service(SetBool, "arm/torque", self._set_torque, callback_group=self.reentrant)
        self._last_fault = ""
        self._closing = threading.Event()
        self._starter: threading.Thread | None = None

    def configure(self) -> None:
        """Look for the arm, and hold it from when it is there."""
        self._closing.clear()
        self._starter = threading.Thread(target=self._start, name="arm start", daemon=True)
        self._starter.start()

    def activate(self) -> None:
        """Take goals."""
        self._actions.accept()

    def deactivate(self) -> None:
        """Stop the arm where it is, holding, and refuse goals."""
        self._actions.refuse(INACTIVE)

    def cleanup(self) -> None:
        """Give the port back; the servos hold on."""
        self._closing.set()
        if self._starter is not None:
            self._starter.join()
        self.driver.close()

    def _start(self) -> None:
        """Take the arm once the clock runs: a simulated one may be heard late, and what began before it would be ages old then."""
        while self._time() <= 0.0:
            if self._closing.wait(0.01):
                return
        self.driver.start()

    def _publish(self) -> None:
        self._actions.look()
        try:
            state = self.driver.joint_state()
        except DeskhandError:
            return  # not connected: silence is what tells those who listen; diagnostics say why
        stamp = self.seconds() - (self._time() - state.stamp)
        self._states.publish(conversions.joint_state_to_msg(replace(state, stamp=stamp)))

    def _set_torque(self, request: SetBool.Request, response: SetBool.Response) -> SetBool.Response:
        try:
            if self.lifecycle_state not in ("inactive", "active"):
                raise DeskhandError("device_unavailable", f"the arm's node is {self.lifecycle_state}.", hint="Configure it first.")
            self.driver.set_torque(request.data, bool(self.get_parameter("supported").value))
            response.success, response.message = True, "the arm is held" if request.data else "the arm is let go"
        except DeskhandError as error:
            response.success, response.message = False, str(error)
        return response

    def device_health(self) -> Health:
        """See base."""
        status = self.driver.status()
        problem = status.fault if status.connected else "the arm is not connected"
        if problem != self._last_fault:
            self._last_fault = problem
            if problem:
                self.get_logger().error(problem)
        blind = f"{', '.join(status.open_loop)} answers nothing: its position is what it was told" if status.open_loop else ""
        level = "error" if problem else "warning" if status.scale < SLOWED or blind else "ok"
        slowed = f"slowed down: {status.scale:.0%} of the speed" if status.scale < SLOWED else ""
        return Health(level, problem or "; ".join(filter(None, (blind, slowed))), _values(status), self.driver.arm.name)


def _values(status: DriverStatus) -> dict[str, str]:
    counters = status.counters
    values = {
        "tracking error max [rad]": f"{status.tracking_error:.4f}",
        "tracking error rms [rad]": f"{status.tracking_rms:.4f}",
        "round of readings [s]": f"{status.round_time:.4f}",
        "latency of an answer [s]": f"{status.latency:.4f}",
        "lag of the joints [s]": f"{status.lag:.4f}",
        "open loop": ", ".join(status.open_loop),
        "questions": str(counters.asked),
        "unanswered": str(counters.unanswered),
        "retries": str(counters.retries),
        "rejected frames": str(counters.rejected),
        "doubted positions": str(status.doubted),
        "port opened": str(counters.opened),
    }
    for name, health in status.health.items():
        for what, number, unit in (("temperature", health.temperature, "C"), ("voltage", health.voltage, "V"), ("load", health.load, "1")):
            if number is not None:
                values[f"{name} {what} [{unit}]"] = f"{number:.2f}"
    return values


def main() -> int:
    """Run the node."""
    return run_node(ArmNode)


if __name__ == "__main__":
    sys.exit(main())
