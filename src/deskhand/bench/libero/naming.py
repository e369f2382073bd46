"""Perception of an episode: its looks are recorded, and taught names are put onto what a look shows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from deskhand.arms.model import RobotModel
from deskhand.perception.taught.naming import Known, known_by, named_by
from deskhand.perception.taught.recogniser import Recogniser
from deskhand.perception.view import Indices
from deskhand.recording.episode.writer import EpisodeWriter
from deskhand.trials.local import RecordedPerception
from deskhand.types import Frame, JointState, Scene, SceneObject
from deskhand.world.taught import TaughtView


class MeshNames:
    """Names of objects that were taught by pictures of their meshes; of one look each belongs to one object, or to all that surely have it."""

    def __init__(self, recogniser: Recogniser) -> None:
        self._recogniser = recogniser

    def name(self, items: Sequence[SceneObject], pixels: Sequence[Indices], frame: Frame) -> list[SceneObject]:
        """See Namer."""
        return named_by(self._recogniser, items, pixels, frame, once=True)

    def known(self, frame: Frame, pixels: Indices, size: Sequence[float]) -> Known:
        """See Namer."""
        return known_by(self._recogniser, frame, pixels, size)


class NamingPerception(RecordedPerception):
    """Perception that knows taught objects before it gives ids. With an empty recogniser it is as it was."""

    def __init__(self, writer: EpisodeWriter, memory: Path, recogniser: Recogniser) -> None:
        super().__init__(writer, memory)
        self.taught = MeshNames(recogniser)
        self.first: list[tuple[SceneObject, np.ndarray]] = []
        """The objects of the first look and their flat pixels, for the scorer to compare with the truth."""

    def detect(self, frame: Frame, model: RobotModel | None = None, joints: JointState | Mapping[str, float] | None = None, still: bool = False) -> Scene:
        """See Perception."""
        scene = super().detect(frame, model, joints, still)
        self.first = self.first or list(zip(scene.objects, self.pixels, strict=True))
        return scene


@cache
def recogniser_of(file: Path) -> Recogniser:
    """Of the views in ``file``, made once in a process: that takes 10 s."""
    return Recogniser(read_references(file))


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
