import importlib
import sys
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from deskhand.bench.tools import base
from deskhand.commands.tools import register
from deskhand.errors import DeskhandError
from deskhand.tools.base import load_tools
from deskhand.tools.skeleton import write_skeleton

NAME = "objects_above_a_height"


@pytest.fixture
def written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    app = typer.Typer()
    register(app)
    folder = tmp_path / "mine"
    result = CliRunner().invoke(app, ["tools", "new", NAME, "--folder", str(folder)])
    assert result.exit_code == 0 and f"tools validate {NAME}" in result.output
    monkeypatch.syspath_prepend(str(folder))
    monkeypatch.setattr(base, "_ALL", dict(base._ALL))
    yield folder
    for module in [module for module in sys.modules if NAME in module]:
        del sys.modules[module]


def test_the_test_that_is_written_passes(written: Path) -> None:
    test = importlib.import_module(f"test_{NAME}")
    test.test_the_card_says_all_that_an_agent_needs()
    test.test_the_scenarios_pass_on_a_drawn_desk()


def test_the_package_names_its_tool_and_its_scenarios(written: Path) -> None:
    project = (written / "pyproject.toml").read_text()
    assert f'{NAME} = "{NAME}_tool"' in project and f'{NAME} = "{NAME}_scenarios"' in project and 'name = "objects-above-a-height"' in project


@pytest.mark.parametrize(
    ("name", "group", "unit", "text"),
    [
        ("Hand-Height", "cognition", "queryable_memory", "cannot be the name"),
        ("lambda", "cognition", "queryable_memory", "cannot be the name"),
        ("pick", "execution", "grasping", "from deskhand"),
        ("hand_height", "cognition", "grasping", "no unit"),
        ("hand_height", "magic", "grasping", "no unit"),
    ],
)
def test_what_cannot_be_is_refused_and_nothing_is_written(name: str, group: str, unit: str, text: str, tmp_path: Path) -> None:
    with pytest.raises(DeskhandError, match=text) as caught:
        write_skeleton(name, tmp_path / "new", load_tools(others=False)[0], group, unit)
    assert caught.value.code == "invalid_input" and caught.value.hint and not (tmp_path / "new").exists()


def test_a_folder_that_holds_something_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(DeskhandError, match="not empty"):
        write_skeleton("hand_height", tmp_path, load_tools(others=False)[0])
    assert [file.name for file in tmp_path.iterdir()] == ["notes.txt"]
