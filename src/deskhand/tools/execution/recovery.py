"""After something went wrong: what to do, the object found again, the last act taken back."""

from __future__ import annotations

from typing import Annotated

import numpy as np
from pydantic import Field
from typing_extensions import NotRequired, TypedDict

from deskhand.errors import ERROR_NUMBERS, DeskhandError
from deskhand.etp.tool import ToolContext, tool
from deskhand.skills import pick as picking
from deskhand.skills import place as placing
from deskhand.skills import put as putting
from deskhand.tools.acting import outcome, remember_placed
from deskhand.tools.execution.advice import OBJECT, POLICIES
from deskhand.tools.looking import look, skill_context
from deskhand.tools.objects import ObjectId, rounded
from deskhand.types import SceneObject, SkillResult
from deskhand.world.history.records import State
from deskhand.world.level import level
from deskhand.world.relations import TABLE

SURE = 0.75  # likeness from which an object is taken for the same, when no other comes near
APART = 0.15  # by which the second must be less alike
NEAR = 0.25  # [m] over which closeness to the last place counts


class Action(TypedDict):
    """One step to take next."""

    tool: Annotated[str, Field(description="to call; empty: not a tool's matter")]
    arguments: Annotated[dict[str, str], Field(description="as far as they are known")]
    why: str


class Recovery(TypedDict):
    """What to do after a failure."""

    retry: Annotated[bool, Field(description="true: after these steps the failed call is worth another try")]
    attempts_left: Annotated[int, Field(description="tries of the failed call that are left")]
    actions: Annotated[list[Action], Field(description="in this order")]
    give_up: Annotated[str, Field(description="what to do when nothing is left")]


class Likely(TypedDict):
    """An object that may be the one."""

    object_id: str
    likeness: Annotated[float, Field(description="0 to 1: colour, kind, size and place together")]
    distance: Annotated[float, Field(description="from where it was last known [m]")]


class FoundAgain(TypedDict):
    """The object under its present id."""

    found: bool
    object_id: Annotated[str, Field(description="its id now; empty when it was not found for sure")]
    renamed: Annotated[bool, Field(description="true: it has another id than before, and the memory knows that")]
    candidates: Annotated[list[Likely], Field(description="most alike first")]
    last_known: Annotated[list[float], Field(description="[x, y, z] where it was last known [m]")]
    note: str


class Undone(TypedDict):
    """What was taken back."""

    message: str
    undone: Annotated[str, Field(description="pick or place")]
    object_id: str
    back_at: Annotated[list[float], Field(description="[x, y] where it stands again [m]")]
    off_by: NotRequired[Annotated[float, Field(description="from where it was before [m]")]]


@tool(
    group="execution",
    unit="closed_loop_recovery",
    when_to_use="After a call failed: what to do next for that error code, whether another try is worth it, and when to stop trying.",
    limits="A fixed policy by code; it does not see what happened. The hint of the failed call itself comes first.",
    examples=[
        (
            "pick failed with grasp_failed for the second time: what now?",
            {"code": "grasp_failed", "failed_tool": "pick", "object_id": "block_1", "attempts": 2},
        ),
        ("Recover from a planning failure", {"code": "planning_failed", "failed_tool": "plan_motion"}),
    ],
    failures=[("A word that is no error code", {"code": "bad_luck"}, "invalid_input")],
)
def advise_recovery(
    ctx: ToolContext,
    code: Annotated[str, Field(min_length=1, max_length=64, description="of the failed call, for example grasp_failed")],
    failed_tool: Annotated[str, Field(max_length=64, description="name of the tool that failed; empty when it does not matter")] = "",
    object_id: Annotated[str, Field(max_length=64, description="what it was about; empty for nothing")] = "",
    attempts: Annotated[int, Field(ge=1, le=100, description="how often the call was tried so far")] = 1,
) -> Recovery:
    """Advise how to recover from a failure by its code: the next steps, whether to retry, and when to give up."""
    if code not in POLICIES:
        raise DeskhandError("invalid_input", f"advise_recovery: code: {code!r} is none; valid: {', '.join(ERROR_NUMBERS)}.", retry=True)
    policy = POLICIES[code]
    left = max(0, policy.attempts - attempts)
    actions = []
    for item in policy.advice:
        arguments = {name: value.replace(OBJECT, object_id) for name, value in item.arguments}
        if item.tool != failed_tool or not item.tool:  # what failed helps nothing
            actions.append(Action(tool=item.tool, arguments={name: value for name, value in arguments.items() if value}, why=item.why))
    if ctx.robot.safety_status().stopped:
        actions = [Action(tool="", arguments={}, why="the robot is stopped: the operator must release it first")]
    return Recovery(retry=left > 0, attempts_left=left, actions=actions if left or policy.attempts == 1 else [], give_up=policy.give_up)


