"""The first day with a WidowX 250s, as far as it is this arm's own: its port, its nine servos, what they were told for good, senses, zeros, gripper.

Our own driver alone is set up here. Nothing is written into a servo, and none lets go, without the person's yes.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from deskhand.arms.bus import dynamixel_table as table
from deskhand.arms.bus.dynamixel import DynamixelBus
from deskhand.arms.config import ArmConfig, load_arm
from deskhand.arms.driver import ArmDriver
from deskhand.arms.ports import find_port
from deskhand.arms.unit import UnitCalibration
from deskhand.bringup.first_day.base import Day, Step
from deskhand.bringup.first_day.dry_run import arm_driver
from deskhand.bringup.first_day.workplace import port_of
from deskhand.bringup.first_day.wx250s_servos import Change, changes, numbers, unevenness
from deskhand.errors import DeskhandError
from deskhand.geometry import Array
from deskhand.types.yaml_file import read_yaml

U2D2 = (0x0403, 0x6014)
LATENCY = 2  # [ms] of the adapter's own waiting, more of which makes every reading late
LATENCY_FILE = "/sys/class/tty/{}/device/latency_timer"
PATIENCE = 0.25  # [s] for an answer: nothing moves, and a servo that is called missing should be
READ_WITHIN = 3.0  # [s] for what hands have turned to be read
TURNED = np.radians(5.0)  # a joint that was turned by hand by less has not been turned
LINKAGE_OFF = 0.006  # [m] by which the measured pads may be apart from what the vendor's linkage says
SENSES = {
    "waist": "the whole arm to the left, seen from behind it",
    "shoulder": "the upper arm forward",
    "elbow": "the forearm so that its end with the gripper goes down",
    "forearm_roll": "the forearm clockwise about its own length, seen from the elbow",
    "wrist_angle": "the gripper so that its fingers go down",
    "wrist_rotate": "the gripper clockwise about its own length, seen from the wrist",
}
"""Which way is positive, from the arm's pose of rest; docs/arms/wx250s.md has a sketch."""


@contextmanager
def opened(day: Day) -> Iterator[DynamixelBus]:
    """The arm's bus, without a driver: nothing is told to the servos by itself."""
    arm = load_arm(day.unit)
    if day.workplace is not None:
        day.workplace.release()
    bus = DynamixelBus(port_of(day), arm.driver.baud, latency=PATIENCE, layout=arm.driver.dynamixel)
    bus.open()
    try:
        yield bus
    finally:
        bus.close()


def keep(day: Day, changed: Mapping[str, Any]) -> None:
    """Put what was measured into the unit's arm file, beside what is there.

    Raises:
        DeskhandError: ``config_error`` when it cannot be written.
    """

    def laid(below: Any, above: Mapping[str, Any]) -> dict[str, Any]:
        both = dict(below) if isinstance(below, dict) else {}
        for key, value in above.items():
            both[key] = laid(both.get(key), value) if isinstance(value, Mapping) else value
        return both

    file = day.arm_file
    try:
        old = read_yaml(file) if file.is_file() else {"extends": day.arm}
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"# One {day.arm}, by deskhand first-day. Give this file as --arm.\n" + yaml.safe_dump(laid(old, changed), sort_keys=False))
    except (OSError, yaml.YAMLError) as error:
        raise DeskhandError("config_error", f"{file} cannot be read and written: {error}.") from error


# ------------------------------------------------------------ port


def port(day: Day) -> Mapping[str, Any]:
    """The adapter's port, and that it answers at once.

    Raises:
        DeskhandError: ``device_unavailable`` when there is none, or it makes every answer late.
    """
    if not day.settings.get("port"):
        day.settings["port"] = find_port(day.operator, "WidowX 250s", (U2D2,)).path
    path = port_of(day)
    timer = Path(LATENCY_FILE.format(Path(path).resolve().name))
    waits = int(timer.read_text()) if timer.is_file() else 0
    if waits > LATENCY:
        raise DeskhandError(
            "device_unavailable",
            f"the adapter on {path} keeps every answer back for {waits} ms.",
            hint=f"echo 1 | sudo tee {timer}; for good: sudo cp config/jetson/99-deskhand.rules /etc/udev/rules.d/, and plug the adapter in again.",
        )
    if not day.rehearsal:
        keep(day, {"driver": {"port": path}})
    return {"port": path, "latency_ms": waits}


# ------------------------------------------------------------ servos


