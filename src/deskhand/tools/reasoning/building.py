"""From a structure to the steps that build it: which block, where, on what."""

from __future__ import annotations

import json
from typing import Annotated, Any, Literal

import yaml
from pydantic import Field
from typing_extensions import TypedDict

from deskhand.arms.model import RobotModel
from deskhand.errors import DeskhandError
from deskhand.etp.tool import ToolContext, tool
from deskhand.planning.structures import Blocks, Slot, from_spec, structure
from deskhand.tools.files import read_named
from deskhand.tools.looking import last_look
from deskhand.tools.reasoning.blocks import blocks_in, chosen, find_site, measures
from deskhand.types.yaml_file import parse_yaml

MOST_BYTES = 20_000  # of a plan
MOST_PICTURE = 20_000_000
PICTURE = ".png"
SUFFIXES = (".json", ".yaml", ".yml", PICTURE)


class BuildStep(TypedDict):
    """One block to put down."""

    object_id: str
    color: str
    x: Annotated[float, Field(description="[m] world x of its centre")]
    y: Annotated[float, Field(description="[m] world y of its centre")]
    yaw: Annotated[float, Field(description="[rad] turn of its longer side about world z")]
    on: Annotated[list[str], Field(description="ids of the blocks that carry it; empty: the table")]


class BuildPlan(TypedDict):
    """Steps in an order in which each can be done."""

    steps: list[BuildStep]
    note: Annotated[str, Field(description="what was assumed, else empty")]
    substitutes: Annotated[list[str], Field(description="ids of blocks that only come nearest to the colour that was asked for")]


@tool(
    group="reasoning",
    unit="task_and_motion_knowledge",
    needs=("arm", "camera"),
    preconditions=("scene_known", "not_holding"),
    timeout=60.0,
    when_to_use="Before building with blocks: a row, tower, bridge, pyramid or house, or what a plan or a reference picture shows. It picks the "
    "blocks and a free site within reach; then pick each object_id and place_at its x, y, yaw, on.",
    limits="Give exactly one of structure, plan and file. Knows cubes and planks of the last look that nothing lies on. Fails with impossible when blocks are "
    "missing, no_free_space when there is no site, invalid_input when the plan or picture cannot be read.",
    examples=[
        ("Build a tower of three blocks, red at the bottom", {"structure_name": "tower", "count": 3, "colors": ["red"]}),
        ("Build what a reference picture of a structure shows", {"file": "reference.png"}),
        ("Construct a wall of two blocks with one across", {"plan": {"blocks": [{"at": [0, 0.02]}, {"at": [0, -0.02]}, {"on": [0, 1]}]}}),
    ],
    failures=[("The operator has named no folder with plans", {"file": "no_such_plan.json"}, "access_denied")],
)
def plan_structure(
    ctx: ToolContext,
    structure_name: Annotated[
        Literal["", "row", "tower", "bridge", "pyramid", "house"], Field(description="name of a structure; empty when plan or file is given")
    ] = "",
    count: Annotated[int, Field(ge=0, le=12, description="how many blocks (row, tower; a pyramid takes 3, 6 or 10); 0 for the usual")] = 0,
    colors: Annotated[list[str] | None, Field(max_length=12, description="from the bottom up, a row from left to right; empty strings for any")] = None,
    plan: Annotated[
        dict[str, Any] | None, Field(description="{'structure', 'count', 'colors'} or {'blocks': [{'at': [x, y], 'on', 'color', 'shape', 'yaw'}]}")
    ] = None,
    file: Annotated[
        str,
        Field(max_length=400, description="name of a plan (.json, .yaml) or a picture with depth (.png) of another copy, in a folder that the operator named"),
    ] = "",
) -> BuildPlan:
    """Plan a structure of blocks: which blocks to use, where to build, and the steps in order."""
    if sum([bool(structure_name), plan is not None, bool(file)]) != 1:
        raise DeskhandError("invalid_arguments", "plan_structure: give exactly one of structure_name, plan and file.", retry=True)
    scene = last_look(ctx)
    blocks = blocks_in(scene)
    sizes = measures(blocks)
    slots, note = _slots(ctx, sizes, structure_name, count, colors or [], plan, file)
    site = find_site(ctx.robot, scene, slots, sizes)
    items = chosen(slots, blocks, site)
    steps = []
    for slot, item in zip(slots, items, strict=True):
        x, y, yaw = site.place(slot)
        steps.append(BuildStep(object_id=item.id, color=item.color, x=round(x, 4), y=round(y, 4), yaw=round(yaw, 4), on=[items[below].id for below in slot.on]))
    odd = {
        item.id: f"{item.id} is {item.color}, the nearest to {slot.color}"
        for slot, item in zip(slots, items, strict=True)
        if slot.color not in ("", item.color)
    }
    return BuildPlan(steps=steps, note="; ".join(filter(None, [note, *odd.values()])), substitutes=list(odd))


def _slots(ctx: ToolContext, sizes: Blocks, name: str, count: int, colors: list[str], plan: dict[str, Any] | None, file: str) -> tuple[tuple[Slot, ...], str]:
    if name:
        return structure(name, sizes, count, [color.lower() for color in colors]), ""
    if plan is not None:
        return from_spec(plan, sizes), ""
    data = read_named(ctx.folders, file, SUFFIXES, MOST_BYTES if not file.lower().endswith(PICTURE) else MOST_PICTURE)
    if file.lower().endswith(PICTURE):
        from deskhand.tools.reasoning.reference import read_reference  # perception is imported when a picture is read: the tool server comes up sooner

        return read_reference(data, file, ctx.robot.observe(), sizes, RobotModel.load(ctx.robot.arm), ctx.robot.joint_state())
    return from_spec(_plan_in(data, file), sizes), ""


def _plan_in(data: bytes, name: str) -> Any:
    try:
        text = data.decode()
        return json.loads(text) if name.lower().endswith(".json") else parse_yaml(text, name)
    except (ValueError, yaml.YAMLError, RecursionError) as error:
        raise DeskhandError("invalid_input", f"the plan {name} is neither JSON nor YAML: {(str(error).splitlines() or [''])[0]}.") from error
