"""A trial through the real nodes over DDS: bring-up, one RunTask, truth before and after, everything stopped in the end."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

from deskhand.agent.direct import MODES as DIRECT
from deskhand.bringup.domains import free_domain
from deskhand.bringup.environment import workstation_defaults
from deskhand.bringup.spec import NodeSpec, StackOptions
from deskhand.bringup.stack import composed, gazebo_nodes, sim_nodes
from deskhand.bringup.supervisor import Death, Supervisor
from deskhand.bringup.task_process import TaskProcess
from deskhand.errors import DeskhandError
from deskhand.sim.gazebo.files import write_gazebo
from deskhand.sim.gazebo.truth import GazeboTruth
from deskhand.sim.spec import Truth, WorldSpec
from deskhand.trials.base import Attempt, Progress, ProgressCallback, Stopwatch, TrialOptions, instructions, named_folders, settle_time
from deskhand.trials.person import Person
from deskhand.trials.truth import TruthChannel

READY_TIMEOUT = 60.0  # [s] for all nodes to come up
AFTER_DEATH = 1.5  # [s] that the rest of the stack goes on, to stop the arm and to say so
CANCEL_WAIT = 1.0  # [s]
SETTLE_TIMEOUT = 30.0  # [s]
POLL = 0.05  # [s]
GAZEBO_READY_TIMEOUT = 150.0  # [s]: it also loads its renderer and its controllers


class TruthSource(Protocol):
    """Where the scorer sees how objects are."""

    def get(self) -> Truth:
        """Ground truth now. Raises ``node_unavailable`` or ``timeout`` when the simulation does not tell."""
        ...


class Running(Protocol):
    """Nodes that run."""

    @property
    def supervisor(self) -> Supervisor:
        """Of their processes."""
        ...

    @property
    def environment(self) -> dict[str, str]:
        """What another process needs to join, ROS_DOMAIN_ID first."""
        ...


@dataclass
class Stack:
    """A running simulated robot.

    Attributes:
        truth: for the scorer.
        truth_fd: number of the truth's socket in the simulation's process; -1 for Gazebo, which tells it over its own transport.
        environment: what another process needs to join, ROS_DOMAIN_ID first.
    """

    supervisor: Supervisor
    truth: TruthSource
    truth_fd: int
    environment: dict[str, str]


def stack_options(options: TrialOptions, folder: Path) -> StackOptions:
    """What a trial chooses at bring-up."""
    memory = str(options.memory.resolve()) if options.memory else ""
    stack = StackOptions(arm=options.arm, planner=options.planner, brain=options.brain, images=options.images, memory=memory, files=named_folders(options))
    if options.driver:
        stack = replace(stack, driver=options.driver, port=str(folder / "arm_port"), servos=options.servos)
    if options.view is not None:
        stack = replace(stack, view=True, view_port=options.view)
    return stack


def trial_nodes(options: TrialOptions, folder: Path, truth_fd: int) -> list[NodeSpec]:
    """The nodes of bringup.py, with the episode's folder for those that write into it."""
    stack = stack_options(options, folder)
    world: dict[str, Any] = {"task": options.task, "seed": options.seed, "scene": options.scene, "fault": options.fault, "reality": options.reality}
    nodes = sim_nodes(stack, **world, truth_fd=truth_fd)
    if options.pace:
        nodes = [replace(node, parameters={**node.parameters, "realtime_factor": options.pace}) if node.name == "sim" else node for node in nodes]
    return recording(nodes, options, folder)


def recording(nodes: list[NodeSpec], options: TrialOptions, folder: Path) -> list[NodeSpec]:
    """The nodes, told which episode they write into."""
    records: dict[str, dict[str, Any]] = {name: {"episode": str(folder)} for name in ("recorder", "tool_server", "orchestrator")}
    own: dict[str, dict[str, Any]] = {**records, "tool_server": {**records["tool_server"], "baseline": options.mode in DIRECT}}
    told = [replace(node, parameters={**node.parameters, **own.get(node.name, {})}) for node in nodes]
    return composed(told) if options.composed else told


@contextlib.contextmanager
def running_stack(options: TrialOptions, folder: Path) -> Iterator[Stack]:
    """All nodes, ready, in a ROS domain of their own; stopped when the block ends, however it ends.

    Raises:
        DeskhandError: ``node_unavailable`` when a node died on the way, ``timeout`` when one is not ready in time.
    """
    with free_domain() as domain, TruthChannel() as truth:
        truth_fd = truth.fd
        nodes = trial_nodes(options, folder, truth_fd)
        with supervised(nodes, folder, domain, READY_TIMEOUT, truth.started) as (supervisor, environment):
            yield Stack(supervisor, truth, truth_fd, environment)


