"""Many episodes against models that misbehave: does the agent keep its head?"""

from __future__ import annotations

import atexit
import logging
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field
from functools import cache
from typing import Any

import numpy as np

from deskhand.agent.loop import AgentLoop
from deskhand.agent.records import Budgets, TaskOutcome
from deskhand.bench.brains.desk import LightDesk, light_session, real_tools
from deskhand.bench.brains.model_faults import MODEL_FAULTS
from deskhand.bench.brains.scenes import Wanted, make_scene
from deskhand.bench.brains.server import Character, StandIn
from deskhand.errors import ERROR_NUMBERS
from deskhand.etp.approval import Approval
from deskhand.etp.registry import Registry
from deskhand.llm.config import ModelProfile
from deskhand.llm.openai import OpenAIModel
from deskhand.trials.campaigns.campaign import Campaign, Case

SECONDS = 6.0
"""Budget of an episode: wall clock [s]."""
GRACE = 1.5
"""[s] beyond it in which the call that runs may end."""
CALLS = 40
HASTE = 40.0
"""Pauses between requests are shorter by this."""
TIMEOUT = 0.5
"""[s] of one request."""


@dataclass
class Episode:
    """One run and what it must not have done. ``crash`` is an exception that came out of the agent."""

    seed: int
    kind: str
    instruction: str
    code: str = ""
    success: bool = False
    true: bool = False
    possible: bool = True
    crash: str = ""
    unsafe: list[str] = field(default_factory=list)
    overrun: bool = False
    seconds: float = 0.0
    steps: int = 0
    calls: int = 0
    moves: int = 0
    faults: list[str] = field(default_factory=list)
    failures: dict[str, int] = field(default_factory=dict)
    repaired: int = 0
    summary: str = ""

    @property
    def false_done(self) -> bool:
        """Called done, and is not so."""
        return self.success and not self.true

    @property
    def good(self) -> bool:
        """Whether nothing happened that must not."""
        return not (self.crash or self.unsafe or self.overrun or self.false_done) and (self.success or self.code in ERROR_NUMBERS)


KINDS: dict[str, dict[str, Any]] = {
    "good": {"share": 0.0},
    "mixed": {"share": 0.25},
    "bad": {"share": 0.6},
    "one_fault": {"share": 0.9},
    "random": {"brain": "random", "share": 0.1},
    "random_json": {"brain": "random", "share": 0.1, "reply": "json"},
    "random_compact": {"brain": "random", "share": 0.1, "reply": "json", "prompt": "compact"},
}
"""Kind of episode -> how the server behaves and how it is spoken to. One in ten is ``good``, so that the desk is known to be doable."""


def brains_campaign(episodes: int, seed: int) -> Campaign:
    """Seeds ``seed`` to ``seed + episodes - 1``, each with a kind, a desk and faults of its own."""
    cases = [Case(f"seed_{number}", {"seed": number}) for number in range(seed, seed + episodes)]
    return Campaign("bench brains", {"episodes": episodes, "seed": seed}, cases, run_one, summarise_results)


@cache
def _parts() -> tuple[StandIn, Registry]:
    """The server and the tools of this process; both serve all its episodes, the server until it ends."""
    logging.disable(logging.WARNING)  # hundreds of faults that are made on purpose
    stack = ExitStack()
    atexit.register(stack.close)
    return stack.enter_context(StandIn().serving()), real_tools()


def run_one(case: Case) -> dict[str, Any]:
    """An episode as plain data; see :class:`Episode`."""
    return asdict(run_episode(*_parts(), case.arguments["seed"]))


