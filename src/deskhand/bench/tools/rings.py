"""Scenarios of rings and pegs."""

from __future__ import annotations

from typing import Any

import numpy as np

from deskhand.bench.tools.base import Measured, scenario
from deskhand.bench.tools.desk import ScenarioDesk
from deskhand.bench.tools.worlds import pegs
from deskhand.geometry import Array
from deskhand.sim.fixtures.pegs import pegs_of


def _feet(desk: ScenarioDesk) -> list[Array]:
    (stand,) = desk.simulation.built.spec.fixtures
    return pegs_of(stand)


def _peg(desk: ScenarioDesk, number: int) -> dict[str, Any]:
    """The peg of this number, where find_pegs sees it."""
    foot = _feet(desk)[number][:2, 3]
    seen = [peg["position"] for stand in desk.call("find_pegs")["stands"] for peg in stand["pegs"]]
    return {"peg": min(seen, key=lambda place: float(np.linalg.norm(np.asarray(place) - foot)))}


@scenario(tool="find_pegs", name="all_pegs", situation="A stand with three pegs and three rings: how far is the worst peg from where it is?", world=pegs)
def all_pegs(desk: ScenarioDesk) -> Measured:
    seen = [np.asarray(peg["position"]) for stand in desk.call("find_pegs")["stands"] for peg in stand["pegs"]]
    worst = max(min((float(np.linalg.norm(one - foot[:2, 3])) for one in seen), default=1.0) for foot in _feet(desk))
    return Measured(1000 * worst + 100 * abs(len(seen) - 3), "mm off at most", at_most=8.0)


@scenario(tool="find_pegs", name="which_rings", situation="Two rings on the first peg, one on the last: on how many pegs are others told?", world=pegs)
def which_rings(desk: ScenarioDesk) -> Measured:
    wrong = 0
    for foot, rings in zip(_feet(desk), (["red", "blue"], [], ["green"]), strict=True):
        near = [peg for stand in desk.call("find_pegs")["stands"] for peg in stand["pegs"] if np.linalg.norm(peg["position"] - foot[:2, 3]) < 0.02]
        wrong += [[ring["color"] for ring in peg["rings"]] for peg in near] != [rings]
    return Measured(wrong, "pegs", equal=0)


@scenario(
    tool="take_ring",
    name="the_uppermost",
    situation="Two rings on a peg: is the upper one held, the other where it was?",
    world=pegs,
    changes=True,
)
def the_uppermost(desk: ScenarioDesk) -> Measured:
    before = desk.truth("large").pose[2, 3]
    desk.call("take_ring", _peg(desk, 0))
    held = desk.simulation.truth().in_hand == ("small",)
    return Measured(float(held and abs(desk.truth("large").pose[2, 3] - before) < 0.003), "as it should be", equal=1)


@scenario(tool="take_ring", name="none_there", situation="A peg without a ring: is it refused?", world=pegs, changes=True)
def none_there(desk: ScenarioDesk) -> Measured:
    return Measured(float(desk.result("take_ring", _peg(desk, 1)).code == "unknown_object"), "refused", equal=1)


@scenario(
    tool="hang_ring", name="onto_another", situation="A ring goes over a peg that has one: how far is it from where it should lie?", world=pegs, changes=True
)
def onto_another(desk: ScenarioDesk) -> Measured:
    goal = _peg(desk, 2)
    desk.call("take_ring", _peg(desk, 0))
    desk.call("hang_ring", goal)
    place = _feet(desk)[2][:3, 3] + [0.0, 0.0, 0.018]
    return Measured(1000 * float(np.linalg.norm(desk.truth("small").pose[:3, 3] - place)), "mm", at_most=4.0)


@scenario(tool="hang_ring", name="no_peg_there", situation="A place without a peg: is it refused, and the ring held still?", world=pegs, changes=True)
def no_peg_there(desk: ScenarioDesk) -> Measured:
    desk.call("take_ring", _peg(desk, 0))
    refused = desk.result("hang_ring", {"peg": [0.2, 0.35]}).code == "unknown_object"
    return Measured(float(refused and bool(desk.call("get_robot_state")["holding"])), "refused", equal=1)
