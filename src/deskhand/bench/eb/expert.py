"""An expert that knows where everything is, in the action space of direct mode: what the space allows, and where its examples come from."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from deskhand.bench.eb.sorting import sorting_plan
from deskhand.errors import DeskhandError
from deskhand.geometry import Array
from deskhand.safety.audit import AuditLog
from deskhand.sim.spec import ObjectSpec, StainSpec, Truth
from deskhand.skills.belief import Belief
from deskhand.tasks.base import Word
from deskhand.tasks.eb_goals import InContainer, InSorter, Wiped
from deskhand.tasks.eb_manipulation import EbSetting, EbTask
from deskhand.tools.base import load_tools, make_session
from deskhand.types.action_cells import CELL, angle_of, cells_of

ABOVE = 10  # cells above an object from which the hand comes down, and to which it lifts
GRIPPED = 0  # cells above its middle at which the sponge is held
RIM = 9  # cell from which an object is let fall into a container
OVER = 20  # cell at which it is carried
CLOSES_ALONG_X = ("triangle_prism",)
"""Shapes that are held between a corner and a side, which lie on their x axis; all others are held along y."""


def expert_plan(setting: EbSetting, truth: Truth) -> list[list[int]]:
    """Eight actions from the truth: over the object, down, close, up, over the target, down, open, up; see also :func:`_wiping_plan`, sorting.py."""
    goal = setting.goal
    if isinstance(goal, Wiped):
        return _wiping_plan(setting, truth, goal.area)
    if isinstance(goal, InSorter):
        item = truth.get(goal.item)
        spec = next(one for one in setting.world.objects if one.name == goal.item)
        return sorting_plan(setting, truth, goal, _yaw(spec, math.atan2(item.pose[1, 0], item.pose[0, 0])))
    into = isinstance(goal, InContainer)
    name, target = (goal.item, goal.container) if isinstance(goal, InContainer) else (goal.top, goal.bottom)
    item, below = truth.get(name), truth.get(target)
    spec = next(one for one in setting.world.objects if one.name == name)
    yaw = _yaw(spec, math.atan2(item.pose[1, 0], item.pose[0, 0]))
    x, y, z = cells_of(item.pose[:3, 3])
    to_x, to_y, _ = cells_of(below.pose[:3, 3])
    higher = float(item.pose[2, 3]) - (z + 0.5) * CELL  # the middle of the object over that of the cell at which it is held
    down = RIM if into else math.ceil((below.pose[2, 3] + below.size[2] / 2 + item.size[2] / 2 - higher) / CELL - 0.5)
    steps = [(x, y, z + ABOVE, 1), (x, y, z, 1), (x, y, z, 0), (x, y, z + ABOVE, 0), (to_x, to_y, OVER, 0), (to_x, to_y, down, 0), (to_x, to_y, down, 1)]
    steps.append((to_x, to_y, OVER, 1))
    return [[at_x, at_y, height, 0, 60, yaw, grip] for at_x, at_y, height, grip in steps]


def _wiping_plan(setting: EbSetting, truth: Truth, area: str) -> list[list[int]]:
    """Nine actions: over the sponge, down, close, up, over one end of the area, down to where it was held, along its axis to the other end, up, open."""
    stain = next(one for one in setting.world.stains if one.name == area)
    middle, ends = _axis(stain)
    sponge = truth.objects[0]
    spec = setting.world.objects[0]
    yaw = _yaw(spec, math.atan2(sponge.pose[1, 0], sponge.pose[0, 0]))
    along = math.atan2(*(ends[1] - middle)[::-1])
    across = angle_of((math.degrees(along) + 180.0) % 180.0 - 90.0)  # the fingers close along the area: what they hold lies across it
    x, y, z = cells_of(sponge.pose[:3, 3])
    z += GRIPPED
    (x1, y1, _), (x2, y2, _) = (cells_of([*end, 0.0]) for end in ends)
    steps = [(x, y, z + ABOVE, yaw, 1), (x, y, z, yaw, 1), (x, y, z, yaw, 0), (x, y, z + ABOVE, yaw, 0), (x1, y1, z + ABOVE, across, 0), (x1, y1, z, across, 0)]
    steps += [(x2, y2, z, across, 0), (x2, y2, z + ABOVE, across, 0)]
    return [[at_x, at_y, height, 0, 60, turn, grip] for at_x, at_y, height, turn, grip in steps]


def _axis(stain: StainSpec) -> tuple[Array, list[Array]]:
    """Middle (2,) and both ends (2,) [m] of the long axis of an area."""
    corners = np.asarray(stain.outline)
    middle = corners.mean(axis=0)
    axis = np.linalg.svd(corners - middle)[2][0]
    along = (corners - middle) @ axis
    return middle, [middle + axis * along.min(), middle + axis * along.max()]


def _yaw(spec: ObjectSpec, turn: float) -> int:
    """The number of the hand's yaw, between -90 and 90 degrees: fingers are alike."""
    degrees = math.degrees(turn) - (90.0 if spec.shape in CLOSES_ALONG_X else 0.0)
    return angle_of((degrees + 90.0) % 180.0 - 90.0)


