"""What an object is called, from its shape, its sides and its colour; the kinds are in ``config/objects.yaml``."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from math import exp, log
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from deskhand.errors import DeskhandError
from deskhand.geometry import Array
from deskhand.perception.naming_settings import KINDS
from deskhand.types import NameCandidate
from deskhand.types.resources import resource_path
from deskhand.types.yaml_file import read_yaml

CONTAINERS = frozenset({"bin", "tray", "box_open"})
"""Kinds that objects are put into; only geometry can say whether there is room for them."""
UNKNOWN = "object"
"""The label of what no kind fits."""
PLAIN = frozenset({UNKNOWN, "box", "cylinder", "ball", "long object"})
"""Words of :func:`shape_word`: they say nothing of what it is for."""
GEOMETRY = "geometry"
SHAPES = ("box", "cylinder", "sphere", "other")
Range = tuple[float, float]
_ANY: Range = (0.004, 1.0)
_FIVE = np.ones(5)
_SIDES_ONLY = np.array([1.0, 1.0, 1.0, 0.0, 0.0])  # of three sides and two ratios
_SIDES = ("long", "middle", "short")
_FIELDS = {"shape", "hollow", "plain", *_SIDES, "height", "ratio", "flatness", "colors", "unusual_color", *(f"usual_{name}" for name in (*_SIDES, "ratio"))}


@dataclass(frozen=True)
class Form:
    """One way a kind of object may look; lengths [m]."""

    kind: str
    shapes: tuple[str, ...]
    hollow: bool
    sides: tuple[Range, Range, Range]
    height: Range | None
    ratio: Range | None
    flatness: Range | None
    colors: tuple[str, ...]
    unusual_color: float
    usual: tuple[Range, Range, Range] | None
    usual_ratio: Range | None
    plain: bool = False


@dataclass(frozen=True)
class Appearance:
    """What an object shows; ``size`` (3,) [m] with z its height; ``cut``: partly hidden, so that its sides are at least these; ``roomy``: hollow, and wide
    enough for objects to be put in; ``felt`` [m]: how wide it was between the fingers, 0 when nobody has held it; ``printed``: it has many colours;
    ``error``: how far its surface is from that of its shape, over the noise of the depth.
    """

    shape: str
    size: Array
    color: str
    hollow: bool = False
    cut: bool = False
    roomy: bool = False
    felt: float = 0.0
    printed: bool = False
    error: float = 0.0


@dataclass(frozen=True)
class Classifier:
    """Compares an appearance with every form; ``known``: share of the objects that look like one of the kinds and are of one of them; ``others``: forms of
    kinds that only detectors name.
    """

    forms: tuple[Form, ...]
    margin: float
    absolute_margin: float
    smallest_fit: float
    known: float = 1.0
    others: tuple[Form, ...] = ()

    @cached_property
    def _closed(self) -> dict[tuple[str, bool], tuple[Array, Array, Array]]:
        return {(shape, hidden): _spans(self.forms, shape, hidden) for shape in SHAPES for hidden in (False, True)}

    def named(self, seen: Appearance) -> tuple[str, float, tuple[NameCandidate, ...]]:
        """Label, how sure it is 0..1, and all candidates; the label is ``UNKNOWN`` when no kind fits, though its shape has a word."""
        names, fits = self._told(seen)
        return (names[0].name, names[0].probability, names) if fits and " " not in names[0].name else (UNKNOWN, KINDS.no_kind, names)

    def label(self, seen: Appearance) -> tuple[str, float]:
        """Kind and how sure it is 0..1; ``UNKNOWN`` when no form fits."""
        label, sure, _ = self.named(seen)
        return label, sure

    def candidates(self, seen: Appearance) -> tuple[NameCandidate, ...]:
        """What it may be called; the probabilities sum to 1 at most, the less the worse the kinds fit.

        Of what has a shape like these kinds, only a share of :attr:`known` is of one of them, and none of what its shape does not explain; what is left goes
        to the plain word for the shape. Likeliest
        first, but for the likeliest kind, which says more than the word: it goes before that while it is at least :attr:`KindSettings.worth` times as likely.
        """
        return self._told(seen)[0]

    def _told(self, seen: Appearance) -> tuple[tuple[NameCandidate, ...], bool]:
        """All candidates, and whether a kind fits."""
        fits: dict[str, float] = {}
        scores: dict[str, float] = {}
        for form in self.forms:
            if (fit := self._fit(form, seen)) > 0:
                scores[form.kind] = max(scores.get(form.kind, 0.0), fit / _vagueness(form))
                fits[form.kind] = max(fits.get(form.kind, 0.0), fit)
        if max(fits.values(), default=0.0) < self.smallest_fit:
            scores = {}
        word = "" if seen.hollow else shape_word(seen)
        known, total = (self.known if word else 1.0) * _explained(seen.error), sum(scores.values())
        shares = {kind: known * float(min(1.0, fits[kind]) * score / total) for kind, score in scores.items()}
        if word:
            sure = KINDS.shape_sure if seen.error < KINDS.shapeless else KINDS.shapeless_sure
            shares[word] = shares.get(word, 0.0) + sure * (1.0 - sum(shares.values()))
        order = sorted(shares, key=lambda name: -shares[name])
        best = min(scores, key=lambda kind: (fits[kind] < self.smallest_fit, -scores[kind]), default="")
        if best and shares[best] >= KINDS.worth * shares[order[0]]:
            order = [best, *(name for name in order if name != best)]
        return tuple(NameCandidate(name, shares[name], GEOMETRY) for name in order if shares[name] >= KINDS.least_share or name == order[0]), bool(
            best
        ) and known > 0

    def may_be(self, kind: str, width: float) -> bool:
        """Whether objects of this kind may be ``width`` [m] between the fingers; True for kinds of which nothing is known."""
        forms = [form for form in self.forms if form.kind == kind]
        return not forms or any(_feels(form, width) for form in forms)

    def allows(self, kind: str, shape: str, size: Array, hidden: bool = False) -> float:
        """0..1 how well what somebody calls ``kind`` fits a shape and sides (3,) [m]; 1 for kinds of which nothing is known. Whether it is hollow is not asked.
        ``hidden``: a part of it is not seen.
        """
        sides = sorted(map(float, size), reverse=True)
        best, known = 0.0, False
        for form in (*self.forms, *self.others):
            if form.kind == kind:
                known, fit = True, 1.0 if shape in form.shapes else KINDS.other_shape
                for value, span in zip(sides, form.sides, strict=True):
                    fit *= self._within(value, span, hidden)
                if form.ratio is not None:
                    fit *= self._within(sides[0] / max(1e-6, sides[2]), form.ratio, hidden, absolute=0.0)
                if form.flatness is not None:
                    fit *= self._within(sides[1] / max(1e-6, sides[2]), form.flatness, hidden, absolute=0.0)
                best = max(best, fit)
        return best if known else 1.0

    def usual(self, shape: str, sizes: Array, hidden: bool = False) -> Array:
        """How well closed objects of this shape and these sizes (N, 3) [m] fit the kinds there are (N,); for comparing sizes with each other.

        ``hidden``: one of the sides is not seen, so that it says something that the others are equal.
        """
        low, high, share = self._closed[shape, hidden]
        if not len(share):
            return np.zeros(len(sizes))
        values = np.empty((len(sizes), 1, 5))
        sides = values[:, 0, 2::-1]
        sides[:] = sizes
        sides.sort(axis=1)
        np.divide(sides[:, :0:-1], np.maximum(sides[:, :1], 1e-6), out=values[:, 0, 3:])
        beyond = values - np.minimum(np.maximum(values, low), high)
        beyond /= self.margin * values + self.absolute_margin * _SIDES_ONLY
        beyond *= beyond
        return np.asarray((share * np.exp(-(beyond @ _FIVE))).max(axis=1))

    def _fit(self, form: Form, seen: Appearance) -> float:
        if form.hollow != seen.hollow and not (seen.cut and form.hollow and not seen.hollow):
            return 0.0
        if seen.felt and not _feels(form, seen.felt):
            return 0.0
        if form.kind in CONTAINERS and not seen.roomy and (seen.hollow or seen.size.max() < form.sides[0][0]):
            return 0.0
        fit = 1.0 if form.hollow == seen.hollow else 0.3
        if seen.shape not in form.shapes:
            if seen.shape == "sphere" or (seen.shape != "other" and not seen.cut):
                return 0.0
            fit *= 0.4
        sides = sorted(map(float, seen.size), reverse=True)
        for value, span in zip(sides, form.sides, strict=True):
            fit *= self._within(value, span, seen.cut)
        if form.height is not None:
            fit *= self._within(float(seen.size[2]), form.height, False)
        if form.ratio is not None:
            ratio = sides[0] / max(1e-6, sides[2])
            fit *= self._within(ratio, form.ratio, seen.cut, absolute=0.0)
        if form.flatness is not None:
            fit *= self._within(sides[1] / max(1e-6, sides[2]), form.flatness, False, absolute=0.0)
        if form.colors and seen.color not in form.colors:
            fit *= form.unusual_color
        if form.plain and seen.printed:
            fit *= KINDS.plain_printed
        return fit

    def _within(self, value: float, span: Range, cut: bool, absolute: float | None = None) -> float:
        """1 inside the range, falling off over the margin; a cut object may be larger than it looks."""
        low, high = span
        soft = self.margin * value + (self.absolute_margin if absolute is None else absolute)
        if value < low:
            return max(0.6, exp(-(((low - value) / soft) ** 2))) if cut else exp(-(((low - value) / soft) ** 2))
        return exp(-(((value - high) / soft) ** 2)) if value > high else 1.0


def shape_word(seen: Appearance) -> str:
    """``long object``, ``box``, ``cylinder`` or ``ball``; empty for what has no simple shape."""
    long, middle, _ = sorted(map(float, seen.size), reverse=True)
    if long > KINDS.long * middle:
        return "long object"
    return {"box": "box", "cylinder": "cylinder", "sphere": "ball"}.get(seen.shape, "")


def _explained(error: float) -> float:
    """0..1 how far a shape that is off by ``error``, over the noise of the depth, tells what the object is."""
    first, last = KINDS.off
    return float(np.clip((last - error) / (last - first), 0.0, 1.0))


def _feels(form: Form, width: float) -> bool:
    """Whether a side is ``width`` [m]; of something hollow that may be its wall."""
    return form.hollow or any(low - KINDS.touch < width < high + KINDS.touch for low, high in form.sides)


def _spans(forms: tuple[Form, ...], shape: str, hidden: bool) -> tuple[Array, Array, Array]:
    """Of the closed forms of a shape low and high (F, 5) of the sides, their ratio and flatness, may be and usually are, and how much each says (F,)."""
    low, high, share = [], [], []
    for form in forms:
        if form.hollow or shape not in form.shapes:
            continue
        ways = [(form.sides, form.ratio, KINDS.unusual if form.usual else 1.0, KINDS.soft)]
        ways += [(form.usual, form.ratio, 1.0, KINDS.soft)] if form.usual else []
        ways += [(form.usual or form.sides, form.usual_ratio, 1.0, KINDS.equal)] if hidden and form.usual_ratio else []
        for sides, ratio, weight, soft in ways:
            spans = (*sides, ratio or (0.0, np.inf), form.flatness or (0.0, np.inf))
            low.append([span[0] for span in spans])
            high.append([span[1] for span in spans])
            share.append(weight / _vagueness(replace(form, sides=sides, ratio=ratio), soft))
    return np.array(low), np.array(high), np.array(share)


@lru_cache(maxsize=256)
def _vagueness(form: Form, soft: float = KINDS.soft) -> float:
    """How much a form allows: the product of its ranges' widths on a log scale; ``soft`` is added to that of its ratio."""
    spans = [*form.sides]
    width = 1.0
    for low, high in spans:
        width *= log(high / low) + KINDS.soft
    if form.height is not None:
        width *= (log(form.height[1] / form.height[0]) + KINDS.soft) / (log(_ANY[1] / _ANY[0]))
    if form.ratio is not None:
        width *= min(1.0, (log(form.ratio[1] / form.ratio[0]) + soft) / 1.5)
    return float(width**0.5)


