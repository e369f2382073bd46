"""Several views of one desk made into one scene: what one camera cannot see another one may, and boxes are fitted to all points together.

Each view is seen by itself first; then objects are matched by place and shape, their clouds joined and their boxes fitted again. An object that only one
view shows stays, unless another view looks right through its place.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.optimize import linear_sum_assignment

from deskhand.arms.model import RobotModel
from deskhand.errors import DeskhandError
from deskhand.geometry import Array, inverse, make_transform, transform_points
from deskhand.perception.footprint import filled_rectangle, fit_circle, hull
from deskhand.perception.look_settings import FUSION
from deskhand.perception.pipeline import Perception
from deskhand.perception.support.circles import without_circles
from deskhand.perception.track.presence import seen_at_place
from deskhand.perception.voxel_downsample import thin
from deskhand.types import Frame, JointState, NameCandidate, Scene, SceneObject, Table

NEVER = 1e6


Group = list[tuple[int, SceneObject]]
"""(number of the view, what it showed) of one object."""


@dataclass(frozen=True)
class SeenView:
    """What one look showed, and the picture that showed it; the camera's pose levelled to the table as perception gives it."""

    scene: Scene
    frame: Frame


def detect_views(perception: Perception, frames: Sequence[tuple[Frame, JointState | None]], model: RobotModel | None = None) -> Scene:
    """What is on the desk, from several frames with the joints at their times (None: the arm is not in the picture); the first counts as the main view.

    Raises:
        DeskhandError: ``no_table`` when a frame shows no table, ``invalid_input`` without a frame.
    """
    if not frames:
        raise DeskhandError("invalid_input", "no frame to look at.")
    views = Views(perception, model)
    for number, (frame, joints) in enumerate(frames):
        scene = views.look(frame, joints, add=number > 0)
    return scene


class Views:
    """Looks of one perception, each by itself or added to the looks before it. ``model``: whose points are left out where the joints are given."""

    def __init__(self, perception: Perception, model: RobotModel | None = None) -> None:
        self._perception, self._model = perception, model
        self._views: list[SeenView] = []

    def look(self, frame: Frame, joints: JointState | None = None, add: bool = False) -> Scene:
        """What ``frame`` shows; with ``add``, what it and the frames since the last look without ``add`` show together.

        In between nothing but the arm may have moved. What is in the hand is told as the newest frame shows it.

        Raises:
            DeskhandError: ``no_table`` when the frame shows no table; the views before stay.
        """
        scene = self._perception.detect(frame, self._model if joints is not None else None, joints, still=add)
        assert self._perception.frame is not None
        before = [replace(view, scene=_without_held(view.scene)) for view in self._views] if add else []
        self._views = [*before, SeenView(scene, self._perception.frame)]
        return fuse(self._views) if before else scene

    def snapshot(self) -> tuple[Any, ...]:
        """What the next look goes on from, the perception's part included."""
        return tuple(self._views), self._perception.snapshot()

    def restore(self, snapshot: tuple[Any, ...]) -> None:
        """Go on from what :meth:`snapshot` gave."""
        self._views = list(snapshot[0])
        self._perception.restore(snapshot[1])


def fuse(views: Sequence[SeenView]) -> Scene:
    """One scene of all views; ids, times and the table's extent are those of the first view that has them, labels those that are surest.

    The scenes must be of one perception, so that one id is not two objects.
    """
    assert views, "no view"
    groups: list[Group] = []
    for number, view in enumerate(views):
        _join(groups, number, view.scene.objects)
    groups = [group for group in groups if not _looked_through(group, views)]
    items = _told_apart([(group, _one(_whole(group, views))) for group in groups])
    names = {item.id: obj.id for group, obj in items for _, item in group}
    objects = _on_each_other(tuple(replace(obj, support=names.get(obj.support, obj.support)) for _, obj in items))
    cloud = thin(np.concatenate([view.scene.cloud for view in views]), FUSION.cloud)
    return Scene(objects, _table([view.scene.table for view in views]), max(view.scene.stamp for view in views), cloud)


