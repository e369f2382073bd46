"""A second ``/clock`` at a moment of a running task, thirty or a thousand seconds off: the arm is stopped, and the task goes on or says why not."""

from __future__ import annotations

import contextlib
import random
import time
import traceback
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from freezes import A_SESSION, LIMIT, STOP_LIMIT, cancel
from robot import INSTRUCTION, Client, Goal, Robot, running
from rosgraph_msgs.msg import Clock

from deskhand.recording.episode.reader import read_episode

LATEST = 8.0  # [s] of wall time after the task's first word, at which the clock is forged
STEPS = (30.0, 1000.0, -30.0)  # [s] off the true one
LONGEST = 1.0  # [s] of wall time that the second clock goes on
PERIOD = 0.02  # [s] between its messages


@dataclass
class Forgery:
    """What came of one: ``answer`` is the wall time [s] from the end of the forgery to the result or, where the task ``went_on``, to its next word;
    ``moved`` how long the arm moved on after the result, in its own time and on the clock on the wall [s].
    """

    moment: float
    step: float
    seconds: float
    answer: float | None = None
    went_on: bool = False
    moved: float = 0.0
    moved_wall: float = 0.0
    readable: bool = False
    said: str = ""
    ended_before: bool = False
    node: str = "clock"

    @property
    def named(self) -> bool:
        """Whether the reason names it."""
        return "clock" in self.said.lower() or "time" in self.said.lower()

    @property
    def good(self) -> bool:
        """Whether it went as it has to."""
        in_time = self.answer is not None and self.answer <= LIMIT
        return self.ended_before or (in_time and bool(self.went_on or self.said) and min(self.moved, self.moved_wall) <= STOP_LIMIT and self.readable)


def draw(seed: int, index: int) -> tuple[float, float, float]:
    """The moment, the step and how long it lasts [s]."""
    numbers = random.Random(f"{seed} {index} clock")
    return numbers.uniform(0.0, LATEST), STEPS[index % len(STEPS)], numbers.uniform(0.0, LONGEST)


def forge(client: Client, moment: float, step: float, seconds: float) -> Forgery:
    """One task, one forged clock."""
    run = Forgery(moment, step, seconds)
    publisher = client.node.create_publisher(Clock, "/clock", 10)
    goal = Goal(client, INSTRUCTION)
    assert goal.accepted.wait(10.0) and client.wait(lambda: goal.feedbacks or goal.done.is_set(), 30.0)
    if goal.done.wait(moment):
        run.ended_before, run.said = True, f"{goal.result.error_message}: {goal.result.summary}"
        return run
    false, end = client.now() + step, time.monotonic() + seconds
    while True:
        message = Clock()
        message.clock.sec, message.clock.nanosec = int(max(false, 0.0)), int(false % 1.0 * 1e9)
        publisher.publish(message)
        if time.monotonic() >= end:
            break
        time.sleep(PERIOD)
        false += PERIOD
    words, ended = goal.feedbacks, time.monotonic()
    client.wait(lambda: goal.done.is_set() or goal.feedbacks > words, LIMIT + 5.0)
    if not goal.done.is_set():
        run.went_on = goal.feedbacks > words
        run.answer = goal.heard - ended if run.went_on else None
        cancel(client, goal)
    else:
        run.answer = goal.ended - ended
    if goal.result is not None:
        run.said, run.went_on = goal.result.error_message, run.went_on or goal.result.success
        stamp, ended = client.now(), time.monotonic()
        time.sleep(1.0)
        run.moved, run.moved_wall = client.moved_after(stamp, ended)
        with contextlib.suppress(Exception):
            run.readable = bool(read_episode(Path(goal.result.episode)).joints)
    return run


def forgeries(count: int, seed: int, root: Path) -> Iterator[Forgery | str]:
    """One after the other, several of one robot; an exception of the attack is yielded as its text."""
    index = 0
    while index < count:
        try:
            with running(root / f"from_{index}", 1000 * seed + index) as (robot, client):
                for _ in range(A_SESSION):
                    run = forge(client, *draw(seed, index))
                    index += 1
                    yield run
                    if index == count or run.ended_before or not (run.good and _alive(robot) and client.wait(client.reset, 20.0)):
                        break
        except Exception:
            index += 1
            yield traceback.format_exc()


def _alive(robot: Robot) -> bool:
    return robot.process.poll() is None
