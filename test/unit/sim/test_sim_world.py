from __future__ import annotations

import json
import socket

import numpy as np
import pytest
from sim_hand import SimHand, smooth

from deskhand.errors import DeskhandError
from deskhand.sim.devices import SimArm, SimClock, SimGripper
from deskhand.sim.simulation import Simulation
from deskhand.sim.spec import CONTAINER_KINDS, KINDS
from deskhand.sim.truth import TruthClient, TruthServer, truth_from_json, truth_to_json
from deskhand.sim.worldfile import world_from_dict

FULL = {
    "objects": [
        {"kind": "block", "pose": [0.0, 0.0]},
        {"kind": "ball", "pose": [0.03, -0.12]},
        {"kind": "cup", "pose": [-0.05, 0.12]},
        {"kind": "can", "pose": [-0.02, -0.20]},
        {"kind": "pen", "pose": [0.12, -0.02, 0.7]},
        {"kind": "marker", "pose": [0.10, -0.15, 1.7]},
        {"kind": "eraser", "pose": [-0.08, -0.04, 1.0]},
        {"kind": "sponge", "pose": [0.05, 0.17, 1.0]},
        {"kind": "box", "pose": [0.15, 0.12, 0.2]},
        {"kind": "bin", "pose": [0.02, 0.32]},
        {"kind": "tray", "pose": [0.02, -0.34]},
        {"kind": "box_open", "pose": [0.25, -0.25]},
    ]
}


def run(seconds: float) -> np.ndarray:
    simulation = Simulation(world_from_dict(FULL))
    hand = SimHand(simulation)
    simulation.follow(smooth(simulation.arm.joints, hand.joints(), np.array([0.4, 0.5, 0.3, 0.2, 0.8, 0.1]), 1.0))
    simulation.grip(0.02)
    simulation.step(seconds)
    return np.concatenate([simulation.data.qpos.copy(), simulation.data.qvel.copy()])


def test_two_runs_of_a_world_are_the_same_to_the_last_bit() -> None:
    assert np.array_equal(run(2.0), run(2.0))


def test_everything_stands_where_it_was_put_and_stays() -> None:
    simulation = Simulation(world_from_dict(FULL))
    start = simulation.truth()
    simulation.step(5.0)
    assert not simulation.moving()
    for item, spec in zip(simulation.truth().objects, simulation.built.spec.objects, strict=True):
        assert np.linalg.norm(item.pose[:3, 3] - start.get(item.name).pose[:3, 3]) < 1e-3
        assert np.linalg.norm(item.pose[:2, 3] - spec.pose[:2, 3]) < 0.02


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "mesh"])
def test_every_kind_has_the_mass_it_should(kind: str) -> None:
    simulation = Simulation(world_from_dict({"objects": [{"kind": kind, "mass": 0.123, "pose": [0.1, 0.1]}]}))
    assert simulation.model.body_subtreemass[simulation.built.object_bodies[0]] == pytest.approx(0.123)


@pytest.mark.parametrize("kind", [*CONTAINER_KINDS, "cup"])
def test_a_object_dropped_into_a_hollow_one_ends_on_its_floor(kind: str) -> None:
    objects = [{"kind": kind, "name": "hollow", "pose": [0.1, 0.0]}, {"kind": "ball", "name": "ball", "size": 0.02, "pose": {"x": 0.1, "y": 0.0, "z": 0.13}}]
    if kind == "cup":
        objects[0]["size"] = [0.06, 0.07]
    simulation = Simulation(world_from_dict({"objects": objects}))
    hollow, ball = (simulation.truth().get(name) for name in ("hollow", "ball"))
    assert np.linalg.norm(ball.pose[:2, 3] - hollow.pose[:2, 3]) < max(hollow.size) / 2
    assert ball.pose[2, 3] - 0.01 < 0.006


def test_a_pushed_ball_comes_to_rest() -> None:
    simulation = Simulation(world_from_dict({"objects": [{"kind": "ball", "name": "ball", "pose": [0.0, 0.0]}]}))
    first = simulation.model.body_dofadr[simulation.built.object_bodies[0]]
    simulation.data.qvel[first] = 0.15
    simulation.step(0.1)
    assert simulation.moving()
    simulation.step(3.0)
    assert not simulation.moving()
    assert 0.005 < simulation.truth().get("ball").pose[0, 3] < 0.15


def test_a_tower_of_four_blocks_stands() -> None:
    objects = [{"kind": "block", "name": f"b{i}", "pose": {"x": 0.1, "y": 0.004 * (-1) ** i, "z": 0.0176 + 0.0351 * i}} for i in range(4)]
    simulation = Simulation(world_from_dict({"objects": objects}))
    simulation.step(3.0)
    assert simulation.truth().get("b3").pose[2, 3] == pytest.approx(0.0175 + 3 * 0.035, abs=0.002)


def test_objects_that_overlap_at_the_start_are_refused_by_name() -> None:
    with pytest.raises(DeskhandError, match=r"(block_1.*can_1|can_1.*block_1) overlap") as caught:
        Simulation(world_from_dict({"objects": [{"kind": "block", "pose": [0.0, 0.0]}, {"kind": "can", "pose": [0.01, 0.0]}]}))
    assert caught.value.code == "invalid_input"


def test_devices_move_arm_and_gripper_in_simulated_time() -> None:
    simulation = Simulation(world_from_dict({"objects": [{"kind": "block", "pose": [0.1, 0.1]}]}))
    arm, gripper, clock = SimArm(simulation), SimGripper(simulation), SimClock(simulation)
    start = arm.joint_state().of(simulation.arm.joints)
    motion = arm.follow(smooth(simulation.arm.joints, start, start + 0.2 * np.eye(6)[0], 1.0))
    fingers = gripper.move(0.02, 5.0)
    while not (motion.done() and fingers.done()):
        clock.sleep(0.02)
    assert motion.error() == ""
    assert clock.now() == pytest.approx(1.0, abs=0.2)
    assert fingers.report().reached
    assert fingers.report().width == pytest.approx(0.02, abs=0.0015)
    assert arm.joint_state().of(simulation.arm.joints) == pytest.approx(start + 0.2 * np.eye(6)[0], abs=0.01)


def test_the_scorer_gets_the_truth_over_its_socket_and_nothing_else_is_answered() -> None:
    simulation = Simulation(world_from_dict(FULL))
    ours, theirs = socket.socketpair()
    server = TruthServer(theirs.detach(), simulation.truth)
    server.start()
    try:
        truth = TruthClient(ours).get()
        assert [item.name for item in truth.objects] == [item.name for item in simulation.built.spec.objects]
        assert np.allclose(truth.get("bin_1").pose, simulation.truth().get("bin_1").pose)
        ours.sendall(b'{"get": "seed"}\nnonsense\n')
        lines = ours.makefile("rb")
        assert "error" in json.loads(lines.readline())
        assert "error" in json.loads(lines.readline())
    finally:
        server.close()
    with pytest.raises(DeskhandError) as caught:
        TruthClient(ours).get()
    assert caught.value.code == "node_unavailable"


def test_truth_survives_json() -> None:
    truth = Simulation(world_from_dict(FULL)).truth()
    again = truth_from_json(json.loads(json.dumps(truth_to_json(truth))))
    assert again.time == truth.time
    assert all(np.array_equal(a.pose, b.pose) and a.name == b.name and a.size == b.size for a, b in zip(again.objects, truth.objects, strict=True))
