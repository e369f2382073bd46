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
from deskhand.geometry import Array, quaternion_from_matrix, transform_points
from deskhand.perception.neighbours import nearest
from deskhand.perception.registration import FAR, TRIM, register, sampled
from deskhand.tools.looking import look
from deskhand.tools.objects import ObjectId, rounded
from deskhand.tools.viewing import desk_view, owners
from deskhand.types.meshes import load_mesh

SAME = 0.0006  # [m] of residual within which another pose is as good


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
