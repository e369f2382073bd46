"""Questions that are answered, and instructions that are refused, without a motion."""

import pytest
from test_understanding import office, playroom, run

from deskhand.agent.loop import AgentLoop
from deskhand.offline.model import OfflineModel
from deskhand.testing.symbolic_desk import SymbolicDesk, seen_object

QUESTIONS = [
    ("What is on the desk?", ["block_1", "cup_1", "bin_1"], []),
    ("what do you see", ["block_1", "marker_1"], []),
    ("Please list all the objects", ["pen_1"], []),
    ("describe the scene", ["pen_1"], []),
    ("tell me what is there", ["pen_1"], []),
    ("is there a cup?", ["Yes", "cup_1"], ["block_1"]),
    ("Is there a banana on the desk?", ["No", "block_1"], ["Yes"]),
    ("are there any balls", ["Yes", "ball_1", "ball_2"], []),
    ("do you see a green block", ["Yes", "block_3"], ["block_1"]),
    ("how many balls are there on the table?", ["2", "ball_1"], ["cup_1"]),
    ("how many blue things do you see?", ["3"], ["cup_1"]),
    ("count the blocks", ["3"], ["cup_1"]),
    ("where is the red block", ["block_1", "left"], ["block_2"]),
    ("what colour is the cup?", ["red"], ["block"]),
    ("is the pen in the bin?", ["No", "pen_1"], []),
    ("which is the biggest block?", ["block_2"], ["block_1"]),
    ("is there anything to drink on the desk?", ["Yes", "cup_1", "can_1"], ["block_1"]),
    ("what can you do?", ["stack"], []),
    ("which objects are blue?", ["block_2", "pen_1"], ["cup_1"]),
    ("what is to the left of the green block?", ["block_1"], ["block_2"]),
    ("could you check whether there is a sponge?", ["Yes", "sponge_1"], []),
    ("is the desk clean?", ["No", "block_1"], ["bin_1"]),
]


@pytest.mark.parametrize(("text", "said", "unsaid"), QUESTIONS)
def test_questions_are_answered_from_a_look_without_motion(text: str, said: list[str], unsaid: list[str]) -> None:
    desk = office()
    outcome = run(desk, text)
    assert outcome.success, outcome.summary
    assert all(word in outcome.summary for word in said), outcome.summary
    assert not any(word in outcome.summary for word in unsaid), outcome.summary
    assert {name for name, _ in desk.calls} <= {"detect_objects"}


def test_what_is_in_a_container_is_told() -> None:
    desk = playroom()
    desk.objects["ball_1"] |= {"support": "tray_1", "relation": "in"}
    assert "ball_1" in run(desk, "what is in the red tray?").summary
    assert run(desk, "is the green ball in the red tray?").summary.startswith("Yes")


REFUSALS = [
    ("", "empty_instruction", []),
    ("  \n ", "empty_instruction", []),
    ("fly to the moon", "impossible", ["fly to the moon", "I can"]),
    ("sing a song", "impossible", []),
    ("make me a coffee", "impossible", []),
    ("please wipe the desk", "impossible", []),
    ("go to the kitchen", "impossible", []),
    ("asdf qwer", "not_understood", ["asdf qwer", "I can"]),
    ("what is the weather like today in Paris", "not_understood", []),
    ("hello", "not_understood", []),
    ("!!!", "not_understood", []),
    ("räum den Tisch auf", "not_understood", []),
    ("put everything that rolls in the tray", "not_understood", ["roll"]),
    ("put the block in the box unless it is red", "no_answer", ["the block"]),
    ("put nothing in the bin", "not_understood", ["nothing"]),
    ("where should I put my keys?", "not_understood", []),
    ("put the block", "not_understood", ["where shall the block go"]),
    ("put it in the bin", "not_understood", []),
    ("put the moon in the tray", "unknown_object", ["moon", "block_1"]),
    ("put the purple block in the tray", "unknown_object", ["purple block", "block_1"]),
    ("put the cup in the blue tray", "unknown_object", ["blue tray", "tray_1"]),
    ("put the cup in the red block", "impossible", ["not open at the top"]),
    ("put the tray in the bin", "impossible", ["container"]),
    ("put the red block on the yellow ball", "impossible", ["rolls"]),
    ("put the red block under the cup", "impossible", ["under"]),
    ("put the red block on the blue block and the blue block on the red block", "impossible", ["circle"]),
]


@pytest.mark.parametrize(("text", "code", "said"), REFUSALS)
def test_what_cannot_be_followed_is_refused_with_a_code_and_without_motion(text: str, code: str, said: list[str]) -> None:
    desk = office()
    outcome = run(desk, text)
    assert (outcome.success, outcome.code) == (False, code), outcome.summary
    assert all(word in outcome.summary for word in said), outcome.summary
    assert {name for name, _ in desk.calls} <= {"detect_objects", "get_robot_state"}


@pytest.mark.parametrize(("sliver", "place"), [((0.15, 0.0), "tray_1"), ((0.10, 0.0), "")])
def test_what_is_below_the_one_that_is_meant_need_not_be_known_where_that_hides_it(sliver: tuple[float, float], place: str) -> None:
    cups = seen_object("cup_1", position=(0.1, 0.0), on="eraser_1"), seen_object("cup_2", position=(-0.1, 0.1))
    robot = SymbolicDesk(*cups, seen_object("eraser_1", position=sliver), seen_object("tray_1", position=(0.0, -0.28)))
    outcome = AgentLoop(OfflineModel(), robot).run("pick the cup on the ramekin and place it in the tray")
    assert outcome.success is bool(place) and (outcome.code == "unknown_object") is not bool(place), outcome.summary
    assert [arguments["object_id"] for name, arguments in robot.calls if name == "pick"] == (["cup_1"] if place else [])
