"""Seeded planning tasks: an arm among obstacles, where it starts, and where its tcp is to go."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from deskhand.arms.base import Clock
from deskhand.arms.config import ArmConfig
from deskhand.arms.model import RobotModel
from deskhand.geometry import Array, make_transform, rotation_about, rotation_rpy
from deskhand.motion.obstacles import obstacle_from_object
from deskhand.motion.service import MotionService
from deskhand.safety.kinematics import link_poses
from deskhand.safety.scene import PlanningScene
from deskhand.types import CollisionObject, JointState, SceneObject, SceneUpdate, Shape

PADDING = 0.0035  # [m] that start and goal are clear of obstacles at least: a little more than any contender pads by
PER_SCENE = 10
TRIES = 400


@dataclass(frozen=True)
class Task:
    """``held``: its pose is world_T_object with the arm at ``start`` (n,); ``pose`` is the goal, world_T_tcp."""

    situation: str
    obstacles: tuple[CollisionObject, ...]
    held: CollisionObject | None
    start: Array
    pose: Array


class StillArm(Clock):
    """An arm that stands where it is put, and a clock that does not run."""

    def __init__(self, arm: ArmConfig) -> None:
        self.arm = arm
        self.joints = np.array(arm.named_poses["home"], dtype=float)
        self.finger = arm.gripper.position_of(arm.gripper.width_max)

    def joint_state(self) -> JointState:
        """Arm and driven finger."""
        count = len(self.joints) + 1
        return JointState((*self.arm.joints, self.arm.gripper.joint), np.append(self.joints, self.finger), np.zeros(count), np.zeros(0), 0.0)

    def now(self) -> float:
        """[s]"""
        return 0.0

    def sleep(self, seconds: float) -> None:
        """Nothing passes."""


def put(service: MotionService, still: StillArm, task: Task) -> None:
    """Make ``service`` see the task's scene with the arm at its start."""
    still.joints = task.start
    if service.scene.held is not None:  # what is let go stays as an obstacle until it is replaced
        service.update_scene(SceneUpdate(detach=True))
    held = (task.held,) if task.held else ()
    service.update_scene(SceneUpdate(replace=(*task.obstacles, *held), attach=task.held.id if task.held else ""))


class TaskMaker:
    """Makes tasks of one arm. Starts and goals are free of contact; whether a path exists is for the planners to find."""

    def __init__(self, arm: ArmConfig) -> None:
        self.arm, self.model = arm, RobotModel.load(arm)
        self.still = StillArm(arm)
        self.service = MotionService(arm, self.still.joint_state, self.still)
        self.near, self.far = arm.work_radius
        self.base = arm.world_T_base[:3, 3]

    def close(self) -> None:
        """Free the service."""
        self.service.close()

    def make(self, situation: str, count: int, seed: int) -> list[Task]:
        """``count`` tasks of :data:`SITUATIONS`; the scene changes every ten."""
        rng = np.random.default_rng([seed, list(SITUATIONS).index(situation)])
        tasks: list[Task] = []
        while len(tasks) < count:
            scene = SITUATIONS[situation](self, rng)
            tasks += [task for _, task in zip(range(min(PER_SCENE, count - len(tasks))), self._of(situation, scene, rng), strict=False)]
        return tasks

    def _of(self, situation: str, scene: Setting, rng: np.random.Generator) -> Iterator[Task]:
        planning = PlanningScene({item.id: item for item in scene.obstacles}, scene.held)
        for _ in range(TRIES):
            pose = scene.goal(rng)
            start, goal = self._joints(planning, self.somewhere(rng)), self._joints(planning, pose)
            if start is None or goal is None:
                continue
            held = scene.held and replace(scene.held, pose=self.model.tcp_pose(self.model.arm_joints(start)) @ scene.held.pose)
            yield Task(situation, scene.obstacles, held, start, pose)

    def _joints(self, scene: PlanningScene, pose: Array) -> Array | None:
        """Joints at ``pose`` that touch nothing, themselves included."""
        others = {self.arm.gripper.joint: self.still.finger}
        found = self.service.backend.solve_ik(scene, pose, np.array(self.arm.named_poses["home"]), others, padding=PADDING, max_time=0.03)
        if not found:
            return None
        poses = link_poses(self.model, self.arm.joints, found[0].joints[None], others)
        near = self.service.envelope.checker.near(poses, scene, extra=self.service.settings.keep_out, cutoff=1e-3)
        return None if near else found[0].joints

    # ------------------------------------------------------------ places

    def at(self, azimuth: float, radius: float, z: float) -> Array:
        """Point (3,) as seen from the arm's base: straight ahead is 0."""
        return np.array([self.base[0] + radius * np.cos(azimuth), self.base[1] + radius * np.sin(azimuth), z])

    def reaching(self, point: Array, lean: float, roll: float) -> Array:
        """World_T_tcp at ``point``: looking down, leaning outwards by ``lean`` [rad] in the plane that every arm can lean in, turned by ``roll``."""
        azimuth = float(np.arctan2(point[1] - self.base[1], point[0] - self.base[0]))
        turn = rotation_about((0, 0, 1), azimuth) @ rotation_rpy(0, np.pi - lean, 0) @ rotation_about((0, 0, 1), roll)
        return make_transform(turn, point)

    def somewhere(self, rng: np.random.Generator) -> Array:
        """A pose over the desk."""
        point = self.at(rng.uniform(-1.2, 1.2), rng.uniform(self.near, self.far), rng.uniform(0.06, 0.2))
        return self.reaching(point, rng.uniform(0.0, 0.5), rng.uniform(-1.5, 1.5))


