"""The numbers of Feetech servos, which all leave the factory as 1: given one servo at a time, checked on the complete bus."""

from __future__ import annotations

from deskhand.arms.bus.feetech_setup import STS3215, FeetechSetup, Scan
from deskhand.arms.config import ArmConfig
from deskhand.arms.operator import Operator
from deskhand.errors import DeskhandError

GRIPPER = "gripper"
"""Name of its servo."""


def servo_ids(arm: ArmConfig) -> dict[str, int]:
    """Ids by joint, the gripper's last."""
    ids = {joint: arm.driver.servos[joint].id for joint in arm.joints}
    return ids if arm.driver.gripper is None else {**ids, GRIPPER: arm.driver.gripper.id}


class Numbering:
    """Gives the servos of ``arm`` their numbers; ``bus`` is open."""

    def __init__(self, arm: ArmConfig, bus: FeetechSetup, operator: Operator) -> None:
        self.bus, self.operator, self.ids = bus, operator, servo_ids(arm)

    def run(self) -> dict[str, int]:
        """Give each servo its number, one at a time, then check the complete bus. Nothing is asked when the bus is complete already.

        Raises:
            DeskhandError: ``device_unavailable`` when not exactly one servo answers; ``config_error`` for another kind of servo.
        """
        if self._complete(self.bus.scan()):
            self.operator.say("    all servos have their numbers already")
        else:
            for name in reversed(self.ids):
                self._number(name)
            self.operator.act("ids.all", "Switch the power off, connect all servos in a row and to the board, and switch it on again.")
        return self.check()

    def _complete(self, scan: Scan) -> bool:
        return scan.servos == tuple(sorted(self.ids.values())) and not scan.garbled

    def _number(self, name: str) -> None:
        number = self.ids[name]
        self.operator.act(f"ids.{name}", f"Power off. Connect ONLY the servo of {name} to the board, no other servo on its cable. Power on.")
        found = self.bus.find()
        if found is None:
            raise DeskhandError("device_unavailable", f"no servo answers, at any speed, where {name} should be.", retry=True, hint="Power on? Cable in?")
        if len(found.servos) != 1 or found.garbled:
            many = f"servos {', '.join(map(str, found.servos))} answer" if len(found.servos) > 1 else "answers disturb each other: two servos have one id"
            raise DeskhandError("device_unavailable", f"{many}, where only {name} should be.", retry=True, hint="Take all others off the cable.")
        old = found.servos[0]
        self._check_kind(name, old)
        self.bus.number(old, number)
        self.operator.say(f"    {name}: {old} at {found.baud} baud is now {number}. Write {number} on it.")

    def _check_kind(self, name: str, servo: int) -> None:
        model = self.bus.get(servo, "model")
        if model != STS3215:
            raise DeskhandError("config_error", f"the servo of {name} is of model {model}; an STS3215 has {STS3215}.", hint="Is it another series?")

    def check(self) -> dict[str, int]:
        """All servos answer, are of the right kind and of one firmware; their numbers by name.

        Raises:
            DeskhandError: ``device_unavailable`` naming who is missing or too many.
        """
        scan = self.bus.scan()
        names = {number: name for name, number in self.ids.items()}
        missing = [name for number, name in names.items() if number not in scan.servos]
        strange = [str(number) for number in scan.servos if number not in names]
        if missing or strange or scan.garbled:
            what = [f"{', '.join(missing)} do not answer"] * bool(missing) + [f"id {', '.join(strange)} is on the bus"] * bool(strange)
            raise DeskhandError(
                "device_unavailable",
                f"the bus is not complete: {'; '.join(what) or 'two servos have one id'}.",
                retry=True,
                hint="See to the cables from servo to servo; number the servos again where two had one id.",
            )
        for name, number in self.ids.items():
            self._check_kind(name, number)
        versions = {name: divmod(self.bus.get(number, "firmware"), 256)[::-1] for name, number in self.ids.items()}
        if len(set(versions.values())) > 1:
            told = ", ".join(f"{name} {major}.{minor}" for name, (major, minor) in versions.items())
            self.operator.say(f"    the servos have different firmware ({told}); lerobot refuses that. Feetech's software updates it.")
        return dict(self.ids)
