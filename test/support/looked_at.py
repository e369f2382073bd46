"""Desks with known truth for the tests of perception, seen by the simulated camera, and how to compare."""

from dataclasses import dataclass, replace

import numpy as np
import pytest

pytest.importorskip("mujoco")

from deskhand.arms.model import RobotModel
from deskhand.errors import DeskhandError
from deskhand.geometry import make_transform, rotation_about
from deskhand.perception.pipeline import Perception
from deskhand.sim.camera import RgbdRenderer
from deskhand.sim.reality.spec import RealitySpec
from deskhand.sim.simulation import SimSettings, Simulation
from deskhand.sim.spec import CONTAINER_KINDS, CameraSpec, ObjectSpec, WorldSpec, pose_at
from deskhand.types import Frame, JointState, Scene, SceneObject

COLORS = {
    "red": (0.82, 0.12, 0.10),
    "green": (0.12, 0.60, 0.18),
    "blue": (0.12, 0.25, 0.80),
    "yellow": (0.93, 0.80, 0.10),
    "orange": (0.94, 0.46, 0.06),
    "purple": (0.46, 0.16, 0.60),
    "brown": (0.45, 0.27, 0.13),
    "white": (0.92, 0.92, 0.92),
    "black": (0.06, 0.06, 0.06),
    "pink": (0.95, 0.55, 0.70),
    "cyan": (0.10, 0.72, 0.78),
}
MODEL = RobotModel.load("wx250s")
LYING = ("pen", "marker")


@dataclass(frozen=True)
class Look:
    """A frame, the robot's joints, and the world as it settled."""

    world: WorldSpec
    frame: Frame
    joints: JointState

    def detect(self, perception: Perception | None = None) -> Scene:
        return (perception or Perception()).detect(self.frame, MODEL, self.joints)

    def truth(self, name: str) -> ObjectSpec:
        return next(item for item in self.world.objects if item.name == name)


def an_object(kind, color, size, x, y, yaw=0.0, z=0.0, name=""):
    """An object on the desk, or with its foot at height ``z``; pens and markers lie."""
    lying = kind in LYING
    pose = pose_at(x, y, z + (size[0] if lying else size[2]) / 2, yaw)
    if lying:
        pose = pose @ make_transform(rotation_about((0, 1, 0), np.pi / 2))
    mass = 0.5 if kind in CONTAINER_KINDS else 0.03
    return ObjectSpec(name or f"{color} {kind}", kind, tuple(size), COLORS[color], mass, pose, 0.004)


def look(*objects: ObjectSpec, camera: CameraSpec | None = None, seed: int = 0, settle: float = SimSettings.settle, reality: RealitySpec | None = None) -> Look:
    """Let them settle [s] and take a picture. Skips where the machine cannot render."""
    simulation = Simulation(WorldSpec(tuple(objects), camera=camera or CameraSpec(), seed=seed, reality=reality), SimSettings(settle=settle))
    try:
        with RgbdRenderer(simulation) as renderer:
            frame = renderer.render()
    except DeskhandError as error:
        pytest.skip(str(error))
    truth = simulation.truth()
    settled = tuple(replace(item, pose=truth.get(item.name).pose) for item in objects)
    return Look(replace(simulation.built.spec, objects=settled), frame, simulation.joint_state())


def found_at(scene: Scene, item: ObjectSpec, within: float = 0.05) -> SceneObject | None:
    """What was seen nearest to where ``item`` is; containers are matched with containers only."""
    is_container = item.kind in CONTAINER_KINDS
    near = [o for o in scene.objects if o.is_container == is_container and np.linalg.norm(o.position[:2] - item.pose[:2, 3]) < within]
    return min(near, key=lambda o: float(np.linalg.norm(o.position - item.pose[:3, 3])), default=None)


SIZES = {
    "block": lambda r: (r.uniform(0.030, 0.040),) * 3,
    "ball": lambda r: (r.uniform(0.035, 0.043),) * 3,
    "cup": lambda r: (d := r.uniform(0.038, 0.043), d, r.uniform(0.050, 0.060)),
    "can": lambda r: (d := r.uniform(0.036, 0.043), d, r.uniform(0.070, 0.090)),
    "pen": lambda r: (d := r.uniform(0.009, 0.012), d, r.uniform(0.120, 0.140)),
    "marker": lambda r: (d := r.uniform(0.015, 0.018), d, r.uniform(0.110, 0.130)),
    "box": lambda r: (r.uniform(0.036, 0.042), r.uniform(0.054, 0.060), r.uniform(0.024, 0.030)),
    "eraser": lambda r: (r.uniform(0.042, 0.060), r.uniform(0.018, 0.023), r.uniform(0.011, 0.014)),
    "sponge": lambda r: (r.uniform(0.074, 0.084), r.uniform(0.037, 0.042), r.uniform(0.023, 0.027)),
    "bin": lambda r: (r.uniform(0.16, 0.19), r.uniform(0.13, 0.16), r.uniform(0.09, 0.11)),
    "tray": lambda r: (r.uniform(0.20, 0.23), r.uniform(0.15, 0.17), r.uniform(0.025, 0.035)),
    "box_open": lambda r: (r.uniform(0.16, 0.19), r.uniform(0.13, 0.15), r.uniform(0.052, 0.060)),
}


def random_desk(seed: int) -> list[ObjectSpec]:
    """Two or three containers and six to eight objects of different kinds, apart from each other; one object lies in a container."""
    rng = np.random.default_rng([11, seed])
    kinds = [str(kind) for kind in rng.permutation(CONTAINER_KINDS)][: rng.integers(2, 4)]
    spots = [(rng.uniform(-0.05, 0.08), 0.29), (rng.uniform(-0.05, 0.08), -0.29), (0.14, 0.0)]
    objects, taken = [], []
    for kind, (x, y) in zip(kinds, spots, strict=False):
        size = SIZES[kind](rng)
        objects.append(an_object(kind, str(rng.choice(["brown", "white", "black", "blue", "yellow"])), size, x, y, rng.uniform(-0.2, 0.2), name=kind))
        taken.append((x, y, float(np.hypot(*size[:2])) / 2))
    inner = objects[0]
    objects.append(an_object("block", "red", (0.032,) * 3, inner.pose[0, 3] - 0.02, inner.pose[1, 3], rng.uniform(0, 1.5), z=0.006, name="block inside"))
    for kind in rng.permutation([kind for kind in SIZES if kind not in CONTAINER_KINDS])[: rng.integers(6, 9)]:
        size = SIZES[kind](rng)
        radius = size[2] / 2 if kind in LYING else float(np.hypot(*size[:2])) / 2
        for _ in range(300):
            x, y = rng.uniform(-0.12, 0.17), rng.uniform(-0.28, 0.28)
            if all(np.hypot(x - a, y - b) > radius + r + 0.012 for a, b, r in taken):
                taken.append((x, y, radius))
                palette = ["yellow", "green", "blue", "pink"] if kind == "sponge" else list(COLORS)
                objects.append(an_object(str(kind), str(rng.choice(palette)), size, x, y, rng.uniform(-3, 3), name=str(kind)))
                break
    return objects


def color_of(item: ObjectSpec) -> str:
    return min(COLORS, key=lambda name: float(np.abs(np.array(COLORS[name]) - item.rgb).sum()))
