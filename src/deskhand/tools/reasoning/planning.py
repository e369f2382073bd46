"""Plans for a task: symbolic, corrected against rules, and checked down to the motions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Annotated, Literal

import numpy as np
from pydantic import Field
from typing_extensions import NotRequired, TypedDict

from deskhand.errors import DeskhandError
from deskhand.etp.tool import ToolContext, tool
from deskhand.geometry import Array, make_transform
from deskhand.planning.search import plan
from deskhand.planning.symbolic import StepData, SymbolicGoal, steps_of
from deskhand.tools.looking import last_look
from deskhand.tools.objects import ObjectId, number_or_none
from deskhand.tools.poses import hand_poses
from deskhand.tools.reasoning.correction import Task
from deskhand.tools.reasoning.state import state_of
from deskhand.tools.reasoning.verification import Rules, Steps, read_rules, start_of
from deskhand.types import Grasp, MotionGoal, Plan, PlanOptions, SceneObject
from deskhand.world.relations import TABLE

LIFT = 0.08  # [m]
ABOVE = 0.06  # [m] that a held object comes over its place
OVER_RIM = 0.03  # [m]
SLACK = 0.004  # [m] that objects are let go above what they come to stand on


class GoalData(TypedDict):
    """``object_id`` shall be ``relation`` ``target_id``."""

    object_id: ObjectId
    relation: Annotated[Literal["on", "in", "held"], Field(description="in for containers, on for the table and other objects, held for the gripper")]
    target_id: NotRequired[Annotated[str, Field(max_length=64, description="id, or table; left out with held")]]


Goals = Annotated[list[GoalData], Field(max_length=40, description="what shall be so at the end, all of it")]


class TaskPlan(TypedDict):
    """Calls in an order in which each can be made."""

    steps: Annotated[list[StepData], Field(description="pick and place calls with their arguments, ready to be made one after the other")]
    note: str


class Correction(TypedDict):
    """One round of verify, diagnose, correct."""

    diagnosis: str
    correction: str


class RefinedPlan(TypedDict):
    """The plan after all rounds."""

    satisfied: Annotated[bool, Field(description="true: every step can be done, every rule holds, every goal is reached")]
    steps: list[StepData]
    rounds: list[Correction]
    left: Annotated[list[str], Field(description="what is still wrong; empty when satisfied")]


class Leg(TypedDict):
    """One motion of a manipulation."""

    name: str
    duration: Annotated[float, Field(description="[s]")]
    clearance: Annotated[float | None, Field(description="smallest distance to an obstacle [m]; null when it was not measured")]


class ManipulationPlan(TypedDict):
    """Motions from where the arm stands to the object, and on to its place."""

    feasible: bool
    reason: Annotated[str, Field(description="why not, naming the motion that fails; else what was chosen")]
    legs: list[Leg]
    duration: Annotated[float, Field(description="of all motions [s], fingers left out")]
    grasp_score: Annotated[float | None, Field(description="probability that the grasp succeeds; null without one")]
    tried: Annotated[int, Field(description="grasps that were tried")]


def goals_of(data: Sequence[GoalData]) -> list[SymbolicGoal]:
    """Goals from plain data."""
    return [SymbolicGoal(item["object_id"], item["relation"], "" if item["relation"] == "held" else item.get("target_id", TABLE) or TABLE) for item in data]


@tool(
    group="reasoning",
    unit="task_and_motion_knowledge",
    preconditions=("scene_known",),
    timeout=60.0,
    when_to_use="To find the sequence of picks and places for a task of several goals, above all when objects lie on each other, block each other, or a tower "
    "has to be taken apart first.",
    limits="Symbolic (A* search): knows what lies on and in what at the last look, not whether the arm reaches it, which check_reachable and plan_manipulation "
    "tell. Shortest plans, but for dozens of objects in tangled towers, where they are short. Containers are not moved. Fails with impossible.",
    examples=[
        (
            "Plan the task: swap two stacked blocks, the lower one shall go to the top",
            {"goals": [{"object_id": "block_1", "relation": "on", "target_id": "block_2"}]},
        ),
        (
            "Which steps bring the pen and the block into the bin without touching the cup?",
            {
                "goals": [{"object_id": "pen_1", "relation": "in", "target_id": "bin_1"}, {"object_id": "block_1", "relation": "in", "target_id": "bin_1"}],
                "keep": ["cup_1"],
            },
        ),
    ],
    failures=[("An object that is not there", {"goals": [{"object_id": "cup_99", "relation": "in", "target_id": "bin_1"}]}, "unknown_object")],
)
def plan_task(
    ctx: ToolContext,
    goals: Annotated[Goals, Field(min_length=1)],
    keep: Annotated[list[ObjectId] | None, Field(max_length=40, description="ids of objects that must stay where they are")] = None,
) -> TaskPlan:
    """Plan a task symbolically: the sequence of pick and place calls that reaches all goals, with what is in the way cleared first."""
    steps = plan(state_of(ctx.belief), goals_of(goals), kept=keep or ())
    return TaskPlan(steps=[step.to_json() for step in steps], note="" if steps else "All goals hold already.")


@tool(
    group="reasoning",
    unit="formal_verification",
    preconditions=("scene_known",),
    timeout=90.0,
    when_to_use="When a plan was found to be wrong, or comes from somebody who does not know the desk: a step whose precondition fails, "
    "a rule that is broken, a "
    "goal that is missed. Verifies, diagnoses, corrects, and verifies again.",
    limits="Corrects by moving, inserting and leaving out steps, one problem at a time; it may stop with problems left, which it names. Knows "
    "the desk as symbols only.",
    examples=[
        (
            "Repair this plan: it places before it picks",
            {
                "steps": [{"tool": "place_in", "arguments": {"container_id": "bin_1"}}, {"tool": "pick", "arguments": {"object_id": "block_1"}}],
                "goals": [{"object_id": "block_1", "relation": "in", "target_id": "bin_1"}],
            },
        )
    ],
    failures=[("A rule that nobody understands", {"steps": [{"tool": "move_home", "arguments": {}}], "rules": ["be nice to the desk"]}, "not_understood")],
)
def refine_plan(
    ctx: ToolContext,
    steps: Steps,
    rules: Rules | None = None,
    goals: Goals | None = None,
    rounds: Annotated[int, Field(ge=1, le=30, description="most corrections")] = 12,
) -> RefinedPlan:
    """Verify a plan against preconditions, rules and goals, diagnose what is wrong, correct it, and repeat until it is sound."""
    task = Task(start_of(ctx), read_rules(ctx, rules or ()), goals_of(goals or ()))
    better, left = task.corrected(steps_of(steps), rounds)
    return RefinedPlan(
        satisfied=not left,
        steps=[step.to_json() for step in better],
        rounds=[Correction(diagnosis=item.diagnosis, correction=item.correction) for item in task.rounds],
        left=[item.text for item in left],
    )


# ---------------------------------------------------------------- down to the motions


@tool(
    group="reasoning",
    unit="motion_planning",
    effects="memory",
    needs=("arm",),
    preconditions=("not_stopped", "scene_known", "not_holding", "object_known(object_id)"),
    timeout=120.0,
    when_to_use="Before an uncertain pick and place, to know whether all its motions exist: to the grasp, up, over to the place, down; and "
    "which motion fails if not.",
    limits="A dry run: nothing moves and its motions are not kept; pick and the place tools plan their own when they run. The held object is not "
    "swept along: leave room.",
    examples=[
        ("Is there a collision-free way to bring the block into the bin?", {"object_id": "block_1", "target_id": "bin_1"}),
        ("Plan a full pick and place of the can to a spot on the table", {"object_id": "can_1", "position": [0.05, -0.1]}),
    ],
    failures=[("An object that is not there", {"object_id": "cup_99", "target_id": "bin_1"}, "unknown_object")],
)
def plan_manipulation(
    ctx: ToolContext,
    object_id: ObjectId,
    target_id: Annotated[str, Field(max_length=64, description="container or object that it is put in or on; empty when position is given")] = "",
    position: Annotated[
        list[Annotated[float, Field(ge=-1, le=1)]] | None,
        Field(min_length=2, max_length=2, description="[m] x, y in world on the table; null when target_id is given"),
    ] = None,
    most_grasps: Annotated[int, Field(ge=1, le=10, description="how many grasps are tried")] = 4,
) -> ManipulationPlan:
    """Plan a whole pick and place as collision-free motions, without moving: approach, grasp, lift, transfer, lower."""
    if bool(target_id) == (position is not None):
        raise DeskhandError("invalid_input", "plan_manipulation: give exactly one of target_id and position.", retry=True)
    scene = last_look(ctx)
    item = scene.get(object_id)
    place = _place_of(item, scene.get(target_id) if target_id else None, position, float(scene.table.pose[2, 3]))
    failures: list[str] = []
    grasps = ctx.robot.generate_grasps(scene, object_id, most_grasps)
    for number, grasp in enumerate(grasps[:most_grasps]):
        ctx.progress(number / len(grasps), f"grasp {number + 1}")
        if ctx.cancelled():
            raise DeskhandError("cancelled", "plan_manipulation was cancelled.")
        legs: list[tuple[str, Plan]] = []
        try:
            for name, made in _legs(ctx, grasp, item, place):
                legs.append((name, made))
        except DeskhandError as error:
            if error.code not in ("no_ik_solution", "goal_in_collision", "planning_failed", "path_incomplete", "start_in_collision", "envelope_violated"):
                raise
            failures.append(f"grasp {number + 1}, {('approach', 'grasp', 'lift', 'transfer', 'lower')[len(legs)]}: {error.message}")
            continue
        done = [Leg(name=name, duration=round(made.trajectory.duration, 3), clearance=number_or_none(made.clearance)) for name, made in legs]
        total = round(sum(leg["duration"] for leg in done), 3)
        return ManipulationPlan(
            feasible=True, reason=f"grasp {number + 1} of {len(grasps)} works", legs=done, duration=total, grasp_score=round(grasp.score, 3), tried=number + 1
        )
    return ManipulationPlan(feasible=False, reason="; ".join(failures), legs=[], duration=0.0, grasp_score=None, tried=len(failures))


def _place_of(item: SceneObject, target: SceneObject | None, position: list[float] | None, table: float) -> tuple[Array, float]:
    """Where the object's centre goes (x, y) [m], and how high [m] its underside is let go."""
    if target is None:
        assert position is not None
        return np.asarray(position, dtype=float), table + SLACK
    over = target.top + OVER_RIM if target.is_container else target.top + SLACK
    return target.position[:2].copy(), over


