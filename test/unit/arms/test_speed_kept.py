"""No joint goes faster than its limit, though servos begin each piece of a trajectory standing, and miss some."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pytest
from driven import ARM, HOME, MODEL, smooth

from deskhand.arms.emulate.rig import Rig

OVER = 0.04  # [s] over which a speed is measured
STEP = 0.01  # [s]
ALLOWED = 1.01  # of the limit, as the envelope has it (config/safety.yaml)


def speeds_of(rig: Rig, goal: np.ndarray, seconds: float) -> np.ndarray:
    """(m, n) [rad/s] at which the joints really went on their way to ``goal``, which they reach."""
    times, places, sleep = [], [], rig.clock.sleep

    def watched(wait: float) -> None:
        end = rig.clock() + max(0.0, wait)
        while rig.clock() < end - 1e-9:
            sleep(min(STEP, end - rig.clock()))
            times.append(rig.clock())
            places.append(rig.true_angles())

    rig.clock.sleep = watched  # type: ignore[method-assign]
    follower = rig.finish(rig.driver.follow(smooth([HOME, goal], seconds)))
    assert follower.code == 0, follower.message
    assert np.abs(rig.true_angles() - goal).max() < 0.03
    at, positions = np.array(times), np.array(places)
    later = np.searchsorted(at, at + OVER)
    known = later < len(at)
    return np.abs(positions[later[known]] - positions[known]) / (at[later[known]] - at[known])[:, None]


@pytest.mark.parametrize("kind", ["hiwonder_rrc", "lx16a"])
@pytest.mark.parametrize("lost", [0, 2, 3])
def test_a_plan_near_the_limit_is_followed_within_it_also_where_pieces_are_lost(kind: str, lost: int) -> None:
    rig, told = Rig(MODEL, kind), 0
    assert rig.step()
    tell = rig.bus.move

    def move(goals: Mapping[int, int], seconds: float) -> None:
        nonlocal told
        told += 1
        if not 8 <= told < 8 + lost:
            tell(goals, seconds)

    rig.bus.move = move  # type: ignore[method-assign]
    way = np.array([1.8, 0.0, 0.0, 0.0, 0.0])
    planned = smooth([HOME, HOME + way], 1.8)
    assert np.abs(planned.velocities).max() > 0.93 * ARM.max_velocity[0]
    speeds = speeds_of(rig, HOME + way, 1.8)
    assert told > 8 + lost and speeds.max() > 1.0
    assert (speeds <= ALLOWED * ARM.max_velocity).all(), speeds.max(axis=0)
