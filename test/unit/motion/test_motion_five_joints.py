"""An arm with five joints meets position and approach axis; the roll about the axis is what it is."""

from dataclasses import replace

import numpy as np
from motion_desk import ARM, FollowingArm

from deskhand.arms.model import RobotModel
from deskhand.geometry import Array, make_transform, rotation_about
from deskhand.motion.service import MotionService
from deskhand.types import MotionGoal, PlanOptions

KEPT = [0, 1, 2, 4, 5]  # the forearm does not roll
FIVE = replace(
    ARM,
    name="five",
    joints=tuple(ARM.joints[i] for i in KEPT),
    named_poses={name: tuple(values[i] for i in KEPT) for name, values in ARM.named_poses.items()},
    max_velocity=ARM.max_velocity[KEPT],
    max_acceleration=ARM.max_acceleration[KEPT],
)
MODEL = RobotModel.load(FIVE)


class Clock:
    time = 0.0

    def now(self) -> float:
        return self.time

    def sleep(self, seconds: float) -> None:
        self.time += seconds


def service() -> tuple[MotionService, FollowingArm]:
    clock = Clock()
    arm = FollowingArm(clock)  # type: ignore[arg-type]
    return MotionService(FIVE, arm.joint_state, clock), arm


def rolled(pose: Array, angle: float) -> Array:
    """The pose turned about its approach axis: out of reach of five joints but for one angle."""
    return pose @ make_transform(rotation_about((0, 0, 1), angle))


def test_position_and_approach_axis_are_met_whatever_roll_is_asked_for() -> None:
    assert FIVE.free_roll
    motion, _ = service()
    rng = np.random.default_rng(0)
    lower, upper = (np.array([MODEL.limits[name][i] for name in FIVE.joints]) for i in (0, 1))
    for _ in range(60):
        pose = MODEL.tcp_pose(MODEL.arm_joints(rng.uniform(lower * 0.98, upper * 0.98)))
        [solution, *_] = motion.solve_ik(rolled(pose, rng.uniform(-3, 3)), check_collisions=False)
        reached = MODEL.tcp_pose(MODEL.arm_joints(solution.joints))
        assert np.linalg.norm(reached[:3, 3] - pose[:3, 3]) < 1e-3
        assert np.arccos(np.clip(reached[:3, 2] @ pose[:3, 2], -1, 1)) < np.radians(0.5)


def test_plans_and_straight_lines() -> None:
    motion, _ = service()
    above = make_transform(np.diag([-1.0, 1, -1]), (0.0, 0.1, 0.15))
    plan = motion.plan_motion(MotionGoal(poses=(rolled(above, 0.7),)))
    assert np.linalg.norm(MODEL.tcp_pose(plan.end)[:3, 3] - above[:3, 3]) < 1e-3
    below = above.copy()
    below[2, 3] = 0.08
    line = motion.plan_cartesian((rolled(below, -0.4),), PlanOptions(start=plan.end))
    end = MODEL.tcp_pose(line.end)
    assert np.linalg.norm(end[:3, 3] - below[:3, 3]) < 1e-3 and end[2, 2] < -0.9999
