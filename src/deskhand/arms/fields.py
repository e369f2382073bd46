"""Kinds of fields of a configuration file: each says its unit and range, and what is wrong with a value, without ever raising.

``check(value, where)`` yields a :class:`Problem` for everything that is wrong; ``where`` is the field's whole name.
"""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from reprlib import Repr
from typing import Any, Protocol

from deskhand.arms.problems import Problem

_SHORT = Repr()
_SHORT.maxlist = _SHORT.maxdict = _SHORT.maxlevel = 4
_SHORT.maxstring = _SHORT.maxother = _SHORT.maxlong = 60
MIXED_UP = {
    "m": (("millimetres", "mm", 1e-3), ("centimetres", "cm", 1e-2)),
    "rad": (("degrees", "degrees", math.pi / 180),),
    "rad/s": (("degrees a second", "degrees/s", math.pi / 180),),
    "rad/s²": (("degrees a second squared", "degrees/s²", math.pi / 180),),
    "m/s": (("millimetres a second", "mm/s", 1e-3),),
    "s": (("milliseconds", "ms", 1e-3),),
    "kg": (("grams", "g", 1e-3),),
    "V": (("millivolts", "mV", 1e-3),),
}
"""By unit: (name, sign, factor) of those that are mistaken for it, the more usual first."""


def shown(value: Any) -> str:
    """A value, short, whatever it is."""
    return _SHORT.repr(value)


class Spec(Protocol):
    """A kind of field."""

    def check(self, value: Any, where: str) -> Iterator[Problem]:
        """What is wrong with ``value``."""
        ...

    @property
    def words(self) -> str:
        """What is valid, for people."""
        ...


@dataclass(frozen=True)
class Number:
    """A number from ``low`` to ``high`` in ``unit``; ``above``: ``low`` itself is not valid; ``nonzero``: nor is 0."""

    unit: str
    low: float
    high: float
    above: bool = False
    whole: bool = False
    nonzero: bool = False

    @property
    def words(self) -> str:
        """See base."""
        kind = "whole number" if self.whole else "number"
        span = f"above {self.low:g} and up to {self.high:g}" if self.above else f"{self.low:g} to {self.high:g}"
        return f"{kind}, {span}{', not 0' if self.nonzero else ''}"

    def check(self, value: Any, where: str) -> Iterator[Problem]:
        """See base."""
        unit = f" [{self.unit}]" if self.unit else ""
        if isinstance(value, bool) or not isinstance(value, int | float):
            yield Problem(where, f"{shown(value)} is not a number", f"Give a {self.words}{unit}.{_number_written(value)}")
        elif not math.isfinite(value):
            yield Problem(where, f"{value} is not a finite number", f"Give a {self.words}{unit}.")
        elif not self._fits(value):
            yield Problem(where, f"{value:g}{unit} cannot be", f"Give a {self.words}{unit}.{self._other_unit(value)}")
        elif self.whole and value != int(value):
            yield Problem(where, f"{value:g} is not a whole number", f"Give a {self.words}{unit}.")

    def _fits(self, value: float) -> bool:
        return self.low <= value <= self.high and not (self.above and value == self.low) and not (self.nonzero and value == 0)

    def _other_unit(self, value: float) -> str:
        for name, sign, factor in MIXED_UP.get(self.unit, ()):
            if value and self._fits(value * factor):
                return f" Are these {name}? {value:g} {sign} are {value * factor:.4g} {self.unit}."
        return ""


def _number_written(value: Any) -> str:
    if not isinstance(value, str):
        return ""
    try:
        float(value)
    except ValueError:
        return " No quotes, no unit."
    return f" YAML reads this as text: no quotes, and {float(value)!r} in place of an exponent without a point."


@dataclass(frozen=True)
class Text:
    """A text that matches ``pattern``, described by ``what``."""

    what: str = "a text"
    pattern: str = r"\S(.*\S)?"
    empty: bool = False

    @property
    def words(self) -> str:
        """See base."""
        return self.what

    def check(self, value: Any, where: str) -> Iterator[Problem]:
        """See base."""
        if not isinstance(value, str):
            quoted = " Put it in quotes: YAML reads it as something else." if isinstance(value, bool | int | float) else ""
            yield Problem(where, f"{shown(value)} is not {self.what}", f"Give {self.what}.{quoted}")
        elif not (self.empty and not value) and (len(value) > 500 or not re.fullmatch(self.pattern, value)):
            yield Problem(where, f"{shown(value)} is not {self.what}", f"Give {self.what}.")


