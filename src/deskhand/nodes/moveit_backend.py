"""The MoveIt backend: moveit_py (ROS 2 Jazzy) behind :class:`deskhand.motion.base.Backend`.

MoveIt only answers here: IK, state checks, paths. It neither watches the joints nor executes; timing, envelope and execution are deskhand's own.
Its scene is built afresh for every change of ours, which avoids what moveit_py does not do: an attached object is not removed again (moveit_py
cannot say so, moveit2#1069). How moveit_py 2.12 behaves shapes the rest; each such place has a comment.

Use :func:`deskhand.motion.process.ProcessBackend` around it in a node: ``plan()`` holds Python's global lock, and MoveIt may crash at its end.
"""

from __future__ import annotations

import copy
import logging
import tempfile
import threading
import time
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from deskhand.arms.config import ArmConfig
from deskhand.arms.model import RobotModel
from deskhand.errors import DeskhandError
from deskhand.geometry import Array, rotation_angle
from deskhand.motion.moveit_config import moveit_parameters
from deskhand.motion.numerical_ik import NumericalIk
from deskhand.motion.roll import ROLL_MET, roll_error
from deskhand.safety.scene import Pairs, PlanningScene, table_object
from deskhand.types import CollisionObject, IkSolution

log = logging.getLogger(__name__)

KEPT_SCENES = 8
DIFFERENT = 0.1  # [rad] between two solutions that count as different
NEAR = 0.5  # [rad] from the seed, in every joint: near enough for who asks for one solution
MISSES, MISSES_ROLLED = 8, 60  # tries that bring nothing new; more while there is no solution, or none that meets the roll
SLICE = 0.01  # [s] of one call of MoveIt's IK
STARTS = 32  # of our own where it found nothing
INSIDE = 1e-6  # [rad] that states stay within their limits: MoveIt refuses a start that is outside by rounding


@dataclass
class _Built:
    """MoveIt's scene, the planning scene it stands for, and a state with the fingers and what is held."""

    scene: Any
    source: PlanningScene
    state: Any


