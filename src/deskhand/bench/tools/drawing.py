"""Lays a scenario's objects out anew from a seed: which objects there are is given, where they stand, how they are turned, their sizes and shades are drawn."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import cache

import cv2
import numpy as np

from deskhand.arms.config import load_arm
from deskhand.errors import DeskhandError
from deskhand.geometry import Array, inverse, make_transform, rotation_rpy, transform_points
from deskhand.sim.fixtures.spec import FixtureSpec
from deskhand.sim.spec import CONTAINER_KINDS, CameraSpec, ObjectSpec, WorldSpec, pose_at
from deskhand.tasks.desk_cleaning import laid_out
from deskhand.tasks.placement import Footprint, footprint_of

Random = np.random.Generator
GAP = 0.035  # [m] between what does not belong together: a finger fits in
HIDDEN = 0.02  # share of an object's outline in the picture that others may overlap
_LAYOUTS, _PLACES = 200, 60  # tries


@cache
def region(arm: str) -> dict[str, tuple[float, float]]:
    """Where desk_cleaning puts objects (``x``, ``y``) and one container (``bin_x``, ``bin_y``, on either side), and the ``reach`` around the base [m]."""
    config = laid_out(load_arm(arm))
    (x, y), alone = (config["region"][axis] for axis in "xy"), config["place_alone"]
    return {"x": tuple(x), "y": tuple(y), "bin_x": tuple(alone["x"]), "bin_y": tuple(alone["y"]), "reach": tuple(config["reach"])}


def drawn(
    random: Random,
    world: WorldSpec,
    together: Sequence[Sequence[str]] = (),
    *,
    turn: float = math.pi,
    facing: bool = False,
    sizes: bool = True,
) -> WorldSpec:
    """A world with the same objects elsewhere: apart from each other, within reach, none hidden from the camera by what it does not belong to.

    What is beside the table stays.

    Args:
        random: draws it.
        world: the objects; what stands on, in or against what is as it is here.
        together: names of objects (and fixtures) that keep their poses to each other; all others stand alone.
        turn: those that keep together, and what stands alone, are turned by up to this [rad] either way.
        facing: those that keep together are turned with the direction of the camera, which is +x here, besides.
        sizes: the sizes of what stands alone are drawn too, by a tenth either way.

    Raises:
        DeskhandError: ``invalid_input`` when no layout is found.
    """
    outside = [item for item in world.objects if abs(item.pose[1, 3]) > world.table[1] / 2]
    objects = tuple(_shaded(random, item) for item in world.objects if item not in outside)
    groups = [[item for item in objects if item.name in names] for names in together]
    fixtures = [[one for one in world.fixtures if one.name in names] for names in together]
    alone = [item for item in objects if not any(item.name in names for names in together)]
    groups += [[_sized(random, item) if sizes else item] for item in alone]
    fixtures += [[] for _ in alone]
    bins = sum(any(item.kind in CONTAINER_KINDS for item in group) for group in groups)
    order = sorted(range(len(groups)), key=lambda index: -_extent(groups[index], fixtures[index]))
    for _ in range(_LAYOUTS):
        placed: dict[int, Array] = {}
        for index in order:
            stands = [_moved(item, motion) for other, motion in placed.items() for item in groups[other]]
            taken = [_moved_fixture(one, motion) for other, motion in placed.items() for one in fixtures[other]]
            motion = _place(random, world, groups[index], fixtures[index], (stands, taken), turn, facing and len(groups[index]) > 1, bins)
            if motion is None:
                break
            placed[index] = motion
        else:
            made = {item.name: item for item in outside} | {item.name: _moved(item, placed[index]) for index, group in enumerate(groups) for item in group}
            standing = {one.name: _moved_fixture(one, placed[index]) for index, group in enumerate(fixtures) for one in group}
            return replace(
                world, objects=tuple(made[item.name] for item in world.objects), fixtures=tuple(standing.get(one.name, one) for one in world.fixtures)
            )
    raise DeskhandError("invalid_input", f"no layout was found for {', '.join(item.name for item in world.objects)}.")


def stands_free(world: WorldSpec, item: ObjectSpec, others: Sequence[ObjectSpec], gap: float = GAP) -> bool:
    """Whether an object, where it is, is within reach, whole in the picture, ``gap`` [m] from the others and neither hides one nor is hidden."""
    return _fits(world, [item], [], (others, ()), gap)


def can_slide(world: WorldSpec, name: str, length: float, gap: float = GAP) -> bool:
    """Whether an object can slide by ``length`` [m] in some direction, staying as :func:`stands_free` says; asked every 15 degrees."""
    item = next(one for one in world.objects if one.name == name)
    others = [one for one in world.objects if one.name != name]
    ways = [length * np.array([math.cos(angle), math.sin(angle), 0.0]) for angle in np.arange(24) * math.pi / 12]
    return any(
        all(stands_free(world, replace(item, pose=make_transform(None, share * way) @ item.pose), others, gap) for share in (1, 0.5, 0.75)) for way in ways
    )


def free_pose(random: Random, world: WorldSpec, item: ObjectSpec, others: Sequence[ObjectSpec], gap: float = GAP, turn: float = math.pi) -> Array:
    """world_T_object (4, 4) of a free place, on the table as it stands, turned by up to ``turn`` [rad].

    Raises:
        DeskhandError: ``no_free_space``.
    """
    here = region(world.arm)
    for _ in range(_LAYOUTS * _PLACES):
        motion = _motion(item.pose[:2, 3], (random.uniform(*here["x"]), random.uniform(*here["y"])), random.uniform(-turn, turn))
        if stands_free(world, _moved(item, motion), others, gap):
            return np.asarray(motion @ item.pose)
    raise DeskhandError("no_free_space", f"no free place was found for {item.name}.")


def _place(
    random: Random,
    world: WorldSpec,
    group: list[ObjectSpec],
    fixtures: list[FixtureSpec],
    stands: tuple[list[ObjectSpec], list[FixtureSpec]],
    turn: float,
    facing: bool,
    bins: int,
) -> Array | None:
    """A motion (4, 4) in world that brings what keeps together to a free place."""
    here = region(world.arm)
    middle = np.mean([one.pose[:2, 3] for one in (fixtures or group)], axis=0)
    container = next((item for item in group if item.kind in CONTAINER_KINDS), None)
    for _ in range(_PLACES):
        if container is not None:
            middle = container.pose[:2, 3]
            side = float(np.sign(middle[1])) if bins > 1 else float(random.choice([-1.0, 1.0]))
            to, yaw = (random.uniform(*here["bin_x"]), side * random.uniform(*here["bin_y"])), random.uniform(-0.05, 0.05)
        elif fixtures:
            to, yaw = (middle + random.uniform(-0.03, 0.03, 2)).tolist(), random.uniform(-0.1, 0.1)
        else:
            to, yaw = (random.uniform(*here["x"]), random.uniform(*here["y"])), random.uniform(-turn, turn)
            if facing:
                away = world.camera.world_T_camera[:2, 3] - to
                yaw += math.atan2(away[1], away[0])
        motion = _motion(middle, to, yaw)
        moved, there = [_moved(item, motion) for item in group], [_moved_fixture(one, motion) for one in fixtures]
        if _fits(world, moved, there, stands, GAP):
            return motion
    return None


def _fits(
    world: WorldSpec,
    group: Sequence[ObjectSpec],
    fixtures: Sequence[FixtureSpec],
    stands: tuple[Sequence[ObjectSpec], Sequence[FixtureSpec]],
    gap: float,
) -> bool:
    near, far = region(world.arm)["reach"]
    base = load_arm(world.arm).world_T_base[:2, 3]
    for item in group:
        away = float(np.linalg.norm(item.pose[:2, 3] - base))
        if not near <= away <= far and item.kind not in CONTAINER_KINDS and not fixtures:
            return False
    mine = [footprint_of(item) for item in group] + [_as_footprint(one) for one in fixtures]
    others = [footprint_of(item) for item in stands[0]] + [_as_footprint(one) for one in stands[1]]
    if not all(one.apart(other, gap) for one in mine for other in others):
        return False
    outlines = [outline_in_picture(world.camera, item) for item in group]
    size = np.array([world.camera.width, world.camera.height])
    if any((outline < 2).any() or (outline > size - 3).any() for outline in outlines):
        return False
    return not any(_overlap(one, outline_in_picture(world.camera, other)) > HIDDEN for one in outlines for other in stands[0])


def outline_in_picture(camera: CameraSpec, item: ObjectSpec) -> Array:
    """Corners (N, 2) [px] of the convex outline of an object's bounding box in the picture."""
    corners = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]) * np.asarray(item.size) / 2
    points = transform_points(inverse(camera.world_T_camera) @ item.pose, corners)
    focal = camera.height / 2 / math.tan(camera.fovy / 2)
    pixels = points[:, :2] / points[:, 2:] * focal + np.array([camera.width, camera.height]) / 2
    return np.asarray(cv2.convexHull(pixels.astype(np.float32))[:, 0], float)


