"""SIGKILL of a node at a moment of a running task: the goal ends with a result that names it, the arm comes to rest, the recording can be read."""

import os
import random
import re
import signal
import time
from dataclasses import dataclass
from pathlib import Path

from robot import INSTRUCTION, NODES, Goal, running

from deskhand.recording.episode.reader import read_episode

LATEST = 12.0  # [s] of wall time after the task's first word, at which a node is killed
LIMIT = 10.0  # [s] in which the goal has to end
STOP_LIMIT = 0.5  # [s], in which the arm has to come to rest
PATIENCE = 30.0  # [s] that is waited for what should have come long ago


@dataclass
class Kill:
    """What came of one: ``answer`` is the wall time [s] from the loss to the result, None where none came; ``moved`` how long the arm moved on, in its own
    time and on the clock on the wall [s], of which the simulation may run through several in one, or a busy machine through a part.
    """

    node: str
    moment: float
    answer: float | None = None
    named: bool = False
    moved: float = 0.0
    moved_wall: float = 0.0
    readable: bool = False
    report: bool = False
    exit_code: int | None = None
    said: str = ""
    ended_before: bool = False

    @property
    def good(self):
        """Whether it went as it has to."""
        in_time = self.answer is not None and self.answer <= LIMIT and self.named
        return self.ended_before or (in_time and min(self.moved, self.moved_wall) <= STOP_LIMIT and self.readable and self.report and self.exit_code == 1)


def draw(seed, index):
    """The node, the moment [s], the scene: each node in its turn, in an order of the seed's."""
    nodes = random.Random(f"{seed} {index // len(NODES)}").sample(NODES, len(NODES))
    return nodes[index % len(NODES)], random.Random(f"{seed} {index} moment").uniform(0.0, LATEST), 1000 * seed + index


def kill(folder, node, moment, scene):
    """One robot, one task, one kill."""
    with running(folder, scene) as (robot, client):
        return strike(robot, client, node, moment)


def strike(robot, client, node, moment):
    """One task of a robot that is ready, one kill, which is its end."""
    run = Kill(node, moment)
    goal = Goal(client, INSTRUCTION)
    assert goal.accepted.wait(10.0) and client.wait(lambda: goal.feedbacks or goal.done.is_set(), 30.0)
    goal.done.wait(moment)
    if goal.done.is_set():
        run.ended_before, run.said = True, f"{goal.result.error_message}: {goal.result.summary}"
        return run
    stamp, killed = client.now(), time.monotonic()
    os.kill(client.pids[node], signal.SIGKILL)
    if goal.done.wait(PATIENCE):
        run.answer, run.said = goal.ended - killed, goal.result.error_message
        run.named = goal.aborted and set(re.findall(r"Node (\w+) is dead", run.said)) == {node}
    run.exit_code = robot.ended()
    if node != "sim":  # without it there is no arm left
        run.moved, run.moved_wall = client.moved_after(stamp, killed)
    run.readable, run.report = _record(robot.folder, goal.result.episode if goal.result else "")
    return run


def _record(folder, told):
    """Whether the recording of the last task can be read, and whether the report, result and audit log are there."""
    episodes = sorted((folder / "episodes").glob("*"))
    if not episodes or (told and Path(told) != episodes[-1]):
        return False, False
    episode = read_episode(episodes[-1])
    result = episode.result
    whole = (episodes[-1] / "report.html").is_file() and (episodes[-1] / "audit.jsonl").is_file() and result["instruction"] == INSTRUCTION
    return bool(episode.joints), whole and not result["success"] and bool(result["error_message"])
