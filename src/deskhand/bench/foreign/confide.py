"""Fits ``config/whole_object.yaml``: how likely what a look takes for one object is one whole one, from looks whose truth is known."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from deskhand.bench.foreign.looks import SETTLED
from deskhand.bench.foreign.weigh import WAYS, Owners, fitted
from deskhand.bench.frames.labelled import labelled_frames
from deskhand.bench.frames.plane import PlaneSettings, find_region
from deskhand.bench.perception.reliability import reliability, wholes
from deskhand.bench.perception.scenes import make_scene
from deskhand.bench.perception.truth import pixels_of_others
from deskhand.errors import DeskhandError
from deskhand.geometry import Array
from deskhand.perception.pipeline import Perception
from deskhand.perception.temporal_filter import steady
from deskhand.perception.wholeness import FEATURES, WholeModel
from deskhand.sim.camera import RgbdRenderer
from deskhand.sim.reality.file import load_reality
from deskhand.sim.reality.world import with_reality
from deskhand.sim.simulation import Simulation
from deskhand.sim.spec import WorldSpec
from deskhand.tasks.foreign_objects import cluttered_world, heaped_world, single_world
from deskhand.types import Frame

CROWD = 6  # objects among others, and in a heap
FOLDS = 5


@dataclass(frozen=True)
class Options:
    """How many looks: at bodies of split ``wide`` alone, among others, in heaps; at our own desks of each way; ``frames``: folder of labelled pictures."""

    looks: int = 156
    crowds: int = 16
    heaps: int = 12
    desks: int = 12
    frames: str = ""
    seed: int = 0
    reality: str = "mild"
    ridge: float = 10.0


def confide(options: Options, file: Path, told: Callable[[str], None]) -> dict[str, Any]:
    """Write the model; how well probabilities hold for looks that each was left out of, as ``reliability`` tells it.

    Raises:
        DeskhandError: ``missing_dependency`` when bodies are not installed, ``invalid_input`` where all objects that were seen are whole, or none.
    """
    features, right, looks = [], [], []
    for name, rows, whole in _looks(options, told):
        features.append(rows)
        right += whole
        looks += [name] * len(whole)
    rows, target = np.concatenate(features), np.array(right, bool)
    if len(set(right)) < 2:
        raise DeskhandError("invalid_input", f"the {len(right)} objects that were seen are not of both kinds.", hint="Ask for more looks.")
    held = held_out(rows, target, looks, options)
    weights, bias = fitted(rows, target, options.ridge)
    file.write_text(written(options, WholeModel(weights, bias), target, held))
    return held


def held_out(rows: Array, target: npt.NDArray[np.bool_], looks: Sequence[str], options: Options) -> dict[str, Any]:
    """How well probabilities hold where the looks are left out of the fit, a fifth at a time."""
    names = sorted(set(looks))
    fold = dict(zip(names, np.random.default_rng(options.seed).permutation(len(names)) % FOLDS, strict=True))
    number, chance = np.array([fold[look] for look in looks]), np.zeros(len(rows))
    for left in range(FOLDS):
        out = number == left
        if out.any() and len(set(target[~out].tolist())) == 2:
            chance[out] = WholeModel(*fitted(rows[~out], target[~out], options.ridge)).probability(rows[out])
    return reliability(list(zip(chance.tolist(), target.tolist(), strict=True)))


def _looks(options: Options, told: Callable[[str], None]) -> Iterator[tuple[str, Array, list[bool]]]:
    """(name of the look, features of each object, whether it is whole)."""
    for name, world in _worlds(options):
        told(name)
        simulation = Simulation(with_reality(world, load_reality(options.reality, world.seed)))
        simulation.step(SETTLED)
        perception = Perception(detectors=())
        with RgbdRenderer(simulation) as renderer:
            frames = [renderer.render() for _ in range(perception.settings.frames)]
            owners, others = renderer.render_owners().reshape(-1).astype(np.int64), pixels_of_others(simulation, renderer).reshape(-1)
        perception.detect(steady(frames), simulation.built.robot, simulation.joint_state())
        yield name, *noted(perception, owners, others)
    for frame in labelled_frames(Path(options.frames)) if options.frames else ():
        told(frame.name)
        region = find_region(frame.depth, frame.intrinsics, PlaneSettings())
        perception = Perception(detectors=())
        depth = np.where(region.inside, frame.depth, np.nan).astype(np.float32)
        perception.detect(Frame(frame.color, depth, frame.intrinsics, region.world_T_camera, frame.stamp))
        if frame.labels is not None:
            yield f"frame {frame.name}", *noted(perception, frame.labels.reshape(-1).astype(np.int64) - 1, ~region.inside.reshape(-1))


def noted(perception: Perception, owners: Owners, others: npt.NDArray[np.bool_]) -> tuple[Array, list[bool]]:
    """Features of the objects of the last look and whether they are whole, but for what nobody asked for (``others``)."""
    whole = wholes(owners, perception.pixels, others)
    return perception.features[[one is not None for one in whole]], [one for one in whole if one is not None]


def _worlds(options: Options) -> Iterator[tuple[str, WorldSpec]]:
    seeds = range(options.seed, options.seed + max(options.looks, options.crowds, options.heaps, options.desks))
    yield from ((f"look {seed}", single_world("panda", seed, "wide")) for seed in seeds[: options.looks])
    yield from ((f"crowd {seed}", cluttered_world("panda", seed, "wide", CROWD)) for seed in seeds[: options.crowds])
    yield from ((f"heap {seed}", heaped_world("panda", seed, "wide", CROWD - 1)) for seed in seeds[: options.heaps])
    yield from ((f"desk {seed}, {way}", make_scene(way, "wx250s", seed)) for seed in seeds[: options.desks] for way in WAYS)


def written(options: Options, model: WholeModel, target: npt.NDArray[np.bool_], held: Mapping[str, Any]) -> str:
    """The file."""
    seen = f"{options.looks} bodies of split wide alone, {options.crowds} desks and {options.heaps} heaps of them, {len(WAYS) * options.desks} of our own desks"
    lines = [
        "# How likely what a look takes for one object is one whole one (perception/wholeness.py), by `deskhand bench foreign confide`:",
        f"# a logistic model with a ridge of {options.ridge:g} of {len(target)} objects ({int(target.sum())} whole) seen in looks at",
        f"# {seen} under `{options.reality}`{', and labelled pictures' if options.frames else ''}.",
        f"# Expected calibration error of looks left out of the fit, a fifth at a time: {held['ece']}.",
        f"bias: {model.bias:.4f}",
        "weights:",
        *(f"  {name}: {weight:.4f}" for name, weight in zip(FEATURES, model.weights, strict=True)),
    ]
    return "\n".join(lines) + "\n"
