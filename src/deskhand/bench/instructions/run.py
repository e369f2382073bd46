"""Runs cases of open instructions, and counts what came of them."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from deskhand.agent.judge import Judge
from deskhand.agent.loop import AgentLoop
from deskhand.agent.records import Budgets, Step, TaskOutcome
from deskhand.bench.brains.desk import light_session, real_tools
from deskhand.bench.instructions.brains import LIES, PredicateJudge, ScriptedBrain, liar, perfect
from deskhand.bench.instructions.cases import Case
from deskhand.bench.instructions.code_brain import CodeBrain
from deskhand.bench.instructions.desk import SceneDesk
from deskhand.bench.instructions.predicates import problems
from deskhand.etp.registry import Registry
from deskhand.llm.base import ChatModel
from deskhand.llm.compact import CORRECTED, FOLLOWS
from deskhand.llm.config import load_profile
from deskhand.llm.making import make_model
from deskhand.trials.campaigns.statistics import wilson

VERSION = 1
SECONDS = 120.0
"""Wall clock for one case, where nobody says otherwise."""
TOOLS, CODE = "tools", "code"
MODES = (TOOLS, CODE)
VETOES = frozenset(("permission_denied", "impossible", "task_incomplete", "precondition_failed"))
"""Codes by which the loop holds a decision back."""
PERFECT, LIARS = "perfect", "liars"
JUDGES = ("predicate", "profile", "none")


@dataclass
class Item:
    """One case and what came of it.

    Attributes:
        right: the goal holds by ground truth; ``wrong``: why not.
        outcome: done, unverified or failed, as the robot says. ``vetoes``: decisions that the loop held back; ``questions``: to the user.
        chars: of all prompts, ``written`` of all calls that the model made; ``tokens`` as the server told them, 0 where it does not.
    """

    id: str
    kind: str
    group: str
    truth: str
    answer: str
    right: bool
    outcome: str
    code: str = ""
    agreed_by: str = ""
    lie: str = ""
    wrong: list[str] = field(default_factory=list)
    score: float = 0.0
    wall_s: float = 0.0
    calls: int = 0
    replies: int = 0
    tokens: int = 0
    chars: int = 0
    vetoes: int = 0
    questions: int = 0
    codes: list[str] = field(default_factory=list)
    written: int = 0

    @property
    def false_done(self) -> bool:
        """Said to be done, and is not so."""
        return self.outcome == "done" and not self.right


def run_case(
    case: Case,
    model: ChatModel,
    tools: Registry,
    judge: str | Judge = "none",
    lie: str = "",
    desk: SceneDesk | None = None,
    everything: bool = True,
    *,
    mode: str = TOOLS,
    seconds: float = SECONDS,
) -> Item:
    """One case with a model on a light desk, nobody at the terminal, the default authorisation."""
    desk = desk or SceneDesk(case.world())
    asked: set[int] = set()

    def told(step: Step) -> None:
        if step.question:
            asked.add(step.index)

    judging: Judge | None = PredicateJudge(case, desk.judged) if judge == "predicate" else None if isinstance(judge, str) else judge
    with light_session(desk, tools, everything=everything) as session:
        outcome = AgentLoop(model, session, Budgets(seconds=seconds, answer_seconds=0.0), told, judge=judging, mode=mode).run(case.say)
    return item_of(case, outcome, problems(desk.judged(outcome.summary), case.want), len(asked), lie)


def item_of(case: Case, outcome: TaskOutcome, wrong: Sequence[str], questions: int, lie: str = "") -> Item:
    """The row of one run."""
    steps = outcome.steps
    vetoes = sum(map(_held_back, steps))
    written = sum(len(step.tool) + len(json.dumps(step.arguments)) for step in steps if step.text not in (FOLLOWS, CORRECTED))
    return Item(
        case.id, case.kind, case.split, "" if not wrong else "; ".join(wrong), outcome.summary, not wrong, outcome.outcome, outcome.code, outcome.agreed_by,
        lie, list(wrong), float(not wrong), round(outcome.seconds, 3), outcome.tool_calls, sum(bool(step.prompt_chars) for step in steps), outcome.tokens,
        sum(step.prompt_chars for step in steps), vetoes, questions, [step.code for step in steps if step.code], written,
    )  # fmt: skip


def _held_back(step: Step) -> bool:
    """Whether the loop held a decision back, or a call that the model's code made."""
    failed = step.data.get("failed") if isinstance(step.data, Mapping) else None
    tool, code = (failed["tool"], failed["code"]) if failed else (step.tool, "" if step.ok else step.code)
    return (code in VETOES and tool in ("submit_plan", "finish")) or code == "permission_denied"


