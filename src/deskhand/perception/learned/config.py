"""Which segmenter is heard: ``config/segmenter.yaml``, or what a caller names."""

from __future__ import annotations

from pathlib import Path

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from deskhand.errors import DeskhandError, explain
from deskhand.perception.learned.segmenter import HINT, Segmenter
from deskhand.types.resources import resource_path
from deskhand.types.yaml_file import read_yaml

FILE = "config/segmenter.yaml"
GEOMETRY = "geometry"
PILES = "piles"
"""The weights that come with deskhand: ``config/segmenter/piles.onnx``."""


class SegmenterConfig(BaseModel):
    """The fields of :data:`FILE`; see there."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    use: str = GEOMETRY
    trust: float = Field(default=0.3, ge=0, le=1)
    sure: float = Field(default=1.0, ge=0.5, le=1)


def load_segmenter(name: str = "", trust: float | None = None, sure: float | None = None) -> Segmenter | None:
    """The segmenter that is heard beside shape: None for ``geometry``, else :data:`PILES` or of an ONNX file; empty: what :data:`FILE` says. ``trust`` and
    ``sure`` count in place of its.

    Raises:
        DeskhandError: ``config_error`` when the file of weights is missing, or the configuration is wrong.
    """
    config = _read()
    use = name or config.use
    if use == GEOMETRY:
        return None
    file = resource_path(f"config/segmenter/{PILES}.onnx") if use == PILES else Path(use).expanduser()
    if not file.is_file():
        raise DeskhandError("config_error", f"there is no segmenter {use!r}; valid: {GEOMETRY}, {PILES}, or an ONNX file.", hint=HINT)
    return Segmenter(file, config.trust if trust is None else trust, config.sure if sure is None else sure)


def _read() -> SegmenterConfig:
    path = resource_path(FILE)
    try:
        return SegmenterConfig.model_validate(read_yaml(path))
    except (OSError, yaml.YAMLError, ValidationError) as error:
        problem = explain(error) if isinstance(error, ValidationError) else str(error)
        raise DeskhandError("config_error", f"{path}: {problem}.", hint=f"Fields: {', '.join(SegmenterConfig.model_fields)}.") from error
