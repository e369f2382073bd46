"""ROS time that jumps: what waits by it notices by steady time, and a motion under way ends with a code."""

import threading
import time
from types import SimpleNamespace

import pytest

pytest.importorskip("rclpy")
from deskhand.errors import DeskhandError
from deskhand.nodes.node import RosClock


class Times:
    """ROS time that runs with the wall clock, and can be set."""

    def __init__(self, start: float = 1000.0, pace: float = 1.0) -> None:
        self._began, self.start, self.pace = time.monotonic(), start, pace

    def seconds(self) -> float:
        return self.start + self.pace * (time.monotonic() - self._began)


@pytest.mark.parametrize("step", [-0.5, -30.0, -1000.0, 30.0, 1000.0])
def test_a_jump_ends_a_wait_at_once(step):
    times = Times()
    clock = RosClock(times)
    clock.sleep(0.0)
    threading.Timer(0.1, lambda: setattr(times, "start", times.start + step)).start()
    began = time.monotonic()
    with pytest.raises(DeskhandError) as caught:
        clock.sleep(20.0)
    assert caught.value.code == "clock_jumped" and caught.value.retry
    assert time.monotonic() - began < 10.0, "far less than the clock needs to catch up"
    clock.sleep(0.01)  # the time after the jump is as good as any


@pytest.mark.parametrize("step", [-0.5, 30.0])
def test_a_jump_between_two_waits_is_noticed_too(step):
    times = Times()
    clock = RosClock(times)
    clock.sleep(0.01)
    times.start += step
    with pytest.raises(DeskhandError, match="ROS time went from"):
        clock.sleep(0.01)


@pytest.mark.parametrize("pace", [0.2, 1.0, 20.0])
def test_slow_and_fast_simulations_are_no_jumps(pace):
    clock = RosClock(Times(pace=pace))
    for _ in range(10):
        clock.sleep(0.01)


def test_simulated_time_that_is_heard_late_is_no_jump():
    node = SimpleNamespace(seconds=lambda: now[0])
    now = [0.0]
    clock = RosClock(node)
    threading.Timer(0.05, lambda: now.__setitem__(0, 500.0)).start()
    clock.sleep(0.001)
    now[0] = 502.0  # a busy machine hears two seconds at once
    clock.sleep(0.0)
