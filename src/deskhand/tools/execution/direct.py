"""The baseline without tools: a look as unnamed points, and one action of seven discrete numbers (:mod:`deskhand.types.action_cells`), executed within the
same envelope. Not part of the tool base (see ``load_tools``).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import numpy as np
from pydantic import Field
from typing_extensions import NotRequired, TypedDict

from deskhand.errors import DeskhandError
from deskhand.etp.outcome import ToolError
from deskhand.etp.resources import IMAGE, ResourceRef
from deskhand.etp.tool import ToolContext, tool
from deskhand.perception.marks import Mark, box_in, draw_axes, draw_marks
from deskhand.tools.looking import look, skill_context
from deskhand.types import MotionGoal, SceneObject, SceneUpdate
from deskhand.types.action_cells import CELLS, TURNS, cells_of, pose_of


class Acted(TypedDict):
    """Where the gripper is now, in cells, and how far the fingers are apart."""

    position: list[int]
    width: Annotated[float, Field(description="[m]")]


class Unnamed(TypedDict):
    """What is seen of the desk, without names."""

    objects: Annotated[list[list[int]], Field(description="the mean of what is seen of each object, in cells [x, y, z]; sorted by y")]
    ids: Annotated[list[str], Field(description="of the objects in that order; for whoever runs the mode, the model is not told")]
    picture: NotRequired[Annotated[ResourceRef, Field(description="numbered boxes, object 1 first, and the axes of the world, 10 cm each")]]


@tool(
    group="execution",
    unit="controller_dispatch",
    effects="memory",
    needs=("camera",),
    timeout=30.0,
    when_to_use="Only for the baseline without tools: which cells objects are in, without names, colours and sizes.",
    limits="Tells of what is hidden nothing; the mean of the side that is seen is not the middle of the object.",
    examples=[("Where is something?", {})],
    failures=[("The camera does not see the table", {}, "no_table")],
)
def direct_look(ctx: ToolContext, picture: Annotated[bool, Field(description="with a numbered picture")] = False) -> Unnamed:
    """Take a picture and tell the cells of what is seen on the desk."""
    scene, _ = look(ctx)
    chosen = sorted((cells_of(np.mean(item.points, axis=0) if len(item.points) else item.position), item.id, item) for item in scene.objects)
    chosen.sort(key=lambda one: (one[0][1], one[0][0], one[1]))
    seen = Unnamed(objects=[cells for cells, _, _ in chosen], ids=[name for _, name, _ in chosen])
    if picture:
        seen["picture"] = _numbered(ctx, [item for _, _, item in chosen])
    return seen


def _numbered(ctx: ToolContext, items: Sequence[SceneObject]) -> ResourceRef:
    frame = ctx.robot.observe()
    image = np.array(frame.color, np.uint8)
    marks = [Mark(number, item, box) for number, item in enumerate(items, 1) if (box := box_in(frame, item)) is not None]
    draw_marks(image, frame, marks, outlines=False, ids=False)
    draw_axes(image, frame)
    return ctx.resources.put(np.ascontiguousarray(image), IMAGE, f"numbered picture at {frame.stamp:.2f} s")


@tool(
    group="execution",
    unit="controller_dispatch",
    effects="motion",
    needs=("arm", "gripper"),
    preconditions=("not_stopped",),
    timeout=60.0,
    when_to_use="Only for the baseline without tools: the arm goes to a pose, then the gripper opens or closes.",
    limits="Knows no objects on the desk and runs into them; table, workspace, keep-out zones and speeds are kept as always.",
    examples=[("The gripper above the middle of the desk, open", {"action": [50, 50, 25, 0, 60, 60, 1]})],
    failures=[("Six numbers", {"action": [50, 50, 25, 0, 60, 60]}, "invalid_arguments")],
)
def direct_action(
    ctx: ToolContext,
    action: Annotated[
        list[Annotated[int, Field(ge=0, le=TURNS)]],
        Field(min_length=7, max_length=7, description="cells of x, y, z (0 to 100), roll, pitch, yaw (0 to 120), gripper (1 open, 0 closed)"),
    ],
) -> Acted:
    """Bring the tool centre point to a pose given in cells, then open or close the gripper; no planning around objects."""
    if max(action[:3]) > CELLS or action[6] > 1:
        raise DeskhandError("invalid_arguments", "direct_action: x, y, z are 0 to 100 and the gripper is 0 or 1.", retry=True)
    robot, skills = ctx.robot, skill_context(ctx)
    ctx.belief.disturb(pushes=True)
    robot.update_scene(SceneUpdate(replace=()))  # fingers go around objects and touch them
    plan = robot.plan_motion(MotionGoal(poses=(pose_of(action),)))
    report = robot.execute(plan.id, ctx.progress, ctx.cancelled)
    if not report.ok:
        raise ToolError(report.code, report.message)
    gripper = robot.arm.gripper
    skills.grip(gripper.width_max if action[6] else gripper.width_min)
    return Acted(position=cells_of(np.asarray(robot.tcp_pose())[:3, 3]), width=round(skills.width(), 4))
