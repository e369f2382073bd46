"""A world with a drawn reality: where its camera stands, and where it really is."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from deskhand.geometry import Array, look_at, make_transform, rotation_about
from deskhand.sim.reality.spec import CameraReality, RealitySpec
from deskhand.sim.spec import CameraSpec, WorldSpec

LOWEST, HIGHEST = np.radians(15.0), np.radians(89.0)  # that a camera may look down


def with_reality(world: WorldSpec, reality: RealitySpec | None) -> WorldSpec:
    """``world`` in this reality; a camera that stands where worlds have theirs by default is put where the reality has it."""
    if reality is None:
        return replace(world, reality=None)
    camera = world.camera
    if not camera.link and np.array_equal(camera.world_T_camera, CameraSpec().world_T_camera):
        camera = replace(camera, world_T_camera=placed(camera.world_T_camera, reality.camera))
    return replace(world, camera=camera, reality=reality)


def placed(world_T_camera: Array, places: CameraReality) -> Array:
    """world_T_camera after the camera was carried around the point of the desk that it looks at."""
    if places.azimuth == 0 and places.elevation == 0 and places.distance == 1:
        return world_T_camera
    eye, along = world_T_camera[:3, 3], world_T_camera[:3, 2]
    aim = eye - along * eye[2] / along[2]
    arm = eye - aim
    far = float(np.linalg.norm(arm)) * places.distance
    azimuth = np.arctan2(arm[1], arm[0]) + places.azimuth
    elevation = float(np.clip(np.arcsin(arm[2] / np.linalg.norm(arm)) + places.elevation, LOWEST, HIGHEST))
    away = np.array([np.cos(azimuth) * np.cos(elevation), np.sin(azimuth) * np.cos(elevation), np.sin(elevation)])
    return look_at(aim + far * away, aim)


def mount_error(reality: RealitySpec) -> Array:
    """told_T_real (4, 4): where the camera really is, seen from where it is believed to be."""
    rng = np.random.default_rng([reality.seed, 341])
    shift, axis = (vector / np.linalg.norm(vector) for vector in rng.normal(size=(2, 3)))
    return make_transform(rotation_about(axis, reality.camera.rotation), reality.camera.translation * shift)
