"""Direct mode with tools: two passes, at most three tools in the paper's terms, a candidate, a guard, and both plans kept."""

import json
import re
from typing import Any

import numpy as np
import pytest

from deskhand.agent.direct import SCHEMA, run_direct
from deskhand.agent.direct_tools import CALLING, HIDDEN, MODE, MOST_TOOLS, POLICY, TOOLS, ToolPasses, in_cells, in_metres
from deskhand.agent.loop import AgentLoop
from deskhand.errors import DeskhandError
from deskhand.etp.base import ToolResult
from deskhand.llm.base import Message, Reply, ToolCall
from deskhand.llm.scripted import ScriptedModel
from deskhand.testing.symbolic_desk import NUMBER, SymbolicDesk, schema, seen_object
from deskhand.tools.base import load_tools
from deskhand.trials.base import TrialOptions, prepare
from deskhand.trials.desk_session import desk_session
from deskhand.types.action_cells import cells_of, pose_of

HIGH, DOWN = [50, 58, 25, 0, 60, 60, 1], [50, 58, 2, 0, 60, 60, 1]
WILD = [50, 58, 130, 0, 60, 60, 1]  # above the cube


def says(plan: list[list[int]], *calls: tuple[str, dict[str, Any]], need: bool | None = None) -> Reply:
    text: dict[str, Any] = {"visual_state_description": "", "reasoning_and_reflection": "", "language_plan": "", "executable_plan": plan}
    if calls or need is not None:
        text |= {"need_tool": bool(calls) if need is None else need, "tool_calls": [{"name": name, "arguments": arguments} for name, arguments in calls]}
    return Reply(json.dumps(text))


class Runtime:
    """Tools that answer by rule: a plan with an x of 99 is not feasible, numbers above 100 are cut; and a model that follows a script."""

    def __init__(self, *replies: Reply, instruction: str = "put the maroon star into the box", hidden: bool = False) -> None:
        self.calls: list[tuple[str, dict[str, Any]]] = []
        self.made: list[tuple[str, str]] = []
        self.schemas: list[Any] = []
        self.asked: list[list[Message]] = []
        self._replies = list(replies)
        self.passes = ToolPasses(instruction, self.model, self.make, hidden, ["a", "b", "c"])

    def model(self, messages: Any, wanted: Any) -> tuple[Reply, float]:
        self.asked.append(list(messages))
        self.schemas.append(wanted)
        return self._replies.pop(0), 0.5

    def make(self, call: ToolCall, reply: Reply, latency: float) -> ToolResult:
        self.calls.append((call.name, call.arguments))
        self.made.append((call.name, reply.text))
        actions = call.arguments.get("actions", [])
        if call.name == "path_feasibility":
            bad = [number for number, action in enumerate(actions, 1) if in_cells(action)[0] == 99]
            return ToolResult(
                "", "", {"feasible": not bad, "waypoint": bad[0] if bad else None, "code": "no_ik_solution" if bad else "", "reason": "red block_7"}
            )
        if call.name == "sanitize_actions":
            cut = [[min(value, 0.59) for value in action[:3]] + action[3:] for action in actions]
            return ToolResult("", "", {"actions": cut, "mended": [{"index": 0, "problem": "out of bounds"}] if cut != actions else []})
        if call.name == "color_grounding":
            ranked = [{"object_id": name, "confidence": share} for name, share in (("b", 0.9), ("a", 0.1)) if name in call.arguments["candidates"]]
            return ToolResult("", "", {"ranked": ranked, "gap": 0.8})
        return ToolResult("", "", {"proposals": [{"object_ids": ["c", "a"], "changed": "star", "cost": 1.0}]})

    def ask(self) -> Reply:
        return self.passes.ask([Message("system", "S"), Message("user", "Objects:\nobject 1: [1, 2, 3]")])[0]


def plan_of(reply: Reply) -> Any:
    return json.loads(reply.text)["executable_plan"]


def test_without_a_need_the_first_plan_is_made_and_no_tool_called() -> None:
    runtime = Runtime(says([DOWN], need=False))
    assert plan_of(runtime.ask()) == [DOWN] and not runtime.calls
    assert POLICY in runtime.asked[0][0].content and runtime.schemas == [CALLING]


