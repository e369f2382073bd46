"""Which changes there are, and frames with them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from deskhand.bench.frames.labelled import LabelledFrame
from deskhand.bench.frames.stress import optics, sensor
from deskhand.bench.frames.stress.paste import paste

Random = np.random.Generator
Change = Callable[[LabelledFrame, Sequence[LabelledFrame], Random], LabelledFrame]


def _alone(change: Callable[[LabelledFrame, Random], LabelledFrame]) -> Change:
    return lambda frame, others, random: change(frame, random)


def _everything(frame: LabelledFrame, others: Sequence[LabelledFrame], random: Random) -> LabelledFrame:
    """Objects of other frames, then three other changes, in the order in which a scene, a camera and a sensor make them."""
    frame = paste(frame, others, random)
    changes = (optics.distance, optics.mirror, optics.roll, optics.resolution, sensor.light, sensor.bend, sensor.noise, sensor.flying, sensor.holes)
    for number in sorted(random.choice(len(changes), 3, replace=False)):
        frame = changes[number](frame, random)
    return frame


CHANGES: dict[str, Change] = {
    "as they are": lambda frame, others, random: frame,
    "mirrored": _alone(optics.mirror),
    "rolled": _alone(optics.roll),
    "resolution": _alone(optics.resolution),
    "cropped": _alone(optics.crop),
    "distance": _alone(optics.distance),
    "noise": _alone(sensor.noise),
    "bent": _alone(sensor.bend),
    "holes": _alone(sensor.holes),
    "flying pixels": _alone(sensor.flying),
    "registration": _alone(sensor.registration),
    "light": _alone(sensor.light),
    "pasted": paste,
    "everything": _everything,
}
"""What is done to a frame; ``pasted`` and ``everything`` make scenes that nobody arranged."""


def stressed(frames: Sequence[LabelledFrame], change: str, count: int, seed: int) -> Iterator[LabelledFrame]:
    """``count`` frames with a change of CHANGES; the same for the same seed, whatever other changes are drawn."""
    for place in range(count):
        random = np.random.default_rng([seed, list(CHANGES).index(change), place])
        frame = frames[place % len(frames)]
        others = [other for other in frames if other is not frame] or [frame]
        yield replace(CHANGES[change](frame, others, random), name=f"{change.replace(' ', '_')}_{place}_{frame.name}")
