"""Requests that hit a mistake in a node's code are answered, and the node goes on."""

import pytest

pytest.importorskip("rclpy")

from control_msgs.action import FollowJointTrajectory
from rclpy.action import GoalResponse
from std_srvs.srv import Trigger

from deskhand.errors import ERROR_NUMBERS, DeskhandError
from deskhand.nodes.conversions import trajectory_from_msg
from deskhand.nodes.guarded import answered, refused
from deskhand_interfaces.srv import CheckState


def broken(*_):
    raise ZeroDivisionError("by nothing")


@pytest.mark.parametrize("kind", [CheckState, Trigger])
def test_a_service_that_fails_answers(kind):
    said = []
    answer = answered(broken, said.append, "the/service")(kind.Request(), kind.Response())
    told = getattr(answer, "error_message", getattr(answer, "message", ""))
    assert told == "ZeroDivisionError: by nothing" and not getattr(answer, "success", False)
    assert getattr(answer, "error_code", ERROR_NUMBERS["internal_error"]) == ERROR_NUMBERS["internal_error"]
    assert "the/service" in said[0] and "ZeroDivisionError" in said[0]


def test_a_goal_that_cannot_be_read_is_rejected():
    said = []
    assert refused(broken, GoalResponse.REJECT, said.append, "the/action")(object()) is GoalResponse.REJECT
    assert "by nothing" in said[0]


def test_an_empty_trajectory_is_invalid_input():
    with pytest.raises(DeskhandError, match="moves nothing") as caught:
        trajectory_from_msg(FollowJointTrajectory.Goal().trajectory)
    assert caught.value.code == "invalid_input"


def test_a_response_is_sent_whatever_halves_of_characters_it_holds():
    def echo(_, response):
        response.message = "a \ud800 b"
        return response

    assert answered(echo, print, "the/service")(Trigger.Request(), Trigger.Response()).message == "a ? b"