def test_tools_answer_in_numbers_and_cells_and_the_second_plan_is_made() -> None:
    runtime = Runtime(
        says([DOWN], ("color_grounding", {"color": "maroon", "candidates": [1, 2]}), ("grounding_repair", {"phrase": "star"})), says([HIGH, DOWN])
    )
    assert plan_of(runtime.ask()) == [HIGH, DOWN]
    assert runtime.calls[0] == ("color_grounding", {"color": "maroon", "candidates": ["a", "b"]})
    assert runtime.made[0][1] and not runtime.made[1][1], "what the reply took counts once"
    told = runtime.asked[1][-1].content
    assert "object 2 0.90, object 1 0.10; the first is ahead by 0.80" in told and "grounding_repair: object 1 or 3" in told
    assert f"candidate: {[DOWN]}" in told and runtime.asked[1][-2].content == runtime.asked[0][0].content[:0] + json.dumps(
        json.loads(runtime.asked[1][-2].content)
    )
    assert runtime.schemas == [CALLING, SCHEMA]


def test_three_tools_at_most_and_what_is_no_tool_is_told() -> None:
    many = [("grounding_repair", {"phrase": f"star {number}"}) for number in range(5)]
    runtime = Runtime(says([DOWN], ("fly", {}), *many, ("color_grounding", {"color": "red", "candidates": [9]})), says([DOWN]))
    runtime.ask()
    assert [name for name, _ in runtime.calls].count("grounding_repair") == MOST_TOOLS
    told = runtime.asked[1][-1].content
    assert "fly: there is no such tool" in told and "3 tools at most" in told
    wrong = Runtime(says([DOWN], ("color_grounding", {"color": "red", "candidates": [9]})), says([DOWN]))
    wrong.ask()
    assert "numbers of objects, 1 to 3" in wrong.asked[1][-1].content


@pytest.mark.parametrize("second", [Reply("I would rather not"), says([[99, 58, 2, 0, 60, 60, 1]])])
def test_the_guard_makes_the_candidate_where_the_second_plan_cannot_be_made(second: Reply) -> None:
    runtime = Runtime(says([WILD, DOWN], ("sanitize_actions", {"actions": [WILD, DOWN]})), second)
    reply = runtime.ask()
    assert plan_of(reply) == [[50, 58, 98, 0, 60, 60, 1], DOWN] and reply.said == second.text
    assert "guard" in json.loads(reply.text)["reasoning_and_reflection"]


def test_a_second_plan_that_cannot_be_made_stays_where_the_candidate_cannot_either() -> None:
    off = [99, 58, 2, 0, 60, 60, 1]
    runtime = Runtime(says([off], ("path_feasibility", {"actions": [off]})), says([HIGH, off]))
    assert plan_of(runtime.ask()) == [HIGH, off]
    assert "action 1 cannot be made: no_ik_solution" in runtime.asked[1][-1].content
    assert "block_7" not in runtime.asked[1][-1].content, "reasons may hold labels"


def test_an_empty_second_plan_ends_the_task() -> None:
    assert plan_of(Runtime(says([DOWN], ("path_feasibility", {"actions": [DOWN]})), says([])).ask()) == []


def test_hidden_the_model_is_asked_as_in_direct_mode_and_the_runtime_chooses() -> None:
    runtime = Runtime(says([WILD]), says([DOWN]), hidden=True)
    assert plan_of(runtime.ask()) == [DOWN]
    assert [name for name, _ in runtime.calls][:3] == ["color_grounding", "sanitize_actions", "path_feasibility"]
    assert runtime.calls[0][1]["color"] == "maroon" and runtime.schemas == [SCHEMA, SCHEMA] and runtime.asked[0][0].content == "S"
    plain = Runtime(says([]), hidden=True, instruction="stack them")
    assert plan_of(plain.ask()) == [] and not plain.calls


def test_cells_come_back_from_metres() -> None:
    random = np.random.default_rng(2)
    for _ in range(200):
        action = [*random.integers(0, 100, 3).tolist(), *random.integers(0, 120, 3).tolist(), int(random.integers(0, 2))]
        metres = in_metres(action)
        assert in_cells(metres) == action
        assert np.allclose(metres[:3], pose_of(action)[:3, 3], atol=1e-5)


class ToolDesk(SymbolicDesk):
    """A desk of symbols with what direct mode needs; its cards are those of the tool base."""

    def describe(self, name: str) -> dict[str, Any]:
        inputs = {"direct_action": schema(action={"type": "array", "items": NUMBER}), "direct_look": schema()}
        if name in inputs:
            return {"name": name, "summary": name, "effects": "motion" if name == "direct_action" else "memory", "input_schema": inputs[name]}
        return load_tools(others=False)[0].get(name).card.to_json() if name in TOOLS else super().describe(name)

    def invoke(self, name: str, arguments: Any, *others: Any, **named: Any) -> ToolResult:
        self.calls.append((name, dict(arguments)))
        if name == "direct_look":
            return ToolResult("", "", {"objects": [[50, 30, 2], [60, 58, 3]], "ids": ["block_1", "block_2"]})
        if name == "path_feasibility":
            return ToolResult("", "", {"feasible": True, "waypoint": None, "code": "", "reason": ""})
        if name == "sanitize_actions":
            return ToolResult("", "", {"actions": arguments["actions"], "mended": []})
        return ToolResult("", "", {"position": [0, 0, 0], "width": 0.05})


