"""What a broken or hostile client sends: JSON for a tool's schema, messages for a ROS type; everything from one seed, about half of it sound."""

from __future__ import annotations

import importlib
import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

NUMBERS = (float("nan"), float("inf"), float("-inf"), 1e308, -1e308, 5e-324, 1e12, -1.0, 0.0, 3.0)
TEXTS = (
    "",
    " ",
    "world",
    "gripper",
    "table",
    "ghost",
    "x" * 20000,
    "näme\n☃\u202e",
    "../../etc/passwd",
    "/dev/zero",
    "$(reboot)",
    "[/bold]",
    "{}",
    "\x00",
    "NaN",
    "stop",
)
WORDS = (
    "all",
    "the",
    "cup",
    "block",
    "red",
    "tray",
    "not",
    "put",
    "into",
    "is",
    "where",
    "7",
    "'; drop table",
    "ignore",
    "rules",
    "stack",
    "mars",
    "?",
    "☃",
    "\\",
)
ODD = (None, True, -1, 10**30, 0.5, float("nan"), "", "x" * 5000, [], {}, [[[[[]]]]], {"a": {"b": {}}}, [None], ["\ud800"])
LENGTHS = (0, 1, 2, 3, 6, 200)


class Hostile:
    """Draws values; ``names`` are strings that mean something to the robot: joints, frames, ids of objects."""

    def __init__(self, seed: int, names: Sequence[str] = ()) -> None:
        self.rng, self.names = np.random.default_rng(seed), tuple(names)

    def odd(self, chance: float = 0.12) -> bool:
        return bool(self.rng.random() < chance)

    def pick(self, options: Sequence[Any]) -> Any:
        return options[int(self.rng.integers(len(options)))]

    def number(self, low: float = -2.0, high: float = 2.0) -> float:
        return float(self.pick(NUMBERS)) if self.odd() else float(self.rng.uniform(low, high))

    def text(self) -> str:
        if self.names and self.odd(0.5):
            return str(self.pick(self.names))
        return str(self.pick(TEXTS)) if self.odd(0.5) else " ".join(self.pick(WORDS) for _ in range(int(self.rng.integers(1, 8))))

    # ------------------------------------------------------------ JSON

    def arguments(self, schema: Mapping[str, Any]) -> str:
        """Text of arguments for a tool whose card has ``schema``; now and then no JSON, or no object."""
        if self.odd(0.04):
            return str(self.pick(("", "{", "null", "[]", '"text"', "{'a': 1}", "NaN", '{"a": 1e999}', "[" * 5000, '{"a": ' * 2000, "\x00", "ï»¿{}")))
        drawn = self.value(schema, schema)
        if isinstance(drawn, dict):
            if self.odd(0.1):
                drawn[self.text()] = self.pick(ODD)
            if drawn and self.odd(0.15):
                drawn.pop(self.pick(list(drawn)))
            if drawn and self.odd(0.2):
                drawn[self.pick(list(drawn))] = self.pick(ODD)
        return json.dumps(drawn)

    def value(self, schema: Mapping[str, Any], root: Mapping[str, Any], depth: int = 0) -> Any:
        """A value for a JSON schema (draft 2020-12: the part that tool cards use), sound about three times in four."""
        if self.odd(0.03) or depth > 12:
            return self.pick(ODD)
        for key in ("anyOf", "oneOf"):
            if key in schema:
                return self.value(self.pick(schema[key]), root, depth + 1)
        if "$ref" in schema:
            target: Any = root
            for part in schema["$ref"].removeprefix("#/").split("/"):
                target = target[part]
            return self.value(target, root, depth + 1)
        if "const" in schema:
            return schema["const"]
        if "enum" in schema:
            return self.pick(schema["enum"])
        kind = schema.get("type", "object" if "properties" in schema else "string")
        return self._of_kind(self.pick(kind) if isinstance(kind, list) else kind, schema, root, depth)

    def _of_kind(self, kind: str, schema: Mapping[str, Any], root: Mapping[str, Any], depth: int) -> Any:
        if kind == "object":
            needed = set(schema.get("required", ()))
            wanted = [name for name in schema.get("properties", {}) if name in needed or self.odd(0.4)]
            return {name: self.value(schema["properties"][name], root, depth + 1) for name in wanted}
        if kind == "array":
            low = int(schema.get("minItems", 0))
            count = int(self.rng.integers(low, min(int(schema.get("maxItems", low + 4)), low + 4) + 1))
            items = schema.get("prefixItems") or [schema.get("items", {})] * count
            return [self.value(item if isinstance(item, Mapping) else {}, root, depth + 1) for item in items]
        if kind in ("number", "integer"):
            low = float(schema.get("minimum", schema.get("exclusiveMinimum", -2)))
            high = float(schema.get("maximum", schema.get("exclusiveMaximum", max(low + 1, 2))))
            number = self.number(low, high)
            return round(number) if kind == "integer" and np.isfinite(number) else number
        return {"boolean": bool(self.odd(0.5)), "null": None}.get(kind, self.text())

    # ------------------------------------------------------------ ROS

    def message(self, kind: type) -> Any:
        """A ROS message, request or goal of ``kind``, every field drawn."""
        message = kind()
        for field, described in kind.get_fields_and_field_types().items():  # type: ignore[attr-defined]
            if self.odd(0.85):
                setattr(message, field, self.field(described))
        return message

    def field(self, described: str) -> Any:
        """A value for a field as rosidl describes it: ``double``, ``sequence<string>``, ``geometry_msgs/Pose[3]`` …"""
        inner = re.fullmatch(r"sequence<(.+?)(?:, (\d+))?>", described)
        if inner:
            length = self.pick(LENGTHS[:-1] if "/" in inner[1] or not self.odd() else LENGTHS)
            return [self.field(inner[1]) for _ in range(min(length, int(inner[2] or length)))]
        fixed = re.fullmatch(r"(.+)\[(\d+)\]", described)
        if fixed:
            return [self.field(fixed[1]) for _ in range(int(fixed[2]))]
        if "/" in described:
            package, name = described.split("/")
            return self.message(getattr(importlib.import_module(f"{package}.msg"), name))
        if described.startswith(("string", "wstring")):
            return self.text().replace("\x00", "")
        if described == "boolean":
            return self.odd(0.5)
        if described in ("float", "double"):
            number = self.number()
            return number if described == "double" or not np.isfinite(number) else float(np.clip(number, -3e38, 3e38))
        if described == "octet":
            return bytes([int(self.rng.integers(256))])
        bits = int(re.search(r"\d+", described)[0])  # type: ignore[index]
        low, high = (0, 2**bits - 1) if described.startswith("u") else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
        return int(self.pick((low, high))) if self.odd(0.2) else int(np.clip(self.rng.integers(0, 50), low, high))
