"""Optimisation tools against brute force."""

import itertools
import math

import numpy as np
import pytest

from deskhand.errors import DeskhandError
from deskhand.tools.reasoning.optimal import assigned, best_tower, ordered, packed, tower_margin


@pytest.mark.parametrize("seed", range(6))
def test_assignment_is_the_cheapest_that_keeps_room_and_number(seed):
    random = np.random.default_rng(seed)
    cost = random.uniform(0.05, 1, (5, 3))
    cost[random.random((5, 3)) < 0.25] = np.inf
    load, room, most = random.uniform(0.5, 1.5, 5) * 1e-4, random.uniform(0.5, 3.0, 3) * 1e-4, [2, 2, 5]
    where, optimal = assigned(cost, load, room, most, 100.0)
    best = math.inf
    for choice in itertools.product((-1, 0, 1, 2), repeat=5):
        fits = all(sum(load[i] for i in range(5) if choice[i] == j) <= room[j] + 1e-12 and choice.count(j) <= most[j] for j in range(3))
        if fits:
            best = min(best, sum(100.0 if j < 0 else cost[i, j] for i, j in enumerate(choice)))
    assert optimal and sum(100.0 if j < 0 else cost[i, j] for i, j in enumerate(where)) == pytest.approx(best)
    assert all(sum(load[i] for i in range(5) if where[i] == j) <= room[j] * (1 + 1e-6) and where.count(j) <= most[j] for j in range(3))


@pytest.mark.parametrize("seed", range(4))
def test_the_order_is_the_shortest_that_keeps_what_must_come_first(seed):
    random = np.random.default_rng(seed)
    picks, places, start = random.uniform(0, 1, (6, 2)), random.uniform(0, 1, (6, 2)), random.uniform(0, 1, 2)
    first, cost = np.linalg.norm(picks - start, axis=1), np.linalg.norm(places[:, None] - picks[None], axis=2)
    before = [(0, 1), (4, 2)]

    def way(order):
        return first[order[0]] + sum(cost[a, b] for a, b in itertools.pairwise(order))

    order, length, optimal = ordered(cost, first, before)
    allowed = [one for one in itertools.permutations(range(6)) if all(one.index(a) < one.index(b) for a, b in before)]
    assert tuple(order) in allowed and optimal
    assert way(order) == pytest.approx(length) == pytest.approx(min(map(way, allowed)))


def test_orders_that_wait_for_each_other_are_impossible():
    with pytest.raises(DeskhandError) as caught:
        ordered(np.ones((2, 2)), np.ones(2), [(0, 1), (1, 0)])
    assert caught.value.code == "impossible"


@pytest.mark.parametrize("seed", range(4))
def test_what_is_packed_overlaps_nothing_and_stays_inside(seed):
    random = np.random.default_rng(seed)
    sizes, room, gap = [tuple(random.uniform(0.03, 0.08, 2)) for _ in range(4)], (0.16, 0.12), 0.004
    found, _ = packed(sizes, room, gap)
    boxes = []
    for one in found:
        a, b = sizes[one.index][::-1] if one.turned else sizes[one.index]
        boxes.append((one.x - a / 2, one.x + a / 2, one.y - b / 2, one.y + b / 2))
        assert abs(one.x) + a / 2 <= room[0] / 2 - gap + 1e-6 and abs(one.y) + b / 2 <= room[1] / 2 - gap + 1e-6
    for first, second in itertools.combinations(boxes, 2):
        apart = max(second[0] - first[1], first[0] - second[1], second[2] - first[3], first[2] - second[3])
        assert apart >= gap - 1e-6
    assert found


def test_four_squares_that_just_fit_are_all_packed_and_a_bigger_one_is_left_out():
    found, optimal = packed([(0.05, 0.05)] * 4 + [(0.3, 0.02)], (0.115, 0.115), 0.005)
    assert optimal and {one.index for one in found} == {0, 1, 2, 3}
    found, _ = packed([(0.10, 0.03), (0.10, 0.03)], (0.08, 0.12), 0.005)
    assert len(found) == 2 and all(one.turned for one in found)  # only turned do they fit


def test_the_broad_and_heavy_comes_to_the_bottom():
    small, large = (0.01, 0.04, 0.02), (0.03, 0.03, 0.2)
    order, margin = best_tower([small, large])
    assert order == [1, 0] and margin == pytest.approx(tower_margin([large, small])) and margin > tower_margin([small, large])
    # one level: half edge over half height
    assert tower_margin([(0.02, 0.06, 1.0)]) == pytest.approx(math.atan2(0.02, 0.03))
