"""Reading an arm's YAML file: what it ``extends``, where each of its fields stands, and every problem of it."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import yaml

from deskhand.arms import fit, layout, relations
from deskhand.arms.problems import ArmFileError, Problem
from deskhand.errors import DeskhandError
from deskhand.types.resources import resource_path
from deskhand.types.yaml_file import parse_yaml

LARGEST = 1_000_000  # [bytes] of an arm's file
FARTHEST = 8  # files that extend one another


@dataclass(frozen=True)
class ArmFile:
    """What an arm's file says, with those that it extends below it.

    Attributes:
        path: the file.
        data: all fields.
        layers: (file, its own fields), the file itself first.
    """

    path: Path
    data: Mapping[str, Any]
    layers: tuple[tuple[Path, Mapping[str, Any]], ...]

    def beside(self, name: str) -> Path:
        """A file that is named in it: beside the file itself, beside one that it extends, or in ``urdf/``, where it is looked for last."""
        for path, _ in self.layers:
            if (path.parent / name).is_file():
                return path.parent / name
        return resource_path("urdf") / name

    def says(self, field: str) -> Path:
        """Which of the files has the field, or as much of its name as any of them has."""
        parts = field.replace("[", ".").split(".")
        depth, where = 0, self.path
        for path, data in self.layers:
            there: Any = data
            for index, part in enumerate(parts):
                if not isinstance(there, Mapping) or part not in there:
                    break
                there = there[part]
                if index + 1 > depth:
                    depth, where = index + 1, path
        return where

    def problems(self) -> list[Problem]:
        """Everything that is wrong with it, with its URDF and SRDF, and with how they fit."""
        found = list(layout.ARM.check(self.data, ""))
        found += relations.problems(self.data, _Sound(found))
        found += fit.problems(self.data, self.beside, _Sound(found))
        return [replace(problem, file=self.says(problem.field)) for problem in dict.fromkeys(found)]


class _Sound:
    """Whether nothing was found wrong with a field, so that it can be compared with others."""

    def __init__(self, found: list[Problem]) -> None:
        self._wrong = [problem.field for problem in found]

    def __call__(self, *fields: str) -> bool:
        """Whether none of ``fields``, nothing within them and nothing that they are in, is wrong."""
        return not any(_overlap(wrong, field) for wrong in self._wrong for field in fields)


def _overlap(one: str, other: str) -> bool:
    short, long = sorted((one, other), key=len)
    return long == short or long.startswith((f"{short}.", f"{short}["))


def arm_path(name_or_file: str) -> Path:
    """The file of an arm by name in ``config/arms``, or the YAML file of your own; whether it is there or not."""
    if name_or_file.endswith((".yaml", ".yml")):
        return Path(name_or_file)
    return resource_path("config/arms") / f"{name_or_file}.yaml"


def list_arms() -> list[str]:
    """Names of the arms in ``config/arms``."""
    return sorted(path.stem for path in resource_path("config/arms").glob("*.yaml"))


def find_arm(name_or_file: str) -> Path:
    """The file of an arm by name in ``config/arms``, or the YAML file of your own.

    Raises:
        DeskhandError: ``config_error`` listing the arms there are.
    """
    path = arm_path(name_or_file)
    if path.is_file():
        return path
    near = difflib.get_close_matches(name_or_file, list_arms(), 1)
    what = f"{path} is a folder or a device, no file" if path.exists() else f"there is no arm {name_or_file!r} ({path})"
    hint = f"Do you mean {near[0]}?" if near else "A file of your own must end in .yaml."
    raise DeskhandError("config_error", f"{what}; known: {', '.join(list_arms())}.", hint=hint)


def read_arm_file(path: Path) -> ArmFile:
    """The file laid over those that it ``extends``; its fields are not checked yet.

    Raises:
        ArmFileError: when one of them cannot be read, or they extend one another in a circle.
    """
    layers = tuple(_layers(path))
    data: dict[str, Any] = {}
    for _, own in reversed(layers):
        data = merged(data, own)
    return ArmFile(path, data, layers)


def _layers(path: Path) -> Iterator[tuple[Path, Mapping[str, Any]]]:
    chain: list[Path] = []
    here = path
    while True:
        chain.append(here)
        own = _mapping(path, here)
        base = own.pop("extends", None)
        yield here, own
        if base is None:
            return
        below = _extended(path, here, base)
        if any(below.samefile(earlier) for earlier in chain) or len(chain) >= FARTHEST:
            circle = " -> ".join(map(str, (*chain, below)))
            problem = Problem("extends", f"the files extend one another without an end: {circle}", "Take `extends` out of one of them.", here)
            raise ArmFileError(path, (problem,))
        here = below


def _extended(path: Path, here: Path, base: Any) -> Path:
    below = None
    if isinstance(base, str) and base.strip():
        below = here.parent / base if base.endswith((".yaml", ".yml")) else arm_path(base)
    if below is None or not below.is_file():
        do = f"Name one of {', '.join(list_arms())}, or a YAML file beside this one."
        raise ArmFileError(path, (Problem("extends", f"there is no arm {str(base)[:100]!r}", do, here),))
    return below


def _mapping(path: Path, here: Path) -> dict[str, Any]:
    try:
        with here.open("rb") as stream:
            text = stream.read(LARGEST + 1)
        if len(text) > LARGEST:
            raise ValueError(f"it is larger than {LARGEST / 1e6:g} MB")
        data = parse_yaml(text.decode(), str(here))
    except (OSError, ValueError, RecursionError, yaml.YAMLError) as error:
        said = " ".join(str(error).split())
        raise ArmFileError(
            path, (Problem("file", f"it cannot be read as YAML: {said}", "Mend it there; config/arms/wx250s.yaml is a model.", here),)
        ) from error
    if not isinstance(data, dict):
        raise ArmFileError(path, (Problem("file", "it is no mapping of fields to values", "config/arms/wx250s.yaml is a model.", here),))
    return data


def merged(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    """A mapping laid over another, mappings within them likewise."""
    both = {key: merged(below[key], value) if isinstance(value, dict) and isinstance(below.get(key), dict) else value for key, value in above.items()}
    return {**below, **both}
