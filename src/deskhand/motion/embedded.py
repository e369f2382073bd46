"""The embedded backend: roboplan (pinocchio and coal inside), a pip package, no ROS.

Its traps (version 0.7.0) shape this file: scenes are never changed by removing geometry, they are built afresh (a few milliseconds) and
kept until the planning scene changes; pairs of world objects are switched off; obstacles are padded by building them larger.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from deskhand.arms.model import RobotModel
from deskhand.errors import DeskhandError
from deskhand.geometry import Array, rotation_angle
from deskhand.motion.roboplan_scene import GROUP, SceneBuilder
from deskhand.motion.roll import ROLL_MET, Roll, roll_error
from deskhand.motion.scene import Pairs, PlanningScene
from deskhand.types import CollisionObject, IkSolution

STEP = 0.02  # [rad] between checked states of a path
KEPT_SCENES = 8
NEAR = 0.5  # [rad] from the seed, in every joint: near enough for who asks for one solution
DIFFERENT = 0.1  # [rad] between two solutions that count as different
MISSES = 4
MISSES_ROLLED = 30  # the same while no solution meets the roll: other postures of a five-joint arm may
MORE_TIME = 0.01  # [s] for each solution after the first


@dataclass
class _Built:
    """A roboplan scene, the planning scene it stands for, and the solvers on it."""

    scene: Any
    source: PlanningScene
    context: Any
    ik: dict[tuple[bool, float], Any]


class EmbeddedBackend:
    """See :class:`deskhand.motion.base.Backend`. One lock around roboplan, which is not safe to share."""

    name = "embedded"

    def __init__(self, model: RobotModel, fixed: tuple[CollisionObject, ...] = ()) -> None:
        """``fixed``: obstacles that are always there and never padded (keep-out zones, the workspace's walls).

        Raises:
            DeskhandError: ``missing_dependency``.
        """
        try:
            import roboplan.core as core
            import roboplan.rrt as rrt
            import roboplan.simple_ik as simple_ik
        except ImportError as error:
            raise DeskhandError("missing_dependency", f"the embedded planner needs roboplan ({error}).", hint="pip install roboplan") from error
        self._core, self._rrt, self._simple_ik = core, rrt, simple_ik
        self.model, self.arm = model, model.arm
        self._builder = SceneBuilder(core, model, fixed)
        self._roll = Roll(model)
        self._lower = np.array([model.limits[name][0] for name in self.arm.joints])
        self._upper = np.array([model.limits[name][1] for name in self.arm.joints])
        self._lock = threading.RLock()
        self._built: OrderedDict[tuple[Any, ...], _Built] = OrderedDict()
        self._empty = PlanningScene()
        self._random = np.random.default_rng(0)
        if self.arm.free_roll and tuple(self.arm.approach_axis) != (0, 0, 1):
            raise DeskhandError("config_error", f"the approach axis of {self.arm.name} must be the z axis of its tcp, got {self.arm.approach_axis}.")

    def close(self) -> None:
        """See the base. roboplan complains at exit of what is not freed before."""
        with self._lock:
            self._built.clear()

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
        """See the base. Without ``check_collisions`` solutions that collide are among them, marked as such."""
        with self._lock:
            built = self._scene(scene, allow, padding, others)
            began, end = time.thread_time(), time.monotonic() + max_time
            found: list[IkSolution] = []
            start, misses = self._clamp(seed), 0
            # More than asked for, so that the nearest is near; given up after a few tries that bring nothing new.
            rolled = True  # whether a solution, if there is one, meets the roll
            while len(found) < max(max_solutions, 4) and misses < (MISSES if rolled else MISSES_ROLLED) and (not found or time.monotonic() < end):
                joints = self._solve(built, pose, start, check_collisions, MORE_TIME if found else max_time)
                start = self._random.uniform(self._lower, self._upper)
                if joints is None and not found:
                    # The solver restarts by itself until its wall time is over; on a busy machine it may have computed for a part of that only.
                    if time.thread_time() - began > 0.5 * max_time or time.monotonic() > end + 10 * max_time:
                        break
                    continue
                fresh = joints is not None and all(np.abs(joints - other.joints).max() > DIFFERENT for other in found)
                if joints is not None and fresh:
                    found.append(self._solution(built, joints, pose, check_collisions))
                    rolled = any(abs(solution.roll_error) < ROLL_MET for solution in found)
                misses = 0 if fresh else misses + 1
                if max_solutions == 1 and found and abs(found[0].roll_error) < ROLL_MET and np.abs(found[0].joints - seed).max() < NEAR:
                    break  # hardly a nearer one
        found.sort(key=lambda solution: (abs(solution.roll_error) > ROLL_MET, float(np.linalg.norm(solution.joints - seed))))
        return found[:max_solutions]

    def refine_ik(self, pose: Array, seed: Array, others: Mapping[str, float]) -> Array | None:
        """See the base."""
        with self._lock:
            built = self._scene(self._empty, frozenset(), 0.0, others)
            return self._solve_near(built, pose, self._clamp(seed))

    def _solve(self, built: _Built, pose: Array, start: Array, check: bool, max_time: float) -> Array | None:
        if self.arm.free_roll:
            return self._solve_axis(built, pose, start, check, max_time)
        key = (check, round(max_time, 3))
        if key not in built.ik:
            options = self._simple_ik.SimpleIkOptions(
                GROUP,
                max_iters=60,
                max_time=key[1],
                max_restarts=10000,
                step_size=0.5,
                max_linear_error_norm=1e-3,
                max_angular_error_norm=1e-3,
                check_collisions=check,
            )
            solver = self._simple_ik.SimpleIk(built.scene, options)
            solver.setRngSeed(0)
            built.ik[key] = solver
        goal = self._core.CartesianConfiguration(self.model.root, self.arm.tcp, np.asfortranarray(pose))
        out = self._core.JointConfiguration(list(self.arm.joints), start)
        solved = built.ik[key].solveIk(goal, self._core.JointConfiguration(list(self.arm.joints), start), out)
        return self._polished(built, pose, np.array(out.positions), check) if solved else None

    def _polished(self, built: _Built, pose: Array, joints: Array, check: bool) -> Array:
        """From within a millimetre to within a few hundredths, where that stays free."""
        better = self._solve_near(built, pose, joints)
        if better is None or np.abs(better - joints).max() > 0.05 or (check and built.context.hasCollisions(self._full(built, better))):
            return joints
        return better

    def _solve_axis(self, built: _Built, pose: Array, start: Array, check: bool, max_time: float) -> Array | None:
        """Position and approach axis, and the roll about it as far as the last joint can turn."""
        projector = self._axis_projector(built, pose)
        end = time.monotonic() + max_time
        while True:
            full = projector.project(self._full(built, start))
            if full is not None:
                joints = self._rolled(built, self._of(built, full), pose)
                if (joints >= self._lower).all() and (joints <= self._upper).all() and not (check and built.context.hasCollisions(self._full(built, joints))):
                    return joints
            if time.monotonic() > end:
                return None
            start = self._random.uniform(self._lower, self._upper)

    def _rolled(self, built: _Built, joints: Array, pose: Array) -> Array:
        return self._roll.fitted(joints, pose, built.scene.forwardKinematics(self._full(built, joints), self.arm.tcp))

    def _axis_projector(self, built: _Built, pose: Array) -> Any:
        free = np.array([0, 0, 0, 0, 0, np.pi])  # x, y, z, roll, pitch, yaw about the approach axis
        constraint = self._rrt.PoseConstraint(built.scene, GROUP, self.arm.tcp, -free, free, np.asfortranarray(pose), "", 1e-4, 1e-3)
        return self._rrt.ConstraintProjector(built.scene, GROUP, [constraint], self._rrt.ConstraintProjectorOptions(max_iters=60))

    def _solve_near(self, built: _Built, pose: Array, joints: Array) -> Array | None:
        """Newton steps from ``joints`` with the geometric Jacobian; None when they do not arrive within a fraction of a millimetre."""
        full = self._full(built, joints)
        columns = list(built.scene.getJointGroupInfo(GROUP).v_indices)
        for _ in range(20):
            now = built.scene.forwardKinematics(full, self.arm.tcp)
            error = np.concatenate([pose[:3, 3] - now[:3, 3], _rotation_vector(pose[:3, :3] @ now[:3, :3].T)])
            jacobian = built.scene.computeFrameJacobian(full, self.arm.tcp, True)[:, columns]
            jacobian = np.vstack([now[:3, :3] @ jacobian[:3], now[:3, :3] @ jacobian[3:]])
            if self.arm.free_roll:
                axis = pose[:3, :3] @ np.asarray(self.arm.approach_axis, dtype=float)
                now_axis = now[:3, :3] @ np.asarray(self.arm.approach_axis, dtype=float)
                tilt = np.eye(3) - np.outer(axis, axis)
                error[3:] = tilt @ np.cross(now_axis, axis)
                jacobian[3:] = tilt @ jacobian[3:]
            if np.linalg.norm(error[:3]) < 2e-5 and np.linalg.norm(error[3:]) < 2e-4:
                return self._rolled(built, joints, pose) if self.arm.free_roll else joints
            joints = self._clamp(joints + jacobian.T @ np.linalg.solve(jacobian @ jacobian.T + 1e-6 * np.eye(6), error))
            full = self._full(built, joints)
        return None

    def _solution(self, built: _Built, joints: Array, pose: Array, checked: bool) -> IkSolution:
        full = self._full(built, joints)
        reached = built.scene.forwardKinematics(full, self.arm.tcp)
        roll = 0.0
        if self.arm.free_roll:
            angle = float(np.arccos(np.clip(pose[:3, 2] @ reached[:3, 2], -1, 1)))
            roll = roll_error(pose, reached)
        else:
            angle = rotation_angle(pose, reached)
        free = checked or not built.context.hasCollisions(full)
        return IkSolution(joints, float(np.linalg.norm(pose[:3, 3] - reached[:3, 3])), angle, free, roll)

    # ------------------------------------------------------------ paths

    def in_collision(self, scene: PlanningScene, joints: Array, others: Mapping[str, float], allow: Pairs = frozenset(), padding: float = 0.0) -> bool:
        """See the base."""
        with self._lock:
            built = self._scene(scene, allow, padding, others)
            return bool(built.context.hasCollisions(self._full(built, self._clamp(joints))))

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
        """See the base: RRT-Connect, then shortcuts."""
        with self._lock:
            built = self._scene(scene, allow, padding, others)
            start, goal = self._clamp(start), self._clamp(goal)
            options = self._rrt.RRTOptions(
                GROUP, max_nodes=10**6, max_connection_distance=0.5, collision_check_step_size=STEP, max_planning_time=max_time, rrt_connect=True
            )
            planner = self._rrt.RRT(built.scene, options)
            planner.setRngSeed(attempt)
            names = list(self.arm.joints)
            constraints = [] if upright is None else [self._upright(built, start, upright)]
            try:
                path = planner.plan(self._core.JointConfiguration(names, start), self._core.JointConfiguration(names, goal), constraints)
            except RuntimeError:
                return None
            if constraints:
                return self._shorten(built, np.array(path.positions), constraints)
            shortcut = self._core.PathShortcuttingOptions(GROUP, max_step_size=STEP, max_iters=100, seed=attempt)
            return np.array(self._core.PathShortcutter(built.scene, shortcut).shortcut(path).positions)

    def _upright(self, built: _Built, start: Array, tolerance: float) -> Any:
        bound = np.array([10.0, 10.0, 10.0, tolerance, tolerance, np.pi])
        region = np.eye(4)
        region[:3, :3] = built.scene.forwardKinematics(self._full(built, start), self.arm.tcp)[:3, :3]
        return self._rrt.PoseConstraint(built.scene, GROUP, self.arm.tcp, -bound, bound, np.asfortranarray(region), "", 1e-3, 5e-3)

    def _shorten(self, built: _Built, path: Array, constraints: list[Any]) -> Array:
        """Shortcuts between way-points that keep the constraints, which roboplan's own do not know."""
        projector = self._rrt.ConstraintProjector(built.scene, GROUP, constraints)
        points = list(path)
        for _ in range(60):
            if len(points) < 3:
                break
            i, j = sorted(self._random.choice(len(points), 2, replace=False))
            if j - i < 2:
                continue
            a, b = self._full(built, points[i]), self._full(built, points[j])
            if projector.satisfiesAlongPath(a, b, STEP) and not self._core.hasCollisionsAlongPath(built.scene, a, b, STEP):
                del points[i + 1 : j]
        return np.array(points)

    # ------------------------------------------------------------ scenes

    def _clamp(self, joints: Array) -> Array:
        return np.ascontiguousarray(np.clip(joints, self._lower + 1e-6, self._upper - 1e-6), dtype=float)

    def _full(self, built: _Built, joints: Array) -> Array:
        return np.asarray(built.scene.toFullJointPositions(GROUP, np.ascontiguousarray(joints)))

    def _of(self, built: _Built, full: Array) -> Array:
        return np.asarray(full)[list(built.scene.getJointGroupInfo(GROUP).q_indices)]

    def _scene(self, scene: PlanningScene, allow: Pairs, padding: float, others: Mapping[str, float]) -> _Built:
        fingers = tuple(sorted((name, round(float(value), 4)) for name, value in others.items()))
        key = (id(scene), allow, padding, fingers)  # what is built keeps the scene alive, so that its id stays its own
        built = self._built.get(key)
        if built is None:
            made = self._builder.build(scene, allow, padding, dict(fingers))
            built = _Built(made, scene, self._core.SceneContext(made), {})
            self._built[key] = built
            while len(self._built) > KEPT_SCENES:
                self._built.popitem(last=False)
        self._built.move_to_end(key)
        return built


def _rotation_vector(rotation: Array) -> Array:
    """Axis times angle (3,) of a rotation (3, 3)."""
    vector = np.array([rotation[2, 1] - rotation[1, 2], rotation[0, 2] - rotation[2, 0], rotation[1, 0] - rotation[0, 1]]) / 2
    sine, cosine = float(np.linalg.norm(vector)), float((np.trace(rotation) - 1) / 2)
    return vector if sine < 1e-9 else vector / sine * float(np.arctan2(sine, cosine))
