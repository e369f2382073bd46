"""Choosing where to look from."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import ConfigDict, Field
from typing_extensions import TypedDict

from deskhand.etp.tool import ToolContext, tool
from deskhand.skills import move
from deskhand.tools.acting import outcome
from deskhand.tools.looking import last_look, skill_context
from deskhand.tools.objects import ObjectData, ObjectId, objects_data


class LookedAround(TypedDict):
    """What all views together show; more may be given."""

    __pydantic_config__ = ConfigDict(extra="allow")  # type: ignore[misc]

    message: str
    objects: Annotated[list[ObjectData], Field(description="everything seen on the desk; containers last")]
    stamp: Annotated[float, Field(description="ROS time of the last picture [s]")]
    camera: Annotated[Literal["arm", "fixed"], Field(description="fixed: the camera stands still, and only the arm went out of its sight")]
    views: Annotated[int, Field(description="how many pictures were taken, from as many places")]
    unseen: Annotated[float, Field(description="share of the space over the desk within reach (around the object, when one was named) that no picture showed")]


@tool(
    group="reasoning",
    unit="active_perception",
    effects="motion",
    needs=("arm", "camera"),
    preconditions=("not_stopped",),
    postconditions=("scene_known", "view_fresh"),
    timeout=180.0,
    when_to_use="To look behind objects or from another side, and to see what one picture does not show: when detect_objects says that its look may be "
    "incomplete; with object_id before grasping in a tight place.",
    limits="Moves the arm. A camera that stands still cannot go round objects: then the arm only makes way, and 'unseen' says what stays hidden. "
    "What the gripper holds is carried along.",
    examples=[
        ("Something may stand behind the box: look from where more is seen", {}),
        ("See all sides of the cup before picking it", {"object_id": "cup_1", "views": 2}),
    ],
    failures=[("More views than it takes", {"views": 9}, "invalid_arguments")],
)
def look(
    ctx: ToolContext,
    object_id: Annotated[ObjectId | None, Field(description="look at what is around this object; null for the whole desk")] = None,
    views: Annotated[int, Field(ge=1, le=6, description="how many views a camera on the arm takes at most")] = 3,
) -> LookedAround:
    """Look from the reachable views that show most of what is hidden or unknown now, and make one scene of all pictures."""
    data = outcome(move.look(skill_context(ctx), object_id or "", views))
    return {**data, "objects": objects_data(last_look(ctx), ctx.belief.hidden, ctx.robot.arm)}  # type: ignore[typeddict-item]
