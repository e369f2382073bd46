"""Rotations: angles that are right at both ends of their range, matrices that are refused, lines between poses that turn by nothing."""

import numpy as np
import pytest
from scipy.spatial import ConvexHull
from scipy.spatial.transform import Rotation

from deskhand.errors import DeskhandError
from deskhand.geometry import check_pose, convex_gap, convex_hull, convex_intersection, make_transform, rotation_about, rotation_angle
from deskhand.motion.cartesian import interpolate
from deskhand.motion.inputs import check_rigid


@pytest.mark.parametrize("angle", [0.0, 1e-12, 1e-9, 1e-6, 0.3, 1.5, 3.0, np.pi - 1e-7, np.pi])
def test_an_angle_comes_back(angle):
    rng = np.random.default_rng(1)
    for _ in range(20):
        start = Rotation.random(random_state=rng.integers(1 << 30)).as_matrix()
        turned = start @ rotation_about(rng.normal(size=3), angle)
        assert rotation_angle(start, turned) == pytest.approx(angle, abs=1e-15 if angle == 0 else 2e-15 + 1e-7 * (angle > 3.1))
        assert rotation_angle(start, start) < 1e-15


def test_a_line_between_poses_of_one_rotation_keeps_it():
    rng = np.random.default_rng(2)
    for _ in range(50):
        turn = check_rigid(make_transform(Rotation.random(random_state=rng.integers(1 << 30)).as_matrix()), "pose")[:3, :3]
        poses = interpolate(make_transform(turn, [0, 0, 0]), make_transform(turn, [0, 0, 0.1]))
        assert np.isfinite(poses).all() and np.abs(poses[:, :3, :3] - turn).max() < 1e-12


def test_nearly_rigid_poses_are_made_rigid_and_others_refused():
    rng = np.random.default_rng(3)
    for _ in range(50):
        turn = Rotation.random(random_state=rng.integers(1 << 30)).as_matrix()
        near = check_rigid(make_transform(turn + rng.uniform(-2e-4, 2e-4, (3, 3))), "pose")[:3, :3]
        assert np.abs(near @ near.T - np.eye(3)).max() < 1e-14 and np.linalg.det(near) > 0 and rotation_angle(near, turn) < 1e-3
        for wrong in (turn * [1, 1, -1], turn * 1.01, turn * np.nan):
            with pytest.raises(DeskhandError, match=r"orthonormal|finite"):
                check_pose(make_transform(wrong))


def area_of(polygon):
    x, y = polygon.T
    return abs(np.sum(x * np.roll(y, -1) - y * np.roll(x, -1))) / 2 if len(polygon) else 0.0


def test_polygons_share_what_points_drawn_in_them_say_also_where_they_nearly_coincide():
    rng = np.random.default_rng(4)
    square = np.array([[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]])
    for wide in (1e-4, 1e-2, 1.0) * 20:
        angle = rng.uniform(-wide, wide)
        turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
        other = square @ turn.T * (1 + rng.uniform(-wide, wide) / 3) + rng.uniform(-wide, wide, 2)
        points = rng.uniform(-1, 1, (20000, 2))
        inside = (np.abs((points - other.mean(axis=0)) @ turn) <= np.linalg.norm(other[1] - other[0]) / 2).all(axis=1)
        for one, two in ((square, other), (other[::-1], square)):
            assert area_of(convex_intersection(0.02 * one, 0.02 * two)) / 0.02**2 == pytest.approx(4 * inside.mean(), abs=0.06)
    assert convex_intersection(square, square + 3).shape == (0, 2)


def test_polygons_are_apart_by_the_least_distance_of_points_of_their_sides():
    rng = np.random.default_rng(2)
    apart, share = 0, np.linspace(0, 1, 60)[:, None]
    for _ in range(60):
        one, other = (convex_hull(rng.normal(0, 1, (7, 2)) + rng.uniform(-2.5, 2.5, 2)) for _ in range(2))
        sides = [np.concatenate([a + share * (b - a) for a, b in zip(each, np.roll(each, -1, axis=0), strict=True)]) for each in (one, other)]
        least = np.linalg.norm(sides[0][:, None] - sides[1][None], axis=2).min()
        gap = convex_gap(one, other[::-1])
        if len(convex_intersection(one, other)):
            assert gap == 0.0
        else:
            apart += 1
            assert least - 0.08 < gap <= least + 1e-9
    assert 15 < apart < 50, "both kinds were tried"


def test_the_hull_of_points_is_that_of_qhull():
    rng = np.random.default_rng(3)
    for _ in range(30):
        points = rng.normal(0, 0.1, (int(rng.integers(3, 30)), 2))
        mine, qhull = convex_hull(points), points[ConvexHull(points).vertices]
        assert len(mine) == len(qhull) and np.roll(mine, -int(np.linalg.norm(mine - qhull[0], axis=1).argmin()), axis=0) == pytest.approx(qhull)
    assert len(convex_hull([[0, 0], [1, 0], [1, 1], [0, 1], [0.5, 0], [0, 0], [1, 1]])) == 4
