"""One account of what is where: all who ask see the same, also after a pick answers with another id."""

from typing import Any

from deskhand.agent.loop import AgentLoop
from deskhand.agent.moves import moves_of
from deskhand.agent.prompt import result_text
from deskhand.etp.base import ToolResult
from deskhand.llm.base import Message, Reply, ToolCall
from deskhand.llm.scripted import ScriptedModel
from deskhand.llm.situation import read
from deskhand.testing.symbolic_desk import SymbolicDesk, seen_object
from deskhand.world.model import Put, WorldModel

CAN, CUP = seen_object("can_2", "red", position=(0.1, 0.0)), seen_object("cup_1", "red", position=(0.1, 0.0))
CALLS: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
    ("detect_objects", {}, {"objects": [CUP, seen_object("bin_1")]}),
    ("pick", {"object_id": "cup_1"}, {"object_id": "can_2", "label": "can"}),
    ("place_in", {"container_id": "bin_1"}, {"object_id": "can_2", "seen": True, "position": [0.2, 0.2, 0.03]}),
]


def scripted(*calls):
    return ScriptedModel([call if isinstance(call, Reply) else Reply("", tool_calls=(call,)) for call in calls])


def world_of(calls):
    world = WorldModel()
    for tool, arguments, data in calls:
        world.apply(tool, arguments, True, data)
    return world


def test_what_was_picked_under_another_id_is_held_under_it_and_known_no_more_under_the_old_one():
    world = world_of(CALLS[:2])
    assert world.held == "can_2" and "cup_1" not in world.objects and world.called_now("cup_1") == "can_2"
    assert world.objects["can_2"]["label"] == "can" and world.objects["can_2"]["relation"] == "held"


def test_where_it_was_put_is_known_under_its_new_id_by_all_who_ask():
    world = world_of(CALLS)
    assert world.put == {"can_2": Put("in", "bin_1")} and world.held == ""
    assert (world.objects["can_2"]["support"], world.objects["can_2"]["position"]) == ("bin_1", [0.2, 0.2, 0.03])
    (move,) = moves_of(CALLS)
    assert (move.name, move.origin.x, move.goal.relation, move.goal.support, move.goal.x) == ("can_2", 0.1, "in", "bin_1", 0.2)
    messages = [Message("user", "tidy up")]
    for number, (tool, arguments, data) in enumerate(CALLS):
        messages += [Message("assistant", "", (ToolCall(tool, arguments, str(number)),))]
        messages += [Message("tool", text(ToolResult("", "", data)), tool_call_id=str(number), name=tool)]
    now = read(messages)
    assert now.world.put == world.put and set(now.objects) == {"can_2", "bin_1"}


def text(result):
    return result_text(result)


def test_what_a_look_does_not_show_stays_known_and_is_not_visible():
    world = world_of([CALLS[0], ("detect_objects", {}, {"objects": [seen_object("bin_1")]})])
    assert set(world.objects) == {"cup_1", "bin_1"} and [item["id"] for item in world.visible()] == ["bin_1"]


def test_what_is_seen_as_something_else_once_put_down_is_followed():
    world = world_of([*CALLS[:2], ("place_on", {"target_id": "bin_1"}, {"seen_as": "can_7", "position": [0.0, 0.0, 0.05]})])
    assert world.put == {"can_7": Put("on", "bin_1")} and world.called_now("cup_1") == "can_7" and "can_2" not in world.objects


class OtherIdDesk(SymbolicDesk):
    """A pick of cup_1 takes it under the id can_2, as a second look may."""

    def invoke(self, name, arguments, **kwargs):
        result = super().invoke(name, {"object_id": "cup_1"} if arguments == {"object_id": "can_2"} else arguments, **kwargs)
        if name == "pick" and result.ok:
            item = self.objects.pop("cup_1")
            self.objects["can_2"] = {**item, "id": "can_2", "label": "can"}
            self.holding = "can_2"
            return ToolResult("", "", {"object_id": "can_2", "label": "can"})
        return result


def test_a_safety_rule_is_held_against_what_is_in_the_hand_not_against_what_was_asked_for():
    model = scripted(
        ToolCall("detect_objects", {}),
        ToolCall("pick", {"object_id": "cup_1"}),
        ToolCall("place_in", {"container_id": "bin_1"}),
        ToolCall("finish", {"status": "partly", "summary": ""}),
    )
    desk = OtherIdDesk(seen_object("cup_1", "red"), seen_object("bin_1", "black"))
    outcome = AgentLoop(model, desk, rules=("never put a can into the bin",)).run("put the red cup into the bin")
    assert desk.where().get("can_2") != "bin_1", outcome.summary
    assert any(step.tool == "place_in" and not step.ok for step in outcome.steps)


def test_a_new_plan_replaces_the_old_one_unless_it_says_that_it_adds():
    desk = SymbolicDesk(seen_object("cup_1", "red"), seen_object("block_1", "blue"), seen_object("bin_1", "black"))
    goal = {"relation": "in", "target_id": "bin_1"}
    model = scripted(
        ToolCall("detect_objects", {}),
        ToolCall("submit_plan", {"subgoals": [{"object_id": "cup_1", **goal}, {"object_id": "block_1", **goal}]}),
        ToolCall("submit_plan", {"subgoals": [{"object_id": "cup_1", **goal}]}),
        ToolCall("pick", {"object_id": "cup_1"}),
        ToolCall("place_in", {"container_id": "bin_1"}),
        ToolCall("finish", {"status": "done", "summary": ""}),
    )
    outcome = AgentLoop(model, desk).run("put the red cup in the bin")
    assert outcome.success and "block_1" not in outcome.summary, outcome.summary


def test_what_follows_a_failure_in_one_reply_is_not_called():
    desk = SymbolicDesk(seen_object("cup_1", "red"), seen_object("block_1", "blue"), seen_object("bin_1", "black"))
    batch = (ToolCall("pick", {"object_id": "cup_9"}), ToolCall("pick", {"object_id": "block_1"}), ToolCall("place_in", {"container_id": "bin_1"}))
    model = scripted(ToolCall("detect_objects", {}), Reply("", tool_calls=batch), ToolCall("finish", {"status": "partly", "summary": ""}))
    outcome = AgentLoop(model, desk).run("put the cup and the block into the bin")
    codes = [(step.tool, step.code) for step in outcome.steps[1:4]]
    assert [code for _, code in codes][1:] == ["not_called", "not_called"] and codes[0][1] != ""
    assert desk.where()["block_1"] == "table" and not any(name in ("pick", "place_in") and "cup_9" not in str(arguments) for name, arguments in desk.calls)
