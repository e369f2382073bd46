"""The physics thread beside those who must react to it."""

import threading
import time

import pytest

pytest.importorskip("mujoco")
from deskhand.sim import pacer
from deskhand.sim.pacer import Pacer


class Moving:
    """Something that moves for ever."""

    def __init__(self):
        self.time = 0.0

    def step(self, seconds):
        self.time += seconds

    def moving(self):
        return True


def test_after_its_process_stood_still_time_waits_for_a_stop_that_was_on_its_way(monkeypatch):
    """As SIGSTOP and SIGCONT do it: everything of the process goes on at once, and the stop has to be read first."""
    monkeypatch.setattr(pacer, "STOOD_STILL", 0.2)
    monkeypatch.setattr(pacer, "CATCHING_UP", 20.0)
    moving, steps, stopped = Moving(), [], threading.Event()

    def after_step():
        steps.append(moving.time)
        if len(steps) == 5:
            time.sleep(0.3)
            stopped.set()

    runs = Pacer(moving, 4.0, after_step, lambda error: None)
    runs.start()
    assert stopped.wait(20.0)
    reached = threading.Event()
    reached.wait(0.2)  # what waited is heard meanwhile
    runs.close()
    assert len(steps) == 5
