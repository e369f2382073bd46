"""The simulated robot: the standard interfaces of an arm, a gripper and an RGB-D camera, nothing more.

Arguments: ``--task NAME --seed N`` or ``--scene FILE``, and ``--truth-fd N``, an inherited socket for the scorer (sim/truth.py).
gripper_controller/gripper_cmd takes the position of the driven finger joint [m], as ros2_control's gripper controllers do.
"""

from __future__ import annotations

import argparse
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from control_msgs.action import FollowJointTrajectory, GripperCommand
from rclpy.action import ActionServer, CancelResponse, GoalResponse
from rclpy.action.server import ServerGoalHandle
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from rclpy.utilities import remove_ros_args
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import CameraInfo, Image, JointState
from tf2_msgs.msg import TFMessage
from trajectory_msgs.msg import JointTrajectoryPoint

from deskhand.errors import DeskhandError
from deskhand.geometry import Array
from deskhand.nodes import conversions
from deskhand.nodes.node import DeskhandNode, run_node
from deskhand.nodes.parameters import declare_parameters
from deskhand.sim.camera import RgbdRenderer
from deskhand.sim.faults import FAULTS
from deskhand.sim.follower import Follower, Tolerances, check_trajectory
from deskhand.sim.pacer import Pacer
from deskhand.sim.simulation import SimSettings, Simulation
from deskhand.sim.spec import WorldSpec
from deskhand.sim.truth import TruthServer
from deskhand.types import Frame, Trajectory

LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL, reliability=ReliabilityPolicy.RELIABLE)
PICTURES = QoSProfile(depth=2, reliability=ReliabilityPolicy.RELIABLE)
GIL_SWITCH = 0.0005  # [s] (Python's own: 0.005) that the physics thread may have to wait for the executor's
FEEDBACK_PERIOD = 0.05  # [s] wall clock


@dataclass
class SimParameters:
    """Parameters of the node; none of them says anything about the world."""

    arm: str = "wx250s"
    realtime_factor: float = 4.0
    camera_rate: float = 10.0  # [Hz] of simulated time, at most
    state_period: float = 0.02  # [s] of simulated time between joint states
    max_state_rate: float = 60.0  # [Hz] of wall time, at most, for joint states and clock


