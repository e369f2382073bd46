"""What a training is made from."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

HELD_OUT = 0.06  # share of the examples that are not learnt from, but measured with


@dataclass(frozen=True)
class Options:
    """One training; the same options give the same data and the same steps, if ``minutes`` is enough for all of them.

    Attributes:
        seed: of the first pile, of the weights at the start and of the order.
        frames: of piles that are rendered.
        steps: batches that are learnt from.
        minutes: after so many [min] of learning it ends, its steps as small by then as they would be after all of them.
        out: ONNX file.
        folder: where rendered examples are kept and looked for.
        batch: examples of a step.
        side: [px] of the square that is cut from each.
        rate: of learning, at most.
        apart: weight of pairs of pixels that show two objects; they are rarer than those that show one.
        every: [s] between two checkpoints.
        jobs: processes that render, and that cut batches out where there are more than one; they change nothing of what is learnt.
        device: of torch, that learns. The same steps on another one give weights that differ a little.
    """

    seed: int
    frames: int
    steps: int
    minutes: float
    out: Path
    folder: Path
    batch: int = 4
    side: int = 160
    rate: float = 3e-3
    apart: float = 3.0
    every: float = 180.0
    jobs: int = 1
    device: str = "cpu"
