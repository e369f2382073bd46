"""Whether a tool is needed, by counterfactual worlds: those that give the same texts and the same picture until now, and differ in what is hidden or was never
measured. Where the right answer, or the next act, is the same in all of them nothing needs to be found out; where it differs, something does.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np

from deskhand.bench.toolbench.expert import BLOCKS, BUILDING, CLEANING, LOOK, MANIPULATION, QUESTIONS, WORDS, id_argument, said, two, words_for
from deskhand.bench.toolbench.items import Item, kept_picture
from deskhand.bench.toolbench.play import Case, Play, Step, leaves
from deskhand.bench.tools import worlds
from deskhand.bench.tools.desk import ScenarioDesk
from deskhand.bench.tools.drawing import Random
from deskhand.errors import DeskhandError
from deskhand.etp.registry import Registry
from deskhand.sim.spec import WorldSpec, pose_at
from deskhand.types import Image

WORLDS, DRAWN = 8, 40  # worlds that are asked for, and drawn at most
DIFFER = 2  # worlds with another answer than most, from which on something is to be found out
SAME_PICTURE = 0.0005  # share of the pixels that may differ: 150 of 640 x 480
PIXEL = 12  # of 255 that a pixel may differ
NUMBER, LENGTH = 0.1, 0.006  # share, and amount [m], by which a told number may differ
_NOISY = ("sigma", "stamp", "time", "confidence", "probability", "duration", "yaw", "score", "uri", "text")
PARKED = 3.0  # [m] to the side, where the camera sees nothing


@dataclass(frozen=True)
class Unknown:
    """A question or a wish, and what is not known on its desk.

    Attributes:
        before: calls that were made.
        change: draws what is not known anew, at the beginning; ``near`` keeps it near to what it is, for worlds that tell the same.
        answer: the right answer or next act, in this world, as a word.
        trap: whether the words smell of tools.
    """

    family: str
    environment: str
    say: str
    world: WorldSpec
    before: tuple[Step, ...]
    change: Callable[[ScenarioDesk, Random, bool], None]
    answer: Callable[[ScenarioDesk], str]
    trap: bool = False


# ---------------------------------------------------------------- what is not known


def heavier(random: Random, needed: bool, words: str) -> Unknown:
    """A mass that is not written on it: before it was weighed, and after it."""
    name, limit = str(random.choice(["red", "green", "blue"])), 25
    actual = float(random.choice([0.014, 0.036]))

    def change(desk: ScenarioDesk, draw: Random, near: bool) -> None:
        mass = actual * draw.uniform(0.97, 1.03) if near else draw.uniform(0.010, 0.040)
        _weighs(desk, name, mass)

    weigh = Step("weigh_in_hand", lambda play: {"object_id": play.id_of(name)})
    say = said(random, words, "heavier", a=name, limit=limit)
    before = (LOOK,) if needed else (LOOK, weigh)

    def answer(desk: ScenarioDesk) -> str:
        return "yes" if _body(desk, name)[1] > limit / 1000 else "no"

    return Unknown("heavier", QUESTIONS, say, worlds.objects(random), before, change, answer)


def hidden(random: Random, needed: bool, words: str) -> Unknown:
    """What a tall box hides; and what it does not hide."""
    world = _with_hidden(random)
    if needed:
        say = said(random, words, "hidden_yes")
        return Unknown("hidden", MANIPULATION, say, world, (LOOK,), _hide, lambda desk: "yes" if _is_hidden(desk) else "no")
    say = said(random, words, "hidden_no")
    return Unknown("visible", MANIPULATION, say, world, (LOOK,), _hide, lambda desk: "yellow", trap=True)


def next_act(random: Random, needed: bool, words: str) -> Unknown:
    """The next act towards a goal: with an object that is seen, and with one that may be hidden or not there at all."""
    world = _with_hidden(random)
    if needed:
        say = said(random, words, "act_yes")

        def where(desk: ScenarioDesk) -> str:
            return "fetch it from behind the box" if _is_hidden(desk) else "say that there is none"

        return Unknown("next_act", CLEANING, say, world, (LOOK,), _hide, where)
    say = said(random, words, "act_no")
    return Unknown("next_act", CLEANING, say, world, (LOOK,), _hide, lambda desk: "pick the can", trap=True)


def heavier_of(random: Random, needed: bool, words: str) -> Unknown:
    """Which of two has more mass: before they were weighed, and after it."""
    first, second = two(random, BLOCKS)
    actual = {first: 0.014, second: 0.036} if random.integers(2) else {first: 0.036, second: 0.014}

    def change(desk: ScenarioDesk, draw: Random, near: bool) -> None:
        for name, mass in actual.items():
            _weighs(desk, name, mass * draw.uniform(0.97, 1.03) if near else draw.uniform(0.010, 0.040))

    say = said(random, words, "heavier_of", a=WORDS[first], b=WORDS[second])
    weigh = [Step("weigh_in_hand", id_argument("object_id", name)) for name in (first, second)]
    before = (LOOK,) if needed else (LOOK, *weigh)
    return Unknown("heavier_of", QUESTIONS, say, worlds.objects(random), before, change, lambda desk: max(actual, key=lambda name: _body(desk, name)[1]))


def count(random: Random, needed: bool, words: str) -> Unknown:
    """How many there are of a kind, of which one may be hidden; and of a kind that could not be."""
    say = said(random, words, "count_yes" if needed else "count_no")

    def number(desk: ScenarioDesk) -> str:
        return str(sum(desk.truth(name).pose[1, 3] < PARKED / 2 for name in (("small",) if needed else ("can", "tall"))))

    return Unknown("count", BUILDING, say, _with_hidden(random), (LOOK,), _hide, number, trap=not needed)


def room(random: Random, needed: bool, words: str) -> Unknown:
    """The next act towards a place that is seen, and towards one that may be taken by what is hidden."""
    say = said(random, words, "room_yes" if needed else "room_no")

    def act(desk: ScenarioDesk) -> str:
        return "clear the place first" if needed and _is_hidden(desk) else "pick the can"

    return Unknown("room", CLEANING, say, _with_hidden(random), (LOOK,), _hide, act, trap=not needed)


FAMILIES = (heavier, hidden, next_act, heavier_of, count, room)


def _body(desk: ScenarioDesk, name: str) -> tuple[int, float]:
    body = desk.simulation.built.object_bodies[desk.names.index(name)]
    return body, float(desk.simulation.model.body_mass[body])


def _weighs(desk: ScenarioDesk, name: str, mass: float) -> None:
    body, before = _body(desk, name)
    with desk.simulation.lock:
        desk.simulation.model.body_inertia[body] *= mass / before
        desk.simulation.model.body_mass[body] = mass


def _with_hidden(random: Random) -> WorldSpec:
    """A tall box, a can and a small block that is kept to the side; names: tall, can, block, small."""
    small = worlds.block("small", 0.0, PARKED, worlds.BLUE, edge=0.03)
    made = worlds.behind(random)
    return WorldSpec((*(item for item in made.objects if item.name != "block"), small))


def _hide(desk: ScenarioDesk, draw: Random, near: bool) -> None:
    """The small block behind the tall box, or to the side."""
    spec = next(item for item in desk.simulation.built.spec.objects if item.name == "small")
    if draw.random() < 0.5:
        desk.put("small", spec.pose)
        return
    tall = desk.truth("tall").pose[:2, 3]
    away = tall - desk.simulation.built.spec.camera.world_T_camera[:2, 3]
    away /= np.linalg.norm(away)
    x, y = tall + draw.uniform(0.045, 0.07) * away + draw.uniform(-0.01, 0.01) * np.array([-away[1], away[0]])
    desk.put("small", pose_at(x, y, spec.pose[2, 3], float(np.arctan2(away[1], away[0]))))


def _is_hidden(desk: ScenarioDesk) -> bool:
    return bool(abs(desk.truth("small").pose[1, 3]) < 1.0)


# ---------------------------------------------------------------- settling


@dataclass(frozen=True)
class Seen:
    """All that is known in a world: what the calls told, and what the camera shows without noise."""

    told: tuple[dict[str, Any], ...]
    picture: Image


def make_need(registry: Registry, family: str, seed: int, needed: bool, folder: Path) -> Item | None:
    """An item; None where the worlds do not agree that something is needed, or that nothing is."""
    made = settle(registry, family, seed, needed)
    if made is None or made.needed is not needed:
        return None
    unknown = made.unknown
    settled = {"worlds": WORLDS, "answers": dict(made.answers)}
    name = f"need_{family}_{'yes' if needed else 'no'}_{seed}"
    difficulty = "medium" if unknown.trap else "easy"
    picture = kept_picture(folder, made.color)
    return Item(name, "need", family, unknown.environment, seed, difficulty, unknown.say, made.told, picture, (), {"need": needed}, settled)


def said_again(family: str, seed: int, needed: bool, words: str) -> str:
    """The instruction of an item in another set of words."""
    return _family(family)(_random_of(family, seed, needed), needed, words).say


def _random_of(family: str, seed: int, needed: bool) -> Random:
    return np.random.default_rng([seed, crc32(family.encode()), int(needed)])


@dataclass(frozen=True)
class Settled:
    """Whether something is to be found out, the answers in the worlds, and what is known in the actual one."""

    needed: bool
    answers: Counter[str]
    unknown: Unknown
    told: tuple[dict[str, Any], ...]
    color: Image


def settle(registry: Registry, family: str, seed: int, needed: bool, noise: int = 0) -> Settled | None:
    """Draw worlds and ask for the answer in each that tells the same; None where too few do, or one only has another answer."""
    random = _random_of(family, seed, needed)
    unknown = _family(family)(random, needed, words_for(seed))
    with ScenarioDesk(unknown.world, registry, seed) as desk:
        play = Play(desk, Case(family, unknown.environment, unknown.say, unknown.world, (), lambda play: False, lambda play: {}, ""))
        desk.begin(family)
        start = play.snapshot()
        play.restore(start, noise)  # what is told in all worlds is told with the same noise
        first = _in_world(play, unknown, random, True)
        answers, color = Counter([unknown.answer(desk)]), desk.frame().color
        pinned = False  # a world drawn freely told something else
        for number in range(DRAWN):
            if answers.total() >= WORLDS:
                break
            near = pinned and number % 4 != 0
            play.restore(start, noise)
            if _same(first, _in_world(play, unknown, random, near)):
                answers[unknown.answer(desk)] += 1
            else:
                pinned = pinned or not near
    if answers.total() < WORLDS:
        return None
    others = answers.total() - answers.most_common(1)[0][1]
    return None if 0 < others < DIFFER else Settled(others > 0, answers, unknown, first.told, color)


def _in_world(play: Play, unknown: Unknown, random: Random, near: bool) -> Seen:
    """Draw a world and make the calls in it."""
    unknown.change(play.desk, random, near)
    for step in unknown.before:
        play.make(step)
    told = tuple(turn.told() for turn in play.turns)
    return Seen(told, play.desk.true_picture()[0])


def _same(first: Seen, other: Seen) -> bool:
    """Whether nobody could tell the two worlds apart."""
    if (np.abs(first.picture.astype(int) - other.picture.astype(int)).max(axis=2) > PIXEL).mean() > SAME_PICTURE:
        return False
    return _alike([dict(leaves_of(turn)) for turn in first.told], [dict(leaves_of(turn)) for turn in other.told])


def leaves_of(turn: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """Every value that a turn tells and that is no noise, under a name of its own."""
    return [(f"{number}:{name}", value) for number, (name, value) in enumerate(leaves(turn)) if not any(word in name for word in _NOISY)]


def _alike(first: list[dict[str, Any]], other: list[dict[str, Any]]) -> bool:
    if [sorted(each) for each in first] != [sorted(each) for each in other]:
        return False
    for one, another in zip(first, other, strict=True):
        for name, value in one.items():
            if isinstance(value, bool) or not isinstance(value, int | float) or not isinstance(another[name], int | float):
                if isinstance(value, str) and _is_text(value):
                    continue  # sentences repeat the values
                if value != another[name]:
                    return False
            elif abs(value - another[name]) > max(NUMBER * abs(value), LENGTH):
                return False
    return True


def _is_text(value: str) -> bool:
    return " " in value


def _family(name: str) -> Callable[[Random, bool, str], Unknown]:
    for family in FAMILIES:
        if family.__name__ == name:
            return family
    raise DeskhandError("invalid_input", f"there is no family {name!r} of need; valid: {', '.join(item.__name__ for item in FAMILIES)}.")
