"""What the driver of an arm says of itself."""

from __future__ import annotations

from dataclasses import dataclass

from deskhand.arms.bus.base import BusCounters, Health


@dataclass(frozen=True)
class DriverStatus:
    """What the driver knows; for diagnostics.

    Attributes:
        connected: the port is open and every servo has answered.
        fault: why the arm does not move; empty when it may.
        scale: share of the speed that warm servos leave.
        tracking_error: [rad] largest of the trajectory under way or the last one; ``tracking_rms`` over all its readings and joints.
        round_time: [s] for one reading of all servos, smoothed.
        latency: [s] from a question to its answer, measured when the arm was taken; ``lag`` [s] by which the joints trail what they are told, learnt.
        open_loop: joints whose servos answer nothing: their positions are what they were told.
        health: by joint name.
    """

    connected: bool
    fault: str
    scale: float
    tracking_error: float
    tracking_rms: float
    round_time: float
    latency: float
    lag: float
    open_loop: tuple[str, ...]
    doubted: int
    counters: BusCounters
    health: dict[str, Health]
