"""One episode of a foreign task: the whole stack on the foreign robot, judged by the environment's own test."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from deskhand.agent.loop import AgentLoop
from deskhand.agent.records import Budgets, TaskOutcome
from deskhand.arms.frames import LinkTransforms
from deskhand.arms.model import RobotModel
from deskhand.bench.libero.failures import failure_class
from deskhand.bench.libero.naming import NamingPerception, compared, recogniser_of
from deskhand.bench.libero.robot import envelope, foreign_parts
from deskhand.errors import DeskhandError
from deskhand.language.compound_names import join_names
from deskhand.llm import load_profile, make_model
from deskhand.perception.settings import PerceptionSettings
from deskhand.perception.taught.recogniser import Recogniser
from deskhand.recording.episode.writer import EpisodeWriter
from deskhand.safety.audit import AuditLog
from deskhand.safety.settings import load_safety
from deskhand.sim.foreign.link import ForeignProcess
from deskhand.sim.reality.spec import RealitySpec
from deskhand.skills.belief import Belief
from deskhand.skills.robot.local import make_local_robot
from deskhand.tools.base import load_tools, make_session
from deskhand.trials.local import RecordedArm, RecordedCamera
from deskhand.types import SceneObject
from deskhand.world.history.recorder import MEMORY_FILE, Memory

PICTURE = (640, 480)  # [px]


@dataclass(frozen=True)
class Setup:
    """How episodes are run.

    Attributes:
        python: of the simulator's environment.
        kind: of its world.
        references: file of taught views; None: nothing is taught.
        brain: profile of the model.
        seconds: of wall time that a task may take.
        reality: errors of the camera; None: none.
    """

    python: Path
    kind: str
    references: Path | None
    brain: str = "offline"
    seconds: float = 600.0
    reality: RealitySpec | None = None


def run_episode(setup: Setup, case: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """Run one case; its record. What goes wrong in the robot is in the record; raises where the harness itself fails."""
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob(f"{MEMORY_FILE}*"):
        old.unlink()
    began = time.monotonic()
    with ForeignProcess(setup.python, setup.kind, folder / "simulator.log") as process:
        told = process.scorer.load(dict(case))
        before, masks = process.scorer.truth(), process.scorer.masks("agentview", *PICTURE)
        outcome, code, message = None, "", ""
        calls: list[dict[str, Any]] = []
        looked: list[tuple[SceneObject, Any]] = []
        try:
            outcome = _robot(setup, process, folder, calls, looked)
        except DeskhandError as error:
            code, message = error.code, str(error)
        scored, after = process.scorer.outcome(), process.scorer.truth()
    if outcome is not None:
        code, message = outcome.code, outcome.summary
    record = {
        **case,
        "instruction": told["instruction"],
        "success": scored.first >= 0 or scored.done,
        "done_at_end": scored.done,
        "first_step": scored.first,
        "steps": scored.steps,
        "wall_s": round(time.monotonic() - began, 1),
        "robots_word": {"success": bool(outcome and outcome.success), "code": code, "summary": message},
        "tool_calls": calls,
        "seen": compared(looked, *masks),
        "truth": {"goal": before["goal"], "before": before["objects"], "after": after["objects"]},
    }
    record["failure"] = "" if record["success"] else failure_class(record)
    (folder / "result.json").write_text(json.dumps(record, indent=1, default=str))
    return record


def _robot(setup: Setup, process: ForeignProcess, folder: Path, calls: list[dict[str, Any]], looked: list[tuple[SceneObject, Any]]) -> TaskOutcome:
    """Let the agent work; what it came to. ``calls`` gets what its tools answered, ``looked`` what the first look showed."""
    parts = foreign_parts(process.robot, folder, PICTURE, setup.reality)
    recogniser = recogniser_of(setup.references) if setup.references is not None else Recogniser({})
    memory_file = folder / MEMORY_FILE
    with EpisodeWriter(folder) as writer, AuditLog(folder / "audit.jsonl") as audit:
        perception = NamingPerception(writer, memory_file, recogniser)
        if setup.reality is None:
            perception.settings = replace(PerceptionSettings(), frames=1)  # the simulator's pictures have no noise
        model = RobotModel.load(parts.arm)
        arm = RecordedArm(parts.devices.arm, writer, LinkTransforms(model.urdf))
        devices = replace(parts.devices, arm=arm, camera=RecordedCamera(parts.devices.camera, writer))
        robot = make_local_robot(parts.arm, devices, perception=perception, safety=envelope())

        asked: dict[Any, Any] = {}

        def record(event: Mapping[str, Any]) -> None:
            writer.event(event, robot.now())

        def keep(event: Mapping[str, Any]) -> None:
            audit.write("tool_call", dict(event))
            if event.get("event") == "end":
                answer = {name: event.get(name) for name in ("tool", "ok", "code", "message")}
                calls.append({**answer, "arguments": asked.get(event.get("id"), {})})
            elif event.get("arguments"):
                asked[event.get("id")] = event["arguments"]

        try:
            with Memory(memory_file, robot.now) as memory:
                registry = load_tools()[0]
                registry.prepare()
                safety, profile = load_safety(), load_profile(setup.brain)
                with make_session(robot, Belief(memory), registry=registry, audit=keep, events=record) as session:
                    budgets = Budgets(seconds=setup.seconds, tokens=profile.max_total_tokens, cost=profile.max_cost)
                    loop = AgentLoop(
                        make_model(profile), session, replace(budgets, answer_seconds=-1.0), rules=safety.rules, authorisation=safety.authorisation
                    )
                    outcome = loop.run(join_names(parts.instruction, recogniser.names))
                    (folder / "agent.json").write_text(json.dumps(outcome.to_json(), indent=1, default=str))
                    return outcome
        finally:
            looked.extend(perception.first)
            robot.close()
