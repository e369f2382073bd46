"""Visual servoing: the hand goes where the camera sees a target now, and again, until both are at rest."""

from __future__ import annotations

from typing import Annotated

import numpy as np
from pydantic import Field
from typing_extensions import TypedDict

from deskhand.errors import DeskhandError
from deskhand.etp.outcome import ToolError
from deskhand.etp.tool import ToolContext, tool
from deskhand.geometry import Array
from deskhand.perception.monitor.target import TargetTracker
from deskhand.skills.base import SkillContext
from deskhand.tools.looking import last_look, skill_context
from deskhand.tools.objects import ObjectId, rounded
from deskhand.tools.poses import hand_poses
from deskhand.tools.watching import target_pixels, watched
from deskhand.types import MotionGoal, PlanOptions

NEAR = 0.004  # [m] between hand and goal that needs no correction
RESTS = 3  # pictures in a row in which no correction was needed, after which it is there
SURE = 0.5  # likeness below which what is seen of the target says too little of where it is
PATIENCE = 3.0  # [s] without sight of the target, after which it is lost
RISE, RISES, HIDES = 0.04, 3, 0.5  # [m] that the hand rises, how often at most, after so long [s] without sight
SLOW = 0.5  # of the full speed, for corrections
NO_LINE = ("path_incomplete", "no_ik_solution", "start_in_collision", "goal_in_collision", "planning_failed")


class Servoed(TypedDict):
    """Where the hand came to rest."""

    position: Annotated[list[float], Field(description="of the target at the end, as the camera sees it [x, y, z] in world [m]")]
    error: Annotated[float, Field(description="distance of the finger tips from the point above it [m]")]
    travelled: Annotated[float, Field(description="how far the target was from where the last look had it [m]")]
    height: Annotated[float, Field(description="above its top [m]: more than asked where the hand hid it from the camera")]
    corrections: Annotated[int, Field(description="moves after the first")]


@tool(
    group="execution",
    unit="force_and_compliance",
    effects="motion",
    needs=("arm", "camera"),
    preconditions=("not_stopped", "scene_known", "object_known(object_id)"),
    timeout=120.0,
    when_to_use="To bring the hand above an object that is being moved, or whose place is not sure enough for a blind approach: closed-loop visual servoing, "
    "corrected by the live picture until hand and target are at rest.",
    limits="Looks, then moves, then looks: about one correction a second, so it follows what moves slowly or in jerks and waits for the end of what is "
    "faster. The hand rises by up to 12 cm where it hides the target. It only hovers: look anew before picking. For a camera that stands still.",
    examples=[
        ("Hover over the block that somebody is still pushing about", {"object_id": "block_1"}),
        ("Servo the gripper to 10 cm above the cup by the live image", {"object_id": "cup_1", "height": 0.1}),
    ],
    failures=[("The object is not on the desk", {"object_id": "ghost_9"}, "unknown_object")],
)
def servo_to_target(
    ctx: ToolContext,
    object_id: ObjectId,
    height: Annotated[float, Field(ge=0.02, le=0.3, description="[m] of the finger tips above the target's top")] = 0.08,
    seconds: Annotated[float, Field(gt=0, le=60, description="[s] of ROS time after which it gives up on a target that does not rest")] = 30.0,
) -> Servoed:
    """Servo the hand visually to a point above an object while it may move, corrected picture by picture until both rest."""
    item = last_look(ctx).get(object_id)
    skill, tip = skill_context(ctx), ctx.robot.arm.gripper.finger_depth
    above = item.top + tip + height
    tracker: TargetTracker | None = None
    moves = rested = risen = 0
    begun = seen = moved = ctx.robot.now()
    for picture in watched(ctx):
        stamp = picture.sample.stamp
        if tracker is not None and stamp < moved:
            continue  # from before the last correction ended
        if tracker is None:
            tracker = TargetTracker(picture.sample, target_pixels(ctx, picture, object_id))
            apart = item.position - tracker.now.center  # what is seen of it is not its middle
        else:
            tracker.update(picture.sample)
        if tracker.now.lost or tracker.now.sure < SURE:
            if stamp - seen > HIDES and risen < RISES and moves:  # the hand may stand in the camera's way
                higher = _risen(skill, above + RISE)
                risen, above = (risen + 1, above + RISE) if higher else (RISES, above)
                seen = moved = ctx.robot.now()
            elif stamp - seen > PATIENCE:
                raise ToolError("object_lost", f"{object_id} has been out of sight for {PATIENCE:g} s.", hint="Call look.", data={"corrections": moves})
            continue
        seen = stamp
        target = tracker.now.center + apart
        goal = np.array([target[0], target[1], above])
        off = float(np.linalg.norm(_tips(skill) - goal))
        rested = rested + 1 if off < NEAR else 0
        if rested >= RESTS:
            travelled = float(np.linalg.norm((target - item.position)[:2]))
            return Servoed(
                position=rounded(target), error=round(off, 4), travelled=round(travelled, 4), height=round(above - item.top - tip, 3), corrections=moves - 1
            )
        if stamp - begun > seconds:
            raise ToolError("not_steady", f"{object_id} did not rest within {seconds:g} s.", data={"error": round(off, 4), "corrections": moves})
        if off >= NEAR:
            skill.step(0.2 if not moves else 0.6, f"{1000 * off:.0f} mm off; correction {moves}")
            _go(skill, goal, straight=moves > 0)
            moves, moved = moves + 1, ctx.robot.now()
    raise DeskhandError("cancelled", "servo_to_target was cancelled.")


def _risen(skill: SkillContext, height: float) -> bool:
    """Bring the tips straight up to ``height`` [m]; False where the arm cannot."""
    try:
        _go(skill, np.array([*_tips(skill)[:2], height]), straight=True)
    except DeskhandError as error:
        if error.code not in NO_LINE:
            raise
        return False
    return True


def _tips(skill: SkillContext) -> Array:
    """The point between the finger tips (3,), where the hand is now [m]."""
    return skill.robot.tcp_pose()[:3, 3]


def _go(skill: SkillContext, goal: Array, straight: bool) -> None:
    """Bring the tips to ``goal``, on a straight line where there is one."""
    skill.belief.disturb()
    if straight:
        pose = skill.robot.tcp_pose().copy()
        pose[:3, 3] = goal
        try:
            skill.execute(skill.plan_line((pose,), PlanOptions(speed_scale=SLOW)))
            return
        except DeskhandError as error:
            if error.code not in NO_LINE:
                raise
    skill.execute(skill.plan(MotionGoal(poses=hand_poses(skill.robot.arm, goal.tolist()))))
