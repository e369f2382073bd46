"""An arm with five joints meets position and approach axis, and the roll about the axis as far as its last joint turns."""

from dataclasses import replace

import numpy as np

from deskhand.arms.config import load_arm
from deskhand.arms.model import RobotModel
from deskhand.geometry import Array, make_transform, rotation_about, rotation_angle
from deskhand.grasping.reach import MAX_ROLL, reach_by_ik
from deskhand.motion.embedded import EmbeddedBackend
from deskhand.motion.roll import Roll, arm_axis, out_of_plane, roll_error, roll_joint
from deskhand.motion.service import MotionService
from deskhand.safety.scene import PlanningScene
from deskhand.testing.motion_desk import ARM, FollowingArm
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


JETARM = RobotModel.load(load_arm("jetarm"))
LIMITS = np.array([JETARM.limits[name][:2] for name in JETARM.arm.joints])
FINGERS = {"left_finger": 0.03}


def jetarm_pose(joints: Array) -> Array:
    return JETARM.tcp_pose(JETARM.arm_joints(joints))


def top_down(x: float, y: float, z: float, yaw: float) -> Array:
    return make_transform(rotation_about((0, 0, 1), yaw) @ np.diag([-1.0, 1, -1]), (x, y, z))


def test_the_roll_that_is_left_is_told_from_the_pose() -> None:
    rng = np.random.default_rng(1)
    for _ in range(50):
        pose, angle = jetarm_pose(rng.uniform(*LIMITS.T)), float(rng.uniform(-3.1, 3.1))
        assert abs(roll_error(rolled(pose, angle), pose) - angle) < 1e-9
    assert roll_joint(JETARM) == 4 and roll_joint(MODEL) == 4
    seven = replace(ARM, joints=ARM.joints[:5])  # its last joint bends the wrist
    assert roll_joint(RobotModel.load(seven)) is None


def test_two_hundred_poses_of_the_jetarm_are_met_with_their_roll() -> None:
    backend, rng = EmbeddedBackend(JETARM), np.random.default_rng(2)
    home = np.array(JETARM.arm.named_poses["home"])
    for _ in range(200):
        pose = jetarm_pose(rng.uniform(*(LIMITS * 0.98).T))
        [solution, *_] = backend.solve_ik(PlanningScene(), pose, home, FINGERS, check_collisions=False, max_time=0.3)
        reached = jetarm_pose(solution.joints)
        assert np.linalg.norm(reached[:3, 3] - pose[:3, 3]) < 1e-3
        assert rotation_angle(reached, pose) < np.radians(0.5)
        assert max(solution.rotation_error, abs(solution.roll_error)) < np.radians(0.5)
        assert (solution.joints >= LIMITS[:, 0] - 1e-9).all() and (solution.joints <= LIMITS[:, 1] + 1e-9).all()
    backend.close()


def test_a_roll_beyond_the_last_joint_is_reported_and_no_grasp() -> None:
    backend = EmbeddedBackend(JETARM)
    home = np.array(JETARM.arm.named_poses["home"])

    def solve(pose: Array, seed: Array | None, check: bool) -> list:  # type: ignore[type-arg]
        return backend.solve_ik(PlanningScene(), pose, home if seed is None else seed, FINGERS, check_collisions=check, max_time=0.3)

    straight = top_down(0.05, 0.0, 0.03, 0.0)
    # 120 degrees either way; the hand is the same after half a turn, so every closing direction is within reach one way round.
    for yaw in np.arange(-3.0, 3.1, 0.5):
        ways = [top_down(0.05, 0.0, 0.03, yaw), top_down(0.05, 0.0, 0.03, yaw + np.pi)]
        rolls = [solve(pose, None, False)[0].roll_error for pose in ways]
        assert min(map(abs, rolls)) < 1e-3
        reached = reach_by_ik(solve)(np.stack(ways))
        for roll, joints, pose in zip(rolls, reached, ways, strict=True):
            assert (joints is None) == (abs(roll) > MAX_ROLL), "a grasp that would close along the wrong direction"
            if joints is not None:
                assert rotation_angle(jetarm_pose(joints), pose) < np.radians(0.5) + abs(roll)
    behind = solve(straight, None, False)[0]
    assert abs(abs(behind.roll_error) - np.pi / 3) < 1e-3
    assert abs(roll_error(straight, jetarm_pose(behind.joints)) - behind.roll_error) < 1e-9
    backend.close()


def test_the_roll_follows_the_nearest_turn_within_the_limits() -> None:
    roll = Roll(JETARM)
    joints = np.array([0.2, -1.6, 1.2, -0.5, 2.0])
    for angle in (0.05, -1.0, 2.5, -3.0):
        fitted = roll.fitted(joints, rolled(jetarm_pose(joints), angle), jetarm_pose(joints))
        assert LIMITS[4, 0] <= fitted[4] <= LIMITS[4, 1]
        left = roll_error(rolled(jetarm_pose(joints), angle), jetarm_pose(fitted))
        options = [joints[4] + sign * angle + turn for sign in (1, -1) for turn in (-2 * np.pi, 0, 2 * np.pi)]
        assert abs(left) < 1e-9 or not any(LIMITS[4, 0] < option < LIMITS[4, 1] for option in options[:3])


def test_a_line_with_a_roll_out_of_reach_does_not_swing_from_limit_to_limit() -> None:
    backend, joints = EmbeddedBackend(JETARM), None
    for height in np.arange(0.10, 0.03, -0.002):
        pose = top_down(0.05, 0.0, height, 0.02 * np.sin(1e3 * height))  # half a turn away from home: either limit is as near
        seed = np.array(JETARM.arm.named_poses["home"]) if joints is None else joints
        found = backend.solve_ik(PlanningScene(), pose, seed, FINGERS)[0].joints if joints is None else backend.refine_ik(pose, joints, FINGERS)
        assert found is not None and (joints is None or np.abs(found - joints).max() < 0.1)
        joints = found
    backend.close()


def test_the_hand_leans_only_in_the_plane_of_the_arm() -> None:
    axis = arm_axis(JETARM)
    assert axis is not None and np.allclose(axis, JETARM.arm.world_T_base[:3, 3])
    assert arm_axis(RobotModel.load(ARM)) is None
    assert out_of_plane(top_down(0.1, 0.05, 0.1, 0.3), axis) < 1e-12
    sideways = top_down(0.05, 0.0, 0.1, 0.0) @ make_transform(rotation_about((1, 0, 0), 0.3))
    assert out_of_plane(sideways, axis) > 0.2
    backend = EmbeddedBackend(JETARM)
    assert not backend.solve_ik(PlanningScene(), sideways, np.zeros(5), FINGERS, check_collisions=False, max_time=0.05)
    backend.close()
