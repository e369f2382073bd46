"""The JetArm's own steps: the vendor's service, the port, the servos and the battery, zeros, lengths, gripper, and what its camera is screwed to."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from deskhand.arms.bus.base import Health, ServoBus
from deskhand.arms.bus.choice import make_bus
from deskhand.arms.bus.holders import holders
from deskhand.arms.bus.port import port_busy
from deskhand.arms.bus.rrc import RrcBus
from deskhand.arms.config import ArmConfig, load_arm
from deskhand.arms.model import RobotModel
from deskhand.arms.ports import find_port
from deskhand.arms.unit import UnitCalibration, UnitData
from deskhand.bringup.first_day.base import Day, Step
from deskhand.bringup.first_day.dry_run import arm_driver
from deskhand.bringup.first_day.services import stopped
from deskhand.bringup.first_day.workplace import driver_of, port_of
from deskhand.bringup.first_day.wx250s import keep
from deskhand.cameras.config import load_camera, save_camera
from deskhand.errors import DeskhandError
from deskhand.geometry import inverse

VENDOR_SERVICE = "start_app_node.service"
"""Of the vendor's image: its documentation stops it by this name before every lesson."""
ADAPTERS = ((0x1A86, 0x7523), (0x1A86, 0x55D4), (0x10C4, 0xEA60), (0x0483, 0x5740))
"""Chips that boards of this vendor are known to have; which one a unit has is UNCONFIRMED."""
BATTERY = 3.0  # [s] in which the board tells its voltage, about once a second
ATTEMPTS = 8  # to hear of a servo: a busy machine, or a noisy line, misses an answer
BEFORE_ROLL = "link4"  # carries the hand's roll


@contextmanager
def opened(day: Day) -> Iterator[ServoBus]:
    """The bus, without a driver: nothing is told to the servos."""
    arm = load_arm(day.unit)
    if day.workplace is not None:
        day.workplace.release()
    bus = make_bus(arm.driver, driver_of(day), port_of(day))
    bus.open()
    try:
        yield bus
    finally:
        bus.close()


def vendor(day: Day) -> Mapping[str, Any]:
    """The vendor's programs do not run, and will not with the next start.

    Raises:
        DeskhandError: ``device_busy`` while they do.
    """
    found = stopped(day.operator, VENDOR_SERVICE, "The vendor's")
    return {"service": found.name, "active": found.active, "enabled": found.enabled}


def port(day: Day) -> Mapping[str, Any]:
    """The board's port, that this user may open it and nobody else has it.

    Raises:
        DeskhandError: ``device_unavailable`` when there is none; ``device_busy`` naming who has it.
    """
    if not day.settings.get("port"):
        try:
            day.settings["port"] = find_port(day.operator, "JetArm", ADAPTERS).path
        except DeskhandError as error:
            more = " On Ubuntu 22.04 the package brltty takes CH340 adapters away: sudo apt remove brltty. Some Jetson kernels have no driver for them (ch341)."
            raise DeskhandError(error.code, error.message, retry=error.retry, hint=f"{error.hint}{more}") from error
    path = port_of(day)
    if found := holders(path):
        raise port_busy(path, found)
    if not day.rehearsal:
        keep(day, {"driver": {"port": path}})
    return {"port": path, "driver": driver_of(day)}


def servos(day: Day) -> Mapping[str, Any]:
    """Servos 1 to 5 and 10 answer and have volts enough, and the battery too.

    Raises:
        DeskhandError: ``device_unavailable`` with those that do not answer; ``servo_fault`` for too few volts or too hot a servo.
    """
    arm = load_arm(day.unit)
    numbers = [*(arm.driver.servos[joint].id for joint in arm.joints), *([arm.driver.gripper.id] if arm.driver.gripper else [])]
    with opened(day) as bus:
        places: dict[int, int] = {}
        for _ in range(ATTEMPTS):
            places |= bus.read_positions([number for number in numbers if number not in places])
        if missing := [number for number in numbers if number not in places]:
            raise _missing(missing, len(numbers))
        health = {number: bus.read_health(number) for number in numbers}
        battery = _battery(bus, numbers[0])
    for number, each in health.items():
        _well(f"servo {number}", each, arm)
    _well("the battery", Health(voltage=battery), arm)
    for number, each in health.items():
        day.operator.say(f"    servo {number}: pulse {places[number]}, {each.voltage or float('nan'):.1f} V, {each.temperature or float('nan'):.0f} degrees C")
    volts = [each.voltage for each in health.values() if each.voltage is not None]
    return {"pulses": {str(number): place for number, place in places.items()}, "volts": [min(volts), max(volts)] if volts else [], "battery": battery}


def _missing(missing: list[int], count: int) -> DeskhandError:
    if len(missing) == count:
        hint = "Is the arm's own power on (its switch, not the computer's), the driver the right one (driver:=hiwonder_rrc or lx16a), the port the arm's?"
        return DeskhandError("device_unavailable", "no servo answers.", hint=hint)
    hint = "They hang on one line, from 1 in the base to 10 in the gripper: see the cable before the first that is missing. Has another its number?"
    return DeskhandError("device_unavailable", f"servos {missing} do not answer; {count - len(missing)} others do.", hint=hint)


