"""The bus of a driver by its kind."""

from __future__ import annotations

import time
from collections.abc import Callable

from deskhand.arms.bus.base import ServoBus
from deskhand.arms.bus.port import Port
from deskhand.arms.driver_config import SERVO_BUSES, DriverConfig
from deskhand.errors import DeskhandError


def make_bus(config: DriverConfig, kind: str = "", port: str | Port = "", baud: int = 0, clock: Callable[[], float] = time.monotonic) -> ServoBus:
    """The bus of an arm; ``kind``, ``port`` (a path, or one made elsewhere) and ``baud`` in place of those of its configuration; ``clock`` [s] is that of
    the servos, simulated time when they are. Nothing is opened.

    Raises:
        DeskhandError: ``config_error`` when the arm cannot be driven so, ``missing_dependency`` when a vendor's library is not installed.
    """
    kind, port, baud = kind or config.kinds[0], port or config.port, baud or config.baud
    possible = [name for name in config.kinds if name in SERVO_BUSES]
    if kind not in possible:
        raise DeskhandError("config_error", f"this arm has no driver {kind!r}; it has: {', '.join(possible) or 'none of ours (ros2_control)'}.")
    if not port:
        raise DeskhandError("config_error", "no port is given for the arm.", hint="Set driver.port in the arm's file, or the parameter port.")
    bauds = {"baud": baud} if baud else {}
    if kind == "hiwonder_rrc":
        from deskhand.arms.bus.rrc import RrcBus

        return RrcBus(port, clock=clock, **bauds)
    if kind == "lx16a":
        from deskhand.arms.bus.lx16a import LxBus

        return LxBus(port, clock=clock, **bauds)
    if kind == "feetech":
        from deskhand.arms.bus.feetech import FeetechBus

        return FeetechBus(port, clock=clock, **bauds)
    from deskhand.arms.bus.dynamixel import DynamixelBus

    return DynamixelBus(port, clock=clock, layout=config.dynamixel, **bauds)
