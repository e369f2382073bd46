import pytest

from deskhand.agent.loop import AgentLoop
from deskhand.agent.records import Budgets
from deskhand.geometry import make_transform
from deskhand.language.intents import Ask
from deskhand.language.parser import parse as understand
from deskhand.offline.model import OfflineModel
from deskhand.testing.desk_robot import DeskRobot
from deskhand.testing.desk_scene import one_of_each
from deskhand.testing.desk_scene import scene_object as an_object
from deskhand.tools.base import make_session
from deskhand.types import moved
from deskhand.world.history.recorder import Memory

NAMES = ("block_1", "pen_1", "can_1", "sponge_1", "bin_1")


@pytest.fixture
def robot():
    return DeskRobot([item for item in one_of_each() if item.id in NAMES])


@pytest.fixture
def session(robot):
    with make_session(robot) as session:
        yield session


def ok(session, name, **arguments):
    result = session.invoke(name, arguments)
    assert result.ok, result
    return result.data


def push(robot, name, x, y):
    """Somebody's hand moves an object."""
    robot.objects[name] = moved(robot.objects[name], make_transform(None, (x, y, 0)) @ robot.objects[name].pose)


def test_nothing_is_known_before_the_first_look(session):
    assert not ok(session, "where_is", words="red block")["known"]
    assert ok(session, "scene_changes")["events"] == []
    assert ok(session, "recall_objects", label="block")["objects"] == []


def test_an_object_that_was_put_away_out_of_sight_is_still_known_to_be_in_the_bin(session, robot):
    ok(session, "detect_objects")
    ok(session, "pick", object_id="block_1")
    assert ok(session, "where_is", words="red block")["objects"][0]["status"] == "held"
    robot.hidden = {"block_1"}
    ok(session, "place_in", container_id="bin_1")
    ok(session, "detect_objects")
    answer = ok(session, "where_is", words="red block")
    (there,) = answer["objects"]
    assert (there["id"], there["status"], there["relation"], there["support"]) == ("block_1", "occluded", "in", "bin_1") and "hidden" in answer["text"]
    assert [item["id"] for item in ok(session, "recall_objects", relation="in", target="bin_1")["objects"]] == ["block_1"]
    assert [event["kind"] for event in ok(session, "object_history", object_id="block_1")["events"]] == ["added", "held", "released", "placed"]


def test_what_a_hand_moved_between_two_looks_is_told(session, robot):
    ok(session, "detect_objects")
    push(robot, "can_1", 0.2, -0.2)
    robot.sleep(30.0)
    ok(session, "detect_objects")
    (event,) = ok(session, "scene_changes", seconds=10)["events"]
    assert (event["object_id"], event["kind"]) == ("can_1", "moved") and "moved from the table at x" in event["text"]
    (before,) = ok(session, "recall_objects", label="can", seconds_ago=20)["objects"]
    assert before["position"][:2] == pytest.approx([-0.08, 0.1]) and before["until"] is not None


def test_an_object_that_somebody_took_has_vanished_and_one_that_is_covered_has_not(session, robot):
    ok(session, "detect_objects")
    taken = robot.objects.pop("pen_1")
    ok(session, "detect_objects")
    (pen,) = ok(session, "where_is", words="pen_1")["objects"]
    assert pen["status"] == "vanished" and pen["position"][:2] == pytest.approx(taken.position[:2])
    robot.hidden = {"block_1"}  # perception does not see it
    robot.objects["box_9"] = an_object("box_9", "box", (0.06, 0.06, 0.06), (0.05, 0.0, 0.08), label="box")  # in the camera's way
    ok(session, "detect_objects")
    (block,) = ok(session, "where_is", words="block_1")["objects"]
    assert block["status"] == "occluded" and block["confidence"] < 0.9


def test_questions_in_words(session, robot):
    ok(session, "detect_objects")
    push(robot, "can_1", 0.0, -0.3)
    ok(session, "detect_objects")
    answer = ok(session, "ask_memory", question="Which can was left of the block before?")
    assert [item["id"] for item in answer["objects"]] == ["can_1"] and "can_1" in answer["answer"]
    refused = session.invoke("ask_memory", {"question": "Why is the sky blue?"})
    assert refused.code == "not_understood" and "red pen" in refused.hint


def test_wrong_arguments_are_refused_with_what_is_valid(session):
    ok(session, "detect_objects")
    assert session.invoke("recall_objects", {"relation": "left_of"}).code == "invalid_arguments"
    assert session.invoke("recall_objects", {"relation": "above", "target": "bin_1"}).code == "invalid_arguments"
    result = session.invoke("object_history", {"object_id": "block_9"})
    assert result.code == "unknown_object" and "block_1" in result.message


def test_a_new_session_on_the_same_file_remembers(robot, tmp_path):
    file = tmp_path / "memory.sqlite"
    with Memory(file, robot.now) as memory, make_session(robot, memory=memory) as session:
        ok(session, "detect_objects")
        ok(session, "pick", object_id="sponge_1")
        ok(session, "place_in", container_id="bin_1")
    robot.sleep(5.0)
    with Memory(file, robot.now) as memory, make_session(robot, memory=memory) as session:
        (sponge,) = ok(session, "where_is", words="yellow sponge")["objects"]
        assert sponge["position"][:2] == pytest.approx(robot.objects["sponge_1"].position[:2], abs=0.001) and sponge["earlier_session"]
        assert "earlier session" in ok(session, "ask_memory", question="where was the sponge before you picked up the sponge")["answer"]


def test_the_offline_brain_answers_questions_about_the_past(session, robot):
    def told(instruction):
        return AgentLoop(OfflineModel(), session, Budgets(seconds=30)).run(instruction)

    assert told("what is on the desk?").success
    push(robot, "can_1", 0.0, -0.3)
    outcome = told("Which can was left of the red block before?")
    assert outcome.success and "can_1" in outcome.summary and "was left of block_1" in outcome.summary
    ok(session, "pick", object_id="block_1")
    ok(session, "place_in", container_id="bin_1")
    assert "block_1 was picked up" in told("what did you pick up last?").summary
    assert "pen_1" in told("where did you last see the blue pen?").summary


@pytest.mark.parametrize(
    "words", ["put the block that was left of the box into the bin", "where is the red pen?", "is the pen in the bin?", "clean the desk as before"]
)
def test_what_is_no_question_about_the_past_is_not_taken_for_one(words):
    assert not any(isinstance(intent, Ask) and intent.kind == "memory" for intent in understand(words).intents)
