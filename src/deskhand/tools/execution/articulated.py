"""Open and close drawers and lids, turn knobs."""

from __future__ import annotations

from typing import Annotated

import numpy as np
from pydantic import ConfigDict, Field
from typing_extensions import TypedDict

from deskhand.etp.tool import ToolContext, tool
from deskhand.geometry import Array
from deskhand.skills import articulated, lids
from deskhand.tools.acting import outcome
from deskhand.tools.looking import skill_context
from deskhand.tools.objects import ObjectId

HandlePlace = Annotated[
    list[Annotated[float, Field(ge=-1.5, le=1.5)]] | None,
    Field(min_length=3, max_length=3, description="[x, y, z] of the handle [m, world], of find_handles; null: the only one of that side"),
]
FAILURES = [("An id that the last look does not have", {"object_id": "object_99"}, "unknown_object")]


class MovedByHandle(TypedDict):
    """What a look tells; more may be given."""

    __pydantic_config__ = ConfigDict(extra="allow")  # type: ignore[misc]

    message: str
    object_id: str
    handle: Annotated[list[float], Field(description="[x, y, z] where the handle is now [m, world]")]
    moved: Annotated[float, Field(description="by which the handle has gone, as a look sees it [m]; of a knob [rad]")]
    stopped: Annotated[bool, Field(description="it would go no further, or slipped out of the fingers, before the end of the way")]


@tool(
    group="execution",
    unit="force_and_compliance",
    effects="motion",
    needs=("arm", "gripper", "camera"),
    preconditions=("not_holding", "not_stopped"),
    postconditions=("not_holding", "scene_known"),
    timeout=240.0,
    when_to_use="To pull a drawer open by its handle; find_handles tells which handles there are.",
    limits="Straight out of the side that the handle is on. Fails with no_handle where none is seen, not_moved where a look does not see the handle gone. How "
    "far depends on the arm's reach beyond the handle.",
    examples=[
        ("Open the middle drawer", {"object_id": "object_7", "handle": [0.103, -0.139, 0.118]}),
        ("Pull the drawer out by 8 cm", {"object_id": "box_1", "distance": 0.08}),
    ],
    failures=FAILURES,
)
def open_drawer(
    ctx: ToolContext,
    object_id: ObjectId,
    distance: Annotated[float, Field(ge=0.02, le=0.30, description="how far, or until it stops [m]")] = 0.15,
    handle: HandlePlace = None,
) -> MovedByHandle:
    """Pull a drawer open by its handle, and verify by a look how far it has come."""
    return outcome(articulated.open_drawer(skill_context(ctx), object_id, distance, _place(handle)))  # type: ignore[return-value]


@tool(
    group="execution",
    unit="force_and_compliance",
    effects="motion",
    needs=("arm", "gripper", "camera"),
    preconditions=("not_holding", "not_stopped"),
    postconditions=("not_holding", "scene_known"),
    timeout=240.0,
    when_to_use="To push an open drawer shut by its handle.",
    limits="It is held by the handle and pushed straight in until it stops; whether it is shut to the last millimetre is not seen. Fails with no_handle, "
    "not_moved as open_drawer.",
    examples=[("Close the drawer", {"object_id": "object_2"}), ("Push the drawer in by 5 cm", {"object_id": "object_2", "distance": 0.05})],
    failures=FAILURES,
)
def close_drawer(
    ctx: ToolContext,
    object_id: ObjectId,
    distance: Annotated[float, Field(ge=0.02, le=0.30, description="how far at most [m]")] = 0.30,
    handle: HandlePlace = None,
) -> MovedByHandle:
    """Push a drawer shut by its handle, and verify by a look how far it has gone."""
    return outcome(articulated.close_drawer(skill_context(ctx), object_id, distance, _place(handle)))  # type: ignore[return-value]


