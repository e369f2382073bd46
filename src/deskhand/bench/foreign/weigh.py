"""Fits the weights of ``config/one_object.yaml`` to looks at bodies alone, in heaps and on cluttered desks: which pairs of segments are of one object."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

import numpy as np
import numpy.typing as npt

from deskhand.bench.foreign.looks import SETTLED
from deskhand.bench.frames.labelled import labelled_frames
from deskhand.bench.frames.measure import TABLE
from deskhand.bench.frames.plane import PlaneSettings, find_region
from deskhand.bench.perception.scenes import make_scene
from deskhand.errors import DeskhandError
from deskhand.geometry import Array
from deskhand.perception.fit.one_object import expanded
from deskhand.perception.fit.pair_evidence import NAMES, Inside, evidence, piece_of
from deskhand.perception.fit.solids import SolidFits
from deskhand.perception.pipeline import Perception
from deskhand.perception.segment.segmentation import Segment
from deskhand.perception.segment.settings import SegmentSettings
from deskhand.perception.segment.shape import voxel_edge
from deskhand.perception.taught.joining import Memo
from deskhand.perception.temporal_filter import steady
from deskhand.perception.view import View
from deskhand.sim.camera import RgbdRenderer
from deskhand.sim.reality.file import load_reality
from deskhand.sim.reality.world import with_reality
from deskhand.sim.simulation import Simulation
from deskhand.sim.spec import WorldSpec
from deskhand.tasks.desk_cleaning_foreign import full_container
from deskhand.tasks.foreign_objects import heaped_world, single_world
from deskhand.types import Frame
from deskhand.types.yaml_file import read_yaml

KNOTS: Mapping[str, tuple[float, ...]] = {
    "bend": (0.3, 0.8),
    "contact": (0.5,),
    "color": (0.03, 0.1),
    "foot": (1.0,),
    "light": (0.2,),
    "meets": (0.3, 0.7),
    "gap": (0.1,),
    "ratio": (0.5,),
    "error_both": (1.6, 3.0),
}
"""Where a feature may begin to count more, or less."""
PURE = 0.85  # share of a segment that must be of one object for a pair to tell anything
HEAP = 5  # objects in a heap
WAYS = ("touching", "stacked", "in containers", "built", "full")
PICTURED = 3.0  # times that a pair of real frames counts: they are few
Owners = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Options:
    """What the weights are fitted to, and how.

    Attributes:
        looks: at bodies of split ``wide``, each alone.
        heaps: of :data:`HEAP` such bodies.
        trays: full of such bodies.
        desks: of each of :data:`WAYS`.
        seed: of the first look, heap and desk.
        reality: of all of them.
        frames: folders of labelled frames besides, see docs/perception.md.
        base: model whose weights stay what they are: only those of evidence that it does not know are fitted.
        kept: file (.npz) that keeps the pairs of these looks; where it is there, nothing is looked at again.
        joined, odd: see PairModel.
        ridge: of the fit.
    """

    looks: int = 161
    heaps: int = 60
    trays: int = 60
    desks: int = 25
    seed: int = 0
    reality: str = "mild"
    frames: tuple[Path, ...] = ()
    base: Path | None = None
    kept: Path | None = None
    joined: float = 0.85
    odd: float = 1.5
    ridge: float = 2.0


@dataclass(frozen=True)
class Pairs:
    """Pairs of segments that touch: ``features`` (N, len(NAMES)), ``same`` (N,) whether they are of one object, ``counts`` (N,) how much each counts."""

    features: Array
    same: Flags
    counts: Array


class PairWatcher(Perception):
    """Notes every pair of segments that touch, with whether both are of one object, and looks no further.

    Attributes:
        owners: number (N,) of the object that each pixel of the next frame shows, -1 for none.
        pairs: (features, whether of one object) of all that were seen.
    """

    def __init__(self) -> None:
        super().__init__(detectors=())
        self.owners: Owners = np.zeros(0, np.int64)
        self.pairs: list[tuple[Array, bool]] = []

    def _one(self, view: View, fits: SolidFits, segments: list[Segment], inside: Inside, memo: Memo) -> list[Segment]:
        edge = voxel_edge(view, SegmentSettings())
        pieces = [piece_of(view, item, edge, inside(item)) for item in segments]
        whose = [self._owner(view, item) for item in segments]
        for i, j in combinations(range(len(segments)), 2):
            one, other = pieces[i], pieces[j]
            if one is not None and other is not None and min(whose[i], whose[j]) >= 0:
                features = evidence(view, fits, one, other)
                if features is not None:
                    self.pairs.append((features, whose[i] == whose[j]))
        return []

    def _owner(self, view: View, item: Segment) -> int:
        """Number of the object that nearly all of a segment shows, -1 where there is none."""
        count = np.bincount(self.owners[view.in_picture(item.pixels)] + 1)
        best = int(count.argmax())
        return best - 1 if count[best] >= PURE * count.sum() else -1


def weigh(options: Options, file: Path, told: Callable[[str], None]) -> int:
    """Write the weights; gives how many pairs they were fitted to.

    Raises:
        DeskhandError: ``missing_dependency`` when bodies are not installed, ``invalid_input`` where the looks show no pairs of both kinds, or a folder no
            labelled frames.
    """
    pairs = pairs_seen(options, told)
    file.write_text(written(options, *weights_of(options, pairs)))
    return int(_asked(options, pairs).sum())


def pairs_seen(options: Options, told: Callable[[str], None]) -> Pairs:
    """All pairs of segments that touch in the looks, heaps, trays, desks and frames. Raises as :func:`weigh`."""
    asked = f"{options.looks} {options.heaps} {options.trays} {options.desks} {options.seed} {options.reality} {' '.join(map(str, options.frames))} {NAMES}"
    if options.kept is not None and options.kept.is_file():
        with np.load(options.kept) as data:
            if str(data["asked"]) != asked:
                raise DeskhandError("invalid_input", f"{options.kept} holds the pairs of other looks.", hint="Name another file, or remove it.")
            return Pairs(data["features"], data["same"], data["counts"])
    rows = [(*pair, 1.0) for name, world in _worlds(options) for pair in _of_world(name, world, options, told)]
    rows += [(*pair, PICTURED) for folder in options.frames for pair in _of_folder(folder, told)]
    features = np.array([row[0] for row in rows]).reshape(-1, len(NAMES))
    pairs = Pairs(features, np.array([row[1] for row in rows], bool), np.array([row[2] for row in rows]))
    if options.kept is not None:
        np.savez_compressed(options.kept, asked=asked, features=pairs.features, same=pairs.same, counts=pairs.counts)
    return pairs


def weights_of(options: Options, pairs: Pairs) -> tuple[Array, float, int]:
    """Weights, bias, and how many pairs they were fitted to. Raises ``invalid_input`` where the pairs are not of both kinds."""
    odd = _asked(options, pairs)
    if len(set(pairs.same[odd].tolist())) < 2:
        raise DeskhandError("invalid_input", f"{int(odd.sum())} pairs are not of both kinds.", hint="Ask for more looks, heaps and desks.")
    knots = [(NAMES.index(name), value) for name, values in KNOTS.items() for value in values]
    rows, same, counts = expanded(pairs.features[odd], knots), pairs.same[odd], pairs.counts[odd]
    if options.base is None:
        return *fitted(rows, same, options.ridge, counts), int(odd.sum())
    known, bias = _known(options.base)
    new = np.isnan(known)
    weights = np.where(new, 0.0, known)
    if new.any():
        weights[new] = fitted_beside(rows[:, new], same, options.ridge, counts, rows @ weights + bias)
    return weights, bias, int(odd.sum())


def _known(file: Path) -> tuple[Array, float]:
    """Weights of a model, NaN where it has none, and its bias. Raises ``invalid_input`` where it is none, or has other knots."""
    try:
        data = read_yaml(file)
        if {name: tuple(values) for name, values in data["knots"].items()} != dict(KNOTS):
            raise ValueError("its knots are others")
        weights = [float(data["weights"].get(name, np.nan)) for name in NAMES] + [float(value) for name in KNOTS for value in data["beyond"][name]]
        return np.array(weights), float(data["bias"])
    except (OSError, KeyError, TypeError, ValueError, AttributeError) as error:
        raise DeskhandError("invalid_input", f"{file} is no model to go on from: {error!r}.") from error


def _asked(options: Options, pairs: Pairs) -> Flags:
    """Which pairs (N,) the model will be asked about."""
    return np.asarray(pairs.features[:, NAMES.index("odder")] > options.odd)


def _of_world(name: str, world: WorldSpec, options: Options, told: Callable[[str], None]) -> list[tuple[Array, bool]]:
    told(name)
    simulation = Simulation(with_reality(world, load_reality(options.reality, world.seed)))
    simulation.step(SETTLED)
    perception = PairWatcher()
    with RgbdRenderer(simulation) as renderer:
        frames = [renderer.render() for _ in range(perception.settings.frames)]
        perception.owners = renderer.render_owners().reshape(-1).astype(np.int64)
    perception.detect(steady(frames), simulation.built.robot, simulation.joint_state())
    return perception.pairs


def _of_folder(folder: Path, told: Callable[[str], None]) -> list[tuple[Array, bool]]:
    pairs: list[tuple[Array, bool]] = []
    labelled = [(frame, frame.labels) for frame in labelled_frames(folder) if frame.labels is not None]
    if not labelled:
        raise DeskhandError("invalid_input", f"there are no labelled frames in {folder}.")
    for frame, labels in labelled:
        told(f"frame {frame.name}")
        region = find_region(frame.depth, frame.intrinsics, PlaneSettings())
        perception = PairWatcher()
        perception.owners = np.where(labels > TABLE, labels, -1).reshape(-1).astype(np.int64)
        depth = np.where(region.inside, frame.depth, np.nan).astype(np.float32)
        perception.detect(Frame(frame.color, depth, frame.intrinsics, region.world_T_camera, frame.stamp))
        pairs += perception.pairs
    return pairs


def _worlds(options: Options) -> Iterator[tuple[str, WorldSpec]]:
    for number in range(options.looks):
        yield f"look {number}", single_world("panda", options.seed + number, "wide")
    for number in range(options.heaps):
        yield f"heap {number}", heaped_world("panda", options.seed + number, "wide", HEAP)
    for number in range(options.trays):
        yield f"tray {number}", full_container("panda", options.seed + number, "wide", HEAP)
    for number in range(options.desks):
        for way in WAYS:
            yield f"desk {number}, {way}", make_scene(way, "wx250s", options.seed + number)


def fitted(features: Array, same: Flags, ridge: float, counts: Array | None = None, rounds: int = 40) -> tuple[Array, float]:
    """Weights (F,) and bias of a logistic regression on features (N, F), which are brought to unit spread first, with a ridge, by Newton's method; each
    counts as often as ``counts`` (N,) says, once by default.
    """
    counts = np.ones(len(features)) if counts is None else counts
    middle, spread = features.mean(axis=0), features.std(axis=0) + 1e-6
    rows = np.column_stack([(features - middle) / spread, np.ones(len(features))])
    least = ridge * np.eye(rows.shape[1])
    least[-1, -1] = 1e-6
    weights = np.zeros(rows.shape[1])
    for _ in range(rounds):
        chance = 1 / (1 + np.exp(-rows @ weights))
        slope = rows.T @ (counts * (chance - same)) + least @ weights
        step = np.linalg.solve((rows * (counts * chance * (1 - chance))[:, None]).T @ rows + least, slope)
        weights = weights - step
        if np.abs(step).max() < 1e-6:
            break
    return weights[:-1] / spread, float(weights[-1] - weights[:-1] / spread @ middle)


def fitted_beside(features: Array, same: Flags, ridge: float, counts: Array, offset: Array, rounds: int = 40) -> Array:
    """Weights (F,) of features (N, F) beside what is known already: the log odds (N,) that are told so far."""
    spread = features.std(axis=0) + 1e-6
    rows, weights = features / spread, np.zeros(features.shape[1])
    for _ in range(rounds):
        chance = 1 / (1 + np.exp(-(rows @ weights + offset)))
        slope = rows.T @ (counts * (chance - same)) + ridge * weights
        step = np.linalg.solve((rows * (counts * chance * (1 - chance))[:, None]).T @ rows + ridge * np.eye(len(weights)), slope)
        weights = weights - step
        if np.abs(step).max() < 1e-6:
            break
    return np.asarray(weights / spread)


def written(options: Options, weights: Array, bias: float, pairs: int) -> str:
    """The text of the file."""

    def listed(values: Sequence[float]) -> str:
        return ", ".join(f"{value:.4f}" for value in values)

    pictured = (
        f"in labelled frames, which count {PICTURED:g} times: {', '.join(folder.name for folder in options.frames)}."
        if options.frames
        else "in no other frames."
    )
    lines = [
        "# Weights of the evidence that two segments which touch are one object (perception/fit/one_object.py), by `deskhand bench foreign weigh`:",
        f"# {pairs} pairs in {options.looks} looks at bodies, {options.heaps} heaps, {options.trays} trays and {len(WAYS) * options.desks} desks",
        f"# under `{options.reality}`, seed {options.seed},",
        f"# and {pictured}",
        *([f"# Of {options.base.name} are the weights of all evidence that it knows; the others were fitted beside them."] if options.base is not None else []),
        f"joined: {options.joined} # pairs above this probability are joined",
        f"odd: {options.odd} # of two pieces that plain solids explain better than this, over the noise of the depth, nothing is asked",
        f"bias: {bias:.4f}",
        "knots:",
        *(f"  {name}: [{', '.join(f'{value:g}' for value in values)}]" for name, values in KNOTS.items()),
        "weights:",
        *(f"  {name}: {weights[number]:.4f}" for number, name in enumerate(NAMES)),
        "beyond:",
    ]
    first = len(NAMES)
    for name, values in KNOTS.items():
        lines.append(f"  {name}: [{listed(weights[first : first + len(values)].tolist())}]")
        first += len(values)
    return "\n".join(lines) + "\n"
