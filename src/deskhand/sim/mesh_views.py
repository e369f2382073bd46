"""Views of a mesh, rendered off screen from all sides, to teach an object of which there is a model."""

from __future__ import annotations

import math
from pathlib import Path

import mujoco
import numpy as np

from deskhand.errors import DeskhandError
from deskhand.geometry import Array
from deskhand.types.meshes import load_mesh
from deskhand.world.taught import TaughtView

SIDE = 200  # [px] of a picture
ELEVATION = 0.7  # [rad] of the camera over the plane on which the object stands, as cameras over desks have
TURNS = 6  # views round each side that may be up
FOV = 0.6  # [rad]
ROOM = 1.15  # of the picture beside the object


def mesh_views(mesh: Path, texture: Path | None = None, scale: float = 1.0) -> list[TaughtView]:
    """Views of a mesh (OBJ, STL) with each of its six sides up, :data:`TURNS` round each. ``texture``: PNG; ``scale``: metres in a unit of the mesh.

    Raises:
        DeskhandError: ``invalid_input`` for a mesh or texture that cannot be read, ``missing_dependency`` without off-screen rendering.
    """
    vertices, _ = load_mesh(mesh)
    size = np.ptp(vertices, axis=0) * scale
    if not 0.002 < float(size.max()) < 2.0:
        raise DeskhandError(
            "invalid_input", f"{mesh} would be {size.max():.3g} m long.", hint="Give --scale: metres in a unit of the mesh, 0.001 for millimetres."
        )
    model = _model(mesh, texture, scale)
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    centre = np.asarray(data.geom_xpos[0]) + data.geom_xmat[0].reshape(3, 3) @ _middle(model)
    distance = ROOM * float(np.linalg.norm(size)) / 2 / math.sin(FOV / 2)
    try:
        with mujoco.Renderer(model, SIDE, SIDE) as renderer:
            return [_view(renderer, data, centre, _eye(up, turn), np.array(up), distance, size) for up in _sides() for turn in range(TURNS)]
    except DeskhandError:
        raise
    except Exception as error:  # what a missing driver raises differs from one OpenGL platform to another
        raise DeskhandError("missing_dependency", f"no off-screen rendering: {error}.", hint="Set MUJOCO_GL=egl and install libegl1.") from error


def _model(mesh: Path, texture: Path | None, scale: float) -> mujoco.MjModel:
    spec = mujoco.MjSpec()
    spec.visual.global_.offwidth = spec.visual.global_.offheight = SIDE
    spec.visual.global_.fovy = math.degrees(FOV)
    spec.visual.headlight.ambient, spec.visual.headlight.diffuse = [0.45] * 3, [0.45] * 3
    spec.visual.map.znear = 0.01
    spec.stat.extent = 1.0
    spec.add_mesh(name="object", file=str(mesh.resolve()), scale=[scale] * 3)
    material = ""
    if texture is not None:
        if not texture.is_file():
            raise DeskhandError("invalid_input", f"there is no texture {texture}.")
        spec.add_texture(name="print", type=mujoco.mjtTexture.mjTEXTURE_2D, file=str(texture.resolve()))
        print_of = spec.add_material(name="print", specular=0.1, shininess=0.2)
        print_of.textures[mujoco.mjtTextureRole.mjTEXROLE_RGB] = "print"
        material = "print"
    spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_MESH, meshname="object", material=material)
    try:
        return spec.compile()
    except ValueError as error:
        raise DeskhandError("invalid_input", f"{mesh} cannot be rendered: {str(error)[:200]}.") from error


def _middle(model: mujoco.MjModel) -> Array:
    vertices = model.mesh_vert[: model.mesh_vertnum[0]]
    return np.asarray((vertices.min(axis=0) + vertices.max(axis=0)) / 2, dtype=float)


def _sides() -> list[tuple[float, float, float]]:
    return [(sign * float(axis == 0), sign * float(axis == 1), sign * float(axis == 2)) for axis in range(3) for sign in (1.0, -1.0)]


def _eye(up: tuple[float, float, float], turn: int) -> Array:
    """From the object to the camera, of length 1."""
    axis = np.array(up)
    first = np.roll(np.abs(axis), 1)
    second = np.cross(axis, first)
    angle = 2 * np.pi * (turn + 0.25) / TURNS
    return np.asarray(np.cos(ELEVATION) * (np.cos(angle) * first + np.sin(angle) * second) + np.sin(ELEVATION) * axis)


def _view(renderer: mujoco.Renderer, data: mujoco.MjData, centre: Array, way: Array, up: Array, distance: float, size: Array) -> TaughtView:
    color = _picture(renderer, data, centre, way, up, distance)
    renderer.enable_segmentation_rendering()
    numbers = _picture(renderer, data, centre, way, up, distance)
    renderer.disable_segmentation_rendering()
    long, middle, short = sorted(map(float, size), reverse=True)
    return TaughtView(color.astype(np.uint8), np.asarray(numbers[..., 0] >= 0), (long, middle, short), "mesh")


def _picture(
    renderer: mujoco.Renderer, data: mujoco.MjData, centre: Array, way: Array, up: Array, distance: float
) -> np.ndarray[tuple[int, ...], np.dtype[np.int32]]:
    renderer.update_scene(data)
    right = np.cross(up, way)
    for eye in renderer.scene.camera:
        eye.pos[:], eye.forward[:], eye.up[:] = centre + distance * way, -way, np.cross(way, right / np.linalg.norm(right))
    return np.asarray(renderer.render()).astype(np.int32)
