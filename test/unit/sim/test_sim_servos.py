from __future__ import annotations

import numpy as np
import pytest
from sim_hand import SimHand, smooth

from deskhand.arms.config import list_arms
from deskhand.arms.follower import GOAL_TOLERANCE_VIOLATED, INVALID_GOAL, INVALID_JOINTS, PATH_TOLERANCE_VIOLATED, BadTrajectory, Tolerances
from deskhand.sim.simulation import Simulation
from deskhand.sim.worldfile import world_from_dict
from deskhand.types import Trajectory

EMPTY = np.zeros((0, 6))
OUT = np.array([0.9, 0.1, 0.2, 0.6, 0.9, 0.8])


@pytest.fixture
def simulation() -> Simulation:
    return Simulation(world_from_dict({"objects": [{"kind": "block", "pose": [0.1, 0.2]}]}))


def line(simulation: Simulation, times: list[float], positions: list[np.ndarray]) -> Trajectory:
    return Trajectory(simulation.arm.joints, np.array(times), np.array(positions), EMPTY, EMPTY)


def test_a_trajectory_is_followed_within_two_degrees_and_ends_where_it_should(simulation: Simulation) -> None:
    hand = SimHand(simulation)
    follower = simulation.follow(smooth(simulation.arm.joints, hand.joints(), OUT, 1.5))
    worst = 0.0
    while follower.active:
        simulation.step(0.01)
        worst = max(worst, float(np.abs(follower.error).max()))
    assert follower.code == 0
    assert 0.0005 < worst < 0.035, "real servos lag, but not much"
    assert np.abs(hand.joints() - OUT).max() < 0.01


def test_no_joint_turns_faster_than_its_limit(simulation: Simulation) -> None:
    start = SimHand(simulation).joints()
    limit = simulation.built.robot.limits["waist"][2]
    goal = start.copy()
    goal[0] = 2.5
    simulation.follow(line(simulation, [0.1], [goal]), Tolerances(np.zeros(6), np.zeros(6)))
    fastest = 0.0
    for _ in range(200):
        simulation.step(0.01)
        fastest = max(fastest, float(np.abs(simulation.data.qvel[simulation.built.dof["waist"]])))
    assert 0.5 * limit < fastest < 1.12 * limit, "a jump overshoots a little, a planned motion does not"


def test_a_jump_violates_the_path_tolerance_and_the_arm_stops(simulation: Simulation) -> None:
    goal = SimHand(simulation).joints() + 1.5 * np.eye(6)[0]
    follower = simulation.follow(line(simulation, [0.05, 0.1], [goal, goal]))
    simulation.step(1.0)
    assert follower.code == PATH_TOLERANCE_VIOLATED
    assert "waist" in follower.message
    assert np.abs(SimHand(simulation).joints()[0]) < 1.0


def test_no_servo_gives_more_than_its_torque_and_an_arm_in_the_way_of_the_desk_reports_it(simulation: Simulation) -> None:
    start = SimHand(simulation).joints()
    into_the_desk = np.array([0.0, 1.2, 0.3, 0.0, 0.5, 0.0])
    follower = simulation.follow(smooth(simulation.arm.joints, start, into_the_desk, 2.0))
    efforts = np.array([simulation.built.robot.limits[name][3] for name in simulation.arm.joints])
    while follower.active:
        simulation.step(0.01)
        assert np.all(np.abs(simulation.joint_state().efforts[:6]) <= efforts + 1e-9)
    assert follower.code in (PATH_TOLERANCE_VIOLATED, GOAL_TOLERANCE_VIOLATED)


def of_arm(name: str) -> Simulation:
    return Simulation(world_from_dict({"arm": name, "objects": [{"kind": "block", "pose": [0.1, 0.2]}]}))


