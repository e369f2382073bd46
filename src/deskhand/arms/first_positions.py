"""Where the servos stand when an arm is taken: nothing may be commanded by a first answer alone, which may be late, damaged or another program's."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from deskhand.arms.bus.base import ServoBus
from deskhand.arms.position_filter import PositionFilter
from deskhand.errors import DeskhandError

AGREEING = 3  # readings in a row of a servo that must agree
APART = 0.03  # [s] at least from the first to the last of them
ANSWERED = 1.0  # [s] for the first believable answer of every servo
LIMIT = 4.0  # [s] for all to agree


def confirm_positions(bus: ServoBus, readings: PositionFilter, servos: Iterable[int], clock: Callable[[], float]) -> None:
    """Read ``servos`` until several readings of each, one after the other, agree; what they say is then believed. ``clock`` [s] is the driver's.

    Raises:
        DeskhandError: ``device_unavailable`` naming the servos that do not answer, or do not stand still.
    """
    servos, began = list(servos), clock()
    seen: dict[int, list[tuple[float, float]]] = {servo: [] for servo in servos}
    while left := [servo for servo in servos if not _confirmed(seen[servo])]:
        silent = [servo for servo in servos if not seen[servo]]
        if silent and clock() - began > ANSWERED:
            raise DeskhandError(
                "device_unavailable",
                f"servos {silent} do not answer.",
                retry=True,
                hint="Is the arm switched on? A servo that moves but never answers may be driven blind: driver.servos.<joint>.open_loop, docs/hardware.md.",
            )
        if clock() - began > LIMIT:
            raise DeskhandError(
                "device_unavailable", f"the positions of servos {left} do not agree from one reading to the next.", retry=True, hint="Hold the arm still."
            )
        for group in [left] if bus.together else [[servo] for servo in left]:
            for servo, position in bus.read_positions(group).items():
                if servo in seen and readings.believable(position):
                    kept = seen[servo] if readings.agree([position, *(value for value, _ in seen[servo])]) else []
                    seen[servo] = [*kept, (float(position), clock())]
    for servo, values in seen.items():
        for value, stamp in values:
            readings.take(servo, value, stamp)


def _confirmed(values: list[tuple[float, float]]) -> bool:
    return len(values) >= AGREEING and values[-1][1] - values[0][1] >= APART
