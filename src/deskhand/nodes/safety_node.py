"""Node ``safety``: the latched stop, the watchdog, and the hand on the controller's brake.

A stop cancels every goal of the arm's controller, whoever sent it, and cancels again whatever is accepted while the stop lasts. The gripper is
left alone: what it holds, it keeps holding. Where the orchestrator has died, this node ends its tasks (task_stand_in.py).
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from action_msgs.msg import GoalStatus, GoalStatusArray
from action_msgs.srv import CancelGoal
from rclpy.clock import Clock, ClockType
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from std_msgs.msg import String
from std_srvs.srv import Trigger

from deskhand.errors import DeskhandError
from deskhand.nodes import conversions
from deskhand.nodes.diagnostics import Health
from deskhand.nodes.node import HEARTBEATS, DeskhandNode, run_node
from deskhand.nodes.parameters import declare_parameters
from deskhand.nodes.ros_arm import CONTROLLER
from deskhand.nodes.task_stand_in import TaskStandIn
from deskhand.safety.settings import load_safety
from deskhand.safety.stop import SafetyStop
from deskhand.safety.watchdog import WATCHED, Watchdog
from deskhand.types import SafetyStatus
from deskhand_interfaces.msg import SafetyStatus as SafetyStatusMsg

STATUS_PERIOD = 0.05  # [s] wall time
ORCHESTRATOR = "orchestrator"
RUNNING = (GoalStatus.STATUS_ACCEPTED, GoalStatus.STATUS_EXECUTING)


@dataclass
class Parameters:
    """Of the safety node.

    Attributes:
        arm: name in config/arms or file.
        watch: nodes whose death stops the arm, from when they were first heard.
        settings: safety file; empty: config/safety.yaml.
    """

    arm: str = "wx250s"
    watch: list[str] = field(default_factory=lambda: list(WATCHED))
    settings: str = ""


class SafetyNode(DeskhandNode):
    """See the module."""

    def __init__(self) -> None:
        super().__init__("safety")
        parameters = declare_parameters(self, Parameters)
        settings = load_safety(parameters.settings or None)
        self._stop = SafetyStop(self.seconds)
        self._moving = False  # the controller has goals that run
        self._watchdog = Watchdog(parameters.watch, settings.watchdog.timeout, self._on_death, hang_timeout=settings.watchdog.hang_timeout)
        self._stop.add_cause(lambda: "; ".join(f"{name}: {why}" for name, why in self._watchdog.dead().items()))
        self._stop.listen(self._on_change)
        self._status = self.create_publisher(SafetyStatusMsg, "safety/status", QoSProfile(depth=1, reliability=ReliabilityPolicy.RELIABLE))
        self._cancel = self.create_client(CancelGoal, f"{CONTROLLER}/_action/cancel_goal", callback_group=self.reentrant)
        latched = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL, reliability=ReliabilityPolicy.RELIABLE)
        group = {"callback_group": self.reentrant}
        self.create_subscription(GoalStatusArray, f"{CONTROLLER}/_action/status", self._on_goals, latched, **group)
        self.create_subscription(String, "heartbeat", lambda message: self._watchdog.beat(message.data), HEARTBEATS, **group)
        self.create_service(Trigger, "safety/stop", self._on_stop, **group)
        self.create_service(Trigger, "safety/reset", self._on_reset, **group)
        self.create_timer(STATUS_PERIOD, self._tick, clock=Clock(clock_type=ClockType.STEADY_TIME), **group)
        self._stand_in = TaskStandIn(self, lambda: self._watchdog.dead().get(ORCHESTRATOR, ""))
        self._watchdog.start()

    def close(self) -> None:
        """See base."""
        self._watchdog.close()

    def health(self) -> Health:
        """See base."""
        status, dead = self._stop.status(), self._watchdog.dead()
        level = "error" if dead or status.code == "watchdog" else "warning" if status.stopped else "ok"
        values = {"stopped": status.stopped, "code": status.code, "dead nodes": ", ".join(sorted(dead)), "controller moves": self._moving}
        return Health(level, f"stopped: {status.reason}" if status.stopped else "running", values)

    def _on_stop(self, _: Any, response: Any) -> Any:
        fresh = self._stop.stop("safety_stop", "safety/stop was called")
        response.success, response.message = True, "stopped" if fresh else f"stopped already: {self._stop.status().reason}"
        return response

    def _on_reset(self, _: Any, response: Any) -> Any:
        try:
            self._stop.reset()
            response.success, response.message = True, "running"
        except DeskhandError as error:
            response.success, response.message = False, str(error)
        return response

    def _on_death(self, name: str, why: str) -> None:
        self._stop.stop("watchdog", f"node {name} is dead: {why}")
        if name == ORCHESTRATOR:
            self._stand_in.orchestrator_died(why)

    def _on_change(self, status: SafetyStatus) -> None:
        if status.stopped:
            self._halt()
        self._publish()
        if status.stopped:
            self.get_logger().warning(f"STOP ({status.code}): {status.reason}")
        else:
            self.get_logger().info("reset: the arm may move again")

    def _on_goals(self, message: GoalStatusArray) -> None:
        self._moving = any(goal.status in RUNNING for goal in message.status_list)
        if self._moving and self._stop.status().stopped:
            self._halt()

    def _halt(self) -> None:
        """Cancel all goals: a request with a zero id and a zero stamp."""
        if self._cancel.service_is_ready():
            self._cancel.call_async(CancelGoal.Request()).add_done_callback(partial(_report, self))
        else:
            self.get_logger().warning(f"nobody serves {CONTROLLER}: there is nothing to halt")

    def _publish(self) -> None:
        """The status, stamped now: what is latched still holds, and whoever listens can tell how old the word is."""
        self._status.publish(conversions.safety_status_to_msg(replace(self._stop.status(), stamp=self.seconds())))

    def _tick(self) -> None:
        """Say the status; ask again for a halt that the controller has not carried out, whatever became of the request."""
        if self._moving and self._stop.status().stopped and self._cancel.service_is_ready():
            self._halt()
        self._publish()


def _report(node: SafetyNode, future: Any) -> None:
    answer = future.result()
    halted = len(answer.goals_canceling) if answer is not None else 0
    node.get_logger().info(f"halted {halted} goals of the arm's controller")


def main() -> int:
    """Entry point."""
    return run_node(SafetyNode)


if __name__ == "__main__":
    sys.exit(main())
