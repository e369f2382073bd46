"""One picture in place of a look, where it shows that all is as it should be: one thing has gone from its place, has come to another, and nothing else moved.

What such a picture shows is compared with the one before, pixel by pixel; nothing is segmented or fitted anew.
Anything that is not as expected, or hard to tell, is left to a look.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass, replace
from itertools import product

import numpy as np

from deskhand.geometry import Array, inverse, transform_points
from deskhand.perception.fit.pose_verification import locate, shifted
from deskhand.perception.self_filter import joint_map
from deskhand.perception.track.changes import Backdrop, Changes, Mask, changes, outline, within
from deskhand.perception.track.settings import CHANGE
from deskhand.skills.base import SkillContext
from deskhand.skills.belief import Held
from deskhand.skills.change_detection import UNIT_CORNERS, inside_container
from deskhand.skills.out_of_view import robot_in
from deskhand.skills.presence import levelled
from deskhand.types import Frame, Scene, SceneObject, moved

log = logging.getLogger(__name__)

GRID = np.array(list(product((-0.5, -0.25, 0.0, 0.25, 0.5), repeat=3)))  # of a box
PROVABLE = ("box", "cylinder")  # shapes whose surface a picture proves or denies; a small cube may look like a cylinder


@dataclass(frozen=True)
class Put:
    """What was put down: ``item`` where it should be now, taken from where ``taken`` says, into ``container``, or onto what ``on`` names."""

    item: SceneObject
    taken: SceneObject
    container: SceneObject | None
    on: tuple[str, ...]


def quick_look(ctx: SkillContext, put: Put, before: Scene) -> Scene | None:
    """The scene after something was ``put`` down, by one picture from where the arm stands out of the way.

    None where that does not show that it is there, and that nothing else has changed since ``before``: then look.
    """
    why = untold(ctx, put, before) or ("" if ctx.out_of_view() else "the arm is in the way")
    if not why:
        with ctx.timed("perception"):
            frame = ctx.robot.observe()
            state = ctx.robot.joint_state()
            scene, why = judged(ctx, put, before, frame, robot_in(frame, ctx.robot.arm, joint_map(state)))
        if scene is not None:
            with ctx.timed("planning"):
                ctx.tell_planner(scene)
            return scene
    log.info("a look is needed after %s was put down: %s", put.item.id, why)
    return None


def put_of(held: Held, rest: Array, container: SceneObject | None = None, on: tuple[str, ...] = ()) -> Put:
    """``held``, let go to come to rest at the pose ``rest`` (4, 4), in a ``container`` or on what ``on`` names (nothing: the table)."""
    return Put(moved(held.object, rest), moved(held.object, held.picked_from), container, on)


def untold(ctx: SkillContext, put: Put, before: Scene) -> str:
    """Why one picture cannot tell, whatever it shows; empty where it can."""
    belief = ctx.belief
    if belief.backdrop is None or ctx.robot.camera_mount() is not None:
        return "the camera moves"
    if belief.corrections or belief.pans.items or belief.columns.pairs:
        return "what looks show is put right"
    if put.taken.support != "table":
        return f"it was taken from {put.taken.support}"
    if put.container is None and (put.item.shape not in PROVABLE or put.item.guessed):
        return "no picture proves its place"
    near = [item.id for item in before.objects if item.id != put.taken.id and _beside(item, put.taken)]
    return f"{', '.join(near)} stood close to it" if near else ""


def judged(ctx: SkillContext, put: Put, before: Scene, frame: Frame, robot: Mask, hidden: bool = True) -> tuple[Scene | None, str]:
    """The scene that ``frame``, as the camera gave it, shows beside the ``robot`` (H, W), which the belief takes in; or why it shows none.

    ``hidden``: it will do that what was put down is hidden by walls, and seen nowhere else.
    """
    backdrop = ctx.belief.backdrop
    if backdrop is None or not backdrop.is_of(frame):
        return None, "the camera has moved"
    found = changes(backdrop, frame, robot)
    if found is None:
        return None, "the pictures are too noisy"
    level = levelled(frame)
    item, why = _come(level, found, put, ctx.belief.everything(), _shown(level, backdrop, put.item))
    why = why or _elsewhere(level, found, put, before, robot)
    if item is None and not why and not hidden:
        why = "walls hide it"
    if why:
        return None, why
    scene = with_put(before, item, put.taken, frame.stamp)
    changed = within(level, [_corners(put.taken), *room_of(put)], CHANGE.beside)
    ctx.belief.saw_expected(scene, item, backdrop.updated(frame, robot, changed), level)
    return scene, ""


def _beside(item: SceneObject, taken: SceneObject) -> bool:
    """Whether something of ``item`` is so near to where a thing was ``taken`` that both may have been taken for what they are not."""
    local = transform_points(inverse(taken.pose), np.asarray(item.points, dtype=float))
    return bool((np.abs(local) < np.asarray(taken.size) / 2 + CHANGE.touching).all(axis=1).any())


def _elsewhere(frame: Frame, found: Changes, put: Put, before: Scene, robot: Mask) -> str:
    """What has changed that should not have; empty for nothing."""
    gone = outline(frame, _corners(put.taken), CHANGE.beside)
    come = within(frame, room_of(put), CHANGE.beside)
    if found.blobs((found.nearer | found.farther) & ~gone & ~come) > CHANGE.blob:
        return "something else has changed"
    others = within(frame, [_corners(item) for item in before.objects if item.id != put.taken.id], CHANGE.beside)
    high = frame.points()[..., 2] > put.taken.bottom + CHANGE.level
    if found.blobs(high & gone & ~come & ~others & ~robot & np.isfinite(frame.depth)) > CHANGE.blob:
        return "something is where it was taken from"
    if put.container is not None and found.blobs(found.farther & come & ~gone) > CHANGE.blob:
        return "what is in the container has moved"
    return ""


def _shown(frame: Frame, backdrop: Backdrop, item: SceneObject) -> float:
    """Which share of ``item``, where it should be, nothing hides that was there before."""
    points = transform_points(item.pose, GRID * item.size)
    pixels = frame.project(points)
    inside = np.isfinite(pixels).all(axis=1) & (pixels >= 0).all(axis=1) & (pixels < [frame.depth.shape[1], frame.depth.shape[0]]).all(axis=1)
    if not inside.any():
        return 0.0
    u, v = pixels[inside].astype(int).T
    depth = transform_points(inverse(frame.world_T_camera), points[inside])[:, 2]
    return float((~(backdrop.depth[v, u] < depth - CHANGE.beside)).sum() / len(points))


def _come(frame: Frame, found: Changes, put: Put, scene: Scene, shown: float) -> tuple[SceneObject | None, str]:
    """What was put down, as it is seen now, None where the walls hide it; and why that cannot be told, if it cannot.

    ``shown``: the share of it that may be seen.
    """
    room = within(frame, room_of(put), CHANGE.beside)
    new = found.likely_nearer & room
    points = frame.points()[new].astype(float)
    points = points[np.isfinite(points).all(axis=1)]
    least = CHANGE.enough * min(1.0, 2.0 * shown) * float(np.prod(np.sort(put.item.size)[:2]))
    if put.container is not None and shown < CHANGE.hidden and found.area(new) < CHANGE.blob:
        return None, ""
    if not len(points) or found.area(new) < max(least, CHANGE.blob):
        return None, f"{1e6 * found.area(new):.0f} of {1e6 * least:.0f} mm2 of it are seen where {100 * shown:.0f} % of it are in sight"
    if put.container is not None:
        return _come_in(points, put, put.container)
    item = put.item
    others = [other for other in scene.objects if other.id not in (item.id, *put.on)]
    shift, evidence = locate(frame, item, others)
    if not evidence.there:
        return None, "it is not proved where it was put"
    return replace(shifted(item, shift), points=points.astype(np.float32), support=(put.on or ("table",))[0], relation="on"), ""


def _come_in(points: Array, put: Put, container: SceneObject) -> tuple[SceneObject | None, str]:
    item, half = put.item, np.asarray(container.size, dtype=float)[:2] / 2
    local = transform_points(inverse(container.pose), points)
    if float((np.abs(local[:, :2]) < half).all(axis=1).mean()) < CHANGE.inside:
        return None, "a part of it is outside of the walls"
    # what faces the camera lies to its side of the middle
    away = float(np.linalg.norm(np.median(points[:, :2], axis=0) - item.position[:2]))
    above = float((points[:, 2] > item.top + CHANGE.higher).mean())
    if away > CHANGE.beside + float(np.sort(item.size)[1]) / 2 or above > CHANGE.strays or np.quantile(points[:, 2], 0.8) < item.top - CHANGE.higher:
        return None, "it lies otherwise than it was let go"
    lies = replace(item, points=points.astype(np.float32), support=container.id, relation="in")
    return (lies, "") if inside_container(container, lies) else (None, "it may lie on the rim")


def with_put(before: Scene, item: SceneObject | None, taken: SceneObject, stamp: float) -> Scene:
    """The scene before, with ``item`` where it is now, if it is seen, in place of where it was ``taken``."""
    cloud = np.asarray(before.cloud, dtype=np.float32)
    local = transform_points(inverse(taken.pose), cloud.astype(float))
    left = cloud[(np.abs(local) > np.asarray(taken.size) / 2 + CHANGE.touching / 2).any(axis=1)] if len(cloud) else cloud
    others = tuple(other for other in before.objects if other.id != taken.id)
    if item is None:
        return replace(before, objects=others, cloud=left, stamp=stamp)
    return replace(before, objects=(*others, item), cloud=np.concatenate([left, item.points]), stamp=stamp)


def room_of(put: Put) -> list[Array]:
    """Corners (N, 3) of where it may be seen: in the whole container and as high as it is long above that, or where it was put."""
    if put.container is None:
        return [_corners(put.item)]
    corners = _corners(put.container)
    return [np.vstack([corners, np.add(corners, [0.0, 0.0, float(np.max(put.item.size))])])]


def _corners(item: SceneObject) -> Array:
    return np.asarray(transform_points(item.pose, UNIT_CORNERS * item.size))
