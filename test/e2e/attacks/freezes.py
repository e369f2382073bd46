"""SIGSTOP of a node for a drawn time at a moment of a running task, then SIGCONT: the task goes on or ends with a reason, and nothing waits for ever."""

import contextlib
import os
import random
import signal
import time
import traceback
from dataclasses import dataclass
from pathlib import Path

from robot import INSTRUCTION, NODES, Goal, running

from deskhand.recording.episode.reader import read_episode

LATEST = 8.0  # [s] of wall time after the task's first word, at which a node is stopped
LONGEST = 12.0  # [s] of a freeze
HANG = 8.0  # [s]; a freeze that lasts longer is taken for a death (config/safety.yaml, and the time that this takes), and has to be named
LIMIT = 10.0  # [s] after the end of the freeze, in which the task has to go on or to end
STOP_LIMIT = 0.5  # [s], in which the arm is at rest after the result
WATCH = 1.0  # [s] of the arm's own time that it is watched then
A_SESSION = 8  # freezes of one robot, if it outlives them


@dataclass
class Freeze:
    """What came of one: ``answer`` is the wall time [s] from the end of the freeze to the result (negative: during it) or, where the task ``went_on``, to its
    next word.
    """

    node: str
    moment: float
    seconds: float
    answer: float | None = None
    named: bool = False
    went_on: bool = False  # or was done in time
    moved: float = 0.0
    moved_wall: float = 0.0
    readable: bool = False
    said: str = ""
    ended_before: bool = False
    alive: bool = True

    @property
    def good(self):
        """Whether it went as it has to."""
        in_time = self.answer is not None and self.answer <= LIMIT
        reason = self.went_on or (bool(self.said) and (self.named or self.seconds < HANG))
        return self.ended_before or (in_time and reason and min(self.moved, self.moved_wall) <= STOP_LIMIT and self.readable and self.alive)


def draw(seed, index):
    """The node, the moment and the length of the freeze [s]: each node in its turn, in an order of the seed's."""
    nodes = random.Random(f"{seed} {index // len(NODES)}").sample(NODES, len(NODES))
    numbers = random.Random(f"{seed} {index} freeze")
    return nodes[index % len(NODES)], numbers.uniform(0.0, LATEST), numbers.uniform(0.3, LONGEST)


def freeze(robot, client, node, moment, seconds, until_its_end=False):
    """One task, one freeze, which ends with the task already where that is said; the robot is ready for the next one afterwards."""
    run = Freeze(node, moment, seconds)
    goal = Goal(client, INSTRUCTION)
    assert goal.accepted.wait(10.0) and client.wait(lambda: goal.feedbacks or goal.done.is_set(), 30.0)
    if goal.done.wait(moment):
        run.ended_before, run.said = True, f"{goal.result.error_message}: {goal.result.summary}"
        return run
    with stopped(client.pids[node]):
        goal.done.wait(seconds) if until_its_end else time.sleep(seconds)
        words = goal.feedbacks
    thawed = time.monotonic()
    client.wait(lambda: goal.done.is_set() or goal.feedbacks > words, LIMIT + 5.0)
    if goal.done.is_set():
        run.answer = goal.ended - thawed
    elif goal.feedbacks > words:
        run.went_on, run.answer = True, goal.heard - thawed
        cancel(client, goal)
    else:
        cancel(client, goal)
        return run
    if goal.result is not None:
        run.said, run.went_on = goal.result.error_message, run.went_on or goal.result.success
        run.named = f"node {node} " in run.said.lower()
        stamp, ended = client.now(), time.monotonic()
        client.wait(lambda: client.now() > stamp + WATCH, 15.0)
        run.moved, run.moved_wall = client.moved_after(stamp, ended)
        with contextlib.suppress(Exception):
            run.readable = bool(read_episode(Path(goal.result.episode)).joints) and (Path(goal.result.episode) / "result.json").is_file()
    run.alive = robot.process.poll() is None
    return run


def cancel(client, goal):
    """Cancel it; a task that went on well has ended within the limit then."""
    client.in_executor(goal.handle.cancel_goal_async)
    goal.done.wait(LIMIT)


@contextlib.contextmanager
def stopped(pid):
    os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(pid, signal.SIGCONT)


def freezes(count, seed, root):
    """Freezes of robots that are started when the one before is no more or has had its share; an exception of the attack is yielded as its text."""
    index = 0
    while index < count:
        try:
            with running(root / f"from_{index}", 1000 * seed + index) as (robot, client):
                for _ in range(A_SESSION):
                    run = freeze(robot, client, *draw(seed, index))
                    index += 1
                    yield run
                    if index == count or run.ended_before or not (run.good and run.alive and client.wait(client.reset, 20.0)):
                        break
        except Exception:
            index += 1
            yield traceback.format_exc()
