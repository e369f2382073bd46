"""What the offline brain does when tools fail, objects move, or nothing helps; always through the same loop."""

from typing import Any

import pytest

from deskhand.agent.loop import AgentLoop
from deskhand.agent.records import TOOL_ERROR, TaskOutcome
from deskhand.etp.base import ToolResult
from deskhand.offline.model import OfflineModel
from deskhand.testing.symbolic_desk import SymbolicDesk, seen_object

RULES = "put the blocks in the tray and everything else in the bin"


def desk(**kwargs: Any) -> SymbolicDesk:
    return SymbolicDesk(
        seen_object("block_1", "red", position=(-0.1, 0.0)),
        seen_object("block_2", "blue", position=(0.0, 0.1)),
        seen_object("cup_1", "green", position=(0.1, 0.0)),
        seen_object("bin_1", position=(0.0, 0.28)),
        seen_object("tray_1", position=(0.0, -0.28)),
        **kwargs,
    )


def run(desk: SymbolicDesk, text: str = RULES, **kwargs: Any) -> TaskOutcome:
    return AgentLoop(OfflineModel(), desk, **kwargs).run(text)


def fail(code: str, times: int = 1, retry: bool = False) -> list[ToolResult]:
    return [ToolResult(code, f"made to fail with {code}", retry=retry)] * times


DONE = {"block_1": "tray_1", "block_2": "tray_1", "cup_1": "bin_1"}


@pytest.mark.parametrize("code", ["grasp_failed", "no_grasp", "planning_failed", "timeout", "gripper_failed", "tool_failed"])
def test_a_failed_pick_is_tried_again_after_the_others(code: str) -> None:
    robot = desk(faults={"pick:block_1": fail(code)})
    outcome = run(robot)
    assert outcome.success, outcome.summary
    assert robot.where() == DONE
    assert outcome.errors == (code,)
    picks = [arguments["object_id"] for name, arguments in robot.calls if name == "pick"]
    assert picks[0] == picks[-1] == "block_1"
    assert len(picks) == 4
    assert outcome.failures == {TOOL_ERROR: 1}


@pytest.mark.parametrize(("code", "again"), [("path_incomplete", True), ("gripper_failed", False)])
def test_what_something_was_in_the_way_of_is_tried_once_more_when_that_may_be_gone(code: str, again: bool) -> None:
    robot = desk(faults={"pick:block_1": fail(code, 3), "pick:block_2": fail("grasp_failed", 2), "pick:cup_1": fail("grasp_failed", 2)})
    outcome = run(robot)
    assert outcome.success == again, outcome.summary
    assert (robot.where() == DONE) == again
    picks = [arguments["object_id"] for name, arguments in robot.calls if name == "pick"]
    assert picks.count("block_1") == (4 if again else 3)


def test_what_stays_in_the_way_is_not_fought_for_ever() -> None:
    robot = desk(faults={"pick:block_1": fail("path_incomplete", 50), "pick:block_2": fail("grasp_failed", 2)})
    assert not run(robot).success
    assert len([arguments for name, arguments in robot.calls if name == "pick" and arguments["object_id"] == "block_1"]) <= 5


def test_what_leaves_no_room_for_the_fingers_is_pushed_apart_after_the_others_are_away() -> None:
    robot = desk()
    robot.tight = {"block_1"}
    outcome = run(robot)
    assert outcome.success, outcome.summary
    assert robot.where() == DONE
    names = [name for name, arguments in robot.calls if arguments.get("object_id") == "block_1" and name != "submit_plan"]
    assert names == ["pick", "pick", "separate", "pick"]


def test_a_object_that_cannot_be_grasped_is_left_and_told_and_the_rest_is_done() -> None:
    robot = desk(faults={"pick:block_1": fail("grasp_failed", 99)})
    outcome = run(robot)
    assert (outcome.success, outcome.code) == (False, "task_incomplete")
    assert robot.where() == DONE | {"block_1": "table"}
    assert "Not done: the red block (block_1)" in outcome.summary
    assert "made to fail with grasp_failed" in outcome.summary
    assert sum(name == "pick" and arguments["object_id"] == "block_1" for name, arguments in robot.calls) == 3


def test_when_nothing_was_done_the_code_is_that_of_the_failure() -> None:
    robot = desk(faults={"pick": fail("no_grasp", 99)})
    outcome = run(robot, "put the cup in the bin")
    assert (outcome.success, outcome.code) == (False, "no_grasp")


def test_a_place_that_fails_with_the_object_in_hand_is_made_again() -> None:
    robot = desk(faults={"place_in:tray_1": fail("place_failed")})
    assert run(robot).success
    assert robot.where() == DONE
    assert sum(name == "pick" for name, _ in robot.calls) == 3


def test_a_full_container_is_left_for_another_where_nobody_said_which() -> None:
    robot = desk(faults={"place_in:bin_1": fail("no_free_space", 99)})
    outcome = run(robot, "clean the desk")
    assert outcome.success, outcome.summary
    assert set(robot.where().values()) == {"tray_1"}