class MoveItBackend:
    """See :class:`deskhand.motion.base.Backend`. One lock around MoveIt."""

    name = "moveit"

    def __init__(self, model: RobotModel, fixed: tuple[CollisionObject, ...] = (), node_name: str = "deskhand_moveit") -> None:
        """``fixed``: obstacles that are always there and never padded. Takes some seconds; starts rclcpp and a thread that spins it.

        Raises:
            DeskhandError: ``missing_dependency`` without moveit_py, ``config_error`` when MoveIt refuses its configuration.
        """
        try:
            import moveit.core
            import moveit.core.planning_scene
            import moveit.planning

            from deskhand.nodes import moveit_messages
        except ImportError as error:
            hint = "apt install ros-jazzy-moveit-py. For ROS 2 Humble there is none: planner:=embedded."
            raise DeskhandError("missing_dependency", f"the planner moveit needs moveit_py ({error}).", hint=hint) from error
        self._core, self._planning, self._messages = moveit.core, moveit.planning, moveit_messages
        self._scenes = moveit.core.planning_scene
        self.model, self.arm, self._fixed = model, model.arm, fixed
        self._newton = NumericalIk(model)
        self._lower, self._upper = (np.array([model.limits[name][i] for name in self.arm.joints]) for i in (0, 1))
        self._random = np.random.default_rng(0)
        self._lock = threading.RLock()
        self._built: OrderedDict[tuple[Any, ...], _Built] = OrderedDict()
        self._moveit = self._start(node_name)
        self._robot = self._moveit.get_robot_model()
        if not self._robot.has_joint_model_group(self.arm.group):
            raise DeskhandError("config_error", f"the SRDF of {self.arm.name} has no group {self.arm.group!r}.")

    def _start(self, node_name: str) -> Any:
        with tempfile.TemporaryDirectory() as folder:
            # MoveItPy writes its parameters to a temporary file and leaves it there.
            before, tempfile.tempdir = tempfile.tempdir, folder
            try:
                return self._planning.MoveItPy(node_name=node_name, config_dict=moveit_parameters(self.model), provide_planning_service=False)
            except RuntimeError as error:
                raise DeskhandError("config_error", f"MoveIt does not start for {self.arm.name}: {error}.") from error
            finally:
                tempfile.tempdir = before

    def close(self) -> None:
        """See the base. Scenes go before MoveIt itself; the process should end without tearing MoveIt down (moveit2#3721: it may crash)."""
        with self._lock:
            self._built.clear()
            self._moveit.shutdown()

    # ------------------------------------------------------------ inverse kinematics

    def solve_ik(
        self,
        scene: PlanningScene,
        pose: Array,
        seed: Array,
        others: Mapping[str, float],
        *,
        max_solutions: int = 1,
        check_collisions: bool = True,
        allow: Pairs = frozenset(),
        padding: float = 0.0,
        max_time: float = 0.1,
    ) -> list[IkSolution]:
        """See the base."""
        with self._lock:
            built = self._scene(scene, allow, padding, others)
            end, start, misses = time.monotonic() + max_time, self._clamp(seed), 0
            found: list[IkSolution] = []
            while True:
                rolled = any(abs(solution.roll_error) < ROLL_MET for solution in found)
                if len(found) >= max(max_solutions, 4) and rolled:
                    break
                if misses >= (MISSES if rolled else MISSES_ROLLED) and (found or time.monotonic() > end):
                    break
                joints = self._solve(built, pose, start)
                start = self._random.uniform(self._lower, self._upper)
                fresh = joints is not None and all(np.abs(joints - other.joints).max() > DIFFERENT for other in found)
                if joints is not None and fresh:
                    free = not self._colliding(built, joints)
                    fresh = free or not check_collisions
                    if fresh:
                        found.append(self._solution(joints, pose, free))
                misses = 0 if fresh else misses + 1
                if max_solutions == 1 and fresh and abs(found[0].roll_error) < ROLL_MET and np.abs(found[0].joints - seed).max() < NEAR:
                    break  # hardly a nearer one
        found.sort(key=lambda solution: (abs(solution.roll_error) > ROLL_MET, float(np.linalg.norm(solution.joints - seed))))
        return found[:max_solutions]

    def refine_ik(self, pose: Array, seed: Array, others: Mapping[str, float]) -> Array | None:
        """See the base. Our own steps: moveit_py has no Cartesian interpolation, and its IK would restart at random when the seed does not lead there."""
        return self._newton.refine(pose, self._clamp(seed))

    def _solve(self, built: _Built, pose: Array, start: Array) -> Array | None:
        state = self._state(built, start)
        # KDL restarts at random until the time is over; for five joints it is told to meet the position only (kinematics.yaml).
        if not state.set_from_ik(self.arm.group, self._messages.pose_to_msg(pose), self.arm.tcp, SLICE):
            # Beside singularities and limits KDL arrives seldom; a batch of our own steps nearly always does.
            found = self._newton.solve(pose, self._random.uniform(self._lower, self._upper, (STARTS, len(self._lower))))
            return found[0] if len(found) else None
        return self._newton.refine(pose, self._joints(state))

    def _solution(self, joints: Array, pose: Array, free: bool) -> IkSolution:
        reached = self._newton.pose(joints)
        away = float(np.linalg.norm(pose[:3, 3] - reached[:3, 3]))
        if not self.arm.free_roll:
            return IkSolution(joints, away, rotation_angle(pose, reached), free)
        angle = float(np.arccos(np.clip(pose[:3, 2] @ reached[:3, 2], -1, 1)))
        return IkSolution(joints, away, angle, free, roll_error(pose, reached))

    # ------------------------------------------------------------ states and paths

    def in_collision(self, scene: PlanningScene, joints: Array, others: Mapping[str, float], allow: Pairs = frozenset(), padding: float = 0.0) -> bool:
        """See the base."""
        with self._lock:
            return self._colliding(self._scene(scene, allow, padding, others), joints)

    def plan_path(
        self,
        scene: PlanningScene,
        start: Array,
        goal: Array,
        others: Mapping[str, float],
        *,
        allow: Pairs = frozenset(),
        padding: float = 0.0,
        max_time: float = 1.0,
        upright: float | None = None,
        attempt: int = 0,
    ) -> Array | None:
        """See the base. OMPL's random numbers go on from call to call, so that every ``attempt`` differs by itself."""
        with self._lock:
            built = self._scene(scene, allow, padding, others)
            # A component keeps the goal before when it refuses a new one, and keeps its path constraints: a fresh one for every plan.
            component = self._moveit.get_planning_component(self.arm.group)
            # The start must carry what is held: planning takes the scene's state from it. Without a start MoveIt would take the joints that it
            # has heard of, all zero when it has heard nothing.
            begin = self._state(built, start)
            if not component.set_start_state(robot_state=begin) or not component.set_goal_state(robot_state=self._state(built, goal)):
                raise DeskhandError("planning_failed", "MoveIt refused the start or the goal of a plan.")
            if upright is not None:
                component.set_path_constraints(self._messages.upright_to_msg(self._newton.pose(start), self.arm.tcp, self.model.root, upright))
            result = component.plan(single_plan_parameters=self._parameters(max_time), planning_scene=built.scene)
            # A failed plan may carry a trajectory all the same: only the result's truth counts.
            return self._path(result) if bool(result) else None

    def _parameters(self, max_time: float) -> Any:
        # MoveIt appends "plan_request_params" to the namespace itself: with that name given, too, it found nothing and warned of every field.
        parameters = self._planning.PlanRequestParameters(self._moveit, "")
        parameters.planning_pipeline, parameters.planner_id = "ompl", "RRTConnect"
        parameters.planning_attempts, parameters.planning_time = 1, float(max_time)
        parameters.max_velocity_scaling_factor = parameters.max_acceleration_scaling_factor = 1.0
        return parameters

    def _path(self, result: Any) -> Array:
        trajectory = result.trajectory.get_robot_trajectory_msg().joint_trajectory
        order = [list(trajectory.joint_names).index(name) for name in self.arm.joints]
        return np.array([[point.positions[i] for i in order] for point in trajectory.points], dtype=float)

    # ------------------------------------------------------------ scenes

    def _clamp(self, joints: Array) -> Array:
        return np.asarray(np.clip(joints, self._lower + INSIDE, self._upper - INSIDE), dtype=float)

    def _state(self, built: _Built, joints: Array) -> Any:
        """A state of MoveIt's, with fingers and what is held. By names, not by array: with numpy 2, bindings built by an old pybind11 crash on arrays."""
        state = copy.deepcopy(built.state)
        state.joint_positions = dict(zip(self.arm.joints, map(float, self._clamp(joints)), strict=True))
        state.update()
        return state

    def _joints(self, state: Any) -> Array:
        positions = state.joint_positions
        return np.array([positions[name] for name in self.arm.joints])

    def _colliding(self, built: _Built, joints: Array) -> bool:
        return bool(built.scene.is_state_colliding(robot_state=self._state(built, joints), joint_model_group_name=""))

    def _scene(self, scene: PlanningScene, allow: Pairs, padding: float, others: Mapping[str, float]) -> _Built:
        fingers = tuple(sorted((name, round(float(value), 4)) for name, value in others.items()))
        key = (id(scene), allow, padding, fingers)  # what is built keeps the scene alive, so that its id stays its own
        if key not in self._built:
            self._built[key] = self._build(scene, allow, padding, dict(fingers))
            while len(self._built) > KEPT_SCENES:
                self._built.popitem(last=False)
        self._built.move_to_end(key)
        return self._built[key]

    def _build(self, scene: PlanningScene, allow: Pairs, padding: float, others: Mapping[str, float]) -> _Built:
        # The world must be given: the default is one object that all scenes would share.
        made = self._scenes.PlanningScene(self._robot, self._core.World())
        matrix = made.allowed_collision_matrix
        for item in (table_object(), *self._fixed):
            made.apply_collision_object(self._messages.object_to_msg(item, self.model.root))
            matrix.set_entry(self.arm.base_link, item.id, True)
        for item in scene.obstacles.values():
            made.apply_collision_object(self._messages.object_to_msg(item, self.model.root, padding))
        for first, second in scene.allow | allow:
            matrix.set_entry(first, second, True)
        state = copy.deepcopy(made.current_state)
        state.joint_positions = {**dict.fromkeys(self.arm.joints, 0.0), **{name: float(value) for name, value in others.items()}}
        state.update()
        made.current_state = state
        if scene.held is not None:
            made.process_attached_collision_object(
                self._messages.attached_to_msg(scene.held, self.arm.tcp, (*self.arm.gripper.links, self.arm.tcp)),
            )
        return _Built(made, scene, copy.deepcopy(made.current_state))


def make_moveit(arm: ArmConfig, fixed: tuple[CollisionObject, ...] = ()) -> MoveItBackend:
    """For :class:`deskhand.motion.process.ProcessBackend`."""
    return MoveItBackend(RobotModel.load(arm), fixed)
