"""Build with blocks: a row, a tower, a bridge, a pyramid or a house, told in words, by a plan as data, or by a picture of a copy."""

from __future__ import annotations

import json
import tempfile
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np

from deskhand.arms.config import load_arm
from deskhand.errors import DeskhandError
from deskhand.planning.structures import Blocks, Slot, footprint, structure, to_spec
from deskhand.sim.spec import ObjectSpec, Truth, WorldSpec, pose_at
from deskhand.tasks.base import SILENT, ObjectScore, Score, SeededTask, Word
from deskhand.tasks.placement import FLOOR, footprint_of
from deskhand.tasks.standing import best_fit, heights
from deskhand.tasks.wording import listed
from deskhand.types.resources import resource_path
from deskhand.types.yaml_file import read_yaml

Random = np.random.Generator
_NUMBERS = {2: "two", 3: "three", 4: "four", 5: "five", 6: "six"}


@cache
def settings() -> dict[str, Any]:
    """``config/tasks/block_building.yaml``, with the colours of desk_cleaning."""
    data: dict[str, Any] = read_yaml(resource_path("config/tasks/block_building.yaml"))
    data["colors"] = read_yaml(resource_path("config/tasks/desk_cleaning.yaml"))["colors"]
    return data


@dataclass(frozen=True)
class Setting:
    """One seed of the task.

    Attributes:
        world: what lies on the desk.
        instruction: what is said.
        slots: the plan that is judged.
        edge, plank_height: of the blocks [m].
        shapes, colors: of the blocks, by name.
        picture: world that is shown in the picture, None where there is none.
    """

    world: WorldSpec
    instruction: str
    slots: tuple[Slot, ...]
    edge: float
    plank_height: float
    shapes: dict[str, str]
    colors: dict[str, str]
    name: str
    picture: tuple[Path, WorldSpec] | None = None


class BlockBuilding(SeededTask[Setting]):
    """Blocks of one size and a plank where the structure needs one, strewn; up to two more than needed."""

    name = "block_building"
    summary = "Build a structure from blocks: within 10 mm, and standing 3 s after the robot says that it is done."
    settle = 3.0

    def _make(self, seed: int) -> Setting:
        return _setting(self._arm, seed)

    def pictures(self, seed: int) -> dict[Path, WorldSpec]:
        """See Task."""
        picture = self.setting(seed).picture
        return dict([picture]) if picture else {}

    def score(self, seed: int, start: Truth, end: Truth, word: Word = SILENT) -> Score:
        """See Task. The share of the plan that stands: each block within 10 mm of its place in the structure, at rest, on the blocks that carry it."""
        setting = self.setting(seed)
        centres = heights(setting.slots, setting.edge, setting.plank_height)
        fit = best_fit(setting.slots, centres, end, setting.shapes, setting.colors, list(setting.shapes))
        problems = [f"{item.name} was dropped" for item in end.objects if item.pose[2, 3] < FLOOR]
        rows = []
        for number, (slot, name) in enumerate(zip(setting.slots, fit.blocks, strict=True)):
            wanted = f"place {number + 1} of the {setting.name}" + (f" ({slot.color})" if slot.color else "")
            rows.append(
                ObjectScore(name or f"place {number + 1}", slot.shape, wanted, wanted if name else "", bool(name), "" if name else "no such block there")
            )
        return Score(fit.right == len(rows) and not problems, fit.right / len(rows), tuple(rows), tuple(problems))


@lru_cache(maxsize=256)
def _setting(arm_name: str, seed: int) -> Setting:
    config, arm = settings(), load_arm(arm_name)
    layout = next((item for item in config["layouts"] if arm.work_radius[1] >= item["work_radius"]), None)
    if layout is None:
        raise DeskhandError("config_error", f"{arm.name} reaches {arm.work_radius[1]:g} m; block_building needs {config['layouts'][-1]['work_radius']:g} m.")
    random = np.random.default_rng([crc32(b"block_building"), seed])
    name = _choice(random, config["structures"])
    source = _choice(random, config["sources"])
    count = int(random.integers(config[name][0], config[name][1] + 1)) if name in config else 0
    edge = float(random.uniform(*layout["edge"]))
    plank = (layout["plank"]["length"] * edge, layout["plank"]["height"] * edge)
    blocks = Blocks(edge, plank if name in ("bridge", "house") else None)
    plain = structure(name, blocks, count)
    palette = [str(color) for color in random.permutation(list(config["colors"]))]
    picked = [palette[int(i)] for i in random.integers(0, len(palette), len(plain))]
    colored = source == "picture" or (name in ("row", "tower") and random.random() < config["colored"])
    slots = structure(name, blocks, count, picked if colored else ())
    wanted = [*zip([slot.shape for slot in slots], picked, strict=True)]
    spare = [("cube", palette[int(i)]) for i in random.integers(0, len(palette), int(random.integers(config["spare"][0], config["spare"][1] + 1)))]
    for _ in range(200):
        objects = _strewn(config, layout, random, [*wanted, *spare], blocks, slots, (arm.world_T_base[:2, 3], arm.work_radius))
        if objects:
            break
    else:
        raise DeskhandError(
            "internal_error", f"no scene of block_building fits for seed {seed} and {arm_name}; config/tasks/block_building.yaml asks for too much."
        )
    world = WorldSpec(tuple(objects), arm=arm_name, seed=seed)
    kinds = {item.name: "plank" if item.size[0] > 1.5 * edge else "cube" for item in objects}
    names = {item.name: color for item, (_, color) in zip(objects, [*wanted, *spare], strict=True)}
    picture = _picture(arm_name, seed, slots, picked, blocks, random, config, arm.world_T_base[:2, 3], layout) if source == "picture" else None
    said = _say(config, random, name, source, slots, picked, colored, picture[0] if picture else None)
    return Setting(world, said, slots, edge, plank[1], kinds, names, name, picture)


