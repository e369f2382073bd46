import json
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from deskhand.bench.tools import run as bench
from deskhand.commands.tools import register
from deskhand.etp.card import Card
from deskhand.tools.base import load_tools
from deskhand.tools.checks import card_problems
from deskhand.tools.page import write_page

PAGE = Path(__file__).parents[3] / "docs/tools.md"


@pytest.fixture
def run():
    app = typer.Typer()
    register(app)
    return lambda *arguments: CliRunner().invoke(app, ["tools", *map(str, arguments)])


def test_list_writes_every_tool_with_its_group_unit_and_effects(run, tmp_path):
    result = run("list", "--json", tmp_path / "list.json")
    assert result.exit_code == 0 and "detect_objects" in result.output
    tools = json.loads((tmp_path / "list.json").read_text())["tools"]
    assert len(tools) >= 60
    assert {"name", "group", "unit", "effects", "summary", "needs", "mode", "version", "source"} <= set(tools[0])
    assert next(item for item in tools if item["name"] == "pick")["effects"] == "motion"


def test_search_ranks_and_show_prints_the_card(run, tmp_path):
    run("search", "emergency stop", "--json", tmp_path / "hits.json")
    hits = json.loads((tmp_path / "hits.json").read_text())["tools"]
    assert hits[0]["name"] == "stop_motion" and hits[0]["score"] >= hits[-1]["score"]
    shown = run("show", "place_at", "--json", tmp_path / "card.json")
    assert shown.exit_code == 0 and "deskhand tools" in shown.output
    assert Card.from_json(json.loads((tmp_path / "card.json").read_text())).name == "place_at"


def test_all_cards_are_valid(run, tmp_path):
    result = run("validate", "--cards", "--json", tmp_path / "report.json")
    report = json.loads((tmp_path / "report.json").read_text())
    assert result.exit_code == 0 and report["valid"] and len(report["tools"]) >= 60


def test_scenarios_that_were_run_are_not_run_again(run, tmp_path):
    file = tmp_path / "report.json"
    assert run("validate", "list_taught_objects", "--seed", "3", "--json", file).exit_code == 0
    report = json.loads(file.read_text())
    kept, again = (rows := report["tools"][0]["scenarios"])
    kept["seconds"] = 1234.5
    rows.remove(again)
    file.write_text(json.dumps(report | {"complete": False}))
    assert run("validate", "list_taught_objects", "--seed", "3", "--resume", "--json", file).exit_code == 0
    report = json.loads(file.read_text())
    rows = {row["scenario"]: row for row in report["tools"][0]["scenarios"]}
    assert report["complete"] and rows[kept["scenario"]] == kept and rows[again["scenario"]]["passed"]
    for arguments in (("--seed", "4", "--resume", "--json", file), ("--resume",)):
        result = run("validate", "list_taught_objects", *arguments)
        assert result.exit_code and result.exception.code == "invalid_input"


def test_what_was_measured_is_kept_when_the_run_breaks_off(run, tmp_path, monkeypatch):
    def breaks_off(wanted, registry, told, jobs, seed):
        yield bench.Row(wanted[0].tool, wanted[0].name, wanted[0].situation, 1.0, "", "", True, 0.1)
        raise RuntimeError("a worker died")

    monkeypatch.setattr(bench, "run", breaks_off)
    file = tmp_path / "report.json"
    assert isinstance(run("validate", "list_taught_objects", "--seed", "3", "--json", file).exception, RuntimeError)
    report = json.loads(file.read_text())
    assert not report["complete"] and not report["valid"] and len(report["tools"][0]["scenarios"]) == 1


def test_a_card_that_says_too_little_is_found_out():
    card = load_tools(others=False)[0].get("place_at").card
    schema = json.loads(json.dumps(card.input_schema))
    schema["properties"]["x"]["description"] = "how far"
    del schema["properties"]["y"]["description"]
    poor = card.model_copy(update={"input_schema": schema, "examples": (), "preconditions": (), "needs": ()})
    text = " ".join(card_problems(poor))
    for word in ("no example", "x is a number without a unit", "y has no description", "neither arm nor gripper", "not_stopped"):
        assert word in text


MISTAKES = [(("show", "pickk"), "unknown_tool"), (("list", "--group", "magic"), "invalid_input"), (("call", "pick", "[1]"), "invalid_arguments")]


@pytest.mark.parametrize(("arguments", "code"), MISTAKES)
def test_mistakes_are_clear_errors(run, arguments, code):
    result = run(*arguments)
    assert result.exit_code != 0 and result.exception.code == code


def test_the_page_of_the_tools_is_current(tmp_path):
    copy = tmp_path / "tools.md"
    copy.write_text(PAGE.read_text())
    assert not write_page(load_tools(others=False)[0], copy), "run `deskhand tools page`"


def test_stats_count_every_tool_once_and_leave_no_unit_with_fewer_than_two(run, tmp_path):
    result = run("stats", "--json", tmp_path / "stats.json")
    told = json.loads((tmp_path / "stats.json").read_text())
    cards = load_tools()[0].cards()
    assert result.exit_code == 0 and f"{len(cards)} tools" in result.output
    for name in ("groups", "modes", "effects", "sources"):
        assert sum(told[name].values()) == told["tools"] == len(cards) == sum(entry["tools"] for entry in told["units"])
    assert len(told["units"]) == 24 and min(entry["tools"] for entry in told["units"]) >= 2
    assert told["tools"] >= 127 and told["groups"]["perception"] >= 36
    assert told["modes"]["continuous"] + told["modes"]["event"] >= 8
    assert told["passed"] == told["scenarios"] and not told["unmeasured"]
