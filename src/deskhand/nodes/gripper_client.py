"""A gripper behind whichever action the graph offers: GripperCommand, ParallelGripperCommand, or FollowJointTrajectory of its finger.

The last (Interbotix) reports neither width nor stall: both are taken from the joint states, and what stalled is then held with a little more than nothing.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import control_msgs.action
from builtin_interfaces.msg import Duration
from control_msgs.action import FollowJointTrajectory, GripperCommand
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from deskhand.arms.base import Clock
from deskhand.arms.gripper import GripperConfig
from deskhand.arms.gripper_servo import GripCommand
from deskhand.errors import DeskhandError
from deskhand.nodes import conversions
from deskhand.nodes.action_client import ActionClient
from deskhand.nodes.node import DeskhandNode
from deskhand.types import Cancelled, GripperReport

COMMAND, TRAJECTORY = "gripper_controller/gripper_cmd", "gripper_controller/follow_joint_trajectory"
NAMES = (COMMAND, TRAJECTORY)
TIME_LIMIT = 20.0  # [s] of the robot's time
SHORTEST = 0.2  # [s] of a trajectory of the finger
SQUEEZE = 0.002  # [m] beyond where a finger stalled, that it is told to hold at with full force. UNCONFIRMED
SETTLE = 2.0  # [s] after a trajectory's end for the finger to arrive or stand still
PERIOD = 0.02  # [s]

Act = Callable[[ActionClient, str, Any, float, Cancelled | None, Callable[[Any], None] | None], Any]
"""client, server, goal, time limit [s], cancelled, feedback -> the answer to the goal (RosRobot)."""


@dataclass(frozen=True)
class _Offer:
    """An action that serves the gripper; ``kind`` is None where this machine's control_msgs has none."""

    name: str
    kind: Any


PARALLEL = getattr(control_msgs.action, "ParallelGripperCommand", None)  # not in Humble's
OFFERS = (_Offer(COMMAND, GripperCommand), _Offer(COMMAND, PARALLEL), _Offer(TRAJECTORY, FollowJointTrajectory))


