"""The actions that every arm of ours serves, simulated or real: FollowJointTrajectory and GripperCommand."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Protocol

import numpy as np
from control_msgs.action import FollowJointTrajectory, GripperCommand
from rclpy.action import ActionServer, CancelResponse, GoalResponse
from rclpy.action.server import ServerGoalHandle
from trajectory_msgs.msg import JointTrajectoryPoint

from deskhand.arms.config import ArmConfig
from deskhand.arms.follower import Follower, Tolerances
from deskhand.errors import DeskhandError
from deskhand.geometry import Array
from deskhand.nodes import conversions
from deskhand.nodes.node import DeskhandNode
from deskhand.types import Trajectory

FEEDBACK_PERIOD = 0.05  # [s] wall clock
INACTIVE = "the arm's node is not active."
CANCELING = 2.0  # [s] wall clock, for rclpy to note a cancel that we have accepted


class Grip(Protocol):
    """A gripper command on its way."""

    done: bool
    stalled: bool
    reached: bool
    cancelled: bool


class Controlled(Protocol):
    """What is served: deskhand.sim.simulation.Simulation or deskhand.arms.driver.ArmDriver."""

    arm: ArmConfig

    @property
    def time(self) -> float:
        """[s]"""
        ...

    def default_tolerances(self) -> Tolerances:
        """Of trajectories that name none."""
        ...

    def follow(self, trajectory: Trajectory, tolerances: Tolerances | None = None) -> Follower:
        """Begin to follow, in place of what was running."""
        ...

    def cancel(self, follower: Follower) -> None:
        """Stop and hold; returns at once."""
        ...

    def grip(self, position: float, force: float | None = None) -> Grip:
        """Begin to move the fingers to ``position`` [m or rad] of the driven joint with at most ``force`` [N] of each pad."""
        ...

    def cancel_grip(self, command: Any) -> None:
        """Hold the fingers where they are."""
        ...

    def finger_position(self) -> float:
        """[m or rad] of the driven joint"""
        ...

    def finger_force(self) -> float:
        """[N] of a pad"""
        ...


class ArmActions:
    """``arm_controller/follow_joint_trajectory`` and ``gripper_controller/gripper_cmd`` of ``node``; the latter takes the driven finger joint
    [m or rad] and its effort [N or N m], ``lever`` [m] times the force of a pad.
    While there is a ``refusal``, goals are refused with it.

    Whoever drives the arm calls :meth:`look` after every step.
    """

    def __init__(self, node: DeskhandNode, controlled: Controlled, lever: float = 1.0, refusal: str = "") -> None:
        self._node, self._controlled, self._lever = node, controlled, lever
        self._refusal, self._beginning = refusal, threading.Lock()  # while something is begun, nobody may forbid it
        self._grips: list[Grip] = []  # under way
        self._waiting: list[tuple[Callable[[], bool], threading.Event]] = []
        self._waiting_lock = threading.Lock()
        self._begun: dict[int, Follower] = {}  # by id of the goal, until its handle is there
        self._followers: dict[bytes, Follower] = {}
        self._cancels: set[bytes] = set()  # accepted, by goal
        self._arm_server = ActionServer(
            node,
            FollowJointTrajectory,
            "arm_controller/follow_joint_trajectory",
            execute_callback=self._follow,
            goal_callback=self._check_follow,
            handle_accepted_callback=self._begin_follow,
            cancel_callback=self._cancel_follow,
            callback_group=node.reentrant,
        )
        self._gripper_server = ActionServer(
            node,
            GripperCommand,
            "gripper_controller/gripper_cmd",
            execute_callback=self._grip,
            goal_callback=self._check_grip,
            cancel_callback=lambda _: CancelResponse.ACCEPT,
            callback_group=node.reentrant,
        )

    def accept(self) -> None:
        """Take goals from now on."""
        with self._beginning:
            self._refusal = ""

    def refuse(self, why: str) -> None:
        """Stop what is under way, holding; goals are refused until :meth:`accept`."""
        with self._beginning:
            self._refusal = why
            for follower in (*self._begun.values(), *self._followers.values()):
                self._controlled.cancel(follower)
            for command in self._grips:
                self._controlled.cancel_grip(command)

    def _check_accepting(self) -> None:
        if self._refusal:
            raise DeskhandError("device_unavailable", self._refusal, retry=True)

    def look(self) -> None:
        """See whether something that is waited for has ended."""
        for done, event in self._waiting:
            if done():
                event.set()

    def _wait(self, done: Callable[[], bool]) -> None:
        """Until ``done()`` or the next feedback is due."""
        entry = (done, threading.Event())
        with self._waiting_lock:
            self._waiting = [*self._waiting, entry]
        entry[1].wait(FEEDBACK_PERIOD)
        with self._waiting_lock:
            self._waiting = [other for other in self._waiting if other is not entry]

    # ------------------------------------------------------------ arm

    def _check_follow(self, goal: FollowJointTrajectory.Goal) -> GoalResponse:
        # It begins here, before the client is answered, so that goals take effect in the order they came: what rclpy calls later runs in any order.
        try:
            with self._beginning:
                self._check_accepting()
                self._begun[id(goal)] = self._controlled.follow(_trajectory(goal), self._tolerances(goal))
        except DeskhandError as error:
            self._node.get_logger().error(f"trajectory rejected: {error}")
            return GoalResponse.REJECT
        return GoalResponse.ACCEPT

    def _begin_follow(self, handle: ServerGoalHandle) -> None:
        with self._beginning:
            self._followers[bytes(handle.goal_id.uuid)] = self._begun.pop(id(handle.request))
        handle.execute()

    def _cancel_follow(self, handle: ServerGoalHandle) -> CancelResponse:
        goal = bytes(handle.goal_id.uuid)
        follower = self._followers.get(goal)
        if follower is not None:
            self._cancels.add(goal)
            self._controlled.cancel(follower)  # at once: a stop must not wait for a thread of the executor
        return CancelResponse.ACCEPT

    def _follow(self, handle: ServerGoalHandle) -> FollowJointTrajectory.Result:
        goal = bytes(handle.goal_id.uuid)
        follower = self._followers[goal]
        while follower.active and self._node.context.ok():
            if handle.is_cancel_requested:  # a cancel can come before _begin_follow knows the goal
                self._controlled.cancel(follower)
            self._wait(lambda: not follower.active or handle.is_cancel_requested)
            handle.publish_feedback(_feedback(follower, self._controlled.time))
        if follower.cancelled and goal in self._cancels:
            self._await_canceling(handle)
        with self._beginning:
            del self._followers[goal]
        self._cancels.discard(goal)
        handle.request.trajectory.points = []  # rclpy keeps the goal for 15 minutes: a motion's points are 100 kB
        if follower.cancelled and handle.is_cancel_requested:
            handle.canceled()
        elif follower.code == 0 and not follower.cancelled:
            handle.succeed()
        else:
            handle.abort()
            self._node.get_logger().warning(f"trajectory aborted: {follower.message}")
        said = self._refusal if follower.cancelled and self._refusal else follower.message
        return FollowJointTrajectory.Result(error_code=follower.code or 0, error_string=said)

    def _await_canceling(self, handle: ServerGoalHandle) -> None:
        """Rclpy notes a cancel after :meth:`_cancel_follow` has returned, by when the arm may have stopped: the goal was cancelled, not aborted."""
        end = time.monotonic() + CANCELING
        while not handle.is_cancel_requested and time.monotonic() < end and self._node.context.ok():
            time.sleep(0.001)

    def _tolerances(self, goal: FollowJointTrajectory.Goal) -> Tolerances:
        """The goal's tolerances: 0 stands for the default, -1 for none."""
        joints, default = self._controlled.arm.joints, self._controlled.default_tolerances()
        rows = []
        for given, values in ((goal.path_tolerance, default.path.copy()), (goal.goal_tolerance, default.goal.copy())):
            for tolerance in given:
                if tolerance.name not in joints or not np.isfinite(tolerance.position):
                    raise DeskhandError("invalid_input", f"the tolerance for {tolerance.name!r} ({tolerance.position}) is for no joint or not finite.")
                if tolerance.position:
                    values[joints.index(tolerance.name)] = max(tolerance.position, 0.0)
            rows.append(values)
        return Tolerances(rows[0], rows[1], conversions.time_from_msg(goal.goal_time_tolerance) or default.goal_time)

    # ------------------------------------------------------------ gripper

    def _check_grip(self, goal: GripperCommand.Goal) -> GoalResponse:
        command = goal.command
        if not np.isfinite(command.position) or not np.isfinite(command.max_effort) or command.max_effort < 0:
            self._node.get_logger().error(
                f"gripper command rejected: position {command.position} and effort {command.max_effort} must be finite, the effort not negative."
            )
            return GoalResponse.REJECT
        if self._refusal:
            self._node.get_logger().error(f"gripper command rejected: {self._refusal}")
            return GoalResponse.REJECT
        return GoalResponse.ACCEPT

    def _grip(self, handle: ServerGoalHandle) -> GripperCommand.Result:
        goal, controlled = handle.request.command, self._controlled
        try:
            with self._beginning:
                self._check_accepting()
                command = controlled.grip(goal.position, goal.max_effort / self._lever or None)
                self._grips.append(command)
        except DeskhandError as error:
            self._node.get_logger().error(f"gripper command aborted: {error}")
            handle.abort()
            return GripperCommand.Result(position=float("nan"))
        while not command.done and self._node.context.ok():
            if handle.is_cancel_requested:
                controlled.cancel_grip(command)
            self._wait(lambda: command.done)
            handle.publish_feedback(GripperCommand.Feedback(position=controlled.finger_position(), effort=self._lever * controlled.finger_force()))
        with self._beginning:
            self._grips.remove(command)
        if not command.cancelled:
            handle.succeed()
        elif handle.is_cancel_requested:
            handle.canceled()
        else:
            handle.abort()
        position, effort = controlled.finger_position(), self._lever * controlled.finger_force()
        return GripperCommand.Result(position=position, effort=effort, stalled=command.stalled, reached_goal=command.reached)


def _trajectory(goal: FollowJointTrajectory.Goal) -> Trajectory:
    trajectory = conversions.trajectory_from_msg(goal.trajectory)
    if not any(len(point.velocities) for point in goal.trajectory.points):
        # absent velocities mean straight lines, zero ones a halt at every point
        trajectory = replace(trajectory, velocities=np.zeros((0, len(trajectory.joint_names))))
    return trajectory


def _feedback(follower: Follower, now: float) -> FollowJointTrajectory.Feedback:
    """``desired`` is at the trajectory's own time, ``actual`` at the time that has passed: they differ when the arm may not move as fast."""

    def point(values: Array, behind: float = 0.0) -> JointTrajectoryPoint:
        return JointTrajectoryPoint(positions=values.tolist(), time_from_start=conversions.duration_to_msg(max(0.0, follower.elapsed + behind)))

    feedback = FollowJointTrajectory.Feedback(joint_names=list(follower.trajectory.joint_names))
    feedback.header = conversions.header(now, "")
    actual = point(follower.wished - follower.error, follower.behind)
    feedback.desired, feedback.actual, feedback.error = point(follower.wished), actual, point(follower.error)
    return feedback
