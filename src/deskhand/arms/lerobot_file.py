"""Calibration files of lerobot (``~/.cache/huggingface/lerobot/calibration/robots/so_follower/<id>.json``): the same numbers as in the servos' registers.

By motor: ``{"id", "drive_mode", "homing_offset", "range_min", "range_max"}``, ticks; read and written by lerobot 0.4 and newer.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from deskhand.errors import DeskhandError

TURN = 4096  # [ticks]
LARGEST_OFFSET = 2047  # [ticks] of the register


@dataclass(frozen=True)
class MotorCalibration:
    """One motor, as lerobot names it; ticks."""

    id: int
    drive_mode: int
    homing_offset: int
    range_min: int
    range_max: int

    @property
    def middle(self) -> float:
        """[ticks] where lerobot has its 0 degrees."""
        return (self.range_min + self.range_max) / 2


def read_lerobot(path: Path, ids: Mapping[str, int]) -> dict[str, MotorCalibration]:
    """The motors of ``ids`` (by name).

    Raises:
        DeskhandError: ``config_error`` saying what is wrong with the file.
    """
    try:
        data = json.loads(path.read_text())
        motors = {name: MotorCalibration(**{key: int(value) for key, value in entry.items()}) for name, entry in data.items()}
    except (OSError, ValueError, TypeError, AttributeError) as error:
        raise DeskhandError(
            "config_error",
            f"{path} is no calibration file of lerobot: {error}.",
            hint="It looks for ~/.cache/huggingface/lerobot/calibration/robots/so_follower/NAME.json; older ones lie in so101_follower.",
        ) from error
    if wrong := sorted(name for name in ids if name not in motors or motors[name].id != ids[name]):
        raise DeskhandError("config_error", f"{path} does not have {', '.join(wrong)} with the ids {', '.join(f'{ids[name]}' for name in wrong)}.")
    for name in ids:
        motor = motors[name]
        if motor.drive_mode or abs(motor.homing_offset) > LARGEST_OFFSET or not 0 <= motor.range_min < motor.range_max < TURN:
            raise DeskhandError("config_error", f"{path}: {name} cannot be {motor}.", hint="Drive mode 0, an offset within 2047, limits from 0 to 4095.")
    return {name: motors[name] for name in ids}


def write_lerobot(path: Path, motors: Mapping[str, MotorCalibration]) -> None:
    """As lerobot writes it.

    Raises:
        DeskhandError: ``config_error`` when it cannot be written.
    """
    try:
        path.write_text(json.dumps({name: asdict(motor) for name, motor in motors.items()}, indent=4) + "\n")
    except OSError as error:
        raise DeskhandError("config_error", f"{path} cannot be written: {error}.") from error
