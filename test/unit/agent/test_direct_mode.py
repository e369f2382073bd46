"""Direct mode: actions of seven numbers are read, made within the envelope, and nothing is claimed that nobody checked."""

import json
from typing import Any

import numpy as np
import pytest

from deskhand.agent.direct import read_actions
from deskhand.agent.loop import AgentLoop
from deskhand.errors import DeskhandError
from deskhand.etp.base import ToolResult
from deskhand.llm.base import Reply, Usage
from deskhand.llm.scripted import ScriptedModel
from deskhand.testing.symbolic_desk import CARDS, NUMBER, SymbolicDesk, schema, seen_object
from deskhand.tools.base import load_tools
from deskhand.tools.execution.direct import bins_of, pose_of
from deskhand.trials.base import TrialOptions, prepare
from deskhand.trials.desk_session import desk_session

SCENE = """
objects:
  - { kind: block, color: red, pose: [0.0, 0.05] }
"""


def says(*actions: list[int], done: bool = False) -> Reply:
    return Reply(json.dumps({"thought": "", "actions": list(actions), "done": done}), usage=Usage(50, 20))


class DirectDesk(SymbolicDesk):
    def describe(self, name: str) -> dict[str, Any]:
        if name != "direct_action":
            return super().describe(name)
        return {"name": name, "summary": name, "effects": "motion", "input_schema": schema(action={"type": "array", "items": NUMBER})}

    def invoke(self, name: str, arguments: Any, *others: Any, **named: Any) -> ToolResult:
        if name in CARDS:
            return super().invoke(name, arguments, *others, **named)
        self.calls.append((name, dict(arguments)))
        return ToolResult("no_ik_solution", "out of reach.") if arguments["action"][2] > 90 else ToolResult("", "", {"position": [0, 0, 0], "width": 0.05})


DOWN = [50, 56, 4, 0, 60, 0, 1]


def test_actions_are_made_in_order_and_what_came_of_them_is_told() -> None:
    desk, model = DirectDesk(seen_object("block_1", "red")), ScriptedModel([says(DOWN, [50, 56, 95, 0, 60, 0, 1], DOWN), says(done=True)])
    outcome = AgentLoop(model, desk, mode="direct").run("lift the block")
    assert [name for name, _ in desk.calls] == ["detect_objects", "direct_action", "direct_action", "detect_objects"]
    assert "no_ik_solution" in model.conversations[1][-1].content and "block_1, red, block" in model.conversations[1][-1].content
    assert (outcome.success, outcome.code, outcome.tokens) == (False, "task_incomplete", 140)


def test_the_prompt_does_not_grow_with_the_replies() -> None:
    model = ScriptedModel([says(DOWN)] * 12 + [says(done=True)])
    AgentLoop(model, DirectDesk(*(seen_object(f"block_{number}") for number in range(1, 9))), mode="direct").run("lift a block")
    sizes = [sum(len(message.content) for message in shown) for shown in model.conversations]
    assert max(sizes) == sizes[-1] <= sizes[4] + 20
    assert all(sum("block_1," in message.content for message in shown) == 1 for shown in model.conversations)


def test_a_model_that_writes_no_actions_is_told_and_ended() -> None:
    model = ScriptedModel([Reply("pick it up"), Reply('{"actions": [[1,2]]}'), Reply("[]")])
    outcome = AgentLoop(model, DirectDesk(seen_object("block_1")), mode="direct").run("lift the block")
    assert outcome.code == "model_failed"
    assert "seven whole numbers" in model.conversations[2][-1].content


def test_replies_are_a_budget() -> None:
    outcome = AgentLoop(ScriptedModel([says(DOWN)] * 40), DirectDesk(seen_object("block_1")), mode="direct").run("lift the block")
    assert outcome.code == "budget_exceeded"


def test_safety_rules_and_direct_mode_do_not_go_together() -> None:
    desk = DirectDesk(seen_object("block_1"))
    outcome = AgentLoop(ScriptedModel([says(DOWN)]), desk, mode="direct", rules=["do not touch the block"]).run("lift the block")
    assert (outcome.code, desk.calls) == ("invalid_input", [])


@pytest.mark.parametrize("text", ['{"actions": [[true,1,1,1,1,1,1]], "done": false}', "null", '{"actions": {}}', '{"actions": [], "done": false}'])
def test_what_is_no_action_is_told_apart(text: str) -> None:
    assert read_actions(text)[2]


def test_bins_and_poses_fit_each_other() -> None:
    pose = pose_of([50, 50, 25, 0, 60, 0, 1])
    assert np.allclose(pose[:3, 2], [0, 0, -1], atol=1e-9) and np.allclose(np.abs(pose[:3, 1]), [0, 1, 0], atol=1e-9)
    assert bins_of(pose[:3, 3]) == [50, 50, 25]
    assert bins_of([9.0, -9.0, 0.1]) == [100, 0, 25]


def test_the_offline_brain_says_that_it_has_no_direct_mode() -> None:
    with pytest.raises(DeskhandError, match="no direct mode"):
        prepare(TrialOptions(mode="direct"))


def test_the_action_is_no_tool_of_the_tool_base() -> None:
    assert "direct_action" not in [card.name for card in load_tools(others=False)[0].cards()]


def test_four_actions_lift_a_block_and_one_into_the_table_is_refused(tmp_path: Any) -> None:
    scene = tmp_path / "scene.yaml"
    scene.write_text(SCENE)
    options = TrialOptions(scene=scene, instruction="lift the block")
    with desk_session(options, registry=load_tools(others=False, baseline=True)[0]) as session:
        block = session.invoke("detect_objects", {}).data["objects"][0]
        x, y, z = bins_of(block["position"])
        yaw = round(block["yaw"] / (2 * np.pi) * 120) % 120
        for height, grip in ((40, 1), (z, 1), (z, 0), (40, 0)):
            result = session.invoke("direct_action", {"action": [x, y, height, 0, 60, yaw, grip]})
            assert result.ok, result
        assert result.data["width"] > 0.01
        seen = session.invoke("detect_objects", {}).data["objects"]
        assert not [
            item
            for item in seen
            if item["support"] == "table" and item["relation"] == "on" and np.hypot(*np.subtract(item["position"][:2], block["position"][:2])) < 0.02
        ]
        below = session.invoke("direct_action", {"action": [x, y, 0, 0, 60, yaw, 0]})
        assert not below.ok
        assert session.invoke("direct_action", {"action": [x, y, 120, 0, 60, yaw, 0]}).code == "invalid_arguments"