@dataclass(frozen=True)
class Choice:
    """One of ``options``."""

    options: tuple[str, ...]

    @property
    def words(self) -> str:
        """See base."""
        return " or ".join(f"`{option}`" for option in self.options if option)

    def check(self, value: Any, where: str) -> Iterator[Problem]:
        """See base."""
        if not (isinstance(value, str) and value in self.options):
            yield Problem(where, f"{shown(value)} is not valid", f"Valid: {', '.join(self.options)}.{_near(value, self.options)}")


@dataclass(frozen=True)
class Flag:
    """True or false."""

    words = "`true` or `false`"

    def check(self, value: Any, where: str) -> Iterator[Problem]:
        """See base."""
        if not isinstance(value, bool):
            yield Problem(where, f"{shown(value)} is not valid", "Valid: true, false.")


@dataclass(frozen=True)
class Items:
    """A list of ``least`` to ``most`` items."""

    item: Spec
    least: int
    most: int

    @property
    def words(self) -> str:
        """See base."""
        count = f"{self.least}" if self.least == self.most else f"{self.least} to {self.most}"
        return f"list of {count}: {self.item.words}"

    def check(self, value: Any, where: str) -> Iterator[Problem]:
        """See base."""
        if not isinstance(value, list):
            yield Problem(where, f"{shown(value)} is not a list", f"Give a {self.words}.")
            return
        if not self.least <= len(value) <= self.most:
            yield Problem(where, f"it has {len(value)} items", f"Give a {self.words}.")
        for index, item in enumerate(value[: self.most]):
            yield from self.item.check(item, f"{where}[{index}]")


@dataclass(frozen=True)
class Table:
    """A mapping whose keys are names, or numbers, of one kind."""

    key: Spec
    value: Spec
    least: int = 0
    most: int = 100

    @property
    def words(self) -> str:
        """See base."""
        return f"mapping of names to: {self.value.words}"

    def check(self, value: Any, where: str) -> Iterator[Problem]:
        """See base."""
        if not isinstance(value, Mapping):
            yield Problem(where, f"{shown(value)} is not a mapping", f"Give a {self.words}.")
            return
        if not self.least <= len(value) <= self.most:
            yield Problem(where, f"it has {len(value)} entries", f"Give {self.least} to {self.most}.")
        for key, item in list(value.items())[: self.most]:
            yield from self.key.check(key, f"{where}.{key if isinstance(key, str) else shown(key)}")
            yield from self.value.check(item, f"{where}.{key if isinstance(key, str) else shown(key)}")


@dataclass(frozen=True)
class Field:
    """A field of a section; ``about`` says for people what it is. Without ``required`` it may be left out, and is ``default`` then."""

    spec: Spec
    about: str
    required: bool = True
    default: str = ""


@dataclass(frozen=True)
class Section:
    """A mapping with named fields, and no others."""

    fields: Mapping[str, Field] = field(default_factory=dict)

    @property
    def words(self) -> str:
        """See base."""
        return "section"

    def check(self, value: Any, where: str) -> Iterator[Problem]:
        """See base."""
        if not isinstance(value, Mapping):
            yield Problem(where, f"{shown(value)} is not a mapping", f"Give {', '.join(self.fields)}.")
            return
        for key in value:
            if key not in self.fields:
                name = key if isinstance(key, str) else shown(key)
                yield Problem(
                    _within(where, name), "there is no such field", f"Take it out, or write it right; valid: {', '.join(self.fields)}.{_near(key, self.fields)}"
                )
        for name, part in self.fields.items():
            if name in value:
                yield from part.spec.check(value[name], _within(where, name))
            elif part.required:
                yield Problem(_within(where, name), "it is missing", f"It is {part.about}: {part.spec.words}.")


def _within(where: str, name: str) -> str:
    return f"{where}.{name}" if where else name


def _near(value: Any, names: Any) -> str:
    found = difflib.get_close_matches(value[:80], list(names), 1) if isinstance(value, str) else []
    return f" Do you mean {found[0]}?" if found else ""
