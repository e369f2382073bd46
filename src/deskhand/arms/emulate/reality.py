"""How servos differ from ideal ones: play, sag, dead band, zero error, noise, latency. For emulated servos and for the simulated arm behind them.

Sources of what is usual (``config/servos/real.yaml`` has the values):

- Play: 0.8 to 0.9 degrees of free play on STS3215 (robonine.com, backlash measured at a lever of 100 mm), about 1 degree (TheRobotStudio/SO-ARM100,
  issue 134, against at most 0.5 in the data sheet), 0.25 degrees (15 arc minutes) in the data sheets of Dynamixel X. The play lies between the
  encoder and the link: that within a loop an integral controller would remove, this nobody measures.
- Sag: 1.8 to 2.6 degrees on STS3215 with half of the stall torque (the same issue 134); a Dynamixel XL430 stops 0.35 to 0.9 degrees short (ROS Answers 303081).
- Noise: 3 ticks of 0.088 degrees on a Dynamixel XH540 (ROBOTIS forum 7582); Hiwonder publishes one tick (0.24 degrees) as the accuracy of LX servos.
- Latency: an FTDI adapter keeps what came for 16 ms by itself; the rest is the controller's and the computer's.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from deskhand.errors import DeskhandError
from deskhand.types.resources import resource_path
from deskhand.types.yaml_file import read_yaml

FOLDER = "config/servos"
ANGLES = ("backlash", "sag", "dead_band", "zero_error")
MOST = {"backlash": 10.0, "sag": 10.0, "dead_band": 5.0, "zero_error": 10.0, "noise": 50.0, "read_latency": 0.5, "command_latency": 0.5, "bad_frames": 0.5}
FRICTION = 0.04  # of the greatest torque of gravity on a joint: with less the link stays where it is in the play
TAKEN_UP = 0.1  # [s] in which gravity moves the link through the whole play


@dataclass(frozen=True)
class ServoReality:
    """What is wrong with every servo of an arm.

    Attributes:
        backlash: [rad] the whole play between encoder and link; ``plays`` that of single servos, by their numbers, in its place.
        sag: [rad] by which a servo yields to the greatest torque with which gravity can pull at its joint; to less in proportion.
        dead_band: [rad] off its goal that a servo leaves alone.
        zero_error: [rad] at most, by which a servo's zero is off; drawn for each from ``seed``.
        noise: [ticks] at most, of each reading, uniform.
        read_latency: [s] from when a servo measures to when its answer arrives.
        command_latency: [s] from when a command is sent to when the servo acts on it.
        bad_frames: share of the frames that have a byte changed, lost or doubled.
        silent: numbers of servos that obey and answer nothing.
        seed: of all that is drawn.
    """

    backlash: float = 0.0
    sag: float = 0.0
    dead_band: float = 0.0
    zero_error: float = 0.0
    noise: float = 0.0
    read_latency: float = 0.0
    command_latency: float = 0.0
    bad_frames: float = 0.0
    silent: tuple[int, ...] = ()
    seed: int = 0
    plays: Mapping[int, float] = field(default_factory=dict)

    @classmethod
    def read(cls, data: Mapping[str, Any]) -> ServoReality:
        """From a mapping of these names; the angles in degrees.

        Raises:
            ValueError: saying what is wrong.
        """
        known = {item.name for item in fields(cls)}
        if unknown := sorted(set(data) - known):
            raise ValueError(f"unknown: {', '.join(unknown)}; valid: {', '.join(sorted(known))}")
        values: dict[str, Any] = {}
        for name, value in data.items():
            if name == "silent":
                values[name] = tuple(int(number) for number in value)
            elif name == "seed":
                values[name] = int(value)
            elif name == "plays":
                values[name] = {int(number): math.radians(_bounded("backlash", play)) for number, play in value.items()}
            else:
                number = _bounded(name, value)
                values[name] = math.radians(number) if name in ANGLES else number
        return cls(**values)

    def backlash_of(self, number: int) -> float:
        """[rad] the whole play of servo ``number``."""
        return self.plays.get(number, self.backlash)

    def zero_of(self, number: int) -> float:
        """[rad] by which the zero of servo ``number`` is off."""
        return float(np.random.default_rng([self.seed, number]).uniform(-self.zero_error, self.zero_error))


def _bounded(name: str, value: Any) -> float:
    number = float(value)
    if not 0 <= number <= MOST[name]:
        raise ValueError(f"{name} must be 0 to {MOST[name]:g}, not {value}")
    return number


IDEAL = ServoReality()


def load_reality(name: str) -> ServoReality:
    """By the name of a file in ``config/servos`` or the path of a YAML file; empty: ideal servos.

    Raises:
        DeskhandError: ``config_error`` saying what is wrong.
    """
    if not name:
        return IDEAL
    folder = resource_path(FOLDER)
    path = Path(name) if name.endswith((".yaml", ".yml")) else folder / f"{name}.yaml"
    if not path.is_file():
        valid = ", ".join(sorted(item.stem for item in folder.glob("*.yaml")))
        raise DeskhandError("config_error", f"there are no servos {name!r}; valid: {valid}, or a YAML file.")
    try:
        return ServoReality.read(read_yaml(path) or {})
    except (OSError, ValueError, TypeError, AttributeError, yaml.YAMLError) as error:
        raise DeskhandError("config_error", f"{path}: {error}.") from error


class Slack:
    """What lies between where one servo is wished, where its encoder stands and where the link stands; all in one unit, [rad] or [ticks].

    ``load`` is the torque on the joint as a share of the greatest that gravity has there, positive when it turns towards greater values.
    """

    def __init__(self, backlash: float, sag: float, dead_band: float, start: float) -> None:
        self._half, self._sag, self._dead = backlash / 2, sag, dead_band
        self._held = self._encoder = start
        self.play = 0.0
        """By how much the link stands beyond the encoder."""

    def drive(self, wished: float, load: float) -> float:
        """Where the encoder goes when the servo is wished at ``wished``: it leaves small errors alone, and yields to the load."""
        self._held = min(max(self._held, wished - self._dead), wished + self._dead)
        return self._held + self._sag * min(max(load, -1.5), 1.5)

    def follow(self, encoder: float, load: float, seconds: float) -> float:
        """By how much the link stands beyond the encoder, ``seconds`` later: the play is taken up first, and gravity leans the link against one side."""
        self.play -= encoder - self._encoder
        self._encoder = encoder
        if abs(load) > FRICTION:
            self.play += math.copysign(2 * self._half * seconds / TAKEN_UP, load)
        self.play = min(max(self.play, -self._half), self._half)
        return self.play
