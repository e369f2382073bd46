"""What differs from unit to unit of an arm: servo offsets, link lengths, the widths of the gripper. Measured with the user's help, kept in a file.

The file says ``extends: <arm>`` and what differs, and is given as ``--arm FILE`` to every command and node.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from deskhand.arms.config import ArmConfig, merged
from deskhand.arms.driver import ArmDriver
from deskhand.arms.operator import Operator
from deskhand.errors import DeskhandError
from deskhand.types.yaml_file import read_yaml

READINGS = 20
PAUSE = 0.05  # [s] between them
STEADY = 0.01  # [rad] that the arm may shake meanwhile
LARGEST_OFFSET = np.radians(15)
LARGEST_CHANGE = 0.3  # of a link's length
GRIPPER_STEPS = 6
GRIPPER_TIME = 2.0  # [s] of each step of the gripper: slow enough to take the fingers away


@dataclass(frozen=True)
class UnitData:
    """What was measured; None where it was left out.

    Attributes:
        offsets: [degrees] to add to each joint's angle.
        zeros: [ticks] of each servo when its joint is at 0, in place of the arm's file.
        ranges: [ticks] between which each joint goes, for those that have stops.
        backlash: [degrees] the whole play between each servo's encoder and its link.
        geometry: [m] lengths by name.
        table: (ticks, width [m]) of the gripper.
    """

    offsets: dict[str, float] | None = None
    geometry: dict[str, float] | None = None
    table: list[tuple[float, float]] | None = None
    zeros: dict[str, float] | None = None
    ranges: dict[str, tuple[int, int]] | None = None
    backlash: dict[str, float] | None = None

    def write(self, arm: ArmConfig, path: Path, keep: bool = False) -> None:
        """Write the unit's file; ``keep`` what an existing one of this arm says besides.

        Raises:
            DeskhandError: ``config_error`` when it cannot be written, or is another arm's.
        """
        servos: dict[str, dict[str, Any]] = {}
        for joint, offset in (self.offsets or {}).items():
            servos.setdefault(joint, {})["offset"] = round(offset, 3)
        for joint, zero in (self.zeros or {}).items():
            # an offset that was measured from another zero is no longer one
            servos.setdefault(joint, {}).update(zero=round(zero, 1), offset=0.0)
        for joint, ends in (self.ranges or {}).items():
            servos.setdefault(joint, {})["range"] = [*ends]
        for joint, play in (self.backlash or {}).items():
            servos.setdefault(joint, {})["backlash"] = round(play, 3)
        driver: dict[str, Any] = {"servos": servos} if servos else {}
        if self.table is not None:
            driver["gripper"] = {"table": [[round(ticks, 1), round(width, 5)] for ticks, width in self.table]}
        data: dict[str, Any] = {"extends": arm.base}
        if self.geometry is not None:
            data["geometry"] = {name: round(length, 5) for name, length in self.geometry.items()}
        if driver:
            data["driver"] = driver
        try:
            old = read_yaml(path) if keep and path.is_file() else {}
            if old and old.get("extends") != arm.base:
                raise DeskhandError("config_error", f"{path} is not a unit of {arm.name}; it extends {old.get('extends')!r}.", hint="Give another file.")
            text = yaml.safe_dump(merged(old or {}, data), sort_keys=False)
            path.write_text(f"# Calibration of one {arm.name}, by deskhand. Give this file as --arm.\n{text}")
        except (OSError, yaml.YAMLError, AttributeError) as error:
            raise DeskhandError("config_error", f"{path} cannot be written: {error}.") from error


class UnitCalibration:
    """Measures one arm through its driver (made with ``hold=False``); ``wait`` lets seconds pass."""

    def __init__(self, driver: ArmDriver, operator: Operator, wait: Callable[[float], None]) -> None:
        self._driver, self._arm, self._operator, self._wait = driver, driver.arm, operator, wait

    def run(self) -> UnitData:
        """All steps; each can be left out by the user.

        Raises:
            DeskhandError: ``invalid_input`` for what cannot be true, ``cancelled`` when nothing was measured.
        """
        data = UnitData(self.offsets(), self.lengths(), self.gripper())
        if data == UnitData():
            raise DeskhandError("cancelled", "nothing was measured.")
        return data

    def offsets(self) -> dict[str, float] | None:
        """By the arm being put into its reference pose by hand; it holds there afterwards."""
        name = self._arm.driver.reference
        pose = self._arm.named_poses[name]
        if not self._operator.confirm(
            "offsets",
            f"Offsets: the servos will LET GO and the arm will fall. Hold it with both hands, now. You will then put it into its pose {name!r} "
            "(check with a set square). Are you holding it?",
        ):
            return None
        self._driver.set_torque(False, supported=True)
        self._wait(0.3)
        there = self._operator.confirm("offsets.pose", f"Is it in its pose {name!r}, and still? Answer while you hold it.")
        try:
            return self._read_offsets(np.asarray(pose)) if there else None
        finally:
            self._driver.set_torque(True)
            self._wait(0.3)
            self._operator.say("The servos hold again; you may let go.")

    def _read_offsets(self, pose: np.ndarray[Any, np.dtype[np.float64]]) -> dict[str, float]:
        readings = []
        for _ in range(READINGS):
            self._wait(PAUSE)
            readings.append(self._driver.joint_state().of(self._arm.joints))
        spread = np.ptp(np.array(readings), axis=0)
        if spread.max() > STEADY:
            joint = self._arm.joints[int(spread.argmax())]
            raise DeskhandError("invalid_input", f"{joint} moved by {np.degrees(spread.max()):.1f} degrees meanwhile.", retry=True, hint="Hold it still.")
        offset = pose - np.median(np.array(readings), axis=0)
        if np.abs(offset).max() > LARGEST_OFFSET:
            joint = self._arm.joints[int(np.abs(offset).argmax())]
            raise DeskhandError(
                "invalid_input",
                f"{joint} would be off by {np.degrees(np.abs(offset).max()):.0f} degrees; more than {np.degrees(LARGEST_OFFSET):.0f} is no calibration.",
                hint="Is the pose right, and does each servo have its number? A horn that sits a tooth off must be put right.",
            )
        present = {joint: self._arm.driver.servos[joint].offset for joint in self._arm.joints}
        return {joint: float(np.degrees(present[joint] + value)) for joint, value in zip(self._arm.joints, offset, strict=True)}

    def lengths(self) -> dict[str, float] | None:
        """As the user measures them; nothing moves."""
        if not self._arm.geometry or not self._operator.confirm("lengths", "Link lengths: do you want to give measured ones? Nothing moves."):
            return None
        measured = {}
        for name, length in self._arm.geometry.items():
            value = self._operator.number(f"lengths.{name}", f"{name} [mm]", length * 1000) / 1000
            if value < 0 or (length and abs(value - length) > LARGEST_CHANGE * length):
                raise DeskhandError("invalid_input", f"{name} of {value * 1000:.1f} mm is not near {length * 1000:.1f} mm.", hint="Millimetres, please.")
            measured[name] = value
        return measured

    def gripper(self) -> list[tuple[float, float]] | None:
        """Slowly from open to closed, the user measuring at each step."""
        config = self._arm.driver.gripper
        if config is None or not self._operator.confirm(
            "gripper",
            f"Gripper: it will MOVE, slowly, in {GRIPPER_STEPS} steps from open to closed. Nothing between the fingers? You need a caliper. Go on?",
        ):
            return None
        ends = sorted(config.table, key=lambda row: -row[1])
        table = []
        for step, ticks in enumerate(np.linspace(ends[0][0], ends[-1][0], GRIPPER_STEPS)):
            self._driver.move_gripper(float(ticks), GRIPPER_TIME)
            self._wait(GRIPPER_TIME + 0.5)
            stands = self._driver.gripper_ticks()
            table.append((stands, self._operator.number(f"gripper.width.{step}", f"it stands at {stands:.0f}; distance of the pads [mm]", None) / 1000))
        widths = np.diff([width for _, width in table])
        if np.any(widths >= 0):
            raise DeskhandError(
                "invalid_input", "the pads must come nearer with every step.", hint="Measure again; steps that do not move any more mean a stop."
            )
        return sorted(table)
