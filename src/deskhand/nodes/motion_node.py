"""Node ``motion``: solve_ik, plan_motion, plan_cartesian, check_state, update_scene, and the action execute_plan.

``motion/pause`` lets no new motion begin until it is lifted (published, latched, as ``motion/paused``); ``motion/planned`` shows the newest plan, and an
empty trajectory when the motion along it has ended.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from rclpy.action import ActionServer, CancelResponse, GoalResponse
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from std_msgs.msg import Bool, String
from std_srvs.srv import SetBool
from trajectory_msgs.msg import JointTrajectory

from deskhand.arms.config import ArmConfig, load_arm
from deskhand.arms.model import RobotModel
from deskhand.errors import ERROR_NUMBERS, OK, DeskhandError
from deskhand.motion.base import PLANNERS, Backend
from deskhand.motion.executor import Executor, Tolerances
from deskhand.motion.moveit_config import moveit_is_there
from deskhand.motion.process import ProcessBackend
from deskhand.motion.service import MotionService
from deskhand.nodes import conversions
from deskhand.nodes.diagnostics import CallCounter, Health
from deskhand.nodes.frames import Frames
from deskhand.nodes.node import HEARTBEATS, DeskhandNode, RosClock, run_node
from deskhand.nodes.parameters import declare_parameters, setting
from deskhand.nodes.ros_arm import RosArm
from deskhand.safety.settings import SafetySettings, load_safety
from deskhand.safety.watchdog import Watchdog
from deskhand.types import ExecutionReport, Plan, SafetyStatus
from deskhand_interfaces.action import ExecutePlan
from deskhand_interfaces.msg import SafetyStatus as SafetyStatusMsg
from deskhand_interfaces.srv import CheckState, PlanCartesian, PlanMotion, SolveIK, UpdateScene

FEEDBACK_PERIOD = 0.05  # [s] wall time
FIRST_STATUS = 3.0  # [s] wall time that the safety node may take to be found after a start
PAUSE_LIMIT = 90.0  # [s] wall time that a motion waits for a pause to end, before whoever asked for it gives up
LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL, reliability=ReliabilityPolicy.RELIABLE)


@dataclass
class Parameters:
    """Of the motion node.

    Attributes:
        arm: name in config/arms or file.
        planner: embedded, moveit, or auto (moveit where it is installed).
        settings: file of the envelope; empty: config/safety.yaml.
    """

    arm: str = "wx250s"
    planner: str = setting("embedded", valid=PLANNERS)
    settings: str = ""


class MotionNode(DeskhandNode):
    """See the module. Planning runs in the callers' threads; execution, its cancel and the safety status in threads of their own."""

    def __init__(self) -> None:
        super().__init__("motion")
        parameters = declare_parameters(self, Parameters)
        arm, settings = load_arm(parameters.arm), load_safety(parameters.settings or None)
        clock, driver = RosClock(self), RosArm(self, arm)
        backend = _backend(parameters.planner, arm, settings)
        self._service = MotionService(arm, driver.joint_state, clock, backend, settings)
        self.get_logger().info(f"planner: {self._service.backend.name}")
        self._executor = Executor(driver, clock, RobotModel.load(arm), self._safety, Tolerances(stale_wall=0.3))
        self._limit = settings.watchdog.status_timeout
        self._heard: tuple[SafetyStatus, float] | None = None
        self._met = threading.Event()
        self._moving = threading.Lock()
        self._running = threading.Event()  # not paused
        self._running.set()
        self._watchdog = Watchdog(["safety"], settings.watchdog.timeout, self._on_death, hang_timeout=settings.watchdog.hang_timeout)
        self._frames = Frames(self)
        self._calls = CallCounter()
        self._subscribe()
        self._serve()
        self._watchdog.start()

    def close(self) -> None:
        """See base."""
        self._watchdog.close()
        self._service.close()

    def health(self) -> Health:
        """See base."""
        status, heard = self._safety(), self._heard
        values = {
            "planner": self._service.backend.name,
            "safety status heard before [s]": time.monotonic() - heard[1] if heard else "never",
            "paused": not self._running.is_set(),
            "moving": self._moving.locked(),
            "tracking error [rad]": float(self._executor.tracking_error),
            **self._calls.values(),
        }
        return Health("warning" if status.stopped else "ok", f"stopped: {status.reason}" if status.stopped else "", values)

    def _subscribe(self) -> None:
        newest = QoSProfile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT)
        self.create_subscription(SafetyStatusMsg, "safety/status", self._on_status, newest, callback_group=self.reentrant)
        self.create_subscription(String, "heartbeat", lambda message: self._watchdog.beat(message.data), HEARTBEATS, callback_group=self.reentrant)

    def _serve(self) -> None:
        self._planned = self.create_publisher(JointTrajectory, "motion/planned", LATCHED)
        self._paused = self.create_publisher(Bool, "motion/paused", LATCHED)
        self._paused.publish(Bool(data=False))
        self.create_service(SetBool, "motion/pause", self._pause, callback_group=self.reentrant)
        handlers: dict[str, tuple[Any, Callable[[Any, Any], None]]] = {
            "motion/solve_ik": (SolveIK, self._solve_ik),
            "motion/plan_motion": (PlanMotion, self._plan_motion),
            "motion/plan_cartesian": (PlanCartesian, self._plan_cartesian),
            "motion/check_state": (CheckState, self._check_state),
            "motion/update_scene": (UpdateScene, self._update_scene),
        }
        for name, (kind, handler) in handlers.items():
            self.create_service(kind, name, self._answering(name, handler), callback_group=self.reentrant)
        self._action = ActionServer(
            self,
            ExecutePlan,
            "motion/execute_plan",
            self._execute,
            goal_callback=self._on_goal,
            cancel_callback=lambda _: CancelResponse.ACCEPT,
            callback_group=self.reentrant,
        )

    def _answering(self, name: str, handler: Callable[[Any, Any], None]) -> Callable[[Any, Any], Any]:
        """``handler`` with every error turned into a code and a message: a caller always gets an answer."""

        def answer(request: Any, response: Any) -> Any:
            try:
                handler(request, response)
            except Exception as error:
                response.error_code, response.error_message = self._failure(name, error)
            self._calls.answered(response.error_message)
            return response

        return answer

    def _failure(self, name: str, error: Exception) -> tuple[int, str]:
        if isinstance(error, DeskhandError):
            self.get_logger().info(f"{name}: {error.code}: {error}")
            return error.number, str(error)
        self.get_logger().error(f"{name}: {type(error).__name__}: {error}")
        return ERROR_NUMBERS["internal_error"], f"{name}: {type(error).__name__}: {error}"

    # ------------------------------------------------------------ services

    def _solve_ik(self, request: SolveIK.Request, response: SolveIK.Response) -> None:
        solutions = self._service.solve_ik(
            conversions.pose_stamped_from_msg(request.pose, self._frames),
            seed=conversions.joints_from_msg(request.seed),
            max_solutions=int(request.max_solutions) or 1,
            check_collisions=bool(request.check_collisions),
            allow=conversions.pairs_from_msg(request.allow),
        )
        response.solutions = [conversions.ik_solution_to_msg(solution) for solution in solutions]

    def _plan_motion(self, request: PlanMotion.Request, response: PlanMotion.Response) -> None:
        self._require_running()
        plan = self._service.plan_motion(conversions.motion_goal_from_msg(request, self._frames), conversions.plan_options_from_msg(request.options))
        self._answer(plan, response)

    def _plan_cartesian(self, request: PlanCartesian.Request, response: PlanCartesian.Response) -> None:
        self._require_running()
        poses = [conversions.pose_stamped_from_msg(pose, self._frames) for pose in request.waypoints]
        self._answer(self._service.plan_cartesian(poses, conversions.plan_options_from_msg(request.options)), response)

    def _answer(self, plan: Plan, response: Any) -> None:
        conversions.plan_to_msg(plan, response)
        self._planned.publish(response.trajectory)

    def _check_state(self, request: CheckState.Request, response: CheckState.Response) -> None:
        conversions.state_check_to_msg(
            self._service.check_state(conversions.joints_from_msg(request.joints), conversions.pairs_from_msg(request.allow)), response
        )

    def _update_scene(self, request: UpdateScene.Request, _: UpdateScene.Response) -> None:
        self._service.update_scene(conversions.scene_update_from_msg(request, self._frames))

    # ------------------------------------------------------------ safety

    def _on_death(self, name: str, why: str) -> None:
        self.get_logger().error(f"{name} is dead: {why}")

    def _on_status(self, message: SafetyStatusMsg) -> None:
        self._heard = (conversions.safety_status_from_msg(message), time.monotonic())
        self._met.set()

    def _safety(self) -> SafetyStatus:
        """The safety node's word; its silence is a stop."""
        dead = self._watchdog.dead().get("safety")
        heard = self._heard
        if dead:
            return SafetyStatus(True, "watchdog", f"node safety is dead: {dead}", self.seconds())
        if heard is None:
            return SafetyStatus(True, "watchdog", "the safety node has not been heard; is it running?", self.seconds())
        age = time.monotonic() - heard[1]
        if age > self._limit:
            return SafetyStatus(True, "watchdog", f"node safety has been silent for {age:.1f} s", self.seconds())
        return heard[0]

    def _require_running(self) -> None:
        self._met.wait(FIRST_STATUS)  # nodes find each other in any order
        status = self._safety()
        if status.stopped:
            raise DeskhandError(status.code or "safety_stop", f"the robot is stopped: {status.reason}.", hint="Remove the cause, then call safety/reset.")

    # ------------------------------------------------------------ execution

    def _on_goal(self, goal: ExecutePlan.Goal) -> GoalResponse:
        if not self._moving.acquire(blocking=False):
            self.get_logger().info(f"refused {goal.plan_id!r}: the arm is moving")
            return GoalResponse.REJECT
        return GoalResponse.ACCEPT

    def _execute(self, handle: Any) -> ExecutePlan.Result:
        result = ExecutePlan.Result()
        try:
            report = self._run(handle)
            result.error_code = ERROR_NUMBERS[report.code] if report.code else OK
            result.error_message, result.progress, result.duration = report.message, float(report.progress), float(report.duration)
            result.max_tracking_error, result.final_error = float(report.max_tracking_error), float(report.final_error)
            if report.tcp is not None:
                result.tcp = conversions.pose_stamped_to_msg(report.tcp, self.seconds())
            self.get_logger().info(f"{handle.request.plan_id}: {report.code or 'done'} in {report.duration:.2f} s: {report.message}")
        except Exception as error:
            result.error_code, result.error_message = self._failure(f"execute_plan {handle.request.plan_id}", error)
        finally:
            self._moving.release()
            self._planned.publish(JointTrajectory())
        if not result.error_code:
            handle.succeed()
        elif result.error_code == ERROR_NUMBERS["cancelled"] and handle.is_cancel_requested:
            handle.canceled()
        else:
            handle.abort()
        return result

    def _pause(self, request: SetBool.Request, response: SetBool.Response) -> SetBool.Response:
        """The motion under way goes on to its end."""
        if request.data:
            self._running.clear()
        else:
            self._running.set()
        self._paused.publish(Bool(data=bool(request.data)))
        response.success, response.message = True, "paused: no new motion begins" if request.data else "running"
        self.get_logger().info(response.message)
        return response

    def _hold(self, handle: Any) -> None:
        """Wait while the robot is paused.

        Raises:
            DeskhandError: ``paused`` when that takes too long, ``safety_stop`` when it is stopped meanwhile.
        """
        end = time.monotonic() + PAUSE_LIMIT
        while not self._running.wait(0.05) and not handle.is_cancel_requested:
            self._require_running()
            if time.monotonic() > end:
                raise DeskhandError("paused", f"the operator has paused the robot for more than {PAUSE_LIMIT:g} s.", retry=True, hint="Wait for the operator.")

    def _run(self, handle: Any) -> ExecutionReport:
        self._require_running()
        self._hold(handle)
        plan = self._service.take(handle.request.plan_id)
        last = [0.0]

        def progress(fraction: float, _: str) -> None:
            if time.monotonic() - last[0] >= FEEDBACK_PERIOD:
                last[0] = time.monotonic()
                handle.publish_feedback(ExecutePlan.Feedback(progress=float(fraction), tracking_error=float(self._executor.tracking_error)))

        return self._executor.execute(plan, progress, lambda: bool(handle.is_cancel_requested))


def _backend(planner: str, arm: ArmConfig, settings: SafetySettings) -> Backend | None:
    """The planner asked for; None is the service's own default, the embedded one."""
    if planner == "embedded" or (planner == "auto" and not moveit_is_there()):
        return None
    return ProcessBackend("moveit", "deskhand.nodes.moveit_backend:make_moveit", arm, (*settings.walls(), *settings.keep_out))


def main() -> int:
    """Entry point."""
    return run_node(MotionNode, threads=8)


if __name__ == "__main__":
    sys.exit(main())