@pytest.mark.parametrize("name", list_arms())
def test_no_joint_overshoots_its_speed_at_the_end_of_a_planned_acceleration(name: str) -> None:
    simulation = of_arm(name)
    start = np.array(simulation.arm.named_poses["home"])
    for index, joint in enumerate(simulation.arm.joints):
        goal = start.copy()
        goal[index] += 0.5 if start[index] + 0.5 < simulation.built.robot.limits[joint][1] else -0.5
        trajectory = smooth(simulation.arm.joints, start, goal, 1.2)
        simulation.follow(trajectory)
        passed = [start[index]]
        for _ in range(40):
            simulation.step(0.04)
            passed.append(simulation.joint_position(index))
        fastest, planned = np.abs(np.diff(passed)).max() / 0.04, np.abs(trajectory.velocities[:, index]).max()
        assert fastest < 1.02 * planned + simulation.arm.resolution / 0.04, joint
        simulation.follow(smooth(simulation.arm.joints, goal, start, 1.2))
        simulation.step(1.6)


def test_an_arm_whose_controller_bears_its_weight_stands_where_it_is_told() -> None:
    simulation = of_arm("panda")
    ready = np.array(simulation.arm.named_poses["ready"])
    simulation.follow(smooth(simulation.arm.joints, np.array(simulation.arm.named_poses["home"]), ready, 2.0))
    simulation.step(3.0)
    assert np.abs(simulation.joint_positions() - ready).max() < 0.001, "without it gravity takes the shoulder 5 mrad down"


def test_positions_are_read_in_ticks_of_the_encoder(simulation: Simulation) -> None:
    ticks = SimHand(simulation).joints() / simulation.arm.resolution
    assert np.allclose(ticks, np.round(ticks))


def test_cancel_stops_within_a_few_hundredths_of_a_radian(simulation: Simulation) -> None:
    hand = SimHand(simulation)
    follower = simulation.follow(smooth(simulation.arm.joints, hand.joints(), OUT, 1.5))
    simulation.step(0.7)
    at = hand.joints()
    simulation.cancel(follower)
    simulation.step(1.0)
    assert follower.cancelled
    assert not follower.active
    assert np.abs(hand.joints() - at).max() < 0.08
    assert np.abs(simulation.joint_state().velocities[:6]).max() < 0.05


def test_a_newer_trajectory_takes_over(simulation: Simulation) -> None:
    hand = SimHand(simulation)
    start = hand.joints()
    first = simulation.follow(smooth(simulation.arm.joints, start, OUT, 1.5))
    simulation.step(0.5)
    second = simulation.follow(smooth(simulation.arm.joints, hand.joints(), start, 1.5))
    assert not first.active
    assert first.cancelled
    while second.active:
        simulation.step(0.02)
    assert second.code == 0
    assert np.abs(hand.joints() - start).max() < 0.01


def test_joints_may_come_in_any_order(simulation: Simulation) -> None:
    joints = simulation.arm.joints
    goal = SimHand(simulation).joints() + 0.3 * np.eye(6)[0]
    follower = simulation.follow(Trajectory(joints[::-1], np.array([1.0]), goal[::-1].reshape(1, -1), EMPTY, EMPTY))
    while follower.active:
        simulation.step(0.02)
    assert SimHand(simulation).joints() == pytest.approx(goal, abs=0.01)


BAD = {
    "unknown joint": (lambda t: Trajectory(("hip", *t.joint_names[1:]), t.times, t.positions, EMPTY, EMPTY), INVALID_JOINTS, "hip"),
    "missing joint": (lambda t: Trajectory(t.joint_names[1:], t.times, t.positions[:, 1:], EMPTY, EMPTY), INVALID_JOINTS, "waist"),
    "not a number": (lambda t: Trajectory(t.joint_names, t.times, t.positions * np.nan, EMPTY, EMPTY), INVALID_GOAL, "finite"),
    "time backwards": (lambda t: Trajectory(t.joint_names, t.times[::-1], t.positions, EMPTY, EMPTY), INVALID_GOAL, "increasing"),
    "no points": (lambda t: Trajectory(t.joint_names, t.times[:0], t.positions[:0], EMPTY, EMPTY), INVALID_GOAL, "no points"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_trajectories_are_refused_and_nothing_moves(simulation: Simulation, case: str) -> None:
    spoil, code, said = BAD[case]
    start = SimHand(simulation).joints()
    with pytest.raises(BadTrajectory, match=said) as caught:
        simulation.follow(spoil(line(simulation, [0.5, 1.0], [start, start + 0.3])))
    assert caught.value.result_code == code
    simulation.step(0.5)
    assert np.abs(SimHand(simulation).joints() - start).max() <= simulation.arm.resolution
