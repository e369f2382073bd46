"""Samples of a simulated trial: even times, what was measured and commanded at each, and the picture of that moment."""

import cv2
import numpy as np
import pytest

pytest.importorskip("mujoco")

from deskhand.recording.episode.samples import Samples
from deskhand.sim.simulation import Simulation
from deskhand.tasks import load_task
from deskhand.trials.sampling import Sampler
from deskhand.types import Trajectory


def turn(simulation, by, seconds):
    """A straight motion of the first joint."""
    joints = simulation.arm.joints
    start = simulation.joint_positions()
    end = start.copy()
    end[0] += by
    zero = np.zeros((2, len(joints)))
    return Trajectory(joints, np.array([0.0, seconds]), np.array([start, end]), zero, zero)


def test_samples_are_even_and_show_what_was_measured_and_commanded(tmp_path):
    simulation = Simulation(load_task("block_building", "wx250s").world(3))
    sampler = Sampler(simulation, 10.0)
    measured = {}
    with sampler.running("turn the arm"):
        simulation.follow(turn(simulation, 0.8, 1.0))
        simulation.grip(simulation.arm.gripper.position_of(0.03))
        for seconds in (0.05, 0.31, 0.004, 0.5, 0.3):  # whatever lets time pass
            simulation.step(seconds)
            measured[round(simulation.time, 3)] = simulation.joint_state()
    simulation.step(0.5)
    before = simulation.data.qpos.copy(), simulation.time
    sampler.write(tmp_path)
    assert np.array_equal(simulation.data.qpos, before[0]) and simulation.time == before[1]
    samples = list(Samples(tmp_path))
    assert len(samples) == sampler.count == 12
    assert np.diff([sample.stamp for sample in samples]) == pytest.approx(0.1, abs=0.004)
    assert {sample.task for sample in samples} == {"turn the arm"}
    waist = np.array([(sample.state[0], sample.action[0]) for sample in samples])
    assert waist[0] == pytest.approx([waist[0, 1]] * 2, abs=0.01) and waist[-1] == pytest.approx([waist[0, 0] + 0.8] * 2, abs=0.02)
    assert np.all(waist[2:9, 1] - waist[2:9, 0] > 0), "what is commanded leads what is measured"
    width = [(sample.state[-1], sample.action[-1]) for sample in samples]
    assert width[0][0] == pytest.approx(simulation.arm.gripper.width_max, abs=0.003) and width[-1] == pytest.approx((0.03, 0.03), abs=0.003)
    first, last = (cv2.imdecode(np.frombuffer(sample.pictures["camera"], np.uint8), cv2.IMREAD_COLOR).astype(int) for sample in (samples[0], samples[-1]))
    again = cv2.imdecode(np.frombuffer(samples[1].pictures["camera"], np.uint8), cv2.IMREAD_COLOR).astype(int)
    assert np.mean(np.abs(last - first)) > 1.5 * np.mean(np.abs(again - first)), "the arm has moved in the picture"


def test_what_time_it_is_does_not_shift_the_samples():
    simulation = Simulation(load_task("block_building", "wx250s").world(3))
    simulation.step(0.537)
    sampler = Sampler(simulation, 20.0)
    with sampler.running("wait"):
        simulation.step(0.5)
    with sampler.running("wait again"):
        simulation.step(0.26)
    assert sampler.count == 11 + 6 and simulation.watch is None
