"""Scenarios of the unit detection."""

from __future__ import annotations

import numpy as np

from deskhand.bench.perception.measure import compare
from deskhand.bench.tools.base import Measured, scenario
from deskhand.bench.tools.desk import Desk


@scenario(tool="detect_objects", name="all_found", situation="Six well separated things and a bin stand on the desk: how many of them does a look find?")
def all_found(desk: Desk) -> Measured:
    found = desk.look()
    return Measured(len(found) / len(desk.names), "share of the things found", at_least=1.0)


@scenario(tool="detect_objects", name="position", situation="Six things and a bin: how far are their centres from where they really are?")
def position(desk: Desk) -> Measured:
    desk.look()
    assert desk.belief.scene is not None
    rows, _ = compare(desk.belief.scene, desk.seen_truth())
    return Measured(1000 * float(np.max([row["position_error"] for row in rows if row["found"]])), "mm largest error", at_most=8.0)
