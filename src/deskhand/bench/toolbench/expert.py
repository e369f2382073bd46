"""What the experts share: words, facts about a desk, steps."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from deskhand.bench.toolbench.play import Arguments, Play, Step
from deskhand.bench.tools.drawing import Random
from deskhand.geometry import Array
from deskhand.types.yaml_file import read_yaml

CLEANING, BUILDING, QUESTIONS, MANIPULATION = "desk_cleaning", "block_building", "desk_questions", "eb_manipulation"
ENVIRONMENTS = (CLEANING, BUILDING, QUESTIONS, MANIPULATION)
WORDS = {"red": "red block", "green": "green block", "blue": "blue block", "can": "can", "box": "orange box", "cup": "cup", "bin": "bin"}
ALIKE = {"high": "blue block", "low": "red block", "left": "red block", "right": "red block", "small": "blue block", "third": "green block"}
"""Words for objects of other desks."""
BLOCKS = ("red", "green", "blue")
LOOK = Step("detect_objects")
SIDES = ("left", "right")
WORDINGS = ("dev", "earlier", "heldout")
"""The sets of words there are; see wordings.yaml."""
DEV_SEEDS = 1000
"""Seeds below are for development; results are told of others, whose words are others too."""


def facts(target: str, other: str = "", place: Callable[[Play], Array] | None = None) -> Arguments:
    """Values for arguments of other tools that could be tried: ids and words of a target and another object, and a place."""

    def made(play: Play) -> dict[str, Any]:
        truth = play.desk.truth(target)
        where = truth.pose[:3, 3] if place is None else np.append(place(play), truth.pose[2, 3])[:3]
        x, y, z = where.round(4).tolist()
        words = WORDS.get(target) or ALIKE.get(target, target)
        found: dict[str, Any] = {"words": words, "phrase": words, "text": words, "label": "", "what": words, "phrases": [words], "target": words}
        found |= {"point": [x, y, z], "position": [x, y, z], "near": [x, y, z], "points": [[x, y, z]], "x": x, "y": y, "waypoints": [[x, y, z]]}
        found |= {"question": play.case.say, "instruction": play.case.say, "direction": 1.57, "distance": 0.05, "quantity": "distance", "side": "left_of"}
        found |= {
            "color": target if target in BLOCKS else "orange",
            "low": [x - 0.05, y - 0.05, 0.0],
            "high": [x + 0.05, y + 0.05, 0.15],
            "length": 0.1,
            "width": 0.05,
        }
        found |= {"relation": "near", "state": "scene_known", "answer": play.case.say, "act": "picked", "goals": [], "conditions": []}
        if target in play.ids:
            found |= {"object_id": play.ids[target], "removed": [play.ids[target]], "object_ids": [play.ids[target]]}
            found |= {"target_id": play.ids.get(other, play.ids[target]), "target": play.ids[target]}
        if other in play.ids:
            found |= {"others": [play.ids[other]], "container_id": play.ids[other], "object_ids": [play.ids.get(target, play.ids[other]), play.ids[other]]}
        for turn in play.turns:
            for name, value in turn.result.data.items() if turn.result.ok else ():
                if isinstance(value, dict) and "uri" in value:
                    found |= {f"{name}_uri": value["uri"], name: value["uri"]}
                elif name.endswith("plan_id"):
                    found |= {"plan_id": value}
        return found

    return made


def id_argument(name: str, target: str) -> Arguments:
    """One argument, the id of an object."""
    return lambda play: {name: play.id_of(target)}


def two(random: Random, names: tuple[str, ...]) -> tuple[str, str]:
    """Two different ones."""
    first, second = random.permutation(len(names))[:2]
    return names[first], names[second]


def said(random: Random, words: str, kind: str, **values: object) -> str:
    """One of the wordings for a kind of sub-goal, of the set ``words``, or of ``heldout`` where it has none; what is drawn next is the same in all sets."""
    sets = _wordings()[kind]
    chosen = int(random.integers(len(sets["dev"])))
    if words != "dev":
        wordings = sets.get(words, sets["heldout"])
        chosen = int(random.bit_generator.state["state"]["state"]) % len(wordings)
        return wordings[chosen].format(**values)
    return sets["dev"][chosen].format(**values)


def words_for(seed: int) -> str:
    """The set of words of a seed: below DEV_SEEDS ``dev``, then ``heldout``."""
    return "dev" if seed < DEV_SEEDS else "heldout"


def one_of(random: Random, *words: str) -> str:
    """One of them."""
    return words[int(random.integers(len(words)))]


@cache
def _wordings() -> dict[str, dict[str, list[str]]]:
    found: dict[str, dict[str, list[str]]] = read_yaml(Path(__file__).parent / "wordings.yaml")
    return found
