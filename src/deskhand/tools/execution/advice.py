"""What helps after a failure, by its code: what to do next, how often, and when to give up. Data, said once."""

from __future__ import annotations

from dataclasses import dataclass

OBJECT = "$object"
"""Stands for the id of the object in an advice's arguments."""


@dataclass(frozen=True)
class Advice:
    """One step to take: ``tool`` with ``arguments``, or by hand (empty), and why."""

    tool: str
    why: str
    arguments: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Policy:
    """``attempts`` that the failed call is worth in all, ``advice`` in the order in which it is tried, ``give_up`` what to say or do after that."""

    attempts: int
    advice: tuple[Advice, ...]
    give_up: str


LOOK = Advice("detect_objects", "see what is so now: objects may have moved or have new ids")
HOME = Advice("move_home", "bring the arm out of the way and of the camera's view")
FIND = Advice("find_again", "find the object under the id that it has now", (("object_id", OBJECT),))
OPERATOR = Advice("", "tell the operator; no tool can do this")
REPAIR = Advice("motion_repair", "find the nearest motion that exists")
REACH = Advice("check_reachable", "see whether the arm can reach it at all", (("object_id", OBJECT),))
STATE = Advice("get_robot_state", "see what is held, where the arm is and whether it is stopped")
ASK = Advice("grounding_repair", "find what was nearly meant")

_AGAIN = Policy(3, (LOOK,), "report that it does not answer")
_FAULT = Policy(1, (OPERATOR,), "report the fault with its message")
_BLOCKED = Policy(2, (LOOK, REPAIR, Advice("find_hidden_space", "see what stands where")), "report what is in the way, or clear it first")
_PLAN = Policy(3, (LOOK,), "report that the scene keeps changing")
_HALTED = Policy(2, (STATE, HOME, LOOK), "report what the arm ran into; do not try the same motion again")
_ARGUMENTS = Policy(2, (Advice("", "correct the field that the message names and call again"),), "ask the person what is meant")

