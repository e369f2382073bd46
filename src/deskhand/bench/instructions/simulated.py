"""The same cases on the simulated robot: physics, camera, perception, motions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from deskhand.agent.judge import Judge
from deskhand.agent.loop import AgentLoop
from deskhand.agent.records import Budgets, Step
from deskhand.bench.instructions.brains import PredicateJudge, perfect
from deskhand.bench.instructions.cases import Case
from deskhand.bench.instructions.desk import begin
from deskhand.bench.instructions.predicates import problems
from deskhand.bench.instructions.run import PERFECT, TOOLS, Item, item_of, player
from deskhand.llm.making import make_model
from deskhand.recording.episode.writer import EpisodeWriter
from deskhand.skills.belief import Belief
from deskhand.tasks.base import Word
from deskhand.tasks.checks import JudgedDesk
from deskhand.tools.base import load_tools, make_session
from deskhand.trials.local import local_robot
from deskhand.world.history.recorder import MEMORY_FILE, Memory

SECONDS = 900.0
SETTLE = 1.0
"""[s] of simulated time before the scorer looks."""


def run_simulated(cases: Sequence[Case], brain: str, judge: str, told: Callable[[Item], None] = lambda _: None, mode: str = TOOLS) -> list[Item]:
    """Every case with a brain: ``perfect``, or the name of a profile."""
    items = []
    for case in cases:
        with TemporaryDirectory() as folder:
            items.append(_run(case, brain, judge, Path(folder), mode))
        told(items[-1])
    return items


def _run(case: Case, brain: str, judge: str, folder: Path, mode: str) -> Item:
    world, memory_file = case.world(), folder / MEMORY_FILE
    asked: set[int] = set()

    def stepped(step: Step) -> None:
        if step.question:
            asked.add(step.index)

    with EpisodeWriter(folder) as writer, local_robot(world, writer, memory_file) as parts, Memory(memory_file, parts.robot.now) as memory:
        start, colors = parts.simulation.truth(), begin(world).colors

        def desk(summary: str = "") -> JudgedDesk:
            return JudgedDesk(world, start, parts.simulation.truth(), Word(summary=summary), colors)

        judging: Judge | None = PredicateJudge(case, desk) if judge == "predicate" else None
        model = perfect(case, world, player(mode)) if brain == PERFECT else make_model(brain)
        registry = load_tools()[0]
        registry.prepare()
        with make_session(parts.robot, Belief(memory), registry=registry) as session:
            outcome = AgentLoop(model, session, Budgets(seconds=SECONDS, answer_seconds=0.0), stepped, judge=judging, mode=mode).run(case.say)
        parts.wait(SETTLE)
        return item_of(case, outcome, problems(desk(outcome.summary), case.want), len(asked))
