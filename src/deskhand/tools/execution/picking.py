"""Pick and place, each with an outcome that was verified."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field
from typing_extensions import NotRequired, TypedDict

from deskhand.errors import DeskhandError
from deskhand.etp.tool import ToolContext, tool
from deskhand.language.resolve import is_tableware
from deskhand.perception.closing import MOST
from deskhand.skills import beside as besides
from deskhand.skills import pick as picking
from deskhand.skills import place as placing
from deskhand.skills import put as putting
from deskhand.skills.bring import Then
from deskhand.tools.acting import outcome, remember_placed
from deskhand.tools.looking import skill_context
from deskhand.tools.objects import ObjectId
from deskhand.types import SceneObject, SkillResult


class Picked(TypedDict):
    """What the pick measured; more may be given."""

    __pydantic_config__ = ConfigDict(extra="allow")  # type: ignore[misc]

    message: str
    object_id: Annotated[str, Field(description="what is held: the object of the call, or the id under which it is known since a second attempt")]
    width: Annotated[float, Field(description="of the fingers on the object [m]")]
    label: Annotated[str, Field(description="what it is; the width may show that it is no such object as was seen")]
    lifted: Annotated[float, Field(description="[m]")]
    attempts: NotRequired[int]


class Placed(TypedDict):
    """What the place measured; more may be given."""

    __pydantic_config__ = ConfigDict(extra="allow")  # type: ignore[misc]

    message: str
    object_id: str
    seen: Annotated[bool, Field(description="false: the walls or other objects hide it now, and it is seen nowhere else")]
    seen_as: NotRequired[Annotated[str, Field(description="the id under which it is seen now")]]
    position: NotRequired[Annotated[list[float], Field(description="where it is seen [m, world]")]]
    disturbed: NotRequired[Annotated[list[str], Field(description="ids of other objects that are no longer where they were")]]


NextObjectId = Annotated[
    str,
    Field(max_length=64, description="what will be picked next, when that is known: the hand goes on to it and looks on the way; pick it then; empty: none"),
]
_HELD = ("holding", "not_stopped")
_HOLDS_NOW = ("not_holding", "scene_known")


@tool(
    group="execution",
    unit="grasping",
    effects="motion",
    needs=("arm", "gripper", "camera"),
    preconditions=("not_stopped", "scene_known", "not_holding", "object_known(object_id)"),
    postconditions=("holding(object_id)",),
    timeout=240.0,
    when_to_use="To grab and lift an object from the desk or out of a container, before placing it somewhere. One object at a time.",
    limits="The object needs a side of at most about 43 mm, a rim or a handle for the fingers, and at most 250 g. Containers cannot be picked, but "
    "for bowls and plates. Tries a few grasps, then fails with grasp_failed, no_grasp or object_lost.",
    examples=[("Pick up the red block", {"object_id": "block_1"}), ("Lift the pen off the desk so that it can be put away", {"object_id": "pen_1"})],
    failures=[("An id that the last look does not have", {"object_id": "cup_99"}, "unknown_object")],
)
def pick(
    ctx: ToolContext,
    object_id: ObjectId,
    closing: Annotated[
        list[Annotated[float, Field(ge=-3.2, le=3.2)]] | None,
        Field(
            max_length=MOST, description="directions [rad about the vertical, 0 along x of world] along which the fingers shall close if they can; null: any"
        ),
    ] = None,
    below: Annotated[
        float, Field(ge=0.0, le=0.05, description="[m] of it that shall be below the finger tips if that can be, as 0.014 of what goes into a hole")
    ] = 0.0,
    next_container_id: Annotated[
        str,
        Field(max_length=64, description="container that it is put in next, when that is known: it is brought there in one motion; place_in then; empty: none"),
    ] = "",
    next_object_id: Annotated[
        str, Field(max_length=64, description="what will be picked after that, when that is known: the way to it is planned meanwhile; empty: none")
    ] = "",
) -> Picked:
    """Pick up an object: grasp it, lift it, and verify by finger width and a second look that it is held."""
    item = ctx.belief.scene.get(object_id) if ctx.belief.scene else None
    if item is not None and item.is_container and not is_tableware({"label": item.label}):
        raise DeskhandError("invalid_arguments", f"pick: object_id: {object_id} is a container, which cannot be picked.", hint="Pick what lies in it.")
    data = outcome(picking.pick(skill_context(ctx), object_id, closing=closing or (), below=below, then=Then(next_container_id, next_object_id)))
    for name in (object_id, data["object_id"]):
        ctx.placed.pop(name, None)
    return data  # type: ignore[return-value]


@tool(
    group="execution",
    unit="grasping",
    effects="motion",
    needs=("arm", "gripper", "camera"),
    preconditions=_HELD,
    postconditions=_HOLDS_NOW,
    timeout=240.0,
    when_to_use="To put the held object into a container such as a bin, tray or box, as in cleaning or sorting; pick it first.",
    limits="Only into containers that the arm can reach over. Fails with no_free_space when the container is full, place_failed when it fell elsewhere.",
    examples=[("Drop what is in the gripper into the bin", {"container_id": "bin_1"})],
    failures=[("The gripper is empty", {"container_id": "bin_1"}, "precondition_failed")],
)
def place_in(
    ctx: ToolContext,
    container_id: Annotated[str, Field(min_length=1, max_length=64, description="id of a container, for example bin_1")],
    next_object_id: NextObjectId = "",
) -> Placed:
    """Put the held object into a container and verify by a look that it is inside."""
    held = _held(ctx)
    return _placed(ctx, held, "in", container_id, placing.place_in(skill_context(ctx), container_id, next_object_id))


@tool(
    group="execution",
    unit="grasping",
    effects="motion",
    needs=("arm", "gripper", "camera"),
    preconditions=_HELD,
    postconditions=_HOLDS_NOW,
    timeout=240.0,
    when_to_use="To stack the held object on top of another one, as in building a tower; pick it first.",
    limits="The other object must be flat on top and stand firm; for containers use place_in, for the table place_at.",
    examples=[("Stack the held block on top of another block", {"target_id": "block_2"})],
    failures=[("The gripper is empty", {"target_id": "block_1"}, "precondition_failed")],
)
def place_on(ctx: ToolContext, target_id: ObjectId) -> Placed:
    """Place the held object on top of another object, centre over centre, and verify by a look that it stands there."""
    held = _held(ctx)
    return _placed(ctx, held, "on", target_id, putting.place_on(skill_context(ctx), target_id))


@tool(
    group="execution",
    unit="grasping",
    effects="motion",
    needs=("arm", "gripper", "camera"),
    preconditions=_HELD,
    postconditions=_HOLDS_NOW,
    timeout=240.0,
    when_to_use="To set the held object down at given coordinates: on the table, for example to make room or to lay out a row, or across others (on), "
    "as the beam of a bridge; pick it first.",
    limits="The place must be within reach and free; fails with no_free_space or no_ik_solution otherwise. With yaw it is exact to 10 mm, put right once when "
    "the look shows it off, else place_failed.",
    examples=[
        ("Set the held object down on the table at a free spot", {"x": 0.05, "y": -0.12}),
        ("Lay the held beam across two blocks", {"x": 0.0, "y": 0.1, "yaw": 1.57, "on": ["block_1", "block_2"]}),
    ],
    failures=[("The gripper is empty", {"x": 0.05, "y": -0.12}, "precondition_failed")],
)
def place_at(
    ctx: ToolContext,
    x: Annotated[float, Field(ge=-0.6, le=0.6, description="[m] world x of its centre: away from the robot")],
    y: Annotated[float, Field(ge=-0.8, le=0.8, description="[m] world y of its centre: to the robot's left")],
    yaw: Annotated[float | None, Field(ge=-3.15, le=3.15, description="[rad] turn of its longer side about world z, exact; null for any")] = None,
    on: Annotated[
        list[ObjectId] | None, Field(max_length=8, description="ids of the objects under it that carry it, as in building; null for the table")
    ] = None,
    level: Annotated[float, Field(ge=0, le=0.02, description="[m] above the table of what lies there and is no object: a thin plate, mat or sheet")] = 0.0,
) -> Placed:
    """Place the held object with its centre at (x, y), on the table or on top of other objects, and verify by a look that it stands there."""
    held = _held(ctx)
    return _placed(ctx, held, "on", on[0] if on else "table", putting.place_at(skill_context(ctx), x, y, yaw, on or (), level))


@tool(
    group="execution",
    unit="grasping",
    effects="motion",
    needs=("arm", "gripper", "camera"),
    preconditions=_HELD,
    postconditions=_HOLDS_NOW,
    timeout=240.0,
    when_to_use="To set the held object down next to another one, on the side that is wanted and with a gap; pick it first.",
    limits="On the table only; within reach. Where the very place is taken it goes up to 24 mm farther off; fails with no_free_space otherwise.",
    examples=[
        ("Put it down next to the can, leaving a gap of 5 cm", {"target_id": "can_1", "side": "behind", "gap": 0.05}),
        ("Place it beside the box", {"target_id": "box_1", "side": "left_of"}),
    ],
    failures=[("The gripper is empty", {"target_id": "block_1", "side": "left_of"}, "precondition_failed")],
)
def place_beside(
    ctx: ToolContext,
    target_id: ObjectId,
    side: Annotated[
        Literal["left_of", "right_of", "in_front_of", "behind", "near"],
        Field(description="where, as seen from the robot; near: on any side where there is room"),
    ] = "near",
    gap: Annotated[float, Field(ge=0.0, le=0.2, description="[m] between the two")] = 0.02,
) -> Placed:
    """Place the held object on the table beside another one, with a gap, and verify by a look that it stands there."""
    held = _held(ctx)
    return _placed(ctx, held, "on", "table", besides.place_beside(skill_context(ctx), target_id, side, gap))


@tool(
    group="execution",
    unit="grasping",
    effects="motion",
    needs=("arm", "gripper", "camera"),
    preconditions=_HELD,
    postconditions=_HOLDS_NOW,
    timeout=240.0,
    when_to_use="To get rid of what the gripper holds when it has no place of its own: it goes on the table, where there is room within reach.",
    limits="Chooses the place itself. Fails with no_free_space when the desk is full.",
    examples=[
        ("Free the gripper: put the held object anywhere on the desk", {}),
        ("Put the block aside, away from where the tower shall stand", {"keep_clear": [[0.05, 0.1]]}),
    ],
    failures=[("The gripper is empty", {}, "precondition_failed")],
)
def put_aside(
    ctx: ToolContext,
    keep_clear: Annotated[
        list[Annotated[list[Annotated[float, Field(ge=-1.5, le=1.5)]], Field(min_length=2, max_length=2)]] | None,
        Field(max_length=20, description="places [x, y] in world [m] to stay away from; null for none"),
    ] = None,
) -> Placed:
    """Place the held object at a free place on the table within reach, and verify by a look that it stands there."""
    held = _held(ctx)
    return _placed(ctx, held, "on", "table", besides.put_aside(skill_context(ctx), [(x, y) for x, y in keep_clear or ()]))


def _held(ctx: ToolContext) -> SceneObject:
    assert ctx.belief.held is not None  # the precondition holding
    return ctx.belief.held.object


def _placed(ctx: ToolContext, held: SceneObject, relation: str, target_id: str, result: SkillResult) -> Placed:
    data: dict[str, Any] = {"object_id": held.id, **outcome(result)}
    remember_placed(ctx, held.id, float(held.top - held.bottom), relation, target_id, data)
    return data  # type: ignore[return-value]
