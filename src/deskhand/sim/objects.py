"""The bodies of the objects on the desk: collision shapes, looks and mass of each kind."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import mujoco
import numpy as np

from deskhand.errors import DeskhandError
from deskhand.geometry import Array, quaternion_from_matrix
from deskhand.sim.convex import surface_of, volume_of
from deskhand.sim.model_file import SUFFIX, Part, load_model
from deskhand.sim.reality.labels import add_surface, drawn_surface
from deskhand.sim.reality.spec import RealitySpec
from deskhand.sim.shapes import shape_pieces
from deskhand.sim.spec import CONTAINER_KINDS, ObjectSpec
from deskhand.types.meshes import Faces, load_mesh

HIDDEN_GROUP = 3  # geoms that are collided with but not drawn
CUP_SIDES = 12
CUP_TAPER = 0.82  # radius at the foot over radius at the rim
MAX_PIECES = 32


@dataclass(frozen=True)
class Surface:
    """Contact of a kind: sliding, torsional [m] and rolling [m] friction, and how soft it is (time constant of solref [s])."""

    slide: float = 0.6
    torsion: float = 0.005
    roll: float = 0.0001
    softness: float = 0.005
    condim: int = 4


_ROUND = Surface(roll=0.0008, condim=6)  # without rolling friction a ball never comes to rest
SURFACES = {
    "ball": _ROUND,
    "can": _ROUND,
    "pen": _ROUND,
    "marker": _ROUND,
    "sponge": Surface(slide=0.8, softness=0.01),
    "eraser": Surface(slide=0.8),
}


def add_object(spec: mujoco.MjSpec, item: ObjectSpec, reality: RealitySpec | None = None) -> None:
    """Add a free body for ``item`` to the world, with the surface that ``reality`` draws for it.

    Raises:
        DeskhandError: ``invalid_input`` when its size, wall or mesh make no body.
    """
    if min(item.size) <= 0 or item.mass <= 0:
        raise DeskhandError("invalid_input", f"{item.name}: size {item.size} and mass {item.mass} must be positive.")
    body = spec.worldbody.add_body(name=item.name, pos=item.pose[:3, 3], quat=_wxyz(item.pose))
    body.add_freejoint(name=item.name)
    seed = reality.seed if reality is not None else 0
    add_surface(spec, item, drawn_surface(item, reality.surfaces, seed) if reality is not None else "", seed)
    Maker(spec, body, item).make()


def _wxyz(pose: Array) -> Array:
    return np.roll(quaternion_from_matrix(pose), 1)


class Maker:
    """Adds the geoms of one object to its body; masses are shares of the object's mass by volume."""

    def __init__(self, spec: mujoco.MjSpec, body: mujoco.MjsBody, item: ObjectSpec) -> None:
        self.spec, self.body, self.item = spec, body, item
        self.half = np.asarray(item.size, dtype=float) / 2
        self._parts: list[tuple[mujoco.MjsGeom, float]] = []

    def make(self) -> None:
        """Add all geoms, then share out the mass."""
        makers: dict[str, Callable[[], None]] = {
            "ball": self._ball,
            "can": self._can,
            "pen": self._pen,
            "marker": self._pen,
            "cup": self._cup,
            "mesh": self._mesh,
        }
        default = self._container if self.item.kind in CONTAINER_KINDS else self._cuboid
        makers.get(self.item.kind, default)()
        total = sum(volume for _, volume in self._parts)
        for geom, volume in self._parts:
            geom.mass = self.item.mass * volume / total

    # ------------------------------------------------------------ kinds

    def _cuboid(self) -> None:
        self._solid(mujoco.mjtGeom.mjGEOM_BOX, self.half, float(np.prod(self.half)))

    def _ball(self) -> None:
        radius = float(self.half.min())
        self._solid(mujoco.mjtGeom.mjGEOM_SPHERE, [radius, 0, 0], radius**3)

    def _can(self) -> None:
        radius, half = float(self.half[:2].min()), float(self.half[2])
        self._solid(mujoco.mjtGeom.mjGEOM_CYLINDER, [radius, half, 0], radius**2 * half)
        lid = self._material("lid", (0.75, 0.75, 0.77))
        for z in (half - 0.0015, -half + 0.0015):
            self._seen(mujoco.mjtGeom.mjGEOM_CYLINDER, [radius * 1.001, 0.002, 0], [0, 0, z], lid)

    def _pen(self) -> None:
        radius, half = float(self.half[:2].min()), float(self.half[2])
        body = self._solid(mujoco.mjtGeom.mjGEOM_CYLINDER, [radius, half, 0], radius**2 * half)
        body.group = HIDDEN_GROUP
        tip, cap = 0.12 * half, 0.5 * half
        self._seen(mujoco.mjtGeom.mjGEOM_CYLINDER, [radius * 0.94, half - tip / 2, 0], [0, 0, tip / 2], self.item.name)
        self._seen(mujoco.mjtGeom.mjGEOM_CYLINDER, [radius, cap / 2, 0], [0, 0, half - cap / 2], self.item.name)
        self._seen(mujoco.mjtGeom.mjGEOM_CYLINDER, [radius * 0.5, tip / 2, 0], [0, 0, -half + tip / 2], self._material("tip", (0.15, 0.15, 0.16)))

    def _container(self) -> None:
        (x, y, z), wall = self.half, self.item.wall
        if wall <= 0 or wall >= min(x, y, z):
            raise DeskhandError("invalid_input", f"{self.item.name}: a wall of {wall} m does not fit a {self.item.kind} of size {self.item.size}.")
        box, half = mujoco.mjtGeom.mjGEOM_BOX, wall / 2
        self._solid(box, [x, y, half], x * y * half, [0, 0, -z + half])
        for sign in (-1, 1):
            self._solid(box, [half, y, z - half], half * y * (z - half), [sign * (x - half), 0, half])
            self._solid(box, [x - wall, half, z - half], (x - wall) * half * (z - half), [0, sign * (y - half), half])

    def _cup(self) -> None:
        radius, z, wall = float(self.half[:2].min()), float(self.half[2]), self.item.wall
        if wall <= 0 or wall >= radius * CUP_TAPER or wall >= z:
            raise DeskhandError("invalid_input", f"{self.item.name}: a wall of {wall} m does not fit a cup of size {self.item.size}.")
        foot = radius * CUP_TAPER
        floor = self._solid(mujoco.mjtGeom.mjGEOM_CYLINDER, [foot, wall / 2, 0], np.pi * foot**2 * wall, [0, 0, -z + wall / 2])
        floor.group = HIDDEN_GROUP
        slope = np.arctan2(radius - foot, 2 * z)
        middle = (radius + foot) / 2 - wall / 2
        width = (radius - wall / 2) * np.tan(np.pi / CUP_SIDES)
        for angle in 2 * np.pi * np.arange(CUP_SIDES) / CUP_SIDES:
            c, s = np.cos(angle), np.sin(angle)
            turn = np.array([[c, -s, 0], [s, c, 0], [0, 0, 1.0]]) @ _about_y(slope)
            side = self._solid(
                mujoco.mjtGeom.mjGEOM_BOX, [wall / 2, width, z / np.cos(slope)], 4 * middle * np.pi / CUP_SIDES * wall * z, [middle * c, middle * s, 0], turn
            )
            side.group = HIDDEN_GROUP
        self._seen_mesh("cup", *_cup_mesh(radius, foot, z, wall))

    def _mesh(self) -> None:
        if self.item.shape:
            convex = shape_pieces(self.item.shape, self.item.size)
            self._hulls([(piece, volume_of(piece)) for piece in convex])
            self._seen_mesh("seen", *surface_of(convex))
            return
        if self.item.mesh is None:
            raise DeskhandError("invalid_input", f"{self.item.name}: kind mesh needs a mesh file or a shape.")
        if self.item.mesh.suffix == SUFFIX:
            self._model(self.item.mesh)
            return
        vertices, faces = load_mesh(self.item.mesh)
        low, high = vertices.min(0), vertices.max(0)
        extent = high - low
        if np.any(extent <= 0):
            raise DeskhandError("invalid_input", f"{self.item.mesh} is flat: its extents are {extent.tolist()}.")
        vertices = (vertices - (low + high) / 2) / extent * np.asarray(self.item.size)
        self._hulls(_pieces(vertices, faces))
        self._seen_mesh("seen", vertices, faces)

    def _model(self, path: Path) -> None:
        model = load_model(path)
        scale = np.asarray(self.item.size) / model.size
        self._hulls([(hull * scale, volume_of(hull * scale)) for hull in model.hulls])
        for number, part in enumerate(model.parts):
            self._seen_part(number, part, scale)

    def _seen_part(self, number: int, part: Part, scale: Array) -> None:
        """A surface with its own print."""
        name = f"{self.item.name}/part{number}"
        material = self.spec.add_material(name=name, rgba=[*part.rgb, 1], specular=0.25, shininess=0.3, texrepeat=list(part.repeat), texuniform=part.uniform)
        if part.picture.size:
            height, width = part.picture.shape[:2]
            texture = self.spec.add_texture(name=name, type=mujoco.mjtTexture.mjTEXTURE_2D, width=width, height=height, nchannel=3)
            texture.data = np.ascontiguousarray(part.picture).tobytes()
            material.textures[mujoco.mjtTextureRole.mjTEXROLE_RGB] = name
        print_of = {"usertexcoord": part.uv.ravel(), "userfacetexcoord": part.uv_faces.ravel()} if len(part.uv) else {}
        shell = mujoco.mjtMeshInertia.mjMESH_INERTIA_SHELL
        self.spec.add_mesh(name=name, uservert=(part.vertices * scale).ravel(), userface=part.faces.ravel(), inertia=shell, **print_of)
        self.body.add_geom(type=mujoco.mjtGeom.mjGEOM_MESH, meshname=name, material=name, contype=0, conaffinity=0, mass=0, group=1)

    def _hulls(self, pieces: list[tuple[Array, float]]) -> None:
        """Convex pieces that are collided with: corners (V, 3), volume [m^3]."""
        for number, (points, volume) in enumerate(pieces):
            name = f"{self.item.name}/hull{number}"
            self.spec.add_mesh(name=name, uservert=points.ravel())
            self._solid(mujoco.mjtGeom.mjGEOM_MESH, [0, 0, 0], volume, mesh=name).group = HIDDEN_GROUP

    # ------------------------------------------------------------ geoms

    def _solid(
        self, kind: mujoco.mjtGeom, size: object, volume: float, pos: object = (0, 0, 0), rotation: Array | None = None, mesh: str = ""
    ) -> mujoco.MjsGeom:
        surface = SURFACES.get(self.item.kind, Surface())
        extra = {"meshname": mesh} if mesh else {"size": size}
        geom = self.body.add_geom(
            type=kind,
            pos=pos,
            quat=_wxyz(np.eye(3) if rotation is None else rotation),
            material=self.item.name,
            condim=surface.condim,
            friction=[surface.slide, surface.torsion, surface.roll],
            solref=[surface.softness, 1],
            **extra,
        )
        self._parts.append((geom, float(volume)))
        return geom

    def _seen(self, kind: mujoco.mjtGeom, size: object, pos: object, material: str) -> None:
        self.body.add_geom(type=kind, size=size, pos=pos, material=material, contype=0, conaffinity=0, mass=0, group=1)

    def _seen_mesh(self, suffix: str, vertices: Array, faces: Faces) -> None:
        name = f"{self.item.name}/{suffix}"
        self.spec.add_mesh(name=name, uservert=vertices.ravel(), userface=faces.ravel(), inertia=mujoco.mjtMeshInertia.mjMESH_INERTIA_SHELL)
        self.body.add_geom(type=mujoco.mjtGeom.mjGEOM_MESH, meshname=name, material=self.item.name, contype=0, conaffinity=0, mass=0, group=1)

    def _material(self, suffix: str, rgb: tuple[float, float, float]) -> str:
        name = f"{self.item.name}/{suffix}"
        self.spec.add_material(name=name, rgba=[*rgb, 1], specular=0.3, shininess=0.4)
        return name