POLICIES: dict[str, Policy] = {
    "invalid_input": _ARGUMENTS,
    "invalid_arguments": _ARGUMENTS,
    "unverified": Policy(2, (LOOK, STATE), "report what was done and that nobody could see whether it is what was meant"),
    "unknown_tool": Policy(1, (Advice("", "search the tools by what is to be done"),), "report that no tool does this"),
    "precondition_failed": Policy(2, (STATE, LOOK), "report which precondition cannot be met"),
    "access_denied": Policy(1, (OPERATOR,), "report what the tool wanted to reach and may not"),
    "unknown_watch": Policy(1, (Advice("", "list the watches that run"),), "report that nothing is watched under this id"),
    "permission_denied": Policy(1, (OPERATOR,), "report that the operator did not allow it; do not try it another way"),
    "tool_failed": Policy(2, (STATE,), "report the fault"),
    "invalid_output": _FAULT,
    "limit_exceeded": Policy(1, (Advice("", "ask for less: a smaller picture, fewer points, fewer steps"),), "report that it is too much"),
    "unknown_resource": Policy(2, (Advice("", "make the picture, cloud or trajectory anew; the old one was dropped"),), "report that it cannot be had"),
    "internal_error": _FAULT,
    "config_error": _FAULT,
    "missing_dependency": _FAULT,
    "model_failed": Policy(2, (Advice("", "call again: models fail now and then"),), "go on without the model"),
    "node_unavailable": Policy(3, (Advice("", "wait a few seconds: nodes are started again"),), "report which node is missing"),
    "timeout": Policy(2, (STATE, LOOK), "report that it takes too long"),
    "cancelled": Policy(1, (STATE,), "do nothing more: somebody wanted it to end"),
    "busy": Policy(5, (Advice("", "wait for the call that has the device"),), "report which call has the device"),
    "stale_data": _AGAIN,
    "no_frame": _AGAIN,
    "no_table": Policy(2, (HOME, LOOK), "report that the desk is not seen; is the camera covered or turned?"),
    "unknown_object": Policy(2, (LOOK, FIND, ASK), "report that it is not on the desk, and what is"),
    "object_lost": Policy(3, (HOME, LOOK, FIND, Advice("find_hidden_space", "see where it may lie hidden")), "report where it was last seen"),
    "no_grasp": Policy(
        3,
        (
            LOOK,
            Advice("generate_grasps", "see why there is none", (("object_id", OBJECT),)),
            Advice("grasp_from_cloud", "a grasp by its points alone", (("object_id", OBJECT),)),
            Advice("separate", "push it out from beside what it lies against", (("object_id", OBJECT),)),
            Advice("push", "bring it away from walls and other objects", (("object_id", OBJECT),)),
        ),
        "report that the gripper cannot take it, and why",
    ),
    "grasp_failed": Policy(
        3,
        (Advice("open_gripper", "let go of whatever is half held"), HOME, LOOK, Advice("grip_force", "see how hard to press", (("object_id", OBJECT),))),
        "report that it slips",
    ),
    "place_failed": Policy(3, (LOOK, FIND, Advice("pick", "take it again from where it lies", (("object_id", OBJECT),))), "report where it lies instead"),
    "no_free_space": Policy(
        2, (LOOK, Advice("reachability_map", "see where else the arm could put it"), Advice("plan_task", "clear a place first")), "report that there is no room"
    ),
    "gripper_failed": Policy(2, (STATE, HOME, Advice("open_gripper", "move the fingers freely")), "report that the gripper does not move"),
    "not_holding": Policy(2, (LOOK, Advice("pick", "pick it first", (("object_id", OBJECT),))), "report that nothing is held"),
    "already_holding": Policy(1, (STATE, Advice("plan_task", "put down what is held first")), "put it down, then go on"),
    "wipe_failed": Policy(
        2,
        (Advice("find_stains", "see what is left, and where"), Advice("place_at", "put down what wipes, then pick it again: it slipped")),
        "report what is left",
    ),
    "no_handle": Policy(2, (LOOK, Advice("find_handles", "see which handles there are, and on what")), "report that no handle is seen"),
    "no_lid": Policy(2, (LOOK, Advice("find_handles", "see which lids stand open, and on what")), "report that no open lid is seen"),
    "not_moved": Policy(2, (LOOK, Advice("find_handles", "see where the handle is now")), "report that it does not move, and which way was tried"),
    "no_ik_solution": Policy(2, (REACH, REPAIR), "report that it is out of reach, and by how much"),
    "start_in_collision": Policy(2, (STATE, LOOK, HOME), "report what touches the arm"),
    "goal_in_collision": _BLOCKED,
    "planning_failed": _BLOCKED,
    "path_incomplete": _BLOCKED,
    "limits_violated": Policy(2, (REPAIR,), "report which limit"),
    "envelope_violated": Policy(2, (REPAIR, LOOK), "report what the safety envelope refuses; it is never switched off"),
    "unknown_plan": _PLAN,
    "plan_used": _PLAN,
    "plan_expired": _PLAN,
    "tracking_error": _HALTED,
    "stalled": _HALTED,
    "contact": _HALTED,
    "controller_failed": _HALTED,
    "scene_error": Policy(2, (LOOK,), "report the fault"),
    "safety_stop": Policy(1, (OPERATOR,), "nothing moves until the operator releases the stop"),
    "watchdog": Policy(1, (OPERATOR,), "nothing moves until the node runs again and the operator releases the stop"),
    "empty_instruction": Policy(1, (Advice("", "ask what shall be done"),), "say that there is nothing to do"),
    "not_understood": Policy(2, (Advice("parse_instruction", "see which words are not understood"), ASK), "ask the person to say it otherwise"),
    "impossible": Policy(1, (Advice("plan_task", "see whether another way leads there"),), "say why it cannot be done"),
    "budget_exceeded": Policy(1, (), "report what was done so far"),
    "task_incomplete": Policy(2, (LOOK, Advice("check_goal", "see what is left")), "report what is done and what is not"),
    "scene_file_error": _FAULT,
    "no_answer": Policy(1, (), "report what was asked and that nobody answered"),
    "paused": Policy(2, (Advice("", "wait until the operator lets the robot go on"),), "report that the operator has paused the robot"),
    "clock_jumped": Policy(
        2, (Advice("detect_objects", "look again: the motion was stopped when the robot's clock jumped"),), "report that something sets the robot's clock"
    ),
    "not_called": Policy(2, (LOOK,), "report what went wrong before it"),
    "recording_failed": Policy(1, (OPERATOR,), "report that nothing can be recorded, and why"),
    "device_busy": _FAULT,
    "device_unavailable": Policy(2, (Advice("", "wait a few seconds: a device that was plugged in again is taken again"),), "report which device is gone"),
    "servo_fault": _FAULT,
    "calibration_failed": _FAULT,
    "camera_moved": Policy(1, (OPERATOR,), "report that the camera must be calibrated again; what it shows is not where it seems"),
    "not_steady": Policy(3, (Advice("", "wait until it has settled, then read again"),), "report that it does not come to rest"),
    "memory_busy": Policy(3, (Advice("", "wait a moment"),), "go on without the memory"),
    "memory_broken": _FAULT,
}
"""Code -> what helps; a test holds that every code of :data:`deskhand.errors.ERROR_NUMBERS` is here and every tool named exists."""
