"""Perception of an episode: its looks are recorded, and taught names are put onto what a look shows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from deskhand.arms.model import RobotModel
from deskhand.episode.writer import EpisodeWriter
from deskhand.language.compound_names import noun_of
from deskhand.perception.fit.interpenetration import without_pieces
from deskhand.perception.taught.descriptor import Image, Mask
from deskhand.perception.taught.recogniser import Recogniser
from deskhand.trials.local import RecordedPerception
from deskhand.types import Frame, JointState, Scene, SceneObject
from deskhand.world.taught import TaughtView

LIKELY = 0.35  # probability from which a taught name is taken
CLEAR, LEAST = 0.9, 0.01  # or this share among the taught names, where it is at least so likely: sizes of half-seen objects make "none of these" likely
MARGIN = 4  # [px] about an object's crop


class NamingPerception(RecordedPerception):
    """Perception that knows taught objects. With an empty recogniser it is as it was."""

    def __init__(self, writer: EpisodeWriter, memory: Path, recogniser: Recogniser) -> None:
        super().__init__(writer, memory)
        self._recogniser = recogniser
        self.first: list[tuple[SceneObject, np.ndarray]] = []
        """The objects of the first look and their flat pixels, for the scorer to compare with the truth."""

    def detect(self, frame: Frame, model: RobotModel | None = None, joints: JointState | Mapping[str, float] | None = None, still: bool = False) -> Scene:
        """See Perception."""
        scene = super().detect(frame, model, joints, still)
        whole, pixels = without_pieces(scene.objects, self.pixels)
        self.pixels = tuple(pixels)
        named = replace(scene, objects=tuple(self._named(frame, whole)))
        self.first = self.first or list(zip(named.objects, self.pixels, strict=True))
        return named

    def _named(self, frame: Frame, objects: list[SceneObject]) -> list[SceneObject]:
        solid = [index for index, item in enumerate(objects) if not item.is_container]
        queries = [(*crop(frame, self.pixels[index]), _seen_size(objects[index])) for index in solid]
        for index, said in zip(solid, self._recogniser.recognise_all(queries, once=True), strict=True):
            if not said:
                continue
            name, probability = said[0]
            clear = probability >= LEAST and probability >= CLEAR * sum(share for _, share in said)
            if probability >= LIKELY or clear:
                objects[index] = replace(objects[index], label=noun_of(name), confidence=max(probability, LIKELY), label_source="taught")
        return objects


def _seen_size(item: SceneObject) -> tuple[float, ...]:
    """Extents [m]; nothing where one of them was not seen but taken from what such objects usually have."""
    return () if item.guessed else tuple(map(float, item.size))


def crop(frame: Frame, pixels: np.ndarray) -> tuple[Image, Mask]:
    """The part of a picture around flat ``pixels``, and which of its own belong to them."""
    height, width = frame.depth.shape
    v, u = np.divmod(pixels, width)
    rows = slice(max(0, int(v.min()) - MARGIN), min(height, int(v.max()) + 1 + MARGIN))
    columns = slice(max(0, int(u.min()) - MARGIN), min(width, int(u.max()) + 1 + MARGIN))
    mask = np.zeros((height, width), bool)
    mask.reshape(-1)[pixels] = True
    return frame.color[rows, columns], mask[rows, columns]


def read_references(file: Path) -> dict[str, list[TaughtView]]:
    """Views by name, from a file that served/references.py wrote."""
    taught: dict[str, list[TaughtView]] = {}
    with np.load(file) as data:
        for key in sorted(data.files):
            name, *rest = key.split("/")
            if rest[-1] != "mask":
                continue
            color = data[f"{name}/{rest[0]}/color"]
            mask = data[key]
            rows, columns = np.flatnonzero(mask.any(axis=1)), np.flatnonzero(mask.any(axis=0))
            part = slice(rows[0], rows[-1] + 1), slice(columns[0], columns[-1] + 1)
            taught.setdefault(name.replace("_", " "), []).append(TaughtView(color[part], mask[part], tuple(map(float, data[f"{name}/size"])), "mesh"))
    return taught


def compared(looked: list[tuple[SceneObject, np.ndarray]], names: list[str], mask: np.ndarray) -> dict[str, dict[str, Any]]:
    """By the name of each object that is visible in the truth's ``mask`` (H, W): what perception has there, best intersection over union, its label."""
    found: dict[str, dict[str, Any]] = {}
    flat = mask.reshape(-1)
    for number, name in enumerate(names, start=1):
        own = int((flat == number).sum())
        if not own:
            continue
        shares = [(int((flat[pixels] == number).sum()), len(pixels), item) for item, pixels in looked]
        best = max(((both / (own + size - both), item) for both, size, item in shares), key=lambda pair: pair[0], default=None)
        found[name] = {"pixels": own, "overlap": round(best[0], 3) if best else 0.0, "label": best[1].label if best and best[0] > 0.25 else ""}
    return found
