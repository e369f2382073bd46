"""The simulated arm behind servos as they are: where it stands, what they read, and a driver that shares its time."""

from __future__ import annotations

import math

import numpy as np
import pytest

from deskhand.arms.emulate.reality import ServoReality
from deskhand.arms.gravity import GravityLoad
from deskhand.sim.driven_local import DrivenRobot
from deskhand.sim.joint_servos import JointServos
from deskhand.sim.simulation import SimSettings, Simulation
from deskhand.sim.spec import WorldSpec
from deskhand.trials.hand_errors import HandErrors, WatchedArm
from deskhand.types import Trajectory

WORLD = WorldSpec((), arm="jetarm")
POSE = np.array([0.3, -1.2, 1.6, -1.9, 0.0])


def straight(joints: tuple[str, ...], start: np.ndarray, end: np.ndarray, seconds: float) -> Trajectory:
    s = np.linspace(0, 1, 25)[1:]
    way = 10 * s**3 - 15 * s**4 + 6 * s**5
    return Trajectory(joints, s * seconds, start + np.outer(way, end - start), np.zeros((0, len(joints))), np.zeros((0, len(joints))))


def test_a_joints_own_friction_is_no_load_so_that_a_link_stays_where_it_is_in_its_play() -> None:
    simulation = Simulation(WORLD, SimSettings(settle=0.0))
    servos = JointServos(simulation, lambda: simulation.time, ServoReality(backlash=math.radians(1.5)))
    config = simulation.arm.driver.servos["joint1"]
    start = simulation.joint_positions()[0]
    servos.all[0].move(config.pulse_of(start + 0.5), 1.0)
    simulation.step(1.2)
    trails = simulation.joint_positions()[0] - config.angle_of(servos.all[0].position())
    assert trails == pytest.approx(-math.radians(0.75), abs=1e-3)
    for _ in range(10):
        simulation.step(0.3)
        assert np.abs(simulation.joint_loads()[1]).max() < 1e-6, "nothing is touched"
    assert simulation.joint_positions()[0] - config.angle_of(servos.all[0].position()) == pytest.approx(trails, abs=1e-3)


def test_the_simulated_arm_sags_by_its_load_and_its_servos_do_not_see_the_play() -> None:
    simulation = Simulation(WORLD, SimSettings(settle=0.0))
    reality = ServoReality(sag=math.radians(2), backlash=math.radians(1.5))
    servos = JointServos(simulation, lambda: simulation.time, reality)
    arm = simulation.arm
    configs = [arm.driver.servos[joint] for joint in arm.joints]
    for config, servo, angle in zip(configs, servos.all, POSE, strict=False):
        servo.move(config.pulse_of(angle), 1.0)
    simulation.step(2.5)
    stands = simulation.joint_positions()
    reads = np.array([config.angle_of(servo.position()) for config, servo in zip(configs, servos.all, strict=False)])
    shares = GravityLoad(simulation.built.robot).shares(stands)
    loaded = np.abs(shares) > 0.2
    assert loaded.sum() >= 3
    assert reads[loaded] - POSE[loaded] == pytest.approx(math.radians(2) * shares[loaded], abs=0.012), "the drives of the simulation yield a little too"
    assert (stands - reads)[loaded] == pytest.approx(math.radians(0.75) * np.sign(shares[loaded]), abs=1e-3)


def test_a_driver_in_simulated_time_moves_the_arm_and_the_scorer_sees_where_it_really_is() -> None:
    simulation = Simulation(WORLD, SimSettings(settle=0.0))
    robot = DrivenRobot(simulation, "hiwonder_rrc", ServoReality(backlash=math.radians(1.5), read_latency=0.02, command_latency=0.02))
    errors = HandErrors(simulation)
    robot.start()
    try:
        arm = WatchedArm(robot, errors)
        motion = arm.follow(straight(simulation.arm.joints, robot.joint_state().of(simulation.arm.joints), POSE, 2.2))
        begun = robot.time.now()
        while not motion.done():
            assert robot.time.now() < begun + 8.0
            robot.time.wait(0.02)
            errors.look()
        assert not motion.error()
        assert robot.time.now() == pytest.approx(simulation.time, abs=0.003)
        errors.grip(0.0)
    finally:
        robot.close()
    off = errors.to_json()
    assert off["motions"] == 1 and off["outside"] == []
    measured = robot.joint_state().of(simulation.arm.joints)
    assert np.abs(measured - POSE).max() < 0.012, "by its encoders it is there"
    assert 4.0 < off["grasp_mm"][0] < 16.0, "and really beside it, by the play"