class GripperClient:
    """Moves a gripper by the distance of its pads.

    Args:
        finger: measured position [m] of the driven finger joint; raises ``stale_data``.
        act: sends a goal and waits for its answer.
    """

    def __init__(self, node: DeskhandNode, config: GripperConfig, finger: Callable[[], float], clock: Clock, act: Act) -> None:
        self._node, self._config, self._finger, self._clock, self._act = node, config, finger, clock, act
        self._clients: dict[_Offer, ActionClient] = {}
        self._used: _Offer | None = None

    def ready(self) -> bool:
        """Whether somebody serves it."""
        return self._offer() is not None

    def move(self, width: float, force: float, cancelled: Cancelled | None = None) -> GripperReport:
        """Bring the pads to ``width`` [m] apart with ``force`` [N]; returns when they are there, or something is between them.

        Raises:
            DeskhandError: ``node_unavailable`` when nobody serves the gripper, and what the call raises.
        """
        offer = self._found()
        client, position, lever = self._client(offer), float(self._config.position_of(width)), self._config.lever
        if offer.kind is FollowJointTrajectory:
            return self._by_trajectory(client, position, force, cancelled)
        goal = offer.kind.Goal()
        if offer.kind is GripperCommand:
            goal.command.position, goal.command.max_effort = position, lever * force
            result = self._act(client, "", goal, TIME_LIMIT, cancelled, None).result
            reached, effort = float(result.position), float(result.effort) / lever
        else:
            goal.command.name, goal.command.position, goal.command.effort = [self._config.joint], [position], [lever * force]
            result = self._act(client, "", goal, TIME_LIMIT, cancelled, None).result
            reached = float(result.state.position[0]) if result.state.position else math.nan
            effort = float(result.state.effort[0]) / lever if result.state.effort else 0.0
        return GripperReport(self._config.width_of(reached), bool(result.stalled), bool(result.reached_goal), effort)

    # ------------------------------------------------------------ which action

    def _found(self) -> _Offer:
        end = self._clock.now() + SETTLE
        while (offer := self._offer()) is None:
            if self._clock.now() > end:
                raise DeskhandError("node_unavailable", f"nobody serves {' or '.join(NAMES)}.", hint="Is the gripper's driver running, and in this namespace?")
            self._clock.sleep(PERIOD)
        return offer

    def _offer(self) -> _Offer | None:
        """The first that is served; the one in use as long as it is."""
        if self._used is not None and self._client(self._used).server_is_ready():
            return self._used
        self._used = next((offer for offer in OFFERS if offer.kind is not None and self._served(offer)), None)
        return self._used

    def _served(self, offer: _Offer) -> bool:
        """By who publishes its feedback: only servers do, and they name their type."""
        kind = f"control_msgs/action/{offer.kind.__name__}_FeedbackMessage"
        topic = self._node.resolve_topic_name(f"{offer.name}/_action/feedback")
        return any(info.topic_type == kind for info in self._node.get_publishers_info_by_topic(topic))

    def _client(self, offer: _Offer) -> ActionClient:
        if offer not in self._clients:
            self._clients[offer] = ActionClient(self._node, offer.kind, offer.name, callback_group=self._node.reentrant)
        return self._clients[offer]

    # ------------------------------------------------------------ by a trajectory of the finger

    def _by_trajectory(self, client: ActionClient, position: float, force: float, cancelled: Cancelled | None) -> GripperReport:
        here = self._finger()
        seconds = max(SHORTEST, abs(position - here) * self._config.lever / self._config.speed)
        command = GripCommand(position, force, self._clock.now() + seconds, self._config.lever)
        held = False

        def watch() -> bool:
            """Looked at while the goal runs. A hold takes the goal's place; a cancel would let controllers that never read the finger forget where it is."""
            nonlocal held
            command.judge(self._clock.now(), self._finger())
            if not held and (command.stalled or (cancelled is not None and cancelled())):
                held = True
                client.send_goal_async(self._hold(command))
            return False

        result = self._act(client, "", self._goal(here, position, seconds), TIME_LIMIT, watch, None).result
        if not held and result.error_code not in (FollowJointTrajectory.Result.SUCCESSFUL, FollowJointTrajectory.Result.GOAL_TOLERANCE_VIOLATED):
            raise DeskhandError("controller_failed", f"{TRAJECTORY} failed: {result.error_string or result.error_code}.", retry=True)
        end = self._clock.now() + SETTLE
        while not command.done and not held and self._clock.now() < end:
            command.judge(self._clock.now(), self._finger())
        if command.stalled and not held:
            self._act(client, "", self._hold(command), TIME_LIMIT, None, None)
        return GripperReport(self._config.width_of(self._finger()), command.stalled, command.reached, force if command.stalled else 0.0)

    def _hold(self, command: GripCommand) -> FollowJointTrajectory.Goal:
        """Where the finger is, and what stalled a little farther."""
        here = self._finger()
        squeeze = SQUEEZE * command.force / (self._config.force_max * self._config.lever)
        beyond = math.copysign(squeeze, command.position - here) if command.stalled else 0.0
        limits = self._config.position_of(self._config.width_min), self._config.position_of(self._config.width_max)
        return self._goal(here, min(max(here + beyond, min(limits)), max(limits)), SHORTEST)

    def _goal(self, here: float, position: float, seconds: float) -> FollowJointTrajectory.Goal:
        """It begins where the finger was measured: a controller whose hardware never reads the finger would begin nowhere."""
        points = [
            JointTrajectoryPoint(positions=[here], time_from_start=Duration()),
            JointTrajectoryPoint(positions=[position], time_from_start=conversions.duration_to_msg(seconds)),
        ]
        return FollowJointTrajectory.Goal(trajectory=JointTrajectory(joint_names=[self._config.joint], points=points))
