"""A scene file as a light desk: the real tools of perception and reasoning, motions without physics, and the truth for the scorer."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from deskhand.bench.brains.desk import DeskObject, LightDesk
from deskhand.geometry import Array
from deskhand.sim.objectfile import COLORS
from deskhand.sim.spec import CONTAINER_KINDS, ObjectSpec, Truth, TruthObject, WorldSpec
from deskhand.tasks.base import Word
from deskhand.tasks.checks import JudgedDesk

SHAPES = {"ball": "sphere", "cup": "cylinder", "can": "cylinder", "pen": "cylinder", "marker": "cylinder"}
LONG = ("pen", "marker")


class SceneDesk(LightDesk):
    """Attributes:
    world: as the scene file has it; ``names``: id -> name there.
    """

    def __init__(self, world: WorldSpec, seed: int = 0) -> None:
        self.world = world
        self.start = Truth(0.0, tuple(TruthObject(item.name, item.kind, item.size, item.pose) for item in world.objects))
        self.names: dict[str, str] = {}
        numbers: dict[str, int] = {}
        for item in world.objects:
            numbers[item.kind] = numbers.get(item.kind, 0) + 1
            self.names[f"{item.kind}_{numbers[item.kind]}"] = item.name
        self.colors = {item.name: color_name(item.rgb) for item in world.objects}
        ids = {name: each for each, name in self.names.items()}
        specs = {item.name: item for item in world.objects}
        begun = begin(world)
        objects = {ids[name]: self._object(ids[name], specs[name], begun.where(name), ids) for name in specs}
        super().__init__(objects, np.random.default_rng([seed, 31]))

    def _object(self, name: str, item: ObjectSpec, where: str, ids: dict[str, str]) -> DeskObject:
        container = item.kind in CONTAINER_KINDS
        size = tuple(float(value) for value in (np.sort(item.size)[::-1] if item.kind in LONG else item.size))
        axis = item.pose[:2, 2] if item.kind in LONG else item.pose[:2, 0]
        yaw = float(np.arctan2(axis[1], axis[0]))
        relation = "in" if where in ids and next(spec.kind for spec in self.world.objects if spec.name == where) in CONTAINER_KINDS else "on"
        place = (float(item.pose[0, 3]), float(item.pose[1, 3]))
        shape = "other" if container else SHAPES.get(item.kind, "box")
        return DeskObject(name, item.kind, self.colors[item.name], shape, size, place, ids.get(where, "table"), relation, container, yaw)  # type: ignore[arg-type]

    def truth(self) -> Truth:
        """As a simulation would tell it."""
        objects = []
        for name, item in self.objects.items():
            before = self.start.get(self.names[name])
            axis = before.pose[:2, 2] if before.kind in LONG else before.pose[:2, 0]
            pose = before.pose.copy()
            pose[:3, :3] = _turn(item.yaw - float(np.arctan2(axis[1], axis[0]))) @ before.pose[:3, :3]
            pose[:3, 3] = [*item.place, 0.15 if name == self.holding else self.foot(item) + item.size[2] / 2]
            objects.append(replace(before, pose=pose))
        return Truth(1.0, tuple(objects), (self.names[self.holding],) if self.holding else ())

    def judged(self, summary: str = "") -> JudgedDesk:
        """The desk before and now, for the scorer; ``summary`` is what the robot says."""
        return JudgedDesk(self.world, self.start, self.truth(), Word(summary=summary), self.colors)


def begin(world: WorldSpec) -> JudgedDesk:
    """A world at its start, for the scorer."""
    truth = Truth(0.0, tuple(TruthObject(item.name, item.kind, item.size, item.pose) for item in world.objects))
    return JudgedDesk(world, truth, truth, Word(), {item.name: color_name(item.rgb) for item in world.objects})


def _turn(yaw: float) -> Array:
    c, s = np.cos(yaw), np.sin(yaw)
    return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])


def color_name(rgb: tuple[float, float, float]) -> str:
    """The name of a scene file's colour, the nearest where it was given in numbers."""
    return min(COLORS, key=lambda name: float(np.linalg.norm(np.subtract(COLORS[name], rgb))))
