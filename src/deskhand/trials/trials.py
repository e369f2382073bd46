"""What many trials say together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from deskhand.recording.episode.timeline import PHASES, ROBOT_PHASES
from deskhand.trials.hand_errors import summary

CUT_SHORT = frozenset(("node_unavailable", "timeout", "internal_error", "cancelled", "config_error", "missing_dependency"))
"""Error codes of trials that tell nothing about how well the task is done."""


def ran_to_an_outcome(result: Mapping[str, Any]) -> bool:
    """Whether the robot came to an end by itself, good or bad."""
    return result["success"] or result["error_code"] not in CUT_SHORT


def summarise(task: str, brain: str, mode: str, results: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The JSON of ``deskhand trial``.

    ``{"task", "brain", "mode", "trials": [{"seed", "instruction", "success", "score", "wall_s", "sim_s", "tool_calls", "errors", "error_code", "episode",
    "phases", "robot_phases", "objects", …}], "groups", "success_rate", "mean_score", "mean_wall_s_per_object", "mean_sim_s_per_object", "phases",
    "robot_phases", "error_counts", "skill_calls", "false_claims", "hand", "outcomes", "false_done"}``; ``hand``: see hand_errors.py (in one process
    only); times in seconds, ``phases`` wall clock by perception, grasping, planning, motion, other, ``robot_phases`` the robot's time by
    ``recording.episode.timeline.ROBOT_PHASES``; ``skill_calls`` that were held against ground truth (in one process
    only), ``false_claims`` of them that it denied, ``false_done`` trials that the robot called done and the scorer not.
    """
    count = len(results)
    objects = sum(len(result["objects"]) for result in results)
    phases = {name: round(sum(result["phases"][name] for result in results), 3) for name in PHASES}
    robot = {name: round(sum((result.get("robot_phases") or {}).get(name, 0.0) for result in results), 3) for name in ROBOT_PHASES}
    errors = Counter(code for result in results for code in [*result["errors"], *([result["error_code"]] if result["error_code"] else [])])
    return {
        "task": task,
        "brain": brain,
        "mode": mode,
        "trials": [dict(result) for result in results],
        "groups": {
            name: _rate([result for result in results if result.get("group") == name])
            for name in sorted({str(result.get("group") or "") for result in results} - {""})
        },
        "success_rate": sum(bool(result["success"]) for result in results) / count if count else None,
        "mean_score": sum(result["score"] or 0.0 for result in results) / count if count else None,
        "mean_wall_s_per_object": round(sum(result["wall_s"] for result in results) / objects, 3) if objects else None,
        "mean_sim_s_per_object": round(sum(result["sim_s"] or 0.0 for result in results) / objects, 3) if objects else None,
        "phases": phases,
        "robot_phases": robot,
        "error_counts": dict(errors.most_common()),
        "skill_calls": sum(result.get("skill_calls") or 0 for result in results),
        "false_claims": sum(len(result.get("false_claims") or ()) for result in results),
        "hand": summary(results),
        "outcomes": dict(Counter(str(result.get("outcome", "")) for result in results)),
        "false_done": sum(bool(result.get("false_done")) for result in results),
    }


def _rate(results: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    return {"trials": len(results), "success_rate": sum(bool(result["success"]) for result in results) / len(results)}
