"""Where to look next, and what hides what."""

from __future__ import annotations

from typing import Annotated

import numpy as np
from pydantic import Field
from scipy.ndimage import distance_transform_edt, label
from typing_extensions import TypedDict

from deskhand.errors import DeskhandError
from deskhand.etp.tool import ToolContext, tool
from deskhand.geometry import Array, inverse
from deskhand.perception.track.coverage import Space
from deskhand.tools.looking import last_look
from deskhand.tools.objects import Position, rounded
from deskhand.tools.reasoning.sight import hidden, hides, space_around, views_around
from deskhand.types import Frame

CELL = 0.01  # [m]
LEAST_PATCH = 8  # cells of a hidden patch that is told
ON_HAND = (0.3, 0.38)  # [m] from the target to a camera on the hand: what is a little nearer is measured, too
EMPTY = 0.5  # probability that a cell around the target which nobody has seen is empty: nothing is known of it
LOOKS = 40  # views whose hand is asked of inverse kinematics


class View(TypedDict):
    """A place for the camera."""

    position: Annotated[list[float], Field(description="[x, y, z] of the camera in world [m]")]
    direction: Annotated[list[float], Field(description="unit vector in which it looks")]
    gain: Annotated[float, Field(description="share of what is unknown around the target that it would see")]
    joints: Annotated[
        dict[str, float] | None, Field(description="arm joints [rad] that bring a camera on the gripper there; null for a camera that stands still")
    ]


class NextView(TypedDict):
    """Where to look from, best first."""

    views: list[View]
    unknown: Annotated[float, Field(description="volume around the target that is not seen now, the insides of solid objects left out [m3]")]
    gain_now: Annotated[float, Field(description="the same share from where the camera is: what a new picture from here would show")]
    note: str


class Patch(TypedDict):
    """A part of the desk that is not seen."""

    area: Annotated[float, Field(description="[m2]")]
    centre: Annotated[list[float], Field(description="[x, y] in world [m]")]
    widest: Annotated[float, Field(description="width of the largest object that may lie hidden there [m]")]
    hidden_by: Annotated[list[str], Field(description="ids of what stands in the line of sight, most first; empty: the edge of the picture, or the robot")]


class Hidden(TypedDict):
    """What the camera cannot see of the desk."""

    share: Annotated[float, Field(description="share of the table within reach that is not seen")]
    patches: Annotated[list[Patch], Field(description="largest first")]
    most_hidden_by: Annotated[str, Field(description="id of the object whose removal would show most; empty when no object hides anything")]


@tool(
    group="reasoning",
    unit="active_perception",
    needs=("camera",),
    preconditions=("scene_known",),
    timeout=60.0,
    when_to_use="When an object is seen badly, is half hidden, or its size was guessed: where should the camera look from next to see most of "
    "what is unknown about it?",
    limits="Plans a view, moves nothing. With a camera on the gripper it gives only views that the arm reaches, with the joints for "
    "move_joints; a camera that stands "
    "still must be moved by a "
    "person, or what is in the way by the robot (find_hidden_space tells what). Knows only surfaces that were seen.",
    examples=[
        ("The cup is half hidden behind the box: find the next best view", {"object_id": "cup_1"}),
        ("From where should the camera on the gripper look at this spot?", {"position": [0.1, 0.0, 0.03], "radius": 0.04}),
    ],
    failures=[("Neither an object nor a position is given", {}, "invalid_input")],
)
def next_view_point(
    ctx: ToolContext,
    object_id: Annotated[str, Field(max_length=64, description="id of the object to see better; empty when position is given")] = "",
    position: Position | None = None,
    radius: Annotated[float, Field(ge=0.02, le=0.2, description="[m] of what is looked at around position")] = 0.06,
    views: Annotated[int, Field(ge=1, le=10, description="how many at most")] = 3,
) -> NextView:
    """Find the next view point: where a camera would see most of what is still unknown around an object or a place."""
    frame = ctx.robot.observe()
    space, centre = space_of(ctx, frame, object_id, position, radius, "next_view_point")
    volume = space.unknown_volume
    if not volume:
        return NextView(views=[], unknown=0.0, gain_now=0.0, note="everything around it is seen already")
    found, now = proposed_views(ctx, frame, space, centre, views)
    return NextView(views=found, unknown=round(volume, 8), gain_now=now, note="" if found else "the arm reaches no view of it")


def space_of(ctx: ToolContext, frame: Frame, object_id: str, position: list[float] | None, radius: float, asking: str) -> tuple[Space, Array]:
    """The space around an object of the last look, or around a place, as a picture shows it, what it shows being known; and its middle (3,) [m].

    Raises:
        DeskhandError: ``invalid_input`` when both or neither are given, ``unknown_object``.
    """
    if bool(object_id) == (position is not None):
        raise DeskhandError("invalid_input", f"{asking}: give exactly one of object_id and position.", retry=True)
    if object_id:
        item = last_look(ctx).get(object_id)
        centre, half = item.position, np.abs(item.pose[:3, :3]) @ np.asarray(item.size, dtype=float) / 2 + 0.01
    else:
        centre, half = np.asarray(position, dtype=float), np.full(3, radius)
    floor = float(last_look(ctx).table.pose[2, 3]) + 0.004
    low, high = centre - half, centre + half
    low[2] = max(low[2], floor)
    space = space_around(frame, np.minimum(low - np.array([0.12, 0.12, 0.0]), low), high + np.array([0.12, 0.12, 0.15]))
    space.between(low, high)
    space.wanted &= ~space.seen
    for other in last_look(ctx).objects:
        if other.relation != "held":
            space.solid(other)
    return space, centre


