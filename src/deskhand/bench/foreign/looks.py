"""One object, one object: how often perception takes a foreign object for exactly one, alone on the desk and among others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import cv2
import numpy as np

from deskhand.bench.perception.reliability import reliability, wholes
from deskhand.bench.perception.truth import pixels_of_others
from deskhand.perception.classify import PLAIN
from deskhand.perception.detectors.config import load_detectors
from deskhand.perception.pipeline import Perception
from deskhand.perception.temporal_filter import steady
from deskhand.sim.camera import RgbdRenderer
from deskhand.sim.reality.file import load_reality
from deskhand.sim.reality.world import with_reality
from deskhand.sim.simulation import Simulation
from deskhand.tasks.foreign_objects import catalogue, cluttered_world, kind_of, single_world
from deskhand.trials.campaigns.campaign import Campaign, Case
from deskhand.types import Scene

SEEN = 150  # pixels that must show an object for it to count
OVERLAP = 0.5  # intersection over union from which a segment is the object, as is usual
SETTLED = 1.0  # [s] of simulated time before a look


@dataclass(frozen=True)
class Options:
    """``split``: as :func:`deskhand.tasks.foreign_objects.installed` takes it; ``objects``: on each desk; ``detectors``: file like config/detectors.yaml, which
    is the default; ``failures``: folder for pictures.
    """

    arm: str
    split: str
    looks: int
    objects: int
    seed: int
    reality: str
    detectors: str = ""
    failures: str = ""


def looks_campaign(options: Options) -> Campaign:
    """A case for each desk."""
    common = asdict(options)
    cases = [Case(f"{options.objects}/seed_{options.seed + number}", {**common, "seed": options.seed + number}) for number in range(options.looks)]
    return Campaign("bench foreign looks", {key: value for key, value in common.items() if key != "failures"}, cases, run_one, summarise)


def run_one(case: Case) -> dict[str, Any]:
    """One look: ``{"objects": [row of each], "false": segments that are no object, "missed": …}``."""
    cv2.setNumThreads(1)
    given = Options(**case.arguments)
    alone = given.objects == 1
    world = single_world(given.arm, given.seed, given.split) if alone else cluttered_world(given.arm, given.seed, given.split, given.objects)
    simulation = Simulation(with_reality(world, load_reality(given.reality, given.seed)))
    simulation.step(SETTLED)
    perception = Perception(detectors=load_detectors(given.detectors or None))
    with RgbdRenderer(simulation) as renderer:
        frames = [renderer.render() for _ in range(perception.settings.frames)]
        owners, others = renderer.render_owners(), pixels_of_others(simulation, renderer)
    scene = perception.detect(steady(frames), simulation.built.robot, simulation.joint_state())
    names = [item.name for item in world.objects]
    rows, false = compared(owners.reshape(-1), names, scene, perception.pixels, others.reshape(-1))
    whole = wholes(owners.reshape(-1), perception.pixels, others.reshape(-1))
    sizes = {item.name: item.size for item in simulation.truth().objects}
    for row in rows:
        if row["one"]:
            row["size_error"] = float(np.abs(np.sort(sizes[row["name"]]) - np.sort(row["size"])).max())
    result = {
        "seed": given.seed,
        "objects": rows,
        "false": false,
        "whole": [[item.confidence, one] for item, one in zip(scene.objects, whole, strict=True) if one is not None],
        "success": all(row["one"] for row in rows),
    }
    if given.failures and not (result["success"] and not false):
        folder = Path(given.failures)
        folder.mkdir(parents=True, exist_ok=True)
        cv2.imwrite(str(folder / f"{given.objects}_{given.seed}.png"), perception.annotated(scene)[..., ::-1])
    return result


def compared(owners: Any, names: Sequence[str], scene: Scene, pixels: Sequence[Any], others: Any) -> tuple[list[dict[str, Any]], int]:
    """A row for each object that is seen, and how many segments are none; ``owners`` (N,) says whose each pixel is."""
    rows, owned = [], []
    for found in pixels:
        count = np.bincount(owners[found] + 1, minlength=len(names) + 1)[1:] if len(found) else np.zeros(len(names))
        owned.append(int(count.argmax()) if len(names) and count.max() > 0.5 * len(found) else -1)
    for number, name in enumerate(names):
        mine = np.flatnonzero(owners == number)
        if len(mine) < SEEN:
            continue
        parts = [index for index, owner in enumerate(owned) if owner == number]
        overlap = [len(np.intersect1d(pixels[index], mine)) / len(np.union1d(pixels[index], mine)) for index in range(len(pixels))]
        best = int(np.argmax(overlap)) if overlap else -1
        one = len(parts) == 1 and overlap[parts[0]] >= OVERLAP
        row: dict[str, Any] = {"name": name, "kind": kind_of(name), "pixels": len(mine), "one": one, "parts": len(parts)}
        if best >= 0 and overlap[best] >= 0.2:
            item = scene.objects[best]
            told = [[candidate.name, round(candidate.probability, 3)] for candidate in item.names]
            row["right"] = item.label in catalogue()[row["kind"]].called
            row |= {"overlap": round(overlap[best], 3), "label": item.label, "confidence": item.confidence, "named": item.named}
            row |= {"names": told, "size": list(map(float, item.size)), "source": item.label_source}
        rows.append(row)
    false = sum(owner < 0 and not bool(others[found].mean() > 0.5) for owner, found in zip(owned, pixels, strict=True) if len(found))
    return rows, false


def by_kind(rows: Sequence[Mapping[str, Any]], good: str) -> dict[str, dict[str, int]]:
    """``{kind: {"looks", good}}``: how many rows each has, and how many of those are ``good``."""
    kinds: dict[str, dict[str, int]] = {}
    for row in rows:
        entry = kinds.setdefault(row["kind"], {"looks": 0, good: 0})
        entry["looks"] += 1
        entry[good] += row[good]
    return dict(sorted(kinds.items()))


def summarise(settings: Mapping[str, Any], results: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """``{…settings, "objects", "one", "share", "split", "missed", "loose", "false", "size_mm", "label", "reliability", "whole",
    "kinds": {kind: {"looks", "one"}}}``; ``label``: how many of the objects taken for one have a label that is right, that is a plain word for a shape, that
    is wrong; ``reliability`` of the labels but those words, ``whole``: of the confidence that something is one whole object.
    """
    rows = [row for result in results for row in result["objects"]]
    found = [row for row in rows if row["one"]]
    label = Counter("right" if row["right"] else "modest" if row["label"] in PLAIN else "wrong" for row in found)
    named = [row for row in found if row["label"] not in PLAIN]
    errors = sorted(row["size_error"] for row in rows if row["one"])
    return {
        **settings,
        "objects": len(rows),
        "one": sum(row["one"] for row in rows),
        "share": sum(row["one"] for row in rows) / len(rows) if rows else None,
        "split": sum(row["parts"] > 1 for row in rows),
        "missed": sum(row["parts"] == 0 for row in rows),
        "loose": sum(row["parts"] == 1 and not row["one"] for row in rows),
        "false": sum(result["false"] for result in results),
        "size_mm": {"median": round(1000 * errors[len(errors) // 2], 1), "p95": round(1000 * errors[int(0.95 * (len(errors) - 1))], 1)} if errors else None,
        "label": {name: label[name] for name in ("right", "modest", "wrong")},
        "reliability": reliability([(row["named"], row["right"]) for row in named]),
        "whole": reliability([(sure, one) for result in results for sure, one in result.get("whole", ())]),
        "kinds": by_kind(rows, "one"),
    }
