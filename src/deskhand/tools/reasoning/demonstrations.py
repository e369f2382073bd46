"""Learning from a demonstration: what a video shows, step by step, and what that comes to on this desk."""

from __future__ import annotations

from typing import Annotated, Literal

import numpy as np
from pydantic import Field
from typing_extensions import TypedDict

from deskhand.etp.tool import ToolContext, tool
from deskhand.planning import demonstrated
from deskhand.planning.demonstrated import Post, Slot, Surface
from deskhand.tools.files import read_named
from deskhand.tools.looking import last_look
from deskhand.tools.objects import objects_data
from deskhand.tools.viewing import desk_view
from deskhand.types import Scene
from deskhand.types.demonstration import RECESS, Step
from deskhand.types.outline_names import OUTLINE_NAMES

SUFFIXES = (".zip",)
MOST_BYTES = 256 * 2**20


class RoleData(TypedDict):
    """What a thing is in a step, by what can be said of it in another scene."""

    kind: Annotated[str, Field(max_length=40, description="block, bowl, plate, ring, peg, table …; an outline: star, letter_r …")]
    color: Annotated[str, Field(max_length=40, description="empty where it says nothing")]
    rank: Annotated[
        str,
        Field(
            max_length=40, description="of a plate or peg by lightness: lightest, middle, darkest; lighter, darker of two; of a recess its outline; else empty"
        ),
    ]


class StepData(TypedDict):
    """One act."""

    text: Annotated[str, Field(max_length=400)]
    act: Literal["put"]
    what: RoleData
    relation: Literal["on", "in"]
    where: Annotated[list[RoleData], Field(min_length=1, max_length=6, description="several where it lies across them")]


class DemonstrationSteps(TypedDict):
    """What was done, in order."""

    steps: list[StepData]
    confidence: Annotated[float, Field(description="0 to 1: the least share of what changes between two rests that a step explains")]


class ActData(TypedDict):
    """A step on this desk."""

    text: str
    object_id: Annotated[str, Field(description="what to pick; empty for hang")]
    relation: Annotated[
        str,
        Field(
            description="in: place_in target_id; on: place_at x, y, yaw, level, on; hang: take_ring at take, hang_ring at x, y; recess: find_holes "
            "(piece_id, hole [x, y]), pick, insert"
        ),
    ]
    target_id: str
    x: Annotated[float, Field(description="[m]")]
    y: Annotated[float, Field(description="[m]")]
    yaw: Annotated[float | None, Field(description="[rad]")]
    level: Annotated[float, Field(description="height above the table of the plate there [m]")]
    on: list[str]
    take: Annotated[list[float] | None, Field(description="of hang: [x, y] of the peg on which the ring is by then [m]")]


class ActsForScene(TypedDict):
    """What the demonstration comes to here."""

    acts: list[ActData]
    ambiguities: Annotated[list[str], Field(description="what was not clear, and how it was settled")]
    missing: Annotated[list[str], Field(description="roles that nothing here has; then the acts are not all")]


@tool(
    group="reasoning",
    unit="task_and_motion_knowledge",
    timeout=120.0,
    in_process="the folders that the operator named are read by the robot's process alone",
    when_to_use="When the instruction names a demonstration (a .zip video) that shows how something is done: it tells the steps, one act each, as roles by "
    "colour, outline and rank; then steps_for_scene says what they come to on this desk.",
    limits="Videos of this robot's own camera with depth, in a folder that the operator named. Things are followed that are moved one after the other and "
    "rest in between; things on the table, in containers, on thin plates and on each other, rings on pegs, shapes into the recesses of a "
    "board. Scenes differ: ids and places "
    "of the video mean nothing here.",
    examples=[("Do what the demonstration shows", {"video_uri": "demonstration.zip"})],
    failures=[("The operator has named no folder with demonstrations", {"video_uri": "demonstration.zip"}, "access_denied")],
)
def watch_demonstration(
    ctx: ToolContext, video_uri: Annotated[str, Field(min_length=1, max_length=400, description="name of the video, in a folder that the operator named")]
) -> DemonstrationSteps:
    """Watch a demonstration: the steps that a video shows, each as one sentence and as roles."""
    data = read_named(ctx.folders, video_uri, SUFFIXES, MOST_BYTES)
    from deskhand.perception.demonstration.video import read_video  # perception is imported when a video is read: the tool server comes up sooner
    from deskhand.perception.demonstration.watching import watch

    watched = watch(read_video(data, video_uri), ctx.robot.arm)
    return DemonstrationSteps(steps=[_told(step) for step in watched.steps], confidence=watched.confidence)