@tool(
    group="execution",
    unit="force_and_compliance",
    effects="motion",
    needs=("arm", "gripper", "camera"),
    preconditions=("not_holding", "not_stopped"),
    postconditions=("not_holding", "scene_known"),
    timeout=240.0,
    when_to_use="To open the hinged lid of a box by the handle on it, until it stays open.",
    limits="A handle on top near one edge; the hinge is taken to be at the opposite edge. The whole arc must be within reach. A lid with its handle in the "
    "middle is picked up instead (invalid_input).",
    examples=[
        ("Open the blue box", {"object_id": "box_2"}),
        ("Lift the lid that has its handle there", {"object_id": "box_2", "handle": [0.01, -0.14, 0.083]}),
    ],
    failures=FAILURES,
)
def open_lid(ctx: ToolContext, object_id: ObjectId, handle: HandlePlace = None) -> MovedByHandle:
    """Lift a hinged lid by its handle past upright, and verify by a look that it stays open."""
    return outcome(articulated.open_lid(skill_context(ctx), object_id, _place(handle)))  # type: ignore[return-value]


class LidClosed(TypedDict):
    """What a look tells; more may be given."""

    __pydantic_config__ = ConfigDict(extra="allow")  # type: ignore[misc]

    message: str
    object_id: str
    height_before: Annotated[float, Field(description="of the upper edge of the lid that stood open [m, world]")]
    height_after: Annotated[float, Field(description="of what is highest where it stood and where it lies now [m, world]")]


@tool(
    group="execution",
    unit="force_and_compliance",
    effects="motion",
    needs=("arm", "gripper", "camera"),
    preconditions=("not_holding", "not_stopped"),
    postconditions=("not_holding", "scene_known"),
    timeout=240.0,
    when_to_use="To shut the hinged lid of a box that stands open, as open_lid leaves it; find_handles tells which lids stand open.",
    limits="A flat lid that leans 4 to 35 degrees beyond upright, pushed over from behind near a corner, so that it falls shut by itself. The arm must reach "
    "over it. Fails with no_lid where none is seen open, not_moved where a look sees it standing still.",
    examples=[("Close the blue box", {"object_id": "box_2"}), ("Let the lid fall shut again", {"object_id": "object_1"})],
    failures=FAILURES,
)
def close_lid(ctx: ToolContext, object_id: ObjectId) -> LidClosed:
    """Push a hinged lid that stands open over so that it falls shut, and verify by a look that it lies."""
    return outcome(lids.close_lid(skill_context(ctx), object_id))  # type: ignore[return-value]


@tool(
    group="execution",
    unit="force_and_compliance",
    effects="motion",
    needs=("arm", "gripper", "camera"),
    preconditions=("not_holding", "not_stopped"),
    postconditions=("not_holding", "scene_known"),
    timeout=240.0,
    when_to_use="To turn a knob, as of a stove, gripped from above; positive angles turn left (counter-clockwise) as seen from above.",
    limits="A knob on top of an object that is longer than thick, so that a look sees how it is turned. Where it does not move that way, it may the other.",
    examples=[("Turn the stove on", {"object_id": "object_9", "angle": 1.2}), ("A quarter turn to the right", {"object_id": "object_9", "angle": -1.57})],
    failures=[("An id that the last look does not have", {"object_id": "object_99", "angle": 1.0}, "unknown_object")],
)
def turn_knob(
    ctx: ToolContext,
    object_id: ObjectId,
    angle: Annotated[float, Field(ge=-3.1, le=3.1, description="0.2 to 3.1 either way [rad]")],
    handle: HandlePlace = None,
) -> MovedByHandle:
    """Turn a knob by an angle, and verify by a look how far it has turned."""
    return outcome(articulated.turn_knob(skill_context(ctx), object_id, angle, _place(handle)))  # type: ignore[return-value]


def _place(handle: list[float] | None) -> Array | None:
    return None if handle is None else np.asarray(handle, dtype=float)
