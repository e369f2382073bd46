"""Direct mode: actions of seven numbers are read, made within the envelope, and nothing is claimed that nobody checked."""

import json
import re
from typing import Any

import numpy as np
import pytest

from deskhand.agent.direct import MOST_ACTIONS, Direct, boxes, examples, read_actions, run_direct
from deskhand.agent.loop import AgentLoop
from deskhand.errors import DeskhandError
from deskhand.etp.base import ToolResult
from deskhand.language import lexicon
from deskhand.llm.base import Reply, Usage
from deskhand.llm.scripted import ScriptedModel
from deskhand.testing.symbolic_desk import CARDS, NUMBER, SymbolicDesk, schema, seen_object
from deskhand.tools.base import load_tools
from deskhand.trials.base import TrialOptions, prepare
from deskhand.trials.desk_session import desk_session
from deskhand.types.action_cells import angle_of, cells_of, pose_of
from deskhand.types.colors import PALETTE

SCENE = """
objects:
  - { kind: block, color: red, pose: [0.0, 0.05] }
  - { kind: box_open, color: green, pose: [0.05, -0.15] }
"""


def says(*actions: list[int]) -> Reply:
    text = {"visual_state_description": "", "reasoning_and_reflection": "", "language_plan": ""}
    return Reply(json.dumps({**text, "executable_plan": list(actions)}), usage=Usage(50, 20))


class DirectDesk(SymbolicDesk):
    def describe(self, name: str) -> dict[str, Any]:
        if name not in ("direct_action", "direct_look"):
            return super().describe(name)
        inputs = schema(action={"type": "array", "items": NUMBER}) if name == "direct_action" else schema()
        return {"name": name, "summary": name, "effects": "motion" if name == "direct_action" else "memory", "input_schema": inputs}

    def invoke(self, name: str, arguments: Any, *others: Any, **named: Any) -> ToolResult:
        if name in CARDS:
            return super().invoke(name, arguments, *others, **named)
        self.calls.append((name, dict(arguments)))
        if name == "direct_look":
            return ToolResult("", "", {"objects": [[50, 30, 2], [60, 58, 3]]})
        return ToolResult("no_ik_solution", "out of reach.") if arguments["action"][2] > 90 else ToolResult("", "", {"position": [0, 0, 0], "width": 0.05})


DOWN = [50, 58, 2, 0, 60, 60, 1]


def test_actions_are_made_in_order_and_what_came_of_them_is_told() -> None:
    desk, model = DirectDesk(seen_object("block_1", "red")), ScriptedModel([says(DOWN, [50, 56, 95, 0, 60, 60, 1], DOWN), says()])
    outcome = AgentLoop(model, desk, mode="direct").run("lift the block")
    assert [name for name, _ in desk.calls] == ["direct_look", "direct_action", "direct_action", "direct_look"]
    told = model.conversations[1][-1].content
    assert "step 1 of 15" in told and "valid, executed" in told and "not valid, no_ik_solution" in told and "object 2: [60, 58, 3]" in told
    assert (outcome.success, outcome.code, outcome.tokens) == (False, "task_incomplete", 140)


def test_the_labelled_way_tells_labels_colours_and_sizes() -> None:
    desk, model = DirectDesk(seen_object("block_1", "red")), ScriptedModel([says()])
    AgentLoop(model, desk, mode="direct_labelled").run("lift the block")
    assert [name for name, _ in desk.calls] == ["detect_objects"]
    assert "block_1, red, block" in model.conversations[0][-1].content


def test_fifteen_actions_are_an_episode_however_they_are_spread() -> None:
    for many in (1, 4, 15):
        desk, model = DirectDesk(seen_object("block_1")), ScriptedModel([says(*[DOWN] * many)] * 20)
        outcome = AgentLoop(model, desk, mode="direct").run("lift the block")
        assert sum(name == "direct_action" for name, _ in desk.calls) == MOST_ACTIONS == 15
        assert outcome.code == "budget_exceeded"


def test_the_prompt_does_not_grow_with_the_replies() -> None:
    model = ScriptedModel([says(DOWN)] * 12 + [says()])
    AgentLoop(model, DirectDesk(), mode="direct").run("lift a block")
    sizes = [sum(len(message.content) for message in shown) for shown in model.conversations]
    assert max(sizes) <= sizes[4] + 20
    assert all(sum(message.content.endswith("object 2: [60, 58, 3]") for message in shown) == 1 for shown in model.conversations)


def test_a_model_that_writes_no_actions_is_told_and_ended() -> None:
    model = ScriptedModel([Reply("pick it up"), Reply('{"executable_plan": [[1,2]]}'), Reply("{}")])
    outcome = AgentLoop(model, DirectDesk(seen_object("block_1")), mode="direct").run("lift the block")
    assert outcome.code == "model_failed"
    assert "seven whole numbers" in model.conversations[2][-1].content


def test_safety_rules_and_direct_mode_do_not_go_together() -> None:
    desk = DirectDesk(seen_object("block_1"))
    outcome = AgentLoop(ScriptedModel([says(DOWN)]), desk, mode="direct", rules=["do not touch the block"]).run("lift the block")
    assert (outcome.code, desk.calls) == ("invalid_input", [])