def servos(day: Day) -> Mapping[str, Any]:
    """All nine answer, have 12 V, and no fault.

    Raises:
        DeskhandError: ``device_unavailable`` with the ids that do not answer; ``servo_fault`` for a voltage or a fault that stays.
    """
    arm = load_arm(day.unit)
    with opened(day) as bus:
        models = {number: bus.ping(number) for number in numbers(arm.driver)}
        if missing := [number for number, model in models.items() if model is None]:
            raise _missing(missing, len(models))
        for number in models:
            _without_fault(day, bus, number)
        volts = {number: bus.read_health(number).voltage or 0.0 for number in models}
        traits = {number: bus.traits(number) for number in models}
    limits = arm.driver.health
    low = {number: value for number, value in volts.items() if not limits.low <= value <= limits.high}
    if low:
        said = ", ".join(f"servo {number} has {value:.1f} V" for number, value in low.items())
        raise DeskhandError(
            "servo_fault", f"{said}; allowed are {limits.low:.1f} to {limits.high:.1f} V.", hint="Is it the 12 V supply, and plugged in firmly?"
        )
    return {
        "models": {str(number): each.name for number, each in traits.items() if each is not None},
        "firmware": {str(number): each.firmware for number, each in traits.items() if each is not None},
        "volts": [min(volts.values()), max(volts.values())],
    }


def _missing(missing: list[int], count: int) -> DeskhandError:
    if len(missing) == count:
        hint = "Is the arm's 12 V supply on (every servo blinks once then), the cable in the U2D2's 3-pin socket, and nothing else using the port (xs_sdk)?"
        return DeskhandError("device_unavailable", "no servo answers.", hint=hint)
    hint = "The cable behind the last one that answers may be loose: they hang on one line, from 1 at the base to 9 at the gripper. Is another's id the same?"
    return DeskhandError("device_unavailable", f"servos {missing} do not answer; {count - len(missing)} others do.", hint=hint)


def _without_fault(day: Day, bus: DynamixelBus, number: int) -> None:
    error = bus.hardware_error(number)
    if not error:
        return
    said = f"servo {number} has shut itself down: {table.fault_text(error)}"
    if not day.operator.confirm(f"servos.restart.{number}", f"{said}. Has its cause gone, and does somebody hold the arm? Then it is restarted now."):
        raise DeskhandError("servo_fault", f"{said}.", hint="See what blocks or heats it.")
    if not bus.restart(number) or bus.hardware_error(number):
        raise DeskhandError(
            "servo_fault", f"{said}, and again after a restart.", hint="Overload: something blocks it. Supply voltage: measure it at the servo."
        )


# ------------------------------------------------------------ what they were told for good


def registers(day: Day) -> Mapping[str, Any]:
    """Modes, senses, shadows and limits are those of this arm; what is not is set, with the person's yes.

    Raises:
        DeskhandError: ``cancelled`` without it; ``servo_fault`` when a servo does not take it, or a pair stands too far apart to be evened.
    """
    arm, written = load_arm(day.unit), 0
    with opened(day) as bus:
        wrong = changes(bus, arm.driver)
        if wrong:
            for change in wrong:
                day.operator.say(f"    {change.words()}")
            _write(day, bus, wrong)
            written += len(wrong)
            wrong = changes(bus, arm.driver)
            if wrong:
                raise DeskhandError("servo_fault", "; ".join(change.words() for change in wrong), hint="Switch the supply off and on, and run again.")
        uneven = unevenness(bus, arm.driver)
        if uneven:
            for change in uneven:
                day.operator.say(f"    {change.words()}")
            _write(day, bus, uneven)
            written += len(uneven)
            if left := unevenness(bus, arm.driver):
                raise DeskhandError("servo_fault", "; ".join(change.words() for change in left), hint="Is a horn screwed on a tooth off?")
    return {"written": written}


def _write(day: Day, bus: DynamixelBus, wanted: list[Change]) -> None:
    everybody = numbers(load_arm(day.unit).driver)
    yes = day.operator.confirm(
        "registers.write",
        f"These {len(wanted)} settings are written into the servos, where they stay. For that the arm LETS GO: lay it down into its rest, or hold it, and keep "
        "holding it. Is it held, and shall they be written?",
    )
    if not yes:
        raise DeskhandError("cancelled", "nothing was written.", hint="Without them our driver refuses the arm, since it would not move as told.")
    bus.set_torque(everybody, False)
    for change in wanted:
        bus.configure(change.servo, change.register, change.value)


# ------------------------------------------------------------ senses, zeros, gripper


def senses(day: Day) -> Mapping[str, Any]:
    """Each joint, turned by hand, counts the way that the arm's file says.

    Raises:
        DeskhandError: ``cancelled`` without a yes; ``config_error`` for a joint that counts the wrong way, or another one's servo.
    """
    operator, turned = day.operator, {}
    if not operator.confirm(
        "senses.let_go",
        "Now each joint is turned by hand. The servos LET GO and the arm falls: lay it into its rest (folded back) or hold it. Is it at rest, or held?",
    ):
        raise DeskhandError("cancelled", "nothing was let go.")
    with arm_driver(day, hold=False) as driver:
        driver.set_torque(False, supported=True)
        time.sleep(0.3)
        for joint in driver.arm.joints:
            before = driver.joint_state().of(driver.arm.joints)
            operator.act(f"sense.{joint}", f"Turn {SENSES[joint]}, by 10 degrees or more, and leave it there.")
            went = _turned(driver, before)
            turned[joint] = round(float(np.degrees(went[driver.arm.joints.index(joint)])), 1)
            _check_sense(driver.arm, joint, went)
    return {"turned_degrees": turned}


