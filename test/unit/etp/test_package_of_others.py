"""A package outside of the repository adds a tool by an entry point; the agent uses it without a change."""

import subprocess
import sys
from pathlib import Path

from deskhand.agent.loop import AgentLoop
from deskhand.etp.registry import Registry
from deskhand.etp.session import Session
from deskhand.etp.tool import ToolContext
from deskhand.llm.base import Reply, ToolCall
from deskhand.llm.scripted import ScriptedModel
from deskhand.skills.belief import Belief

MODULE = '''
from typing import Annotated

from pydantic import Field
from typing_extensions import TypedDict

from deskhand.etp.tool import ToolContext, tool


class Tide(TypedDict):
    """The tide."""

    height: Annotated[float, Field(description="above the mean [m]")]


@tool(
    group="cognition",
    unit="queryable_memory",
    when_to_use="To learn how high the water stands in a harbour.",
    limits="Knows one harbour.",
    examples=[("How high is the water at noon?", {"hour": 12.0})],
    failures=[("The hour is none", {"hour": 25.0}, "invalid_arguments")],
)
def tell_tide(ctx: ToolContext, hour: Annotated[float, Field(ge=0, le=24, description="[h] of the day")]) -> Tide:
    """Tell the height of the tide at an hour."""
    return Tide(height=hour / 10)

'''
SETUP = """
from setuptools import setup

setup(name="harbour-tools", version="1.2", py_modules=["harbour_tools"], entry_points={"deskhand.tools": ["harbour = harbour_tools", "gone = no_such_module"]})
"""


def installed(folder: Path) -> Path:
    """A real package, built and installed into a folder of its own."""
    source, target = folder / "source", folder / "installed"
    source.mkdir()
    (source / "harbour_tools.py").write_text(MODULE)
    (source / "setup.py").write_text(SETUP)
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-build-isolation", "--no-index", "--target", str(target), str(source)]
    subprocess.run(command, check=True, capture_output=True, timeout=300)
    return target


def test_an_installed_package_adds_a_tool_and_the_agent_calls_it(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(installed(tmp_path)))
    registry = Registry()
    problems = registry.load_entry_points()
    assert len(problems) == 1 and "no_such_module" in problems[0]
    card = registry.get("tell_tide").card
    assert card.source == "harbour-tools" and card.isolated and len(registry) == 1
    replies = [
        Reply("", (ToolCall("tell_tide", {"hour": 25}),)),
        Reply("", (ToolCall("tell_tide", {"hour": 12}),)),
        Reply("", (ToolCall("finish", {"status": "partly", "summary": "The water stands 1.2 m above the mean."}),)),
    ]
    with Session(registry, lambda: ToolContext(None, Belief())) as session:
        assert session.search("how high does the water stand in the harbour")[0].name == "tell_tide"
        outcome = AgentLoop(ScriptedModel(replies), session).run("How high is the water at noon?")
    assert [(step.tool, step.ok, step.code) for step in outcome.steps[:2]] == [("tell_tide", False, "invalid_arguments"), ("tell_tide", True, "")]
    assert outcome.steps[1].data == {"height": 1.2}
