"""Lengths, gaps, angles and areas; clouds laid on each other; what a pixel or a pointing finger means."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import numpy as np
from pydantic import Field
from scipy.spatial import ConvexHull, QhullError
from typing_extensions import TypedDict

from deskhand.errors import DeskhandError
from deskhand.etp.resources import Resources
from deskhand.etp.tool import ToolContext, tool
from deskhand.geometry import Array, make_transform, quaternion_from_matrix, rotation_rpy
from deskhand.perception.fit.surface import complete_surface
from deskhand.perception.neighbours import nearest
from deskhand.perception.pointing import first_hit
from deskhand.perception.registration import register_clouds as laid_on
from deskhand.tools.looking import last_look
from deskhand.tools.objects import ObjectId, Position, number_or_none, rounded
from deskhand.tools.pictures import Pixel, check_pixel
from deskhand.tools.viewing import desk_view, owners
from deskhand.types import SceneObject

MOST = 4000  # points of a cloud that are used
CloudUri = Annotated[str, Field(min_length=1, max_length=200, description="uri of a cloud (N, 3) [m], as capture_rgbd gives it")]


class Measurement(TypedDict):
    """What was measured; metres, radians, square metres."""

    quantity: str
    value: float
    unit: Literal["m", "rad", "m2"]
    points: Annotated[list[list[float]], Field(description="the points [x, y, z] in world [m] between which it was measured")]


class CloudRegistration(TypedDict):
    """How one cloud lies on the other."""

    position: Annotated[list[float], Field(description="shift of the source in the target's frame [m]")]
    quaternion: Annotated[list[float], Field(description="turn of the source in the target's frame, x y z w")]
    rms: Annotated[float | None, Field(description="distance of the pairs along the surface's normals [m]; null when too few lie near each other")]
    overlap: Annotated[float, Field(description="share of the source's points that have a partner, 0 to 1")]
    deviation: Annotated[list[float] | None, Field(description="standard deviations of turn x, y, z [rad] and shift x, y, z [m]; null when undetermined")]


class PointedAt(TypedDict):
    """What a pixel or ray means."""

    object_id: Annotated[str, Field(description="of the last look; empty: none is there")]
    place: Annotated[list[float], Field(description="where the ray meets it or the table [x, y, z] in world [m]")]
    on: Annotated[Literal["object", "table", "robot", "nothing"], Field(description="what the ray meets first; nothing: neither within reach")]
    nearest: Annotated[list[str], Field(description="ids of the objects next to the ray, nearest first, for when the pointing is inexact")]
    distance: Annotated[list[float], Field(description="of each of these from the ray [m]")]


@tool(
    group="perception",
    unit="depth_and_3d_geometry",
    preconditions=("scene_known",),
    timeout=15.0,
    when_to_use="To gauge like with a ruler or protractor: the gap between two objects, the angle of three points, the length of a path, the area of an "
    "outline, how long, wide or high an object is.",
    limits="Objects are measured by what the last look knows of them, their hidden sides estimated; between given points it is exact geometry. The gap is "
    "between what is seen of both.",
    examples=[
        ("How wide is the gap between two boxes?", {"quantity": "gap", "object_ids": ["box_1", "box_2"]}),
        ("What angle do three points make at the second?", {"quantity": "angle", "points": [[0.1, 0, 0], [0, 0, 0], [0, 0.1, 0]]}),
    ],
    failures=[("An angle needs three points", {"quantity": "angle", "points": [[0, 0, 0]]}, "invalid_input")],
)
def measure(
    ctx: ToolContext,
    quantity: Annotated[
        Literal["distance", "path", "angle", "area", "gap", "length", "width", "height"],
        Field(
            description="distance: from the centre of one object to that of another, or of two points; path: through all points; angle: at the second of "
            "three points; area: of the polygon of the points; gap: free space between two objects, how far apart their edges, sides or surfaces are, the "
            "clearance or daylight between them; length, width, height: of one object"
        ),
    ],
    points: Annotated[list[Position] | None, Field(max_length=200, description="points in world; null: objects")] = None,
    object_ids: Annotated[list[ObjectId] | None, Field(max_length=2, description="one or two objects of the last look; null: points")] = None,
) -> Measurement:
    """Measure a distance, path, angle, area, gap or an object's length, width or height between points or objects."""
    scene = last_look(ctx)
    items = [scene.get(name) for name in object_ids or ()]
    if quantity in ("length", "width", "height"):
        return _side(quantity, _exactly(items, 1, quantity, "objects")[0])
    if quantity == "gap":
        return _gap(*_exactly(items, 2, quantity, "objects"))
    places = np.array(points, float) if points else np.array([item.position for item in items]).reshape(-1, 3)
    if quantity == "distance":
        _exactly(places, 2, quantity, "points or objects")
    if quantity == "angle":
        a, b = (place - places[1] for place in _exactly(places, 3, quantity, "points")[[0, 2]])
        cosine = float(a @ b / max(1e-12, np.linalg.norm(a) * np.linalg.norm(b)))
        return _told(quantity, float(np.arccos(np.clip(cosine, -1, 1))), "rad", places)
    if quantity == "area":
        if len(places) < 3:
            raise DeskhandError("invalid_input", f"measure: an area needs at least 3 points, got {len(places)}.")
        spread = places - places[0]
        return _told(quantity, float(np.linalg.norm(np.cross(spread[1:-1], spread[2:]).sum(axis=0))) / 2, "m2", places)
    if len(places) < 2:
        raise DeskhandError("invalid_input", f"measure: a {quantity} needs at least 2 points, got {len(places)}.")
    return _told(quantity, float(np.linalg.norm(np.diff(places, axis=0), axis=1).sum()), "m", places)


