"""Plans, and whether something can be reached at all."""

from __future__ import annotations

from typing import Annotated

import numpy as np
from pydantic import Field
from typing_extensions import TypedDict

from deskhand.errors import DeskhandError
from deskhand.etp.tool import ToolContext, tool
from deskhand.skills.robot import Robot
from deskhand.tools.looking import last_look
from deskhand.tools.objects import ObjectId, number_or_none
from deskhand.tools.poses import Approach, TargetPosition, Yaw, hand_poses
from deskhand.types import MotionGoal, PlanOptions, SceneObject

ABOVE_RIM = 0.08  # [m] that the hand must come above a container to let something go into it


class Reach(TypedDict):
    """Whether the arm can do something with an object."""

    reachable: bool
    reason: str
    grasps: Annotated[int, Field(description="reachable, collision-free grasps that were found; 0 for containers, which are reached from above")]


class PlannedMotion(TypedDict):
    """A stored plan."""

    plan_id: Annotated[str, Field(description="for execute_plan; can be used once, until the joints or the scene change")]
    duration: Annotated[float, Field(description="[s]")]
    length: Annotated[float, Field(description="joint path length [rad]")]
    clearance: Annotated[float | None, Field(description="smallest distance to an obstacle on the way [m], null when not known")]


@tool(
    group="reasoning",
    unit="task_and_motion_knowledge",
    needs=("arm",),
    preconditions=("scene_known", "object_known(object_id)"),
    timeout=30.0,
    when_to_use="Before planning a task with an object or container at the edge of the desk: is it within reach, can it be grasped or filled there?",
    limits="Tells of the scene of the last look; other objects may be in the way. A grasp that exists may still slip.",
    examples=[("Is this object within reach, or too far away to grab?", {"object_id": "cup_1"}), ("Can the arm reach over the bin?", {"object_id": "bin_1"})],
    failures=[("An id that the last look does not have", {"object_id": "cup_99"}, "unknown_object")],
)
def check_reachable(ctx: ToolContext, object_id: ObjectId) -> Reach:
    """Check whether the arm can reach an object with a grasp free of collision, or a container from above, and why not."""
    scene = last_look(ctx)
    item = scene.get(object_id)
    if item.is_container:
        return _reach_over(ctx.robot, item)
    try:
        grasps = ctx.robot.generate_grasps(scene, object_id, 5)
    except DeskhandError as error:
        if error.code not in ("no_grasp", "no_ik_solution"):
            raise
        return Reach(reachable=False, reason=str(error), grasps=0)
    best = max(grasp.score for grasp in grasps)
    return Reach(reachable=True, reason=f"{len(grasps)} grasps reach {object_id}, the best with score {best:.2f}.", grasps=len(grasps))


def _reach_over(robot: Robot, container: SceneObject) -> Reach:
    point = [float(container.position[0]), float(container.position[1]), container.top + ABOVE_RIM]
    for approach in ("down", "tilted"):
        if _any_ik(robot, hand_poses(robot.arm, point, approach)):
            return Reach(reachable=True, reason=f"the gripper can be brought {ABOVE_RIM * 1000:.0f} mm above {container.id}, {approach}.", grasps=0)
    distance = float(np.linalg.norm(container.position[:2] - robot.arm.world_T_base[:2, 3]))
    return Reach(reachable=False, reason=f"the gripper cannot be brought above {container.id}, which is {distance:.2f} m from the base.", grasps=0)


def _any_ik(robot: Robot, poses: tuple[np.ndarray, ...]) -> bool:
    for pose in poses:
        try:
            if robot.solve_ik(pose):
                return True
        except DeskhandError as error:
            if error.code != "no_ik_solution":
                raise
    return False


@tool(
    group="reasoning",
    unit="motion_planning",
    effects="memory",
    needs=("arm",),
    preconditions=("not_stopped",),
    timeout=30.0,
    when_to_use="To plan a collision-free arm motion to a named pose or a gripper position before moving: nothing moves until execute_plan. For grasping and "
    "placing use pick and place_in, which plan for themselves.",
    limits="Give either named or position. Knows the obstacles of the last look. A plan can be run once, and expires when the robot or the scene changes.",
    examples=[
        ("Plan a path for the gripper to a point above the desk", {"position": [0.0, 0.1, 0.25]}),
        ("Plan the route to a stored pose such as upright", {"named": "upright"}),
    ],
    failures=[("A point far out of reach", {"position": [1.2, 0.0, 0.2]}, "no_ik_solution")],
)
def plan_motion(
    ctx: ToolContext,
    named: Annotated[str, Field(max_length=64, description="name of a pose of the arm, for example home; empty when position is given")] = "",
    position: TargetPosition | None = None,
    approach: Approach = "down",
    yaw: Yaw = None,
    speed_scale: Annotated[float, Field(ge=0.05, le=1.0, description="share of the arm's full speed")] = 1.0,
) -> PlannedMotion:
    """Plan a collision-free trajectory of the arm to a named pose or a gripper position, without moving; returns a plan_id for execute_plan."""
    if bool(named) == (position is not None):
        raise DeskhandError("invalid_arguments", "plan_motion: give exactly one of named and position.", retry=True)
    arm = ctx.robot.arm
    if named and named not in arm.named_poses:
        raise DeskhandError("invalid_arguments", f"plan_motion: named: {named!r} is no pose of this arm; valid: {', '.join(arm.named_poses)}.", retry=True)
    goal = MotionGoal(poses=hand_poses(arm, position, approach, yaw)) if position is not None else MotionGoal(named=named)
    plan = ctx.robot.plan_motion(goal, PlanOptions(speed_scale=speed_scale))
    return PlannedMotion(
        plan_id=plan.id, duration=round(plan.trajectory.duration, 3), length=round(float(plan.length), 4), clearance=number_or_none(plan.clearance)
    )
