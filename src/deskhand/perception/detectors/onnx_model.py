"""An ONNX file and the pictures that it takes. The package onnxruntime is imported when the first picture comes."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import numpy.typing as npt

from deskhand.errors import DeskhandError
from deskhand.types import Image

Floats = npt.NDArray[np.float32]


class OnnxModel:
    """One ONNX file, opened at the first run; runs on the processor, in the thread of the caller. Safe to use from several threads."""

    def __init__(self, file: str | Path, what: str = "model") -> None:
        self.file, self._what = Path(file).expanduser(), what
        self._session: Any = None
        self._lock = threading.Lock()

    def check(self) -> None:
        """Raises ``config_error`` when the file is not there."""
        if not self.file.is_file():
            raise DeskhandError("config_error", f"there is no {self._what} {self.file}.", hint="See docs/detectors.md for where to get it.")

    def session(self) -> Any:
        """The opened file.

        Raises:
            DeskhandError: ``missing_dependency`` without onnxruntime, ``config_error`` when the file is missing or no ONNX model.
        """
        with self._lock:
            if self._session is None:
                self.check()
                try:
                    import onnxruntime
                except ImportError as error:
                    raise DeskhandError("missing_dependency", "the package 'onnxruntime' is not installed.", hint="pip install onnxruntime") from error
                options = onnxruntime.SessionOptions()
                options.log_severity_level = 3
                options.intra_op_num_threads = options.inter_op_num_threads = 1
                try:
                    self._session = onnxruntime.InferenceSession(str(self.file), options, providers=["CPUExecutionProvider"])
                except Exception as error:  # onnxruntime's own exceptions share no base
                    raise DeskhandError("config_error", f"{self.file} is no ONNX model that can be run: {str(error)[:200]}") from error
            return self._session

    def metadata(self) -> dict[str, str]:
        """What its maker wrote into it."""
        return dict(self.session().get_modelmeta().custom_metadata_map)

    def inputs(self) -> list[tuple[str, list[Any]]]:
        """(name, shape) of its inputs; a free dimension is a name or None."""
        return [(item.name, list(item.shape)) for item in self.session().get_inputs()]

    def run(self, feed: Mapping[str, npt.NDArray[Any]]) -> list[npt.NDArray[Any]]:
        """Its outputs. Raises ``model_failed``."""
        session = self.session()
        try:
            return [np.asarray(output) for output in session.run(None, dict(feed))]
        except Exception as error:
            raise DeskhandError("model_failed", f"{self.file.name} failed: {type(error).__name__}: {str(error)[:200]}") from error


def stretched(color: Image, width: int, height: int) -> tuple[Floats, npt.NDArray[np.float64]]:
    """The picture (1, 3, height, width) 0..1, stretched to fit, and the factors (x, y) from its pixels back to those of ``color``."""
    small = cv2.resize(color, (width, height), interpolation=cv2.INTER_LINEAR)
    return _planes(small), np.array([color.shape[1] / width, color.shape[0] / height])


def letterboxed(color: Image, width: int, height: int) -> tuple[Floats, float, npt.NDArray[np.float64]]:
    """The picture (1, 3, height, width) 0..1, its sides' ratio kept, grey around it; its scale and the offset (x, y) [px] of its corner."""
    scale = min(width / color.shape[1], height / color.shape[0])
    size = round(color.shape[1] * scale), round(color.shape[0] * scale)
    left, top = (width - size[0]) // 2, (height - size[1]) // 2
    canvas = np.full((height, width, 3), 114, np.uint8)
    canvas[top : top + size[1], left : left + size[0]] = cv2.resize(color, size, interpolation=cv2.INTER_LINEAR)
    return _planes(canvas), scale, np.array([left, top], dtype=float)


def _planes(picture: Image) -> Floats:
    return np.ascontiguousarray(picture.astype(np.float32).transpose(2, 0, 1)[None] / np.float32(255))