def load_classifier(file: str | Path | None = None) -> Classifier:
    """The kinds of ``file``, default ``config/objects.yaml``.

    Raises:
        DeskhandError: ``config_error`` naming what is wrong in the file.
    """
    path = Path(file) if file else resource_path("config/objects.yaml")
    try:
        return _classifier(path, path.stat().st_mtime_ns)
    except OSError as error:
        raise DeskhandError("config_error", f"{path} is not a valid list of kinds: {error!r}.", hint="See the head of config/objects.yaml.") from error


@lru_cache(maxsize=8)
def _classifier(path: Path, changed: int) -> Classifier:
    """The kinds of a file as it was ``changed`` [ns]; reading YAML takes longer than a look."""
    try:
        data = read_yaml(path)
        default = float(data["unusual_color"])
        forms = tuple(_form(kind, entry, default) for kind, entries in data["kinds"].items() for entry in entries)
        others = tuple(_form(kind, entry, default) for kind, entries in (data.get("others") or {}).items() for entry in entries)
        margins = float(data["margin"]), float(data["absolute_margin"]), float(data["smallest_fit"])
        return Classifier(forms, *margins, float(data.get("known", 1.0)), others)
    except (yaml.YAMLError, KeyError, TypeError, ValueError, AttributeError) as error:
        raise DeskhandError("config_error", f"{path} is not a valid list of kinds: {error!r}.", hint="See the head of config/objects.yaml.") from error


