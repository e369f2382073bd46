"""What stands on its like is seen as one object as high as both, and taken apart again where it stands where it was let go."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from deskhand.geometry import make_transform
from deskhand.skills.columns import Columns
from deskhand.skills.standing import cells_middle, upper_middle
from deskhand.types import Scene, SceneObject, Table

EDGE, HIGH = 0.028, 0.03


def _prism(name: str, place: tuple[float, float], bottom: float, top: float, corner: float = 0.0) -> SceneObject:
    """An upright block; of its upper side a part of ``corner`` of its edge is cut away on one corner."""
    side = np.arange(-EDGE / 2, EDGE / 2, 0.0015)
    x, y = (grid.ravel() for grid in np.meshgrid(side, side))
    kept = ~((x > EDGE * (0.5 - corner)) & (y > EDGE * (0.5 - corner)))
    levels = [np.column_stack([x[kept], y[kept], np.full(kept.sum(), top)])]
    levels += [np.column_stack([np.full(side.size, -EDGE / 2), side, np.full(side.size, z)]) for z in np.arange(bottom, top, 0.002)]
    points = (np.vstack(levels) + np.array([*place, 0.0])).astype(np.float32)
    pose = make_transform(np.eye(3), [*place, (bottom + top) / 2])
    return SceneObject(name, "object", "cyan", "box", np.array([EDGE, EDGE, top - bottom]), pose, points, 0.9)


def _scene(*objects: SceneObject) -> Scene:
    return Scene(objects, Table(np.eye(4), (1.0, 1.0)), 0.0)


def _let_go(lower: SceneObject) -> SceneObject:
    return _prism("object_2", (float(lower.position[0]), float(lower.position[1])), HIGH, 2 * HIGH)


@pytest.mark.parametrize("aside", [0.0, 0.006])
def test_a_column_is_taken_apart_and_the_upper_one_is_where_it_is_seen(aside: float) -> None:
    lower = _prism("object_1", (0.05, 0.02), 0.0, HIGH)
    columns = Columns()
    columns.put(_let_go(lower), lower)
    seen = _prism("object_1", (0.05, 0.02), 0.0, 2 * HIGH)
    points = seen.points.copy()
    points[points[:, 2] > HIGH, 0] += aside
    apart = columns.apart(_scene(replace(seen, points=points)))
    assert [item.id for item in apart.objects] == ["object_1", "object_2"]
    upper = apart.objects[1]
    assert upper.support == "object_1" and upper.position[0] == pytest.approx(0.05 + aside, abs=0.0015)
    assert apart.objects[0].top == pytest.approx(HIGH)


def test_a_column_that_is_seen_under_the_id_of_the_upper_one_is_taken_apart_too() -> None:
    lower = _prism("object_1", (0.05, 0.02), 0.0, HIGH)
    columns = Columns()
    columns.put(_let_go(lower), lower)
    apart = columns.apart(_scene(_prism("object_2", (0.05, 0.02), 0.0, 2 * HIGH)))
    assert [item.id for item in apart.objects] == ["object_1", "object_2"]
    assert apart.objects[0].top == pytest.approx(HIGH) and apart.objects[1].bottom == pytest.approx(HIGH)
    alone = _scene(_prism("object_2", (0.05, 0.09), 0.0, HIGH))
    assert columns.apart(alone) is alone and not columns.pairs


@pytest.mark.parametrize(("top", "aside"), [(HIGH, 0.0), (1.5 * HIGH, 0.0), (2 * HIGH, 0.03), (3 * HIGH, 0.0)])
def test_what_is_not_as_high_as_both_or_stands_beside_is_left_as_it_is(top: float, aside: float) -> None:
    lower = _prism("object_1", (0.05, 0.02), 0.0, HIGH)
    columns = Columns()
    columns.put(_let_go(lower), lower)
    scene = _scene(_prism("object_1", (0.05 + aside, 0.02), 0.0, top))
    assert columns.apart(scene) is scene


def test_a_pair_ends_where_the_upper_one_is_seen_by_itself_or_taken() -> None:
    lower = _prism("object_1", (0.05, 0.02), 0.0, HIGH)
    columns = Columns()
    columns.put(_let_go(lower), lower)
    columns.apart(_scene(lower, _prism("object_2", (0.2, 0.0), 0.0, HIGH)))
    assert not columns.pairs
    columns.put(_let_go(lower), lower)
    columns.taken("object_1")
    assert not columns.pairs


def test_the_middle_of_an_upper_side_that_fills_its_box_is_that_of_the_box() -> None:
    whole, cut = (_prism("object_1", (0.05, 0.02), 0.0, HIGH, corner) for corner in (0.0, 0.85))
    assert upper_middle(whole) is None and cells_middle(whole) == pytest.approx([0.05, 0.02], abs=0.0015)
    middle = upper_middle(cut)
    assert middle is not None and (middle < np.array([0.05, 0.02]) - 0.003).all()
    assert cells_middle(replace(whole, points=whole.points[:5])) is None