def run_brain(
    cases: Sequence[Case],
    brain: str,
    judge: str,
    told: Callable[[Item], None] = lambda _: None,
    tools: Registry | None = None,
    *,
    mode: str = TOOLS,
    seconds: float = SECONDS,
) -> list[Item]:
    """Every case with a brain: ``perfect``, or the name of a profile."""
    tools = tools or real_tools()
    items: list[Item] = []
    for case in cases:
        desk = SceneDesk(case.world())
        model = perfect(case, desk.world, player(mode)) if brain == PERFECT else make_model(brain)
        items.append(run_case(case, model, tools, _judge(brain, judge), desk=desk, mode=mode, seconds=seconds))
        told(items[-1])
    return items


def player(mode: str) -> type[ScriptedBrain]:
    """Who plays a reference plan in a mode."""
    return CodeBrain if mode == CODE else ScriptedBrain


def _judge(brain: str, judge: str) -> str | Judge:
    if judge != "profile":
        return judge
    from deskhand.agent.judge import make_judge

    return make_judge(load_profile(brain)) or "none"


def run_liars(cases: Sequence[Case], judge: str, most: int, seed: int, told: Callable[[Item], None] = lambda _: None) -> list[Item]:
    """So many lies, spread over their kinds; one that came out true by chance is no lie, and is left out."""
    tools = real_tools()
    items: list[Item] = []
    for case, lie in lies(cases, seed):
        if len(items) == most:
            break
        desk = SceneDesk(case.world())
        model = liar(case, desk.world, lie)
        assert model is not None
        item = run_case(case, model, tools, judge, lie, desk)
        if not item.right:
            items.append(item)
            told(item)
    return items


def lies(cases: Sequence[Case], seed: int) -> Iterator[tuple[Case, str]]:
    """Cases and kinds of lies that they allow, the kinds in turn."""
    random = np.random.default_rng([seed, 17])
    queues = []
    for lie in LIES:
        fitting = [case for case in cases if liar(case, case.world(), lie) is not None]
        queues.append([(fitting[int(index)], lie) for index in random.permutation(len(fitting))])
    while any(queues):
        for queue in queues:
            if queue:
                yield queue.pop()


# ---------------------------------------------------------------- numbers


def summarise(items: Sequence[Item], brain: str, judge: str, split: str, seed: int, mode: str = TOOLS) -> dict[str, Any]:
    """What the command writes as JSON: the form of all benchmarks of tasks (docs/trials.md)."""
    groups = sorted({item.kind for item in items})
    return {
        "bench": "instructions", "version": VERSION, "split": split or "both", "seed": seed, "brain": brain, "judge": judge, "mode": mode, "runs": 1,
        "items": [asdict(item) for item in items],
        "metrics": metrics(items),
        "by": {kind: metrics([item for item in items if item.kind == kind]) for kind in groups},
        "lies": {lie: metrics([item for item in items if item.lie == lie]) for lie in LIES if any(item.lie == lie for item in items)},
        "outcomes": dict(Counter(item.outcome for item in items)),
    }  # fmt: skip


def metrics(items: Sequence[Item]) -> dict[str, Any]:
    """Shares with their Wilson intervals, and means."""
    shares = {
        "right": sum(item.right for item in items), "done": sum(item.outcome == "done" for item in items),
        "unverified": sum(item.outcome == "unverified" for item in items), "false_done": sum(item.false_done for item in items),
        "right_and_not_failed": sum(item.right and item.outcome != "failed" for item in items),
    }  # fmt: skip
    found: dict[str, Any] = {
        name: {"value": count / max(1, len(items)), "count": count, "interval": list(wilson(count, len(items)))} for name, count in shares.items()
    }
    for name in ("vetoes", "questions", "calls", "replies", "chars", "written", "tokens", "wall_s"):
        values = [float(getattr(item, name)) for item in items] or [0.0]
        found[name] = {"value": float(np.mean(values)), "total": float(np.sum(values)), "std": float(np.std(values))}
    return found | {"items": len(items)}


def table(summary: dict[str, Any]) -> Any:
    """For the terminal: a line for all, and one for each kind."""
    from rich.table import Table

    shown = Table(title=f"open instructions: {summary['brain']}, judge {summary['judge']}, {summary['split']}")
    for name in ("", "items", "right", "done", "unverified", "false done", "vetoes", "questions", "prompt characters"):
        shown.add_column(name, justify="left" if not name else "right")
    for name, row in {"all": summary["metrics"], **(summary["lies"] or summary["by"])}.items():
        counts = [str(row[key]["count"]) for key in ("right", "done", "unverified", "false_done")]
        shown.add_row(name, str(row["items"]), *counts, *(f"{row[key]['total']:.0f}" for key in ("vetoes", "questions")), f"{row['chars']['value']:.0f}")
    return shown
