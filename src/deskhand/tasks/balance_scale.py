"""Find out by weighing: which of two is heavier, which of several differs, how many grams one has. Nothing of it can be seen but on the balance."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any
from zlib import crc32

import numpy as np

from deskhand.arms.config import load_arm
from deskhand.errors import DeskhandError
from deskhand.resources import resource_path
from deskhand.sim.fixtures.kinds import APART, FIXTURES
from deskhand.sim.fixtures.spec import FixtureSpec
from deskhand.sim.spec import ObjectSpec, Truth, WorldSpec, pose_at
from deskhand.tasks.base import SILENT, ObjectScore, Score, SeededTask, Word
from deskhand.tasks.placement import AT_REST, Footprint, footprint_of, where_is
from deskhand.yaml_file import read_yaml

Random = np.random.Generator
BALANCE, TRAY = "balance", "tray"
NUMBER_WORDS = {4: "four", 5: "five", 6: "six"}
_GRAMS = re.compile(r"(\d+(?:\.\d+)?) ?(?:g|grams?)\b")


@cache
def settings() -> dict[str, Any]:
    """``config/tasks/balance_scale.yaml``."""
    data: dict[str, Any] = read_yaml(resource_path("config/tasks/balance_scale.yaml"))
    return data


@dataclass(frozen=True)
class Setting:
    """One seed: the world, what is said, the variant; ``wanted``: the object that belongs into the tray, or whose grams are asked for."""

    world: WorldSpec
    instruction: str
    variant: str
    wanted: str
    candidates: tuple[str, ...]


class BalanceScale(SeededTask[Setting]):
    """Blocks of equal look, a balance, a tray; three variants in turn."""

    name = "balance_scale"
    summary = "Find out with the scales which block is heavier, which one differs, or how much one weighs."
    settle = 1.0

    def _make(self, seed: int) -> Setting:
        return _setting(self._arm, seed)

    def group(self, seed: int) -> str:
        """See Task: the variant."""
        return self.setting(seed).variant

    def score(self, seed: int, start: Truth, end: Truth, word: Word = SILENT) -> Score:
        """See Task. The one that is wanted in the tray and no other candidate; of a measurement the grams, within 5 g, in the last sentence."""
        return judged(self.setting(seed), end, word)


def judged(setting: Setting, end: Truth, word: Word) -> Score:
    """Whether a setting ended as it should."""
    if setting.variant == "measure":
        return _measured(setting, end, word)
    tray = next(item for item in setting.world.objects if item.name == TRAY)
    containers = {TRAY: (end.get(TRAY), tray.wall)}
    rows = []
    for name in setting.candidates:
        item, wanted = end.get(name), TRAY if name == setting.wanted else "elsewhere"
        found = where_is(item, containers, end.in_hand)
        right = (found == TRAY) == (name == setting.wanted) and found != "floor" and (found != TRAY or item.velocity <= AT_REST)
        reason = "" if right else f"is in {found}, and it is {'' if name == setting.wanted else 'not '}the one that is asked for"
        rows.append(ObjectScore(name, item.kind, wanted, found, right, reason))
    share = sum(row.right for row in rows) / len(rows)
    return Score(share == 1.0, share, tuple(rows))


def _measured(setting: Setting, end: Truth, word: Word) -> Score:
    grams = 1000 * next(item.mass for item in setting.world.objects if item.name == setting.wanted)
    said = [float(number) for number in _GRAMS.findall(word.summary)]
    within = 1000 * float(settings()["measure"]["within"])
    right = word.success and len(set(said)) == 1 and abs(said[0] - grams) <= within
    reason = "" if right else f"weighs {grams:.1f} g, and the answer says {' and '.join(f'{value:g}' for value in said) or 'no grams'}"
    item = end.get(setting.wanted)
    return Score(right, float(right), (ObjectScore(setting.wanted, item.kind, "weighed", "weighed" if right else "not weighed", right, reason),))


# ---------------------------------------------------------------- scenes


@lru_cache(maxsize=256)
def _setting(arm: str, seed: int) -> Setting:
    config, reach = settings(), load_arm(arm)
    if reach.work_radius[1] < config["work_radius"]:
        raise DeskhandError("config_error", f"{arm} reaches {reach.work_radius[1]:g} m; balance_scale needs {config['work_radius']:g} m.")
    random = np.random.default_rng([crc32(b"balance_scale"), seed])
    variant = str(config["variants"][seed % len(config["variants"])])
    color = str(random.choice(list(config["colors"])))
    way = str(random.choice(["heavier", "lighter"]))
    masses, wanted = _masses(config[variant], variant, way, random)
    colors = {name: config["weight_colors"].get(name.removeprefix("weight_")) or config["colors"][color] for name in masses}
    for _ in range(500):
        objects = _laid_out(config, masses, colors, reach, random)
        if objects is not None:
            break
    else:
        raise DeskhandError("internal_error", f"no scene of balance_scale fits for seed {seed}; config/tasks/balance_scale.yaml asks for too much.")
    candidates = tuple(name for name in masses if not name.startswith("weight_"))
    said = _say(config, variant, seed, random, {"color": color, "way": way, "count": NUMBER_WORDS.get(len(candidates), "")})
    blocks, balance = objects
    return Setting(WorldSpec(blocks, arm=arm, seed=seed, fixtures=(balance,)), said, variant, wanted, candidates)


def _masses(config: Mapping[str, Any], variant: str, way: str, random: Random) -> tuple[dict[str, float], str]:
    """Mass [kg] of each block by its name, and which is wanted."""
    low, high = config["mass"]
    if variant == "measure":
        weights = {f"weight_{name}": float(mass) for name, mass in config["weights"].items()}
        return {"block_1": round(random.uniform(low, high), 4), **weights}, "block_1"
    apart = random.uniform(*config["apart"])
    count = 2 if variant == "compare" else int(random.integers(config["count"][0], config["count"][1] + 1))
    names = [f"block_{number}" for number in range(1, count + 1)]
    odd = str(random.choice(names))
    base = random.uniform(low, high)
    other = base + (apart if way == "heavier" else -apart)
    if variant == "compare" and other < low:
        base, other = base + apart, base
    return {name: other if name == odd else base for name in names}, odd


def _laid_out(config: Mapping[str, Any], masses: Mapping[str, float], colors: Mapping[str, Any], arm: Any, random: Random) -> Any:
    """The blocks and the tray, and the balance; None where a block found no place."""
    edge, base = random.uniform(*config["edge"]), np.asarray(arm.world_T_base[:2, 3])
    data, tray = config["balance"], config["tray"]
    x, y, yaw = (random.uniform(*data[key]) for key in ("x", "y", "yaw"))
    balance = FixtureSpec(BALANCE, "balance", FIXTURES["balance"].size, tuple(data["color"]), pose_at(x, y, 0.0, yaw), apart=APART["balance"])
    side = float(random.choice([-1.0, 1.0]))
    size = tuple(tray["size"])
    pose = pose_at(random.uniform(*tray["x"]), side * random.uniform(*tray["y"]), size[2] / 2)
    objects = [ObjectSpec(TRAY, "tray", size, tuple(tray["color"]), tray["mass"], pose)]
    taken = [footprint_of(objects[0]), Footprint(x, y, config["free"]["x"], config["free"]["y"], yaw)]
    for name, mass in masses.items():
        for _ in range(200):
            place = [random.uniform(*config["region"][axis]) for axis in ("x", "y")]
            item = ObjectSpec(name, "block", (edge, edge, edge), tuple(colors[name]), mass, pose_at(*place, edge / 2, random.uniform(-np.pi, np.pi)))
            spot, radius = footprint_of(item), float(np.linalg.norm(place - base))
            if arm.work_radius[0] <= radius <= arm.work_radius[1] and all(spot.apart(other, config["clearance"]) for other in taken):
                objects.append(item)
                taken.append(spot)
                break
        else:
            return None
    return tuple(objects), balance


def _say(config: Mapping[str, Any], variant: str, seed: int, random: Random, words: dict[str, str]) -> str:
    """A wording of the list that the seed may take from."""
    choices = config["wordings"][variant][int(seed >= config["heldout_from"])]
    more = {"heavier": "more", "lighter": "less"}[words["way"]]
    return re.sub(r"\s+", " ", str(random.choice(choices)).format(**words, more=more))
