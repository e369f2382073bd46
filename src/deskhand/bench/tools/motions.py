"""What MuJoCo says of the arm, as a reference for kinematics and contacts, on data of its own: the desk does not move."""

from __future__ import annotations

import mujoco
import numpy as np
import numpy.typing as npt

from deskhand.bench.tools.desk import ScenarioDesk
from deskhand.errors import DeskhandError
from deskhand.geometry import Array
from deskhand.types import Frame


class Reference:
    """The desk's model with data of its own."""

    def __init__(self, desk: ScenarioDesk) -> None:
        self._built, self._model = desk.simulation.built, desk.simulation.model
        self._data = mujoco.MjData(self._model)
        with desk.simulation.lock:
            self._data.qpos[:] = desk.simulation.data.qpos
        self.joints = desk.robot.arm.joints
        self._index = [self._built.qpos[name] for name in self.joints]
        self._tcp = self._model.body(desk.robot.arm.tcp).id
        free = set(self._built.object_bodies)
        self._kinds = {body: "thing" if body in free else "arm" if body else "table" for body in range(self._model.nbody)}

    def tcp(self, joints: npt.ArrayLike) -> Array:
        """world_T_tcp (4, 4)."""
        self._place(joints)
        pose = np.eye(4)
        pose[:3, :3], pose[:3, 3] = self._data.xmat[self._tcp].reshape(3, 3), self._data.xpos[self._tcp]
        return pose

    def depth(self, joints: npt.ArrayLike) -> float:
        """How deep [m] the arm is in the table, in objects or in itself at most, 0 when it is free."""
        self._place(joints)
        worst = 0.0
        for contact in self._data.contact:
            bodies = [int(self._model.geom_bodyid[geom]) for geom in (contact.geom1, contact.geom2)]
            if "arm" in {self._kinds[body] for body in bodies}:
                worst = max(worst, -float(contact.dist))
        return worst

    def _place(self, joints: npt.ArrayLike) -> None:
        self._data.qpos[self._index] = joints
        mujoco.mj_forward(self._model, self._data)


def random_joints(desk: ScenarioDesk, count: int) -> Array:
    """Drawn (count, n) [rad] within the joint limits."""
    limits = np.array([desk.simulation.built.robot.limits[name][:2] for name in desk.robot.arm.joints])
    limits = np.clip(limits, -np.pi, np.pi)
    return np.asarray(desk.random.uniform(limits[:, 0], limits[:, 1], (count, len(limits))))


def named(desk: ScenarioDesk, joints: npt.ArrayLike) -> dict[str, float]:
    """Joint name to angle."""
    return dict(zip(desk.robot.arm.joints, map(float, np.asarray(joints)), strict=True))


def low_between(desk: ScenarioDesk, height: float, apart: float = 0.05) -> list[float]:
    """A drawn point (x, y, z) [m] at a height, between the objects and at least ``apart`` [m] from each."""
    items = desk.simulation.truth().objects
    for _ in range(5000):
        x, y = desk.random.uniform([-0.02, -0.18], [0.1, 0.18]).round(3).tolist()
        if all(np.hypot(x - item.pose[0, 3], y - item.pose[1, 3]) - 0.5 * float(np.hypot(*item.size[:2])) > apart for item in items):
            return [x, y, height]
    raise DeskhandError("no_free_space", "the objects leave no room between them.")


def seen_share(desk: ScenarioDesk, name: str, eye: Array, count: int = 400) -> float:
    """Share of the points on the sides and top of an object that nothing stands before, as seen from ``eye`` (3,)."""
    return float(seen_points(desk, name, eye, count).mean())


def shown_points(desk: ScenarioDesk, name: str, frame: Frame, count: int = 400) -> npt.NDArray[np.bool_]:
    """Which of ``count`` points (those that meet it) on the sides and top of an object a picture shows; always the same points."""
    pixels = frame.project(_surface_points(desk, name, count))
    inside = np.isfinite(pixels).all(axis=1) & (pixels >= 0).all(axis=1) & (pixels < [frame.intrinsics.width, frame.intrinsics.height]).all(axis=1)
    return np.asarray(seen_points(desk, name, frame.world_T_camera[:3, 3], count) & inside)


def _surface_points(desk: ScenarioDesk, name: str, count: int) -> Array:
    """Where rays straight into an object's sides and top meet it (count or fewer, 3), in world: of what is round, no point is beside it."""
    truth, random = desk.truth(name), np.random.default_rng(0)
    points, inward = random.uniform(-0.5, 0.5, (count, 3)), np.zeros((count, 3))
    face = random.integers(0, 5, count)  # not the underside
    axis, side = np.where(face == 4, 2, face // 2), np.where(face == 4, 0.5, face % 2 - 0.5)
    points[np.arange(count), axis], inward[np.arange(count), axis] = side * 1.02, -2 * side
    points = points * np.asarray(truth.size) @ truth.pose[:3, :3].T + truth.pose[:3, 3]
    inward = inward @ truth.pose[:3, :3].T
    away = _to_own(desk, name, points, inward)
    met = np.isfinite(away)
    return np.asarray(points[met] + away[met, None] * inward[met])


def _to_own(desk: ScenarioDesk, name: str, points: Array, ways: Array) -> Array:
    """How far [m] it is from points (N, 3) along unit vectors (N, 3) to an object, whatever else is there; infinite where they miss it."""
    simulation = desk.simulation
    model, data = simulation.model, simulation.data
    body = simulation.built.object_bodies[desk.names.index(name)]
    geoms = [geom for geom in range(model.ngeom) if model.geom_bodyid[geom] == body]
    away = np.full(len(points), np.inf)
    with simulation.lock:
        for geom in geoms:
            mesh = model.geom_type[geom] == mujoco.mjtGeom.mjGEOM_MESH
            for index, (point, way) in enumerate(zip(points, ways, strict=True)):
                if mesh:
                    far = mujoco.mj_rayMesh(model, data, geom, point, way)
                else:
                    far = mujoco.mju_rayGeom(data.geom_xpos[geom], data.geom_xmat[geom], model.geom_size[geom], point, way, model.geom_type[geom])
                if far >= 0:
                    away[index] = min(away[index], far)
    return away


def seen_points(desk: ScenarioDesk, name: str, eye: Array, count: int = 400) -> npt.NDArray[np.bool_]:
    """Which of these points nothing stands before, as seen from ``eye`` (3,)."""
    world = _surface_points(desk, name, count)
    simulation = desk.simulation
    own = simulation.built.object_bodies[desk.names.index(name)]
    geom = np.zeros(1, np.int32)
    seen = np.zeros(len(world), bool)
    with simulation.lock:
        for index, point in enumerate(world):
            way = point - eye
            length = float(np.linalg.norm(way))
            distance = mujoco.mj_ray(simulation.model, simulation.data, eye, way / length, None, 1, -1, geom)
            seen[index] = geom[0] >= 0 and simulation.model.geom_bodyid[geom[0]] == own and abs(distance - length) < 0.004
    return seen


def table_seen(desk: ScenarioDesk, points: Array, eye: Array) -> Array:
    """Whether points (N, 3) just above the table can be seen from ``eye`` (3,): nothing stands between."""
    simulation = desk.simulation
    geom = np.zeros(1, np.int32)
    seen = np.zeros(len(points), dtype=bool)
    with simulation.lock:
        for index, point in enumerate(points):
            way = eye - point
            length = float(np.linalg.norm(way))
            distance = mujoco.mj_ray(simulation.model, simulation.data, point, way / length, None, 1, -1, geom)
            seen[index] = distance < 0 or distance > length
    return seen
