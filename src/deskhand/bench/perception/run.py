"""The perception benchmark as a campaign: desks, looks, noise; numbers as plain data."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import cv2
import numpy as np

from deskhand.bench.perception.measure import compare, match
from deskhand.bench.perception.reliability import reliability, wholes
from deskhand.bench.perception.scenes import CLUTTER, make_scene
from deskhand.bench.perception.truth import SeenTruth, pixels_of_others, seen_truth
from deskhand.errors import DeskhandError
from deskhand.perception.classify import UNKNOWN
from deskhand.perception.pipeline import Perception
from deskhand.perception.temporal_filter import steady
from deskhand.sim.camera import RgbdRenderer
from deskhand.sim.reality.file import load_reality
from deskhand.sim.reality.world import with_reality
from deskhand.sim.sensor import DepthSensor
from deskhand.sim.simulation import Simulation
from deskhand.sim.spec import CONTAINER_KINDS, ObjectSpec, WorldSpec
from deskhand.trials.campaigns.campaign import Campaign, Case
from deskhand.types import Scene

WAYS = (*CLUTTER, "built")


@dataclass(frozen=True)
class Options:
    """What is measured.

    Attributes:
        scenes: cluttered desks at the default noise, shared out over the ways of being cluttered; of built objects a quarter as many more.
        looks: pictures of each desk; before the last one something is moved.
        noise_scenes: cluttered desks at each level of noise and of holes.
        failures: folder for pictures of the looks where something is wrong.
        reality: how the desks differ from ideal ones: a name in config/reality or a YAML file, drawn anew from the seed of each desk.
    """

    arm: str = "wx250s"
    scenes: int = 200
    noise_scenes: int = 24
    looks: int = 3
    seed: int = 0
    failures: Path | None = None
    reality: str = "none"


@dataclass(frozen=True)
class Level:
    """``noise`` times the sensor's own, ``holes``: share of the depth that is lost at random."""

    noise: float = 1.0
    holes: float = DepthSensor.dropout

    @property
    def sensor(self) -> DepthSensor:
        """The sensor at this level."""
        default = DepthSensor()
        return replace(default, noise=default.noise * self.noise, dropout=self.holes)


LEVELS = tuple(Level(noise=noise) for noise in (1.5, 2.0, 3.0)) + tuple(Level(holes=holes) for holes in (0.05, 0.10, 0.20))