def test_in_the_loop_both_plans_are_kept_and_only_the_second_is_made() -> None:
    desk = ToolDesk(seen_object("block_1", "red"))
    model = ScriptedModel([says([DOWN], ("path_feasibility", {"actions": [DOWN]})), says([HIGH]), says([], need=False)])
    outcome = AgentLoop(model, desk, mode=MODE).run("lift it")
    assert [arguments["action"] for name, arguments in desk.calls if name == "direct_action"] == [HIGH]
    said = [step.text for step in outcome.steps if step.text]
    assert json.loads(said[0])["executable_plan"] == [DOWN] and json.loads(said[1])["executable_plan"] == [HIGH]
    assert all(step.valid for step in outcome.steps) and outcome.code == "task_incomplete" and not outcome.success
    hidden = AgentLoop(ScriptedModel([says([DOWN]), says([HIGH]), says([])]), ToolDesk(seen_object("block_1", "red")), mode=HIDDEN).run("lift it")
    assert [step.tool for step in hidden.steps].count("path_feasibility") >= 1


def test_the_offline_brain_has_neither() -> None:
    for mode in (MODE, HIDDEN):
        with pytest.raises(DeskhandError, match="no direct mode"):
            prepare(TrialOptions(mode=mode))


SCENE = """
objects:
  - { kind: block, color: red, pose: [0.0, 0.05] }
  - { kind: block, color: blue, pose: [0.05, -0.12] }
  - { kind: box_open, color: green, pose: [0.05, 0.2] }
"""


def test_on_the_simulated_desk_the_tools_tell_the_colour_and_mend_the_plan(tmp_path: Any) -> None:
    scene = tmp_path / "scene.yaml"
    scene.write_text(SCENE)
    with desk_session(TrialOptions(scene=scene, instruction="lift it"), registry=load_tools(others=False, baseline=True)[0]) as session:
        known = {item["color"]: cells_of(item["position"]) for item in session.invoke("detect_objects", {}).data["objects"] if item["label"] == "block"}
        x, y, z = known["blue"]
        far, low = [99, 99, 99, 0, 60, 60, 0], [x, y, 0, 0, 60, 60, 0]
        good = [[x, y, 25, 0, 60, 60, 1], [x, y, z, 0, 60, 60, 1], [x, y, z, 0, 60, 60, 0], [x, y, 25, 0, 60, 60, 0]]
        told: list[str] = []
        replies = [says(good, ("color_grounding", {"color": "blue"}), ("path_feasibility", {"actions": [*good, far]})), says([far, low]), says([], need=False)]

        def model(messages: Any, wanted: Any) -> tuple[Reply, float]:
            told.append(messages[-1].content)
            return replies.pop(0), 0.0

        passes = ToolPasses("lift the blue block", model, lambda call, *_: session.invoke(call.name, call.arguments))
        code, _ = run_direct("lift the blue block", passes.ask, passes.act)
        rows = re.findall(r"object (\d+): \[(\d+), (\d+), (\d+)\]", told[0])
        number = min(rows, key=lambda row: abs(int(row[1]) - x) + abs(int(row[2]) - y))[0]
        assert code == "task_incomplete" and f"color_grounding: object {number} " in told[1]
        assert "action 5 cannot be made" in told[1]
        desk = told[1].lower()
        assert "block_" not in desk and "box" not in desk and "red" not in desk.replace("feasib", "")
        width = session.invoke("get_robot_state", {}).data["gripper_width"]
        assert width > 0.015 and told[2].count("valid, executed") == 4, "the guard made the first plan, and it holds the block"
        leap = session.invoke("path_feasibility", {"actions": [in_metres([5, 5, 30, 0, 60, 60, 1]), in_metres([95, 95, 30, 0, 60, 60, 1])]}).data
        assert not leap["feasible"] and leap["code"] == "limits_violated"
        assert session.invoke("path_feasibility", {"actions": [[0.0, 0.0, -0.02, 0.0, 0.0, 0.0, 1.0]]}).data["code"] == "limits_violated"
        assert session.invoke("path_feasibility", {}).code == "invalid_input"