def test_a_full_container_that_was_asked_for_is_told_and_the_object_put_back() -> None:
    robot = desk(faults={"place_in:bin_1": fail("no_free_space", 99)})
    outcome = run(robot)
    assert (outcome.success, outcome.code) == (False, "task_incomplete")
    assert robot.where() == DONE | {"cup_1": "table"}
    assert robot.holding == ""
    assert "cup_1" in outcome.summary


def test_a_object_dropped_on_the_way_is_picked_again() -> None:
    def drop(robot: SymbolicDesk, name: str) -> None:
        if name == "place_in" and robot.holding == "cup_1" and not dropped:
            dropped.append(True)
            robot._put("table", "on", [0.0, 0.0, 0.02])

    dropped: list[bool] = []
    robot = desk(before=drop)
    outcome = run(robot)
    assert outcome.success, outcome.summary
    assert robot.where() == DONE
    assert outcome.errors == ("not_holding",)


def test_a_object_that_somebody_takes_out_again_is_put_back() -> None:
    def take_out(robot: SymbolicDesk, name: str) -> None:
        if name == "check_goal" and not taken:
            taken.append(True)
            robot.objects["block_1"] |= {"support": "table", "relation": "on"}

    taken: list[bool] = []
    robot = desk(before=take_out)
    outcome = run(robot)
    assert outcome.success, outcome.summary
    assert robot.where() == DONE


def test_who_takes_it_out_every_time_is_not_fought_for_ever() -> None:
    def take_out(robot: SymbolicDesk, name: str) -> None:
        if name == "check_goal":
            robot.objects["block_1"] |= {"support": "table", "relation": "on"}

    outcome = run(desk(before=take_out))
    assert (outcome.success, outcome.code) == (False, "task_incomplete")
    assert "Not done: the red block (block_1)" in outcome.summary


def test_a_object_that_comes_to_light_late_is_taken_up_too() -> None:
    def reveal(robot: SymbolicDesk, name: str) -> None:
        if robot.objects["block_1"]["support"] != "table":
            robot.objects["ball_1"]["hidden"] = False

    robot = desk(before=reveal)
    robot.objects["ball_1"] = seen_object("ball_1", "yellow", position=(0.05, 0.05)) | {"hidden": True}
    outcome = run(robot)
    assert outcome.success, outcome.summary
    assert robot.where() == DONE | {"ball_1": "bin_1"}


def hidden_in_the_bin(robot: SymbolicDesk, name: str, color: str) -> dict[str, Any]:
    return seen_object(name, color, on="bin_1") | {"relation": "in", "position": robot.objects["bin_1"]["position"], "hidden": True}


@pytest.mark.parametrize(
    "words", ["put everything into the tray", "put all the things in the tray", "put the red block into the bin and everything else into the tray"]
)
@pytest.mark.parametrize("shown", ["place_in", "check_goal"])
def test_everything_is_what_is_there_at_the_end_also_what_lay_hidden_in_a_container(words: str, shown: str) -> None:
    def reveal(robot: SymbolicDesk, name: str) -> None:
        if name == shown and robot.objects["cup_1"]["support"] != "bin_1":
            robot.objects["eraser_1"]["hidden"] = False

    robot = desk(before=reveal)
    robot.objects["cup_1"] |= {"support": "bin_1", "relation": "in", "position": robot.objects["bin_1"]["position"]}
    robot.objects["eraser_1"] = hidden_in_the_bin(robot, "eraser_1", "white")
    outcome = run(robot, words)
    assert not robot.objects["eraser_1"].get("hidden")
    assert robot.where()["eraser_1"] == "tray_1" if outcome.success else "eraser" in outcome.summary
    assert outcome.success, outcome.summary


def test_a_glimpse_between_walls_that_does_not_come_again_is_not_taken_for_an_object() -> None:
    def flicker(robot: SymbolicDesk, name: str) -> None:
        after_check = len(robot.calls) > 1 and robot.calls[-2][0] == "check_goal"
        robot.objects["can_9"]["hidden"] = not (name == "find_objects" and after_check)

    robot = desk(before=flicker)
    robot.objects["can_9"] = hidden_in_the_bin(robot, "can_9", "grey")
    outcome = run(robot, "put everything into the tray")
    assert outcome.success, outcome.summary


def test_a_object_that_nobody_asked_for_is_left_when_it_comes_to_light() -> None:
    def reveal(robot: SymbolicDesk, name: str) -> None:
        if name == "place_in":
            robot.objects["cup_2"]["hidden"] = False

    robot = desk(before=reveal)
    robot.objects["cup_2"] = seen_object("cup_2", "yellow", position=(0.05, 0.05)) | {"hidden": True}
    assert run(robot, "put the cup in the bin").success
    assert robot.where()["cup_2"] == "table"


