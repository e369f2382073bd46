"""A case of the free instructions on a desk of symbols: the same words and checks as in physics, in milliseconds."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from deskhand.agent.loop import AgentLoop
from deskhand.agent.records import Budgets, Step
from deskhand.etp.base import ToolResult
from deskhand.offline.model import OfflineModel
from deskhand.sim.spec import CONTAINER_KINDS, Truth, TruthObject
from deskhand.tasks.base import Score, Word
from deskhand.tasks.free_instructions import Case, FreeInstructions
from deskhand.tasks.placement import where_is
from deskhand.testing.symbolic_desk import SymbolicDesk
from deskhand.trials.base import Progress
from deskhand.trials.person import Person

SHAPES = {"ball": "sphere", "cup": "cylinder", "can": "cylinder", "pen": "cylinder", "marker": "cylinder"}
TOO_BIG, TOO_FAR = 0.049, 0.5
"""[m] that the gripper opens, and that the arm reaches."""


class FreeDesk(SymbolicDesk):
    """The objects of a case, numbered by kind; ``names`` are those of the scorer."""

    def __init__(self, case: Case) -> None:
        self.case = case
        self.start = Truth(0.0, tuple(TruthObject(item.name, item.kind, item.size, item.pose) for item in case.world.objects))
        walls = {item.name: (self.start.get(item.name), item.wall) for item in case.world.objects if item.kind in CONTAINER_KINDS}
        self.names: dict[str, str] = {}
        objects: list[dict[str, Any]] = []
        numbers: dict[str, int] = {}
        ids: dict[str, str] = {}
        for item in case.world.objects:
            numbers[item.kind] = numbers.get(item.kind, 0) + 1
            ids[item.name] = f"{item.kind}_{numbers[item.kind]}"
        for item in case.world.objects:
            where = where_is(self.start.get(item.name), {name: wall for name, wall in walls.items() if name != item.name}, ())
            size = np.sort(item.size)[::-1] if item.kind in ("pen", "marker") else np.asarray(item.size)
            self.names[ids[item.name]] = item.name
            objects.append(
                {
                    "id": ids[item.name],
                    "label": item.kind,
                    "color": case.colors[item.name],
                    "shape": SHAPES.get(item.kind, "box"),
                    "size": [float(edge) for edge in size],
                    "position": [float(value) for value in item.pose[:3, 3]],
                    "yaw": 0.0,
                    "is_container": item.kind in CONTAINER_KINDS,
                    "support": ids.get(where, "table"),
                    "relation": "in" if where in ids else "on",
                    "confidence": 0.9,
                }
            )
        super().__init__(*objects)

    def _pick(self, object_id: str) -> ToolResult:
        item = self.objects.get(object_id)
        if item is not None and np.hypot(item["position"][0] + 0.3, item["position"][1]) > TOO_FAR:
            return ToolResult("no_grasp", f"{object_id} is out of reach.")
        if item is not None and min(item["size"]) > TOO_BIG:
            return ToolResult("no_grasp", f"{object_id} is too wide for the fingers.")
        return super()._pick(object_id)

    def truth(self) -> Truth:
        """As the simulation would tell it."""
        objects = []
        for name, item in self.objects.items():
            before = self.start.get(self.names[name])
            pose = before.pose.copy()
            pose[:2, 3] = item["position"][:2]
            if item["support"] not in ("table", "gripper"):
                below = self.objects[item["support"]]
                height = below["size"][2] if item["relation"] == "on" else 0.004
                pose[2, 3] = below["position"][2] - below["size"][2] / 2 + height + min(item["size"][2], before.size[2]) / 2
                pose[:3, :3] = before.pose[:3, :3]
            objects.append(replace(before, pose=pose))
        return Truth(1.0, tuple(objects), (self.names[self.holding],) if self.holding else ())


def run_case(seed: int) -> tuple[Score, Word, FreeDesk]:
    """One seed of the task with the offline brain, and what came of it."""
    task = FreeInstructions()
    desk = FreeDesk(task.setting(seed))
    person = Person(task.remarks(seed))
    person.truth = desk.truth

    def report(step: Step) -> None:
        person.hears(Progress(step.index, step.tool, step.text, step.question if not step.finished else "", step.options, step.finished and step.ok))

    loop = AgentLoop(OfflineModel(), desk, Budgets(answer_seconds=0.2), report, inbox=person if person.speaks else None)
    for said in task.instructions(seed):
        person.next_task()
        outcome = loop.run(said)
    word = Word(outcome.success, outcome.code, outcome.summary, person.questions, person.held_then)
    return task.score(seed, desk.start, desk.truth(), word), word, desk
