import pytest

pytest.importorskip("pydantic_monty")
from deskhand.agent.controls import RUN_CODE_CARD
from deskhand.agent.loop import AgentLoop
from deskhand.agent.prompt import code_system
from deskhand.agent.records import Budgets
from deskhand.agent.sandbox import MAX_PRINTED, Sandbox, forbidden, signatures
from deskhand.errors import DeskhandError
from deskhand.etp.base import ToolResult
from deskhand.llm.base import Message, Reply, ToolCall
from deskhand.llm.compact import compact
from deskhand.llm.config import ModelProfile
from deskhand.llm.scripted import ScriptedModel
from deskhand.testing.symbolic_desk import SymbolicDesk, seen_object

CARDS = [
    {
        "name": "pick",
        "summary": "Pick up an object.",
        "input_schema": {
            "type": "object",
            "properties": {"object_id": {"type": "string"}, "force": {"type": "number", "default": 2.0}},
            "required": ["object_id"],
        },
        "output_schema": {"type": "object", "properties": {"width": {"type": "number"}}},
    }
]


class Picks:
    def __init__(self):
        self.calls = []

    def __call__(self, name, arguments):
        self.calls.append((name, dict(arguments)))
        if arguments["object_id"] == "wall":
            return ToolResult("no_grasp", "it is too wide.", hint="Push it.")
        if arguments["object_id"] == "end":
            raise DeskhandError("budget_exceeded", "that was enough.")
        return ToolResult("", "", {"width": 0.02, "seen": [1, {"x": None}]})


@pytest.fixture(scope="module")
def shared():
    picks = Picks()
    with Sandbox(CARDS, picks) as sandbox:
        yield sandbox, picks


def test_code_calls_tools_prints_and_keeps_its_names(shared):
    sandbox, picks = shared
    first = sandbox.run("import math\nheld = [pick('cup'), pick(object_id='pen', force=3.5)]\nprint(len(held), math.floor(held[0]['width'] * 1000))")
    assert first.ok and first.text == "2 20\n"
    assert picks.calls[-2:] == [("pick", {"object_id": "cup"}), ("pick", {"object_id": "pen", "force": 3.5})]
    assert sandbox.run("held[1]['seen'][1]").text == "{'x': None}\n"


def test_errors_say_the_line_and_leave_the_names(shared):
    sandbox, _ = shared
    sandbox.run("kept = 5")
    failed = sandbox.run("print('before')\nx = 1\npick('wall')\nprint('after')")
    assert failed.line == 3 and "no_grasp: it is too wide. Push it." in failed.error and failed.text == "before\n"
    assert sandbox.run("try:\n    pick('wall')\nexcept RuntimeError as error:\n    print('caught', error)").text.startswith("caught no_grasp")
    assert sandbox.run("a = 1\n\nb = a / 0").line == 3
    assert sandbox.run("def f(:\n    pass").line == 1
    assert sandbox.run("pick('a', 1, 2)").error.startswith("TypeError")
    assert sandbox.run("kept").text == "5\n"


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("import os", "ImportError"), ("from os import path", "ImportError"), ("x = 1\nimport math, sys", "ImportError"), ("open('/etc/passwd').read()", ""),
        ("__import__('os')", ""), ("().__class__.__bases__[0].__subclasses__()", ""), ("x = [0] * 10**9", "MemoryError"), ("9**9**8", "MemoryError"),
        ("'{0.__class__}'.format(pick)", ""), ("eval('open(1)')", ""), ("def f(): return f()\nf()", "RecursionError"), ("x = " + "(" * 3000, "SyntaxError"),
        ("#" * 9000, "characters"),
    ],
)  # fmt: skip
def test_code_can_do_nothing_but_compute_and_call(shared, code, words):
    observed = shared[0].run(code)
    assert not observed.ok and words in observed.error


def test_code_that_does_not_end_is_ended_and_the_session_goes_on(shared):
    sandbox, _ = shared
    endless = sandbox.run("while True:\n    pass")
    assert "time limit" in endless.error
    assert sandbox.run("print('x' * 100000)").text.endswith("(94001 more characters were printed)") and MAX_PRINTED == 6000
    assert sandbox.run("1 + 1").text == "2\n"


def test_what_ends_the_run_goes_through_the_code(shared):
    with pytest.raises(DeskhandError, match="enough"):
        shared[0].run("try:\n    pick('end')\nexcept Exception:\n    print('swallowed')")


def test_the_model_reads_tools_as_functions():
    assert signatures(CARDS) == "pick(object_id: str, force: float = 2.0) -> {width}  # Pick up an object."
    seen = {"$defs": {"Thing": {"properties": {"id": {}, "label": {}}}}, "properties": {"objects": {"items": {"$ref": "#/$defs/Thing"}}, "note": {}}}
    look = {"name": "look", "summary": "Look around: from the best view.", "input_schema": {}, "output_schema": seen}
    assert signatures([look], brief=True) == "look() -> {objects: [{id, label}], note}  # Look around"
    assert forbidden("import math") is None and forbidden("x\nimport json").line == 2


def test_a_small_model_is_shown_few_functions_and_an_example():
    cards = [{**CARDS[0], "name": name} for name in ("pick", "place_in", "plan_shape")]
    full, brief = code_system(cards), code_system(cards[:2], brief=True)
    assert "plan_shape(" in full and "For example" in brief and len(brief) < len(full)


