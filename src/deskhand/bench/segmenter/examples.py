"""Examples that the network learns from: planes of views of piles and the object of each pixel, kept in files below a folder."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial
from multiprocessing import get_context
from pathlib import Path

import cv2
import numpy as np
import numpy.typing as npt

from deskhand.bench.segmenter.pictures import Owners, pile_frames
from deskhand.errors import DeskhandError
from deskhand.perception.corrected import corrected
from deskhand.perception.learned.inputs import InputSettings, inputs_of
from deskhand.perception.settings import PerceptionSettings
from deskhand.perception.view import View, fill_edges, make_view
from deskhand.types import Frame

VIEWS = 4  # of each pile
SCALES = (0.8, 1.25)  # of the grid's pitch
FEW = 200  # pixels of objects on the grid; views that show less teach nothing
MARGIN = 24  # pixels of the grid around the objects that are kept
SHARD = 16  # piles in a file
Halves = npt.NDArray[np.float16]
Bytes = npt.NDArray[np.uint8]


@dataclass(frozen=True)
class Example:
    """``planes`` (P, H, W) as :func:`inputs_of` gives them; ``labels`` (H, W): 0 no object or unknown, from 1 the objects."""

    planes: Halves
    labels: Bytes


def view_of(frame: Frame) -> View:
    """A frame prepared as perception does. Raises ``no_table``."""
    settings = PerceptionSettings()
    level, fit = corrected(frame, settings)
    return fill_edges(make_view(level, fit, settings), settings)


def example_of(view: View, owners: Owners, scale: float) -> Example:
    """Planes and labels of a view; ``owners`` (H, W) of the whole picture, -1 for none."""
    inputs = inputs_of(view, InputSettings(), scale)
    v, u = np.maximum(inputs.rows, 0)[:, None], np.maximum(inputs.columns, 0)[None]
    labels = (owners[v + view.origin[0], u + view.origin[1]] + 1) * ((inputs.rows >= 0)[:, None] & (inputs.columns >= 0)[None])
    labels[inputs.planes[1] == 0] = 0
    rows, columns = _around(labels > 0)
    return Example(inputs.planes[:, rows, columns].astype(np.float16), labels[rows, columns].astype(np.uint8))


def _around(objects: npt.NDArray[np.bool_]) -> tuple[slice, slice]:
    """Rows and columns of objects, with a margin."""
    if not objects.any():
        return slice(0, 1), slice(0, 1)
    rows, columns = np.flatnonzero(objects.any(axis=1)), np.flatnonzero(objects.any(axis=0))
    return slice(max(0, rows[0] - MARGIN), rows[-1] + MARGIN + 1), slice(max(0, columns[0] - MARGIN), columns[-1] + MARGIN + 1)


def pile_examples(seed: int) -> list[Example]:
    """Of the pile of a seed: the same every time."""
    random = np.random.default_rng([7004, seed])
    examples = []
    for frame, owners in pile_frames(seed, VIEWS):
        scale = float(random.uniform(*SCALES))
        try:
            view = view_of(frame)
        except DeskhandError:  # hardly any table is seen
            continue
        if view.objects.any():
            example = example_of(view, owners, scale)
            if (example.labels > 0).sum() >= FEW:
                examples.append(example)
    return examples


def examples(seed: int, frames: int, folder: Path, told: Callable[[int], None], jobs: int = 1) -> Iterator[Example]:
    """At least ``frames`` examples of piles from ``seed`` on; those in ``folder`` are not made again. ``told``: how many there are so far; ``jobs``:
    processes that make them.

    Raises:
        DeskhandError: ``missing_dependency`` when the machine cannot render off screen.
    """
    folder.mkdir(parents=True, exist_ok=True)
    count = 0
    with ProcessPoolExecutor(jobs, get_context("spawn")) if jobs > 1 else nullcontext() as pool:
        while count < frames:
            shards = range(seed, seed + SHARD * math.ceil((frames - count) / (SHARD * VIEWS)), SHARD)
            seed = shards.stop
            make = partial(_made, folder)
            for file in pool.map(make, shards) if pool else map(make, shards):
                made = _read(file)
                assert made is not None
                yield from made
                count += len(made)
                told(count)
                if count >= frames:
                    break


def _made(folder: Path, seed: int) -> Path:
    """The file of the piles from a seed on, made where it is missing or of other planes."""
    file = folder / f"piles_{seed}.npz"
    if not file.is_file() or _read(file) is None:
        cv2.setNumThreads(1)
        _write(file, [example for number in range(seed, seed + SHARD) for example in pile_examples(number)])
    return file


def _write(file: Path, made: list[Example]) -> None:
    data: dict[str, npt.NDArray[np.generic]] = {"count": np.array(len(made)), "version": np.array(InputSettings().version)}
    for number, example in enumerate(made):
        data |= {f"planes{number}": example.planes, f"labels{number}": example.labels}
    part = file.with_suffix(".part")
    with part.open("wb") as stream:
        np.savez(stream, **data)  # type: ignore[arg-type]
    part.rename(file)


def _read(file: Path) -> list[Example] | None:
    """None where it was made with other planes."""
    with np.load(file, allow_pickle=False) as data:
        if int(data["version"]) != InputSettings().version:
            return None
        return [Example(data[f"planes{number}"], data[f"labels{number}"]) for number in range(int(data["count"]))]
