"""Where the pegs of a scenario's stand are, and where find_pegs sees them."""

from __future__ import annotations

from typing import Any

import numpy as np

from deskhand.bench.tools.desk import ScenarioDesk
from deskhand.geometry import Array
from deskhand.sim.fixtures.pegs import pegs_of


def feet(desk: ScenarioDesk) -> list[Array]:
    """world_T_foot (4, 4) of each peg."""
    (stand,) = desk.simulation.built.spec.fixtures
    return pegs_of(stand)


def peg(desk: ScenarioDesk, number: int) -> dict[str, Any]:
    """The arguments that name the peg of this number, where find_pegs sees it."""
    foot = feet(desk)[number][:2, 3]
    seen = [one["position"] for stand in desk.call("find_pegs")["stands"] for one in stand["pegs"]]
    return {"peg": min(seen, key=lambda place: float(np.linalg.norm(np.asarray(place) - foot)))}