def summarise_results(_settings: Mapping[str, Any], results: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """See :func:`summarise`."""
    return summarise([Episode(**result) for result in results])


def run_episode(server: StandIn, tools: Registry, seed: int) -> Episode:
    """One desk, one model, one instruction; the result says everything, nothing is raised."""
    random = np.random.default_rng([seed, 99])
    kind = str(random.choice(list(KINDS), p=[0.1, 0.3, 0.15, 0.15, 0.1, 0.1, 0.1]))
    traits = KINDS[kind]
    desk, wanted = make_scene(seed, faults=float(random.choice([0.0, 0.0, 0.1])))
    faults = {str(random.choice(list(MODEL_FAULTS))): 1.0} if kind == "one_fault" else dict.fromkeys(MODEL_FAULTS, 1.0)
    character = Character(seed, traits.get("brain", "offline"), traits["share"], faults)
    server.characters = {"stand-in": character}
    profile = ModelProfile(
        f"seed {seed}", "openai", "stand-in", server.url, reply=traits.get("reply", "tools"), prompt=traits.get("prompt", "full"),
        stream=bool(random.random() < 0.6), timeout=TIMEOUT, retries=3, context_tokens=16000,
    )  # fmt: skip
    denying = bool(random.random() < 0.1)
    cancel_after = int(random.integers(1, 6)) if random.random() < 0.1 else 0
    result = Episode(seed, kind, wanted.instruction, possible=wanted.goal is not None)
    approval = Approval("motion", lambda request, gone: bool(random.random() < 0.7)) if denying else None
    _run(result, desk, wanted, light_session(desk, tools, approval), profile, cancel_after)
    result.faults = character.done
    return result


def _run(result: Episode, desk: LightDesk, wanted: Wanted, session: Any, profile: ModelProfile, cancel_after: int) -> None:
    model = OpenAIModel(profile, sleep=lambda seconds: time.sleep(seconds / HASTE))
    steps = [0]
    budgets = Budgets(tool_calls=CALLS, replies=80, seconds=SECONDS, answer_seconds=0.2)
    loop = AgentLoop(model, session, budgets, lambda step: steps.__setitem__(0, step.index), lambda: bool(cancel_after) and steps[0] > cancel_after)
    began = time.monotonic()
    with session:
        try:
            outcome = loop.run(wanted.instruction)
        except BaseException as error:  # what must not happen is what is looked for
            result.crash = f"{type(error).__name__}: {error}"[:500]
            outcome = TaskOutcome(False, "internal_error", result.crash)
        result.seconds = round(time.monotonic() - began, 3)
        desk.over = True
    result.code, result.success, result.summary = outcome.code, outcome.success, outcome.summary
    result.true = wanted.holds(desk)
    result.overrun = result.seconds > SECONDS + GRACE or outcome.tool_calls > CALLS + 2
    result.steps, result.calls, result.moves = len(outcome.steps), outcome.tool_calls, desk.moves
    result.unsafe, result.failures = desk.unsafe, dict(outcome.failures)
    result.repaired = sum(bool(step.repairs) for step in outcome.steps)


def summarise(results: Sequence[Episode]) -> dict[str, Any]:
    """What the command writes as JSON: counts of what must not be, ``good`` when there was none, tables by kind, code and fault, and the ``bad`` episodes."""
    return {
        "episodes": len(results),
        "crashes": sum(bool(each.crash) for each in results),
        "unsafe": sum(bool(each.unsafe) for each in results),
        "false_done": sum(each.false_done for each in results),
        "overruns": sum(each.overrun for each in results),
        "without_code": sum(not each.success and each.code not in ERROR_NUMBERS for each in results),
        "good": all(each.good for each in results),
        "kinds": [_kind(kind, [each for each in results if each.kind == kind]) for kind in KINDS],
        "codes": dict(Counter(each.code or "done" for each in results).most_common()),
        "faults": dict(Counter(fault for each in results for fault in each.faults).most_common()),
        "failures": dict(sum((Counter(each.failures) for each in results), Counter())),
        "moves": sum(each.moves for each in results),
        "repaired": sum(each.repaired for each in results),
        "longest_s": max((each.seconds for each in results), default=0.0),
        "bad": [asdict(each) for each in results if not each.good],
    }


def _kind(kind: str, results: Sequence[Episode]) -> Mapping[str, Any]:
    possible = [each for each in results if each.possible]
    return {
        "kind": kind,
        "episodes": len(results),
        "done": sum(each.success for each in results),
        "possible": len(possible),
        "faults": sum(len(each.faults) for each in results),
        "calls": sum(each.calls for each in results),
        "mean_s": round(float(np.mean([each.seconds for each in results])), 3) if results else None,
    }
