"""What the agent is offered of the whole tool base: always all that the offline brain may call, whatever the instruction says."""

import ast
import inspect

import pytest

from deskhand.agent.controls import CONTROL_CARDS
from deskhand.agent.prompt import find_cards
from deskhand.etp.session import Session
from deskhand.offline import brain, building
from deskhand.offline import task_executive as executive
from deskhand.tools.base import load_tools


def called_by(module):
    """Names of tools in ``Call("name", …)``."""
    calls = [node for node in ast.walk(ast.parse(inspect.getsource(module))) if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "Call"]
    return {node.args[0].value for node in calls if node.args and isinstance(node.args[0], ast.Constant)}


NEEDED = (called_by(brain) | called_by(building) | called_by(executive) | {"move_home", "close_gripper"}) - {card["name"] for card in CONTROL_CARDS}


@pytest.fixture(scope="module")
def session():
    def no_robot():
        raise AssertionError("nothing is called here")

    with Session(load_tools(others=False)[0], no_robot) as session:
        yield session


@pytest.mark.parametrize("instruction", ["clean the desk", "build a tower of three blocks", "put the cup to the left of the box", "what is on the desk?"])
def test_all_that_the_brain_may_call_is_offered(session, instruction):
    offered = {card["name"] for card in find_cards(session, instruction)}
    assert "put_aside" in NEEDED and len(NEEDED) > 10
    assert NEEDED - {"ask_memory"} <= offered