def _overlap(one: Array, other: Array) -> float:
    """What two outlines share, as a share of the smaller."""
    if (one.max(axis=0) < other.min(axis=0)).any() or (other.max(axis=0) < one.min(axis=0)).any():
        return 0.0
    first, second = one.astype(np.float32), other.astype(np.float32)
    shared = cv2.intersectConvexConvex(first, second)[0]
    return float(shared / min(cv2.contourArea(first), cv2.contourArea(second)))


def _motion(middle: Array, to: Sequence[float], yaw: float) -> Array:
    return make_transform(rotation_rpy(0.0, 0.0, yaw), (*to, 0.0)) @ pose_at(-middle[0], -middle[1], 0.0)


def _moved(item: ObjectSpec, motion: Array) -> ObjectSpec:
    return replace(item, pose=motion @ item.pose)


def _moved_fixture(one: FixtureSpec, motion: Array) -> FixtureSpec:
    return replace(one, pose=motion @ one.pose)


def _as_footprint(one: FixtureSpec) -> Footprint:
    return Footprint(one.pose[0, 3], one.pose[1, 3], one.size[0] / 2, one.size[1] / 2, math.atan2(one.pose[1, 0], one.pose[0, 0]))


def _extent(group: list[ObjectSpec], fixtures: list[FixtureSpec]) -> float:
    """The largest first: how far it reaches [m], containers and fixtures before all."""
    places = np.array([item.pose[:2, 3] for item in group] + [one.pose[:2, 3] for one in fixtures])
    widest = max([max(item.size[:2]) for item in group] + [max(one.size[:2]) for one in fixtures])
    container = any(item.kind in CONTAINER_KINDS for item in group)
    return float(np.ptp(places, axis=0).max()) + widest + 9 * bool(fixtures) + 3 * container


def _shaded(random: Random, item: ObjectSpec) -> ObjectSpec:
    """In the same colour, lighter or darker by a twelfth at most."""
    r, g, b = np.clip(np.asarray(item.rgb) * random.uniform(0.92, 1.08), 0.0, 1.0).tolist()
    return replace(item, rgb=(r, g, b))


def _sized(random: Random, item: ObjectSpec) -> ObjectSpec:
    """Larger or smaller by a tenth at most, on the same ground; containers and parts keep theirs."""
    if item.kind in (*CONTAINER_KINDS, "mesh"):
        return item
    scale = float(random.uniform(0.9, 1.1))
    x, y, z = item.size
    pose = item.pose.copy()
    pose[2, 3] *= scale
    return replace(item, size=(x * scale, y * scale, z * scale), mass=item.mass * scale**3, pose=pose)
