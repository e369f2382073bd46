"""Asking the last look."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field
from typing_extensions import TypedDict

from deskhand.etp.tool import ToolContext, tool
from deskhand.tools.looking import last_look
from deskhand.tools.objects import ObjectData, object_data, objects_data
from deskhand.types import Scene, SceneObject


class FoundObjects(TypedDict):
    """Objects that fit, and a hint when there are none."""

    objects: list[ObjectData]
    hint: Annotated[str, Field(description="what is there instead when nothing fits, else empty")]


class Description(TypedDict):
    """The desk in words and as data."""

    text: str
    objects: list[ObjectData]


def _fits(wanted: str, value: str) -> bool:
    return not wanted or wanted.strip().lower() == value.lower()


@tool(
    group="cognition",
    unit="queryable_memory",
    preconditions=("scene_known",),
    when_to_use="To look up which remembered objects have a kind, colour or shape, such as all red blocks or every container, without a new picture.",
    limits="Answers from the last look; words must be those that detect_objects uses, there are no synonyms.",
    examples=[("Find all red blocks", {"label": "block", "color": "red"}), ("Which bins, trays or boxes can hold objects?", {"container": True})],
    failures=[("Nobody has looked yet", {"label": "block"}, "precondition_failed")],
)
def find_objects(
    ctx: ToolContext,
    label: Annotated[str, Field(max_length=64, description="kind, for example block; empty for any")] = "",
    color: Annotated[str, Field(max_length=32, description="colour name, for example red; empty for any")] = "",
    shape: Annotated[str, Field(max_length=32, description="box, cylinder, sphere or other; empty for any")] = "",
    container: Annotated[bool | None, Field(description="true: only containers, false: none of them, null: either")] = None,
) -> FoundObjects:
    """Find remembered objects by kind, colour, shape or whether they are containers, from the last look."""
    scene = last_look(ctx)
    found = [
        item
        for item in scene.objects
        if _fits(label, item.label) and _fits(color, item.color) and _fits(shape, item.shape) and container in (None, item.is_container)
    ]
    hint = "" if found else f"Nothing fits; the last look saw {_kinds(scene)}."
    return FoundObjects(objects=[object_data(item, ctx.robot.arm) for item in found], hint=hint)


@tool(
    group="cognition",
    unit="scene_graph_and_world_model",
    preconditions=("scene_known",),
    when_to_use="To get an overview of the desk in words: what lies on the table, what each container holds, what is in the gripper.",
    limits="Describes the last look; call detect_objects first when objects may have moved.",
    examples=[("Summarise the scene for a plan", {})],
    failures=[("Nobody has looked yet", {}, "precondition_failed")],
)
def describe_scene(ctx: ToolContext) -> Description:
    """Describe the desk in words: what lies where, what each container holds, and what is in the gripper."""
    scene = last_look(ctx)
    loose = [item for item in scene.objects if not item.is_container and item.relation != "in"]
    lines = [f"The last look saw {_kinds(scene)}."]
    lines += [f"{_words(item)} lies on {item.support} at {_place(item)}." for item in loose]
    for container in (item for item in scene.objects if item.is_container):
        inside = [item.id for item in scene.objects if item.relation == "in" and item.support == container.id]
        hidden = [name for name, placed in ctx.placed.items() if placed.target_id == container.id and placed.relation == "in" and not _sees(scene, name)]
        content = f"holds {', '.join(inside)}" if inside else "shows nothing inside"
        more = f"; put there by the robot and not seen now: {', '.join(hidden)}" if hidden else ""
        lines.append(f"{_words(container)} stands at {_place(container)} and {content}{more}.")
    held = ctx.belief.held
    lines.append(f"The gripper holds {held.object.id}." if held else "The gripper is empty.")
    return Description(text="\n".join(lines), objects=objects_data(scene, arm=ctx.robot.arm))


def _sees(scene: Scene, object_id: str) -> bool:
    return any(item.id == object_id for item in scene.objects)


def _kinds(scene: Scene) -> str:
    names = [f"{item.id} ({item.color} {item.label})" for item in scene.objects]
    return ", ".join(names) or "nothing on the desk"


def _words(item: SceneObject) -> str:
    x, y, z = (1000 * float(value) for value in item.size)
    return f"{item.id}, a {item.color} {item.label} ({x:.0f} x {y:.0f} x {z:.0f} mm),"


def _place(item: SceneObject) -> str:
    x, y = (float(value) for value in item.position[:2])
    side = "left" if y > 0.02 else "right" if y < -0.02 else "middle"
    return f"x {x:.3f} m, y {y:.3f} m ({side})"