def _about_y(angle: float) -> Array:
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, 0, s], [0, 1, 0], [-s, 0, c]])


def _cup_mesh(radius: float, foot: float, z: float, wall: float, sides: int = 32) -> tuple[Array, Faces]:
    """A hollow tapered cup: outer foot, outer rim, inner rim, inner floor, as rings from the axis to the axis."""
    rings = [(0.0, -z), (foot, -z), (radius, z), (radius - wall, z), (foot - wall, -z + wall), (0.0, -z + wall)]
    angles = 2 * np.pi * np.arange(sides) / sides
    vertices = np.array([[r * np.cos(a), r * np.sin(a), height] for r, height in rings for a in angles])
    faces = []
    for ring in range(len(rings) - 1):
        for i in range(sides):
            j = (i + 1) % sides
            a, b, c, d = ring * sides + i, ring * sides + j, (ring + 1) * sides + i, (ring + 1) * sides + j
            faces += [(a, b, d), (a, d, c)] if ring else [(a, d, c)]
    # the first and the last ring are points: leave their empty triangles out
    corners = np.array(faces, dtype=np.int32)
    area = np.linalg.norm(np.cross(vertices[corners[:, 1]] - vertices[corners[:, 0]], vertices[corners[:, 2]] - vertices[corners[:, 0]]), axis=1)
    return vertices, corners[area > 1e-12]


def _pieces(vertices: Array, faces: Faces) -> list[tuple[Array, float]]:
    """Convex hulls (points, volume) of the connected parts of a mesh; of the whole when there are too many or they are flat."""
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components
    from scipy.spatial import ConvexHull, QhullError

    _, merged = np.unique(vertices.round(7), axis=0, return_inverse=True)
    corners = merged.reshape(-1)[faces]
    count = int(corners.max()) + 1
    edges = np.concatenate([corners[:, [0, 1]], corners[:, [1, 2]]])
    _, label = connected_components(coo_matrix((np.ones(len(edges)), (edges[:, 0], edges[:, 1])), shape=(count, count)), directed=False)
    part = label[corners[:, 0]]
    groups = [vertices[np.unique(faces[part == number])] for number in np.unique(part)]
    for points in (groups, [vertices]) if len(groups) <= MAX_PIECES else ([vertices],):
        try:
            hulls = [(group, ConvexHull(group)) for group in points]
            return [(group[hull.vertices], float(hull.volume)) for group, hull in hulls]
        except QhullError:
            continue
    raise DeskhandError("invalid_input", "the mesh encloses no volume.")
