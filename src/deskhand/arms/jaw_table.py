"""The opening of a gripper that one Feetech servo moves, measured by a person at several angles: the table of ticks and metres in the unit's file.

Only the gripper's servo has torque meanwhile, little and slow, and it stays within the limits that the range by hand has given it: never on a stop.
The opening is what the arm's gripper calls its width (gripper.py): the distance of the pads where they come closest.
"""

from __future__ import annotations

import numpy as np
from scipy.interpolate import PchipInterpolator

from deskhand.arms.bus.feetech_setup import FeetechSetup
from deskhand.arms.operator import Operator
from deskhand.errors import DeskhandError

STEPS = 6  # angles at which the opening is measured
ROWS = 13  # of the table: a jaw that turns opens along an arc, which straight lines between six angles miss by some millimetres
MARGIN = 0.02  # of the range, that stays free before either stop
LEAST_MARGIN = 15.0  # [ticks]
LEAST_RANGE = 400  # [ticks] of the limits: with less the range was never taken
GENTLE, SLOW, SOFT = 300, 400, 10  # [0.1 % of the torque], [ticks/s], [100 ticks/s^2]
LATEST = 8.0  # [s] to reach an angle
POLL = 0.05  # [s]
STILL = 2  # [ticks] between readings
NEAR = 40  # [ticks] from the wish: farther off, something holds the jaw
LEAST_STEP = 0.001  # [m] by which the opening differs from angle to angle
WIDEST = 0.2  # [m]


def measure_jaw(bus: FeetechSetup, servo: int, operator: Operator, steps: int = STEPS) -> list[tuple[float, float]]:
    """(ticks, opening [m]) from one end of the servo's limits to the other.

    Raises:
        DeskhandError: ``cancelled`` without the person's yes; ``config_error`` when the servo has no limits yet; ``servo_fault`` when the jaw does not get
            there; ``invalid_input`` when the openings do not grow or shrink from each angle to the next.
    """
    low, high = bus.get(servo, "min_position"), bus.get(servo, "max_position")
    if not LEAST_RANGE <= high - low < 4000:
        raise DeskhandError("config_error", f"the gripper's limits are {low} to {high}.", hint="Take the ranges first.")
    if not operator.confirm(
        "gripper.start",
        f"Lay the arm down: only the gripper will hold. Its jaw will MOVE, slowly, to {steps} angles. "
        "Nothing between the jaws? You need a caliper or a ruler. Go on?",
    ):
        raise DeskhandError("cancelled", "the gripper was not measured.")
    margin = max(LEAST_MARGIN, MARGIN * (high - low))
    table: list[tuple[float, float]] = []
    limit = bus.get(servo, "torque_limit")
    bus.put(servo, {"torque_limit": GENTLE})
    try:
        bus.set_torque([servo], True)
        for step, wished in enumerate(np.linspace(low + margin, high - margin, steps)):
            stands = _go(bus, servo, round(float(wished)))
            opening = operator.number(f"gripper.gap.{step}", f"{step + 1} of {steps}: narrowest gap between the two pads [mm]", None) / 1000
            if not 0 <= opening <= WIDEST:
                raise DeskhandError("invalid_input", f"{1000 * opening:.0f} mm cannot be.", retry=True, hint="Millimetres, please.")
            table.append((stands, opening))
    finally:
        bus.set_torque([servo], False)
        bus.put(servo, {"torque_limit": limit})
    return smooth(table)


def smooth(table: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """More rows on a monotone curve through the measured ones.

    Raises:
        DeskhandError: ``invalid_input`` when these are not monotone.
    """
    rows = np.array(sorted(table))
    steps = np.diff(rows[:, 1])
    if not (np.all(steps >= LEAST_STEP) or np.all(steps <= -LEAST_STEP)):
        told = ", ".join(f"{ticks:.0f}: {1000 * width:.1f} mm" for ticks, width in rows)
        raise DeskhandError("invalid_input", f"the opening must grow with every angle ({told}).", retry=True, hint="Measure again, always the narrowest gap.")
    ticks = np.linspace(rows[0, 0], rows[-1, 0], ROWS)
    return [(float(tick), float(width)) for tick, width in zip(ticks, PchipInterpolator(rows[:, 0], rows[:, 1])(ticks), strict=True)]


def _go(bus: FeetechSetup, servo: int, goal: int) -> float:
    """Move there gently, and wait until it stands; where it does [ticks]."""
    bus.move_gently(servo, goal, SLOW, SOFT)
    waited, last, still = 0.0, bus.get(servo, "position"), 0
    while waited < LATEST and still < 4:
        bus.sleep(POLL)
        waited += POLL
        here = bus.get(servo, "position")
        still = still + 1 if abs(here - last) <= STILL and waited > 0.3 else 0
        last = here
    stands = bus.place(servo)
    if abs(stands - goal) > NEAR:
        raise DeskhandError(
            "servo_fault", f"the jaw stands at {stands:.0f} instead of {goal}.", retry=True, hint="Does something hold it? Is the range that of this jaw?"
        )
    return stands
