"""The seeds as a campaign of trials in one process, and what their results mean together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from deskhand.bench.eb.expert import run_expert
from deskhand.bench.eb.items import FAMILIES, chance, tasks_of, truth_of
from deskhand.tasks.eb_manipulation import SUBSETS, EbTask
from deskhand.trials.base import TrialOptions
from deskhand.trials.campaign import options_from_json, options_to_json, run_one
from deskhand.trials.campaigns.campaign import Campaign, Case
from deskhand.trials.campaigns.statistics import wilson

VERSION = 1
EXPERT = "expert"
"""Instead of a brain: knows the truth, acts in the space of direct mode."""
PAPER = {
    "note": "average over subsets, then base, common, complex, visual, spatial; four families (also shape sorter and wipe), a Franka arm, another simulation",
    "GPT-5 without tools": [0.27, 0.21, 0.25, 0.31, 0.22, 0.35],
    "GPT-5 with tools": [0.35, 0.42, 0.27, 0.44, 0.31, 0.31],
    "Claude-3.7 without tools": [0.38, 0.33, 0.38, 0.46, 0.33, 0.38],
    "Claude-3.7 with tools": [0.42, 0.46, 0.44, 0.50, 0.36, 0.33],
    "Qwen3-8B without tools": [0.19, 0.15, 0.15, 0.25, 0.06, 0.31],
    "Qwen3-8B with tools": [0.27, 0.29, 0.35, 0.31, 0.19, 0.19],
}


def eb_campaign(options: TrialOptions, tasks: Sequence[EbTask], split: str, seeds: Sequence[int], folder: Path) -> Campaign:
    """A trial for each family and seed; records go into ``folder``."""
    common = replace(options, local=True)
    settings = {name: value for name, value in options_to_json(common).items() if name not in ("seed", "task")}
    settings |= {"split": split, "seed": seeds[0], "families": [task.family for task in tasks]}
    cases = []
    for task in tasks:
        for seed in seeds:
            name = f"{task.name}_{seed}"
            arguments = {"options": options_to_json(replace(common, task=task.name, seed=seed)), "folder": str(folder / name), "only_successes": False}
            cases.append(Case(name, arguments))
    return Campaign("bench eb", settings, cases, run_item, summarise_items)


def run_item(case: Case) -> dict[str, Any]:
    """One trial as an item; ``success`` as of the trial."""
    options = options_from_json(case.arguments["options"])
    (task,) = tasks_of([options.task.removeprefix("eb_")], options.arm)
    setting = task.setting(options.seed)
    about = {"id": case.id, "kind": setting.family, "group": setting.subset, "seed": options.seed, "say": setting.instruction}
    about |= {"truth": truth_of(setting), "chance": chance(setting)}
    if options.brain == EXPERT:
        began = perf_counter()
        done = run_expert(task, options.seed, Path(case.arguments["folder"]), options.reality)
        found = {"answer": "", "right": done["success"], "success": done["success"], "score": done["score"], "problems": done["problems"]}
        found |= {"said_done": False, "false_done": False, "wall_s": perf_counter() - began, "sim_s": None, "calls": done["calls"], "codes": done["codes"]}
        return about | found | {"tokens": 0, "skill_calls": 0, "false_claims": []}
    result = run_one(case)
    return about | {
        "answer": result["summary"], "right": result["success"], "success": result["success"], "score": result["score"], "problems": result["problems"],
        "said_done": result["outcome"] == "done" if "outcome" in result else not result["error_code"], "false_done": result["false_done"],
        "wall_s": result["wall_s"], "sim_s": result["sim_s"], "calls": result["tool_calls"], "codes": list(result["errors"]), "tokens": 0,
        "skill_calls": result["skill_calls"], "false_claims": result["false_claims"],
    }  # fmt: skip


def summarise_items(settings: Mapping[str, Any], results: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """What the command writes as JSON."""
    items = list(results)
    kinds = {family: [item for item in items if item["kind"] == family] for family in FAMILIES}
    groups = {subset: [item for item in items if item["group"] == subset] for subset in SUBSETS}
    return {
        "bench": "eb", "version": VERSION, "split": settings["split"], "seed": settings["seed"], "brain": settings["brain"], "mode": settings["mode"],
        "runs": 1, "arm": settings["arm"], "reality": settings["reality"], "images": settings.get("images"), "items": items,
        "metrics": metrics(items),
        "by": {name: metrics(found) for name, found in {**kinds, **groups}.items() if found},
        "baselines": {"a random choice": {"right": {"value": float(np.mean([item["chance"] for item in items] or [0.0]))}}},
        "paper": PAPER,
        "codes": dict(Counter(code for item in items for code in item["codes"])),
    }  # fmt: skip


def metrics(items: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Shares with their Wilson intervals, and means."""
    right = sum(bool(item["right"]) for item in items)
    scores = [float(item["score"]) for item in items] or [0.0]
    return {
        "items": len(items),
        "right": {"value": right / max(1, len(items)), "count": right, "interval": list(wilson(right, len(items))), "std": float(np.std(scores))},
        "said_done": sum(bool(item["said_done"]) for item in items),
        "false_done": sum(bool(item["false_done"]) for item in items),
        "skill_calls": sum(item["skill_calls"] or 0 for item in items),
        "false_claims": sum(len(item["false_claims"] or ()) for item in items),
        "calls": {"value": float(np.mean([item["calls"] for item in items] or [0.0]))},
        "wall_s": {"value": float(np.mean([item["wall_s"] for item in items] or [0.0]))},
    }


def markdown(summaries: Sequence[Mapping[str, Any]]) -> str:
    """A line for each result, one for each of its families and subsets, one for guessing, and the paper's best average."""
    columns = ("", "items", "right", "share", "95 % interval", "false done", "skill reports", "false", "calls")
    lines = ["| " + " | ".join(columns) + " |", "|" + "---|" * len(columns)]
    for result in summaries:
        lines.append(_line(f"{result['brain']}, {result['mode']}, {result['split']}", result["metrics"]))
        lines += [_line(f"– {name}", row) for name, row in result["by"].items()]
        guess = result["baselines"]["a random choice"]["right"]["value"]
        lines.append(f"| – a random choice | | | {guess:.2f} |" + " |" * (len(columns) - 4))
    best = max((values[0], name) for name, values in PAPER.items() if name != "note")
    lines.append(f"| the paper's best average: {best[1]} | | | {best[0]:.2f} |" + " |" * (len(columns) - 4))
    return "\n".join(lines)


def _line(name: str, row: Mapping[str, Any]) -> str:
    low, high = row["right"]["interval"]
    cells = [name, row["items"], row["right"]["count"], f"{row['right']['value']:.2f}", f"{low:.2f} to {high:.2f}", row["false_done"], row["skill_calls"]]
    return "| " + " | ".join(str(cell) for cell in [*cells, row["false_claims"], f"{row['calls']['value']:.1f}"]) + " |"
