"""What is asked of many short rows gives what numpy gives; voxels find the same neighbours with and without a table."""

import numpy as np
import pytest
from scipy.spatial import cKDTree

from deskhand.perception import rows
from deskhand.perception.segment import voxels
from deskhand.perception.segment.convexity import nearest_centre
from deskhand.perception.segment.settings import VoxelSettings
from deskhand.perception.small_systems import solve_small
from deskhand.perception.voxel_downsample import thin


@pytest.mark.parametrize("width", [2, 3])
@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_rows_are_as_numpy_sees_them(width, kind):
    points = np.random.default_rng(width).normal(size=(500, width)).astype(kind)
    assert np.array_equal(rows.lowest(points), points.min(axis=0)) and np.array_equal(rows.highest(points), points.max(axis=0))
    assert np.array_equal(rows.spans(points), np.ptp(points, axis=0))
    assert np.array_equal(rows.lengths(points), np.linalg.norm(points, axis=1)) and np.array_equal(rows.squares(points), (points**2).sum(axis=1))
    assert np.array_equal(rows.all_of(points > -0.5), (points > -0.5).all(axis=1))
    low, high = points[0] - 0.5, points[0] + 0.5
    assert np.array_equal(rows.between(points, low, high), ((points > low) & (points < high)).all(axis=1))
    assert np.array_equal(rows.rows_of(points, points[:, 0] > 0), points[points[:, 0] > 0])


def test_numbers_are_counted_without_gaps():
    numbers = np.array([7, 3, 3, 9, 0])
    assert rows.renumbered(numbers).tolist() == np.unique(numbers, return_inverse=True)[1].tolist()


def test_vector_products_and_numbers_among_others_are_as_numpy_has_them():
    random = np.random.default_rng(3)
    one, other = random.normal(size=(50, 3)), random.normal(size=(50, 3))
    for first, second in ((one, other), (one[0], other), (one[0], other[0])):
        assert np.array_equal(rows.cross(first, second), np.cross(first, second))
    numbers, others = random.integers(0, 90, 200), random.integers(0, 90, 40)
    assert np.array_equal(rows.is_among(numbers, others, 90), np.isin(numbers, others))


@pytest.mark.parametrize("count", [1, 2, 3, 4, 5])
def test_small_systems_are_solved_as_numpy_does(count):
    random = np.random.default_rng(count)
    for _ in range(50):
        matrix, right = random.normal(size=(count, count)), random.normal(size=count)
        assert np.allclose(solve_small(matrix, right), np.linalg.solve(matrix, right), rtol=1e-8)
    assert np.allclose(solve_small(np.eye(count)[::-1], np.arange(count)), np.arange(count)[::-1])  # the first pivots are 0
    with pytest.raises(np.linalg.LinAlgError):
        solve_small(np.ones((count, count)) - (count == 1), np.ones(count))


def test_patches_that_are_not_asked_again_are_the_nearest():
    random = np.random.default_rng(5)
    features, centres = random.normal(size=(2000, 6)), random.normal(size=(40, 6))
    nearest = cKDTree(centres).query(features)[1]
    for before in (nearest, np.where(random.uniform(size=2000) < 0.4, random.integers(0, 40, 2000), nearest), random.integers(0, 40, 2000)):
        assert np.array_equal(nearest_centre(centres, features, before), nearest)
    assert nearest_centre(centres[:1], features, np.zeros(2000, np.int64)).max() == 0


def test_voxels_have_the_same_neighbours_and_normals_with_and_without_a_table(monkeypatch):
    random = np.random.default_rng(1)
    places = random.uniform(0, 0.06, (3000, 2))
    points = np.column_stack([places, 0.02 * np.sin(40 * places[:, 0])])
    one = voxels.voxels_of(points, np.array([0.0, 0.0, 1.0]), 0.004)
    monkeypatch.setattr(voxels, "VOXELS", VoxelSettings(table=0))
    other = voxels.voxels_of(points, np.array([0.0, 0.0, 1.0]), 0.004)
    assert np.array_equal(one.of, other.of) and np.array_equal(one.pairs, other.pairs) and np.array_equal(one.normal, other.normal)
    cells = np.unique(np.floor(points / 0.004).astype(int), axis=0)
    beside = sum(np.abs(cells - cell).max(axis=1) == 1 for cell in cells).sum()
    assert len(one) == len(cells) and 2 * len(one.pairs) == beside


def test_one_point_of_each_voxel_is_left():
    points = np.random.default_rng(0).uniform(-0.1, 0.1, (2000, 3))
    keys = np.floor(points / 0.02).astype(int)
    first = np.unique(keys, axis=0, return_index=True)[1]
    assert np.array_equal(thin(points, 0.02), points[first].astype(np.float32))
