"""The pose of a known model in the depth picture."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import numpy as np
import numpy.typing as npt
from pydantic import Field
from scipy.spatial import ConvexHull
from typing_extensions import TypedDict

from deskhand.errors import DeskhandError
from deskhand.etp.tool import ToolContext, tool
from deskhand.geometry import Array, inverse, make_transform, quaternion_from_matrix, rotation_about, transform_points
from deskhand.tools.looking import look
from deskhand.tools.neighbours import nearest
from deskhand.tools.objects import ObjectId, rounded
from deskhand.tools.viewing import desk_view, owners
from deskhand.types.meshes import load_mesh

SAMPLES = 1500
TRIM = 0.9  # share of the nearest points that count
FAR = 0.008  # [m] beyond which points do not belong together
TURNS = 12  # yaws that are tried
KEPT = 6  # starts that are refined
SAME = 0.0006  # [m] of residual within which another pose is as good
DIFFERENT = np.deg2rad(12.0)


class ModelPose(TypedDict):
    """Where a model is."""

    position: Annotated[list[float], Field(description="origin of the model [x, y, z] in world [m]")]
    quaternion: Annotated[list[float], Field(description="orientation of the model in world, x y z w")]
    residual: Annotated[float, Field(description="rms distance of the seen points from the model's surface [m]")]
    inliers: Annotated[float, Field(description="share of the seen points within 8 mm of the model")]
    points: Annotated[int, Field(description="how many points of the object are seen")]
    alternatives: Annotated[list[list[float]], Field(description="quaternions that fit as well: the model looks the same that way from here")]


@tool(
    group="perception",
    unit="pose_and_localisation",
    effects="memory",
    needs=("camera",),
    postconditions=("scene_known",),
    timeout=120.0,
    when_to_use="To get the exact 6-D pose of an object whose CAD model or basic shape and size are known, for example before inserting or aligning it.",
    limits="Registers the model to the seen points (ICP from many starts), no learned model. Wants the right size; a side that is not seen may leave several "
    "poses open (alternatives). Mesh files (OBJ, STL) are those on the robot's computer.",
    examples=[
        ("Where exactly is this part, of which a CAD file is there?", {"object_id": "object_1", "mesh": "parts/bracket.stl", "scale": 0.001}),
        ("The 6-D pose of a box of known size", {"object_id": "box_1", "shape": "box", "size": [0.09, 0.05, 0.04]}),
    ],
    failures=[
        ("The mesh file is not there", {"object_id": "object_1", "mesh": "missing.stl"}, "invalid_input"),
        ("Neither mesh nor shape is given", {"object_id": "box_1"}, "invalid_input"),
    ],
)
def estimate_model_pose(
    ctx: ToolContext,
    object_id: ObjectId,
    mesh: Annotated[str, Field(max_length=500, description="OBJ or STL file of the model; empty: shape and size")] = "",
    scale: Annotated[float, Field(gt=0, le=1000, description="[m] that one unit of the file is, for example 0.001 for millimetres")] = 1.0,
    shape: Annotated[Literal["box", "cylinder", ""], Field(description="basic shape instead of a mesh; cylinders stand along z; empty: mesh")] = "",
    size: Annotated[
        list[Annotated[float, Field(gt=0, le=1)]] | None,
        Field(min_length=3, max_length=3, description="[m] extents of the basic shape along x, y, z; null: mesh"),
    ] = None,
) -> ModelPose:
    """Estimate the 6-D pose of a known model (mesh file, box or cylinder) from the depth picture of an object, and tell how sure it is."""
    surface, normals = _surface(mesh, scale, shape, size)
    scene, _ = look(ctx)
    item = scene.get(object_id)
    view = desk_view(ctx)
    own = owners(view, scene) == [other.id for other in scene.objects].index(object_id)
    seen = view.points[own & view.valid].astype(float)
    if len(seen) < 60:
        raise DeskhandError("object_lost", f"only {len(seen)} points of {object_id} are seen.", hint="Bring the camera or the object to where it is seen well.")
    seen = seen[np.linspace(0, len(seen) - 1, min(len(seen), 900)).astype(int)]
    found = register(surface, normals, seen, item.position, view.eye, float(seen[:, 2].min()))
    best = found[0]
    distance, _ = nearest(transform_points(best[1], surface), seen)
    return ModelPose(
        position=rounded(best[1][:3, 3], 5),
        quaternion=rounded(quaternion_from_matrix(best[1][:3, :3]), 5),
        residual=round(float(np.sqrt(np.mean(np.sort(distance)[: int(TRIM * len(distance))] ** 2))), 5),
        inliers=round(float((distance < FAR).mean()), 3),
        points=len(seen),
        alternatives=[rounded(quaternion_from_matrix(pose[:3, :3]), 5) for cost, pose in found[1:] if cost <= best[0] + SAME],
    )


# ---------------------------------------------------------------- models


def _surface(mesh: str, scale: float, shape: str, size: list[float] | None) -> tuple[Array, Array]:
    """Points (N, 3) and outward normals (N, 3) of a model's surface [m]."""
    if bool(mesh) == bool(shape) or bool(shape) != (size is not None):
        raise DeskhandError("invalid_input", "estimate_model_pose: give either mesh, or shape and size.")
    if mesh:
        vertices, faces = load_mesh(Path(mesh).expanduser())
        return sampled(vertices * scale, faces)
    extent = np.array(size)
    if shape == "box":
        corners = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]) * extent / 2
    else:
        angles = np.linspace(0, 2 * np.pi, 48, endpoint=False)
        corners = np.array([[np.cos(a), np.sin(a), z] for a in angles for z in (-1, 1)]) * extent / 2
    hull = ConvexHull(corners)
    faces = np.array([_outward(corners, face) for face in hull.simplices], np.int32)
    return sampled(corners, faces)


