"""Many episodes together: per model, mode and task, how often it worked, what it took, and which failures there were."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from deskhand.agent.records import FAILURES
from deskhand.errors import DeskhandError
from deskhand.trials.campaigns.campaign import names
from deskhand.trials.campaigns.results import read_results
from deskhand.trials.campaigns.statistics import wilson

AGENT, RESULT = "agent.json", "result.json"
WITHOUT_TOOLS = "direct"


def find_episodes(paths: Iterable[Path]) -> list[Path]:
    """Folders of episodes in and below ``paths``, each once.

    Raises:
        DeskhandError: ``invalid_input`` for a path without any.
    """
    found: dict[Path, None] = {}
    for path in paths:
        files = [file for name in (AGENT, RESULT) for file in Path(path).rglob(name)] if Path(path).is_dir() else []
        if not files:
            raise DeskhandError("invalid_input", f"there is no episode in {path}.", hint=f"An episode is a folder with {RESULT} or {AGENT}.")
        found |= dict.fromkeys(sorted(file.parent for file in files))
    return list(found)


def read_row(folder: Path) -> dict[str, Any]:
    """One episode as a row.

    The scorer's word counts where there is one, else the agent's own. ``rescued``: it went well although the loop had to send something back.

    Raises:
        DeskhandError: ``invalid_input`` for a broken file.
    """
    result, agent = _read(folder / RESULT), _read(folder / AGENT)
    steps: list[dict[str, Any]] = agent.get("steps") or []
    success = bool(result.get("success", agent.get("success", False)))
    failures = Counter(step["failure"] for step in steps if step.get("failure"))
    asked = [step for step in steps if step.get("prompt_chars") or step.get("prompt_tokens")]
    return {
        "episode": str(folder),
        "model": str(agent.get("model") or result.get("brain") or ""),
        "mode": str(agent.get("mode") or result.get("mode") or "tools"),
        "task": str(result.get("task") or result.get("scene") or "free instruction"),
        "seed": result.get("seed"),
        "success": success,
        "score": result.get("score"),
        "code": str(result.get("error_code", agent.get("code", ""))),
        "false_done": bool(result.get("false_done")),
        "wall_s": result.get("wall_s", agent.get("seconds")),
        "sim_s": result.get("sim_s"),
        "calls": int(result.get("tool_calls", agent.get("tool_calls", 0)) or 0),
        "steps": len(steps),
        "asked": len(asked),
        "tokens": int(agent.get("tokens") or 0),
        "latency_s": [step["latency"] for step in steps if step.get("latency")],
        "prompt_chars": [step.get("prompt_chars", 0) for step in asked],
        "prompt_tokens": [step.get("prompt_tokens", 0) for step in asked if step.get("prompt_tokens")],
        "overhead_s": [step["overhead"] for step in steps if step.get("overhead")],
        "flags": _flags(steps),
        "failures": dict(failures),
        "repairs": sum(bool(step.get("repairs")) for step in steps),
        "rescued": success and any(failures[name] for name in FAILURES if name != "tool_error"),
    }


def _flags(steps: Sequence[Mapping[str, Any]]) -> dict[str, tuple[int, int]]:
    """(yes, asked) of: was a tool called where one was needed; was the right one chosen; was the call carried out; was its output used."""
    needed = [step for step in steps if step.get("needed", True)]
    called = [step for step in needed if step.get("tool")]
    sound = [step for step in called if step.get("failure") not in ("invalid_call", "wrong_choice", "missed_call")]
    return {
        "need": (len([step for step in called if step.get("failure") != "missed_call"]), len(needed)),
        "selection": (len(sound), len(called)),
        "execution": (sum(bool(step.get("ok")) for step in sound), len(sound)),
        "use": (sum(step.get("used") is True for step in called), sum(step.get("used") is not None for step in called)),
    }


def _read(file: Path) -> dict[str, Any]:
    if not file.is_file():
        return {}
    try:
        data = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise DeskhandError("invalid_input", f"{file} cannot be read: {error}.") from error
    return data if isinstance(data, dict) else {}


def summarise(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """``{"groups": [{"model", "mode", "task", …}], "episodes": rows}``; groups in order, and beside each what the same model does without tools.

    ``success`` has its 95 % interval (Wilson); shares of failure classes are per decision of the model; times in seconds.
    """
    groups: dict[tuple[str, str, str], list[Mapping[str, Any]]] = {}
    for row in rows:
        groups.setdefault((row["model"], row["task"], row["mode"]), []).append(row)
    made = [_group(*key, members) for key, members in sorted(groups.items())]
    bare = {(group["model"], group["task"]): group["success"] for group in made if group["mode"] == WITHOUT_TOOLS}
    for group in made:
        group["success_without_tools"] = bare.get((group["model"], group["task"]))
    return {"groups": made, "episodes": list(rows)}


def _group(model: str, task: str, mode: str, rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    count, good = len(rows), sum(row["success"] for row in rows)
    decisions = sum(row["steps"] for row in rows)
    failures: Counter[str] = sum((Counter(row["failures"]) for row in rows), Counter())
    chars = [value for row in rows for value in row["prompt_chars"]]
    return {
        "model": model,
        "mode": mode,
        "task": task,
        "episodes": count,
        "success": good / count,
        "success_interval": wilson(good, count),
        "mean_score": _mean([row["score"] for row in rows]),
        "mean_wall_s": _mean([row["wall_s"] for row in rows]),
        "mean_sim_s": _mean([row["sim_s"] for row in rows]),
        "mean_calls": _mean([row["calls"] for row in rows]),
        "mean_steps": _mean([row["steps"] for row in rows]),
        "mean_asked": _mean([row["asked"] for row in rows]),
        "mean_tokens": _mean([row["tokens"] for row in rows]),
        "mean_latency_s": _mean([value for row in rows for value in row["latency_s"]]),
        "prompt_chars_mean": _mean(chars),
        "prompt_chars_max": max(chars, default=None),
        "prompt_tokens_mean": _mean([value for row in rows for value in row["prompt_tokens"]]),
        "overhead_ms": _milli(_mean([value for row in rows for value in row["overhead_s"]])),
        **{name: _share(rows, name) for name in ("need", "selection", "execution", "use")},
        "failure_shares": {name: failures[name] / decisions if decisions else 0.0 for name in FAILURES},
        "repaired_calls": sum(row["repairs"] for row in rows),
        "rescued": sum(row["rescued"] for row in rows) / count,
        "false_done": sum(row["false_done"] for row in rows),
        "codes": dict(Counter(row["code"] for row in rows if row["code"]).most_common()),
    }


def _mean(values: Sequence[float | None]) -> float | None:
    known = [float(value) for value in values if value is not None]
    return round(sum(known) / len(known), 4) if known else None


def _milli(value: float | None) -> float | None:
    return None if value is None else round(1000 * value, 3)


def _share(rows: Sequence[Mapping[str, Any]], name: str) -> float | None:
    yes, asked = (sum(row["flags"][name][part] for row in rows) for part in (0, 1))
    return round(yes / asked, 4) if asked else None


def outcomes(path: Path) -> dict[str, bool]:
    """Success by case of a campaign: a file of results (JSON lines) or a folder of such files, the JSON of ``deskhand trial``, or a folder of episodes.

    Cases are the same in two campaigns when they have the same id: ``seed_N`` for a trial.

    Raises:
        DeskhandError: ``invalid_input`` when there is no campaign in ``path``, or its results do not say whether they succeeded.
    """
    path = Path(path)
    if path.suffix == ".jsonl":
        found = read_results(path).results
    elif path.is_dir() and (files := sorted(path.glob("*.jsonl"))):
        found = {name: result for file in files for name, result in read_results(file).results.items()}
    elif path.is_dir():
        found = {_case_id(row): row for row in map(read_row, find_episodes([path]))}
    else:
        found = {_case_id(row): row for row in _read(path).get("trials", ())}
    if not found:
        hint = "Give a file of --results or of --json of deskhand trial, or a folder of episodes."
        raise DeskhandError("invalid_input", f"there are no results of a campaign in {path}.", hint=hint)
    if without := [name for name, result in found.items() if "success" not in result]:
        raise DeskhandError("invalid_input", f"results in {path} do not say whether they succeeded: {names(without)}.")
    return {name: bool(result["success"]) for name, result in found.items()}


def _case_id(row: Mapping[str, Any]) -> str:
    return f"seed_{row['seed']}"
