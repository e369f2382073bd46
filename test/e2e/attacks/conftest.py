"""Attacks on a running robot: few by default, many with ``--attacks N`` (and ``--attack-seed S``) for the nightly run."""

import pytest


@pytest.fixture
def attack_seed(request):
    return request.config.getoption("--attack-seed")


@pytest.fixture
def attack_count(request):
    """How many attacks of each kind; those marked ``attacks`` are left out while it is 0."""
    return request.config.getoption("--attacks")
