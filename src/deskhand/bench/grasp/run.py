"""The grasp benchmark as a campaign: a scene is a case."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from deskhand.bench.grasp.picks import Bench, PickRecord, bench
from deskhand.bench.grasp.report import summarise as summarise_arm
from deskhand.bench.grasp.subjects import Hardship, hard_world, single_world
from deskhand.errors import DeskhandError
from deskhand.sim.reality.file import load_reality
from deskhand.sim.reality.world import with_reality
from deskhand.sim.spec import WorldSpec
from deskhand.tasks import foreign_objects
from deskhand.tasks.clutter import cluttered_desk
from deskhand.trials.campaigns.campaign import Campaign, Case
from deskhand.types import Scene, SceneObject

MOST_ATTEMPTS = 2.5  # picks an object of a clutter, at most
GIVE_UP = 3  # looks in a row at which nothing can be grasped
TOO_OFTEN = 3  # failures of one object


@dataclass(frozen=True)
class Job:
    """One scene: ``kind`` is ``single`` (``subject`` "" for the next one by seed), ``clutter`` (``count`` objects) or ``explore``.

    Exploring takes random grasps instead of the best, ``count`` of them on one scene of a single subject; the success model is fitted on it.
    ``hard``: heavier, slippery, thin and wide objects, and more noise (subjects.py), so that there are failures to learn from.
    ``foreign``: objects that others made, of this split (tasks/foreign_objects.py), instead of ours; ``reality``: drawn from the seed.
    """

    kind: str
    arm: str
    seed: int
    subject: str = ""
    count: int = 10
    stacked: float = 0.0
    hard: bool = False
    foreign: str = ""
    reality: str = "none"

    @property
    def id(self) -> str:
        """What tells it from others of a campaign."""
        return "/".join(filter(None, (self.arm, self.foreign, self.kind, "hard" if self.hard else "", f"seed_{self.seed}")))

    def world(self) -> tuple[WorldSpec, Hardship | None]:
        """Its desk, and what makes it hard."""
        hardship = None
        if self.kind == "clutter":
            world = _clutter(self)
        elif self.foreign:
            world = foreign_objects.single_world(self.arm, self.seed, self.foreign)
        elif self.hard:
            world, hardship = hard_world(self.arm, self.seed, self.subject)
        else:
            world = single_world(self.arm, self.seed, self.subject)
        return with_reality(world, load_reality(self.reality, self.seed)), hardship


def _clutter(job: Job) -> WorldSpec:
    if job.foreign:
        return foreign_objects.cluttered_world(job.arm, job.seed, job.foreign, job.count)
    return cluttered_desk(job.arm, job.seed, job.count, stacked=job.stacked)


def run_job(job: Job) -> dict[str, Any]:
    """Do one scene; the result is plain data: ``{"job", "picks": […], "objects", "cleared", "all_ms", "wall_s"}``."""
    began = time.perf_counter()
    result: dict[str, Any] = {"job": asdict(job), "objects": 1, "all_ms": None}
    world, hardship = job.world()
    with bench(world, hardship) as desk:
        if job.kind == "clutter":
            picks, cleared, times = clear(desk, job.count)
            result.update(objects=job.count, all_ms=times, cleared=cleared)
        else:
            picks = explore(desk, job.count) if job.kind == "explore" else [single(desk)]
            result["cleared"] = int(any(pick.success for pick in picks))
    return {**result, "picks": [pick.to_json() for pick in picks], "wall_s": round(time.perf_counter() - began, 2)}


def single(desk: Bench) -> PickRecord:
    """Look, pick what can be grasped best, once."""
    scene = desk.of_the_task(desk.context().look())
    item, _ = best_of(desk, scene, {})
    return desk.pick(item) if item else desk.nothing("nothing was seen")


def clear(desk: Bench, count: int) -> tuple[list[PickRecord], int, list[float]]:
    """Pick one object after the other; what is held is taken away, and where no finger fits between what is left, one object is pushed apart.

    Gives the picks, how many objects went, and CPU times [ms] for grasps of the whole desk.
    """
    picks: list[PickRecord] = []
    failures: dict[str, int] = {}
    times: list[float] = []
    cleared = idle = 0
    while len(picks) < MOST_ATTEMPTS * count and idle < GIVE_UP:
        scene = desk.of_the_task(desk.context().look())
        if not scene.objects:
            break
        item, spent = best_of(desk, scene, failures)
        if len(scene.objects) >= count:
            times.append(spent)
        if item is None:
            idle += 1
            failures = dict.fromkeys(failures, 0)
            if not any(desk.push_apart(item.id) for item in scene.objects):
                desk.belief.disturb()
            continue
        pick = desk.pick(item)
        picks.append(pick)
        idle = 0 if pick.tried else idle + 1
        held = desk.in_hand()
        if pick.success or held:
            cleared += len(held)
            for name in held:
                desk.take_away(name)
            failures.clear()
        else:
            failures[item.id] = failures.get(item.id, 0) + 1
    return picks, cleared, times


def best_of(desk: Bench, scene: Scene, failures: dict[str, int]) -> tuple[SceneObject | None, float]:
    """The object whose best grasp is likeliest to succeed, and the CPU time [ms] of looking for all grasps; an object that failed comes later.

    Mugs and bowls are objects too, whatever else can be put in them: no desk of this benchmark has a container for others.
    """
    found: list[tuple[float, SceneObject]] = []
    began = time.thread_time()
    for item in scene.objects:
        if failures.get(item.id, 0) >= TOO_OFTEN:
            continue
        try:
            best = desk.robot.generate_grasps(scene, item.id, 1)[0]
        except DeskhandError as error:
            if error.code != "no_grasp":
                raise
            continue
        found.append((best.score - 0.3 * failures.get(item.id, 0), item))
    spent = 1000 * (time.thread_time() - began)
    if not found:
        return (scene.objects[0] if len(scene.objects) == 1 and not failures else None), spent
    return max(found, key=lambda pair: pair[0])[1], spent


def explore(desk: Bench, count: int) -> list[PickRecord]:
    """Random grasps of one object, each from the same start."""
    scene = desk.context().look()
    item, _ = best_of(desk, scene, {})
    if item is None:
        return []
    start, rng = desk.save(), np.random.default_rng([desk.seed, 5])
    picks = []
    for _ in range(count):
        picks.append(desk.pick(item, rng))
        desk.restore(start)
    return picks


def grasp_campaign(jobs: Sequence[Job], settings: Mapping[str, Any]) -> Campaign:
    """A case for each scene; ``settings`` besides what the jobs say."""
    return Campaign(
        "bench grasp", {**settings, "arms": list(dict.fromkeys(job.arm for job in jobs))}, [Case(job.id, asdict(job)) for job in jobs], run_one, summarise
    )


def run_one(case: Case) -> dict[str, Any]:
    """Do one scene."""
    return run_job(Job(**case.arguments))


def summarise(settings: Mapping[str, Any], results: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """``{"arms": [numbers of each]}``; see docs/grasping.md."""
    by_arm = {arm: [dict(result) for result in results if result["job"]["arm"] == arm] for arm in settings["arms"]}
    return {"arms": [summarise_arm(arm, some) for arm, some in by_arm.items() if some]}
