"""A foreign task through the real nodes over DDS: the simulator's process as for any episode, its robot's socket handed to the foreign node."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from deskhand.agent.records import TaskOutcome
from deskhand.bench.libero.install import installed, python_of, references_of
from deskhand.bench.libero.naming import read_references
from deskhand.bench.libero.setup import Setup
from deskhand.bringup.domains import free_domain
from deskhand.bringup.spec import NodeSpec, StackOptions
from deskhand.bringup.stack import ForeignDesk, foreign_nodes
from deskhand.bringup.supervisor import Supervisor
from deskhand.language.compound_names import join_names
from deskhand.sim.foreign.link import ForeignProcess
from deskhand.sim.foreign.robot import arm_file, measured_arm, write_envelope
from deskhand.sim.reality.file import load_reality
from deskhand.trials.base import Attempt, TrialOptions
from deskhand.trials.ros import recording, run_task, supervised
from deskhand.world.taught import TaughtStore

TAUGHT_FILE = "taught.sqlite"
READY_TIMEOUT = 300.0  # [s] for all nodes to come up: the views of taught objects are made comparable first, 10 s of processor time


@dataclass(frozen=True)
class ForeignStack:
    """Nodes that run, and what another process needs to join them."""

    supervisor: Supervisor
    environment: dict[str, str]


def taught_store(references: Path | None, folder: Path) -> tuple[str, list[str]]:
    """The file of taught objects that the perception node reads, with the views of ``references``, and their names; ``none`` without."""
    if references is None:
        return "none", []
    file = folder / TAUGHT_FILE
    file.unlink(missing_ok=True)
    views = read_references(references)
    with TaughtStore(file) as store:
        for name, seen in views.items():
            store.add(name, seen)
    return str(file.resolve()), list(views)


def prepared_desk(process: ForeignProcess, folder: Path, references: Path | None, sensor: str, seed: int) -> tuple[ForeignDesk, list[str]]:
    """What the nodes are told of the robot in ``process``, whose case is loaded, and the names of what was taught. Files go into ``folder``."""
    measured_arm(process.robot, folder, reality=load_reality(sensor, seed))
    taught, names = taught_store(references, folder)
    return ForeignDesk(arm_file(folder), write_envelope(folder), taught, exact=sensor == "none", robot_fd=process.robot.descriptor), names


def started_desk(kind: str, case: Mapping[str, Any], folder: Path, sensor: str = "none") -> tuple[ForeignDesk, str]:
    """The desk of a case for nodes that start its simulator themselves, and what the world asks for. The case is loaded once here, to measure how high the
    base stands; files go into ``folder``.

    Raises:
        DeskhandError: ``missing_dependency`` without the environment, ``no_table`` where no surface is seen.
    """
    environment = installed(kind)
    folder.mkdir(parents=True, exist_ok=True)
    seed = int(case.get("state", case.get("seed", 0)))
    with ForeignProcess(python_of(environment), kind, folder / "simulator.log") as process:
        told = process.scorer.load(dict(case))
        desk, names = prepared_desk(process, folder, references_of(environment, kind), sensor, seed)
    start = ("--python", str(python_of(environment)), "--kind", kind, "--case", json.dumps(case), "--sensor", sensor, "--seed", str(seed))
    return replace(desk, start=start, robot_fd=-1), join_names(str(told["instruction"]), names)


def run_over_ros(setup: Setup, process: ForeignProcess, folder: Path, calls: list[dict[str, Any]]) -> TaskOutcome:
    """Bring the nodes up on the robot in ``process``, whose case is loaded, and give them its instruction; ``calls`` gets what the tools answered.

    Raises:
        DeskhandError: ``node_unavailable``, ``timeout`` when the nodes do not come up.
    """
    desk, names = prepared_desk(process, folder, setup.references, setup.sensor, setup.seed)
    instruction = join_names(str(process.robot.ask("hello")[0]["instruction"]), names)
    options = TrialOptions(timeout=setup.seconds, brain=setup.brain, answer_timeout=-1.0)
    nodes: Sequence[NodeSpec] = recording(foreign_nodes(StackOptions(brain=setup.brain), desk), options, folder)
    if setup.sensor != "none":
        given = ("--sensor", setup.sensor, "--seed", str(setup.seed))
        nodes = [replace(node, arguments=(*node.arguments, *given)) if node.name == "sim" else node for node in nodes]
    attempt = Attempt()
    with free_domain() as domain, supervised(list(nodes), folder, domain, READY_TIMEOUT) as (supervisor, environment):
        run_task(ForeignStack(supervisor, environment), instruction, options, lambda _: None, attempt)
    calls.extend(_calls(folder / "audit.jsonl"))
    return TaskOutcome(attempt.success, attempt.code, attempt.summary or attempt.message)


def _calls(audit: Path) -> list[dict[str, Any]]:
    """What tools were called with and what they answered, by the audit log."""
    asked: dict[Any, Any] = {}
    answered = []
    for line in audit.read_text().splitlines() if audit.is_file() else ():
        event = json.loads(line)
        if event.get("event") != "tool_call":
            continue
        told = event["data"]
        if told.get("event") == "start":
            asked[told.get("id")] = told.get("arguments", {})
        elif told.get("event") == "end":
            answer = {name: told.get(name) for name in ("tool", "ok", "code", "message")}
            answered.append({**answer, "ok": not told.get("code"), "arguments": asked.get(told.get("id"), {})})
    return answered