def _battery(bus: ServoBus, servo: int) -> float | None:
    """[V] as the board tells; None when the bus has no such board, or it is silent."""
    if not isinstance(bus, RrcBus):
        return None
    end = time.monotonic() + BATTERY
    while bus.battery is None and time.monotonic() < end:
        bus.read_positions([servo])  # what the board says by itself comes between its answers
        time.sleep(0.02)
    return bus.battery


def _well(what: str, health: Health, arm: ArmConfig) -> None:
    limits = arm.driver.health
    if health.voltage is not None and not limits.low <= health.voltage <= limits.high:
        raise DeskhandError(
            "servo_fault", f"{what} has {health.voltage:.1f} V; allowed are {limits.low:.1f} to {limits.high:.1f} V.", hint="Charge it; the right supply?"
        )
    if health.temperature is not None and health.temperature >= limits.warm:
        raise DeskhandError("servo_fault", f"{what} is at {health.temperature:.0f} degrees C.", hint="Switch the arm off and let it cool down.")


def zeros(day: Day) -> Mapping[str, Any]:
    """Where each joint's zero is on this unit, by its pose with everything upright; written into the unit's file.

    Raises:
        DeskhandError: as UnitCalibration; ``cancelled`` when nobody holds the arm.
    """
    with arm_driver(day, hold=False) as driver:
        offsets = UnitCalibration(driver, day.operator, time.sleep).offsets()
    if offsets is None:
        raise DeskhandError("cancelled", "the zeros were not measured.", hint="Take somebody to hold the arm, and run again.")
    _write(day, UnitData(offsets=offsets))
    return {"offsets_degrees": {joint: round(value, 2) for joint, value in offsets.items()}}


def lengths(day: Day) -> Mapping[str, Any]:
    """The link lengths of this unit, where the person measures them.

    Raises:
        DeskhandError: ``invalid_input`` for what cannot be.
    """
    with arm_driver(day) as driver:
        measured = UnitCalibration(driver, day.operator, time.sleep).lengths()
    if measured is not None:
        _write(day, UnitData(geometry=measured))
    return {"lengths_m": measured or "the vendor's"}


def gripper(day: Day) -> Mapping[str, Any]:
    """How far the pads are apart at six positions of the gripper's servo.

    Raises:
        DeskhandError: as UnitCalibration; ``cancelled`` when nothing was measured: the vendor tells no widths.
    """
    with arm_driver(day) as driver:
        table = UnitCalibration(driver, day.operator, time.sleep).gripper()
    if table is None:
        raise DeskhandError("cancelled", "the gripper was not measured.", hint="The vendor tells no widths: without them nothing can be grasped.")
    _write(day, UnitData(table=table))
    return {"table": [[round(ticks, 1), round(width, 5)] for ticks, width in table]}


def bracket(day: Day) -> Mapping[str, Any]:
    """Whether the arm's camera turns with the hand; where it does not, its file names the link that it is screwed to.

    Asks ``camera.turns``.
    """
    mount = load_camera("wrist", day.arm)
    turns = day.operator.confirm("camera.turns", "Look at the arm's own camera: is it on the part that servo 5 turns, so that it turns with the gripper?")
    if not turns:
        arm = load_arm(day.unit)
        links = RobotModel.load(arm).forward({})
        file = day.folder / "wrist_camera.yaml"
        pose = inverse(links[BEFORE_ROLL]) @ links[mount.parent] @ mount.pose
        save_camera(replace(mount, parent=BEFORE_ROLL, pose=pose), file)
        day.settings["mount.wrist"] = str(file)
    return {"turns_with_servo_5": turns, "parent": mount.parent if turns else BEFORE_ROLL}


def _write(day: Day, data: UnitData) -> None:
    day.arm_file.parent.mkdir(parents=True, exist_ok=True)
    data.write(load_arm(day.arm), day.arm_file, keep=True)


STEPS: tuple[Step, ...] = (
    Step("vendor", "the vendor's programs leave the arm alone", 1.0, vendor, seen="the arm no longer beeps after a start; its app finds it no more"),
    Step("port", "the board's port is found, and free", 2.0, port, seen="its name and the adapter's, for example CH340"),
    Step("servos", "servos 1 to 5 and 10 answer", 1.0, servos, seen="a line for each: its pulse, 9.6 to 13 V, below 60 degrees"),
    Step("zeros", "each joint's zero is where the drawing has it", 6.0, zeros, seen="offsets below 15 degrees; the arm holds upright by itself"),
    Step("lengths", "the arm's links are as long as it believes", 5.0, lengths, seen="each within a few millimetres of what is proposed"),
    Step("gripper", "the gripper's widths are measured", 5.0, gripper, seen="six widths, each smaller than the one before"),
    Step("bracket", "what the arm's own camera is screwed to is known", 0.5, bracket, seen="tcp where it turns with the gripper, else link4"),
)