@tool(
    group="execution",
    unit="closed_loop_recovery",
    effects="memory",
    needs=("camera",),
    postconditions=("scene_known",),
    timeout=30.0,
    when_to_use="When a known id is gone after a failure or a disturbance (unknown_object, object_lost): looks again and finds the same object "
    "under the id that it has now.",
    limits="By likeness of colour, kind, size and place to what the memory knows of it; two alike objects are told apart by place only, and it "
    "says when it is not sure.",
    examples=[("block_1 fell and has got a new id: find it again", {"object_id": "block_1"})],
    failures=[("An object that nobody has ever seen", {"object_id": "block_99"}, "unknown_object")],
)
def find_again(ctx: ToolContext, object_id: ObjectId) -> FoundAgain:
    """Look again and re-ground a lost object: find it under its present id by what the memory knows of it."""
    before = _remembered(ctx, object_id)
    ctx.progress(0.1, "looking at the desk")
    scene, note = look(ctx)
    last = before.object if before is not None else next((item for item in scene.objects if item.id == object_id), None)
    if last is None:
        raise DeskhandError("unknown_object", f"nothing is known of {object_id!r}; seen: {', '.join(item.id for item in scene.objects) or 'nothing'}.")
    where = rounded(last.position)
    if any(item.id == object_id for item in scene.objects):
        return FoundAgain(found=True, object_id=object_id, renamed=False, candidates=[], last_known=where, note=note)
    others = _others(ctx, object_id)
    likely = sorted(
        (
            Likely(object_id=item.id, likeness=round(_likeness(last, item), 3), distance=round(_apart(last, item), 4))
            for item in scene.objects
            if item.id not in others
        ),
        key=lambda one: -one["likeness"],
    )
    sure = bool(likely) and likely[0]["likeness"] >= SURE and (len(likely) == 1 or likely[1]["likeness"] <= likely[0]["likeness"] - APART)
    if sure:
        ctx.belief.renamed(object_id, likely[0]["object_id"])
    return FoundAgain(found=sure, object_id=likely[0]["object_id"] if sure else "", renamed=sure, candidates=likely[:5], last_known=where, note=note)


def _remembered(ctx: ToolContext, object_id: str) -> State | None:
    if ctx.belief.memory is None or object_id not in ctx.belief.memory.ids():
        return None
    return ctx.belief.memory.state(object_id)


def _others(ctx: ToolContext, object_id: str) -> set[str]:
    """Ids that were known beside the lost one: they are themselves."""
    memory = ctx.belief.memory
    if memory is None:
        return set()
    lost = [state for state in memory.history(object_id) if state.status == "seen"]
    if not lost:
        return set()
    return {state.object_id for state in memory.states_at(lost[-1].last) if state.object_id != object_id and state.status == "seen"}


def _apart(a: SceneObject, b: SceneObject) -> float:
    return float(np.linalg.norm(a.position - b.position))


def _likeness(a: SceneObject, b: SceneObject) -> float:
    """0 to 1: size and colour count most, then kind, then how near it is to its last place."""
    small, large = np.sort(np.stack([np.sort(a.size), np.sort(b.size)]), axis=0)
    size = float(np.min(small / np.maximum(large, 1e-6)))
    near = max(0.0, 1.0 - _apart(a, b) / NEAR)
    score = 0.35 * size + 0.3 * (a.color == b.color) + 0.15 * (a.label == b.label) + 0.2 * near
    return score if a.is_container == b.is_container else 0.3 * score


@tool(
    group="execution",
    unit="closed_loop_recovery",
    effects="motion",
    needs=("arm", "gripper", "camera"),
    preconditions=("not_stopped", "scene_known"),
    postconditions=("not_holding",),
    timeout=300.0,
    when_to_use="When the last pick or place was a mistake: puts the object back where it was before, on the table, on another object or in its container.",
    limits="The last pick or place of this session only, and only while its old place is free. Pushes and wipes are not taken back. "
    "Fails as pick and place do.",
    examples=[("That was the wrong block: put it back where it was", {}), ("Undo the last placement", {})],
    failures=[("Nothing was picked or placed yet", {}, "impossible")],
)
def undo_last_act(ctx: ToolContext) -> Undone:
    """Undo the last pick or place: bring the object back to where it was before, verified by a look."""
    skill = skill_context(ctx)
    held = ctx.belief.held
    if held is not None:
        item = held.object
        back = _put_back(ctx, item)
        return _undone(ctx, "pick", item, back)
    last = max(ctx.placed, key=lambda name: ctx.placed[name].stamp, default="")
    memory = ctx.belief.memory
    if not last or memory is None:
        raise DeskhandError("impossible", "nothing was picked or placed in this session, so that there is nothing to take back.")
    before = _before_held(memory.history(last))
    if before is None:
        raise DeskhandError("impossible", f"it is not known where {last} was before.")
    now = ctx.placed[last].seen_as
    skill.step(0.1, f"take {now} again")
    outcome(picking.pick(skill, now))
    back = _put_back(ctx, before)
    return _undone(ctx, "place", before, back)


def _before_held(history: list[State]) -> SceneObject | None:
    """Where an object stood before it was last in the gripper."""
    for number in range(len(history) - 1, 0, -1):
        if history[number].status == "held" and history[number - 1].status in ("seen", "occluded", "unseen"):
            return history[number - 1].object
    return None


def _put_back(ctx: ToolContext, item: SceneObject) -> SkillResult:
    """Put what is held where ``item`` says."""
    skill = skill_context(ctx)
    if item.relation == "in":
        return placing.place_in(skill, item.support)
    on = () if item.support in ("", TABLE) else (item.support,)
    lies = level(item.pose, item.size)
    exact = lies.straight and (item.shape == "box" or lies.oblong)
    return putting.place_at(skill, float(item.position[0]), float(item.position[1]), lies.yaw if exact else None, on)


def _undone(ctx: ToolContext, what: str, item: SceneObject, back: SkillResult) -> Undone:
    data = outcome(back)
    remember_placed(ctx, item.id, float(item.top - item.bottom), item.relation if item.relation == "in" else "on", item.support or TABLE, data)
    result = Undone(message=back.message, undone=what, object_id=item.id, back_at=rounded(data.get("position", item.position))[:2])
    if "position" in data:
        result["off_by"] = round(float(np.linalg.norm(np.asarray(data["position"][:2]) - item.position[:2])), 4)
    return result
