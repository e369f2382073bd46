"""What the agent's loop itself costs a decision: CPU time outside of model and tools, and the size of the prompt; on desks without physics.

The offline brain decides, but is held to the user's words like any language model, and to safety rules; so this also tells whether sound decisions are refused.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np

from deskhand.agent.loop import AgentLoop
from deskhand.agent.records import TaskOutcome
from deskhand.bench.brains.desk import light_session, real_tools
from deskhand.bench.brains.scenes import make_scene
from deskhand.errors import DeskhandError
from deskhand.llm.base import Message, Reply
from deskhand.offline.model import OfflineModel
from deskhand.trials.campaigns.campaign import Campaign, Case

RULES = ("do not touch the phone", "never lift anything over the person", "after picking the knife always go home", "pick something at most 12 times")
BAR = 20.0
"""[ms] of CPU time a decision may take in the loop."""


class Stranger:
    """The offline brain as a model that nobody trusts; keeps the size of what it was shown."""

    name, context_tokens = "offline, not trusted", 0

    def __init__(self) -> None:
        self._brain = OfflineModel()
        self.prompts: list[int] = []

    def reply(self, messages: Sequence[Message], tools: Sequence[Mapping[str, Any]], schema: Mapping[str, Any] | None = None) -> Reply:
        """See ChatModel."""
        cards = sum(len(str(card["input_schema"])) + len(str(card["summary"])) for card in tools)
        self.prompts.append(cards + sum(len(message.content) for message in messages))
        return self._brain.reply(messages, tools, schema)


def loop_campaign(episodes: int, seed: int) -> Campaign:
    """A task for each seed."""
    cases = [Case(f"seed_{number}", {"seed": number}) for number in range(seed, seed + episodes)]
    return Campaign("bench loop", {"episodes": episodes, "seed": seed}, cases, run_one, summarise)


_tools = cache(real_tools)
"""They serve all tasks of a process."""


def run_one(case: Case) -> dict[str, Any]:
    """One task: ``{"right", "refused", "overheads_ms": [a decision], "prompts": [characters]}``.

    Raises:
        DeskhandError: ``config_error`` of the agent.
    """
    desk, wanted = make_scene(case.arguments["seed"])
    model = Stranger()
    with light_session(desk, _tools()) as session:
        outcome = AgentLoop(model, session, rules=RULES).run(wanted.instruction)
    if outcome.code == "config_error":
        raise DeskhandError(outcome.code, outcome.summary)
    overheads = [1000 * step.overhead for step in outcome.steps if step.overhead]
    return {"right": outcome.success == wanted.holds(desk), "refused": _refused(outcome), "overheads_ms": overheads, "prompts": model.prompts}


def summarise(_settings: Mapping[str, Any], results: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """``{"episodes", "decisions", "overhead_ms": {"mean", "p95", "max"}, "prompt_chars": {"mean", "max"}, "right", "refused", "good"}``.

    ``right``: the goal holds at the end, or the task could not be done and was not called done. ``refused``: decisions that the gate held back.
    """
    overheads, prompts = ([value for result in results for value in result[name]] for name in ("overheads_ms", "prompts"))
    spread = {"mean": round(float(np.mean(overheads)), 2), "p95": round(float(np.percentile(overheads, 95)), 2), "max": round(max(overheads), 2)}
    return {
        "episodes": len(results),
        "decisions": len(overheads),
        "overhead_ms": spread,
        "prompt_chars": {"mean": round(float(np.mean(prompts))), "max": max(prompts)},
        "right": sum(bool(result["right"]) for result in results),
        "refused": sum(result["refused"] for result in results),
        "good": spread["mean"] <= BAR,
    }


def _refused(outcome: TaskOutcome) -> int:
    return sum(step.code == "permission_denied" for step in outcome.steps)