class SimNode(DeskhandNode):
    """Serves a simulation."""

    def __init__(self, arguments: argparse.Namespace) -> None:
        super().__init__("sim")
        self.parameters = declare_parameters(self, SimParameters)
        self.simulation = Simulation(_world(arguments, self.parameters.arm), SimSettings(fault=arguments.fault))
        self.robot = self.simulation.built.robot
        self._waiting: list[tuple[Callable[[], bool], threading.Event]] = []  # looked at after every step
        self._waiting_lock = threading.Lock()
        self._begun: dict[int, Follower] = {}  # by id of the goal, until its handle is there
        self._followers: dict[bytes, Follower] = {}
        self._last_state, self._last_wall = -1.0, 0.0
        self.failure: DeskhandError | None = None
        self._make_publishers()
        self._make_actions()
        self._camera = CameraThread(self)
        self._truth = TruthServer(arguments.truth_fd, self.simulation.truth) if arguments.truth_fd is not None else None
        self._pacer = Pacer(self.simulation, self.parameters.realtime_factor, self._after_step, self._broke)

    def start(self) -> None:
        """Let the camera, the scorer's socket and time run. Raises ``missing_dependency`` when the machine cannot render."""
        self._camera.start()
        if self._truth is not None:
            self._truth.start()
        self._pacer.start()
        self.get_logger().info(f"{self.simulation.arm.name} is up")

    def close(self) -> None:
        """Stop time, camera and scorer's socket."""
        self._pacer.close()
        self._camera.close()
        if self._truth is not None:
            self._truth.close()

    def _broke(self, error: DeskhandError) -> None:
        self.failure = error
        self.context.try_shutdown()

    # ------------------------------------------------------------ state

    def _make_publishers(self) -> None:
        self._clock_publisher = self.create_publisher(Clock, "/clock", QoSProfile(depth=1))
        self._states = self.create_publisher(JointState, "joint_states", QoSProfile(depth=5))
        self._tf = self.create_publisher(TFMessage, "/tf", QoSProfile(depth=20))
        self._tf_static = self.create_publisher(TFMessage, "/tf_static", LATCHED)
        joints = self.robot.joints.values()
        fixed = [conversions.transform_to_msg(joint.parent, joint.child, joint.origin, 0.0) for joint in joints if joint.kind == "fixed"]
        camera = self.simulation.built.spec.camera
        mount = conversions.transform_to_msg(camera.link or "world", camera.frame_id, camera.world_T_camera, 0.0)
        self._tf_static.publish(TFMessage(transforms=[*fixed, mount]))

    def _after_step(self) -> None:
        now, wall = self.simulation.time, time.monotonic()
        for done, event in self._waiting:
            if done():
                event.set()
        if now - self._last_state < self.parameters.state_period - 1e-6 or wall - self._last_wall < 1 / self.parameters.max_state_rate:
            return
        self._last_state, self._last_wall = now, wall
        self._clock_publisher.publish(Clock(clock=conversions.time_to_msg(now)))
        state = self.simulation.joint_state()
        self._states.publish(conversions.joint_state_to_msg(state))
        if self._tf.get_subscription_count():
            positions = dict(zip(state.names, state.positions, strict=True))
            moving = [joint for joint in self.robot.joints.values() if joint.kind != "fixed"]
            self._tf.publish(TFMessage(transforms=[conversions.transform_to_msg(j.parent, j.child, j.motion(positions[j.name]), now) for j in moving]))

    def _wait(self, done: Callable[[], bool]) -> None:
        """Until ``done()`` or the next feedback is due."""
        entry = (done, threading.Event())
        with self._waiting_lock:
            self._waiting = [*self._waiting, entry]
        entry[1].wait(FEEDBACK_PERIOD)
        with self._waiting_lock:
            self._waiting = [other for other in self._waiting if other is not entry]

    # ------------------------------------------------------------ actions

    def _make_actions(self) -> None:
        self._arm_server = ActionServer(
            self,
            FollowJointTrajectory,
            "arm_controller/follow_joint_trajectory",
            execute_callback=self._follow,
            goal_callback=self._check_follow,
            handle_accepted_callback=self._begin_follow,
            cancel_callback=self._cancel_follow,
            callback_group=self.reentrant,
        )
        self._gripper_server = ActionServer(
            self,
            GripperCommand,
            "gripper_controller/gripper_cmd",
            execute_callback=self._grip,
            goal_callback=self._check_grip,
            cancel_callback=lambda _: CancelResponse.ACCEPT,
            callback_group=self.reentrant,
        )

    def _check_follow(self, goal: FollowJointTrajectory.Goal) -> GoalResponse:
        try:
            check_trajectory(_trajectory(goal), self.simulation.arm.joints)
            tolerances = self._tolerances(goal)
        except DeskhandError as error:
            self.get_logger().error(f"trajectory rejected: {error}")
            return GoalResponse.REJECT
        # Here, before the client is answered, so that goals take effect in the order they came: what rclpy calls later runs in any order.
        self._begun[id(goal)] = self.simulation.follow(_trajectory(goal), tolerances)
        return GoalResponse.ACCEPT

    def _begin_follow(self, handle: ServerGoalHandle) -> None:
        self._followers[bytes(handle.goal_id.uuid)] = self._begun.pop(id(handle.request))
        handle.execute()

    def _cancel_follow(self, handle: ServerGoalHandle) -> CancelResponse:
        follower = self._followers.get(bytes(handle.goal_id.uuid))
        if follower is not None:
            self.simulation.cancel(follower)  # at once: a stop must not wait for a thread of the executor
        return CancelResponse.ACCEPT

    def _follow(self, handle: ServerGoalHandle) -> FollowJointTrajectory.Result:
        follower = self._followers[bytes(handle.goal_id.uuid)]
        while follower.active and self.context.ok():
            if handle.is_cancel_requested:  # a cancel can come before _begin_follow knows the goal
                self.simulation.cancel(follower)
            self._wait(lambda: not follower.active or handle.is_cancel_requested)
            handle.publish_feedback(_feedback(follower, self.simulation.time))
        del self._followers[bytes(handle.goal_id.uuid)]
        if follower.cancelled and handle.is_cancel_requested:
            handle.canceled()
        elif follower.code == 0 and not follower.cancelled:
            handle.succeed()
        else:
            handle.abort()
            self.get_logger().warning(f"trajectory aborted: {follower.message}")
        return FollowJointTrajectory.Result(error_code=follower.code or 0, error_string=follower.message)

    def _tolerances(self, goal: FollowJointTrajectory.Goal) -> Tolerances:
        """The goal's tolerances: 0 stands for the default, -1 for none."""
        default = Tolerances.default(len(self.simulation.arm.joints))
        rows = []
        for given, values in ((goal.path_tolerance, default.path.copy()), (goal.goal_tolerance, default.goal.copy())):
            for tolerance in given:
                if tolerance.name not in self.simulation.arm.joints or not np.isfinite(tolerance.position):
                    raise DeskhandError("invalid_input", f"the tolerance for {tolerance.name!r} ({tolerance.position}) is for no joint or not finite.")
                if tolerance.position:
                    values[self.simulation.arm.joints.index(tolerance.name)] = max(tolerance.position, 0.0)
            rows.append(values)
        return Tolerances(rows[0], rows[1], conversions.time_from_msg(goal.goal_time_tolerance) or default.goal_time)

    def _check_grip(self, goal: GripperCommand.Goal) -> GoalResponse:
        command = goal.command
        if not np.isfinite(command.position) or not np.isfinite(command.max_effort) or command.max_effort < 0:
            self.get_logger().error(f"gripper command rejected: {command.position} m, {command.max_effort} N must be finite, the effort not negative.")
            return GoalResponse.REJECT
        return GoalResponse.ACCEPT

    def _grip(self, handle: ServerGoalHandle) -> GripperCommand.Result:
        goal = handle.request.command
        command = self.simulation.grip(goal.position, goal.max_effort or None)
        while not command.done and self.context.ok():
            if handle.is_cancel_requested:
                self.simulation.cancel_grip(command)
            self._wait(lambda: command.done)
            handle.publish_feedback(GripperCommand.Feedback(position=self.simulation.finger_position(), effort=self.simulation.finger_force()))
        if not command.cancelled:
            handle.succeed()
        elif handle.is_cancel_requested:
            handle.canceled()
        else:
            handle.abort()
        position, force = self.simulation.finger_position(), self.simulation.finger_force()
        return GripperCommand.Result(position=position, effort=force, stalled=command.stalled, reached_goal=command.reached)