@tool(
    group="reasoning",
    unit="task_and_motion_knowledge",
    needs=("camera",),
    preconditions=("scene_known",),
    timeout=60.0,
    when_to_use="After watch_demonstration: which object here has which role, and where it goes. Then pick each object_id and place it as the act says, in "
    "order, and check_goal after each.",
    limits="Roles by colour, plates and pegs by lightness, shapes by outline. Plates are looked for where nothing stands on them: call it before the first "
    "act. "
    "Where several objects fit a role, the first is taken and named among the ambiguities.",
    examples=[
        (
            "What do the steps of the demonstration come to here?",
            {
                "steps": [
                    {
                        "text": "put the red block in the blue bowl",
                        "act": "put",
                        "what": {"kind": "block", "color": "red", "rank": ""},
                        "relation": "in",
                        "where": [{"kind": "bowl", "color": "blue", "rank": ""}],
                    }
                ]
            },
        )
    ],
    failures=[("Nobody has looked at the desk", {"steps": []}, "invalid_arguments")],
)
def steps_for_scene(
    ctx: ToolContext, steps: Annotated[list[StepData], Field(min_length=1, max_length=40, description="of watch_demonstration, in order")]
) -> ActsForScene:
    """Transfer the steps of a demonstration to this desk: which object plays which role, and where it goes."""
    scene = last_look(ctx)
    wanted = [Step.from_json(step) for step in steps]
    plates = any(role.kind == "plate" for step in wanted for role in step.where)
    posts = _posts(ctx) if any(role.kind == "peg" for step in wanted for role in step.where) else []
    shapes = any(role.kind in OUTLINE_NAMES for step in wanted for role in (step.what, *step.where))
    outlines = _outlines(ctx, scene) if shapes else {}
    slots = _slots(ctx, scene) if any(role.kind == RECESS for step in wanted for role in step.where) else []
    objects = [dict(item) for item in objects_data(scene)]
    found = demonstrated.steps_for_scene(wanted, objects, _surfaces(ctx) if plates else [], posts, outlines, slots)
    return ActsForScene(
        acts=[
            ActData(
                text=act.text, object_id=act.object_id, relation=act.relation, target_id=act.target_id, x=round(act.x, 4), y=round(act.y, 4),
                yaw=None if act.yaw is None else round(act.yaw, 4), level=round(act.level, 4), on=list(act.on),
                take=None if act.take is None else [round(value, 4) for value in act.take],
            )
            for act in found.acts
        ],
        ambiguities=found.ambiguities, missing=found.missing,
    )  # fmt: skip


def _told(step: Step) -> StepData:
    what, *where = (RoleData(kind=role.kind, color=role.color, rank=role.rank) for role in (step.what, *step.where))
    return StepData(text=step.text, act="put", what=what, relation="in" if step.relation == "in" else "on", where=where)


def _posts(ctx: ToolContext) -> list[Post]:
    from deskhand.perception.pegs import find_peg_stands
    from deskhand.perception.ranks import row_ranks

    posts = []
    for stand in find_peg_stands(desk_view(ctx)):
        for peg, rank in zip(stand.pegs, row_ranks([one.lightness for one in stand.pegs]), strict=True):
            posts.append(Post((float(peg.position[0]), float(peg.position[1])), rank, tuple(ring.color for ring in peg.rings)))
    return posts


def _outlines(ctx: ToolContext, scene: Scene) -> dict[str, dict[str, float]]:
    from deskhand.perception.piece_outlines import likely_outlines

    return {item.id: likely for item, likely in zip(scene.objects, likely_outlines(desk_view(ctx), scene.objects), strict=True)}


def _slots(ctx: ToolContext, scene: Scene) -> list[Slot]:
    """Free recesses, and how well each object that lies on no board fits them."""
    from deskhand.perception.boards import boards
    from deskhand.perception.holes import holes_in
    from deskhand.perception.outline_match import outlines_of
    from deskhand.perception.piece_outlines import ALL, fits_of

    view = desk_view(ctx)
    found = []
    for whole, parts in boards(scene.objects):
        holes = [hole for hole in holes_in(view, whole) if np.isfinite(hole.depth)]
        if len(holes) > 1:  # one alone may be a mark or a shadow
            found += [(parts[0].id, hole) for hole in holes]
    found.sort(key=lambda one: -float(np.linalg.norm(one[1].centre - view.eye[:2])))  # the farthest first: what stands in one hides those behind it
    fits = fits_of(view, scene.objects, [hole for _, hole in found])
    return [
        Slot(
            name,
            (float(hole.centre[0]), float(hole.centre[1])),
            dict(outlines_of(hole.mask, ALL, wide=True)),
            {item.id: float(worth[number]) for item, worth in zip(scene.objects, fits, strict=True)},
        )
        for number, (name, hole) in enumerate(found)
    ]


def _surfaces(ctx: ToolContext) -> list[Surface]:
    from deskhand.perception.plates import find_plates

    return [Surface(plate.centre, plate.yaw, plate.height) for plate in find_plates(desk_view(ctx))]
