"""What belongs where, and how it is said."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np


class NamedObject(Protocol):
    """What a rule looks at."""

    @property
    def name(self) -> str: ...  # noqa: D102

    @property
    def kind(self) -> str: ...  # noqa: D102


class ColoredObject(NamedObject, Protocol):
    """An object whose colour has a name."""

    @property
    def color(self) -> str: ...  # noqa: D102


@dataclass(frozen=True)
class Rule:
    """``what`` (words without article, in the plural) belongs in the container of kind ``container``; it holds for ``objects`` (names)."""

    what: str
    container: str
    objects: tuple[str, ...]


def make_rules(config: dict[str, Any], random: np.random.Generator, objects: Sequence[ColoredObject], containers: Sequence[str]) -> list[Rule]:
    """One rule a container, in random order, each with at least one object; empty when the objects cannot be told apart in that style."""
    style = str(random.choice(list(config["styles"]), p=list(config["styles"].values())))
    classes = classes_of(config, style, objects)
    if len(classes) < len(containers):
        return []
    names = [str(name) for name in random.permutation(list(classes))]
    order = [str(kind) for kind in random.permutation(list(containers))]
    # Cut the list of classes into one part a container; the first parts are short, as people say "the rest" of the larger one.
    parts: list[list[str]] = []
    for left in range(len(order), 0, -1):
        most = len(names) - left + 1
        size = most if left == 1 else int(random.integers(1, min(most, 3) + 1))
        parts.append(names[:size])
        names = names[size:]
    rules = []
    for kind, part in zip(order, parts, strict=True):
        rules.append(Rule(rule_words(config, style, part), kind, tuple(name for label in part for name in classes[label])))
    return rules


def rule_words(config: dict[str, Any], style: str, labels: Sequence[str]) -> str:
    """What a rule is about, in words: ``blocks, balls and cups``."""
    return listed(_nouns(config, style, labels))


def classes_of(config: dict[str, Any], style: str, objects: Sequence[ColoredObject]) -> dict[str, list[str]]:
    """Names of the objects by what tells them apart in ``style``."""
    member = {kind: group for group, kinds in config["groups"].items() for kind in kinds}
    classes: dict[str, list[str]] = {}
    for item in objects:
        label = {"color": item.color, "kind": item.kind, "group": member.get(item.kind, item.kind)}[style]
        classes.setdefault(label, []).append(item.name)
    return classes


def _nouns(config: dict[str, Any], style: str, labels: Sequence[str]) -> list[str]:
    if style == "color":
        return [f"{listed(sorted(labels))} objects"]
    nouns = []
    for label in labels:
        kinds = config["groups"].get(label)
        # A group's name is explained by its kinds: what counts as a toy is a matter of taste.
        nouns.append(f"{label} ({listed([plural(config, kind) for kind in kinds])})" if kinds else plural(config, label))
    return nouns


def plural(config: dict[str, Any], kind: str) -> str:
    """``boxes`` for ``box``."""
    return str(config["plurals"].get(kind, f"{kind}s"))


def listed(words: Sequence[str]) -> str:
    """``a, b and c``."""
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def container_name(kind: str, objects: Sequence[NamedObject]) -> str:
    """What a container is called: ``box`` unless boxes lie on the desk, then ``open box``."""
    if kind != "box_open":
        return kind
    return "open box" if any(item.kind == "box" for item in objects) else "box"


def say(config: dict[str, Any], random: np.random.Generator, rules: Sequence[Rule], objects: Sequence[NamedObject]) -> str:
    """The rules in one of the wordings."""
    wording = config["wordings"][int(random.integers(len(config["wordings"])))]
    return phrase(wording, rules, objects)


def phrase(wording: dict[str, str], rules: Sequence[Rule], objects: Sequence[NamedObject]) -> str:
    """The rules in this wording; see ``wordings`` in the task's configuration."""
    clauses = []
    for index, rule in enumerate(rules):
        is_rest = "rest" in wording and index == len(rules) - 1
        clauses.append(wording["rest" if is_rest else "clause"].format(what=rule.what, where=container_name(rule.container, objects)))
    join, last = wording.get("join", ", "), wording.get("last", " and ")
    if ". " in join:
        clauses = [clause[0].upper() + clause[1:] for clause in clauses]
    text = clauses[0] if len(clauses) == 1 else join.join(clauses[:-1]) + last + clauses[-1]
    said = wording["text"].format(rules=text, Rules=text[0].upper() + text[1:])
    return said[0].upper() + said[1:]