@pytest.mark.parametrize("text", ['{"executable_plan": [[true,1,1,1,1,1,1]]}', "null", '{"executable_plan": {}}', "[1, 2, 3]", '{"actions": []}', "move up"])
def test_what_is_no_action_is_told_apart(text: str) -> None:
    assert read_actions(text)[1]


@pytest.mark.parametrize("text", ["[1,2,3,4,5,6,1]", "Action: [1, 2, 3, 4, 5, 6, 1].", '{"executable_plan": [1, 2, 3, 4, 5, 6, 1]}'])
def test_a_bare_array_of_seven_numbers_is_an_action(text: str) -> None:
    assert read_actions(text) == ([[1, 2, 3, 4, 5, 6, 1]], "")


def test_cells_and_poses_fit_each_other() -> None:
    pose = pose_of([50, 50, 25, 0, 60, 60, 0])
    assert np.allclose(pose[:3, 2], [0, 0, -1], atol=1e-9) and np.allclose(np.abs(pose[:3, 1]), [0, 1, 0], atol=1e-9)
    assert np.allclose(pose[:3, 3], [0.003, 0.003, 0.153]) and cells_of(pose[:3, 3]) == [50, 50, 25]
    assert cells_of([9.0, -9.0, 0.1]) == [100, 0, 16]
    turned = pose_of([50, 50, 25, 0, 60, angle_of(30.0), 0])  # angle 3 i - 180
    assert np.allclose(turned[:3, 0], [np.cos(np.pi / 6), np.sin(np.pi / 6), 0], atol=1e-9)


def test_examples_are_of_the_family_of_the_instruction() -> None:
    assert examples("Put the moon into the red container").count("Example task") == 2
    stack = examples("Stack the red star and the blue star in sequence")
    assert stack.count("Example task") == 4
    for text in stack.split("Example task:")[1:]:
        actions, problem = read_actions(text[text.index("{") :])
        assert not problem and len(actions) == 8


def test_the_offline_brain_says_that_it_has_no_direct_mode() -> None:
    for mode in ("direct", "direct_labelled"):
        with pytest.raises(DeskhandError, match="no direct mode"):
            prepare(TrialOptions(mode=mode))


def test_the_actions_are_no_tools_of_the_tool_base() -> None:
    assert not {"direct_action", "direct_look"} & {card.name for card in load_tools(others=False)[0].cards()}


def test_four_actions_lift_a_block_and_the_prompt_holds_no_label_colour_or_size(tmp_path: Any) -> None:
    scene = tmp_path / "scene.yaml"
    scene.write_text(SCENE)
    with desk_session(TrialOptions(scene=scene, instruction="lift it"), registry=load_tools(others=False, baseline=True)[0]) as session:
        known = session.invoke("detect_objects", {}).data["objects"]
        prompts: list[str] = []

        def ask(messages: Any) -> tuple[Reply, float]:
            prompts.append(messages[-1].content)
            assert not messages[-1].images
            return says(), 0.0

        run_direct("lift it", ask, lambda call, *_: session.invoke(call.name, call.arguments), Direct())
        desk = prompts[0][prompts[0].rindex("Objects:") :]
        rows = re.findall(r"object (\d+): \[(\d+), (\d+), (\d+)\]", desk)
        assert [int(row[0]) for row in rows] == list(range(1, len(rows) + 1)) and len(rows) >= 2
        assert [int(row[2]) for row in rows] == sorted(int(row[2]) for row in rows)
        given = {item["id"] for item in known} | {item["label"] for item in known} | {item["color"] for item in known}
        given = (given - {"object"}) | set(PALETTE) | set(lexicon.KIND_WORDS) | set(lexicon.COLORS)

        def given_away(text: str) -> set[str]:
            """Words of labels and colours, and numbers of an object beyond its three cells, which would be its size or turn."""
            return (set(re.findall(r"[a-z_0-9]+", text.lower())) & given) | set(re.findall(r"\d+, \d+, \d+, \d+", text))

        assert set(re.findall(r"[a-z_]+", desk.lower())) == {"objects", "object"} and not given_away(desk)
        labelled = boxes(known)  # what the labelled way tells must not pass for it
        assert {"red", "block"} <= given_away(labelled) and any("," in found for found in given_away(labelled))

        picture = session.invoke("direct_look", {"picture": True}).data["picture"]
        assert session.resource(picture["uri"]).data[:4]
        block = next(item for item in known if item["label"] == "block")
        x, y, z = cells_of(block["position"])
        yaw = angle_of(np.degrees(block["yaw"]) % 180)
        for height, grip in ((25, 1), (z, 1), (z, 0), (25, 0)):
            result = session.invoke("direct_action", {"action": [x, y, height, 0, 60, yaw, grip]})
            assert result.ok, result
        assert result.data["width"] > 0.01
        below = session.invoke("direct_action", {"action": [x, y, 0, 0, 60, yaw, 0]})
        assert not below.ok
        assert session.invoke("direct_action", {"action": [x, y, 120, 0, 60, yaw, 0]}).code == "invalid_arguments"
