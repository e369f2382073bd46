"""The 3-D view: robot, what is on the desk, grasps, the planned motion, seen points."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from deskhand.arms.model import RobotModel
from deskhand.geometry import Array, identity, make_transform, quaternion_from_matrix, rotation_about, transform_points
from deskhand.recording.episode.pictures import hand_outline
from deskhand.types import Scene, SceneObject, Shape, Table, Trajectory
from deskhand.view.body import Mesh, body_of, mesh_of
from deskhand.view.moment import Hand, Moment, target_of

if TYPE_CHECKING:
    import viser

Rgb = tuple[int, int, int]

COLORS: Mapping[str, Rgb] = {
    "red": (214, 58, 50),
    "orange": (238, 140, 44),
    "yellow": (240, 205, 60),
    "green": (72, 166, 84),
    "cyan": (66, 188, 200),
    "blue": (58, 108, 208),
    "purple": (140, 86, 190),
    "pink": (236, 130, 170),
    "brown": (138, 92, 60),
    "black": (58, 58, 62),
    "grey": (150, 152, 156),
    "gray": (150, 152, 156),
    "white": (236, 236, 234),
}
UNNAMED: Rgb = (176, 170, 196)
WOOD: Rgb = (196, 172, 138)
PLAN: Rgb = (32, 120, 220)
HAND: Rgb = (20, 150, 90)
OTHER_HANDS: Rgb = (170, 182, 176)
WANTED: Rgb = (240, 120, 0)
POINT: Rgb = (70, 92, 128)
THICKNESS = 0.02  # [m] of the drawn table top
STILL = 0.0015  # [rad or m] that joints may be off what is drawn
GHOST = 0.28
SHRUNK = 0.98
PATH_POINTS = 60
SHOWN_HANDS = 6
LABEL_GAP = 0.035  # [m]
TABLE = Table(identity(), (0.8, 0.8))
"""Until one was seen."""


class DeskDrawing:
    """Draws moments into a viser scene; only what has changed is sent."""

    def __init__(self, server: viser.ViserServer, model: RobotModel) -> None:
        self._scene, self._atomic, self._model = server.scene, server.atomic, model
        self._last = Moment()
        self._drawn_joints: Mapping[str, float] = {}
        self._drawn: dict[str, list[Any]] = {}
        self._shown_ids: frozenset[str] = frozenset()
        self._options = Options()
        body = body_of(model)
        self._robot = _Robot(server.scene, "/robot", model, body)
        self._ghost = _Robot(server.scene, "/plan/ghost", model, body, PLAN, GHOST)
        self._ghost.show(False)
        server.initial_camera.position = (0.84, -0.84, 0.82)
        server.initial_camera.look_at = (-0.02, 0.01, 0.05)
        server.initial_camera.fov = 0.80
        server.initial_camera.up = (0.0, 0.0, 1.0)
        self._scene.set_up_direction("+z")
        self._light()
        self._scene.world_axes.visible = False
        self._draw_table(TABLE)

    def _light(self) -> None:
        """Plain lights: viser's own, with their shadows and a room that is mirrored, take a processor without a graphics card a second a picture."""
        self._scene.configure_environment_map(None)
        self._scene.configure_default_lights(enabled=False, cast_shadow=False)
        self._scene.add_light_hemisphere("/lights/sky", sky_color=(255, 255, 255), ground_color=(168, 160, 150), intensity=1.9)
        self._scene.add_light_directional("/lights/sun", color=(255, 250, 242), intensity=1.7, position=(1.0, -2.0, 3.0), cast_shadow=False)

    def show(self, moment: Moment, options: Options) -> None:
        """Draw ``moment``."""
        last, again = self._last, options != self._options
        wanted = frozenset().union(*(target_of(call.arguments) for call in moment.waiting))
        with self._atomic():
            if moment.joints is not last.joints and self._has_moved(moment.joints):
                self._robot.move(moment.joints)
                self._drawn_joints = moment.joints
            if moment.scene is not last.scene and moment.scene is not None:
                self._draw_table(moment.scene.table)
            if moment.scene is not last.scene or wanted != self._shown_ids or again:
                self._draw_objects(moment.scene, wanted, options.labels)
            if moment.scene is not last.scene or again:
                self._draw_points(moment.scene if options.points else None)
            if moment.hands is not last.hands or again:
                self._draw_hands(moment.hands if options.grasps else ())
            if moment.plan is not last.plan or again:
                self._draw_plan(moment.plan if options.plan else None, moment.joints)
        self._last, self._options, self._shown_ids = moment, options, wanted

    def _has_moved(self, joints: Mapping[str, float]) -> bool:
        """Measured joints are never quite still; a page that is drawn anew for that keeps a processor busy."""
        old = self._drawn_joints
        return joints.keys() != old.keys() or any(abs(value - old[name]) > STILL for name, value in joints.items())

    # ------------------------------------------------------------ parts

    @contextmanager
    def _anew(self, part: str) -> Iterator[list[Any]]:
        """Takes away what was drawn for this part; what is put into the list is kept instead."""
        for node in self._drawn.pop(part, []):
            node.remove()
        nodes: list[Any] = []
        yield nodes
        self._drawn[part] = nodes

    def _mesh(self, name: str, mesh: Mesh, pose: Array, **style: Any) -> Any:
        wxyz, position = _placed(pose)
        return self._scene.add_mesh_simple(name, mesh.vertices, mesh.faces, color=mesh.color, flat_shading=True, wxyz=wxyz, position=position, **style)

    def _draw_table(self, table: Table) -> None:
        x, y = table.size
        top = mesh_of(Shape("box", (x, y, THICKNESS), make_transform(translation=[0, 0, -THICKNESS / 2])), WOOD)
        with self._anew("table") as nodes:
            nodes.append(self._mesh("/desk/table", top, table.pose))

    def _draw_objects(self, scene: Scene | None, wanted: frozenset[str], labels: bool) -> None:
        with self._anew("objects") as nodes:
            for item in scene.objects if scene is not None else ():
                nodes += self._object(item, item.id in wanted)
                if labels:
                    above = tuple(map(float, [*item.position[:2], item.top + LABEL_GAP]))
                    nodes.append(
                        self._scene.add_label(f"/desk/labels/{item.id}", label_of(item), position=above, font_screen_scale=0.75, anchor="bottom-center")
                    )

    def _object(self, item: SceneObject, wanted: bool) -> list[Any]:
        color, name = COLORS.get(item.color, UNNAMED), f"/desk/objects/{item.id}"
        nodes = [self._mesh(f"{name}/{index}", mesh_of(shape, color), item.pose) for index, shape in enumerate(shapes_of(item))]
        if wanted:
            nodes.append(self._scene.add_line_segments(f"{name}/wanted", _edges(item), WANTED, thickness=0.004))
        return nodes

    def _draw_points(self, scene: Scene | None) -> None:
        with self._anew("points") as nodes:
            if scene is not None and len(scene.cloud):
                nodes.append(self._scene.add_point_cloud("/desk/points", scene.cloud, POINT, point_size=0.003, point_shape="circle"))

    def _draw_hands(self, hands: tuple[Hand, ...]) -> None:
        with self._anew("hands") as nodes:
            for index, hand in enumerate(hands[:SHOWN_HANDS]):
                lines = [transform_points(hand.pose, line) for line in hand_outline(self._model.arm.gripper, hand.width)]
                segments = np.vstack([np.stack([line[:-1], line[1:]], axis=1) for line in lines])
                color, thickness = (HAND, 0.005) if index == 0 else (OTHER_HANDS, 0.002)
                nodes.append(self._scene.add_line_segments(f"/grasps/{index}", segments, color, thickness=thickness))

    def _draw_plan(self, plan: Trajectory | None, joints: Mapping[str, float]) -> None:
        self._ghost.show(plan is not None)
        with self._anew("plan") as nodes:
            if plan is None:
                return
            path = path_of(self._model, plan, joints)
            self._ghost.move({**joints, **dict(zip(plan.joint_names, map(float, plan.positions[-1]), strict=True))})
            nodes.append(self._scene.add_line_segments("/plan/path", np.stack([path[:-1], path[1:]], axis=1), PLAN, thickness=0.006))


