"""A face in another colour is a side of its box; what lies flush on a box is an object of its own."""

from dataclasses import dataclass

import numpy as np
import pytest
from cast import Box, cast

from deskhand.perception.pipeline import Perception
from deskhand.perception.segment.voxels import least_directions


@dataclass(frozen=True)
class Book(Box):
    """A box of which the side towards -x is of another colour."""

    def paint(self, points, random):
        local = points[..., 0] - self.foot[0] + self.size[0] / 2
        return np.where((local < 0.001)[..., None], (120, 120, 125), self.color)


def found(*solids, seed):
    frame, _ = cast(*solids, seed=seed, distance=0.6)
    return [item for item in Perception(detectors=()).detect(frame).objects if np.linalg.norm(item.position[:2]) < 0.1]


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("size", [(0.13, 0.032, 0.1), (0.11, 0.15, 0.03)])
def test_a_book_has_its_pages(size, seed):
    (item,) = found(Book((0, 0, 0), size), seed=seed)
    assert np.allclose(np.sort(item.size), np.sort(size), atol=0.008)


@pytest.mark.parametrize("seed", range(2))
def test_what_lies_flush_on_a_box_is_another_object(seed):
    assert len(found(Box((0, 0, 0), (0.07, 0.05, 0.04), color=(40, 90, 180)), Box((0, 0, 0.04), (0.07, 0.05, 0.014)), seed=seed)) == 2


def triangles(matrices):
    rows, columns = np.triu_indices(3)
    return matrices[:, rows, columns].T


def test_directions_in_which_matrices_are_least():
    random = np.random.default_rng(0)
    roots = random.normal(size=(500, 3, 3)) * [1.0, 0.6, 0.1]
    spread = 1e-6 * np.einsum("mij,mkj->mik", roots, roots)
    known = np.linalg.eigh(spread)[1][:, :, 0]
    assert np.abs(np.einsum("ij,ij->i", known, least_directions(triangles(spread)))).min() > 1 - 1e-9


def test_directions_of_matrices_that_have_none_are_of_length_one():
    spread = np.stack([np.eye(3), np.diag([1.0, 1.0, 2.0]), np.zeros((3, 3)), np.diag([1e-6, 0.0, 0.0])])
    assert np.allclose(np.linalg.norm(least_directions(triangles(spread)), axis=1), 1.0)
