"""The heart: what skills and tools are written against.

``RosRobot`` (nodes/ros_robot.py) does it by the services and actions of the ROS graph, ``LocalRobot`` (local.py)
by calling the same logic in one process.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol, runtime_checkable

from deskhand.arms.config import ArmConfig
from deskhand.cameras.config import CameraMount
from deskhand.geometry import Array
from deskhand.types import (
    Cancelled,
    ExecutionReport,
    Frame,
    Grasp,
    GripperReport,
    IkSolution,
    JointState,
    MotionGoal,
    NavigationReport,
    Plan,
    PlanOptions,
    Progress,
    SafetyStatus,
    Scene,
    SceneUpdate,
    StateCheck,
)


class Robot(Protocol):
    """A tabletop arm with a parallel gripper and an RGB-D camera.

    Every method blocks until it has an answer and raises :class:`deskhand.errors.DeskhandError` with a code when it has none;
    what moved, and what came of it, is in the reports that ``execute`` and ``gripper`` return.
    """

    arm: ArmConfig

    def now(self) -> float:
        """ROS time [s]."""
        ...

    def sleep(self, seconds: float) -> None:
        """Let ``seconds`` of ROS time pass."""
        ...

    def observe(self, newer_than: float | None = None) -> Frame:
        """A picture exposed after ``newer_than`` [s], default: after this call. Raises ``no_frame``, ``stale_data``."""
        ...

    def joint_state(self) -> JointState:
        """Newest measured joints, arm and gripper. Raises ``stale_data``."""
        ...

    def tcp_pose(self) -> Array:
        """world_T_tcp (4, 4) of the measured joints."""
        ...

    def detect_objects(self, add: bool = False) -> Scene:
        """Look (a new picture) and say what is on the desk. Raises ``no_frame``, ``no_table``.

        With ``add`` the picture is one more view: the scene is what it and the pictures since the last call without ``add`` show together.
        """
        ...

    def camera_mount(self) -> CameraMount | None:
        """The link that carries the camera and link_T_camera; None for a camera that stands still. Raises ``no_frame``."""
        ...

    def generate_grasps(self, scene: Scene, object_id: str, max_grasps: int = 20) -> list[Grasp]:
        """Ranked grasps that are reachable and free of collision. Raises ``unknown_object``, ``no_grasp``."""
        ...

    def solve_ik(self, pose: Array, *, seed: Mapping[str, float] | None = None, max_solutions: int = 1, check_collisions: bool = True) -> list[IkSolution]:
        """Joints that bring ``tcp`` to ``pose`` (world_T_tcp), nearest to the seed (default: measured) first. Raises ``no_ik_solution``."""
        ...

    def plan_motion(self, goal: MotionGoal, options: PlanOptions | None = None) -> Plan:
        """A stored, collision-free, timed plan. Nothing moves. Raises codes 300..313."""
        ...

    def plan_cartesian(self, waypoints: tuple[Array, ...], options: PlanOptions | None = None) -> Plan:
        """A stored plan whose tcp follows straight lines from the start through ``waypoints``. Raises as plan_motion, and ``path_incomplete``."""
        ...

    def check_state(self, joints: Mapping[str, float] | None = None) -> StateCheck:
        """What touches what at ``joints`` (default: measured)."""
        ...

    def update_scene(self, update: SceneUpdate) -> None:
        """Tell the planner what is in the way. Raises ``scene_error``."""
        ...

    def execute(self, plan_id: str, progress: Progress | None = None, cancelled: Cancelled | None = None) -> ExecutionReport:
        """Move along a stored plan, watched. Raises ``unknown_plan``, ``plan_used``, ``plan_expired``, ``safety_stop`` before anything moves."""
        ...

    def gripper(self, width: float, force: float | None = None, cancelled: Cancelled | None = None) -> GripperReport:
        """Bring the pads to ``width`` [m] apart with at most ``force`` [N]; ends when there or stalled."""
        ...

    def stop(self, reason: str) -> None:
        """Stop the arm at once and latch."""
        ...

    def reset_stop(self) -> None:
        """Allow motion again."""
        ...

    def safety_status(self) -> SafetyStatus:
        """Whether the arm may move."""
        ...


@runtime_checkable
class Connected(Protocol):
    """A robot that knows which of its devices are connected."""

    def missing(self) -> Mapping[str, str]:
        """Of ``camera``, ``arm`` and ``gripper`` those that are not there now -> why."""
        ...


class MobileBase(Protocol):
    """A base that drives, under the arm."""

    def ready(self) -> bool:
        """Whether there is one that takes goals now."""
        ...

    def navigate(self, x: float, y: float, yaw: float, progress: Progress | None = None, cancelled: Cancelled | None = None) -> NavigationReport:
        """Drive to a pose in the frame ``map`` [m, rad]; blocks. Raises ``missing_dependency``, ``node_unavailable``, ``busy``, ``timeout``."""
        ...


@runtime_checkable
class OnBase(Protocol):
    """A robot whose arm may stand on a mobile base."""

    @property
    def mobile_base(self) -> MobileBase:
        """The base; ``ready`` says whether it is there."""
        ...
