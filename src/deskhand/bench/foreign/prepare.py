"""From an object as a package has it (MJCF, OBJ) to a model file: surfaces with print, convex pieces, the ways it lies."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import cv2
import mujoco
import numpy as np
from scipy.spatial import ConvexHull

from deskhand.bench.foreign.decompose import decompose
from deskhand.bench.foreign.made import made_parts
from deskhand.errors import DeskhandError
from deskhand.geometry import Array, rotation_about
from deskhand.sim.convex import volume_of
from deskhand.sim.model_file import ModelFile, Part, Picture
from deskhand.tasks.foreign_objects import Kind
from deskhand.types.meshes import load_mesh

MADE = "made"  # the package of bodies that made.py makes
PICTURE = 512  # [px] of a texture at most
LEVEL = np.deg2rad(3.0)  # facets that differ less are one side
STEADY = 0.18  # how far the edge of a side must be from below the centre of mass, over its height: it does not tip at 10 degrees
MOST = 12  # ways to lie, the most usual ones


def prepare(kind: Kind, packages: Path) -> ModelFile:
    """The model of ``kind``, whose file lies in ``packages``.

    Raises:
        DeskhandError: ``invalid_input`` when the file is missing or cannot be read.
    """
    path = packages / kind.file
    pieces: list[Array] = []
    if kind.package == MADE:
        family, _, seed = kind.file.partition("/")
        parts, pieces = made_parts(family, int(seed))
    else:
        parts = [_plain(kind, path)] if path.suffix == ".obj" and not kind.texture else _parts(_compiled(kind, path))
    everything = np.vstack([part.vertices for part in parts])
    middle = (everything.min(axis=0) + everything.max(axis=0)) / 2
    parts = [Part(part.vertices - middle, *_rest_of(part)) for part in parts]
    hulls = [piece - middle for piece in pieces] or _hulls(parts)
    mass = kind.density * sum(map(volume_of, hulls))
    rests, shares = _rests(np.vstack([part.vertices for part in parts]), hulls, kind.up)
    return ModelFile(tuple(parts), tuple(hulls), float(mass), rests, shares)


def _rest_of(part: Part) -> tuple[Any, ...]:
    return part.faces, part.rgb, part.picture, part.uv, part.uv_faces, part.repeat, part.uniform


def _plain(kind: Kind, path: Path) -> Part:
    """An OBJ in one colour, all its groups (MuJoCo reads the first one only)."""
    vertices, faces = load_mesh(path)
    return Part(vertices * np.asarray(kind.scale), faces, kind.rgb)


def _compiled(kind: Kind, path: Path) -> mujoco.MjModel:
    if not path.is_file():
        raise DeskhandError("invalid_input", f"{kind.name}: there is no file {path}.")
    try:
        if path.suffix == ".xml":
            return mujoco.MjModel.from_xml_path(str(path))
        spec = mujoco.MjSpec()
        spec.add_mesh(name="seen", file=str(path), scale=list(kind.scale), inertia=mujoco.mjtMeshInertia.mjMESH_INERTIA_SHELL)
        spec.add_material(name="seen", rgba=[*kind.rgb, 1.0])
        if kind.texture:
            picture = cv2.imread(str(path.parent / kind.texture))
            if picture is None:
                raise DeskhandError("invalid_input", f"{kind.name}: the picture {kind.texture} cannot be read.")
            height, width = picture.shape[:2]
            texture = spec.add_texture(name="seen", type=mujoco.mjtTexture.mjTEXTURE_2D, width=width, height=height, nchannel=3)
            texture.data = np.ascontiguousarray(picture[..., ::-1]).tobytes()
            spec.material("seen").textures[mujoco.mjtTextureRole.mjTEXROLE_RGB] = "seen"
        spec.worldbody.add_body(name="object").add_geom(type=mujoco.mjtGeom.mjGEOM_MESH, meshname="seen", material="seen", group=1)
        return spec.compile()
    except ValueError as error:
        raise DeskhandError("invalid_input", f"{kind.name}: {path} cannot be read: {str(error)[:200]}.") from error


def _parts(model: mujoco.MjModel) -> list[Part]:
    """Its seen meshes in the frame of its root; what only collides (group 0 beside a group 1) is left out."""
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    meshes = [geom for geom in range(model.ngeom) if model.geom_type[geom] == mujoco.mjtGeom.mjGEOM_MESH]
    seen = [geom for geom in meshes if model.geom_group[geom] == 1] or meshes
    seen = list({int(model.geom_dataid[geom]): geom for geom in seen}.values())
    return [_part(model, int(model.geom_dataid[geom]), int(model.geom_matid[geom]), data.geom_xpos[geom], data.geom_xmat[geom].reshape(3, 3)) for geom in seen]


def _part(model: mujoco.MjModel, mesh: int, material: int, place: Array, turn: Array) -> Part:
    def rows(array: Any, first: int, count: int) -> Any:
        return np.array(array[first : first + count])

    vertices = rows(model.mesh_vert, model.mesh_vertadr[mesh], model.mesh_vertnum[mesh]) @ turn.T + place
    faces = rows(model.mesh_face, model.mesh_faceadr[mesh], model.mesh_facenum[mesh])
    uv, uv_faces = np.zeros((0, 2)), np.zeros((0, 3), np.int32)
    if model.mesh_texcoordnum[mesh]:
        uv = rows(model.mesh_texcoord, model.mesh_texcoordadr[mesh], model.mesh_texcoordnum[mesh])
        uv_faces = rows(model.mesh_facetexcoord, model.mesh_faceadr[mesh], model.mesh_facenum[mesh])
    if material < 0:
        return Part(vertices, faces, (0.6, 0.6, 0.6), uv=uv, uv_faces=uv_faces)
    r, g, b = map(float, model.mat_rgba[material, :3])
    u, v = map(float, model.mat_texrepeat[material])
    return Part(vertices, faces, (r, g, b), _picture(model, material), uv, uv_faces, (u, v), bool(model.mat_texuniform[material]))


def _picture(model: mujoco.MjModel, material: int) -> Picture:
    """Its texture, no larger than :data:`PICTURE`; empty where it has none that is laid on flat."""
    number = int(model.mat_texid[material, mujoco.mjtTextureRole.mjTEXROLE_RGB])
    if number < 0 or model.tex_type[number] != mujoco.mjtTexture.mjTEXTURE_2D:
        return np.zeros((0, 0, 3), np.uint8)
    height, width, channels = int(model.tex_height[number]), int(model.tex_width[number]), int(model.tex_nchannel[number])
    first = int(model.tex_adr[number])
    picture = np.array(model.tex_data[first : first + height * width * channels]).reshape(height, width, channels)
    picture = np.repeat(picture, 3, axis=2) if channels == 1 else picture[..., :3]
    shrink = PICTURE / max(height, width)
    return np.asarray(cv2.resize(picture, None, fx=shrink, fy=shrink, interpolation=cv2.INTER_AREA) if shrink < 1 else picture, dtype=np.uint8)


def _hulls(parts: list[Part]) -> list[Array]:
    """Convex pieces of all parts together."""
    first = np.cumsum([0, *(len(part.vertices) for part in parts)])
    faces = np.vstack([part.faces + start for part, start in zip(parts, first, strict=False)])
    return decompose(np.vstack([part.vertices for part in parts]), faces)


def _rests(vertices: Array, hulls: list[Array], up: tuple[float, float, float] | None) -> tuple[Array, Array]:
    """World_R_object (R, 3, 3) of the sides on which it stands steadily, and how usual each is (R,); ``up``: only with this axis of its own upright."""
    hull = ConvexHull(vertices)
    volumes = np.array([volume_of(piece) for piece in hulls])
    centre = np.array([piece.mean(axis=0) for piece in hulls]).T @ volumes / volumes.sum()
    found: list[tuple[Array, float]] = []
    corners = vertices[hull.vertices]
    for normal, offset in _sides(hull):
        rotation = _turned_down(normal)
        height = float(-(normal @ centre + offset))
        side = corners[corners @ normal + offset > -0.0008] @ rotation.T
        if len(side) < 3 or np.ptp(side[:, :2], axis=0).min() < 1e-4:
            continue
        outline = ConvexHull(side[:, :2])
        margin = float(-(outline.equations[:, :2] @ (rotation @ centre)[:2] + outline.equations[:, 2]).max())
        if margin > STEADY * height:
            found.append((rotation, float(outline.volume) / height))
    if up is not None:
        found = [one for one in found if one[0][2] @ np.asarray(up) > 0.95] or [(_turned_down(-np.asarray(up, dtype=float)), 1.0)]
    if not found:  # round all over: on its flattest side
        normal, _ = min(_sides(hull), key=lambda side: float(-(side[0] @ centre + side[1])))
        found = [(_turned_down(normal), 1.0)]
    shares = np.array([share for _, share in found]) / sum(share for _, share in found)
    kept = np.argsort(-shares, kind="stable")[:MOST]
    return np.array([rotation for rotation, _ in found])[kept], shares[kept] / shares[kept].sum()


def _sides(hull: ConvexHull) -> list[tuple[Array, float]]:
    """Planes (normal, offset) of the hull, those that nearly agree taken together, the outermost of each."""
    left, sides = hull.equations, []
    while len(left):
        near = left[:, :3] @ left[0, :3] > np.cos(LEVEL)
        normal = left[near, :3].mean(axis=0)
        normal /= np.linalg.norm(normal)
        sides.append((normal, -float((hull.points[hull.vertices] @ normal).max())))
        left = left[~near]
    return sides


def _turned_down(normal: Array) -> Array:
    """The least turn that points ``normal`` straight down."""
    down = np.array([0.0, 0.0, -1.0])
    axis, cosine = np.cross(normal, down), float(np.clip(normal @ down, -1, 1))
    if np.linalg.norm(axis) < 1e-9:
        return np.eye(3) if cosine > 0 else rotation_about((1.0, 0.0, 0.0), np.pi)
    return rotation_about(axis / np.linalg.norm(axis), float(np.arccos(cosine)))
