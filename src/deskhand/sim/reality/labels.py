"""Print on objects: bands, panels, words, bars, on the six faces of a cube texture."""

from __future__ import annotations

from dataclasses import dataclass
from zlib import crc32

import cv2
import mujoco
import numpy as np
import numpy.typing as npt

from deskhand.sim.reality.spec import RGB, SurfaceReality
from deskhand.sim.spec import ObjectSpec

FACE = 128  # [px]
PRINTED = ("box", "can", "cup", "eraser", "marker")
"""Kinds that are sold with print on them."""
CLEAR = ("cup",)
METAL = ("can", "cup")
WORDS = ("OATS", "TEA", "SALT", "No 5", "soft", "FRESH", "250 g", "HB", "ultra", "Cafe", "100 %", "MIX", "A4", "extra", "NEW", "Lab", "bio", "3 in 1")
SMALL_PRINT = "contents and use see below"
INKS: tuple[RGB, ...] = ((0.95, 0.95, 0.93), (0.08, 0.08, 0.10), (0.80, 0.10, 0.12), (0.10, 0.25, 0.62), (0.95, 0.78, 0.10), (0.10, 0.45, 0.22))
SHINE = 0.6  # specular of metal
OPACITY = 0.45  # of clear objects

Picture = npt.NDArray[np.uint8]


def drawn_surface(item: ObjectSpec, surfaces: SurfaceReality, seed: int) -> str:
    """``printed``, ``shiny``, ``clear``, or empty for plain. Each object draws for itself."""
    rng = np.random.default_rng([seed, crc32(item.name.encode()), 321])
    drawn = dict(zip(("clear", "shiny", "printed"), rng.random(3), strict=True))
    for kind, able in (("clear", CLEAR), ("shiny", METAL), ("printed", PRINTED)):
        if item.kind in able and drawn[kind] < getattr(surfaces, kind):
            return kind
    return ""


def add_surface(spec: mujoco.MjSpec, item: ObjectSpec, surface: str, seed: int) -> None:
    """The material of ``item``, named like it, with this surface."""
    if surface == "printed":
        texture = spec.add_texture(name=item.name, type=mujoco.mjtTexture.mjTEXTURE_CUBE, width=FACE, height=6 * FACE, nchannel=3)
        texture.data = label_picture(item, _draws(item, seed)).tobytes()
        material = spec.add_material(name=item.name, rgba=[1, 1, 1, 1], specular=0.2, shininess=0.3, reflectance=0)
        material.textures[mujoco.mjtTextureRole.mjTEXROLE_RGB] = item.name
        return
    alpha, specular = (OPACITY if surface == "clear" else 1.0), (SHINE if surface == "shiny" else 0.25)
    spec.add_material(name=item.name, rgba=[*item.rgb, alpha], specular=specular, shininess=0.8 if surface == "shiny" else 0.3, reflectance=0)


def label_picture(item: ObjectSpec, rng: np.random.Generator) -> Picture:
    """Six faces (6 FACE, FACE, 3): +x, -x, +y, -y, +z, -z. About two thirds of each stay in the object's own colour."""
    return np.concatenate([face for face, _ in _faces(item, rng)])


def _faces(item: ObjectSpec, rng: np.random.Generator) -> list[tuple[Picture, bool]]:
    """The six faces, and whether they show the word."""
    panel, ink, word = _design(item, rng)
    plain_ends = item.kind in ("can", "cup", "marker")
    return [_face(item.rgb, panel, ink, word, rng, end=plain_ends and number >= 4) for number in range(6)]


@dataclass(frozen=True)
class Label:
    """What a printed object says: ``word``, and which of its faces +x, -x, +y, -y, +z, -z show it."""

    word: str
    faces: tuple[bool, ...]


def label_of(item: ObjectSpec, seed: int) -> Label:
    """The print that a printed object has under this seed."""
    return Label(_design(item, _draws(item, seed))[2], tuple(shows for _, shows in _faces(item, _draws(item, seed))))


def _draws(item: ObjectSpec, seed: int) -> np.random.Generator:
    return np.random.default_rng([seed, crc32(item.name.encode()), 322])


def _design(item: ObjectSpec, rng: np.random.Generator) -> tuple[RGB, RGB, str]:
    """Colours of panel and ink, and the word."""
    inks = [ink for ink in INKS if np.abs(np.array(ink) - item.rgb).max() > 0.3]
    panel, ink = (inks[int(index)] for index in rng.choice(len(inks), 2, replace=False))
    return panel, ink, str(rng.choice(WORDS))


def _face(ground: RGB, panel: RGB, ink: RGB, word: str, rng: np.random.Generator, end: bool) -> tuple[Picture, bool]:
    face = np.empty((FACE, FACE, 3), np.uint8)
    face[:] = _bytes(ground)
    if end:
        return face, False
    style = int(rng.integers(4))
    if style in (0, 2):  # a panel with a word
        top = int(rng.integers(20, 50))
        cv2.rectangle(face, (14, top), (FACE - 14, top + 40), _bytes(panel), -1)
        _write(face, word, (18, top + 29), ink)
    if style == 1:  # a word on the ground, a band below
        _write(face, word, (12, 56), panel)
        cv2.rectangle(face, (0, 84), (FACE, 100), _bytes(ink), -1)
    if style >= 2:  # small print
        for row in range(int(rng.integers(2, 5))):
            cv2.putText(face, SMALL_PRINT, (10, 92 + 9 * row), cv2.FONT_HERSHEY_SIMPLEX, 0.28, _bytes(panel), 1, cv2.LINE_AA)
    if style == 3:  # bars
        for start in 24 + np.cumsum(rng.integers(3, 8, 10)):
            cv2.rectangle(face, (int(start), 20), (int(start) + int(rng.integers(1, 4)), 60), _bytes(ink), -1)
    return face, style != 3


def _write(face: Picture, word: str, place: tuple[int, int], ink: RGB) -> None:
    width = cv2.getTextSize(word, cv2.FONT_HERSHEY_DUPLEX, 1.0, 2)[0][0]
    cv2.putText(face, word, place, cv2.FONT_HERSHEY_DUPLEX, min(1.0, 92 / width), _bytes(ink), 2, cv2.LINE_AA)


def _bytes(rgb: RGB) -> tuple[int, int, int]:
    return round(255 * rgb[0]), round(255 * rgb[1]), round(255 * rgb[2])
