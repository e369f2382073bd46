"""One simulated robot, its picks, and what ground truth says of each."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np

from deskhand.arms.config import load_arm
from deskhand.bench.grasp.subjects import Hardship
from deskhand.grasping.generator import GraspGenerator
from deskhand.motion.obstacles import obstacles_from_scene
from deskhand.sim.devices import SimArm, SimCamera, SimClock, SimGripper
from deskhand.sim.sensor import DepthSensor
from deskhand.sim.simulation import Simulation
from deskhand.sim.spec import ObjectSpec, Truth, WorldSpec
from deskhand.skills.base import SkillContext
from deskhand.skills.belief import Belief
from deskhand.skills.pick import pick
from deskhand.skills.robot.local import Devices, LocalRobot, make_local_robot
from deskhand.skills.singulate import separate
from deskhand.types import Grasp, Scene, SceneObject, SceneUpdate

LIFTED = 0.03  # [m]
EXPLORED = 24  # grasps to choose from
NEAR = 0.05  # [m] from the middle of an object to that of what was seen ..
BESIDE = 0.005  # .. or from its box, where only a part of it was: the spine of a book


@dataclass
class PickRecord:
    """One call of pick with a single attempt.

    Attributes:
        subject: what it really was; size: its extents [m].
        success: by ground truth: it is between the fingers and off its place.
        code: what the skill said, empty for success.
        tried: the fingers closed on something; False when no grasp was found or planned.
        predicted: success probability of the grasp, NaN without one.
        grasp_ms: processor time of the grasp computation.
    """

    seed: int
    subject: str
    size: tuple[float, ...]
    success: bool
    code: str
    message: str
    tried: bool
    predicted: float
    grasp_ms: float
    wall_s: float
    data: dict[str, Any] = field(default_factory=dict)

    @property
    def false_success(self) -> bool:
        """The skill said that it holds something, and it does not."""
        return not self.code and not self.success

    def to_json(self) -> dict[str, Any]:
        """Plain data."""
        return {**asdict(self), "false_success": self.false_success, "predicted": None if np.isnan(self.predicted) else self.predicted}


class MeteredRobot:
    """A LocalRobot whose grasp computations are timed, and whose grasps come in random order when it is told to explore."""

    def __init__(self, robot: LocalRobot) -> None:
        self._robot = robot
        self.grasp_ms: list[float] = []
        self.offered: list[tuple[Scene, Grasp]] = []
        self.explore: np.random.Generator | None = None

    def __getattr__(self, name: str) -> Any:
        return getattr(self._robot, name)

    def generate_grasps(self, scene: Scene, object_id: str, max_grasps: int = 20) -> list[Grasp]:
        """See Robot."""
        began = time.thread_time()
        try:
            grasps = self._robot.generate_grasps(scene, object_id, EXPLORED if self.explore else max_grasps)
        finally:
            self.grasp_ms.append(1000 * (time.thread_time() - began))
        if self.explore:
            grasps = [grasps[int(row)] for row in self.explore.permutation(len(grasps))]
        self.offered += [(scene, grasp) for grasp in grasps]
        return grasps


class Bench:
    """A robot at a desk."""

    def __init__(self, simulation: Simulation, robot: LocalRobot, seed: int) -> None:
        self.simulation, self.seed = simulation, seed
        self.robot = MeteredRobot(robot)
        self.belief = Belief()
        self._generator = GraspGenerator(robot.arm)
        self._start_height = {item.name: item.pose[2, 3] for item in simulation.truth().objects}

    def context(self) -> SkillContext:
        """For one skill call."""
        return SkillContext(self.robot, self.belief)

    def of_the_task(self, scene: Scene) -> Scene:
        """Without what lies about at the edge of the desk: it is there, but nobody asked for it."""
        truth = self.simulation.truth()
        return replace(scene, objects=tuple(item for item in scene.objects if nearest(truth, item)))

    def in_hand(self) -> tuple[str, ...]:
        """Names of what both fingers touch, off its place."""
        truth = self.simulation.truth()
        return tuple(name for name in truth.in_hand if truth.get(name).pose[2, 3] > self._start_height[name] + LIFTED)

    def pick(self, item: SceneObject, explore: np.random.Generator | None = None) -> PickRecord:
        """Pick a seen object with one attempt; with ``explore`` by a random one of its grasps."""
        truth = self.simulation.truth()
        target = nearest(truth, item)
        self._start_height = {obj.name: obj.pose[2, 3] for obj in truth.objects}
        self.robot.grasp_ms.clear()
        self.robot.offered.clear()
        self.robot.explore = explore
        began = time.perf_counter()
        result = pick(self.context(), item.id, attempts=1)
        self.robot.explore = None
        spec = next((obj for obj in self.simulation.built.spec.objects if obj.name == target), None)
        data = {key: value for key, value in result.data.items() if key != "times"}
        return PickRecord(
            self.seed,
            subject_of(spec) if spec else "nothing",
            tuple(round(edge, 4) for edge in spec.size) if spec else (),
            target in self.in_hand(),
            result.code,
            result.message,
            bool(data.get("closed")),
            float(data.get("score", np.nan)),
            round(sum(self.robot.grasp_ms), 2),
            round(time.perf_counter() - began, 3),
            {**data, "id": item.id, "label": item.label, "shape": item.shape, "features": self._features(data.get("grasp_pose"))},
        )

    def push_apart(self, object_id: str) -> bool:
        """Whether an object was pushed away from what lies close beside it."""
        return separate(self.context(), object_id).ok

    def nothing(self, message: str) -> PickRecord:
        """The record of a pick that could not even be asked for."""
        spec = self.simulation.built.spec.objects[0]
        return PickRecord(self.seed, subject_of(spec), spec.size, False, "unknown_object", message, False, float("nan"), 0.0, 0.0)

    def _features(self, pose: list[list[float]] | None) -> list[float] | None:
        """Those of the executed grasp."""
        if pose is None:
            return None
        scene, grasp = min(self.robot.offered, key=lambda pair: float(np.abs(pair[1].pose - pose).max()))
        return [round(float(value), 4) for value in self._generator.features(scene, grasp)]

    def take_away(self, name: str) -> None:
        """The object is taken out of the gripper and off the desk, and the gripper opens."""
        simulation = self.simulation
        with simulation.lock:
            joint = simulation.model.joint(name)
            first, dof = int(joint.qposadr[0]), int(joint.dofadr[0])
            simulation.data.qpos[first : first + 3] = 2.0, 2.0 + 0.05 * dof, 0.3
            simulation.data.qvel[dof : dof + 6] = 0.0
        context = self.context()
        context.grip(self.robot.arm.gripper.width_max)
        self.belief.disturb()
        context.lost()

    def save(self) -> tuple[Any, Scene | None]:
        """The state of the world and of the belief, for :meth:`restore`."""
        import mujoco

        with self.simulation.lock:
            state = np.zeros(mujoco.mj_stateSize(self.simulation.model, mujoco.mjtState.mjSTATE_INTEGRATION))
            mujoco.mj_getState(self.simulation.model, self.simulation.data, state, mujoco.mjtState.mjSTATE_INTEGRATION)
        return state, self.belief.scene

    def restore(self, saved: tuple[Any, Scene | None]) -> None:
        """Everything back to where it was, the arm at home and the hand open."""
        import mujoco

        context = self.context()
        context.grip(self.robot.arm.gripper.width_max)
        self.belief.released()
        context.detach()
        self.robot.update_scene(SceneUpdate(replace=()))
        context.go_home()
        now = self.simulation.time
        with self.simulation.lock:
            joints = {name: self.simulation.data.qpos[index] for name, index in self.simulation.built.qpos.items()}
            mujoco.mj_setState(self.simulation.model, self.simulation.data, saved[0], mujoco.mjtState.mjSTATE_INTEGRATION)
            self.simulation.data.time = now
            for name, index in self.simulation.built.qpos.items():
                self.simulation.data.qpos[index] = joints[name]
            mujoco.mj_forward(self.simulation.model, self.simulation.data)
        assert saved[1] is not None
        self.belief.see(saved[1])
        self.robot.update_scene(SceneUpdate(replace=obstacles_from_scene(saved[1])))


def subject_of(spec: ObjectSpec) -> str:
    """What it really is."""
    return spec.shape or (spec.mesh.stem if spec.mesh is not None else spec.kind)


def nearest(truth: Truth, item: SceneObject) -> str:
    """Name of the object that a seen one is, or is a part of; empty when there is none."""
    near = []
    for obj in truth.objects:
        offset = item.position - obj.pose[:3, 3]
        beyond = np.maximum(np.abs(obj.pose[:3, :3].T @ offset) - np.asarray(obj.size) / 2, 0.0)
        if np.linalg.norm(offset) < NEAR or np.linalg.norm(beyond) < BESIDE:
            near.append((float(np.linalg.norm(offset)), obj.name))
    return min(near, default=(0.0, ""))[1]


@contextmanager
def bench(world: WorldSpec, hardship: Hardship | None = None) -> Iterator[Bench]:
    """A robot at a desk, in this process."""
    hardship = hardship or Hardship()
    simulation = Simulation(world)
    bodies = [*simulation.built.object_bodies, *simulation.built.finger_bodies]
    simulation.model.geom_friction[np.isin(simulation.model.geom_bodyid, bodies), 0] *= hardship.friction
    camera = SimCamera(simulation, sensor=DepthSensor(noise=hardship.noise * DepthSensor.noise))
    robot = make_local_robot(load_arm(world.arm), Devices(SimArm(simulation), SimGripper(simulation), camera, SimClock(simulation)))
    try:
        yield Bench(simulation, robot, world.seed)
    finally:
        robot.close()
