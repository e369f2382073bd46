"""Intervals and tests of two campaigns over the same cases, held against independent calculations."""

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.stats import binomtest

from deskhand.trials.campaigns.statistics import compare, mcnemar, paired_interval, wilson


def tango(both, only_first, only_second, neither, z=1.959964):
    """Score interval of the difference by Tango (1998), by finding where its test statistic is +-z: another method for the same object."""
    n = both + only_first + only_second + neither
    b, c = only_second, only_first

    def score(delta):
        a_term = 2 * n
        b_term = -b - c + (2 * n - b + c) * delta
        c_term = -c * delta * (1 - delta)
        q = (np.sqrt(max(b_term**2 - 4 * a_term * c_term, 0)) - b_term) / (2 * a_term)
        return (b - c - n * delta) / np.sqrt(max(n * (2 * q + delta * (1 - delta)), 1e-12))

    middle = (b - c) / n
    return brentq(lambda d: score(d) - z, -1 + 1e-9, middle), brentq(lambda d: score(d) + z, middle, 1 - 1e-9)


@pytest.mark.parametrize("table", [(40, 12, 3, 5), (20, 5, 9, 26), (50, 2, 30, 18), (200, 20, 40, 40)])
def test_the_paired_interval_agrees_with_another_method(table):
    assert paired_interval(*table) == pytest.approx(tango(*table), abs=0.025)


def test_newcombes_own_example():
    # Newcombe 1998, table II, case (a): 36, 12, 2, 0 of 50: difference 0.20 in favour of the first
    low, high = paired_interval(36, 12, 2, 0)
    assert -high == pytest.approx(0.0569, abs=0.003) and -low == pytest.approx(0.3404, abs=0.003)


def test_the_interval_holds_the_truth_as_often_as_it_says():
    random, held, times = np.random.default_rng(3), 0, 1500
    chances = np.array([0.6, 0.08, 0.20, 0.12])
    for _ in range(times):
        low, high = paired_interval(*random.multinomial(60, chances))
        held += low <= chances[2] - chances[1] <= high
    assert 0.935 <= held / times <= 0.985


@pytest.mark.parametrize(("first", "second"), [(0, 0), (0, 5), (1, 8), (10, 12), (30, 60)])
def test_mcnemar_is_the_exact_binomial_test(first, second):
    expected = binomtest(first, first + second, 0.5).pvalue if first + second else 1.0
    assert mcnemar(first, second) == pytest.approx(expected, rel=1e-9)


def test_a_change_is_one_only_where_chance_would_seldom_make_it():
    same = [(True, True)] * 40 + [(False, False)] * 10
    few = compare("old", "new", same + [(False, True)] * 3)
    many = compare("old", "new", same + [(False, True)] * 9 + [(True, False)])
    assert not few.is_change and "No change is shown" in few.sentence()
    assert many.is_change and "new succeeds more often than old" in many.sentence() and many.interval[0] > 0
    worse = compare("old", "new", same + [(True, False)] * 9)
    assert worse.is_change and "old succeeds more often than new" in worse.sentence()
    assert many.to_json()["rates"][1] == {"name": "new", "successes": 49, "rate": round(49 / 60, 4), "interval": list(wilson(49, 60))}