def _on_each_other(objects: tuple[SceneObject, ...]) -> tuple[SceneObject, ...]:
    """Of two that each are on the other by another view, the lower stands on the table."""
    lows = {item.id: float(item.position[2] - item.size[2] / 2) for item in objects}
    carriers = {item.id: [item.support] if item.support in lows else [] for item in objects}
    kept = without_circles(carriers, lows)
    return tuple(replace(item, support="table", relation="on") if carriers[item.id] and not kept[item.id] else item for item in objects)


def _without_held(scene: Scene) -> Scene:
    return replace(scene, objects=tuple(item for item in scene.objects if item.relation != "held"))


# ---------------------------------------------------------------- matching


def _join(groups: list[Group], view: int, objects: Sequence[SceneObject]) -> None:
    """Put the objects of a view to the groups that they belong to, or into new ones."""
    left = list(objects)
    if groups and left:
        cost = np.array([[min(_distance(item, other) for _, other in group) for group in groups] for item in left])
        for row, column in zip(*linear_sum_assignment(cost), strict=True):
            if cost[row, column] < NEVER:
                groups[column].append((view, left[row]))
        taken = {item.id for group in groups for number, item in group if number == view}
        left = [item for item in left if item.id not in taken]
    groups += [[(view, item)] for item in left]


def _distance(a: SceneObject, b: SceneObject) -> float:
    """How far [m] two views of what may be one object are apart, :data:`NEVER` for different objects."""
    if a.is_container != b.is_container or a.relation == "held" or b.relation == "held":
        return NEVER
    reach = max(FUSION.apart, 0.5 * float(min(np.sort(a.size)[1], np.sort(b.size)[1])))
    across = float(np.linalg.norm(a.position[:2] - b.position[:2]))
    if a.id == b.id and across < 2 * FUSION.apart:  # the tracker, to which nothing has moved between the views, says so
        return across
    if across > reach or abs(a.top - b.top) > FUSION.heights:
        return NEVER
    return across + 0.5 * abs(a.top - b.top) + (0.0 if a.color == b.color else 0.01) + (0.0 if a.label == b.label else 0.005)


def _looked_through(group: Sequence[tuple[int, SceneObject]], views: Sequence[SeenView]) -> bool:
    """Whether an object that one view shows alone is looked through by another: then it is none."""
    if len(group) > 1:
        return False
    (number, item), *_ = group
    return any(seen_at_place(view.frame, item, item.bottom) == "gone" for other, view in enumerate(views) if other != number)


def _told_apart(objects: Sequence[tuple[Group, SceneObject]]) -> list[tuple[Group, SceneObject]]:
    """Objects without those that are others in disguise.

    A view may take two objects for one, or one for two: what lies in the boxes of objects that more views, or a surer one, show is left out.
    """
    order = sorted(range(len(objects)), key=lambda index: (-len(objects[index][0]), -objects[index][1].named))
    kept: list[int] = []
    for index in order:
        group, item = objects[index]
        numbers = {number for number, _ in group}
        boxes = [objects[other][1] for other in kept if not objects[other][1].is_container and not numbers & {number for number, _ in objects[other][0]}]
        boxes += [objects[other][1] for other in kept if not objects[other][1].is_container and len(objects[other][0]) > len(group)]
        containers = [objects[other][1] for other in kept if objects[other][1].is_container and not numbers & {number for number, _ in objects[other][0]}]
        if item.is_container or max(_explained(item.points, boxes), _of_containers(item.points, containers)) < FUSION.explained:
            kept.append(index)
    return [objects[index] for index in sorted(kept)]


def _explained(points: npt.NDArray[np.float32], boxes: Sequence[SceneObject]) -> float:
    """Share of points (N, 3) that lie in boxes."""
    inside = np.zeros(len(points), bool)
    for box in boxes:
        inside |= (np.abs(transform_points(inverse(box.pose), points)) <= box.size / 2 + FUSION.margin).all(axis=1)
    return float(inside.mean()) if len(points) else 0.0


