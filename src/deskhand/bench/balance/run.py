"""The seeds as a campaign of trials in one process, and what their results mean together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from deskhand.bench.balance.items import chance, truth_of
from deskhand.tasks.balance_scale import MASSES, VARIANTS, BalanceScale
from deskhand.trials.base import TrialOptions
from deskhand.trials.campaign import options_from_json, options_to_json, run_one
from deskhand.trials.campaigns.campaign import Campaign, Case
from deskhand.trials.campaigns.statistics import wilson

VERSION = 1
PAPER = {
    "note": "ten trials a model of a task of the same name on a real robot; its protocol is not told, so that these are not to be compared row by row",
    "with tools, of 10": [6, 8, 8, 9, 4, 8, 6, 7],
    "without, of 10": [0, 0, 0, 0, 0, 0, 0, 0],
}


def balance_campaign(options: TrialOptions, split: str, seeds: Sequence[int], folder: Path) -> Campaign:
    """A trial for each seed; records go into ``folder``."""
    common = replace(options, task="balance_scale", local=True)
    settings = {name: value for name, value in options_to_json(common).items() if name != "seed"} | {"split": split, "seed": seeds[0]}
    cases = [
        Case(f"seed_{seed}", {"options": options_to_json(replace(common, seed=seed)), "folder": str(folder / f"seed_{seed}"), "only_successes": False})
        for seed in seeds
    ]
    return Campaign("bench balance", settings, cases, run_item, summarise_items)


def run_item(case: Case) -> dict[str, Any]:
    """One trial as an item; ``success`` as of the trial."""
    result = run_one(case)
    options = options_from_json(case.arguments["options"])
    setting = BalanceScale(options.arm).setting(options.seed)
    return {
        "id": case.id, "kind": setting.variant, "group": "shuffled" if options.seed >= MASSES else "", "seed": options.seed, "say": setting.instruction,
        "truth": truth_of(setting), "answer": result["summary"], "right": result["success"], "success": result["success"], "score": result["score"],
        "said_done": result["outcome"] == "done" if "outcome" in result else not result["error_code"], "false_done": result["false_done"],
        "problems": result["problems"], "wall_s": result["wall_s"], "sim_s": result["sim_s"], "calls": result["tool_calls"], "tokens": 0,
        "codes": list(result["errors"]), "weighings": result["weighings"], "readings": result["readings"], "skill_calls": result["skill_calls"],
        "false_claims": result["false_claims"], "chance": chance(setting.goal),
    }  # fmt: skip


def summarise_items(settings: Mapping[str, Any], results: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """What the command writes as JSON."""
    items = list(results)
    return {
        "bench": "balance", "version": VERSION, "split": settings["split"], "seed": settings["seed"], "brain": settings["brain"], "mode": settings["mode"],
        "runs": 1, "arm": settings["arm"], "reality": settings["reality"], "fault": settings["fault"], "items": items,
        "metrics": metrics(items),
        "by": {variant: metrics(found) for variant in VARIANTS if (found := [item for item in items if item["kind"] == variant])},
        "shuffled": shuffled(items),
        "baselines": {"a random choice": {"right": {"value": float(np.mean([item["chance"] for item in items] or [0.0]))}}},
        "paper": PAPER,
        "codes": dict(Counter(code for item in items for code in item["codes"])),
    }  # fmt: skip


def metrics(items: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Shares with their Wilson intervals; means; what the balance's readings erred by [mm]."""
    right = sum(bool(item["right"]) for item in items)
    errors = [abs(said - true) for item in items for said, true in item["readings"]]
    levels = [true for item in items for said, true in item["readings"] if abs(said) <= 1.0]
    scores = [float(item["score"]) for item in items] or [0.0]
    return {
        "items": len(items),
        "right": {"value": right / max(1, len(items)), "count": right, "interval": list(wilson(right, len(items))), "std": float(np.std(scores))},
        "score": {"value": float(np.mean(scores)), "std": float(np.std(scores))},
        "false_done": sum(bool(item["false_done"]) for item in items),
        "skill_calls": sum(item["skill_calls"] or 0 for item in items),
        "false_claims": sum(len(item["false_claims"]) for item in items),
        "readings": len(errors),
        "reading_error_mm": {"median": _quantile(errors, 0.5), "p95": _quantile(errors, 0.95), "most": _quantile(errors, 1.0)},
        "false_level": sum(abs(true) > 1.5 for true in levels),
        "calls": {"value": float(np.mean([item["calls"] for item in items] or [0.0]))},
        "wall_s": {"value": float(np.mean([item["wall_s"] for item in items] or [0.0]))},
    }


def _quantile(values: Sequence[float], share: float) -> float | None:
    return round(float(np.quantile(values, share)), 3) if values else None


def shuffled(items: Sequence[Mapping[str, Any]]) -> dict[str, int]:
    """Of seeds that were run with their masses handed on as well: how many there are, of how many the answer changed, and was right both times."""
    by = {item["seed"]: item for item in items}
    pairs = [(item, by[seed % MASSES]) for seed, item in by.items() if seed >= MASSES and seed % MASSES in by]
    return {
        "pairs": len(pairs),
        "truth_changed": sum(a["truth"] != b["truth"] for a, b in pairs),
        "both_right": sum(bool(a["right"] and b["right"]) for a, b in pairs),
    }


def markdown(summaries: Sequence[Mapping[str, Any]]) -> str:
    """A line for each result, one for each of its variants, and one for guessing."""
    columns = ("", "items", "right", "95 % interval", "false done", "skill reports", "false", "readings", "error p95 [mm]", "false level")
    lines = ["| " + " | ".join(columns) + " |", "|" + "---|" * len(columns)]
    for result in summaries:
        lines.append(_line(f"{result['brain']}, {result['mode']}, {result['split']}", result["metrics"]))
        lines += [_line(f"– {variant}", row) for variant, row in result["by"].items()]
        guess = result["baselines"]["a random choice"]["right"]["value"]
        lines.append(f"| – a random choice | | {guess:.2f} |" + " |" * (len(columns) - 3))
    return "\n".join(lines)


def _line(name: str, row: Mapping[str, Any]) -> str:
    low, high = row["right"]["interval"]
    error = row["reading_error_mm"]["p95"]
    cells = [name, row["items"], row["right"]["count"], f"{low:.2f} to {high:.2f}", row["false_done"], row["skill_calls"], row["false_claims"], row["readings"]]
    return "| " + " | ".join(str(cell) for cell in [*cells, "" if error is None else error, row["false_level"]]) + " |"