def _outward(corners: Array, face: npt.NDArray[np.int32]) -> list[int]:
    a, b, c = corners[face]
    return [int(v) for v in (face if np.cross(b - a, c - a) @ (a - corners.mean(axis=0)) > 0 else face[::-1])]


def sampled(vertices: Array, faces: npt.NDArray[np.int32]) -> tuple[Array, Array]:
    """Points (N, 3) spread evenly over triangles, and their normals (N, 3); always the same for the same mesh."""
    a, b, c = (vertices[faces[:, corner]] for corner in range(3))
    across = np.cross(b - a, c - a)
    area = np.linalg.norm(across, axis=1)
    random = np.random.default_rng(0)
    chosen = random.choice(len(faces), SAMPLES, p=area / area.sum())
    u, v = random.random((2, SAMPLES, 1))
    u, v = np.where(u + v > 1, 1 - u, u), np.where(u + v > 1, 1 - v, v)
    points = a[chosen] + u * (b - a)[chosen] + v * (c - a)[chosen]
    return points, across[chosen] / area[chosen, None]


# ---------------------------------------------------------------- registration


def register(surface: Array, normals: Array, seen: Array, centre: Array, eye: Array, lowest: float) -> list[tuple[float, Array]]:
    """Poses (cost, world_T_model) that bring a model's surface to the points (N, 3) that the camera at ``eye`` sees of it, best first.

    Iterative closest point, point to plane (Chen and Medioni 1991), from upright and overturned starts all around; only those that look different are kept.
    The cost [m] counts both ways: seen points off the model, and model that should be seen where nothing is.
    """
    half = (surface.min(axis=0) + surface.max(axis=0)) / 2
    coarse = seen[np.linspace(0, len(seen) - 1, min(len(seen), 250)).astype(int)]
    started = []
    for up in _ups():
        for yaw in np.arange(TURNS) * 2 * np.pi / TURNS:
            turn = rotation_about([0, 0, 1], float(yaw)) @ up
            pose = make_transform(turn, centre - turn @ half)
            pose[2, 3] += (
                max(0.0, lowest) - float(transform_points(pose, surface)[:, 2].min()) if lowest > 0.02 else -float(transform_points(pose, surface)[:, 2].min())
            )
            pose = _icp(surface, normals, coarse, pose, eye, 8)
            started.append((_cost(surface, normals, coarse, pose, eye), pose))
    started.sort(key=lambda item: item[0])
    refined = [_icp(surface, normals, seen, pose, eye, 30) for _, pose in _apart(started)[:KEPT]]
    return _apart(sorted(((_cost(surface, normals, seen, pose, eye), pose) for pose in refined), key=lambda item: item[0]))


def _ups() -> list[Array]:
    """Rotations that bring each of the six sides up."""
    half = np.pi / 2
    return [
        np.eye(3),
        rotation_about([1, 0, 0], np.pi),
        rotation_about([1, 0, 0], half),
        rotation_about([1, 0, 0], -half),
        rotation_about([0, 1, 0], half),
        rotation_about([0, 1, 0], -half),
    ]


def _facing(surface: Array, normals: Array, pose: Array, eye: Array) -> npt.NDArray[np.bool_]:
    points = transform_points(pose, surface)
    return np.asarray(((normals @ pose[:3, :3].T) * (eye - points)).sum(axis=1) > 0)


def _icp(surface: Array, normals: Array, seen: Array, pose: Array, eye: Array, rounds: int) -> Array:
    for number in range(rounds):
        facing = _facing(surface, normals, pose, eye)
        if facing.sum() < 30:
            return pose
        points, out = transform_points(pose, surface[facing]), normals[facing] @ pose[:3, :3].T
        distance, index = nearest(points, seen)
        limit = max(FAR, np.quantile(distance, TRIM)) if number < rounds // 2 else max(0.004, np.quantile(distance, TRIM))
        kept = distance <= limit
        p, q, n = points[index[kept]], seen[kept], out[index[kept]]
        middle = q.mean(axis=0)
        matrix = np.hstack([np.cross(p - middle, n), n])
        step = np.linalg.lstsq(matrix.T @ matrix + 1e-9 * np.eye(6), matrix.T @ ((q - p) * n).sum(axis=1), rcond=None)[0]
        angle = float(np.linalg.norm(step[:3]))
        turn = rotation_about(step[:3], angle) if angle > 1e-9 else np.eye(3)
        change = make_transform(turn, middle - turn @ middle + step[3:])
        pose = change @ pose
        if angle < 1e-5 and np.linalg.norm(step[3:]) < 1e-6:
            break
    return pose


def _cost(surface: Array, normals: Array, seen: Array, pose: Array, eye: Array) -> float:
    facing = _facing(surface, normals, pose, eye)
    if facing.sum() < 30:
        return float("inf")
    points = transform_points(pose, surface[facing])
    there = np.minimum(nearest(points, seen)[0], 2 * FAR)
    back = np.minimum(nearest(seen, points)[0], 2 * FAR)
    return float(there.mean() + 0.5 * back.mean())


def _apart(ranked: list[tuple[float, Array]]) -> list[tuple[float, Array]]:
    kept: list[tuple[float, Array]] = []
    for cost, pose in ranked:
        turns = [np.arccos(np.clip((np.trace(inverse(other)[:3, :3] @ pose[:3, :3]) - 1) / 2, -1, 1)) for _, other in kept]
        if all(turn > DIFFERENT for turn in turns):
            kept.append((cost, pose))
    return kept
