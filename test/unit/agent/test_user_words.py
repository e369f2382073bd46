"""Words of the user while a task runs: corrections between steps, answers to questions, stop."""

from collections.abc import Iterable

from test_loop_models import LOOK, PICK, PLACE, SUBMIT, finish, say

from deskhand.agent.loop import AgentLoop
from deskhand.agent.records import Budgets, Step, TaskOutcome
from deskhand.agent.user import Inbox
from deskhand.llm.scripted import ScriptedModel
from deskhand.testing.symbolic_desk import SymbolicDesk, seen_object

ASK = say("ask_user", question="Which cup?", options=["the red one", "the green one"])


def desk() -> SymbolicDesk:
    return SymbolicDesk(seen_object("cup_1", "red"), seen_object("cup_2", "green"), seen_object("bin_1"))


def inbox(words: Iterable[str | None]) -> Inbox:
    """One item a poll; None: nothing then."""
    left = iter(words)
    return lambda: next(left, None)


def run(model: ScriptedModel, said: Inbox | None, robot: SymbolicDesk | None = None, seconds: float = 5.0) -> tuple[TaskOutcome, list[Step]]:
    told: list[Step] = []
    loop = AgentLoop(model, robot or desk(), Budgets(answer_seconds=seconds), told.append, inbox=said)
    return loop.run("put the cup in the bin"), told


def test_an_answer_is_the_result_of_the_question_and_a_number_picks_an_option() -> None:
    for typed, heard in (("the green one please", "the green one please"), ("2", "the green one"), ("7", "7")):
        asked: list[tuple[str, tuple[str, ...]]] = []
        model = ScriptedModel([LOOK, ASK, SUBMIT, PICK, PLACE, finish()])
        waiting = inbox([typed])

        def note(step: Step, asked: list[tuple[str, tuple[str, ...]]] = asked) -> None:
            if step.question and not step.finished:
                asked.append((step.question, step.options))

        loop = AgentLoop(model, desk(), None, note, inbox=lambda asked=asked, waiting=waiting: waiting() if asked else None)
        assert loop.run("put the cup in the bin").outcome == "unverified"  # what more was said, no grammar judges
        assert asked == [("Which cup?", ("the red one", "the green one"))]
        assert f'"answer":"{heard}"' in model.conversations[2][-1].content


def test_where_nobody_answers_the_task_ends_and_says_what_it_wanted_to_know() -> None:
    for said, seconds in ((None, 5.0), (inbox([]), 0.2), (inbox(["unheard"]), -1.0)):
        robot = desk()
        outcome, _ = run(ScriptedModel([ASK, PICK]), said if seconds != -1.0 else inbox([]), robot, seconds)
        assert (outcome.success, outcome.code) == (False, "no_answer")
        assert "Which cup? (the red one, the green one)" in outcome.summary
        assert robot.calls == []


def test_a_correction_reaches_the_model_before_its_next_decision() -> None:
    model = ScriptedModel([LOOK, SUBMIT, PICK, PLACE, finish()])
    outcome, _ = run(model, inbox([None, None, None, None, "no, the other cup", "  "]))
    texts = [message.content for message in model.conversations[-1] if message.role == "user"]
    assert texts == ["put the cup in the bin", "The user says: no, the other cup"]
    assert outcome.code == "unverified"


def test_stop_ends_the_task_at_once() -> None:
    robot = desk()
    outcome, _ = run(ScriptedModel([LOOK, SUBMIT, PICK, PLACE, finish()]), inbox([None, None, "stop!"]), robot)
    assert (outcome.success, outcome.code) == (False, "cancelled")
    assert all(name != "pick" for name, _ in robot.calls)
