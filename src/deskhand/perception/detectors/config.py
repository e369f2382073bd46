"""Which detectors are used: ``config/detectors.yaml``, or a file of the user's."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from deskhand.errors import DeskhandError, explain
from deskhand.perception.detectors.base import Detector, Vocabulary
from deskhand.types.resources import resource_path
from deskhand.types.yaml_file import read_yaml

GEOMETRY = "geometry"


class DetectorConfig(BaseModel):
    """One detector of the file; which fields count depends on ``kind``, see config/detectors.yaml."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str
    kind: Literal["closed_set", "open_vocabulary", "vision_language"]
    weights: str = ""
    format: str = ""
    labels: tuple[str, ...] = ()
    kinds: dict[str, str] = Field(default_factory=dict)
    ignore: tuple[str, ...] = ()
    prompts: dict[str, list[str]] = Field(default_factory=dict)
    embeddings: str = ""
    text_encoder: str = ""
    tokenizer: str = ""
    model: str = ""
    min_score: float = Field(default=0.4, ge=0, le=1)
    weight: float = Field(default=0.6, ge=0, le=1)


def load_detectors(file: str | Path | None = None) -> tuple[Detector, ...]:
    """The detectors that ``file`` (default: config/detectors.yaml) uses besides geometry, ready to see.

    Raises:
        DeskhandError: ``config_error`` naming what is wrong, also when a file of weights is missing.
    """
    use, known, path = detector_list(file)
    unknown = [name for name in use if name != GEOMETRY and name not in known]
    if unknown:
        raise DeskhandError("config_error", f"{path} uses {', '.join(map(str, unknown))}; known: {', '.join([GEOMETRY, *known])}.")
    if GEOMETRY not in use:
        raise DeskhandError("config_error", f"{path} must use {GEOMETRY}: it finds the objects that the others name.")
    return tuple(make_detector(read(name, known[name], path)) for name in use if name != GEOMETRY)


def detector_list(file: str | Path | None = None) -> tuple[list[str], dict[str, Any], Path]:
    """Names that are used, all entries, and the file. Raises ``config_error``."""
    path = Path(file) if file else resource_path("config/detectors.yaml")
    try:
        data = read_yaml(path)
        return list(data["use"]), dict(data.get("detectors") or {}), path
    except (OSError, yaml.YAMLError, KeyError, TypeError, ValueError) as error:
        raise DeskhandError("config_error", f"{path} is no list of detectors: {error!r}.", hint="See the head of config/detectors.yaml.") from error


def read(name: str, data: Any, path: Path) -> DetectorConfig:
    """One entry of the file. Raises ``config_error`` naming the fields."""
    try:
        return DetectorConfig.model_validate({"name": name, **data})
    except (ValidationError, TypeError) as error:
        problem = explain(error) if isinstance(error, ValidationError) else "must be a mapping"
        raise DeskhandError("config_error", f"detector {name!r} in {path}: {problem}.", hint=f"Fields: {', '.join(DetectorConfig.model_fields)}.") from error


def make_detector(config: DetectorConfig) -> Detector:
    """The detector of an entry; files are looked for, models are not opened yet.

    Raises:
        DeskhandError: ``config_error``, ``missing_dependency``.
    """
    vocabulary = Vocabulary(config.kinds, frozenset(config.ignore))
    if config.kind == "vision_language":
        from deskhand.llm.config import load_profile
        from deskhand.llm.making import make_model
        from deskhand.perception.detectors.vision_language import VisionLanguageDetector

        profile = load_profile(config.model)
        return VisionLanguageDetector(config.name, make_model(profile), config.labels, vocabulary, config.weight, profile.boxes)
    if not config.weights:
        raise DeskhandError("config_error", f"the detector {config.name} has no weights.", hint="See docs/detectors.md for where to get them.")
    if config.kind == "closed_set":
        from deskhand.perception.detectors.closed_set import ClosedSetDetector

        closed = ClosedSetDetector(
            config.name, config.weights, form=config.format, labels=config.labels, vocabulary=vocabulary, min_score=config.min_score, weight=config.weight
        )
        closed.model.check()
        return closed
    from deskhand.perception.detectors.open_vocabulary import OpenVocabularyDetector, StoredEmbeddings, TextEncoder

    if bool(config.embeddings) == bool(config.text_encoder and config.tokenizer):
        raise DeskhandError("config_error", f"the detector {config.name} needs either embeddings, or text_encoder and tokenizer.")
    texts = StoredEmbeddings(config.embeddings) if config.embeddings else TextEncoder(config.text_encoder, config.tokenizer)
    detector = OpenVocabularyDetector(config.name, config.weights, texts, config.prompts, min_score=config.min_score, weight=config.weight)
    detector.model.check()
    return detector