@contextlib.contextmanager
def running_gazebo(options: TrialOptions, world: WorldSpec, folder: Path) -> Iterator[Stack]:
    """As :func:`running_stack`, the world in Gazebo.

    Raises:
        DeskhandError: ``node_unavailable`` when a node died on the way, ``timeout`` when one is not ready in time.
    """
    files = write_gazebo(world, folder / "gazebo")
    nodes = recording(gazebo_nodes(stack_options(options, folder), files), options, folder)
    with (
        free_domain() as domain,
        GazeboTruth(world, files.partition) as truth,
        supervised(nodes, folder, domain, GAZEBO_READY_TIMEOUT) as (supervisor, environment),
    ):
        yield Stack(supervisor, truth, -1, environment)


@contextlib.contextmanager
def supervised(
    nodes: list[NodeSpec], folder: Path, domain: int, timeout: float, started: Callable[[], None] | None = None
) -> Iterator[tuple[Supervisor, dict[str, str]]]:
    """``nodes`` in the ROS ``domain``, ready, with the environment of a process that joins them; stopped when the block ends.

    Raises:
        DeskhandError: ``node_unavailable`` when a node died on the way, ``timeout`` when one is not ready in time.
    """
    own = {"ROS_DOMAIN_ID": str(domain)}
    supervisor = Supervisor(nodes, log_folder=folder / "logs", environment=own)
    try:
        supervisor.start()
        if started is not None:
            started()
        supervisor.wait_ready(timeout)
        yield supervisor, {**os.environ, **workstation_defaults(os.environ), **own}
    finally:
        supervisor.stop()


def run_ros(options: TrialOptions, world: WorldSpec, instruction: str, folder: Path, progress: ProgressCallback, attempt: Attempt, person: Person) -> None:
    """Bring the stack up, give it the instructions, fill in ``attempt``."""
    progress(Progress(0, "", "starting the nodes"))
    running = running_gazebo(options, world, folder) if options.sim == "gazebo" else running_stack(options, folder)
    with running as stack:
        attempt.start = stack.truth.get()
        person.truth = stack.truth.get
        try:
            for said in instructions(options, instruction):
                person.next_task()
                with Stopwatch(attempt):
                    run_task(stack, said, options, progress, attempt)
        finally:
            with contextlib.suppress(DeskhandError):  # a dead simulation tells nothing; the attempt says why
                attempt.end = _settled(stack.truth, settle_time(options))


def _settled(truth: TruthSource, seconds: float) -> Truth:
    """The truth ``seconds`` of simulated time from now; what it is when time does not go on."""
    now = truth.get()
    until, end = now.time + seconds, time.monotonic() + SETTLE_TIMEOUT
    while now.time < until and time.monotonic() < end:
        time.sleep(POLL)
        now = truth.get()
    return now


def run_task(stack: Running, instruction: str, options: TrialOptions, progress: ProgressCallback, attempt: Attempt) -> None:
    """One RunTask on a running stack; ends early when a node dies or time is up."""
    with TaskProcess(instruction, options.mode, stack.environment, listen=options.inbox is not None, answer_timeout=options.answer_timeout) as task:
        end = time.monotonic() + options.timeout
        while True:
            if options.inbox is not None and (words := options.inbox()) is not None:
                task.tell(words)
            if (line := task.next_line(POLL)) is not None:
                if line["type"] == "feedback":
                    progress(Progress(line["step"], line["tool"], line["text"], line.get("question", ""), tuple(line.get("options", ())), line["text"] == "ok"))
                elif line["type"] == "told" and not line["accepted"]:
                    progress(Progress(0, "", f"not heard: {line['message']}"))
                elif line["type"] == "result":
                    _take(line, attempt)
                    _explain_deaths(stack.supervisor.died(), attempt)
                    return
            elif deaths := stack.supervisor.died():
                _after_death(task, deaths, attempt)
                return
            elif task.ended():
                attempt.failed("internal_error", f"the task client ended without a result: {task.errors()}")
                return
            elif time.monotonic() > end:
                task.cancel()
                attempt.failed("timeout", f"the task took longer than {options.timeout:g} s.")
                return


def _take(line: Mapping[str, Any], attempt: Attempt) -> None:
    attempt.success, attempt.code, attempt.message = line["success"], line["error_code"], line["error_message"]
    attempt.summary, attempt.tool_calls, attempt.errors = line["summary"], attempt.tool_calls + line["tool_calls"], (*attempt.errors, *line["errors"])


def _after_death(task: TaskProcess, deaths: list[Death], attempt: Attempt) -> None:
    """Give the orchestrator the time to say in its own words how the task ended; the cause stays the dead node."""
    end = time.monotonic() + AFTER_DEATH
    while time.monotonic() < end and not task.ended():
        line = task.next_line(POLL)
        if line is not None and line["type"] == "result":
            _take(line, attempt)
    _explain_deaths(deaths, attempt)


def _explain_deaths(deaths: list[Death], attempt: Attempt) -> None:
    if not deaths:
        return
    told = f" The orchestrator said {attempt.code}: {attempt.message}" if attempt.code else ""
    attempt.success, attempt.code = False, "node_unavailable"
    attempt.message = f"node {', '.join(f'{death.name} ended ({death.cause})' for death in deaths)}.{told}"
    attempt.node_output = {death.name: list(death.lines) for death in deaths}
