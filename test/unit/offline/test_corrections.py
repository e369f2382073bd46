"""What is said while the robot works, and questions that it asks: where objects end up."""

import pytest

from deskhand.agent.loop import AgentLoop
from deskhand.agent.records import Budgets, Step, TaskOutcome
from deskhand.offline.model import OfflineModel
from deskhand.tasks.base import Remark
from deskhand.testing.symbolic_desk import SymbolicDesk, seen_object
from deskhand.trials.base import Progress
from deskhand.trials.person import Person


def desk() -> SymbolicDesk:
    return SymbolicDesk(
        seen_object("cup_1", "red", position=(0.0, 0.10)),
        seen_object("cup_2", "green", position=(0.08, -0.10)),
        seen_object("can_1", "blue", position=(0.10, 0.08)),
        seen_object("block_1", "red", position=(-0.05, -0.15)),
        seen_object("block_2", "blue", position=(0.12, -0.02)),
        seen_object("bin_1", "black", position=(0.0, 0.28)),
        seen_object("tray_1", "white", position=(0.0, -0.28)),
    )


def run(on: SymbolicDesk, *says: str, remarks: tuple[Remark, ...] = (), model: OfflineModel | None = None) -> tuple[TaskOutcome, Person]:
    person = Person(remarks)

    def report(step: Step) -> None:
        person.hears(Progress(step.index, step.tool, step.text, step.question if not step.finished else "", step.options, step.finished and step.ok))

    loop = AgentLoop(model or OfflineModel(), on, Budgets(answer_seconds=0.3), report, inbox=person)
    for said in says:
        person.next_task()
        outcome = loop.run(said)
    return outcome, person


def moved(on: SymbolicDesk) -> dict[str, str]:
    return {name: where for name, where in on.where().items() if where != "table"}


CORRECTIONS = [
    ("put the red cup in the bin", "pick", "no, the green one", {"cup_2": "bin_1"}),
    ("put the red cup in the bin", "place_in", "No, I meant the green cup!", {"cup_2": "bin_1"}),
    ("put a cup in the bin", "pick", "not that one, the other one", {"cup_2": "bin_1"}),
    ("put a cup in the bin", "pick", "no, the other cup", {"cup_2": "bin_1"}),
    ("put the red cup in the bin", "pick", "no, into the tray", {"cup_1": "tray_1"}),
    ("put the red cup in the bin", "place_in", "sorry, the tray", {"cup_1": "tray_1"}),
    ("put the red cup in the bin", "pick", "put it in the tray instead", {"cup_1": "tray_1"}),
    ("put the red cup in the bin", "pick", "and the can too", {"cup_1": "bin_1", "can_1": "bin_1"}),
    ("put the blocks in the bin", "place_in", "also the green cup", {"block_1": "bin_1", "block_2": "bin_1", "cup_2": "bin_1"}),
    ("put the blocks in the bin", "pick", "but not the blue one", {"block_1": "bin_1"}),
    ("put the blocks in the bin", "place_in", "leave the red block", {"block_2": "bin_1"}),
    ("put the red cup in the bin", "pick", "then put the can in the tray", {"cup_1": "bin_1", "can_1": "tray_1"}),
    ("put the red cup in the bin", "pick", "no, put the can in the tray instead", {"can_1": "tray_1"}),
    ("put the red cup in the bin", "place_in", "undo that", {}),
    ("put the red cup in the bin", "pick", "never mind", {}),
    ("pick up the red cup", "pick", "no, the can", {"can_1": "gripper"}),
]


@pytest.mark.parametrize(("said", "after", "words", "expected"), CORRECTIONS)
def test_a_correction_while_it_runs_decides_where_objects_end_up(said: str, after: str, words: str, expected: dict[str, str]) -> None:
    on = desk()
    before = {name: item["position"][:2] for name, item in on.objects.items()}
    outcome, _ = run(on, said, remarks=(Remark(words, after=after),))
    assert moved(on) == expected, outcome.summary
    back = [name for name, item in on.objects.items() if item["support"] == "table" and name not in expected]
    assert all(on.objects[name]["position"][:2] == pytest.approx(before[name]) for name in back)
    assert outcome.success == (words != "never mind"), outcome.summary


def test_stop_ends_the_task_without_another_motion() -> None:
    on = desk()
    outcome, _ = run(on, "put everything in the bin", remarks=(Remark("stop!", after="place_in"),))
    assert outcome.code == "cancelled" and list(moved(on).values()) == ["bin_1"]


