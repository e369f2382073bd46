"""Spatial words between objects."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field
from typing_extensions import TypedDict

from deskhand.etp.tool import ToolContext, tool
from deskhand.tools.looking import last_look
from deskhand.tools.objects import ObjectId
from deskhand.world.relations import TABLE, Relation
from deskhand.world.spatial import relation_holds


class RelationAnswer(TypedDict):
    """Whether a relation holds."""

    holds: bool
    reason: Annotated[str, Field(description="what was measured")]


@tool(
    group="perception",
    unit="spatial_grounding",
    preconditions=("scene_known", "object_known(object_id)"),
    when_to_use="To verify one spatial claim about two known ids, yes or no, with what was measured, for example before it is said to a person.",
    limits="Uses the last look. Directions are as seen from the robot: left_of is +y, behind is farther from the robot (+x), in_front_of is nearer to it. "
    "near means a gap below 50 mm.",
    examples=[
        ("Is the red block to the left of the cup?", {"object_id": "block_1", "relation": "left_of", "target_id": "cup_1"}),
        ("Is the pen inside the bin, or next to it?", {"object_id": "pen_1", "relation": "in", "target_id": "bin_1"}),
    ],
    failures=[("The object is not on the desk", {"object_id": "ghost_9", "relation": "near", "target_id": "cup_1"}, "unknown_object")],
)
def query_relation(
    ctx: ToolContext,
    object_id: ObjectId,
    relation: Annotated[Relation, Field(description="the relation of the first object to the second, as seen from the robot")],
    target_id: Annotated[str, Field(min_length=1, max_length=64, description="id of the other object; 'table' with on")],
) -> RelationAnswer:
    """Tell whether a spatial relation holds between two known objects (on, in, left_of, right_of, in_front_of, behind, near), and why."""
    scene = last_look(ctx)
    target = None if target_id == TABLE else scene.get(target_id)
    holds, reason = relation_holds(scene, scene.get(object_id), relation, target)
    return RelationAnswer(holds=holds, reason=reason)
