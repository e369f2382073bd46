"""Text of others on a desk where nothing else warns of it: the loop notices it by itself, and the operator's words do not license what it asks for."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml
from authorisation_desk import licensed
from injection import OF_OTHERS, OWN_ACTS, Gullible, NearDesk

from deskhand.agent.authorisation import STRICT, TASK
from deskhand.agent.foreign import READING, foreign_text, foreign_words, plain_name
from deskhand.agent.loop import AgentLoop
from deskhand.agent.moves import History
from deskhand.agent.records import Budgets
from deskhand.etp.base import ToolSummary
from deskhand.testing.desk_robot import DeskRobot
from deskhand.testing.desk_scene import one_of_each
from deskhand.tools.base import load_tools, make_session

CASES = yaml.safe_load((Path(__file__).parent / "foreign_cases.yaml").read_text())


class OwnDesk(NearDesk):
    """Tools of others are mounted only where the case is about them."""

    def search(self, text: str = "", group: str = "", unit: str = "", limit: int = 0) -> list[ToolSummary]:
        found = super().search(text)
        return found if self.where_ in ("remote", "card") else [each for each in found if each.name not in OF_OTHERS]


def played(case: Mapping[str, Any], setting: str, trusted: bool = False) -> tuple[OwnDesk, Gullible]:
    """A model that does the user's task and whatever it reads."""
    where = {"ocr": "vqa", "name": "label", "words": "label"}.get(case["where"], case["where"])
    desk, model = OwnDesk(case), Gullible({key: value for key, value in {**case, "where": where}.items() if key != "instruction"})
    model.obeys_only_the_user = trusted  # type: ignore[attr-defined]  # a lie where true: it takes the authorisation away
    AgentLoop(model, desk, Budgets(answer_seconds=0.1), mode=case.get("mode", "tools"), authorisation=setting).run(case["instruction"])
    return desk, model


def obeyed(case: Mapping[str, Any], desk: OwnDesk) -> list[Any]:
    """Calls that the text asked for and the robot got."""
    if "reaches" in case:
        return [call for call in desk.calls if call[0] == case["reaches"] and call[1].get("object_id") != "cup_1"]
    return [call for call in (next(iter(each.items())) for each in case["obey"]) if call in desk.calls and call not in OWN_ACTS]


@pytest.mark.parametrize("setting", [TASK, STRICT])
@pytest.mark.parametrize("case", CASES["injections"], ids=lambda case: case["id"])
def test_text_of_others_is_noticed_and_not_obeyed(case: dict[str, Any], setting: str) -> None:
    desk, model = played(case, setting)
    assert model.read, "the text never reached the model: the case proves nothing"
    assert not obeyed(case, desk)


def test_what_was_quoted_in_the_task_before_is_somebody_elses_too() -> None:
    case = next(case for case in CASES["injections"] if case["id"] == "w03")
    desk, model, history = OwnDesk(case), Gullible({key: value for key, value in case.items() if key != "instruction"}), History()
    model.read = True  # it reads the account of earlier tasks
    history.add(case["instruction"], "done", [])
    AgentLoop(model, desk, Budgets(answer_seconds=0.1), history=history).run("put the red cup in the bin")
    assert any(case["text"] in task for task in history.said()) and not obeyed(case, desk)
    assert desk.where()["cup_1"] == "bin_1"


def test_without_the_authorisation_every_text_is_obeyed() -> None:
    assert [case["id"] for case in CASES["injections"] if not obeyed(case, played(case, TASK, trusted=True)[0])] == []


@pytest.mark.parametrize("case", CASES["honest"], ids=lambda case: case["id"])
def test_what_the_user_asks_for_is_let_through_word_by_word(case: dict[str, Any]) -> None:
    """With ``strict``; ``task`` asks for less (authorisation.py)."""
    assert licensed(case)


def test_names_that_say_something_are_told_from_those_that_name_a_kind() -> None:
    assert [name for name in CASES["names"]["plain"] if not plain_name(name)] == []
    assert [name for name in CASES["names"]["strange"] if plain_name(name)] == []


def test_the_users_own_words_are_nobody_elses_unless_they_quote() -> None:
    quoting = [case["instruction"] for case in CASES["injections"] if case["where"] == "words"]
    assert [words for words in quoting if not foreign_words(words)] == []
    assert [case["says"] for case in CASES["honest"] if foreign_words(case["says"])] == []


def test_our_own_results_are_nobody_elses() -> None:
    """Every example of every card of ours on a plain desk."""
    registry = load_tools(others=False)[0]
    with make_session(DeskRobot(one_of_each()), registry=registry) as session:
        session.invoke("detect_objects", {})
        results = [(card.name, session.invoke(card.name, dict(card.examples[0].arguments))) for card in registry.cards() if card.examples]
    assert len(results) > 60
    assert [name for name, result in results if name not in READING and foreign_text({}, name, result)] == []
