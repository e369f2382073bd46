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
from deskhand.motion.elbow import Elbow
from deskhand.motion.roboplan_ik import RoboplanIk
from deskhand.motion.roboplan_scene import GROUP, SceneBuilder
from deskhand.motion.roll import ROLL_MET, roll_error
from deskhand.safety.scene import Pairs, PlanningScene
from deskhand.types import CollisionObject, IkSolution

STEP = 0.02  # [rad] between checked states of a path
KEPT_SCENES = 8
NEAR = 0.5  # [rad] from the seed, in every joint: near enough for who asks for one solution
DIFFERENT = 0.1  # [rad] between two solutions that count as different
MISSES = 1  # for each solution that is wanted; 4 come 3 % nearer on average, in twice the time
MISSES_ROLLED = 60  # the same while no solution meets the roll: other postures of a five-joint arm may
ELBOW_ROOM = 0.02  # [m] that an arm with a spare joint rather keeps from obstacles: nearer, the next motion soon ends
MORE_TIME = 0.01  # [s] for each solution after the first


@dataclass
class _Built:
    """A roboplan scene, the planning scene it stands for, and the scratch memory for questions about it."""

    scene: Any
    source: PlanningScene
    context: Any


class EmbeddedBackend:
    """See :class:`deskhand.motion.base.Backend`. One lock around roboplan, which is not safe to share."""

    name = "embedded"

    def __init__(self, model: RobotModel, fixed: tuple[CollisionObject, ...] = ()) -> None:
        """``fixed``: obstacles that are always there and never padded (keep-out zones, the workspace's walls).

        Raises:
            DeskhandError: ``missing_dependency``.
        """
        try:
            from roboplan import core, rrt, simple_ik
        except ImportError as error:
            raise DeskhandError("missing_dependency", f"the embedded planner needs roboplan ({error}).", hint="pip install roboplan") from error
        self._core, self._rrt = core, rrt
        self.model, self.arm = model, model.arm
        self._ik = RoboplanIk(core, rrt, simple_ik, model)
        self._builder = SceneBuilder(core, model, fixed)
        self._lower = np.array([model.limits[name][0] for name in self.arm.joints])
        self._upper = np.array([model.limits[name][1] for name in self.arm.joints])
        self._lock = threading.RLock()
        self._built: OrderedDict[tuple[Any, ...], _Built] = OrderedDict()
        self._random = np.random.default_rng(0)
        self._elbow = Elbow(model)

    def close(self) -> None:
        """See the base. roboplan complains at exit of what is not freed before."""
        with self._lock:
            self._built.clear()
            del self._ik

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
            seed = self._clamp(seed)
            found: list[IkSolution] = []

            def keep(joints: Array | None) -> bool:
                """Whether it is a solution, and a new one."""
                if joints is None or any(np.abs(joints - other.joints).max() <= DIFFERENT for other in found):
                    return False
                free = not built.context.hasCollisions(self._full(built, joints))
                if free or not check_collisions:
                    found.append(self._solution(joints, pose, free))
                return free or not check_collisions

            def rolled() -> bool:
                """Whether a solution meets the roll, as all do of arms with 6 joints."""
                return any(abs(solution.roll_error) < ROLL_MET for solution in found)

            first = self._ik.seeded(pose, seed)
            downhill = keep(first)  # from the seed: seldom is another nearer
            if first is not None and not found:
                any(keep(joints) for joints in self._elbow.postures(pose, first))  # the elbow goes round what the arm would touch
            began, end = time.thread_time(), time.monotonic() + 10 * max_time
            while not found and time.thread_time() - began < max_time and time.monotonic() < end:
                keep(self._ik.restarted(pose, max_time))
            if max_solutions > 1 or not (found and rolled() and (downhill or np.abs(found[0].joints - seed).max() < NEAR)):
                # Others, so that the nearest is near; given up after some tries that bring nothing new.
                misses, wanted = 0, max_solutions if max_solutions > 1 else 2
                while found and (len(found) < wanted or not rolled()) and misses < (MISSES * max_solutions if rolled() else MISSES_ROLLED):
                    misses += not keep(self._ik.once(pose))
            if self._elbow.spare:
                return self._by_elbow(built, found, pose, seed, check_collisions, self._scene(scene, allow, padding + ELBOW_ROOM, others))[:max_solutions]
        found.sort(key=lambda solution: (abs(solution.roll_error) > ROLL_MET, float(np.linalg.norm(solution.joints - seed))))
        return found[:max_solutions]

    def _by_elbow(self, built: _Built, found: list[IkSolution], pose: Array, seed: Array, free_only: bool, roomy: _Built) -> list[IkSolution]:
        """``found``, and where the best of them is near a joint's end or an obstacle, the other postures at ``pose`` too: first what has room to go on, then
        what is near ``seed``. ``roomy``: the scene with more around its obstacles.
        """

        def wants(solution: IkSolution) -> tuple[bool, bool, float]:
            crowded = roomy.context.hasCollisions(self._full(roomy, solution.joints))
            return self._elbow.at_limit(solution.joints), bool(crowded), float(np.linalg.norm(solution.joints - seed))

        ranked = sorted(((wants(solution), number, solution) for number, solution in enumerate(found)), key=lambda item: item[:2])
        if not ranked or not any(ranked[0][0][:2]):
            return [solution for _, _, solution in ranked]
        for joints in self._elbow.postures(pose, ranked[0][2].joints):
            free = not built.context.hasCollisions(self._full(built, self._clamp(joints)))
            if free or not free_only:
                solution = self._solution(joints, pose, free)
                ranked.append((wants(solution), len(ranked), solution))
        return [solution for _, _, solution in sorted(ranked, key=lambda item: item[:2])]

    def first_ik(self, pose: Array, seed: Array, max_time: float = 0.1) -> Array | None:
        """Some joints at ``pose``, whatever they touch, as soon as there are any; :meth:`solve_ik` looks for nearer ones and at contacts."""
        with self._lock:
            found = self._ik.seeded(pose, self._clamp(seed))
            return self._ik.restarted(pose, max_time) if found is None else found

    def refine_ik(self, pose: Array, seed: Array, others: Mapping[str, float]) -> Array | None:
        """See the base."""
        with self._lock:
            return self._ik.refine(pose, self._clamp(seed))

    def _solution(self, joints: Array, pose: Array, free: bool) -> IkSolution:
        reached = self._ik.reached(joints)
        roll = 0.0
        if self.arm.free_roll:
            angle = float(np.arccos(np.clip(pose[:3, 2] @ reached[:3, 2], -1, 1)))
            roll = roll_error(pose, reached)
        else:
            angle = rotation_angle(pose, reached)
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
        """See the base: the straight way, else RRT-Connect and shortcuts."""
        with self._lock:
            built = self._scene(scene, allow, padding, others)
            start, goal = self._clamp(start), self._clamp(goal)
            if upright is None and not self._core.hasCollisionsAlongPath(built.scene, self._full(built, start), self._full(built, goal), STEP):
                return np.array([start, goal])
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

    def _scene(self, scene: PlanningScene, allow: Pairs, padding: float, others: Mapping[str, float]) -> _Built:
        fingers = tuple(sorted((name, round(float(value), 4)) for name, value in others.items()))
        key = (id(scene), allow, padding, fingers)  # what is built keeps the scene alive, so that its id stays its own
        built = self._built.get(key)
        if built is None:
            made = self._builder.build(scene, allow, padding, dict(fingers))
            built = _Built(made, scene, self._core.SceneContext(made))
            self._built[key] = built
            while len(self._built) > KEPT_SCENES:
                self._built.popitem(last=False)
        self._built.move_to_end(key)
        return built
