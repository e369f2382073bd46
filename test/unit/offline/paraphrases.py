"""Runs the sentences of paraphrases.yaml on a desk of symbols and says what came of each."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml
from test_understanding import office

from deskhand.agent.loop import AgentLoop
from deskhand.agent.records import TaskOutcome
from deskhand.offline.model import OfflineModel
from deskhand.testing.symbolic_desk import SymbolicDesk

CASES: dict[str, list[dict[str, Any]]] = yaml.safe_load((Path(__file__).parent / "paraphrases.yaml").read_text())
CONTAINERS = ("bin_1", "tray_1", "box_open_1")
GROUPS = {"blocks": "block_", "balls": "ball_", "all": ""}
RIGHT, REFUSED, ASKED, WRONG = "right", "refused", "asked", "silently wrong"


def classify(case: Mapping[str, Any]) -> tuple[str, TaskOutcome]:
    """What the offline brain makes of a sentence: right, refused, asked, or silently wrong; half a deed is wrong too."""
    desk = office()
    start = {name: (item["support"], tuple(item["position"])) for name, item in desk.objects.items()}
    outcome = AgentLoop(OfflineModel(), desk).run(case["say"])
    moved = {name for name, item in desk.objects.items() if (item["support"], tuple(item["position"])) != start[name]}
    if not moved and not outcome.success:
        return (ASKED if outcome.code == "no_answer" else REFUSED), outcome
    right = any(_is(desk, want, moved - set(case.get("moves", ()))) for want in case["want"]) and set(case.get("moves", ())) <= moved
    said = all(word in outcome.summary for word in case.get("says", ()))
    return (RIGHT if outcome.success and right and said else WRONG), outcome


def _is(desk: SymbolicDesk, want: Mapping[str, str], moved: set[str]) -> bool:
    expected = {name: place for place, text in want.items() for name in _named(text, desk)}
    supports = {name: item["support"] for name, item in desk.objects.items()}
    found = all(
        supports[name] in CONTAINERS if place == "somewhere" else supports[name] == ("gripper" if place == "hand" else place)
        for name, place in expected.items()
    )
    return found and moved == set(expected)


def _named(text: str, desk: SymbolicDesk) -> set[str]:
    names: set[str] = set()
    for word in text.split():
        known = {name for name in desk.where() if name == word.lstrip("-") or (word.lstrip("-") in GROUPS and name.startswith(GROUPS[word.lstrip("-")]))}
        names = names - known if word.startswith("-") else names | known
    return names