def proposed_views(ctx: ToolContext, frame: Frame, space: Space, centre: Array, most: int) -> tuple[list[View], float]:
    """Up to ``most`` views that can be expected to show most of what is wanted of a space, best first; and the share that the present one shows."""
    eye, on_hand = frame.world_T_camera[:3, 3], ctx.robot.camera_mount() is not None
    poses = views_around(centre, ON_HAND if on_hand else (float(np.linalg.norm(eye - centre)),), eye)
    gains = np.array([space.gain(pose, frame.intrinsics) for pose in poses])
    expected = [round(space.gain(pose, frame.intrinsics, EMPTY), 2) for pose in poses]
    order = sorted(range(1, len(poses)), key=lambda k: (-expected[k], float(np.linalg.norm(poses[k][:3, 3] - eye))))
    found: list[View] = []
    tcp_T_camera = inverse(ctx.robot.tcp_pose()) @ frame.world_T_camera
    for k in order[:LOOKS] if on_hand else order:
        joints = _joints(ctx, poses[k] @ inverse(tcp_T_camera)) if on_hand else None
        if on_hand and joints is None:
            continue
        found.append(View(position=rounded(poses[k][:3, 3]), direction=rounded(poses[k][:3, 2]), gain=round(float(gains[k]), 3), joints=joints))
        if len(found) == most:
            break
    return found, round(float(gains[0]), 3)


def _joints(ctx: ToolContext, hand: Array) -> dict[str, float] | None:
    """Joints for the gripper, the camera turned about its own axis as need be."""
    try:
        found = ctx.robot.solve_ik(hand)
    except DeskhandError as error:
        if error.code not in ("no_ik_solution", "goal_in_collision"):
            raise
        return None
    return dict(zip(ctx.robot.arm.joints, rounded(found[0].joints), strict=True))


@tool(
    group="reasoning",
    unit="active_perception",
    needs=("camera",),
    preconditions=("scene_known",),
    timeout=30.0,
    when_to_use="When something is searched and not seen, or before saying that the desk is empty: which parts of the desk are hidden from the camera, what "
    "hides them, how large an object may lie there, and which object to move to see most.",
    limits="The table within the arm's reach, at table height; the inside of containers is not told here. Uses a new picture and the objects of the last look.",
    examples=[
        ("The pen is nowhere: where could it be hidden, and behind what?", {}),
        ("Which object should I move to see more of the desk?", {"height": 0.02}),
    ],
    failures=[("Nobody has looked yet", {}, "precondition_failed")],
)
def find_hidden_space(
    ctx: ToolContext, height: Annotated[float, Field(ge=0.0, le=0.2, description="[m] above the table at which a hidden object would show")] = 0.01
) -> Hidden:
    """Find the parts of the desk that the camera cannot see, what hides them, and what to move to see most."""
    scene = last_look(ctx)
    frame = ctx.robot.observe()
    base, reach = ctx.robot.arm.world_T_base[:2, 3], ctx.robot.arm.reach
    half = np.asarray(scene.table.size) / 2
    middle = scene.table.pose[:2, 3]
    xs, ys = (np.arange(middle[k] - half[k] + CELL / 2, middle[k] + half[k], CELL) for k in (0, 1))
    grid = np.stack(np.meshgrid(xs, ys, indexing="ij"), axis=-1)
    near = np.linalg.norm(grid - base, axis=-1) <= reach
    points = np.concatenate([grid, np.full((*grid.shape[:2], 1), float(scene.table.pose[2, 3]) + height)], axis=-1)
    unseen = np.zeros(near.shape, dtype=bool)
    unseen[near] = hidden(frame, points[near])[0]
    eye = frame.world_T_camera[:3, 3]
    items = [item for item in scene.objects if item.relation != "held"]
    under = {item.id: np.zeros(near.shape, dtype=bool) for item in items}
    for item in items:
        under[item.id][unseen] = hides(item, eye, points[unseen])
        inside = np.abs((grid - item.position[:2]) @ item.pose[:2, :2])
        unseen &= ~((inside <= np.asarray(item.size[:2]) / 2).all(axis=-1) & (abs(item.pose[2, 2]) > 0.9))  # its own place is taken
    patches, count = label(unseen)
    told = [_patch(grid, np.asarray(patches == number), under) for number in range(1, count + 1) if int((patches == number).sum()) >= LEAST_PATCH]
    cover = {name: int((mask & unseen).sum()) for name, mask in under.items()}
    most = max(cover, key=lambda name: cover[name], default="")
    return Hidden(
        share=round(float(unseen.sum() / max(1, near.sum())), 4),
        patches=sorted(told, key=lambda patch: -patch["area"])[:20],
        most_hidden_by=most if most and cover[most] else "",
    )


def _patch(grid: Array, mask: np.ndarray, under: dict[str, np.ndarray]) -> Patch:
    inner = distance_transform_edt(np.pad(mask, 1))
    shares = {name: float((of & mask).sum() / mask.sum()) for name, of in under.items()}
    return Patch(
        area=round(float(mask.sum()) * CELL**2, 5),
        centre=rounded(grid[mask].mean(axis=0)),
        widest=round(2 * float(inner.max()) * CELL, 3),
        hidden_by=[name for name, share in sorted(shares.items(), key=lambda pair: -pair[1]) if share > 0.05],
    )
