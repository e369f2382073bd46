"""A world as SDF, translated from the MuJoCo model of the same WorldSpec: every shape, mass, inertia and colour is said once (sim/builder.py).

The arm is not in it: it joins the running world from its URDF (robot.py). What SDF cannot say or Gazebo's physics does not know is left out:
rolling friction, softness of contacts, the grain of the wood.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from xml.etree import ElementTree

import mujoco
import numpy as np

from deskhand.errors import DeskhandError
from deskhand.geometry import Array, identity, rpy_from_rotation
from deskhand.sim.builder import PAD_FRICTION, TIMESTEP, Built, build
from deskhand.sim.fixtures.kinds import fixture_parts
from deskhand.sim.fixtures.spec import FixtureJoint, FixtureSpec, joint_name
from deskhand.sim.objects import HIDDEN_GROUP
from deskhand.sim.spec import WorldSpec

Element = ElementTree.Element

WORLD = "deskhand"
ROOM = "deskhand_room"
LINK = "deskhand_link"
"""The one link of every object; no object's name, since those are the model's names (Gazebo reports poses by bare names)."""
POSE_RATE = 20  # [Hz] of simulated time at which Gazebo tells where objects are
SYSTEMS = {
    "gz-sim-physics-system": "Physics",
    "gz-sim-user-commands-system": "UserCommands",
    "gz-sim-scene-broadcaster-system": "SceneBroadcaster",
    "gz-sim-contact-system": "Contact",
    "gz-sim-sensors-system": "Sensors",
}


def world_sdf(world: WorldSpec, folder: Path) -> str:
    """The world as SDF 1.11, which is the first that knows coupled joints; meshes are written into ``folder``/meshes.

    Args:
        world: what to translate; it must have no calibration board.
        folder: where the world's file will stand.

    Raises:
        DeskhandError: ``invalid_input`` when the world cannot be built or has what Gazebo does not get.
    """
    if world.board is not None:
        raise DeskhandError("invalid_input", "a calibration board cannot be shown in Gazebo; use the built-in simulation.")
    built = build(world)
    root = ElementTree.Element("sdf", version="1.11")
    sdf = _child(root, "world", name=WORLD)
    _physics(sdf)
    _systems(sdf)
    _scene(sdf, built.model)
    shapes = Shapes(built.model, folder)
    room = _child(sdf, "model", name=ROOM)
    _text(room, "static", "true")
    link = _child(room, "link", name=LINK)
    shapes.add(link, 0, friction=float(built.model.geom("desk").friction[0]))
    for body in built.object_bodies:
        _object(sdf, built, body, shapes)
    for item in world.fixtures:
        _fixture(sdf, built.model, item, shapes)
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="unicode", xml_declaration=True)


def _physics(sdf: Element) -> None:
    physics = _child(sdf, "physics", name="fixed_step", type="dart")
    _text(physics, "max_step_size", TIMESTEP)
    _text(physics, "real_time_factor", 1.0)
    _text(sdf, "gravity", "0 0 -9.81")


def _systems(sdf: Element) -> None:
    for file, name in SYSTEMS.items():
        plugin = _child(sdf, "plugin", filename=file, name=f"gz::sim::systems::{name}")
        if name == "Sensors":
            _text(plugin, "render_engine", "ogre2")
        if name == "SceneBroadcaster":
            _text(plugin, "dynamic_pose_hertz", POSE_RATE)


def _scene(sdf: Element, model: mujoco.MjModel) -> None:
    scene = _child(sdf, "scene")
    _text(scene, "ambient", _numbers(*model.vis.headlight.ambient, 1))
    _text(scene, "background", "0.49 0.51 0.54 1")
    _text(scene, "shadows", "true")
    _text(scene, "grid", "false")
    for number in range(model.nlight):
        light = _child(sdf, "light", name=f"light_{number}", type="directional")
        _text(light, "pose", _numbers(*model.light_pos[number], 0, 0, 0))
        _text(light, "cast_shadows", str(bool(model.light_castshadow[number])).lower())
        _text(light, "diffuse", _numbers(*model.light_diffuse[number], 1))
        _text(light, "specular", _numbers(*model.light_specular[number], 1))
        _text(light, "direction", _numbers(*model.light_dir[number]))


def _object(sdf: Element, built: Built, body: int, shapes: Shapes) -> None:
    model = built.model
    element = _child(sdf, "model", name=model.body(body).name)
    _text(element, "pose", _pose(_placed(model.body_pos[body], model.body_quat[body])))
    link = _child(element, "link", name=LINK)
    _inertial(link, model, body)
    # Gazebo's physics takes the smaller friction where MuJoCo takes the larger: objects get the pads', so that a pad holds them as it does there
    shapes.add(link, body, friction=max(PAD_FRICTION, *(float(model.geom_friction[geom][0]) for geom in _geoms(model, body))))


def _inertial(link: Element, model: mujoco.MjModel, body: int) -> None:
    inertial = _child(link, "inertial")
    _text(inertial, "pose", _pose(_placed(model.body_ipos[body], model.body_iquat[body])))
    _text(inertial, "mass", _numbers(model.body_mass[body]))
    inertia = _child(inertial, "inertia")
    for axes, value in zip(("xx", "yy", "zz", "xy", "xz", "yz"), (*model.body_inertia[body], 0, 0, 0), strict=True):
        _text(inertia, f"i{axes}", _numbers(value))


def _fixture(sdf: Element, model: mujoco.MjModel, item: FixtureSpec, shapes: Shapes) -> None:
    """A model whose base is fixed to the world, and a link and a joint for each of its joints, named as in the truth."""
    element = _child(sdf, "model", name=item.name)
    _text(element, "pose", _pose(item.pose))
    base = _child(element, "link", name=LINK)
    _inertial(base, model, model.body(item.name).id)
    shapes.add(base, model.body(item.name).id, PAD_FRICTION)
    fast = _child(element, "joint", name=f"{item.name}/fast", type="fixed")
    _text(fast, "parent", "world")
    _text(fast, "child", LINK)
    for joint in fixture_parts(item).joints:
        name = joint_name(item.name, joint.name)
        link = _child(element, "link", name=name)
        _inertial(link, model, model.body(name).id)
        shapes.add(link, model.body(name).id, PAD_FRICTION)
        _joint(element, joint, name, item.name)


def _joint(element: Element, joint: FixtureJoint, name: str, fixture: str) -> None:
    made = _child(element, "joint", name=f"{name}/joint", type="revolute" if joint.kind == "hinge" else "prismatic")
    _text(made, "pose", _numbers(*joint.anchor, 0, 0, 0))
    _text(made, "parent", LINK)
    _text(made, "child", name)
    axis = _child(made, "axis")
    _text(axis, "initial_position", _numbers(joint.start))
    _text(axis, "xyz", _numbers(*joint.axis))
    if joint.follows is not None:
        mimic = _child(axis, "mimic", joint=f"{joint_name(fixture, joint.follows[0])}/joint")
        for tag, value in (("multiplier", joint.follows[1]), ("offset", 0), ("reference", 0)):
            _text(mimic, tag, _numbers(value))
    limit, dynamics = _child(axis, "limit"), _child(axis, "dynamics")
    for tag, value in zip(("lower", "upper"), joint.limits, strict=True):
        _text(limit, tag, _numbers(value))
    for tag, value in (("damping", joint.damping), ("friction", joint.friction), ("spring_reference", 0), ("spring_stiffness", joint.stiffness)):
        _text(dynamics, tag, _numbers(value))


class Shapes:
    """Turns the geoms of MuJoCo bodies into visuals and collisions."""

    def __init__(self, model: mujoco.MjModel, folder: Path) -> None:
        self._model, self._folder = model, folder

    def add(self, link: Element, body: int, friction: float) -> None:
        """All geoms of a body."""
        for geom in _geoms(self._model, body):
            pose = _pose(_placed(self._model.geom_pos[geom], self._model.geom_quat[geom]))
            if self._model.geom_contype[geom] or self._model.geom_conaffinity[geom]:
                collision = _child(link, "collision", name=f"collision_{geom}")
                _text(collision, "pose", pose)
                self._geometry(_child(collision, "geometry"), geom, convex=True)
                ode = _child(_child(_child(collision, "surface"), "friction"), "ode")
                _text(ode, "mu", _numbers(friction))
                _text(ode, "mu2", _numbers(friction))
            if self._model.geom_group[geom] != HIDDEN_GROUP:
                visual = _child(link, "visual", name=f"visual_{geom}")
                _text(visual, "pose", pose)
                self._geometry(_child(visual, "geometry"), geom, convex=False)
                self._material(_child(visual, "material"), geom)

    def _geometry(self, element: Element, geom: int, convex: bool) -> None:
        kind, size = self._model.geom_type[geom], self._model.geom_size[geom]
        if kind == mujoco.mjtGeom.mjGEOM_BOX:
            _text(_child(element, "box"), "size", _numbers(*(2 * size)))
        elif kind == mujoco.mjtGeom.mjGEOM_SPHERE:
            _text(_child(element, "sphere"), "radius", _numbers(size[0]))
        elif kind == mujoco.mjtGeom.mjGEOM_CYLINDER:
            cylinder = _child(element, "cylinder")
            _text(cylinder, "radius", _numbers(size[0]))
            _text(cylinder, "length", _numbers(2 * size[1]))
        elif kind == mujoco.mjtGeom.mjGEOM_PLANE:
            plane = _child(element, "plane")
            _text(plane, "normal", "0 0 1")
            _text(plane, "size", _numbers(*(2 * size[:2])))
        elif kind == mujoco.mjtGeom.mjGEOM_MESH:
            mesh = _child(element, "mesh", **({"optimization": "convex_hull"} if convex else {}))
            _text(mesh, "uri", self._mesh(int(self._model.geom_dataid[geom])))
        else:
            raise DeskhandError("invalid_input", f"Gazebo has no shape for a MuJoCo geom of type {int(kind)}.")

    def _mesh(self, number: int) -> str:
        """Write a mesh as OBJ; its file relative to the world's."""
        model, mesh = self._model, self._model.mesh(number)
        first, count = int(model.mesh_vertadr[number]), int(model.mesh_vertnum[number])
        vertices = model.mesh_vert[first : first + count]
        first, count = int(model.mesh_faceadr[number]), int(model.mesh_facenum[number])
        faces = model.mesh_face[first : first + count]
        # flat faces: without normals Gazebo draws a mesh in white
        normals = np.cross(vertices[faces[:, 1]] - vertices[faces[:, 0]], vertices[faces[:, 2]] - vertices[faces[:, 0]])
        normals /= np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-12)
        file = Path("meshes") / f"{mesh.name.replace('/', '_')}.obj"
        (self._folder / "meshes").mkdir(parents=True, exist_ok=True)
        lines = [f"v {_numbers(*vertex)}" for vertex in vertices] + [f"vn {_numbers(*normal)}" for normal in normals]
        lines += [f"f {a}//{number} {b}//{number} {c}//{number}" for number, (a, b, c) in enumerate(faces + 1, 1)]
        (self._folder / file).write_text("\n".join([*lines, ""]))
        return file.as_posix()

    def _material(self, element: Element, geom: int) -> None:
        material = int(self._model.geom_matid[geom])
        rgba = self._model.geom_rgba[geom] if material < 0 else self._color(material)
        shine = 0.0 if material < 0 else float(self._model.mat_specular[material])
        for name in ("ambient", "diffuse"):
            _text(element, name, _numbers(*rgba))
        _text(element, "specular", _numbers(shine, shine, shine, 1))

    def _color(self, material: int) -> Array:
        """The rgba of a material; of a textured one, the mean of its picture."""
        model = self._model
        texture = int(model.mat_texid[material][int(mujoco.mjtTextureRole.mjTEXROLE_RGB)])
        if texture < 0:
            return np.asarray(model.mat_rgba[material], dtype=float)
        channels = int(model.tex_nchannel[texture])
        first, count = int(model.tex_adr[texture]), int(model.tex_width[texture] * model.tex_height[texture]) * channels
        return np.append(model.tex_data[first : first + count].reshape(-1, channels)[:, :3].mean(0) / 255, 1.0)


def _geoms(model: mujoco.MjModel, body: int) -> Iterable[int]:
    return range(int(model.body_geomadr[body]), int(model.body_geomadr[body]) + int(model.body_geomnum[body]))


def _placed(position: Array, wxyz: Array) -> Array:
    matrix = np.zeros(9)
    mujoco.mju_quat2Mat(matrix, np.asarray(wxyz, dtype=float))
    pose = identity()
    pose[:3, :3], pose[:3, 3] = matrix.reshape(3, 3), position
    return pose


def _pose(pose: Array) -> str:
    return _numbers(*pose[:3, 3], *rpy_from_rotation(pose))


def _child(parent: Element, tag: str, **attributes: str) -> Element:
    return ElementTree.SubElement(parent, tag, attributes)


def _text(parent: Element, tag: str, value: object) -> None:
    ElementTree.SubElement(parent, tag).text = str(value)


def _numbers(*values: float) -> str:
    return " ".join(f"{float(value):.9g}" for value in values)