def _of_containers(points: npt.NDArray[np.float32], containers: Sequence[SceneObject]) -> float:
    """Share of points (N, 3) that lie near the walls or the floor of containers: a piece of them, seen at the edge of another picture."""
    inside = np.zeros(len(points), bool)
    for box in containers:
        local, half = transform_points(inverse(box.pose), points), box.size / 2
        within = (np.abs(local) <= half + FUSION.shell).all(axis=1)
        hollow = (np.abs(local[:, :2]) < half[:2] - box.wall - FUSION.shell).all(axis=1) & (local[:, 2] > -half[2] + box.wall + FUSION.shell)
        inside |= within & ~hollow
    return float(inside.mean()) if len(points) else 0.0


# ---------------------------------------------------------------- one object of several views


def _whole(group: Group, views: Sequence[SeenView]) -> list[SceneObject]:
    """The looks at one object, without those that the edge of the picture cuts where others do not."""
    whole = [item for number, item in group if not _at_edge(item, views[number].frame)]
    return whole or [item for _, item in group]


def _at_edge(item: SceneObject, frame: Frame) -> bool:
    x, y, width, height = item.box2d
    return x <= 1 or y <= 1 or x + width >= frame.intrinsics.width - 1 or y + height >= frame.intrinsics.height - 1


def _one(seen: Sequence[SceneObject]) -> SceneObject:
    """The object that several views show."""
    best = max(seen, key=lambda item: len(item.points) * item.named)
    label = _surest(seen)
    source = "+".join(dict.fromkeys(part for item in seen if item.label == label for part in item.label_source.split("+")))
    points = thin(np.concatenate([item.points for item in seen]), FUSION.voxel, FUSION.most)
    pose, size = (best.pose, best.size) if len(seen) == 1 else fit(seen, best, points.astype(float))
    return replace(
        best,
        id=seen[0].id,
        label=label,
        label_source=source,
        names=_names(seen),
        pose=pose,
        size=size,
        points=points,
        guessed=min((item.guessed for item in seen), key=len),
        confidence=_confidence(seen, size),
    )


def _confidence(seen: Sequence[SceneObject], size: Array) -> float:
    """How likely it is one whole object of this size (3,) [m]: the mean of the views that measured it so, since what cuts an object in one view mostly does in
    the others; of all where none did.
    """
    apart = [float(np.abs(np.log(np.maximum(np.sort(item.size), 1e-4) / np.maximum(np.sort(size), 1e-4))).max()) for item in seen]
    same = [item.confidence for item, off in zip(seen, apart, strict=True) if off < np.log(FUSION.same)]
    return float(np.mean(same or [item.confidence for item in seen]))


def _names(seen: Sequence[SceneObject]) -> tuple[NameCandidate, ...]:
    """The mean of what the views say it may be called, likeliest first."""
    shares: dict[str, float] = {}
    sources: dict[str, dict[str, None]] = {}
    for item in seen:
        for name in item.names:
            shares[name.name] = shares.get(name.name, 0.0) + name.probability / len(seen)
            sources.setdefault(name.name, {}).update(dict.fromkeys(name.source.split("+")))
    return tuple(NameCandidate(name, shares[name], "+".join(sources[name])) for name in sorted(shares, key=lambda name: -shares[name]))


def _surest(seen: Sequence[SceneObject]) -> str:
    votes: dict[str, float] = {}
    for item in seen:
        votes[item.label] = votes.get(item.label, 0.0) + item.named * (0.2 if item.label == "object" else 1.0)
    return max(votes, key=lambda label: votes[label])


