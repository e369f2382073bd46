"""Is it done? A fresh look against what was wanted."""

from __future__ import annotations

from typing import Annotated

import numpy as np
from pydantic import Field
from typing_extensions import NotRequired, TypedDict

from deskhand.etp.tool import Placement, ToolContext, tool
from deskhand.geometry import Array
from deskhand.tools.looking import look
from deskhand.tools.objects import ObjectId
from deskhand.tools.reasoning.containers import content_evidence
from deskhand.tools.reasoning.standing import at_heading, at_position
from deskhand.types import Scene
from deskhand.world.relations import SIDEWAYS, TABLE, Relation
from deskhand.world.spatial import beside_holds, relation_holds

SPOT = 0.015  # [m] about the middle of what was put into a recess
HAND = 0.03  # [m] above that, from which on what is seen there is the hand
HEIGHT = 0.004  # [m] by which its height may differ between two looks: less than a recess of a kit is deep


class Condition(TypedDict):
    """``object_id`` is ``relation`` ``target_id``."""

    object_id: ObjectId
    relation: Annotated[Relation, Field(description="in for containers, on for the table and other objects; directions and near as seen from the robot")]
    target_id: Annotated[str, Field(min_length=1, max_length=64, description="id of what it shall lie on, in or beside; 'table' with on")]
    position: NotRequired[
        Annotated[list[float], Field(min_length=2, max_length=2, description="[x, y] where its centre shall be, to 10 mm, as in building [m]")]
    ]
    yaw: NotRequired[Annotated[float, Field(ge=-6.3, le=6.3, description="heading that its longer side shall have, to 10 degrees [rad]")]]
    beside: NotRequired[Annotated[bool, Field(description="with a direction: it shall also stand next to it, not just anywhere on that side")]]


class Judged(TypedDict):
    """A condition and what speaks for or against it."""

    object_id: str
    relation: str
    target_id: str
    reason: str


class GoalCheck(TypedDict):
    """Which conditions hold now."""

    satisfied: Annotated[bool, Field(description="true when every condition holds")]
    unmet: list[Judged]
    met: Annotated[list[Judged], Field(description="with the evidence: seen, or hidden inside a container that the robot put it in")]
    note: Annotated[str, Field(description="why the look may be incomplete, else empty")]


@tool(
    group="reasoning",
    unit="formal_verification",
    effects="memory",
    needs=("camera",),
    postconditions=("scene_known",),
    timeout=30.0,
    when_to_use="Before saying that a task is done, and after a step whose outcome matters: verifies by a new picture that objects lie where they should.",
    limits="An object that is not seen counts only when the robot itself put it into that container and its content is hidden from the camera. "
    "Directions are as seen from the robot.",
    examples=[
        ("Verify that the task is complete: the red block is in the bin", {"conditions": [{"object_id": "block_1", "relation": "in", "target_id": "bin_1"}]}),
        (
            "Check that the tower stands",
            {
                "conditions": [
                    {"object_id": "block_2", "relation": "on", "target_id": "block_1"},
                    {"object_id": "block_1", "relation": "on", "target_id": "table"},
                ]
            },
        ),
    ],
    failures=[("No conditions are given", {"conditions": []}, "invalid_arguments")],
)
def check_goal(
    ctx: ToolContext,
    conditions: Annotated[list[Condition], Field(min_length=1, max_length=64, description="what shall be so, all of it")],
) -> GoalCheck:
    """Check by a fresh look whether goal conditions hold (object in container, object on target) and say why each unmet one does not."""
    ctx.progress(0.1, "looking at the desk")
    scene, note = look(ctx)
    met: list[Judged] = []
    unmet: list[Judged] = []
    for condition in conditions:
        holds, reason = _judge(ctx, scene, condition)
        if holds and "position" in condition:
            holds, reason = at_position(ctx, scene, condition["object_id"], condition["position"])
        if holds and "yaw" in condition:
            holds, reason = at_heading(scene, condition["object_id"], condition["yaw"])
        (met if holds else unmet).append(
            Judged(object_id=condition["object_id"], relation=condition["relation"], target_id=condition["target_id"], reason=reason)
        )
    return GoalCheck(satisfied=not unmet, unmet=unmet, met=met, note=note)


