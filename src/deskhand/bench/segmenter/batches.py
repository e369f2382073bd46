"""Batches of examples: cut out around objects, mirrored, in other light."""

from __future__ import annotations

import numpy as np

from deskhand.bench.segmenter.examples import Bytes, Example
from deskhand.perception.learned.affinities import STRIDE
from deskhand.perception.learned.inputs import PLANES
from deskhand.perception.view import Floats

ACROSS, RED = PLANES.index("across"), PLANES.index("red")
GREY = 0.15  # share of the examples whose colours are left out
GAIN, TINT, LIFT = (0.7, 1.4), (0.85, 1.18), (-0.1, 0.1)  # of all colours, of each, and added
SPECKS = 0.02  # [of InputSettings.height and far] standard deviation of noise that is added to heights and distances, at most


def batch_of(examples: list[Example], count: int, side: int, random: np.random.Generator) -> tuple[Floats, Bytes]:
    """Planes (N, P, side, side) and the labels of the outputs' pixels (N, side / STRIDE, side / STRIDE)."""
    planes = np.zeros((count, len(PLANES), side, side), np.float32)
    labels = np.zeros((count, side, side), np.uint8)
    for number in range(count):
        example = examples[int(random.integers(len(examples)))]
        top, left = _corner(example, side, random)
        part = example.planes[:, top : top + side, left : left + side].astype(np.float32)
        whose = example.labels[top : top + side, left : left + side]
        if random.random() < 0.5:
            part, whose = part[:, :, ::-1].copy(), whose[:, ::-1]
            part[ACROSS] *= -1
        _relit(part, random)
        planes[number, :, : part.shape[1], : part.shape[2]] = part
        labels[number, : whose.shape[0], : whose.shape[1]] = whose
    return planes, labels[:, ::STRIDE, ::STRIDE]


def _corner(example: Example, side: int, random: np.random.Generator) -> tuple[int, int]:
    """Of a square that has some object in it."""
    flat = np.flatnonzero(example.labels)
    height, width = example.labels.shape
    v, u = divmod(int(flat[int(random.integers(len(flat)))]), width) if len(flat) else (0, 0)
    shift = random.integers(-side // 3, side // 3 + 1, 2)
    top, left = (max(0, min(at - side // 2 + int(by), size - side)) for at, by, size in ((v, shift[0], height), (u, shift[1], width)))
    return top, left


def _relit(part: Floats, random: np.random.Generator) -> None:
    """Other light, and a little more noise, in place."""
    if random.random() < GREY:
        part[RED:] = 0
    else:
        gain = random.uniform(*GAIN) * random.uniform(*TINT, 3)
        part[RED:] = np.clip((part[RED:] + 0.5) * gain[:, None, None] + random.uniform(*LIFT), 0, 1) - 0.5
    for plane in (2, 3):
        part[plane] += random.uniform(0, SPECKS) * random.standard_normal(part.shape[1:], dtype=np.float32) * part[1]
