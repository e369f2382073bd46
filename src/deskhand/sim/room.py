"""What is always there: the desk, the room around it, the light, the camera."""

from __future__ import annotations

import math

import mujoco
import numpy as np

from deskhand.geometry import quaternion_from_matrix
from deskhand.sim.reality.edge_objects import add_edge_objects
from deskhand.sim.reality.light import add_light
from deskhand.sim.reality.patterns import table_picture
from deskhand.sim.reality.spec import TableReality
from deskhand.sim.spec import CameraSpec, WorldSpec

CAMERA = "camera"
DESK = "desk"
DESK_THICKNESS = 0.03
DESK_HEIGHT = 0.74
OPTICAL_TO_GL = np.diag([1.0, -1.0, -1.0])  # MuJoCo's cameras look along -z with y up


def add_room(spec: mujoco.MjSpec, world: WorldSpec) -> None:
    """Add desk, floor, walls, light and camera."""
    _desk(spec, world)
    _surroundings(spec)
    if world.reality is not None and world.reality.light.direct > 0:
        add_light(spec, world.reality.light)
    else:
        _lights(spec)
    _camera(spec, world.camera)
    if world.reality is not None:
        add_edge_objects(spec, world, world.reality)


def _desk(spec: mujoco.MjSpec, desk: WorldSpec) -> None:
    size, drawn = desk.table, desk.reality is not None and desk.reality.table != TableReality()
    texture = spec.add_texture(name="wood", type=mujoco.mjtTexture.mjTEXTURE_2D, width=512, height=512, nchannel=3)
    texture.data = (_wood() if desk.reality is None or not drawn else table_picture(desk.reality.table, size, desk.reality.seed)).tobytes()
    material = spec.add_material(name="wood", specular=0.08, shininess=0.1, texrepeat=[1.0, 1.0], texuniform=False)
    material.textures[mujoco.mjtTextureRole.mjTEXROLE_RGB] = "wood"
    spec.add_material(name="edge", rgba=[0.48, 0.40, 0.31, 1], specular=0.05)
    spec.add_material(name="leg", rgba=[0.20, 0.20, 0.21, 1])
    world, (x, y) = spec.worldbody, (size[0] / 2, size[1] / 2)
    box = mujoco.mjtGeom.mjGEOM_BOX
    contact = {"condim": 4, "friction": [0.6, 0.005, 0.0001], "solref": [0.01, 1]}
    world.add_geom(name=DESK, type=box, size=[x, y, DESK_THICKNESS / 2], pos=[0, 0, -DESK_THICKNESS / 2], material="edge", **contact)
    # a plane just above the board carries the grain: a texture on a box would stretch over its sides
    world.add_geom(type=mujoco.mjtGeom.mjGEOM_PLANE, size=[x, y, 1], pos=[0, 0, 0.0002], material="wood", contype=0, conaffinity=0, group=1)
    for sign_x in (-1, 1):
        for sign_y in (-1, 1):
            leg = [sign_x * (x - 0.05), sign_y * (y - 0.05), -(DESK_THICKNESS + DESK_HEIGHT) / 2]
            world.add_geom(type=box, size=[0.02, 0.02, (DESK_HEIGHT - DESK_THICKNESS) / 2], pos=leg, material="leg", contype=0, conaffinity=0, group=1)


def _wood(size: int = 512) -> np.ndarray[tuple[int, ...], np.dtype[np.uint8]]:
    """Pale, hardly saturated wood grain, so that the colours of objects stand out: (size, size, 3)."""
    rng = np.random.default_rng(7)
    v, u = np.mgrid[0:size, 0:size] / size
    warp = sum(0.010 * np.sin(2 * np.pi * (k * v + rng.random())) / k for k in range(1, 5))
    lines = sum(np.sin(2 * np.pi * (frequency * (u + warp) + rng.random())) / count for count, frequency in enumerate((9, 23, 41, 77), 1))
    fibre = np.repeat(rng.normal(size=(size // 16, size)), 16, axis=0)
    tone = 1 + 0.018 * lines + 0.012 * fibre
    return np.asarray(np.clip(np.array([203, 190, 170]) * tone[..., None], 0, 255), dtype=np.uint8)


def _surroundings(spec: mujoco.MjSpec) -> None:
    spec.add_texture(
        name="sky",
        type=mujoco.mjtTexture.mjTEXTURE_SKYBOX,
        builtin=mujoco.mjtBuiltin.mjBUILTIN_GRADIENT,
        rgb1=[0.62, 0.64, 0.67],
        rgb2=[0.36, 0.37, 0.40],
        width=64,
        height=384,
    )
    spec.add_material(name="floor", rgba=[0.34, 0.35, 0.37, 1], specular=0.05)
    spec.worldbody.add_geom(
        name="floor", type=mujoco.mjtGeom.mjGEOM_PLANE, size=[3, 3, 1], pos=[0, 0, -DESK_HEIGHT], material="floor", condim=6, friction=[0.6, 0.005, 0.002]
    )


def _lights(spec: mujoco.MjSpec) -> None:
    head = spec.visual.headlight
    head.ambient, head.diffuse, head.specular = [0.42, 0.42, 0.43], [0.16, 0.16, 0.16], [0, 0, 0]
    spec.worldbody.add_light(
        name="window",
        type=mujoco.mjtLightType.mjLIGHT_DIRECTIONAL,
        pos=[0.35, -0.7, 1.6],
        dir=[-0.22, 0.42, -1],
        diffuse=[0.46, 0.46, 0.44],
        specular=[0.25, 0.25, 0.25],
        castshadow=True,
    )
    spec.worldbody.add_light(
        name="lamp",
        type=mujoco.mjtLightType.mjLIGHT_DIRECTIONAL,
        pos=[-0.5, 0.8, 1.6],
        dir=[0.35, -0.5, -1],
        diffuse=[0.16, 0.16, 0.17],
        specular=[0.05, 0.05, 0.05],
        castshadow=False,
    )


def _camera(spec: mujoco.MjSpec, camera: CameraSpec) -> None:
    rotation = camera.world_T_camera[:3, :3] @ OPTICAL_TO_GL
    spec.worldbody.add_camera(name=CAMERA, pos=camera.world_T_camera[:3, 3], quat=np.roll(quaternion_from_matrix(rotation), 1), fovy=math.degrees(camera.fovy))
    spec.visual.global_.offwidth, spec.visual.global_.offheight = camera.width, camera.height
    spec.visual.quality.offsamples = 0  # smoothing costs more than the rest of the picture
    spec.visual.quality.shadowsize = 1024
