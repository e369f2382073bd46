"""Rings and pegs: taken off one and hung on another, and never said to hang where they do not."""

import contextlib
from dataclasses import replace

import numpy as np
import pytest

from deskhand.arms.config import load_arm
from deskhand.sim.devices import SimArm, SimCamera, SimClock, SimGripper
from deskhand.sim.fixtures.pegs import pegs_of
from deskhand.sim.fixtures.spec import FixtureSpec
from deskhand.sim.simulation import Simulation
from deskhand.sim.spec import ObjectSpec, WorldSpec, pose_at
from deskhand.tools.base import make_session
from deskhand.trials.demonstrations import put
from deskhand.trials.honesty import Honesty
from deskhand.trials.local import Devices, make_local_robot

STAND = FixtureSpec("stand", "peg_stand", (0.09, 0.26, 0.012), (0.55, 0.36, 0.2), pose_at(0.0, 0.0, 0.0, 0.2), peg=(0.008, 0.036))
PEGS = [foot[:2, 3] for foot in pegs_of(STAND)]
SIZES = {"large": (0.042, (0.8, 0.1, 0.08)), "small": (0.024, (0.1, 0.24, 0.75))}


@contextlib.contextmanager
def session_with(**rings):
    """A session on a desk with a stand and rings; name to (peg, how many are below)."""
    objects = [
        ObjectSpec(name, "mesh", (SIZES[name][0],) * 2 + (0.012,), SIZES[name][1], 0.015, pose_at(*PEGS[peg], 0.0185 + 0.0121 * level), shape="peg_ring")
        for name, (peg, level) in rings.items()
    ]
    world = WorldSpec(tuple(objects), fixtures=(STAND,), seed=1)
    simulation = Simulation(world)
    simulation.step(0.5)
    camera = SimCamera(simulation)
    robot = make_local_robot(load_arm("wx250s"), Devices(SimArm(simulation), SimGripper(simulation), camera, SimClock(simulation)))
    try:
        with make_session(robot) as session:
            yield session, simulation, world
    finally:
        camera.close()


def place(value):
    return {"peg": [round(float(one), 4) for one in value]}


def test_a_ring_goes_from_peg_to_peg_onto_another_one():
    with session_with(large=(2, 0), small=(0, 0)) as (session, simulation, _):
        taken = session.invoke("take_ring", place(PEGS[0]))
        assert taken.ok and taken.data["color"] == "blue" and simulation.truth().in_hand == ("small",), taken.message
        refused = session.invoke("hang_ring", {"peg": [0.2, 0.3]})
        assert refused.code == "unknown_object" and simulation.truth().in_hand == ("small",)
        hung = session.invoke("hang_ring", place(PEGS[2]))
        simulation.step(0.5)
        small = simulation.truth().get("small").pose
        assert hung.ok and np.linalg.norm(small[:2, 3] - PEGS[2]) < 0.004 and small[2, 3] == pytest.approx(0.030, abs=0.002), hung.message
        state = session.invoke("find_pegs", {}).data["stands"][0]["pegs"]
        assert sorted([ring["color"] for ring in peg["rings"]] for peg in state) == [[], [], ["red", "blue"]]


def test_a_peg_without_a_ring_gives_none():
    with session_with(large=(2, 0)) as (session, simulation, _):
        assert session.invoke("take_ring", place(PEGS[0])).code == "unknown_object" and not simulation.truth().in_hand


def test_what_the_scorer_sees_denies_a_claim_that_is_not_so():
    with session_with(large=(2, 0), small=(0, 0)) as (_, simulation, world):
        scorer = Honesty(world, simulation.truth, type("Belief", (), {"scene": None})())
        before = simulation.truth()
        put(simulation, "small", pose_at(*PEGS[0], 0.1))
        assert not scorer._denied("take_ring", place(PEGS[0]), before, {}, {})
        put(simulation, "small", pose_at(*PEGS[2], 0.031))
        scorer._lifted = ("small",)
        assert not scorer._denied("hang_ring", place(PEGS[2]), replace(before, in_hand=("small",)), {}, {})
        put(simulation, "small", pose_at(*(PEGS[2] + [0.02, 0.0]), 0.018))
        assert "about no peg" in scorer._denied("hang_ring", place(PEGS[2]), replace(before, in_hand=("small",)), {}, {})
