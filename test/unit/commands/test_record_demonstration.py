"""A person shows an act to a robot in one process, through its own tools; what was recorded is understood."""

import numpy as np
import pytest

from deskhand.arms.config import load_arm
from deskhand.bench.tools.desk import ScenarioDesk
from deskhand.bench.tools.worlds import plates_and_blocks
from deskhand.commands.record_demonstration import joints_of, taken
from deskhand.errors import DeskhandError
from deskhand.etp.base import ToolResult
from deskhand.perception.demonstration.video import read_video, write_video
from deskhand.perception.demonstration.watching import watch
from deskhand.sim.spec import pose_at
from deskhand.tools.base import load_tools, make_session


class InProcess:
    """The tools of a session, as a client of the robot's nodes calls them."""

    def __init__(self, session):
        self._session = session

    def invoke(self, name, arguments):
        return self._session.invoke(name, arguments)

    def resource(self, uri):
        return self._session.resources.get(uri)


def test_what_a_person_shows_is_recorded_at_rests_and_understood(tmp_path):
    registry = load_tools(others=False)[0]
    world = plates_and_blocks(np.random.default_rng(3))
    with ScenarioDesk(world, registry) as desk:
        desk.begin("shown")
        plates = [item.pose for item in world.fixtures]
        acts = [("green", plates[1]), ("red", plates[0])]
        client = InProcess(make_session(desk.robot, desk.belief, registry=registry))

        def more(number):
            if 0 < number <= len(acts):
                name, place = acts[number - 1]
                desk.put(name, place @ pose_at(0, 0, 0.0205), settle=1.0)
            return number <= len(acts)

        assert write_video(tmp_path / "x.zip", taken(client, more), joints_of(client)) == 6
    found = watch(read_video((tmp_path / "x.zip").read_bytes(), "x.zip"), load_arm("wx250s"))
    assert [step.text for step in found.steps] == ["put the green block on the middle brown plate", "put the red block on the lightest brown plate"]


def test_a_tool_that_fails_ends_it():
    class Broken:
        def invoke(self, name, arguments):
            return ToolResult("no_frame", "the camera is silent.")

    with pytest.raises(DeskhandError, match="silent"):
        next(taken(Broken(), lambda number: True))
