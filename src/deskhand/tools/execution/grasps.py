"""Candidate grasps."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field
from typing_extensions import TypedDict

from deskhand.etp.tool import ToolContext, tool
from deskhand.tools.looking import last_look
from deskhand.tools.objects import ObjectId, number_or_none, rounded


class GraspData(TypedDict):
    """One grasp of the parallel gripper."""

    position: Annotated[list[float], Field(description="point between the finger tips in world [m]")]
    approach: Annotated[list[float], Field(description="unit vector in which the gripper moves in")]
    closing: Annotated[list[float], Field(description="unit vector along which the fingers close")]
    width: Annotated[float, Field(description="distance of the contacts [m]")]
    score: Annotated[float, Field(description="probability that the pick succeeds")]
    clearance: Annotated[float | None, Field(description="of the open gripper to other objects [m]")]


class Grasps(TypedDict):
    """Ranked, best first."""

    object_id: str
    grasps: list[GraspData]


@tool(
    group="execution",
    unit="grasping",
    needs=("arm",),
    preconditions=("scene_known",),
    timeout=30.0,
    when_to_use="To compare grasp candidates of an object, or to see how wide it is to the fingers; pick does this for itself.",
    limits="From the last look. Only grasps that the arm reaches without collision are given; nothing moves.",
    examples=[("Propose grasp candidates and their scores for an object", {"object_id": "block_1", "max_grasps": 5})],
    failures=[("An id that the last look does not have", {"object_id": "cup_99"}, "unknown_object")],
)
def generate_grasps(
    ctx: ToolContext,
    object_id: ObjectId,
    max_grasps: Annotated[int, Field(ge=1, le=50, description="how many at most")] = 10,
) -> Grasps:
    """Generate ranked, reachable grasp poses of an object for the parallel gripper, without moving."""
    found = ctx.robot.generate_grasps(last_look(ctx), object_id, max_grasps)
    return Grasps(
        object_id=object_id,
        grasps=[
            GraspData(
                position=rounded(grasp.pose[:3, 3]),
                approach=rounded(grasp.pose[:3, 2]),
                closing=rounded(grasp.pose[:3, 1]),
                width=round(float(grasp.width), 4),
                score=round(float(grasp.score), 4),
                clearance=number_or_none(grasp.clearance),
            )
            for grasp in found[:max_grasps]
        ],
    )
