"""What is worked out while the robot moves is done once, and its failure waits for the motion's end."""

import pytest

from deskhand.errors import DeskhandError
from deskhand.skills.meanwhile import Meanwhile


def test_it_is_done_at_the_first_question_and_once():
    done = []
    asked = Meanwhile(lambda: done.append(1), lambda: len(done) > 5)
    assert not asked() and not asked()
    asked.end()
    assert done == [1]


def test_it_is_done_at_the_end_where_nobody_asked():
    done = []
    Meanwhile(lambda: done.append(1), lambda: False).end()
    assert done == [1]


def test_the_motion_is_waited_for_before_the_failure_is_told():
    def fail():
        raise DeskhandError("planning_failed", "no way")

    asked = Meanwhile(fail, lambda: True)
    assert asked()  # the question is answered all the same
    with pytest.raises(DeskhandError) as raised:
        asked.end()
    assert raised.value.code == "planning_failed"
