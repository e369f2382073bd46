"""The emulator of a driver's kind."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from deskhand.arms.config import ArmConfig
from deskhand.arms.emulate.bank import Emulator
from deskhand.arms.emulate.dynamixel import DynamixelEmulator
from deskhand.arms.emulate.dynamixel_arm import arm_servos
from deskhand.arms.emulate.feetech import FeetechEmulator
from deskhand.arms.emulate.lx16a import LxEmulator
from deskhand.arms.emulate.rrc import RrcEmulator
from deskhand.arms.emulate.servo import Servo
from deskhand.errors import DeskhandError

EMULATORS: dict[str, Callable[..., Emulator]] = {
    "hiwonder_rrc": RrcEmulator,
    "lx16a": LxEmulator,
    "feetech": FeetechEmulator,
    "dynamixel": DynamixelEmulator,
}
"""By kind of driver; each takes servos and the options of :class:`deskhand.arms.emulate.bank.Emulator`."""
BAUDS = {"hiwonder_rrc": 1_000_000, "lx16a": 115_200, "feetech": 1_000_000, "dynamixel": 1_000_000}


def make_emulator(kind: str, servos: Iterable[Servo], arm: ArmConfig | None = None, **options: Any) -> Emulator:
    """The bus of a kind with these servos, told for good what those of ``arm`` are."""
    if kind == "dynamixel" and arm is not None:
        return DynamixelEmulator(arm_servos(servos, arm.driver.dynamixel), **options)
    return EMULATORS[kind](servos, **options)


def check_emulated(arm: ArmConfig, kind: str) -> None:
    """Raises ``config_error`` when there is no emulated bus of this kind for the arm, naming those that there are."""
    possible = [name for name in arm.driver.kinds if name in EMULATORS]
    if kind not in possible or arm.driver.gripper is None:
        raise DeskhandError("config_error", f"there is no emulated bus {kind!r} for {arm.name}; there is: {', '.join(possible) or 'none'}.")


def standing(arm: ArmConfig) -> dict[int, float]:
    """Where the servos stand [ticks] by id when the arm is at its pose home with the gripper open."""
    places = {arm.driver.servos[joint].id: arm.driver.servos[joint].pulse_of(angle) for joint, angle in zip(arm.joints, arm.named_poses["home"], strict=True)}
    if arm.driver.gripper is not None:
        places[arm.driver.gripper.id] = arm.driver.gripper.ticks_of(arm.gripper.width_max)
    return places
