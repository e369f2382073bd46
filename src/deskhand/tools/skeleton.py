"""The beginning of a tool in a package of one's own: a tool with its card, scenarios that measure it, a test. All pass as they are written."""

from __future__ import annotations

import keyword
from pathlib import Path
from string import Template

from deskhand.errors import DeskhandError
from deskhand.etp.card import NAME, UNITS
from deskhand.etp.registry import Registry

_PROJECT = """\
[build-system]
requires = ["setuptools>=61"]
build-backend = "setuptools.build_meta"

[project]
name = "$dashed"
version = "0.1.0"
dependencies = ["deskhand"]

[project.entry-points."deskhand.tools"]
$name = "${name}_tool"

[project.entry-points."deskhand.scenarios"]
$name = "${name}_scenarios"

[tool.setuptools]
py-modules = ["${name}_tool", "${name}_scenarios"]
"""

_TOOL = '''\
"""The tool $name. Make of it what it shall do; the card is what agents and the search read."""

from typing import Annotated

from pydantic import Field
from typing_extensions import TypedDict

from deskhand.etp.tool import ToolContext, tool
from deskhand.tools.looking import last_look


class Told(TypedDict):
    """The result; each number says its unit in [ ]."""

    object_ids: list[str]
    highest: Annotated[float, Field(description="top of the highest object above the table [m]; 0 when there is none")]


@tool(
    group="$group",
    unit="$unit",
    effects="none",  # "memory" when it stores something, "motion" when it may move something
    needs=(),  # of camera, arm, gripper, model
    preconditions=("scene_known",),
    when_to_use="To learn which objects of the last look reach higher than a given height, as before the hand passes over them.",
    limits="Knows what the last look saw; nothing moves and no picture is taken.",
    examples=[("Which objects are higher than 6 cm?", {"height": 0.06})],
    failures=[("A height below the table", {"height": -0.1}, "invalid_arguments")],
)
def $name(ctx: ToolContext, height: Annotated[float, Field(ge=0, le=1, description="above the table [m]")] = 0.05) -> Told:
    """List the objects of the last look whose top is above a height."""
    objects = last_look(ctx).objects
    return Told(
        object_ids=[item.id for item in objects if item.top > height],
        highest=round(max((float(item.top) for item in objects), default=0.0), 4),
    )
'''

_SCENARIOS = '''\
"""What the tool $name is measured on: `deskhand tools validate $name --seed 3` after `pip install -e .`, and the test beside."""

from deskhand.bench.tools.base import Measured, scenario
from deskhand.bench.tools.desk import ScenarioDesk


@scenario(tool="$name", name="against_the_truth", situation="Six objects and a bin on a drawn desk: how many are told wrong, by their true tops?")
def against_the_truth(desk: ScenarioDesk) -> Measured:
    ids, height = desk.look(), float(desk.random.uniform(0.05, 0.06))
    told = set(desk.call("$name", {"height": height})["object_ids"])
    true = {ids[name] for name in ids if desk.truth(name).pose[2, 3] + desk.truth(name).size[2] / 2 > height}
    return Measured(len(told ^ true), "objects told wrong", equal=0)


@scenario(tool="$name", name="before_a_look", situation="Nobody has looked at the desk: is the call refused as such?")
def before_a_look(desk: ScenarioDesk) -> Measured:
    return Measured(float(desk.result("$name", {"height": 0.05}).code == "precondition_failed"), "1 when refused so", equal=1)
'''

_TEST = """\
import ${name}_scenarios as scenarios
from ${name}_tool import $name

from deskhand.bench.tools.run import run
from deskhand.etp.tool import tool_of
from deskhand.tools.base import load_tools
from deskhand.tools.checks import card_problems

TOOL = tool_of($name)


def test_the_card_says_all_that_an_agent_needs():
    assert card_problems(TOOL.card) == []


def test_the_scenarios_pass_on_a_drawn_desk():
    registry = load_tools(others=False)[0]
    registry.add(TOOL)
    rows = list(run([scenarios.against_the_truth, scenarios.before_a_look], registry, seed=1))
    assert [(row.scenario, row.value, row.problem) for row in rows if not row.passed] == []
"""


def write_skeleton(name: str, folder: Path, registry: Registry, group: str = "cognition", unit: str = "scene_graph_and_world_model") -> list[Path]:
    """Write a package with one tool into a new or empty folder; the files.

    Raises:
        DeskhandError: ``invalid_input`` for a name that is taken or cannot be one, or a unit that is not of the group; ``config_error`` when the folder holds
            something or cannot be written.
    """
    if not NAME.fullmatch(name) or keyword.iskeyword(name):
        raise DeskhandError(
            "invalid_input",
            f"{name!r} cannot be the name of a tool.",
            hint="Lower case letters, digits and underscores, 2 to 64 of them, beginning with a letter, and no word of Python: hand_height.",
        )
    taken = next((card for card in registry.cards() if card.name == name), None)
    if taken:
        raise DeskhandError("invalid_input", f"there is a tool {name!r} already, from {taken.source}: {taken.summary}", hint="Choose another name.")
    if group not in UNITS or unit not in UNITS[group]:
        fit = f"units of {group}: {', '.join(UNITS[group])}" if group in UNITS else f"groups: {', '.join(UNITS)}"
        raise DeskhandError("invalid_input", f"{group} / {unit} is no unit of the tool base.", hint=f"Valid {fit}.")
    words = {"name": name, "dashed": name.replace("_", "-"), "group": group, "unit": unit}
    texts = {"pyproject.toml": _PROJECT, f"{name}_tool.py": _TOOL, f"{name}_scenarios.py": _SCENARIOS, f"test_{name}.py": _TEST}
    try:
        if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
            raise DeskhandError("config_error", f"{folder} is not empty.", hint="Give a new folder: --folder DIR.")
        folder.mkdir(parents=True, exist_ok=True)
        for file, text in texts.items():
            (folder / file).write_text(Template(text).substitute(words))
    except OSError as error:
        raise DeskhandError("config_error", f"{folder} cannot be written: {error}.") from error
    return [folder / file for file in texts]