def perception_campaign(options: Options) -> Campaign:
    """A case for each desk at each level of noise."""
    common = {"arm": options.arm, "failures": str(options.failures.resolve()) if options.failures else "", "reality": options.reality}
    each = -(-options.scenes // len(CLUTTER))
    cases = [
        Case(f"{way}/seed_{options.seed + number}", {**common, "way": way, "seed": options.seed + number, "looks": options.looks, **asdict(Level())})
        for number in range(each)
        for way in WAYS
    ]
    for level in LEVELS if options.noise_scenes else ():
        for number in range(options.noise_scenes):
            way, seed = list(CLUTTER)[number % len(CLUTTER)], options.seed + number
            cases.append(
                Case(f"noise_{level.noise:g}_holes_{level.holes:g}/{way}/seed_{seed}", {**common, "way": way, "seed": seed, "looks": 1, **asdict(level)})
            )
    settings = {"arm": options.arm, "seed": options.seed, "scenes": each * len(CLUTTER), "noise_scenes": options.noise_scenes, "looks": options.looks}
    settings["reality"] = options.reality
    return Campaign("bench perception", settings, cases, run_one, summarise)


def run_one(case: Case) -> dict[str, Any]:
    """The looks at one desk: ``{"noise", "holes", "way", "looks": […]}``."""
    cv2.setNumThreads(1)  # processor time of one core
    given = case.arguments
    level = Level(given["noise"], given["holes"])
    failures = Path(given["failures"]) if given["failures"] else None
    looks = list(_looks(given["way"], given["arm"], given["seed"], level, given["looks"], failures, given["reality"]))
    return {**asdict(level), "way": given["way"], "looks": looks}


def summarise(settings: Mapping[str, Any], results: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """All numbers; see docs/perception.md for the schema."""

    def looks_at(level: Level, ways: Sequence[str]) -> list[dict[str, Any]]:
        return [look for each in results if (each["noise"], each["holes"]) == (level.noise, level.holes) and each["way"] in ways for look in each["looks"]]

    found: dict[str, Any] = {name: settings[name] for name in ("arm", "seed", "scenes", "reality")}
    found["clutter"] = summary(looks_at(Level(), tuple(CLUTTER)))
    found["ways"] = {way: summary(looks_at(Level(), (way,))) for way in WAYS}
    found["levels"] = [asdict(level) | summary(looks_at(level, WAYS)) for level in (LEVELS if settings["noise_scenes"] else ())]
    return found


def _looks(way: str, arm: str, seed: int, level: Level, count: int, failures: Path | None, reality: str) -> Iterator[dict[str, Any]]:
    """One desk, looked at ``count`` times; before the last of several looks one object is moved."""
    world = with_reality(make_scene(way, arm, seed), load_reality(reality, seed))
    perception = Perception()
    known: dict[str, str] = {}
    for turn in range(count):
        moved = turn > 0 and turn == count - 1
        simulation = Simulation(_with_one_moved(world, seed) if moved else world)
        with RgbdRenderer(simulation, level.sensor) as renderer:
            for _ in range(turn * perception.settings.frames):
                renderer.render()  # other noise in each look
            frames = [renderer.render() for _ in range(perception.settings.frames)]
            truth = seen_truth(simulation, renderer, frames[-1])
            others, owners = pixels_of_others(simulation, renderer), renderer.render_owners()
        joints = simulation.joint_state()
        begun = time.process_time()
        scene = perception.detect(steady(frames), simulation.built.robot, joints)
        spent = time.process_time() - begun
        rows, false = compare(scene, truth)
        matched = set(match(scene, truth).values())
        false -= sum(number not in matched and bool(others.reshape(-1)[pixels].mean() > 0.5) for number, pixels in enumerate(perception.pixels))
        kept, asked = _kept(known, scene, truth)
        look = {"way": way, "seed": seed, "turn": turn, "cpu_ms": 1000 * spent, "false": false, "objects": rows}
        whole = wholes(owners.reshape(-1), perception.pixels, others.reshape(-1))
        look |= {"ids_kept": kept, "ids_asked": asked}
        look["whole"] = [[item.confidence, one] for item, one in zip(scene.objects, whole, strict=True) if one is not None]
        if failures is not None:
            _keep_picture(failures, look, perception, scene)
        yield look


def _kept(known: dict[str, str], scene: Scene, truth: list[SeenTruth]) -> tuple[int, int]:
    """Of the objects that were known before, how many still have their id; ``known`` is brought up to date."""
    ids = {truth[i].item.name: scene.objects[j].id for i, j in match(scene, truth).items()}
    again = [name for name in ids if name in known]
    kept = sum(known[name] == ids[name] for name in again)
    known.update(ids)
    return kept, len(again)


def _with_one_moved(world: WorldSpec, seed: int) -> WorldSpec:
    """The desk after somebody has shifted one object that carries nothing by 3 to 6 cm, where there is room."""
    random = np.random.default_rng([seed, 7])
    for number in random.permutation(len(world.objects)):
        item = world.objects[number]
        if item.kind in CONTAINER_KINDS or abs(item.pose[2, 3] - np.abs(item.pose[2, :3]) @ np.asarray(item.size) / 2) > 0.004:
            continue
        for _ in range(12):
            angle, far = random.uniform(-np.pi, np.pi), random.uniform(0.03, 0.06)
            pose = item.pose.copy()
            pose[:2, 3] += far * np.array([np.cos(angle), np.sin(angle)])
            others = [other for other in world.objects if other is not item]
            away = [np.linalg.norm(other.pose[:2, 3] - pose[:2, 3]) - _reach(other) - _reach(item) for other in others]
            near = [np.linalg.norm(other.pose[:2, 3] - item.pose[:2, 3]) < 0.02 for other in others]
            if min(away, default=1.0) > 0.002 and not any(near):
                return replace(world, objects=tuple(replace(one, pose=pose) if one is item else one for one in world.objects))
    return world


def _reach(item: ObjectSpec) -> float:
    """How far [m] an object may reach from its middle, whichever of its sides is down."""
    return float(np.linalg.norm(sorted(item.size)[1:]) / 2)


def _keep_picture(folder: Path, look: dict[str, Any], perception: Perception, scene: Scene) -> None:
    wrong = [row for row in look["objects"] if not row["found"] or row["position_error"] > 0.008 or row["size_error"] > 0.006 or not row["label_right"]]
    if not wrong and not look["false"]:
        return
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{look['way'].replace(' ', '_')}_{look['seed']}_{look['turn']}.png"
    if not cv2.imwrite(str(path), perception.annotated(scene)[..., ::-1]):
        raise DeskhandError("invalid_input", f"{path} cannot be written.")


def summary(looks: list[dict[str, Any]]) -> dict[str, Any]:
    """Shares and quantiles over looks; lengths [mm], angles [deg], time [ms]. A share of nothing is None."""
    rows = [row for look in looks for row in look["objects"]]
    found = [row for row in rows if row["found"]]
    false = sum(look["false"] for look in looks)

    def share(count: float, of: float) -> float | None:
        return round(count / of, 4) if of else None

    def quantiles(values: list[float], scale: float) -> dict[str, float | None]:
        names = {"median": 0.5, "p95": 0.95, "p99": 0.99}
        return {name: round(float(np.quantile(values, q)) * scale, 2) if values else None for name, q in names.items()}

    return {
        "looks": len(looks),
        "objects": len(rows),
        "recall": share(len(found), len(rows)),
        "precision": share(len(found), len(found) + false),
        "position_mm": quantiles([row["position_error"] for row in found], 1000),
        "size_mm": quantiles([row["size_error"] for row in found], 1000),
        "size_seen_mm": quantiles([row["size_error"] for row in found if not row["guessed"]], 1000),
        "guessed": share(sum(row["guessed"] for row in found), len(found)),
        "angle_deg": quantiles([row["angle_error"] for row in found], 180 / np.pi),
        "label": share(sum(row["label_right"] for row in found), len(found)),
        "reliability": reliability([(row["named"], row["label_right"]) for row in found if row["label"] != UNKNOWN]),
        "whole": reliability([(sure, one) for look in looks for sure, one in look.get("whole", ())]),
        "color": share(sum(row["color_right"] for row in found), len(found)),
        "support": share(sum(row["support_right"] for row in found), len(found)),
        "ids_kept": share(sum(look["ids_kept"] for look in looks), sum(look["ids_asked"] for look in looks)),
        "cpu_ms": quantiles([look["cpu_ms"] for look in looks], 1),
    }