def test_an_object_with_a_new_id_is_found_again() -> None:
    def rename(robot: SymbolicDesk, name: str) -> None:
        if name == "pick" and "cup_1" in robot.objects:
            robot.objects["cup_7"] = robot.objects.pop("cup_1") | {"id": "cup_7"}

    robot = desk(before=rename)
    outcome = run(robot, "put the cup in the bin")
    assert outcome.success, outcome.summary
    assert robot.where()["cup_7"] == "bin_1"


def test_what_a_place_has_let_go_under_another_id_is_taken_by_that_id() -> None:
    """It stood beside its place, was seen as another object, and was asked for by its old id twice more, with a look each time."""
    desk_of_two = SymbolicDesk(
        seen_object("block_1", "red", position=(-0.1, 0.0)),
        seen_object("block_2", "blue", position=(0.0, 0.1)),
        faults={"place_on": [ToolResult("place_failed", "beside its place", {"seen": True, "seen_as": "eraser_1", "object_id": "block_1"})]},
        before=lambda robot, name: None if name != "get_robot_state" or "block_1" not in robot.objects else _let_go(robot),
    )

    def picked() -> list[str]:
        return [arguments["object_id"] for name, arguments in desk_of_two.calls if name == "pick"]

    outcome = run(desk_of_two, "put the red block on the blue block")
    assert outcome.success, outcome.summary
    assert picked() == ["block_1", "eraser_1"] and desk_of_two.where()["eraser_1"] == "block_2"


def _let_go(robot: SymbolicDesk) -> None:
    robot.objects["eraser_1"] = robot.objects.pop("block_1") | {"id": "eraser_1", "support": "table", "relation": ""}
    robot.holding = ""


def test_an_object_that_vanished_is_told() -> None:
    def vanish(robot: SymbolicDesk, name: str) -> None:
        if name == "pick":
            robot.objects.pop("cup_1", None)

    outcome = run(desk(before=vanish), "put the cup in the bin")
    assert (outcome.success, outcome.code) == (False, "unknown_object")


def test_what_lies_on_top_is_cleared_first() -> None:
    robot = desk()
    robot.objects["cup_1"] |= {"support": "block_1", "relation": "on"}
    assert run(robot, "put the red block in the tray").success
    assert robot.where() == {"block_1": "tray_1", "cup_1": "table", "block_2": "table"}
    robot = desk()
    robot.objects["cup_1"] |= {"support": "block_1", "relation": "on"}
    assert run(robot).success
    assert robot.where() == DONE
    assert sum(name == "pick" for name, _ in robot.calls) == 3


def test_what_turns_out_to_be_of_another_kind_once_uncovered_goes_where_that_belongs() -> None:
    def uncover(robot: SymbolicDesk, name: str) -> None:
        if robot.objects["cup_1"]["support"] != "block_1":
            robot.objects["block_1"]["label"] = "block"

    robot = desk(before=uncover)
    robot.objects["cup_1"] |= {"support": "block_1", "relation": "on"}
    robot.objects["block_1"]["label"] = "box"
    outcome = run(robot)
    assert outcome.success, outcome.summary
    assert robot.where() == DONE


@pytest.mark.parametrize(
    ("object_in_bin", "faults"), [("cup_1", {"pick:block_1": fail("grasp_failed")}), ("block_1", {})], ids=["before it is picked", "at its place"]
)
def test_what_turns_out_to_be_of_another_kind_goes_where_that_belongs(object_in_bin: str, faults: dict[str, list[ToolResult]]) -> None:
    def seen_better(robot: SymbolicDesk, name: str) -> None:
        if robot.objects[object_in_bin]["support"] == "bin_1":
            robot.objects["block_1"]["label"] = "block"

    robot = desk(before=seen_better, faults=faults)
    robot.objects["block_1"]["label"] = "box"
    outcome = run(robot)
    assert outcome.success, outcome.summary
    assert robot.where() == DONE


def test_a_look_that_may_be_incomplete_is_made_from_where_more_is_seen() -> None:
    robot = desk()
    robot.narrow = {"cup_1", "tray_1"}
    outcome = run(robot)
    assert outcome.success, outcome.summary
    assert robot.where() == DONE
    plain = desk()
    assert run(plain).success and "look" not in [name for name, _ in plain.calls]


def test_a_tower_grows_from_the_bottom_also_after_a_failure() -> None:
    robot = desk(faults={"pick:block_2": fail("grasp_failed")})
    outcome = run(robot, "put the blue block on the cup and the red block on the blue block")
    assert outcome.success, outcome.summary
    assert robot.where() == {"block_2": "cup_1", "block_1": "block_2", "cup_1": "table"}


def test_what_is_held_at_the_start_is_put_down_first() -> None:
    robot = desk()
    robot.invoke("pick", {"object_id": "cup_1"})
    outcome = run(robot, "put the red block in the tray")
    assert outcome.success, outcome.summary
    assert robot.where() == {"block_1": "tray_1", "cup_1": "table", "block_2": "table"}