class CameraThread:
    """Renders in its own thread, and only while somebody subscribes."""

    def __init__(self, node: SimNode) -> None:
        self._node = node
        self._color = node.create_publisher(Image, "camera/color/image_raw", PICTURES)
        self._depth = node.create_publisher(Image, "camera/aligned_depth_to_color/image_raw", PICTURES)
        self._info = node.create_publisher(CameraInfo, "camera/color/camera_info", PICTURES)
        self._stop = threading.Event()
        self._opened = threading.Event()
        self._error: DeskhandError | None = None
        self._thread = threading.Thread(target=self._run, name="camera", daemon=True)

    def start(self) -> None:
        """Open the renderer. Raises ``missing_dependency`` when the machine cannot render."""
        self._thread.start()
        self._opened.wait()
        if self._error is not None:
            raise self._error

    def close(self) -> None:
        """Stop rendering."""
        self._stop.set()
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
        due = 0.0
        while not self._stop.wait(0.004):
            wanted = self._color.get_subscription_count() + self._depth.get_subscription_count()
            if wanted and self._node.simulation.time >= due:
                due = self._node.simulation.time + 1 / self._node.parameters.camera_rate
                self._publish(renderer.render())

    def _publish(self, frame: Frame) -> None:
        # as RealSense does: 16 bit millimetres, 0 for nothing
        depth = np.nan_to_num(np.round(frame.depth * 1000)).astype(np.uint16)
        frame_id = frame.intrinsics.frame_id
        self._info.publish(conversions.camera_info_to_msg(frame.intrinsics, frame.stamp))
        self._color.publish(conversions.image_to_msg(frame.color, frame.stamp, frame_id))
        self._depth.publish(conversions.image_to_msg(depth, frame.stamp, frame_id))


def _trajectory(goal: FollowJointTrajectory.Goal) -> Trajectory:
    trajectory = conversions.trajectory_from_msg(goal.trajectory)
    if not any(len(point.velocities) for point in goal.trajectory.points):
        # absent velocities mean straight lines, zero ones a halt at every point
        trajectory = replace(trajectory, velocities=np.zeros((0, len(trajectory.joint_names))))
    return trajectory


def _feedback(follower: Follower, now: float) -> FollowJointTrajectory.Feedback:
    def point(values: Array) -> JointTrajectoryPoint:
        return JointTrajectoryPoint(positions=values.tolist(), time_from_start=conversions.duration_to_msg(max(0.0, now - follower.begun)))

    feedback = FollowJointTrajectory.Feedback(joint_names=list(follower.trajectory.joint_names))
    feedback.header = conversions.header(now, "")
    feedback.desired, feedback.actual, feedback.error = point(follower.wished), point(follower.wished - follower.error), point(follower.error)
    return feedback


def _world(arguments: argparse.Namespace, arm: str) -> WorldSpec:
    if arguments.scene is not None:
        from deskhand.sim.worldfile import load_world

        return load_world(arguments.scene, default_arm=arm)
    from deskhand.tasks import load_task

    return load_task(arguments.task, arm).world(arguments.seed)


def parse_arguments(argv: list[str]) -> argparse.Namespace:
    """The node's own arguments, ROS arguments left out."""
    parser = argparse.ArgumentParser(prog="sim_node", description="Serve a simulated robot.")
    world = parser.add_mutually_exclusive_group()
    world.add_argument("--task", default="desk_cleaning", help="task whose world to make (default: %(default)s)")
    world.add_argument("--scene", type=Path, help="scene file (docs/scene-files.md)")
    parser.add_argument("--seed", type=int, default=0, help="of the task's world (default: %(default)s)")
    parser.add_argument("--fault", default="", choices=("", *FAULTS), help="what goes wrong on purpose (sim/faults.py)")
    parser.add_argument("--truth-fd", type=int, help="inherited socket for the scorer")
    return parser.parse_args(argv)


def main() -> int:
    """Run the node."""
    arguments = parse_arguments(remove_ros_args(sys.argv)[1:])
    nodes: list[SimNode] = []

    def make() -> SimNode:
        node = SimNode(arguments)
        node.start()
        nodes.append(node)
        return node

    sys.setswitchinterval(GIL_SWITCH)
    code = run_node(make, threads=6)
    return 1 if nodes and nodes[0].failure is not None else code


if __name__ == "__main__":
    sys.exit(main())
