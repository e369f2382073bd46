"""The light of a drawn reality: one directed light with shadows among the neutral light of the room."""

from __future__ import annotations

import mujoco
import numpy as np

from deskhand.geometry import Array
from deskhand.sim.reality.spec import LightReality

LEVEL = 1.05
"""Light on a level white surface, as the usual lights of the room give it: what is drawn says where it comes from; how bright it shows is the exposure's."""
WAVELENGTHS = np.array([610e-9, 550e-9, 465e-9])  # [m] about where the three channels of a camera are most sensitive
NEUTRAL = 5500.0  # [K]
SECOND_RADIATION = 1.438777e-2  # [m K]
GAMMA = 2.2  # of sRGB, nearly: the renderer multiplies what is displayed, not the light


def light_color(temperature: float) -> Array:
    """Red, green, blue (3,) of a black body of ``temperature`` [K] beside one of 5500 K, green 1 (Planck's law)."""
    power = np.expm1(SECOND_RADIATION / (WAVELENGTHS * NEUTRAL)) / np.expm1(SECOND_RADIATION / (WAVELENGTHS * temperature))
    return np.asarray(power / power[1])


def add_light(spec: mujoco.MjSpec, light: LightReality) -> None:
    """In place of the room's usual lights."""
    tint = light_color(light.temperature) ** (1 / GAMMA)
    around = LEVEL * (1 - light.direct)
    head = spec.visual.headlight
    head.ambient, head.diffuse, head.specular = [0.8 * around] * 3, [0.2 * around] * 3, [0, 0, 0]
    height = np.sin(light.elevation)
    towards = np.array([np.cos(light.azimuth) * np.cos(light.elevation), np.sin(light.azimuth) * np.cos(light.elevation), height])
    spec.worldbody.add_light(
        name="window",
        type=mujoco.mjtLightType.mjLIGHT_DIRECTIONAL,
        pos=2.0 * towards,
        dir=-towards,
        diffuse=LEVEL * light.direct / height * tint,
        specular=0.25 * tint,
        castshadow=True,
    )


def white_of(light: LightReality) -> Array:
    """The light from a level white surface (3,), green 1: what automatic white balance evens out."""
    shown = (1 - light.direct) + light.direct * light_color(light.temperature) ** (1 / GAMMA)
    return np.asarray((shown / shown[1]) ** GAMMA)
