"""Which guards stand between a model and the robot, from the inside out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from deskhand.agent.authorisation import Authorisation
from deskhand.agent.completion import Completion
from deskhand.agent.desk import TaskDesk
from deskhand.agent.guards.authorisation import AuthorisationGuard, Confirm
from deskhand.agent.guards.budget import BudgetGuard
from deskhand.agent.guards.completion import CompletionGuard
from deskhand.agent.guards.loop_detection import LoopDetection
from deskhand.agent.guards.policy import PolicyGuard
from deskhand.agent.guards.reach import ReachGuard
from deskhand.agent.limits import Limits
from deskhand.agent.records import Step
from deskhand.agent.rules import SafetyRules
from deskhand.agent.toolset import RobotToolset, Toolset
from deskhand.agent.witness import Witness
from deskhand.world.model import WorldModel


@dataclass(frozen=True)
class RunContext:
    """Of one run, for its guards.

    Attributes:
        instruction: the user's words; ``rules``: the user's safety rules.
        authorisation: a setting of authorisation.py; ``trusted`` brains read nothing but the user's words and need none.
        guided: whether what the grammar misses at the end goes back to the model.
        confirm: asks the user; ``witness``: asks a judge.
        limits: the budgets; ``steps``: the run's, in order, the newest last.
    """

    instruction: str
    rules: Sequence[str]
    authorisation: str
    trusted: bool
    guided: bool
    confirm: Confirm
    witness: Witness | None
    limits: Limits
    steps: Sequence[Step]


def guarded(robot: RobotToolset, run: RunContext) -> Toolset:
    """The robot's tools inside all guards.

    Raises:
        DeskhandError: ``config_error`` for a safety rule that is not understood.
    """
    world = WorldModel()
    desk = TaskDesk(world)
    toolset: Toolset = robot
    authorisation = Authorisation(run.instruction, run.authorisation)
    if not run.trusted:
        toolset = AuthorisationGuard(toolset, authorisation, desk, robot, run.confirm)
    toolset = PolicyGuard(toolset, SafetyRules(run.rules), desk, robot)
    toolset.on_result(desk.heard)
    toolset.on_result(lambda name, arguments, result: world.apply(name, arguments, result.ok, result.data))
    unspoken = (lambda goals: authorisation.unspoken(goals, desk)) if run.guided else None
    completion = Completion(run.instruction, robot.made, world, run.trusted, run.witness.opinion if run.witness else None, run.guided, unspoken)
    toolset = CompletionGuard(toolset, completion, robot, run.limits.budgets.rejected_claims, run.witness)
    if not run.trusted:
        toolset = ReachGuard(toolset, desk, robot)
    toolset = LoopDetection(toolset, run.limits.budgets, run.steps)
    return BudgetGuard(toolset, run.limits)