@dataclass(frozen=True)
class Options:
    """What of the 3-D view is to be seen."""

    labels: bool = True
    grasps: bool = True
    plan: bool = True
    points: bool = False


class _Robot:
    """An arm as frames with meshes below one name; ``color`` and ``opacity`` for one that is only thought of."""

    def __init__(
        self, scene: viser.SceneApi, name: str, model: RobotModel, body: Mapping[str, list[Mesh]], color: Rgb | None = None, opacity: float | None = None
    ) -> None:
        self._model = model
        self._root = scene.add_frame(name, show_axes=False)
        self._links = {link: scene.add_frame(f"{name}/{link}", show_axes=False) for link in body}
        for link, meshes in body.items():
            for index, mesh in enumerate(meshes):
                # one that is thought of is a little smaller: where it stands in the real one, no faces fight about a pixel
                vertices = mesh.vertices if opacity is None else SHRUNK * mesh.vertices + (1 - SHRUNK) * mesh.vertices.mean(axis=0)
                scene.add_mesh_simple(f"{name}/{link}/{index}", vertices, mesh.faces, color=color or mesh.color, flat_shading=True, opacity=opacity)
        self.move(dict(zip(model.arm.joints, model.arm.named_poses.get("home", [0.0] * len(model.arm.joints)), strict=True)))

    def show(self, visible: bool) -> None:
        self._root.visible = visible

    def move(self, joints: Mapping[str, float]) -> None:
        poses = self._model.forward(joints)
        for link, frame in self._links.items():
            frame.wxyz, frame.position = _placed(poses[link])


