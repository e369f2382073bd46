"""One simulated robot, its picks, and what ground truth says of each."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from deskhand.arms.config import load_arm
from deskhand.grasping.generator import GraspGenerator
from deskhand.local_robot import Devices, LocalRobot, make_local_robot
from deskhand.sim.devices import SimArm, SimCamera, SimClock, SimGripper
from deskhand.sim.simulation import Simulation
from deskhand.sim.spec import Truth, WorldSpec
from deskhand.skills.base import SkillContext
from deskhand.skills.belief import Belief
from deskhand.skills.pick import pick
from deskhand.types import Scene, SceneObject

LIFTED = 0.03  # [m]
NEAR = 0.05  # [m] from where a thing was seen to where it is


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
    """A LocalRobot whose grasp computations are timed."""

    def __init__(self, robot: LocalRobot) -> None:
        self._robot = robot
        self.grasp_ms: list[float] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._robot, name)

    def generate_grasps(self, scene: Scene, object_id: str, max_grasps: int = 20) -> Any:
        """See Robot."""
        began = time.thread_time()
        try:
            return self._robot.generate_grasps(scene, object_id, max_grasps)
        finally:
            self.grasp_ms.append(1000 * (time.thread_time() - began))


class Bench:
    """A robot at a desk."""

    def __init__(self, simulation: Simulation, robot: LocalRobot, seed: int) -> None:
        self.simulation, self.seed = simulation, seed
        self.robot = MeteredRobot(robot)
        self.belief = Belief()
        self.generator = GraspGenerator(robot.arm)

    def context(self) -> SkillContext:
        """For one skill call."""
        return SkillContext(self.robot, self.belief)  # type: ignore[arg-type]

    def pick(self, item: SceneObject) -> PickRecord:
        """Pick a seen thing with one attempt."""
        before = self.simulation.truth()
        target = nearest(before, item)
        self.robot.grasp_ms.clear()
        began = time.perf_counter()
        result = pick(self.context(), item.id, attempts=1)
        after = self.simulation.truth()
        held = bool(target and target in after.in_hand and after.get(target).pose[2, 3] - before.get(target).pose[2, 3] > LIFTED)
        spec = next((thing for thing in self.simulation.built.spec.objects if thing.name == target), None)
        return PickRecord(
            self.seed,
            (spec.shape or spec.kind) if spec else "nothing",
            tuple(round(edge, 4) for edge in spec.size) if spec else (),
            held,
            result.code,
            result.message,
            bool(result.data.get("closed", not result.code)),
            float(result.data.get("score", np.nan)),
            sum(self.robot.grasp_ms),
            round(time.perf_counter() - began, 3),
            {**{key: value for key, value in result.data.items() if key != "times"}, "id": item.id, "label": item.label, "shape": item.shape},
        )

    def take_away(self, name: str) -> None:
        """Ground truth's own hand: the thing is taken off the desk, and the gripper opens."""
        simulation = self.simulation
        with simulation.lock:
            joint = simulation.model.joint(name)
            first, dof = int(joint.qposadr[0]), int(joint.dofadr[0])
            simulation.data.qpos[first : first + 3] = 2.0, 2.0 + 0.2 * dof, -0.5
            simulation.data.qvel[dof : dof + 6] = 0.0
        context = self.context()
        context.grip(self.robot.arm.gripper.width_max)
        self.belief.released()
        context.detach()


def nearest(truth: Truth, item: SceneObject) -> str:
    """Name of the thing that a seen one is; empty when there is none."""
    near = [(float(np.linalg.norm(thing.pose[:3, 3] - item.position)), thing.name) for thing in truth.objects]
    best = min(near, default=(1.0, ""))
    return best[1] if best[0] < NEAR else ""


@contextmanager
def bench(world: WorldSpec) -> Iterator[Bench]:
    """A robot at a desk, in this process."""
    simulation = Simulation(world)
    camera = SimCamera(simulation)
    robot = make_local_robot(load_arm(world.arm), Devices(SimArm(simulation), SimGripper(simulation), camera, SimClock(simulation)))
    try:
        yield Bench(simulation, robot, world.seed)
    finally:
        robot.close()