def _exactly(what: Any, count: int, quantity: str, noun: str) -> Any:
    if len(what) != count:
        raise DeskhandError("invalid_input", f"measure: {quantity} needs {count} {noun}, got {len(what)}.")
    return what


def _told(quantity: str, value: float, unit: Literal["m", "rad", "m2"], points: Array) -> Measurement:
    return Measurement(quantity=quantity, value=round(value, 6), unit=unit, points=[rounded(point) for point in points])


def _side(quantity: str, item: SceneObject) -> Measurement:
    """Along, across or up an object as it lies: the longer of its level sides is its length."""
    upright = np.argmax(np.abs(item.pose[2, :3]))
    level = sorted((axis for axis in range(3) if axis != upright), key=lambda axis: -item.size[axis])
    axis = int(upright) if quantity == "height" else level[0 if quantity == "length" else 1]
    half = item.pose[:3, axis] * item.size[axis] / 2
    return _told(quantity, float(item.size[axis]), "m", np.array([item.position - half, item.position + half]))


def _gap(a: SceneObject, b: SceneObject) -> Measurement:
    one, other = (complete_surface(item, 0.003).points for item in (a, b))
    distance, index = nearest(one, other)
    best = int(distance.argmin())
    return _told("gap", float(distance[best]), "m", np.array([one[index[best]], other[best]]))


@tool(
    group="perception",
    unit="pose_and_localisation",
    timeout=60.0,
    when_to_use="To align two point clouds of one rigid object or scene: how was it, or the camera, shifted and turned between them, and how sure is that?",
    limits="Iterative closest point, point to plane: wants a rough start or a small motion and enough overlap; directions that the shape leaves open (along a "
    "plane, about an axis) have a large deviation.",
    examples=[("Lay the cloud of this view on that of the view before", {"source": "deskhand://b", "target": "deskhand://a"})],
    failures=[("The cloud is no longer kept", {"source": "deskhand://gone", "target": "deskhand://a"}, "unknown_resource")],
)
def register_clouds(
    ctx: ToolContext,
    source: CloudUri,
    target: CloudUri,
    reach: Annotated[float, Field(ge=0.002, le=0.5, description="[m] to which points may be apart at first")] = 0.05,
    shift: Annotated[Position | None, Field(description="rough shift to begin with; null: none")] = None,
    turn: Annotated[
        list[Annotated[float, Field(ge=-7, le=7)]] | None,
        Field(min_length=3, max_length=3, description="[rad] rough roll, pitch, yaw to begin with; null: none"),
    ] = None,
) -> CloudRegistration:
    """Register one point cloud onto another (ICP): the rigid motion, its residual, overlap and uncertainty."""
    clouds = [_cloud(ctx.resources, uri) for uri in (source, target)]
    start = make_transform(rotation_rpy(*turn) if turn else None, shift)
    pose, rms, overlap, covariance = laid_on(clouds[0], clouds[1], start, reach)
    deviation = np.sqrt(np.maximum(np.diag(covariance), 0.0))
    return CloudRegistration(
        position=rounded(pose[:3, 3], 6),
        quaternion=rounded(quaternion_from_matrix(pose[:3, :3]), 6),
        rms=number_or_none(rms, 6),
        overlap=round(overlap, 4),
        deviation=rounded(deviation, 7) if np.isfinite(deviation).all() else None,
    )


