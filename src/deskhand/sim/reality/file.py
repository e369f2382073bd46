"""Reality files: for each number of a RealitySpec a value or a range, drawn from a seed (docs/reality.md).

A value is a number or a text; a range is ``{low, high, source}``, a choice ``{one_of: [...], source}``. What a file leaves out is ideal. Each number is
drawn by itself, from the seed and its name: the others, and which of them there are, do not change it.
"""

from __future__ import annotations

import math
import re
from dataclasses import Field as DataField
from dataclasses import fields
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
import yaml

from deskhand.errors import DeskhandError
from deskhand.sim.fields import Field
from deskhand.sim.reality.spec import PARTS, RealitySpec
from deskhand.types.resources import resource_path
from deskhand.types.yaml_file import read_yaml

FOLDER = "config/reality"
DEFAULT = "mild"
"""Of trials and demos that name none, and whose scene file says nothing."""
SECTIONS = tuple(item.name for item in fields(RealitySpec) if item.name != "seed")


def load_reality(name: str, seed: int) -> RealitySpec | None:
    """Drawn from the file ``name``: a name in ``config/reality`` or the path of a YAML file; None for ``none``. ``name:part`` is one part of it alone, a
    name of :data:`PARTS`.

    Raises:
        DeskhandError: ``config_error`` when there is no such file or part, ``scene_file_error`` naming the field that is wrong in it.
    """
    file, _, part = name.partition(":")
    if part and part not in PARTS:
        raise DeskhandError("config_error", f"reality has no part {part!r}; it has {', '.join(PARTS)}.", hint="See docs/reality.md.")
    if file == "none":
        return None
    path = Path(file) if file.endswith((".yaml", ".yml")) else resource_path(FOLDER) / f"{file}.yaml"
    if not path.is_file():
        valid = ", ".join(sorted(item.stem for item in resource_path(FOLDER).glob("*.yaml")))
        raise DeskhandError("config_error", f"there is no reality {file!r}; valid: {valid}, or a YAML file.", hint="See docs/reality.md.")
    try:
        data = read_yaml(path)
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise DeskhandError("scene_file_error", f"{path}: {error}.", hint="See docs/reality.md.") from error
    drawn = draw(Field(data, "", str(path)), seed)
    return drawn.only(part) if part else drawn


def draw(field: Field, seed: int) -> RealitySpec:
    """The reality of a mapping, its own ``seed`` in place of ``seed`` where it has one.

    Raises:
        DeskhandError: ``scene_file_error`` naming the field.
    """
    field.mapping(("seed", *SECTIONS))
    seed = field.get("seed").whole(seed)
    sections: dict[str, Any] = {}
    for item in fields(RealitySpec):
        if item.name == "seed" or field.get(item.name).absent:
            continue
        section, kind = field.get(item.name), item.default_factory
        section.mapping([one.name for one in fields(kind)])  # type: ignore[arg-type]
        drawn = {one.name: _value(section.get(one.name), one, f"{item.name}.{one.name}", seed) for one in fields(kind)}  # type: ignore[arg-type]
        sections[item.name] = kind(**{name: value for name, value in drawn.items() if value is not None})  # type: ignore[operator]
    return RealitySpec(seed, **sections)


def to_dict(reality: RealitySpec) -> dict[str, Any]:
    """Plain data that :func:`draw` turns into the same reality, whatever the seed."""
    result: dict[str, Any] = {"seed": reality.seed}
    for name in SECTIONS:
        section = getattr(reality, name)
        values = {item.name: getattr(section, item.name) for item in fields(section)}
        result[name] = {item.name: math.degrees(values[item.name]) if item.metadata.get("degrees") else values[item.name] for item in fields(section)}
    return result


def _value(field: Field, item: DataField[Any], path: str, seed: int) -> float | str | None:
    """What a field says, drawn where it leaves a choice; None where it says nothing."""
    if field.absent:
        return None
    rng = np.random.default_rng([seed, crc32(path.encode())])
    if isinstance(field.value, dict):
        field.mapping(("low", "high", "source") if "low" in field.value else ("one_of", "source"))
        field.get("source").text("")
        if "low" in field.value:
            low, high = _number(field.get("low"), item), _number(field.get("high"), item)
            if low > high:
                raise field.error(f"its low {field.get('low').value:g} is above its high {field.get('high').value:g}")
            return float(rng.uniform(low, high))
        choices = field.get("one_of").items()
        if not choices:
            raise field.get("one_of").error("must be a list of at least one value")
        field = choices[int(rng.integers(len(choices)))]
    return _text(field, item) if "valid" in item.metadata else _number(field, item)


def _number(field: Field, item: DataField[Any]) -> float:
    value = field.number(None, item.metadata["low"], item.metadata["high"])
    return math.radians(value) if item.metadata["degrees"] else value


def _text(field: Field, item: DataField[Any]) -> str:
    valid = item.metadata["valid"]
    if not valid and field.value == "":
        return ""
    text = field.text()
    if valid and text not in valid:
        raise field.error(f"must be one of {', '.join(valid)}, not {text!r}")
    if item.metadata.get("hex") and not re.fullmatch("#[0-9a-fA-F]{6}", text):
        raise field.error(f'must be a colour like "#cbbeaa", not {text!r}')
    return text
