"""Noise on the wire: no wrong position is believed, nothing hangs, and a good one follows soon."""

from __future__ import annotations

import pytest
from driven import HOME, MODEL, OUT, smooth

from deskhand.arms.emulate.faults import WireFaults
from deskhand.arms.emulate.rig import Rig


@pytest.mark.parametrize("kind", ["hiwonder_rrc", "lx16a"])
@pytest.mark.parametrize("seed", [0, 1])
def test_no_wrong_position_is_believed(kind: str, seed: int) -> None:
    rig = Rig(MODEL, kind, WireFaults.share(0.05, seed))
    goals = [HOME, OUT]
    follower = None
    gaps, last, frames = [], 0.0, 0
    while frames < 1500:
        if not rig.step():
            continue
        if follower is None or not follower.active:
            start = rig.driver.joint_state().positions[:5]
            follower = rig.driver.follow(smooth([start, goals[0]], 2.0))
            goals.reverse()
        truth, measured = rig.true_angles(), rig.driver.joint_state()
        assert abs(measured.positions[:5] - truth).max() < 0.25, "further than an arm at full speed gets in a tenth of a second"
        gaps.append(measured.stamp - last)
        last, frames = measured.stamp, rig.emulator.served
    assert max(gaps[1:]) < 0.2
    assert rig.port.faults.damaged > 50
