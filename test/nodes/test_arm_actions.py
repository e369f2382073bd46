"""The actions of an arm, where their parts meet in an order that is rare."""

from __future__ import annotations

import threading
import time
from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("rclpy")

from control_msgs.action import FollowJointTrajectory
from rclpy.action import CancelResponse

from deskhand.nodes import arm_actions
from deskhand.nodes.arm_actions import ArmActions


class Handle:
    """A goal that rclpy has begun; ``noted`` is set when rclpy has noted its cancel."""

    def __init__(self) -> None:
        self.goal_id = SimpleNamespace(uuid=bytes(16))
        self.noted = threading.Event()
        self.request = FollowJointTrajectory.Goal()
        self.ended = ""

    @property
    def is_cancel_requested(self) -> bool:
        return self.noted.is_set()

    def execute(self) -> None:
        pass

    def publish_feedback(self, feedback: Any) -> None:
        pass

    def canceled(self) -> None:
        self.ended = "canceled"

    def abort(self) -> None:
        self.ended = "aborted"

    def succeed(self) -> None:
        self.ended = "succeeded"


class Arm:
    """Stops at once."""

    time = 0.0

    def __init__(self) -> None:
        self.follower = SimpleNamespace(active=True, cancelled=False, code=None, message="")

    def default_tolerances(self) -> Any:
        return None

    def follow(self, *_: Any) -> Any:
        return self.follower

    def cancel(self, follower: Any) -> None:
        follower.cancelled, follower.active = True, False


@pytest.fixture
def begun(monkeypatch: pytest.MonkeyPatch) -> tuple[ArmActions, Arm, Handle]:
    monkeypatch.setattr(arm_actions, "ActionServer", lambda *_, **__: None)
    monkeypatch.setattr(arm_actions, "_trajectory", lambda goal: None)
    monkeypatch.setattr(arm_actions, "_feedback", lambda *_: None)
    monkeypatch.setattr(ArmActions, "_tolerances", lambda *_: None)
    logger = SimpleNamespace(warning=lambda _: None, error=lambda _: None)
    node = SimpleNamespace(reentrant=None, context=SimpleNamespace(ok=lambda: True), get_logger=lambda: logger)
    arm, handle = Arm(), Handle()
    actions = ArmActions(node, arm)  # type: ignore[arg-type]
    actions._check_follow(handle.request)
    actions._begin_follow(handle)  # type: ignore[arg-type]
    return actions, arm, handle


def test_a_goal_is_cancelled_though_the_arm_stops_before_rclpy_notes_the_cancel(begun: tuple[ArmActions, Arm, Handle]) -> None:
    actions, _, handle = begun
    assert actions._cancel_follow(handle) == CancelResponse.ACCEPT  # type: ignore[arg-type]
    thread = threading.Thread(target=actions._follow, args=(handle,))
    thread.start()
    time.sleep(0.1)  # longer or shorter, the end is the same: rclpy notes it only now
    handle.noted.set()
    thread.join(10)
    assert handle.ended == "canceled"


def test_a_goal_that_another_has_replaced_is_aborted(begun: tuple[ArmActions, Arm, Handle]) -> None:
    actions, arm, handle = begun
    arm.cancel(arm.follower)
    actions._follow(handle)  # type: ignore[arg-type]
    assert handle.ended == "aborted"