def _legs(ctx: ToolContext, grasp: Grasp, item: SceneObject, place: tuple[Array, float]) -> Iterator[tuple[str, Plan]]:
    """The motions one after the other, each from the end of the one before; raises where one does not exist."""
    allow = (("gripper", item.id),)
    before = grasp.pose @ make_transform(translation=(0.0, 0.0, -ABOVE))
    approach = ctx.robot.plan_motion(MotionGoal(poses=(before,)))
    yield "approach", approach
    down = ctx.robot.plan_cartesian((grasp.pose,), PlanOptions(start=approach.end, allow=allow))
    yield "grasp", down
    high = grasp.pose.copy()
    high[2, 3] += LIFT
    lift = ctx.robot.plan_cartesian((high,), PlanOptions(start=down.end, allow=allow, min_fraction=0.3))
    yield "lift", lift
    shift = grasp.pose[:3, 3] - item.position
    height = place[1] + float(item.top - item.bottom) / 2 + float(shift[2])
    over = _over(ctx, grasp, place[0] + shift[:2], height + ABOVE)
    carried = ctx.robot.plan_motion(MotionGoal(poses=over), PlanOptions(start=lift.end, allow=allow))
    yield "transfer", carried
    last = over[carried.goal_index].copy()
    last[2, 3] -= ABOVE
    yield "lower", ctx.robot.plan_cartesian((last,), PlanOptions(start=carried.end, allow=allow, min_fraction=0.5))


def _over(ctx: ToolContext, grasp: Grasp, place: Array, height: float) -> tuple[Array, ...]:
    """Hands over the place: as it grasped, then with other turns, looking down."""
    kept = grasp.pose.copy()
    kept[:3, 3] = [place[0], place[1], height]
    return kept, *hand_poses(ctx.robot.arm, [float(place[0]), float(place[1]), height])
