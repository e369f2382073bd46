"""Going to the next view: what it needs, and what it refuses."""

import pytest

from deskhand.errors import DeskhandError
from deskhand.etp.tool import ToolContext
from deskhand.skills.base import SkillContext
from deskhand.skills.belief import Belief
from deskhand.testing.desk_robot import DeskRobot
from deskhand.testing.desk_scene import one_of_each
from deskhand.tools.reasoning.next_view import go_next_view


@pytest.fixture
def ctx():
    robot, belief = DeskRobot(one_of_each()), Belief()
    SkillContext(robot, belief).look()
    return ToolContext(robot, belief)


def test_a_camera_that_stands_still_is_not_brought_anywhere_and_it_is_said_what_to_do(ctx):
    before = ctx.robot.joint_state().positions
    with pytest.raises(DeskhandError, match="stands still") as raised:
        go_next_view(ctx, "can_1")
    assert raised.value.code == "impossible" and "next_view_point" in raised.value.hint
    assert list(ctx.robot.joint_state().positions) == list(before)


@pytest.mark.parametrize("arguments", [{}, {"object_id": "can_1", "position": [0.0, 0.0, 0.05]}])
def test_exactly_one_target_is_given(ctx, arguments):
    with pytest.raises(DeskhandError, match="exactly one") as raised:
        go_next_view(ctx, **arguments)
    assert raised.value.code == "invalid_input"
