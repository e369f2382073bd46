"""The same seeds without tools, with some groups and with all, some times over."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from deskhand.agent.direct import MODES as DIRECT
from deskhand.agent.offered import NONE, groups_of
from deskhand.bench.gain.classes import failure_of
from deskhand.bench.gain.table import summarise
from deskhand.errors import DeskhandError
from deskhand.etp.card import GROUPS
from deskhand.llm import load_profile
from deskhand.trials.base import TrialOptions
from deskhand.trials.campaign import options_from_json, options_to_json
from deskhand.trials.campaign import run_one as run_trial
from deskhand.trials.campaigns.campaign import Campaign, Case

ALL, EACH, WITHOUT = "all", "each", "without"
CHOICES = (ALL, NONE, *GROUPS, EACH, WITHOUT)
"""Of ``--groups``. ``each``: none, each group alone, all. ``without``: all but one, for each."""


def settings_of(groups: Sequence[str]) -> list[str]:
    """The settings that are measured, each once: ``none``, ``all``, names of groups separated by commas.

    Raises:
        DeskhandError: ``invalid_input`` for what is none of :data:`CHOICES`.
    """
    found: list[str] = []
    for name in groups:
        if name not in CHOICES:
            raise DeskhandError("invalid_input", f"--groups takes no {name!r}; valid: {', '.join(CHOICES)}.")
        if name == EACH:
            found += [NONE, *GROUPS, ALL]
        elif name == WITHOUT:
            found += [",".join(group for group in GROUPS if group != left) for left in GROUPS]
        else:
            found.append(name)
    return list(dict.fromkeys(found))


def options_for(options: TrialOptions, setting: str) -> TrialOptions:
    """A trial in a setting. Without tools a language model acts in direct mode; the offline brain, which has none, gets what moves arm and fingers alone."""
    if setting == NONE and load_profile(options.brain).provider != "offline":
        return replace(options, mode="direct", groups="")
    return replace(options, mode="tools", groups="" if setting == ALL else setting)


def gain_campaign(options: TrialOptions, tasks: Sequence[str], seeds: Sequence[int], settings: Sequence[str], runs: int, folder: Path) -> Campaign:
    """A trial for each task, seed, setting and run; records go into ``folder``."""
    common = replace(options, local=True)
    told = {name: value for name, value in options_to_json(common).items() if name not in ("seed", "task", "mode", "groups")}
    cases = []
    for task in tasks:
        for seed in seeds:
            for setting in settings:
                for run in range(runs):
                    one = options_for(replace(common, task=task, seed=seed), setting)
                    name = f"{task}_{seed}_{setting.replace(',', '+')}_{run}"
                    cases.append(
                        Case(name, {"options": options_to_json(one), "folder": str(folder / name), "only_successes": False, "setting": setting, "run": run})
                    )
    return Campaign("bench gain", told | {"tasks": list(tasks), "settings": list(settings), "runs": runs}, cases, run_item, summarise)


def run_item(case: Case) -> dict[str, Any]:
    """One trial as a row; a failed one with tools has a class."""
    options, folder = options_from_json(case.arguments["options"]), Path(case.arguments["folder"])
    result = run_trial(Case(case.id, {name: case.arguments[name] for name in ("options", "folder", "only_successes")}))
    steps, tokens = steps_of(folder)
    failure, why = "", ""
    if not result["success"] and options.mode not in DIRECT:
        failure, why = failure_of(result, steps, *_acts_and_looks(options.groups))
    return {
        "task": options.task, "seed": options.seed, "setting": case.arguments["setting"], "run": case.arguments["run"], "mode": options.mode,
        "group": result["group"], "success": bool(result["success"]), "score": result["score"], "seconds": result["wall_s"], "sim_s": result["sim_s"],
        "calls": result["tool_calls"], "tokens": tokens, "code": result["error_code"], "false_done": result["false_done"],
        "failure": failure, "why": why, "classes": failures_by_decision(steps), "episode": str(folder),
    }  # fmt: skip


def steps_of(folder: Path) -> tuple[list[dict[str, Any]], int]:
    """All decisions of an episode, over all its instructions, and the tokens that they took."""
    parts = [json.loads(file.read_text()) for file in sorted(folder.glob("agent*.json"))]
    return [step for part in parts for step in part.get("steps") or ()], sum(int(part.get("tokens") or 0) for part in parts)


def failures_by_decision(steps: Sequence[Mapping[str, Any]]) -> dict[str, int]:
    """How often each class of failed decision (agent/records.py) came up."""
    found = [str(step["failure"]) for step in steps if step.get("failure")]
    return {name: found.count(name) for name in dict.fromkeys(found)}


@cache
def _acts_and_looks(groups: str) -> tuple[frozenset[str], frozenset[str]]:
    """Names of the tools that move something, and of those offered that tell what is where."""
    from deskhand.tools.base import load_tools

    cards, offered = load_tools(others=False)[0].cards(), groups_of(groups)
    acts = frozenset(card.name for card in cards if card.effects == "motion")
    return acts, frozenset(card.name for card in cards if card.group == "perception" and "perception" in offered)
