"""Why an episode failed, by the robot's own record and the truth: one class each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

CLASSES = ("words", "fixture", "segmentation", "name", "grasp", "motion", "placing", "other")
WORDS = ("not_understood", "empty_instruction", "no_answer")
FIXTURES = ("open", "close", "turnon", "turnoff", "up")  # conditions about drawers, doors and knobs
UNSEEN = 0.5  # overlap of an object with what perception has there, below which it counts as not found
MOVED = 0.03  # [m] from where it was
OF_CODE = {
    "grasp": ("grasp_failed", "no_grasp", "object_lost", "gripper_failed", "not_holding", "already_holding"),
    "placing": ("place_failed", "no_free_space"),
    "motion": (
        "no_ik_solution", "start_in_collision", "goal_in_collision", "planning_failed", "path_incomplete", "limits_violated", "envelope_violated",
        "tracking_error", "stalled", "controller_failed", "contact", "safety_stop",
    ),
}  # fmt: skip


def failure_class(record: Mapping[str, Any]) -> str:
    """One of :data:`CLASSES` for the record of an episode that was not done."""
    goal, word = record["truth"]["goal"], record["robots_word"]
    if word["code"] in WORDS or (word["code"] == "impossible" and not record["tool_calls"]):
        return "words"
    if any(condition[0].lower() in FIXTURES for condition in goal):
        return "fixture"
    target = goal[0][1] if goal else ""
    seen = record["seen"].get(target, {})
    if seen and seen["overlap"] < UNSEEN:
        return "segmentation"
    moved = [name for name in record["truth"]["after"] if _moved(record["truth"], name)]
    named = seen.get("label", "").replace(" ", "_")
    if target and target not in moved and ((named and named != kind_of(target)) or word["code"] == "unknown_object" or (moved and named != kind_of(target))):
        return "name"
    failed = [call["code"] for call in record["tool_calls"] if call["code"]]
    for code in (word["code"], *reversed(failed)):
        for name, codes in OF_CODE.items():
            if code in codes:
                return name
    return "placing" if target in moved else "other"


def kind_of(name: str) -> str:
    """``alphabet_soup_1`` -> ``alphabet_soup``."""
    return name.rsplit("_", 1)[0] if name.rsplit("_", 1)[-1].isdigit() else name


def _moved(truth: Mapping[str, Any], name: str) -> bool:
    then, now = (np.asarray(truth[when][name])[:3, 3] for when in ("before", "after"))
    return bool(np.linalg.norm(now - then) > MOVED)