def _turned(driver: ArmDriver, before: Array) -> Array:
    """(n,) [rad] from ``before`` to where the joints stand still, waited for a while: what the hands did is read a moment later."""
    end, last = time.monotonic() + READ_WITHIN, before
    while True:
        time.sleep(0.2)
        here = np.asarray(driver.joint_state().of(driver.arm.joints))
        still = np.abs(here - last).max() < np.radians(0.5)
        if time.monotonic() > end or (still and np.abs(here - before).max() > TURNED):
            return here - before
        last = here


def _check_sense(arm: ArmConfig, joint: str, went: Any) -> None:
    own, most = float(went[arm.joints.index(joint)]), int(np.abs(went).argmax())
    number = arm.driver.servos[joint].id
    if abs(own) < TURNED and abs(went[most]) > TURNED:
        other = arm.joints[most]
        hint = f"Do servos {number} and {arm.driver.servos[other].id} have each other's id?"
        raise DeskhandError("config_error", f"{other} was measured to turn when {joint} was turned.", hint=hint)
    if own < TURNED:
        said = f"{joint} was measured to turn by {np.degrees(own):.1f} degrees, not by 10 or more."
        wrong = f"Servo {number} counts backwards, or it was turned the other way: look at the drawing in docs/arms/wx250s.md, and do the step registers again."
        raise DeskhandError("config_error", said, hint="Turn it farther." if abs(own) < TURNED else wrong, retry=True)


def zeros(day: Day) -> Mapping[str, Any]:
    """The joints' zeros, by the arm held in its pose zero.

    Raises:
        DeskhandError: as UnitCalibration.
    """
    with arm_driver(day, hold=False) as driver:
        offsets = UnitCalibration(driver, day.operator, time.sleep).offsets()
    if offsets is None:
        raise DeskhandError("cancelled", "no offsets were measured.", hint="The vendor's zeros may be off by a degree or two, 1 cm at the gripper.")
    keep(day, {"driver": {"servos": {joint: {"offset": round(offset, 3)} for joint, offset in offsets.items()}}})
    return {"offsets_degrees": {joint: round(offset, 2) for joint, offset in offsets.items()}}


def gripper(day: Day) -> Mapping[str, Any]:
    """The pads' distances at several places of the gripper's servo.

    Raises:
        DeskhandError: ``invalid_input`` for distances that the linkage cannot have; as UnitCalibration.
    """
    with arm_driver(day) as driver:
        measured = UnitCalibration(driver, day.operator, time.sleep).gripper()
    if measured is None:
        raise DeskhandError("cancelled", "no widths were measured.")
    told = load_arm(day.arm).driver.gripper
    assert told is not None
    off = max(abs(width - told.width_of(ticks)) for ticks, width in measured)
    if off > LINKAGE_OFF:
        said = f"the pads are up to {1000 * off:.0f} mm from where the linkage would have them"
        raise DeskhandError(
            "invalid_input", f"{said}.", hint="Millimetres between the pads' faces, please. Other fingers than the vendor's need an arm file of your own."
        )
    keep(day, {"driver": {"gripper": {"table": [[round(ticks, 1), round(width, 5)] for ticks, width in measured]}}})
    return {"positions": len(measured), "least_mm": 1000 * measured[0][1], "most_mm": 1000 * measured[-1][1], "off_linkage_mm": round(1000 * off, 2)}


STEPS: tuple[Step, ...] = (
    Step("port", "the arm's adapter is found and answers at once", 2.0, port, seen="the adapter's name and 1 ms (0: it has no such timer)"),
    Step("servos", "nine servos answer, with 12 V and no fault", 2.0, servos, seen="models, firmware and volts; every servo blinks when the supply comes on"),
    Step("registers", "the servos are set up for this arm", 3.0, registers, seen="what was written, or 0 when Interbotix' settings are in place"),
    Step("senses", "each joint counts the way it should", 4.0, senses, seen="six positive angles, each the one that you turned"),
    Step(
        "zeros", "each joint's zero is where the drawing has it", 6.0, zeros, seen="offsets below 3 degrees; the arm holds its upper arm up, its forearm level"
    ),
    Step("gripper", "the gripper's widths are measured", 5.0, gripper, seen="a table of six widths, within 2 mm of the linkage"),
)
