"""The benchmark's client of motion/solve_ik meets real nodes and gets its poses solved."""

import pytest

pytest.importorskip("rclpy")

from deskhand.arms.config import load_arm
from deskhand.bench.motion.ros import measure_ros_ik


def test_every_reachable_pose_is_solved_through_the_service():
    measured = measure_ros_ik(load_arm("jetarm"), 25, 3)
    assert measured["calls"] == 25 and measured["success"] == 1.0
    assert 0 < measured["median_ms"] <= measured["p95_ms"]