def fit(seen: Sequence[SceneObject], best: SceneObject, points: Array) -> tuple[Array, Array]:
    """Pose and size of an object from its joined cloud (N, 3): standing boxes and standing cylinders anew, others as the mean of the views."""
    upright = abs(best.pose[2, 2]) > 0.99
    lying = best.shape == "cylinder" and (best.size[0] > 1.25 * best.size[2]) and abs(best.size[1] - best.size[2]) < 0.25 * best.size[2]
    if upright and not lying and not best.is_container and len(points) >= 2 * FUSION.enough:
        bottom = float(np.median([item.bottom for item in seen]))
        top = float(np.average([item.top for item in seen], weights=[len(item.points) + 1 for item in seen]))
        if best.shape in ("box", "other"):
            return _box(points, best, bottom, top)
        if best.shape == "cylinder":
            return _cylinder(points, best, bottom, top)
    return _mean(seen, best)


def _box(points: Array, best: SceneObject, bottom: float, top: float) -> tuple[Array, Array]:
    """The outline of the top, its sides moved to where the points of the sides are."""
    plateau = points[points[:, 2] > top - FUSION.top / 2]
    if len(plateau) < FUSION.enough:
        return best.pose, best.size
    outline = filled_rectangle(plateau[:, :2])
    low, high = -outline.size / 2, outline.size / 2
    sides = outline.local(points[points[:, 2] < top - FUSION.top][:, :2])
    for axis in (0, 1):
        beside = np.abs(sides[:, 1 - axis]) < outline.size[1 - axis] / 2 - 0.004
        for ends, sign in ((low, -1), (high, 1)):
            face = sides[beside & (np.abs(sides[:, axis] - ends[axis]) < FUSION.edge), axis]
            if len(face) >= FUSION.enough and sign * float(np.median(face)) > 0:
                ends[axis] = float(np.median(face))
    centre = outline.centre + outline.rotation @ ((low + high) / 2)
    c, s = np.cos(outline.yaw), np.sin(outline.yaw)
    pose = make_transform([[c, -s, 0], [s, c, 0], [0, 0, 1]], [*centre, (top + bottom) / 2])
    return pose, np.array([*(high - low), top - bottom])


def _cylinder(points: Array, best: SceneObject, bottom: float, top: float) -> tuple[Array, Array]:
    """A circle through the points of the side, or through the outline of the top where no side is seen."""
    sides = points[points[:, 2] < top - FUSION.top][:, :2]
    near = sides[np.abs(np.linalg.norm(sides - best.position[:2], axis=1) - best.size[0] / 2) < FUSION.edge]
    plateau = points[points[:, 2] > top - FUSION.top / 2][:, :2]
    if len(near) >= 2 * FUSION.enough:
        centre, radius, _ = fit_circle(near)
    elif len(plateau) >= FUSION.enough:
        centre, radius, _ = fit_circle(hull(plateau))
    else:
        return best.pose, best.size
    if abs(radius - best.size[0] / 2) > 0.25 * best.size[0]:
        return best.pose, best.size
    return make_transform(best.pose[:3, :3], [*centre, (top + bottom) / 2]), np.array([2 * radius, 2 * radius, top - bottom])


def _mean(seen: Sequence[SceneObject], best: SceneObject) -> tuple[Array, Array]:
    """The views' centres and sizes, those with more points counting more; only of views that turn the box as the best one does."""
    alike = [item for item in seen if item.shape == best.shape and abs(float(np.trace(item.pose[:3, :3].T @ best.pose[:3, :3]))) > 2.8]
    alike = alike if any(item is best for item in alike) else [best]
    weights = np.array([len(item.points) + 1.0 for item in alike])
    centre = np.average([item.position for item in alike], axis=0, weights=weights)
    return make_transform(best.pose[:3, :3], centre), np.average([item.size for item in alike], axis=0, weights=weights)


def _table(tables: Sequence[Table]) -> Table:
    """The extent that all views together show."""
    halves = [np.asarray(table.size) / 2 for table in tables]
    low = np.min([table.pose[:2, 3] - half for table, half in zip(tables, halves, strict=True)], axis=0)
    high = np.max([table.pose[:2, 3] + half for table, half in zip(tables, halves, strict=True)], axis=0)
    pose = tables[0].pose.copy()
    pose[:2, 3] = (low + high) / 2
    return Table(pose, (float(high[0] - low[0]), float(high[1] - low[1])))