def test_a_small_model_s_talk_in_code_mode_is_cut_to_what_it_can_read():
    talk = [Message("system", "s"), Message("user", "do it")]
    for number in range(30):
        talk += [Message("assistant", "", (ToolCall("run_code", {"code": "look()"}, str(number)),)), Message("tool", "x" * 2000, tool_call_id=str(number))]
    asked = compact(talk, [RUN_CODE_CARD], ModelProfile("small", "openai", "m", prompt="compact", context_tokens=4096))
    assert sum(len(message.content) for message in asked.messages) < 3.5 * 4096 < 30 * 2000
    assert asked.messages[:2] == talk[:2]


def code(text):
    return Reply("", (ToolCall("run_code", {"code": text}),))


def test_a_model_that_writes_code_does_a_task_with_the_same_checks():
    desk = SymbolicDesk(seen_object("block_1"), seen_object("bin_1"))
    goal = {"object_id": "block_1", "relation": "in", "target_id": "bin_1"}
    replies = [
        code("seen = detect_objects()\nfor thing in seen['objects']:\n    print(thing['id'], thing['label'])"),
        Reply("", (ToolCall("submit_plan", {"subgoals": [goal]}),)),
        code("import os"),
        code("pick(object_id=7)"),
        code("pick('block_1')\nprint(place_in('bin_1')['message'])"),
        Reply("", (ToolCall("finish", {"status": "done", "summary": "The block is in the bin."}),)),
    ]
    loop = AgentLoop(ScriptedModel(replies), desk, Budgets(), mode="code")
    outcome = loop.run("put the red block into the bin")
    assert outcome.success, outcome.summary
    assert [step.tool for step in outcome.steps] == ["run_code", "submit_plan", "run_code", "run_code", "run_code", "finish"]
    assert "block_1" in outcome.steps[0].data["printed"]
    assert "math" in outcome.steps[2].message and "invalid_arguments" in outcome.steps[3].message and outcome.steps[3].message.startswith("line 1")


CODE_GOALS = [{"object_id": name, "relation": "in", "target_id": "bin_1"} for name in ("block_1", "block_2")]


def run_code(desk, *pieces):
    replies = [code("detect_objects()"), *map(code, pieces), Reply("", (ToolCall("finish", {"status": "partly", "summary": "So far."}),))]
    steps = AgentLoop(ScriptedModel(replies), desk, Budgets(answer_seconds=0.0), mode="code").run("put both blocks into the bin").steps
    return [step for step in steps if step.tool == "run_code"][1:]


def test_code_that_fails_in_the_middle_tells_what_it_had_made_and_what_the_failed_call_gave():
    desk = SymbolicDesk(
        seen_object("block_1"),
        seen_object("block_2"),
        seen_object("bin_1"),
        faults={"pick:block_2": [ToolResult("no_grasp", "pen_1 is too near.", {"near": "pen_1"})]},
    )
    moves = "for name in ('block_1', 'block_2'):\n    pick(name)\n    place_in('bin_1')"
    (step,) = run_code(desk, f"submit_plan(subgoals={CODE_GOALS!r})\n{moves}\nprint('never')")
    assert step.code == "tool_failed" and "no_grasp: pen_1 is too near." in step.message and step.data["printed"] == ""
    assert step.data["made"] == ["pick(object_id='block_1')", "place_in(container_id='bin_1')"]
    assert step.data["failed"] == {"tool": "pick", "call": "pick(object_id='block_2')", "code": "no_grasp", "data": {"near": "pen_1"}}
    assert desk.where() == {"block_1": "bin_1", "block_2": "table"}


def test_a_disturbance_ends_the_code_as_a_failure_would():
    moved = ToolResult("", "", {"placed": "block_1", "object_id": "block_1", "disturbed": ["block_2"]})
    desk = SymbolicDesk(seen_object("block_1"), seen_object("block_2"), seen_object("bin_1"), faults={"place_in": [moved]})
    (step,) = run_code(desk, f"submit_plan(subgoals={CODE_GOALS!r})\npick('block_1')\nplace_in('bin_1')\npick('block_2')")
    assert "disturbed block_2" in step.message and step.data["made"] == ["pick(object_id='block_1')", "place_in(container_id='bin_1')"]
    assert ("pick", {"object_id": "block_2"}) not in desk.calls


def test_a_failure_that_the_code_caught_is_none():
    desk = SymbolicDesk(seen_object("block_1"), seen_object("block_2"), seen_object("bin_1"), faults={"pick:block_1": [ToolResult("no_grasp", "again.")]})
    caught = "try:\n    pick('block_1')\nexcept RuntimeError as error:\n    print(error)\npick('block_1')\nplace_in('bin_1')"
    (step,) = run_code(desk, f"submit_plan(subgoals={CODE_GOALS!r})\n{caught}")
    assert step.ok and "no_grasp: again." in step.data["printed"] and desk.where()["block_1"] == "bin_1"


def test_text_of_others_that_code_reads_is_marked():
    (step,) = run_code(SymbolicDesk(seen_object("block_1"), seen_object("block_2"), seen_object("bin_1")), "print(describe_scene()['text'])")
    assert step.foreign