ANSWERS = [
    ("put the cup in the bin", ["the green one"], {"cup_2": "bin_1"}),
    ("put the cup in the bin", ["red"], {"cup_1": "bin_1"}),
    ("put the cup in the bin", ["2"], {"cup_2": "bin_1"}),
    ("put the cup in the bin", ["the one on the left, please"], {"cup_1": "bin_1"}),
    ("put the cup in the bin", ["cup_2"], {"cup_2": "bin_1"}),
    ("put the cup in the bin", ["the one next to the can"], {"cup_1": "bin_1"}),
    ("put the cup in the bin", ["both"], {"cup_1": "bin_1", "cup_2": "bin_1"}),
    ("put the cup in the bin", ["I don't care"], {"cup_1": "bin_1"}),
    ("put the cup in the bin", ["hm", "the green one"], {"cup_2": "bin_1"}),
    ("put the cup in the bin", ["no, put the can in the tray instead"], {"can_1": "tray_1"}),
    ("put the can on the block", ["the blue block"], {"can_1": "block_2"}),
]


@pytest.mark.parametrize(("said", "answers", "expected"), ANSWERS)
def test_it_asks_which_one_and_obeys_the_answer(said: str, answers: list[str], expected: dict[str, str]) -> None:
    on = desk()
    outcome, person = run(on, said, remarks=tuple(Remark(answer, asked="which") for answer in answers))
    assert len(person.questions) == len(answers)
    assert moved(on) == expected and outcome.success, outcome.summary


@pytest.mark.parametrize("answer", ["neither", "never mind"])
def test_an_answer_can_be_that_nothing_is_wanted(answer: str) -> None:
    on = desk()
    outcome, _ = run(on, "put the cup in the bin", remarks=(Remark(answer, asked="which"),))
    assert moved(on) == {} and outcome.code == "cancelled"


@pytest.mark.parametrize(
    "said", ["put the red cup in the bin", "put a cup in the bin", "put both cups in the bin", "put the biggest cup in the bin", "where is the cup?"]
)
def test_it_does_not_ask_where_there_is_nothing_to_ask(said: str) -> None:
    outcome, person = run(desk(), said)
    assert outcome.success and not person.questions


def test_words_that_mean_nothing_are_asked_about_and_then_the_task_goes_on() -> None:
    on = desk()
    outcome, person = run(on, "put the red cup in the bin", remarks=(Remark("flibbertigibbet", after="pick"), Remark("go on", asked="flibberti")))
    assert outcome.success and moved(on) == {"cup_1": "bin_1"} and len(person.questions) == 1


@pytest.mark.parametrize(
    ("said", "order"),
    [
        ("first put the green cup in the bin, then the red block", ["cup_2", "block_1"]),
        ("first put the red block in the bin, then the green cup", ["block_1", "cup_2"]),
        ("put the blue block in the tray; after that the red cup goes into the bin", ["block_2", "cup_1"]),
    ],
)
def test_what_was_said_to_come_first_comes_first(said: str, order: list[str]) -> None:
    on = desk()
    outcome, _ = run(on, said)
    assert outcome.success and [arguments["object_id"] for tool, arguments in on.calls if tool == "pick"] == order


UNDO = [
    ("put the red cup in the bin", "undo that", {}),
    ("put both cups in the bin", "put everything back where it was", {}),
    ("put both cups in the bin", "put the red cup back", {"cup_2": "bin_1"}),
    ("put the red block on the blue block", "take that back", {}),
    ("swap the can and the red block", "undo it", {}),
    ("put all blocks in the tray", "undo the last move", None),
]


@pytest.mark.parametrize(("said", "undo", "expected"), UNDO)
def test_what_an_earlier_task_moved_is_put_back(said: str, undo: str, expected: dict[str, str] | None) -> None:
    on = desk()
    before = {name: item["position"][:2] for name, item in on.objects.items()}
    outcome, _ = run(on, said, undo)
    assert outcome.success, outcome.summary
    if expected is None:
        assert len(moved(on)) == 1
        return
    assert moved(on) == expected
    assert all(on.objects[name]["position"][:2] == pytest.approx(before[name]) for name in on.where() if name not in expected)


def test_what_was_undone_can_be_undone() -> None:
    on = desk()
    run(on, "put the red cup in the bin", "undo that", "undo that")
    assert moved(on) == {"cup_1": "bin_1"}


def test_without_anything_moved_there_is_nothing_to_undo() -> None:
    outcome, _ = run(desk(), "undo that")
    assert outcome.code == "impossible" and "moved nothing" in outcome.summary
