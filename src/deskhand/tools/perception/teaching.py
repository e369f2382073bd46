"""People teach the robot their own objects."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

import numpy as np
from pydantic import Field
from typing_extensions import TypedDict

from deskhand.errors import DeskhandError
from deskhand.etp.tool import ToolContext, tool
from deskhand.perception.taught.naming import cut_out
from deskhand.perception.taught.settings import NAMING
from deskhand.skills.sides import sides_of
from deskhand.tools.looking import look, skill_context
from deskhand.tools.objects import ObjectId, rounded
from deskhand.tools.viewing import desk_view, owners
from deskhand.world.taught import LONGEST_NAME, TaughtStore, TaughtView, checked_name, store_path

GOOD = 4
"""Views from which on an object is known again from any side, as measured with groceries (docs/detectors.md)."""
Name = Annotated[str, Field(min_length=1, max_length=LONGEST_NAME, description="what the person calls it: my mug")]


class Taught(TypedDict):
    """What was learnt."""

    name: str
    learnt: Annotated[int, Field(description="views of this call")]
    views: Annotated[int, Field(description="views of this name in all")]
    size: Annotated[list[float], Field(description="of the object as it was seen [m], long to short")]
    note: Annotated[str, Field(description="what would make it known better; empty when it is known well")]


class TaughtLine(TypedDict):
    """A taught name."""

    name: str
    views: int
    size: Annotated[list[float], Field(description="[m], long to short; empty where it is not known")]


class TaughtNamesKnown(TypedDict):
    """All taught names."""

    taught: list[TaughtLine]


@tool(
    group="perception",
    unit="detection",
    effects="motion",
    needs=("arm", "camera"),
    preconditions=("not_stopped",),
    postconditions=("scene_known",),
    timeout=180.0,
    when_to_use="When a person says what an object is called (this is my mug, that one is the sugar): looks at it and knows it again under that name, in later "
    "tasks and after a restart.",
    limits="Knows it by its print, colours and size as it was seen; sides that it was not shown are strange to it. A camera on the arm is moved round the "
    "object; one that stands still takes a view at a call: have the object turned and call again with the same name.",
    examples=[("This is my mug", {"name": "my mug", "object_id": "cup_1"})],
    failures=[("The object is not on the desk", {"name": "my mug", "object_id": "ghost_9"}, "unknown_object")],
)
def teach_object(
    ctx: ToolContext,
    name: Name,
    object_id: ObjectId,
    views: Annotated[int, Field(ge=1, le=8, description="how many views a camera on the arm takes at most")] = 5,
) -> Taught:
    """Learn how an object looks and what it is called; calls with the same name add views."""
    kept = checked_name(name)
    scene, _ = look(ctx)
    place = scene.get(object_id).position
    learnt = [view for _ in _looks(ctx, place, views) if (view := _view(ctx, object_id)) is not None]
    if not learnt:
        raise DeskhandError("tool_failed", f"too little of {object_id} is seen to learn it.", hint="Put it where the camera sees it whole, free of others.")
    with TaughtStore(store_path()) as store:
        count = store.add(kept, learnt)
    sizes = [sorted(view.size, reverse=True) for view in learnt if view.size]
    note = "" if count >= GOOD else f"It has {count} of {GOOD} views or more that are good to have: turn the object to another side and call again."
    return Taught(name=kept, learnt=len(learnt), views=count, size=rounded(np.median(sizes, axis=0)) if sizes else [], note=note)


@tool(
    group="perception",
    unit="detection",
    in_process="It reads the folder of what people taught, which worker processes may not.",
    timeout=10.0,
    when_to_use="To know which objects of their own people have taught the robot.",
    limits="Names and sizes; whether such an object is on the desk, detect_objects says.",
    examples=[("Which objects do you know by name?", {})],
    failures=[("An argument is given although it takes none", {"name": "my mug"}, "invalid_arguments")],
)
def list_taught_objects(ctx: ToolContext) -> TaughtNamesKnown:
    """The names that people have taught, and from how many views each is known."""
    with TaughtStore(store_path()) as store:
        return TaughtNamesKnown(taught=[TaughtLine(name=line.name, views=line.views, size=rounded(line.size)) for line in store.listing()])


@tool(
    group="perception",
    unit="detection",
    effects="memory",
    timeout=10.0,
    when_to_use="When a person says that a taught name is wrong or no longer needed.",
    limits="All views of the name are gone; teach_object begins anew.",
    examples=[("Forget what my mug looks like", {"name": "my mug"})],
    failures=[("Nobody taught that name", {"name": "the holy grail"}, "unknown_object")],
)
def forget_taught_object(ctx: ToolContext, name: Name) -> TaughtNamesKnown:
    """Forget a taught name; tells what is left."""
    with TaughtStore(store_path()) as store:
        store.forget(name)
        return TaughtNamesKnown(taught=[TaughtLine(name=line.name, views=line.views, size=rounded(line.size)) for line in store.listing()])


def _looks(ctx: ToolContext, place: np.ndarray[tuple[int, ...], np.dtype[np.float64]], most: int) -> Iterator[int]:
    """One for each look that is to be taken: as it is for a camera that stands still, from several sides for one on the arm."""
    mount = ctx.robot.camera_mount()
    if mount is None:
        yield 1
        return
    for number in sides_of(skill_context(ctx), mount, np.asarray(place, float), most):
        ctx.progress(number / (most + 1), f"view {number} of {most}")
        try:
            look(ctx)
        except DeskhandError as error:
            if error.code != "no_table":
                raise
            continue  # too little of the table is in this picture to tell the object from it
        yield number


def _view(ctx: ToolContext, object_id: str) -> TaughtView | None:
    """The object in a new picture; None when too little of it is seen."""
    scene = ctx.belief.scene
    assert scene is not None
    index = next((number for number, item in enumerate(scene.objects) if item.id == object_id), None)
    if index is None:
        return None
    view = desk_view(ctx)
    pixels = np.flatnonzero(owners(view, scene).reshape(-1) == index)
    if len(pixels) < NAMING.least_pixels:
        return None
    item = scene.objects[index]
    return TaughtView(*cut_out(view.frame.color, pixels), size=() if item.guessed else tuple(map(float, item.size)))
