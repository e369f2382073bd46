"""Plans before they run, acts after they ran: temporal rules, and what the robot measures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal

from pydantic import Field
from typing_extensions import TypedDict

from deskhand.errors import DeskhandError
from deskhand.etp.tool import ToolContext, tool
from deskhand.planning.rules import Rule, formula_text, read_rule
from deskhand.planning.symbolic import State, Step, StepData, act_atoms, steps_of
from deskhand.planning.temporal import Holds, first_break
from deskhand.tools.objects import objects_data
from deskhand.tools.reasoning.completion import Finding, completion
from deskhand.tools.reasoning.state import state_of

Steps = Annotated[list[StepData], Field(min_length=1, max_length=60, description="calls of a plan, in order")]
Rules = Annotated[
    list[Annotated[str, Field(min_length=2, max_length=300)]],
    Field(
        max_length=20,
        description="each a sentence (never E; E before F; do not F until E; after E always F; right after E always F; E at most twice; do not E while F; "
        "start with E; end with E), or an LTLf formula over pick(x), place_in(x,y), touch(x), holding(x), on(x,y), in(x,y), move_home … "
        "with ! & | -> X N F G U W",
    ),
]


class RuleData(TypedDict):
    """One rule and whether the plan keeps it."""

    rule: str
    formula: Annotated[str, Field(description="how it was read, as LTLf")]
    holds: bool
    step: Annotated[int | None, Field(description="number, from 1, of the step that breaks it; null: it holds, or what it asks for never comes")]
    reason: str


class RuleCheck(TypedDict):
    """All rules."""

    satisfied: bool
    violations: Annotated[int, Field(description="how many rules are broken")]
    rules: list[RuleData]


class Done(TypedDict):
    """Whether an act had the effect that it should have."""

    done: bool
    findings: Annotated[list[Finding], Field(description="what was expected, what was measured")]
    hint: str


def start_of(ctx: ToolContext) -> State:
    """What is so now; an empty desk when nobody has looked."""
    return state_of(ctx.belief) if ctx.belief.scene is not None else State({})


def read_rules(ctx: ToolContext, rules: Sequence[str]) -> list[Rule]:
    """Rules about the objects of the last look."""
    objects = objects_data(ctx.belief.scene, arm=ctx.robot.arm) if ctx.belief.scene is not None else []
    return [read_rule(text, objects) for text in rules]


def trace(start: State, steps: Sequence[Step]) -> list[set[str]]:
    """The atoms that hold at each step: the act itself, and what is so after it."""
    atoms = []
    for step in steps:
        acts = act_atoms(step, start.held)
        start = start.after(step)
        atoms.append(acts | start.facts())
    return atoms


def judge(rule: Rule, steps: Sequence[Step], atoms: Sequence[set[str]]) -> RuleData:
    """Whether the steps keep a rule, and where not."""
    holds: list[Holds] = [names.__contains__ for names in atoms]
    broken = first_break(rule.formula, holds)
    text = formula_text(rule)
    if broken is None:
        return RuleData(rule=rule.text, formula=text, holds=True, step=None, reason=rule.note)
    if broken == len(steps):
        return RuleData(rule=rule.text, formula=text, holds=False, step=None, reason="; ".join(filter(None, ["what it asks for never comes", rule.note])))
    return RuleData(rule=rule.text, formula=text, holds=False, step=broken + 1, reason="; ".join(filter(None, [f"{steps[broken]} breaks it", rule.note])))


@tool(
    group="reasoning",
    unit="formal_verification",
    timeout=20.0,
    when_to_use="Before a plan of several calls runs and there are rules to keep, such as an order of acts, objects that must never be touched, or what has to "
    "be done at the end: names each rule that is broken and the step that breaks it.",
    limits="Linear temporal logic over the finite plan with predicted outcomes: it does not know whether a step will succeed. Sentences are read by a small "
    "grammar, not by a language model; the formula tells how. Words for objects need a look first.",
    examples=[
        (
            "Does my plan ever touch the cup before the block is in the bin?",
            {
                "steps": [{"tool": "pick", "arguments": {"object_id": "block_1"}}, {"tool": "place_in", "arguments": {"container_id": "bin_1"}}],
                "rules": ["never pick cup_1", "do not touch cup_1 until block_1 is in bin_1"],
            },
        ),
        (
            "Check this plan against the temporal rule that the arm goes home at the end",
            {
                "steps": [{"tool": "pick", "arguments": {"object_id": "pen_1"}}, {"tool": "move_home", "arguments": {}}],
                "rules": ["end with going home", "G(pick -> F home)"],
            },
        ),
    ],
    failures=[("A formula with an open bracket", {"steps": [{"tool": "pick", "arguments": {"object_id": "block_1"}}], "rules": ["G(pick"]}, "invalid_input")],
)
def check_plan_rules(ctx: ToolContext, steps: Steps, rules: Annotated[Rules, Field(min_length=1)]) -> RuleCheck:
    """Check a plan against temporal rules, in words or as LTLf formulas, and name each violation with the step that causes it."""
    plan = steps_of(steps)
    atoms = trace(start_of(ctx), plan)
    judged = [judge(rule, plan, atoms) for rule in read_rules(ctx, rules)]
    broken = sum(not item["holds"] for item in judged)
    return RuleCheck(satisfied=not broken, violations=broken, rules=judged)


@tool(
    group="reasoning",
    unit="formal_verification",
    effects="memory",
    needs=("arm", "camera"),
    timeout=30.0,
    when_to_use="Right after one act, to see whether it is complete: is the object really held, put down where it should be, or pushed as far as asked? "
    "Compares what the act should bring about with the fingers, the joints and a new picture.",
    limits="One act at a time, the last one; for the goal of a whole task use check_goal. Looks only when the act left something on the desk.",
    examples=[
        ("Did the pick work, is the block in the gripper?", {"act": "pick", "object_id": "block_1"}),
        ("Verify that the placing is completed", {"act": "place_in", "object_id": "block_1", "target_id": "bin_1"}),
    ],
    failures=[("It is not said what was picked", {"act": "pick"}, "invalid_input")],
)
def verify_action(
    ctx: ToolContext,
    act: Annotated[
        Literal["pick", "place_in", "place_on", "place_at", "push", "move_home", "open_gripper", "close_gripper"], Field(description="what was done")
    ],
    object_id: Annotated[str, Field(max_length=64, description="the object that it was done with; empty for the arm and gripper")] = "",
    target_id: Annotated[str, Field(max_length=64, description="where it was put; empty for the table")] = "",
    position: Annotated[
        list[Annotated[float, Field(ge=-1, le=1)]] | None,
        Field(min_length=2, max_length=2, description="[m] x, y in world where its centre should be now; null when the act named no place"),
    ] = None,
) -> Done:
    """Verify that an act is complete: compare its expected effects with what fingers, joints and a fresh look show."""
    if act in ("pick", "place_in", "place_on", "place_at", "push") and not object_id:
        raise DeskhandError("invalid_input", f"verify_action: object_id: {act} is about an object; give its id.", retry=True)
    findings = completion(ctx, act, object_id, target_id, position)
    failed = [item for item in findings if not item["as_expected"]]
    hint = "" if not failed else "Find out how to go on with advise_recovery." if act != "pick" else "Look again, and pick once more another way."
    return Done(done=not failed, findings=findings, hint=hint)