def run_expert(task: EbTask, seed: int, folder: Path, reality: str = "") -> dict[str, Any]:
    """Let the expert act on the simulated robot; what came of it: score, success, problems, actions made and codes."""
    from deskhand.recording.episode.writer import EpisodeWriter
    from deskhand.sim.reality.file import DEFAULT, load_reality
    from deskhand.sim.reality.world import with_reality
    from deskhand.trials.local import local_robot

    setting = task.setting(seed)
    world = with_reality(setting.world, load_reality(reality or DEFAULT, seed))
    folder.mkdir(parents=True, exist_ok=True)
    codes: list[str] = []
    with EpisodeWriter(folder) as writer, AuditLog(folder / "audit.jsonl"), local_robot(world, writer, folder / "memory.sqlite") as parts:
        parts.wait(1.0)
        start = parts.simulation.truth()
        with make_session(parts.robot, Belief(), registry=load_tools(others=False, baseline=True)[0]) as session:
            plan = expert_plan(setting, start)
            for action in plan:
                result = session.invoke("direct_action", {"action": action})
                if not result.ok:
                    codes.append(result.code)
        parts.wait(task.settle)
        score = task.score(seed, start, parts.simulation.truth(), Word(success=True))
    return {"success": score.success, "score": score.score, "problems": list(score.problems), "calls": len(plan), "codes": codes}


def example(setting: EbSetting, truth: Truth, objects: Mapping[str, list[int]]) -> dict[str, Any]:
    """An episode of the expert as an example for a model; ``objects``: the cells of what is seen of each, by its name in the world."""
    goal = setting.goal
    if isinstance(goal, Wiped | InSorter):
        raise DeskhandError("invalid_input", "areas and holes are no objects of direct mode's list; there are no examples of wiping and sorting.")
    name, target = (goal.item, goal.container) if isinstance(goal, InContainer) else (goal.top, goal.bottom)
    order = sorted(objects, key=lambda one: (objects[one][1], objects[one][0]))
    what, where = order.index(name) + 1, order.index(target) + 1
    verb = "into" if isinstance(goal, InContainer) else "onto"
    called = f"{setting.named[name]} is object {what}, the {setting.named[target]} is object {where}"
    return {
        "task": setting.instruction,
        "objects": [objects[one] for one in order],
        "seen": f"There are {len(order)} objects; the {called}.",
        "why": f"Object {what} has to go {verb} object {where}: grasp it from above, carry it over the target and let it go.",
        "steps": f"Move above object {what}, go down, close, lift, move above object {where}, go down, open, lift.",
        "plan": expert_plan(setting, truth),
    }
