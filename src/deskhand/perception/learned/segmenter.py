"""The network in use: an ONNX file that ``deskhand train segmenter`` made, and what it says of a view."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from deskhand.errors import DeskhandError
from deskhand.perception.detectors.onnx_model import OnnxModel
from deskhand.perception.learned.affinities import OFFSETS, STRIDE, Evidence, Numbers, across_borders
from deskhand.perception.learned.inputs import PLANES, InputSettings, inputs_of
from deskhand.perception.view import Floats, View

META = "deskhand.segmenter."
"""What the keys of the file's metadata begin with."""
HINT = "Make one with `deskhand train segmenter`; see docs/perception.md."


def metadata_of() -> dict[str, str]:
    """What a file made for this version says."""
    return {f"{META}inputs": str(InputSettings().version), f"{META}planes": " ".join(PLANES), f"{META}offsets": " ".join(f"{v},{u}" for v, u in OFFSETS)}


@dataclass(frozen=True)
class Said:
    """Of a view, on the outputs' grid.

    Attributes:
        objects: (H, W) probability that a pixel shows an object.
        logits: (len(OFFSETS), H, W) of the affinities.
        rows, columns: (H,), (W,) pixels of the view, -1 beyond it.
        trust, sure: of the segmenter.
    """

    objects: Floats
    logits: Floats
    rows: Numbers
    columns: Numbers
    trust: float
    sure: float

    def objects_at(self, v: Numbers, u: Numbers) -> Floats:
        """Probability (N,) that pixels of the view show objects."""
        places = (np.maximum(np.searchsorted(side[side >= 0], at, "right") - 1, 0) for side, at in ((self.rows, v), (self.columns, u)))
        row, column = places
        return np.asarray(self.objects[row, column])

    def evidence(self, patches: Numbers, borders: Numbers) -> Evidence:
        """Of the borders (B, 2) between patches; ``patches``: (H, W) of the view, -1 for none."""
        grid = patches[np.maximum(self.rows, 0)[:, None], np.maximum(self.columns, 0)[None]]
        grid = np.where((self.rows >= 0)[:, None] & (self.columns >= 0)[None], grid, -1)
        return across_borders(self.logits, grid, borders)


class Segmenter:
    """Opened at the first view; runs on one core. Safe to use from several threads.

    Attributes:
        trust: how much it counts against shape, 0..1.
        sure: probability of one object above which it joins what shape and colours cut; 1: it never does.
    """

    def __init__(self, file: str | Path, trust: float, sure: float = 1.0) -> None:
        self.trust, self.sure = trust, sure
        self._model = OnnxModel(file, "segmenter")
        self._checked = False

    def check(self) -> None:
        """Open the file.

        Raises:
            DeskhandError: ``config_error`` when it is missing, no ONNX model or made for other inputs; ``missing_dependency`` without onnxruntime.
        """
        told = self._model.metadata()
        for key, value in metadata_of().items():
            if told.get(key) != value:
                said = told.get(key)
                raise DeskhandError("config_error", f"{self._model.file} is no segmenter of this version: {key} is {said!r}, not {value!r}.", hint=HINT)
        self._checked = True

    @property
    def file(self) -> Path:
        """Where it is."""
        return self._model.file

    def say(self, view: View) -> Said:
        """What it says of a view. Raises as :meth:`check`, and ``model_failed``."""
        if not self._checked:
            self.check()
        inputs = inputs_of(view, InputSettings())
        (logits,) = self._model.run({"planes": inputs.planes[None]})
        return Said(1 / (1 + np.exp(-logits[0, 0])), logits[0, 1:], inputs.rows[::STRIDE], inputs.columns[::STRIDE], self.trust, self.sure)
