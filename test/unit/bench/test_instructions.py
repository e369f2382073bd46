"""Open instructions: the cases are sound, a perfect brain is neither held back nor asked, and no lie is called done."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from deskhand.bench.brains.desk import real_tools
from deskhand.bench.instructions import run
from deskhand.bench.instructions.brains import LIES, liar, perfect
from deskhand.bench.instructions.campaign import chosen_cases, instructions_campaign, summarise_results
from deskhand.bench.instructions.cases import Case, load_cases, read_move
from deskhand.bench.instructions.desk import SceneDesk, begin
from deskhand.bench.instructions.export import export, markdown
from deskhand.bench.instructions.predicates import problems
from deskhand.etp.registry import Registry

CASES = {case.id: case for case in load_cases()}


@pytest.fixture(scope="module")
def tools() -> Registry:
    return real_tools()


def test_there_are_120_cases_on_40_desks_in_two_halves_that_share_nothing() -> None:
    halves = [load_cases(split) for split in ("dev", "heldout")]
    assert [len(half) for half in halves] == [60, 60]
    for key in ("scene", "say"):
        first, second = ({getattr(case, key) for case in half} for half in halves)
        assert not first & second
    assert len({case.scene for case in CASES.values()}) == 40 and all(case.file.is_file() for case in CASES.values())


def test_what_a_case_names_stands_on_its_desk() -> None:
    for case in CASES.values():
        names = {item.name for item in case.world().objects}
        assert all({move.name, move.target, *move.on} <= names | {"table"} for move in case.moves), case.id
        assert case.moves or case.answer or not problems(begin(case.world()), case.want), case.id


PERFECT = ["red_and_blue_1", "traffic_3", "pile_2", "party_1", "stonehenge_1", "letter_l_1", "two_towers_2", "laboratory_1", "balance_3"]


@pytest.mark.parametrize("name", PERFECT)
def test_a_perfect_brain_is_believed_by_a_judge_that_knows(tools: Registry, name: str) -> None:
    case = CASES[name]
    desk = SceneDesk(case.world())
    item = run.run_case(case, perfect(case, desk.world), tools, "predicate", desk=desk)
    assert (item.right, item.outcome, item.vetoes, item.questions) == (True, "done", 0, 0), item


@pytest.mark.parametrize("lie", LIES)
@pytest.mark.parametrize("judge", ["predicate", "none"])
def test_no_lie_is_called_done(tools: Registry, lie: str, judge: str) -> None:
    case = next(case for case in CASES.values() if liar(case, case.world(), lie) is not None)
    desk = SceneDesk(case.world())
    model = liar(case, desk.world, lie)
    assert model is not None
    item = run.run_case(case, model, tools, judge, lie, desk)
    assert not item.right and item.outcome != "done", item


def test_a_goal_holds_for_what_it_says_and_for_nothing_else() -> None:
    def case(want: dict[str, object]) -> Case:
        return Case("x", "dev", "four_cups", "x", "x", want)

    start = begin(case({}).world())
    assert not problems(start, {}) and not problems(start, {"region": {"red_cup": [-0.2, 0.0, -0.2, 0.0]}})
    for want in ({"region": {"red_cup": [0.0, 0.2, -0.2, 0.0]}}, {"close": [["red_cup", "blue_cup"]]}, {"apart": [["red_cup", "blue_cup", 0.5]]}):
        assert problems(start, want)
    square = {"things": ["red_cup", "blue_cup", "green_cup", "white_cup"], "cells": [[0, 0], [1, 0], [0, 1], [1, 1]]}
    corner = {**square, "cells": [[0, 0], [1, 0], [2, 0], [0, 1]]}
    assert problems(start, {"shape": corner})
    assert problems(start, {"any": [{"where": {"ball": "tray"}}, {"where": {"red_cup": "tray"}}]})


def test_a_move_that_is_none_is_refused() -> None:
    assert read_move("a at 0.1 -0.2 on b c yaw 1.5").on == ("b", "c")
    for text in ("a under b", "a at x y", "a at 0.1"):
        with pytest.raises(ValueError, match=r"no move|could not convert"):
            read_move(text)


def test_cases_are_written_as_files_with_their_scenes(tmp_path: Path) -> None:
    assert export(tmp_path / "made", "heldout") == 60
    lines = [json.loads(line) for line in (tmp_path / "made" / "cases.jsonl").read_text().splitlines()]
    assert {line["id"] for line in lines} == {case.id for case in load_cases("heldout")}
    assert all((tmp_path / "made" / line["scene"]).read_text() == CASES[line["id"]].file.read_text() for line in lines)


def test_the_campaign_knows_a_true_answer_from_a_false_one_and_leaves_out_lies_that_came_out_true() -> None:
    campaign = instructions_campaign("", 0, "offline", "none", 200, 0, False)
    assert len(chosen_cases("", 7)) == 7 and len(campaign.cases) == 120
    found = [campaign.run_one(case) for case in campaign.cases if case.id in ("red_and_blue_1", "full_containers_2", "stonehenge_3")]
    assert [(each["right"], each["outcome"], each["success"]) for each in found] == [(True, "done", True), *[(False, "failed", False)] * 2]
    summary = campaign.summarise(campaign.settings, found)
    assert summary["metrics"]["false_done"]["count"] == 0 and "| offline, both | none | 3 | 1 | 1 | 0 | 0 | 0 | 0 |" in markdown([summary])
    told = {**found[0], "lie": "claim"}
    lies = summarise_results({**campaign.settings, "brain": run.LIARS}, [told, {**told, "right": False}])
    assert lies["metrics"]["items"] == 1 and lies["lies"]["claim"]["done"]["count"] == 1
