import numpy as np
import pytest

from deskhand.errors import DeskhandError
from deskhand.tools.cognition.octree import FREE, FULL, UNKNOWN, Octree, _interleaved, _separated

EYE = np.array([0.0, 0.0, 1.0])


def wall(count: int = 4000) -> np.ndarray:
    """Points of a floor of 20 cm at height 0."""
    random = np.random.default_rng(0)
    return np.column_stack([random.uniform(-0.1, 0.1, (count, 2)), np.full(count, 0.004)])


def test_keys_and_cells_are_the_same_object():
    cells = np.random.default_rng(1).integers(0, 4096, (500, 3))
    assert (_separated(_interleaved(cells)) == cells).all()


def test_what_a_ray_passes_is_free_where_it_ends_is_occupied_and_behind_is_unknown():
    tree = Octree(0.01)
    tree.integrate(wall(), EYE, 2.0)
    assert (tree.states(np.array([[0, 0, 0.3], [0.02, 0.03, 0.05]])) == FREE).all()
    assert tree.states(np.array([[0.0, 0.0, 0.004]])) == FULL
    assert (tree.states(np.array([[0, 0, -0.05], [0.5, 0.5, 0.1], [99, 0, 0]])) == UNKNOWN).all()


def test_what_is_seen_gone_becomes_free_again_after_some_views():
    tree = Octree(0.01)
    tree.integrate(wall() + np.array([0, 0, 0.1]), EYE, 2.0)
    there = np.array([[0.0, 0.0, 0.104]])
    assert tree.states(there) == FULL
    chances = []
    for _ in range(5):
        tree.integrate(wall(), EYE, 2.0)
        chances.append(float(tree.probability(there)[0]))
    assert tree.states(there) == FREE and chances == sorted(chances, reverse=True)


def test_beyond_its_reach_depth_is_no_obstacle_and_robots_are_none():
    tree = Octree(0.01)
    tree.integrate(wall(), EYE, 0.5)
    assert not (tree.odds > 0).any() and tree.states(np.array([[0, 0, 0.7]])) == FREE
    tree = Octree(0.01)
    tree.integrate(wall(), EYE, 2.0, np.zeros(4000, bool))
    assert not (tree.odds > 0).any() and tree.states(np.array([[0, 0, 0.3]])) == FREE


def test_coarser_nodes_hold_all_finer_ones():
    tree = Octree(0.01)
    tree.integrate(wall(), EYE, 2.0)
    fine, edge = tree.nodes(0, FULL)
    coarse, large = tree.nodes(2, FULL)
    assert (edge, large) == (0.01, 0.04) and len(coarse) < len(fine)
    assert all((np.abs(coarse - leaf) <= large / 2 + 1e-9).all(axis=1).any() for leaf in fine)


def test_a_map_survives_being_kept_and_other_arrays_are_refused():
    tree = Octree(0.02)
    tree.integrate(wall(), EYE, 2.0)
    again = Octree.from_array(tree.as_array())
    points = np.random.default_rng(2).uniform(-0.2, 1.0, (300, 3))
    assert (again.states(points) == tree.states(points)).all() and again.views == 1
    with pytest.raises(DeskhandError, match="no occupancy map"):
        Octree.from_array(np.zeros((4, 3)))
