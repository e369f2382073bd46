"""Which detectors are used: ``config/detectors.yaml``, or a file of the user's."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from deskhand.errors import DeskhandError, explain
from deskhand.perception.detectors.base import Detector, Vocabulary
from deskhand.types.resources import resource_path
from deskhand.types.yaml_file import read_yaml

GEOMETRY = "geometry"
SHIPPED = "config/detectors.yaml"
USERS = "~/.deskhand/detectors.yaml"


class DetectorConfig(BaseModel):
    """One detector of the file; which fields count depends on ``kind``, see config/detectors.yaml."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str
    kind: Literal["closed_set", "open_vocabulary", "vision_language", "printed_text"]
    weights: str = ""
    reader: str = ""
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


def users_file() -> Path:
    """The file that a running robot uses: ``DESKHAND_DETECTORS`` in the environment, else :data:`USERS` where there is one, else :data:`SHIPPED`."""
    own = Path(os.environ.get("DESKHAND_DETECTORS") or USERS).expanduser()
    return own if own.exists() or "DESKHAND_DETECTORS" in os.environ else resource_path(SHIPPED)


def start_using(name: str, weights: Path, file: Path) -> None:
    """Have ``file`` use the detector ``name`` of config/detectors.yaml, with its ``weights`` there; the file is begun as that one.

    Raises:
        DeskhandError: ``config_error`` when the file is no list of detectors, or cannot be written.
    """
    use, entries, _ = detector_list(file if file.exists() else None)
    _, shipped, _ = detector_list()
    entry = {**shipped[name], **dict(entries.get(name) or {}), "weights": str(weights)}
    if entry["kind"] == "printed_text":
        from deskhand.perception.detectors.ocr_package import reader_of

        entry["reader"] = str(reader_of(weights))
    data = {"use": list(dict.fromkeys([*use, name])), "detectors": {**entries, name: entry}}
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"# Written by `deskhand detectors import`; what the fields mean stands in {SHIPPED}.\n" + yaml.safe_dump(data, sort_keys=False))
    except OSError as error:
        raise DeskhandError("config_error", f"{file} cannot be written: {error}.", hint="Say another with --config.") from error


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
    path = Path(file) if file else resource_path(SHIPPED)
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
    if config.kind == "printed_text":
        from deskhand.perception.detectors.printed_text import PrintedTextDetector

        if not config.reader:
            raise DeskhandError("config_error", f"the detector {config.name} has no reader.", hint="deskhand detectors import rapidocr-*.whl")
        printed = PrintedTextDetector(config.name, config.weights, config.reader, min_score=config.min_score, weight=config.weight)
        printed.finder.check()
        printed.reader.check()
        return printed
    from deskhand.perception.detectors.open_vocabulary import OpenVocabularyDetector, StoredEmbeddings, TextEncoder

    if bool(config.embeddings) == bool(config.text_encoder and config.tokenizer):
        raise DeskhandError("config_error", f"the detector {config.name} needs either embeddings, or text_encoder and tokenizer.")
    texts = StoredEmbeddings(config.embeddings) if config.embeddings else TextEncoder(config.text_encoder, config.tokenizer)
    detector = OpenVocabularyDetector(config.name, config.weights, texts, config.prompts, min_score=config.min_score, weight=config.weight)
    detector.model.check()
    return detector