def _choice(random: Random, weights: dict[str, float]) -> str:
    names = list(weights)
    share = np.array([weights[name] for name in names], dtype=float)
    return str(names[int(random.choice(len(names), p=share / share.sum()))])


def _block(name: str, shape: str, rgb: Any, blocks: Blocks, density: float, x: float, y: float, bottom: float, yaw: float) -> ObjectSpec:
    assert shape == "cube" or blocks.plank
    size = (blocks.edge,) * 3 if shape == "cube" or blocks.plank is None else (blocks.plank[0], blocks.edge, blocks.plank[1])
    return ObjectSpec(name, "block", size, tuple(rgb), density * float(np.prod(size)), pose_at(x, y, bottom + size[2] / 2, yaw))


def _strewn(
    config: dict[str, Any],
    layout: dict[str, Any],
    random: Random,
    wanted: list[tuple[str, str]],
    blocks: Blocks,
    slots: tuple[Slot, ...],
    reach: tuple[Any, tuple[float, float]],
) -> list[ObjectSpec]:
    """The blocks at random places within reach, a place for the structure left free; empty when they do not fit."""
    base, (least, most) = reach
    site = np.array([base[0] + random.uniform(*layout["site"]["x"]), base[1] + random.uniform(*layout["site"]["y"])])
    room = np.array(footprint(slots, blocks)) / 2 + config["site_margin"]
    placed: list[ObjectSpec] = []
    for number, (shape, color) in enumerate(wanted):
        for _ in range(200):
            x, y = base[0] + random.uniform(*layout["region"]["x"]), base[1] + random.uniform(*layout["region"]["y"])
            item = _block(f"block_{number + 1}", shape, config["colors"][color], blocks, config["density"], x, y, 0.0, random.uniform(-np.pi, np.pi))
            mine = footprint_of(item)
            within = least <= np.hypot(x - base[0], y - base[1]) <= most
            half = max(mine.half_x, mine.half_y)
            free = abs(x - site[0]) > room[0] + half or abs(y - site[1]) > room[1] + half
            if within and free and all(mine.apart(footprint_of(other), config["clearance"]) for other in placed):
                placed.append(item)
                break
        else:
            return []
    return placed


def _picture(
    arm: str,
    seed: int,
    slots: tuple[Slot, ...],
    colors: list[str],
    blocks: Blocks,
    random: Random,
    config: dict[str, Any],
    base: Any,
    layout: dict[str, Any],
) -> tuple[Path, WorldSpec]:
    """Another copy of the structure alone on a desk, and the file that it is shown in."""
    yaw, x, y = random.uniform(-0.5, 0.5), base[0] + random.uniform(*layout["site"]["x"]), base[1] + random.uniform(*layout["site"]["y"])
    turn = np.array([[np.cos(yaw), -np.sin(yaw)], [np.sin(yaw), np.cos(yaw)]])
    centres = heights(slots, blocks.edge, blocks.plank[1] if blocks.plank else 0.0)
    items = []
    for number, (slot, color, z) in enumerate(zip(slots, colors, centres, strict=True)):
        place = turn @ [slot.x, slot.y] + [x, y]
        item = _block(
            f"copy_{number + 1}", slot.shape, config["colors"][color], blocks, config["density"], float(place[0]), float(place[1]), 0.0, slot.yaw + yaw
        )
        item.pose[2, 3] = z
        items.append(item)
    file = Path(tempfile.gettempdir()) / "deskhand" / f"block_building_{Path(arm).stem}_{seed}.png"
    return file, WorldSpec(tuple(items), arm=arm, seed=seed)


def _say(
    config: dict[str, Any], random: Random, name: str, source: str, slots: tuple[Slot, ...], colors: list[str], colored: bool, picture: Path | None
) -> str:
    wordings = config["wordings"][source if source != "words" else f"{name}_colored" if colored else name]
    wording = str(wordings[int(random.integers(len(wordings)))])
    if source == "spec":
        named: dict[str, Any] = {"structure": name} | ({"count": len(slots)} if name in config else {}) | ({"colors": colors} if colored else {})
        plan = named if random.random() < 0.5 else to_spec(slots)
        return wording.format(spec=json.dumps(plan))
    steps = [f"the {color} one" for color in colors]
    return wording.format(
        n=_NUMBERS[len(slots)] if len(slots) in _NUMBERS else len(slots),
        colors=listed(colors),
        first=colors[0],
        then=", then ".join(steps[1:]),
        reversed=listed(colors[::-1]),
        picture=picture,
    )