def _judge(ctx: ToolContext, scene: Scene, condition: Condition) -> tuple[bool, str]:
    object_id, relation, target_id = condition["object_id"], condition["relation"], condition["target_id"]
    held = ctx.belief.held
    if held and held.object.id == object_id:
        return False, f"{object_id} is in the gripper."
    known = {item.id: item for item in scene.objects}
    target = known.get(target_id)
    if target is None and relation == "in" and target_id in ctx.belief.shut:
        return _in_what_was_shut(ctx, scene, object_id, target_id)
    if target is None and target_id != TABLE:
        return False, f"{target_id} is not seen; seen: {', '.join(known) or 'nothing'}."
    placed = ctx.placed.get(object_id) or _called_so_once(ctx, object_id)
    item = known.get(object_id) or (known.get(placed.seen_as) if placed else None)
    if placed is not None and placed.spot is not None and (relation, target_id) == (placed.relation, placed.target_id):
        spot = np.array(placed.spot)
        beside = 0.0 if item is None else float(np.linalg.norm(item.position[:2] - spot[:2]))
        if beside >= SPOT:  # resting on the plate is not lying in its recess
            return False, f"the robot put it into a recess of {target_id}, and it is seen {1000 * beside:.0f} mm beside that now."
        return _stands_at(scene, object_id, placed, spot)
    if item is not None:
        if target is not None and relation in SIDEWAYS and condition.get("beside"):
            return beside_holds(scene, item, relation, target)
        return relation_holds(scene, item, relation, target)
    if placed is None:
        return False, f"{object_id} is not seen, and the robot has not put it anywhere; seen: {', '.join(known) or 'nothing'}."
    verified = "saw it there" if placed.seen else "saw it nowhere else"
    record = f"the robot put it {placed.relation} {placed.target_id} at {placed.stamp:.1f} s and {verified}"
    if relation != "in" or (placed.relation, placed.target_id) != ("in", target_id) or target is None:
        return False, f"{object_id} is not seen; {record}."
    hidden, evidence = content_evidence(ctx.robot.observe, scene, target, placed.height)
    if hidden:
        return True, f"inside, hidden: {record}, and {evidence}."
    return False, f"{object_id} is not seen: {record}, but {evidence}."


def _called_so_once(ctx: ToolContext, object_id: str) -> Placement | None:
    """What the robot knows of where it put an object that the look after it, and perhaps that one alone, gave this id."""
    return max((placed for placed in ctx.placed.values() if placed.seen_as == object_id), key=lambda placed: placed.stamp, default=None)


def _stands_at(scene: Scene, object_id: str, placed: Placement, spot: Array) -> tuple[bool, str]:
    """Of what the robot has put into a recess: whether something as high stands there still, whatever a look takes it for."""
    points = np.asarray(scene.cloud, dtype=float).reshape(-1, 3)
    near = points[(np.linalg.norm(points[:, :2] - spot[:2], axis=1) < SPOT) & (points[:, 2] < spot[2] + HAND), 2]
    off = float(np.quantile(near, 0.9)) - float(spot[2]) if len(near) else np.inf
    record = f"the robot put it into a recess of {placed.target_id} at {placed.stamp:.1f} s and saw it there"
    if abs(off) < HEIGHT:
        return True, f"{record}, and what stands there is as high still."
    return False, f"{record}, but nothing as high as {object_id} is seen there now."


def _in_what_was_shut(ctx: ToolContext, scene: Scene, object_id: str, drawer_id: str) -> tuple[bool, str]:
    """Of a drawer that the robot has pushed in: what it had put in there, and is seen nowhere else, is in it."""
    placed, body = ctx.placed.get(object_id), ctx.belief.shut[drawer_id]
    seen = next((item.id for item in scene.objects if item.id in (object_id, placed.seen_as if placed else object_id)), "")
    if seen:
        return False, f"{seen} is seen, and {drawer_id} is shut."
    if placed is None or (placed.relation, placed.target_id) != ("in", drawer_id):
        return False, f"{object_id} is not seen, and the robot has not put it in {drawer_id}, which is shut."
    return True, f"inside: the robot put it there, has pushed {drawer_id} into {body} since, and it is seen nowhere else."
