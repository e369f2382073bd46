"""Reads plain data field by field, so that an error can say exactly which field is wrong."""

from __future__ import annotations

import difflib
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from deskhand.errors import DeskhandError
from deskhand.geometry import Array, check_pose


@dataclass(frozen=True)
class Field:
    """A value in a file with its path, for example ``objects[2].size``. Every reader raises ``scene_file_error``."""

    value: Any
    path: str
    file: str

    @property
    def absent(self) -> bool:
        """True when the file does not have it."""
        return self.value is None

    def error(self, message: str) -> DeskhandError:
        """The error that names this field."""
        return DeskhandError("scene_file_error", f"{self.file}: {self.path or 'the file'}: {message}.", hint="See docs/scene-files.md.")

    def get(self, key: str) -> Field:
        """A field of a mapping, absent when it is not there."""
        value = self.value.get(key) if isinstance(self.value, dict) else None
        return Field(value, f"{self.path}.{key}" if self.path else key, self.file)

    def mapping(self, keys: Sequence[str]) -> None:
        """Check that it is a mapping with no keys but these."""
        if not isinstance(self.value, dict):
            raise self.error(f"must be a mapping with {', '.join(keys)}, not {_said(self.value)}")
        for key in self.value:
            if key not in keys:
                near = difflib.get_close_matches(str(key), keys, 1)
                raise Field(None, f"{self.path}.{key}" if self.path else str(key), self.file).error(
                    f"is not known{f', did you mean {near[0]!r}?' if near else ''}; valid: {', '.join(keys)}"
                )

    def items(self) -> list[Field]:
        """The items of a list; none when it is absent."""
        if self.absent:
            return []
        if not isinstance(self.value, list):
            raise self.error(f"must be a list, not {_said(self.value)}")
        return [Field(item, f"{self.path}[{index}]", self.file) for index, item in enumerate(self.value)]

    def text(self, default: str | None = None) -> str:
        """A text that is not empty."""
        if self.absent and default is not None:
            return default
        if not isinstance(self.value, str) or not self.value.strip():
            raise self.error(f"must be a text, not {_said(self.value)}")
        return self.value.strip()

    def number(self, default: float | None = None, low: float = -math.inf, high: float = math.inf) -> float:
        """A finite number from ``low`` to ``high``."""
        if self.absent and default is not None:
            return default
        if isinstance(self.value, bool) or not isinstance(self.value, (int, float)) or not math.isfinite(self.value):
            raise self.error(f"must be a number, not {_said(self.value)}")
        if not low <= self.value <= high:
            raise self.error(f"must be from {low:g} to {high:g}, not {self.value:g}")
        return float(self.value)

    def whole(self, default: int, low: int = 0, high: int = 2**31) -> int:
        """A whole number."""
        value = self.number(float(default), low, high)
        if value != int(value):
            raise self.error(f"must be a whole number, not {value:g}")
        return int(value)

    def numbers(self, lengths: tuple[int, ...], default: Sequence[float] | None = None, low: float = -math.inf, high: float = math.inf) -> tuple[float, ...]:
        """A list of finite numbers, as many as one of ``lengths``."""
        if self.absent and default is not None:
            return tuple(map(float, default))
        if not isinstance(self.value, list) or len(self.value) not in lengths:
            raise self.error(f"must be a list of {' or '.join(map(str, lengths))} numbers, not {_said(self.value)}")
        return tuple(item.number(None, low, high) for item in self.items())

    def matrix(self) -> Array:
        """A rigid transform as 4 rows of 4 numbers."""
        try:
            return check_pose(np.array([row.numbers((4,)) for row in self.items()]).reshape(-1, 4), self.path)
        except DeskhandError as error:
            raise error if error.code == "scene_file_error" else self.error(error.message.rstrip(".")) from error


def _said(value: Any) -> str:
    return "nothing" if value is None else repr(value) if len(repr(value)) <= 60 else f"a {type(value).__name__}"
