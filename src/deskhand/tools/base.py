"""All tools of the package, and a session that runs them on a robot."""

from __future__ import annotations

import os
from collections.abc import Collection, Sequence
from dataclasses import replace
from functools import cache
from importlib import import_module
from pathlib import Path

from deskhand.etp.approval import Approval
from deskhand.etp.measurements import Measurements
from deskhand.etp.registry import Registry
from deskhand.etp.session import Guard, Session, Sink, nowhere
from deskhand.etp.tool import Placement, ToolContext, tool_of
from deskhand.llm.config import ModelProfile, load_profile, vision_profile
from deskhand.skills.belief import Belief
from deskhand.skills.robot import Connected, Robot, SensorFeed
from deskhand.tools.carried import WorldCarrier
from deskhand.tools.validated import with_validation
from deskhand.tools.words import installed_model, with_words
from deskhand.world.history.recorder import Memory

MODULES = (
    "perception.detection",
    "perception.words",
    "perception.colors",
    "perception.handles",
    "perception.holes",
    "perception.pegs",
    "perception.stains",
    "perception.segmenting",
    "perception.tracking",
    "perception.boxes",
    "perception.capture",
    "perception.depth",
    "perception.structure",
    "perception.pans",
    "perception.models",
    "perception.locating",
    "perception.places",
    "perception.quality",
    "perception.questions",
    "perception.relations",
    "perception.marking",
    "perception.monitoring",
    "perception.live",
    "perception.fiducials",
    "perception.reading",
    "perception.enhancing",
    "perception.measuring",
    "perception.outlines",
    "perception.surfaces",
    "cognition.correcting",
    "perception.teaching",
    "reasoning.looking",
    "cognition.memory",
    "cognition.recall",
    "cognition.robot_state",
    "cognition.graph",
    "cognition.stability",
    "cognition.mapping",
    "cognition.semantic",
    "cognition.similarity",
    "cognition.motion_state",
    "cognition.targets",
    "cognition.watching",
    "cognition.watches",
    "cognition.contacts",
    "cognition.appearance",
    "reasoning.building",
    "reasoning.demonstrations",
    "reasoning.enabling",
    "reasoning.goals",
    "reasoning.intent",
    "reasoning.costs",
    "reasoning.motion",
    "reasoning.optimisation",
    "reasoning.ordering",
    "reasoning.paths",
    "reasoning.planning",
    "reasoning.verification",
    "reasoning.weighings",
    "reasoning.viewing",
    "reasoning.next_view",
    "execution.cloud_grasps",
    "execution.controllers",
    "execution.forces",
    "execution.grasps",
    "execution.handling",
    "execution.articulated",
    "execution.inserting",
    "execution.kinematics",
    "execution.moving",
    "execution.picking",
    "execution.recovery",
    "execution.rings",
    "execution.sanitizing",
    "execution.servoing",
    "execution.trajectories",
    "execution.weighing",
)
"""Modules of ``deskhand.tools`` whose decorated functions are the tool base."""
BASELINE = ("execution.direct",)
"""Modules of what direct mode needs, the baseline without tools."""


def missing_needs(robot: Robot) -> dict[str, str]:
    """What tools may need and is not there now -> why: a camera, arm or gripper that is not connected, a model that is not configured."""
    missing = dict(robot.missing()) if isinstance(robot, Connected) else {}
    profile = _vision()
    if profile is None:
        missing["model"] = "no vision-language model is configured (vision in config/llm.yaml)"
    elif profile.key_env and not os.environ.get(profile.key_env):
        missing["model"] = f"the environment variable {profile.key_env} with the key of the model {profile.name} is not set"
    return missing


@cache
def _vision() -> ModelProfile | None:
    name = vision_profile()
    return load_profile(name) if name else None


def load_tools(others: bool = True, baseline: bool = False, without: Collection[str] = ()) -> tuple[Registry, list[str]]:
    """The tool base, with ``others`` the tools of other packages, with ``baseline`` the action of direct mode; some of ours may be left out.

    Returns:
        The registry, and one line for each tool of others that was refused.

    Raises:
        DeskhandError: ``unknown_tool`` for one that is left out and is not ours.
    """
    registry = Registry(installed_model)
    unknown = set(without)
    for name in (*MODULES, *(BASELINE if baseline else ())):
        module = import_module(f"deskhand.tools.{name}")
        for item in vars(module).values():
            found = tool_of(item)
            if found is None or item.__module__ != module.__name__:
                continue
            if found.card.name in without:
                unknown.discard(found.card.name)
            else:
                registry.add(replace(found, card=with_words(with_validation(found.card))))
    if unknown:
        registry.get(min(unknown))  # says which tool it may mean
    return registry, registry.load_entry_points() if others else []


def make_session(
    robot: Robot,
    belief: Belief | None = None,
    *,
    memory: Memory | None = None,
    registry: Registry | None = None,
    approval: Approval | None = None,
    guard: Guard | None = None,
    audit: Sink = nowhere,
    events: Sink = nowhere,
    lock_wait: float = 5.0,
    measured: Path | None = None,
    folders: Sequence[Path] = (),
    placed: dict[str, Placement] | None = None,
) -> Session:
    """A session on ``robot``, for a process of one's own (``LocalRobot``) and for the tool server alike.

    ``memory`` is open and stays the caller's; without one, and without a ``belief`` that has one, what happens is remembered as long as the session lives.
    ``folders``: that the operator named, tools read files from there alone. ``measured`` is the file that keeps latency and success of the tools over restarts.
    ``placed``: what tools put down, to be kept by the caller; see ToolContext.
    """
    shared = belief or Belief(memory or Memory(clock=robot.now).open())
    where = {} if placed is None else placed
    feed = SensorFeed(robot)
    carrier = WorldCarrier(robot, shared, where)

    def context() -> ToolContext:
        return ToolContext(robot, shared, placed=where, folders=tuple(folders), feed=feed, carrier=carrier)

    return Session(
        registry or load_tools()[0],
        context,
        approval=approval,
        guard=guard,
        audit=audit,
        events=events,
        lock_wait=lock_wait,
        clock=robot.now,
        missing=lambda: missing_needs(robot),
        measurements=Measurements(measured),
    )