def _cloud(resources: Resources, uri: str) -> Array:
    array = resources.get(uri).array()
    if array.ndim != 2 or array.shape[1] != 3 or array.dtype.kind != "f":
        raise DeskhandError("invalid_input", f"{uri} is no cloud (N, 3) in metres but {array.shape} of {array.dtype}.")
    cloud = np.asarray(array[np.isfinite(array).all(axis=1)], float)
    if len(cloud) < 30:
        raise DeskhandError("invalid_input", f"{uri} has only {len(cloud)} points; at least 30 are needed.")
    try:
        ConvexHull(cloud[:: max(1, len(cloud) // 500)])
    except QhullError as error:
        raise DeskhandError("invalid_input", f"the points of {uri} lie in one plane; nothing holds them along it.") from error
    return np.asarray(cloud[np.linspace(0, len(cloud) - 1, min(len(cloud), MOST)).astype(int)])


@tool(
    group="perception",
    unit="spatial_grounding",
    needs=("camera",),
    preconditions=("scene_known",),
    timeout=20.0,
    when_to_use="To turn a click in the picture, or a pointing finger given as a ray in space, into the object or place that is meant.",
    limits="Knows the objects of the last look; the picture is a new one. A ray is taken as exact: for a hand that points roughly, see nearest.",
    examples=[
        ("The user clicked here: which object is that?", {"pixel": [320, 240]}),
        ("Somebody points along this ray", {"origin": [0.3, 0.2, 0.4], "direction": [-0.5, -0.3, -0.8]}),
    ],
    failures=[("Neither pixel nor ray", {}, "invalid_input")],
)
def point_to_object(
    ctx: ToolContext,
    pixel: Annotated[Pixel | None, Field(description="[column, row] in the camera's picture [px]; null: a ray")] = None,
    origin: Annotated[Position | None, Field(description="where the ray begins, for example a fingertip; null: pixel")] = None,
    direction: Annotated[Position | None, Field(description="which way it goes, any length; null: pixel")] = None,
) -> PointedAt:
    """Resolve a pixel or a pointing ray to the object or the place on the table that it meets, and the objects nearest to it."""
    if (pixel is None) == (origin is None) or (origin is None) != (direction is None):
        raise DeskhandError("invalid_input", "point_to_object: give either pixel, or origin and direction.")
    scene = last_look(ctx)
    view = desk_view(ctx)
    if pixel is not None:
        check_pixel(pixel, view.objects.shape)
        k = view.frame.intrinsics
        start = view.eye
        way = view.frame.world_T_camera[:3, :3] @ np.array([(pixel[0] - k.cx) / k.fx, (pixel[1] - k.cy) / k.fy, 1.0])
    else:
        start, way = np.array(origin, float), np.array(direction, float)
    if np.linalg.norm(way) < 1e-6:
        raise DeskhandError("invalid_input", "point_to_object: the direction has no length.")
    hit = first_hit(start, way / np.linalg.norm(way), scene, view.points[view.robot & np.isfinite(view.points[..., 2])].astype(float))
    name, on = hit.object_id, hit.on
    if pixel is not None:
        own = owners(view, scene)[check_pixel(pixel, view.objects.shape)]
        if own >= 0:
            name, on = scene.objects[int(own)].id, "object"
    return PointedAt(
        object_id=name,
        place=rounded(hit.place),
        on=on,
        nearest=[item for item, _ in hit.near[:5]],
        distance=[round(distance, 4) for _, distance in hit.near[:5]],
    )
