"""What the builder does when the desk is not as its plan takes it to be; over a desk that is nothing but places."""

import math
from typing import Any

import pytest

from deskhand.agent.controls import SUBMIT_PLAN
from deskhand.language.intents import Build
from deskhand.offline.building import Building
from deskhand.offline.script import CallResult
from deskhand.offline.task_executive import TaskExecutive

EDGE = 0.03


class FlatDesk:
    """Blocks by name and place; a place on the desk is free when no other block lies within an edge of it."""

    def __init__(self, **places: tuple[float, float]) -> None:
        self.places, self.held = dict(places), ""
        self.moved: list[str] = []

    def objects(self) -> list[dict[str, Any]]:
        return [
            {"id": name, "label": "block", "color": "red", "size": [EDGE] * 3, "position": [x, y, EDGE / 2], "yaw": 0.0, "support": "table", "relation": "on"}
            for name, (x, y) in self.places.items()
        ]

    def answer(self, tool: str, arguments: dict[str, Any]) -> CallResult:
        if tool == "plan_structure":
            row = [{"object_id": name, "color": "", "x": 0.0, "y": 0.06 * number, "yaw": 0.0, "on": []} for number, name in enumerate(("block_1", "block_2"))]
            return CallResult(True, {"steps": row})
        if tool == "detect_objects":
            return CallResult(True, {"objects": self.objects()})
        if tool == "get_robot_state":
            return CallResult(True, {"holding": self.held})
        if tool == "check_goal":
            return CallResult(True, {"unmet": []})
        if tool == "pick":
            self.held = arguments["object_id"]
            del self.places[self.held]
            return CallResult(True, {})
        if tool == "put_aside":
            self.moved.append(self.held)
            self.places[self.held], self.held = (0.3, 0.1 * len(self.moved)), ""
            return CallResult(True, {})
        if tool == "place_at":
            x, y = arguments["x"], arguments["y"]
            if any(math.hypot(x - a, y - b) < EDGE for a, b in self.places.values()):
                return CallResult(False, None, "no_free_space", "the hand would touch something")
            self.places[self.held], self.held = (x, y), ""
            return CallResult(True, {})
        assert tool == SUBMIT_PLAN
        return CallResult(True, {})


def build(desk: FlatDesk) -> Building:
    building = Building(TaskExecutive())
    script = building.build(Build("row", 2))
    heard = None
    try:
        while True:
            call = script.send(heard)  # type: ignore[arg-type]
            heard = desk.answer(call.tool, call.arguments)
    except StopIteration:
        return building


def test_what_lies_where_a_block_shall_stand_is_put_aside():
    desk = FlatDesk(block_1=(0.2, 0.0), block_2=(0.2, 0.1), block_3=(0.005, 0.004))
    assert not build(desk).failures()
    assert desk.places["block_1"] == (0.0, 0.0) and desk.places["block_2"] == (0.0, 0.06)
    assert desk.moved == ["block_1", "block_3"]  # the one in the hand first, then the one in the way


def test_the_block_in_the_way_may_be_one_that_the_structure_needs():
    desk = FlatDesk(block_1=(0.2, 0.0), block_2=(0.005, 0.0))
    assert not build(desk).failures()
    assert desk.places == {"block_1": (0.0, 0.0), "block_2": (0.0, 0.06)}


@pytest.mark.parametrize(
    ("first", "plans"),
    [
        (CallResult(False, None, "impossible", "I see one block"), 2),
        (CallResult(True, {"steps": [], "substitutes": ["block_1"]}), 2),
        (CallResult(False, None, "invalid_input", "no such plan"), 1),
    ],
)
def test_a_block_that_seems_to_be_missing_is_looked_for_once_more(first, plans):
    asked = []

    class Overlooked(FlatDesk):
        def answer(self, tool: str, arguments: dict[str, Any]) -> CallResult:
            asked.append(tool)
            return first if tool == "plan_structure" and asked.count(tool) == 1 else super().answer(tool, arguments)

    desk = Overlooked(block_1=(0.2, 0.0), block_2=(0.2, 0.1))
    building = build(desk)
    assert asked.count("plan_structure") == plans
    done = desk.places == {"block_1": (0.0, 0.0), "block_2": (0.0, 0.06)}
    assert done == (plans == 2) and not building.failures()