def path_of(model: RobotModel, plan: Trajectory, joints: Mapping[str, float]) -> Array:
    """Where the tcp goes: (K, 3) [m] in ``world``; joints that the plan leaves out stand as in ``joints``."""
    times = np.linspace(0.0, plan.duration, PATH_POINTS)
    poses = [model.tcp_pose({**joints, **dict(zip(plan.joint_names, map(float, plan.sample(time)), strict=True))}) for time in times]
    return np.array([pose[:3, 3] for pose in poses])


def label_of(item: SceneObject) -> str:
    """What is written over an object."""
    held = " (held)" if item.relation == "held" else ""
    return f"{item.id}{held}" if item.color in ("", "unknown") or item.color in item.id else f"{item.color} {item.id}{held}"


def shapes_of(item: SceneObject) -> list[Shape]:
    """What an object is drawn as, in the frame of its pose: its oriented box, an open box for a container, a round body where it is one."""
    x, y, z = (max(float(value), 0.001) for value in item.size)
    if item.is_container:
        return _open_box(x, y, z, min(max(item.wall, 0.003), x / 4, y / 4))
    if item.shape == "cylinder":
        return [_cylinder(x, y, z)]
    if item.shape == "sphere":
        return [Shape("sphere", (max(x, y, z) / 2,))]
    return [Shape("box", (x, y, z))]


def _cylinder(*size: float) -> Shape:
    """Round about the axis whose other two sizes are the most alike: a pen may lie along any axis of its box."""
    axis = min(range(3), key=lambda index: abs(size[index - 1] - size[index - 2]))
    turn = {0: rotation_about((0, 1, 0), np.pi / 2), 1: rotation_about((1, 0, 0), np.pi / 2), 2: np.eye(3)}[axis]
    return Shape("cylinder", ((size[axis - 1] + size[axis - 2]) / 4, size[axis]), make_transform(turn))


def _open_box(x: float, y: float, z: float, wall: float) -> list[Shape]:
    def plate(size: tuple[float, float, float], centre: tuple[float, float, float]) -> Shape:
        return Shape("box", size, make_transform(translation=centre))

    sides_x = [plate((wall, y, z), (sign * (x - wall) / 2, 0, 0)) for sign in (-1, 1)]
    sides_y = [plate((x - 2 * wall, wall, z), (0, sign * (y - wall) / 2, 0)) for sign in (-1, 1)]
    return [*sides_x, *sides_y, plate((x - 2 * wall, y - 2 * wall, wall), (0, 0, (wall - z) / 2))]


def _edges(item: SceneObject) -> Array:
    """The twelve edges of the oriented box, a little outside it: (12, 2, 3) [m] in ``world``."""
    corners = np.array([[a, b, c] for a in (-1, 1) for b in (-1, 1) for c in (-1, 1)]) * (np.asarray(item.size) / 2 + 0.004)
    pairs = [(i, j) for i in range(8) for j in range(i + 1, 8) if np.sum(np.sign(corners[i]) != np.sign(corners[j])) == 1]
    placed = transform_points(item.pose, corners)
    return np.array([[placed[i], placed[j]] for i, j in pairs])


def _placed(pose: Array) -> tuple[Array, Array]:
    """Quaternion wxyz, as viser has it, and position."""
    x, y, z, w = quaternion_from_matrix(pose[:3, :3])
    return np.array([w, x, y, z]), np.asarray(pose[:3, 3])
