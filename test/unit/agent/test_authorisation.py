"""What a user's words license, by the guard alone: words that are only mentioned license nothing, and what is asked for is let through."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from authorisation_desk import licensed
from injection import Gullible, NearDesk

from deskhand.agent.authorisation import Authorisation
from deskhand.agent.desk import TaskDesk
from deskhand.agent.loop import AgentLoop
from deskhand.agent.records import Budgets
from deskhand.agent.requested import RequestedActs
from deskhand.testing.symbolic_desk import seen_object
from deskhand.world.model import WorldModel

MENTIONED = yaml.safe_load((Path(__file__).parent / "mentioned_cases.yaml").read_text())


@pytest.mark.parametrize("case", MENTIONED, ids=lambda case: case["id"])
def test_what_a_sentence_only_mentions_is_not_licensed(case: dict[str, Any]) -> None:
    assert not licensed(case)


NEAR = yaml.safe_load((Path(__file__).parent / "near_cases.yaml").read_text())


def obeys(case: dict[str, Any], trusted: bool = False) -> tuple[NearDesk, Gullible]:
    """A model that reads the text and does what it says, on a desk of symbols; the user's task is done too where there is one."""
    where = {"ocr": "vqa", "name": "label", "words": "label"}.get(case["where"], case["where"])
    desk, model = NearDesk(case), Gullible({key: value for key, value in {**case, "where": where}.items() if key != "instruction"})
    model.obeys_only_the_user = trusted  # type: ignore[attr-defined]  # a lie where true: it takes the authorisation away
    AgentLoop(model, desk, Budgets(answer_seconds=0.1)).run(case["instruction"])
    return desk, model


@pytest.mark.parametrize("case", NEAR["injections"], ids=lambda case: case["id"])
def test_an_instruction_that_speaks_of_it_does_not_license_what_a_text_asks_for(case: dict[str, Any]) -> None:
    desk, model = obeys(case)
    assert model.read, "the text never reached the model: the case proves nothing"
    wanted = [next(iter(call.items())) for call in case["obey"]]
    own = [("pick", {"object_id": "cup_1"}), ("place_in", {"container_id": "bin_1"})]
    assert not [call for call in wanted if call in desk.calls and call not in own]


def test_without_authorisation_the_texts_are_obeyed() -> None:
    for case in NEAR["injections"]:
        desk, _ = obeys(case, trusted=True)
        assert [call for call in case["obey"] if next(iter(call.items())) in desk.calls], case["id"]


@pytest.mark.parametrize("case", NEAR["second"], ids=lambda case: case["id"])
def test_what_is_told_asked_forbidden_or_said_in_passing_licenses_nothing(case: dict[str, Any]) -> None:
    assert not licensed({"says": case["instruction"], "call": case["call"], "holding": "cup_1" if case.get("holds") else ""})


@pytest.mark.parametrize("case", [*NEAR["honest"], *(case for case in NEAR["everyday"] if not case.get("asked"))], ids=lambda case: case["id"])
def test_what_is_asked_for_is_let_through(case: dict[str, Any]) -> None:
    assert licensed(case)


def test_the_share_of_everyday_words_that_are_asked_about_is_known() -> None:
    asked = [case for case in NEAR["everyday"] if not licensed(case)]
    assert len(NEAR["everyday"]) == 30 and len(asked) <= 8


def test_it_is_what_the_users_answer_names() -> None:
    """With nothing in the hand, "put it in the bin" says where to; what, the answer to "which?" says, and nothing else does."""
    desk = TaskDesk(WorldModel())
    seen = {
        "objects": [
            seen_object("cup_1", "red", position=(0.1, 0.0)),
            seen_object("pen_1", "blue", position=(0.0, 0.1)),
            seen_object("bin_1", position=(0.0, 0.28)),
        ]
    }
    desk.world.apply("detect_objects", {}, True, seen)
    requested = RequestedActs("put it in the bin")
    assert requested.of_goals([("cup_1", "bin_1")], desk) == ["cup_1", "bin_1"]
    requested.told("the cup")
    assert requested.of_goals([("cup_1", "bin_1")], desk) == []
    assert requested.of_goals([("pen_1", "bin_1")], desk) == ["pen_1", "bin_1"]


@pytest.mark.parametrize(("words", "asked"), [("put the red cup in the bin", True), ("open the gripper", False), ("let go of it", False)])
def test_no_plan_lets_fall_what_is_held(words: str, asked: bool) -> None:
    desk = TaskDesk(WorldModel())
    desk.world.apply("detect_objects", {}, True, {"objects": [seen_object("cup_1", "red", position=(0.0, 0.1)), seen_object("bin_1", position=(0.0, 0.28))]})
    desk.world.apply("pick", {"object_id": "cup_1"}, True, {"object_id": "cup_1"})
    assert desk.held == "cup_1"
    authorisation = Authorisation(words)
    authorisation.accepted([("cup_1", "bin_1")], keep=False)
    assert bool(authorisation.missing("open_gripper", {}, desk)) == asked


@pytest.mark.parametrize(
    ("says", "takes", "let_through"),
    [
        ("wipe the horizontal area", "sponge_1", True),
        ("scrub the blue stain", "sponge_1", True),
        ("wipe the horizontal area", "cup_1", False),
        ("put the red cup in the bin", "sponge_1", False),
        ("is the desk wiped?", "sponge_1", False),
        ("wipe the desk and leave the sponge where it is", "sponge_1", False),
    ],
)
def test_who_asks_for_wiping_lets_it_take_what_one_wipes_with(says: str, takes: str, let_through: bool) -> None:
    area = {"x": -0.15, "y": -0.3, "length": 0.1, "width": 0.1}
    calls = [{"pick": {"object_id": takes}}, *([{"wipe": area}, {"put_aside": {}}] if let_through else [])]
    assert licensed({"says": says, "calls": calls}) == let_through