def _form(kind: str, entry: dict[str, Any], unusual_color: float) -> Form:
    unknown = set(entry) - _FIELDS
    if unknown:
        raise ValueError(f"kind {kind}: unknown fields {sorted(unknown)}; valid: {sorted(_FIELDS)}")
    shapes = tuple(entry.get("shape", SHAPES))
    if not set(shapes) <= set(SHAPES):
        raise ValueError(f"kind {kind}: shape must be of {SHAPES}, got {shapes}")
    sides = tuple(_range(kind, entry, name) or _ANY for name in _SIDES)
    usual = tuple(_range(kind, entry, f"usual_{name}") or side for name, side in zip(_SIDES, sides, strict=True))
    return Form(
        kind,
        shapes,
        bool(entry.get("hollow", False)),
        (sides[0], sides[1], sides[2]),
        _range(kind, entry, "height"),
        _range(kind, entry, "ratio"),
        _range(kind, entry, "flatness"),
        tuple(entry.get("colors", ())),
        float(entry.get("unusual_color", unusual_color)),
        (usual[0], usual[1], usual[2]) if usual != sides else None,
        _range(kind, entry, "usual_ratio"),
        bool(entry.get("plain", False)),
    )


def _range(kind: str, entry: dict[str, Any], name: str) -> Range | None:
    if name not in entry:
        return None
    low, high = map(float, entry[name])
    if not (np.isfinite([low, high]).all() and 0 < low < high):
        raise ValueError(f"kind {kind}: {name} must be [low, high] with 0 < low < high, got {entry[name]}")
    return low, high