@dataclass(frozen=True)
class Setting:
    """Obstacles, what is held (pose: tcp_T_object), and where goals come from."""

    obstacles: tuple[CollisionObject, ...]
    held: CollisionObject | None
    goal: Callable[[np.random.Generator], Array]


def _box(name: str, point: Array, size: tuple[float, float, float], yaw: float = 0.0) -> CollisionObject:
    return CollisionObject(name, (Shape("box", size),), make_transform(rotation_about((0, 0, 1), yaw), point))


def _open(maker: TaskMaker, _: np.random.Generator) -> Setting:
    return Setting((), None, maker.somewhere)


def _clutter(maker: TaskMaker, rng: np.random.Generator) -> Setting:
    items = []
    for index in range(15):
        height = float(rng.uniform(0.03, 0.1))
        point = maker.at(rng.uniform(-1.3, 1.3), rng.uniform(0.9 * maker.near, 1.15 * maker.far), height / 2)
        items.append(_box(f"box_{index}", point, (float(rng.uniform(0.02, 0.05)), float(rng.uniform(0.02, 0.05)), height), float(rng.uniform(0, 3))))
    held = _box("held", np.array([0, 0, 0.01]), (0.02, 0.02, 0.05))
    return Setting(tuple(items), held, maker.somewhere)


def _bin(maker: TaskMaker, rng: np.random.Generator) -> Setting:
    edge = min(0.18, 1.3 * (maker.far - maker.near))  # a small arm would stand against a larger one
    middle = maker.at(rng.uniform(-0.8, 0.8), (maker.near + 2 * maker.far) / 3, 0.04)
    pose = make_transform(rotation_about((0, 0, 1), rng.uniform(0, 1.5)), middle)
    item = SceneObject("bin", "bin", "grey", "box", np.array([edge, edge, 0.08]), pose, np.zeros((0, 3), np.float32), 1.0, is_container=True, wall=0.005)

    def goal(rng: np.random.Generator) -> Array:
        return maker.reaching(middle + rng.uniform((-0.02, -0.02, -0.01), (0.02, 0.02, 0.01)), 0.0, rng.uniform(-1.5, 1.5))

    return Setting((obstacle_from_object(item),), None, goal)


def _tower(maker: TaskMaker, rng: np.random.Generator) -> Setting:
    azimuth, radius = rng.uniform(-0.8, 0.8), (maker.near + maker.far) / 2
    cubes = tuple(_box(f"cube_{level}", maker.at(azimuth, radius, 0.02 + 0.041 * level), (0.04, 0.04, 0.04), azimuth) for level in range(3))
    held = _box("held", np.array([0, 0, 0.005]), (0.03, 0.03, 0.03))

    def goal(rng: np.random.Generator) -> Array:
        side = rng.choice([-1, 1]) * rng.uniform(0.055, 0.075) / radius
        return maker.reaching(maker.at(azimuth + side, radius, rng.uniform(0.03, 0.08)), 0.0, float(rng.choice([0.0, np.pi / 2])))

    return Setting(cubes, held, goal)


SITUATIONS: dict[str, Callable[[TaskMaker, np.random.Generator], Setting]] = {"open": _open, "clutter": _clutter, "bin": _bin, "tower": _tower}
"""Open table; 15 obstacles and a held object; reach into a bin; place beside a tower."""
