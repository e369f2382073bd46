"""What the agent's loop itself costs a decision: CPU time outside of model and tools, and the size of the prompt; on desks without physics.

The offline brain decides, but is held to the user's words like any language model, and to safety rules; so this also tells whether sound decisions are refused.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from deskhand.agent.loop import AgentLoop
from deskhand.agent.records import TaskOutcome
from deskhand.bench.brains.desk import light_session, real_tools
from deskhand.bench.brains.scenes import make_scene
from deskhand.errors import DeskhandError
from deskhand.llm.base import Message, Reply
from deskhand.offline.model import OfflineModel

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


def measure(episodes: int, seed: int, told: Callable[[], None] = lambda: None) -> dict[str, Any]:
    """``{"episodes", "decisions", "overhead_ms": {"mean", "p95", "max"}, "prompt_chars": {"mean", "max"}, "tools_shown", "right", "refused", "good"}``.

    ``right``: the goal holds at the end, or the task could not be done and was not called done. ``refused``: decisions that the gate held back.
    """
    tools, overheads, prompts, outcomes, right = real_tools(), [], [], [], 0
    for number in range(seed, seed + episodes):
        desk, wanted = make_scene(number)
        model = Stranger()
        with light_session(desk, tools) as session:
            outcome = AgentLoop(model, session, rules=RULES).run(wanted.instruction)
        right += outcome.success == wanted.holds(desk)
        overheads += [1000 * step.overhead for step in outcome.steps if step.overhead]
        prompts += model.prompts
        if outcome.code == "config_error":
            raise DeskhandError(outcome.code, outcome.summary)
        outcomes.append(outcome)
        told()
    spread = {"mean": round(float(np.mean(overheads)), 2), "p95": round(float(np.percentile(overheads, 95)), 2), "max": round(max(overheads), 2)}
    return {
        "episodes": episodes,
        "decisions": len(overheads),
        "overhead_ms": spread,
        "prompt_chars": {"mean": round(float(np.mean(prompts))), "max": max(prompts)},
        "right": right,
        "refused": sum(_refused(outcome) for outcome in outcomes),
        "good": spread["mean"] <= BAR,
    }


def _refused(outcome: TaskOutcome) -> int:
    return sum(step.code == "permission_denied" for step in outcome.steps)
