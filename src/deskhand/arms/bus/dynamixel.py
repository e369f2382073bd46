"""Dynamixel X servos (WidowX 250s, OpenManipulator-X) by PyPI dynamixel-sdk, protocol 2.0. 4096 ticks a turn. Registers: ROBOTIS e-Manual, X series."""

from __future__ import annotations

import struct
import time
from collections.abc import Callable, Iterable, Mapping

from deskhand.arms.bus.base import Health
from deskhand.arms.bus.port import Port
from deskhand.arms.bus.sdk import SdkBus, load_sdk
from deskhand.errors import DeskhandError

BAUD = 1_000_000
MODE, TORQUE, HARDWARE_ERROR, WATCHDOG, PROFILE, POSITION, VOLTAGE = 11, 64, 70, 98, 108, 132, 144
POSITION_MODES = (3, 4, 5)  # position, extended position, current-based position (which XL430 has not)
SPEED_UNIT = 0.229 * 4096 / 60  # [ticks/s] of the profile velocity
FASTEST = 300  # [units] 412 degrees a second
FAULTS = {1: "voltage", 4: "too hot", 8: "encoder", 16: "electrical shock", 32: "overload"}


class DynamixelBus(SdkBus):
    """Servos on an adapter."""

    def __init__(self, port: str | Port, baud: int = BAUD, latency: float = 0.02, clock: Callable[[], float] = time.monotonic) -> None:
        sdk = load_sdk("dynamixel_sdk", "dynamixel-sdk")
        super().__init__(port, baud, sdk, sdk.PacketHandler(2.0), (POSITION, 4), lambda data: int(struct.unpack("<i", data)[0]), latency, clock)

    def read_health(self, servo: int) -> Health:
        """See base; no load, since its unit differs from servo to servo."""
        fault, supply = self._read(servo, HARDWARE_ERROR, 1), self._read(servo, VOLTAGE, 3)
        text = "" if fault is None else ", ".join(name for bit, name in FAULTS.items() if fault[0] & bit)
        if supply is None:
            return Health(fault=text)
        volts, temperature = struct.unpack("<HB", supply)
        return Health(temperature, volts / 10, None, text)

    def torque_on(self, servo: int) -> bool | None:
        """See base."""
        data = self._read(servo, TORQUE, 1)
        return None if data is None else data[0] == 1

    def move(self, goals: Mapping[int, int], seconds: float) -> None:
        """See base; the time becomes a speed, from where the servo was last read."""
        present, values = self._present(goals), {}
        for servo, goal in goals.items():
            speed = FASTEST if servo not in present else round(abs(goal - present[servo]) / max(seconds, 1e-3) / SPEED_UNIT)
            # a speed of 0 would mean: no limit
            values[servo] = struct.pack("<IIi", 0, min(max(speed, 1), FASTEST), goal)
        self._write_all(PROFILE, values)

    def stop(self, servos: Iterable[int]) -> None:
        """See base: there is no such command, so they are sent to where they are."""
        self._write_all(PROFILE, {servo: struct.pack("<IIi", 0, FASTEST, goal) for servo, goal in self.read_positions(servos).items()})

    def set_torque(self, servos: Iterable[int], on: bool) -> None:
        """See base. Takes back a watchdog that has struck, which would refuse every goal.

        Raises:
            DeskhandError: ``servo_fault`` when a servo is not in a mode of position control.
        """
        for servo in servos:
            mode = self._read(servo, MODE, 1) if on else None
            if mode is not None and mode[0] not in POSITION_MODES:
                raise DeskhandError(
                    "servo_fault", f"servo {servo} is in operating mode {mode[0]}, not in one of position control.", hint="Set it to 3 by the Dynamixel Wizard."
                )
            if on:
                self._write(servo, WATCHDOG, b"\0")
            self._write(servo, TORQUE, bytes((on,)))
