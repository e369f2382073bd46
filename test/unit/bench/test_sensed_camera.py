"""Our sensor model on the pictures of another simulator."""

from __future__ import annotations

import numpy as np

from deskhand.sim.foreign.sensed import SensedCamera
from deskhand.sim.reality.file import load_reality
from deskhand.types import CameraIntrinsics, Frame


class _Wall:
    """A grey wall 1 m away; left of it the room goes on for 30 m."""

    def capture(self, newer_than: float | None = None) -> Frame:
        depth = np.full((120, 160), 1.0, np.float32)
        depth[:, :40] = 30.0
        return Frame(np.full((120, 160, 3), 128, np.uint8), depth, CameraIntrinsics(160, 120, 200.0, 200.0, 79.5, 59.5), np.eye(4), 0.5)


def test_depth_colour_and_mount_are_off_as_the_seed_says_and_the_same_again() -> None:
    reality = load_reality("mild", 7)
    assert reality is not None
    first, again, other = (SensedCamera(_Wall(), spec, (160, 120)) for spec in (reality, reality, load_reality("mild", 8)))
    a, b, c = first.capture(), again.capture(), other.capture()
    np.testing.assert_array_equal(a.depth, b.depth)
    assert not np.array_equal(a.depth, c.depth, equal_nan=True)
    assert np.isnan(a.depth[:, :30]).all()
    seen = a.depth[np.isfinite(a.depth)]
    assert 0.0003 < np.std(seen) < 0.02 and abs(np.median(seen) - 1.0) < 0.02
    assert 0.0 < np.linalg.norm(a.world_T_camera[:3, 3]) < 0.02  # believed to be elsewhere
    assert not np.array_equal(first.capture().depth, a.depth, equal_nan=True)  # noise of its own in each picture
