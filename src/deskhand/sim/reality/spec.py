"""What one drawn reality consists of, as plain numbers. The defaults are the ideal world: nothing differs.

Written and read by file.py; ``config/reality`` has ranges for each number, with their sources.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, fields, replace
from typing import Any

RGB = tuple[float, float, float]
PATTERNS = ("wood", "plain", "oak", "check", "speckle")


def number(default: float, low: float, high: float, degrees: bool = False) -> Any:
    """A field from ``low`` to ``high``; ``degrees``: files say it in degrees, it is kept in [rad]."""
    kept = math.radians(default) if degrees else default
    return field(default=kept, metadata={"low": low, "high": high, "degrees": degrees})


def choice(default: str, valid: tuple[str, ...] = ()) -> Any:
    """A text, one of ``valid`` where that is not empty."""
    return field(default=default, metadata={"valid": valid})


@dataclass(frozen=True)
class CameraReality:
    """Where the camera stands, and how far from where it is believed to be.

    Attributes:
        translation, rotation: length [m] and angle [rad] of the error of the calibrated mount, in a direction drawn from the seed.
        azimuth, elevation: [rad] by which the camera is turned about the point of the desk that it looks at: about the upright, and upwards.
        distance: from that point, as a factor. These three are known to the robot.
    """

    translation: float = number(0.0, 0.0, 0.05)
    rotation: float = number(0.0, 0.0, 5.0, degrees=True)
    azimuth: float = number(0.0, -180.0, 180.0, degrees=True)
    elevation: float = number(0.0, -60.0, 60.0, degrees=True)
    distance: float = number(1.0, 0.3, 3.0)


@dataclass(frozen=True)
class DepthReality:
    """What the depth sensor adds to range, quantisation and shadows of the simulated one.

    Attributes:
        scale: relative error of all depths.
        bend: [m] at 1 m, greatest low-frequency error over the picture; it grows with the distance squared.
        noise: [m] at 1 m, standard deviation of noise that neighbours share; it grows with the distance squared.
        correlation: [px] over which they share it.
        fixed: share of that noise (its variance) that stays from one frame to the next.
        flying: share of the pixels at jumps of depth that lie between foreground and background.
        registration: [px] by which the depth lies beside the colour.
        dark, shiny, clear: share of the pixels of such surfaces that are lost, in blotches.
        interference: share of all pixels that another light source or camera takes away, in blotches that change with every frame.
    """

    scale: float = number(0.0, -0.1, 0.1)
    bend: float = number(0.0, 0.0, 0.05)
    noise: float = number(0.0, 0.0, 0.05)
    correlation: float = number(6.0, 1.0, 64.0)
    fixed: float = number(0.5, 0.0, 1.0)
    flying: float = number(0.0, 0.0, 1.0)
    registration: float = number(0.0, 0.0, 10.0)
    dark: float = number(0.0, 0.0, 1.0)
    shiny: float = number(0.0, 0.0, 1.0)
    clear: float = number(0.0, 0.0, 1.0)
    interference: float = number(0.0, 0.0, 0.5)


@dataclass(frozen=True)
class ColorReality:
    """What the colour camera makes of the light.

    Attributes:
        white_balance: angle [rad] between white as the camera shows it and grey, towards warm (positive) or cold.
        exposure: error of the automatic exposure [EV].
        shutter: [s] that a picture is exposed; what a moving camera sees is blurred by it.
    """

    white_balance: float = number(0.0, -20.0, 20.0, degrees=True)
    exposure: float = number(0.0, -4.0, 4.0)
    shutter: float = number(0.0, 0.0, 0.1)


@dataclass(frozen=True)
class LightReality:
    """The light in the room.

    Attributes:
        direct: share of the light on a level surface that comes from one direction and casts shadows; 0 leaves the room's usual lights.
        azimuth, elevation: where it comes from [rad], from the x axis and above the horizon.
        temperature: of the directed light [K]; the rest of the light is neutral.
    """

    direct: float = number(0.0, 0.0, 0.95)
    azimuth: float = number(0.0, -180.0, 180.0, degrees=True)
    elevation: float = number(60.0, 15.0, 90.0, degrees=True)
    temperature: float = number(5500.0, 1800.0, 12000.0)


@dataclass(frozen=True)
class TableReality:
    """The desk top: a pattern of :data:`PATTERNS`, its colour as ``#rrggbb`` and the size [m] of what repeats in it."""

    pattern: str = choice("wood", PATTERNS)
    color: str = field(default="#cbbeaa", metadata={"valid": (), "hex": True})
    period: float = number(0.04, 0.005, 0.3)

    @property
    def rgb(self) -> RGB:
        """Of the pattern's ground, 0..1."""
        red, green, blue = (int(self.color[start : start + 2], 16) / 255 for start in (1, 3, 5))
        return red, green, blue


@dataclass(frozen=True)
class SurfaceReality:
    """Surfaces of the objects: the share of those that can be so that are printed, shiny, or clear."""

    printed: float = number(0.0, 0.0, 1.0)
    shiny: float = number(0.0, 0.0, 1.0)
    clear: float = number(0.0, 0.0, 1.0)


@dataclass(frozen=True)
class ClutterReality:
    """Objects of other people at the edge of the desk: how many, and how likely a hand is among them."""

    things: float = number(0.0, 0.0, 6.0)
    hand: float = number(0.0, 0.0, 1.0)


@dataclass(frozen=True)
class ServoNames:
    """``file``: what is wrong with the servos where a driver moves the arm over an emulated bus: a name of ``config/servos`` or a file; empty: nothing."""

    file: str = choice("")


@dataclass(frozen=True)
class RealitySpec:
    """One reality; ``seed`` draws what is not a number: directions, fields of noise, prints, what lies about."""

    seed: int = 0
    camera: CameraReality = field(default_factory=CameraReality)
    depth: DepthReality = field(default_factory=DepthReality)
    color: ColorReality = field(default_factory=ColorReality)
    light: LightReality = field(default_factory=LightReality)
    table: TableReality = field(default_factory=TableReality)
    surfaces: SurfaceReality = field(default_factory=SurfaceReality)
    clutter: ClutterReality = field(default_factory=ClutterReality)
    servos: ServoNames = field(default_factory=ServoNames)

    def only(self, part: str) -> RealitySpec:
        """Nothing but one part of :data:`PARTS` differs from the ideal world."""
        kept = RealitySpec(self.seed)
        for path in PARTS[part]:
            section, _, name = path.partition(".")
            mine, ideal = getattr(self, section), getattr(kept, section)
            names = [name] if name else [item.name for item in fields(mine)]
            kept = replace(kept, **{section: replace(ideal, **{item: getattr(mine, item) for item in names})})
        return kept


PARTS: dict[str, tuple[str, ...]] = {
    "mount error": ("camera.translation", "camera.rotation"),
    "camera pose": ("camera.azimuth", "camera.elevation", "camera.distance"),
    "depth scale": ("depth.scale",),
    "depth bend": ("depth.bend",),
    "depth noise": ("depth.noise", "depth.correlation", "depth.fixed"),
    "flying pixels": ("depth.flying",),
    "registration": ("depth.registration",),
    "holes": ("depth.dark", "depth.shiny", "depth.clear", "surfaces.shiny", "surfaces.clear"),
    "interference": ("depth.interference",),
    "light": ("light",),
    "white balance": ("color.white_balance",),
    "exposure": ("color.exposure", "color.shutter"),
    "table": ("table",),
    "print": ("surfaces.printed",),
    "clutter": ("clutter",),
}
"""Groups of numbers whose effect is measured alone: sections, or single numbers of them."""
