"""Questions: one function a kind of answer that is wanted, which draws a case. See acts.py."""

from __future__ import annotations

from typing import Any

import numpy as np

from deskhand.bench.toolbench import goals
from deskhand.bench.toolbench.expert import BLOCKS, BUILDING, CLEANING, LOOK, MANIPULATION, QUESTIONS, SIDES, WORDS, facts, id_argument, one_of, said, two
from deskhand.bench.toolbench.play import Case, Play, Step
from deskhand.bench.tools import worlds
from deskhand.bench.tools.desk import ScenarioDesk
from deskhand.bench.tools.drawing import Random, outline_in_picture
from deskhand.errors import DeskhandError


def weigh(random: Random, words: str) -> Case:
    """What an object weighs."""
    name = str(random.choice(BLOCKS))
    say = said(random, words, "weigh", a=WORDS[name])
    goal = goals.told_number(lambda play: 1000 * next(item for item in play.case.world.objects if item.name == name).mass, 4.0, ("grams", "mass", "weight"))
    steps = (LOOK, Step("weigh_in_hand", id_argument("object_id", name)))
    return Case("weigh", QUESTIONS, say, worlds.objects(random), steps, goal, facts(name, "bin"), f"the mass of {name} is told within 4 g")


def gap(random: Random, words: str) -> Case:
    """How much room is between two objects."""
    a, b = two(random, BLOCKS)
    say = said(random, words, "gap", a=WORDS[a], b=WORDS[b])
    goal = goals.told_number(lambda play: _room_between(play, a, b), 0.006, ("value", "distance", "gap", "length"))
    steps = (LOOK, Step("measure", lambda play: {"quantity": "gap", "object_ids": [play.id_of(a), play.id_of(b)]}))
    return Case("gap", QUESTIONS, say, worlds.objects(random), steps, goal, facts(a, b), f"the gap between {a} and {b} is told within 6 mm")


def _room_between(play: Play, a: str, b: str) -> float:
    """Smallest distance [m] along the table between two blocks that stand on it."""
    edge = np.linspace(-0.5, 0.5, 41)
    rim = np.array([[x, y] for x in edge for y in (-0.5, 0.5)] + [[x, y] for x in (-0.5, 0.5) for y in edge])
    outlines = []
    for name in (a, b):
        item = play.desk.truth(name)
        outlines.append((rim * item.size[:2]) @ item.pose[:2, :2].T + item.pose[:2, 3])
    return float(np.linalg.norm(outlines[0][:, None] - outlines[1][None], axis=2).min())


def falls(random: Random, words: str) -> Case:
    """What falls when something is taken away."""
    say = said(random, words, "falls")
    steps = (LOOK, Step("check_stability", lambda play: {"removed": [play.id_of("low")]}))
    goal = goals.told_objects(lambda play: ["high"])
    return Case("falls", BUILDING, say, worlds.stacked(random), steps, goal, facts("low", "high"), "only high is told to fall")


def occupied(random: Random, words: str) -> Case:
    """Whether space is taken, by a map."""
    name = str(random.choice(["can", "box", "red"]))

    def points(play: Play) -> list[list[float]]:
        item = play.desk.truth(name)
        spot = item.pose[:3, 3] + [0.0, 0.0, item.size[2] / 2 - 0.005]
        return [spot.round(3).tolist(), (spot + np.array([0.0, 0.0, 0.12])).round(3).tolist()]

    world = worlds.objects(random)
    spec = next(item for item in world.objects if item.name == name)
    top = (spec.pose[:3, 3] + [0.0, 0.0, spec.size[2] / 2 - 0.005]).round(3).tolist()
    say = said(random, words, "occupied", top=top)
    steps = (
        Step("build_occupancy_map"),
        Step("query_occupancy", lambda play: {"map_uri": play.data("build_occupancy_map")["map"]["uri"], "points": points(play)}),
    )
    goal = goals.told_words(lambda play: ["occupied", "free"])
    return Case("occupied", MANIPULATION, say, world, steps, goal, facts(name, "bin"), "occupied, free are told of the two points")


def mapped(random: Random, words: str) -> Case:
    """Where an object is, by a map."""
    name = str(random.choice(["red", "green", "blue", "can"]))
    say = said(random, words, "mapped", a=WORDS[name])
    steps = (
        Step("build_semantic_map"),
        Step("query_semantic_map", lambda play: {"map_uri": play.data("build_semantic_map")["map"]["uri"], "words": WORDS[name]}),
    )

    def told(play: Play) -> bool:
        found = [item for turn in play.news() for row in (turn.result.data.get("objects"),) if isinstance(row, list) for item in row]
        mine = [item for item in found if isinstance(item, dict) and item.get("object_id") == play.ids.get(name) and item.get("voxels", 0) > 20]
        return bool(mine) and float(np.linalg.norm(np.array(mine[0]["center"][:2]) - play.desk.truth(name).pose[:2, 3])) < goals.NEAR

    return Case("mapped", QUESTIONS, say, worlds.objects(random), steps, told, facts(name, "bin"), f"the voxels of {name} are told")


def moved(random: Random, words: str) -> Case:
    """How far somebody has moved an object, by the memory."""
    name = str(random.choice(BLOCKS))

    def shift(desk: ScenarioDesk) -> None:
        desk.shift(name, desk.free_shift(name, 0.05, 0.12))

    say = said(random, words, "moved", a=WORDS[name])

    def told(play: Play) -> bool:
        events = [item for turn in play.news() for row in (turn.result.data.get("events"),) if isinstance(row, list) for item in row]
        return any(isinstance(item, dict) and item.get("object_id") == play.ids.get(name) and item.get("kind") == "moved" for item in events)

    steps = (Step("object_history", id_argument("object_id", name)),)
    return Case("moved", QUESTIONS, say, worlds.objects(random), steps, told, facts(name, "bin"), f"that {name} was moved is told", (LOOK, LOOK), shift)


def pointed(random: Random, words: str) -> Case:
    """Which object is at a pixel."""
    name, world = str(random.choice(["red", "green", "blue", "can", "box"])), worlds.objects(random)
    spec = next(item for item in world.objects if item.name == name)
    pixel = outline_in_picture(world.camera, spec).mean(axis=0).round().astype(int).tolist()
    say = said(random, words, "pointed", u=pixel[0], v=pixel[1])
    steps = (LOOK, Step("point_to_object", lambda play: {"pixel": pixel}))
    return Case("pointed", QUESTIONS, say, world, steps, goals.told_objects(lambda play: [name]), facts(name, "bin"), f"{name} alone is told")


def nearest(random: Random, words: str) -> Case:
    """Which object is nearest to another one."""
    world, target = worlds.objects(random), str(random.choice(["cup", "can", "box"]))
    at = {item.name: item.pose[:3, 3] for item in world.objects}
    name = min((other for other in BLOCKS), key=lambda other: float(np.linalg.norm(at[other] - at[target])))
    say = said(random, words, "nearest", a=WORDS[target])

    def arguments(play: Play) -> dict[str, Any]:
        name, scene = play.id_of(target), play.desk.belief.scene
        if scene is None:  # known by name from before, and tried without a look
            raise DeskhandError("precondition_failed", f"{target} was not looked at.")
        return {"what": "blocks", "order": "nearest", "point": scene.get(name).position.round(4).tolist(), "limit": 1}

    steps = (LOOK, Step("query_3d_scene_graph", arguments))
    return Case("nearest", QUESTIONS, say, world, steps, goals.told_objects(lambda play: [name]), facts(target, name), f"{name} alone is told")


def masked(random: Random, words: str) -> Case:
    """The pixels of an object."""
    name = str(random.choice(["can", "box", "cup"]))
    say = said(random, words, "masked", a=WORDS[name])
    steps = (Step("segment_by_prompt", lambda play: {"text": f"the {WORDS[name]}"}),)
    return Case("masked", MANIPULATION, say, worlds.objects(random), steps, goals.told_mask(name), facts(name, "bin"), f"a mask of {name} is told", (LOOK,))


def stains(random: Random, words: str) -> Case:
    """Where the table is dirty."""
    world = worlds.stained(random)
    middle = np.asarray(world.stains[0].outline).mean(axis=0)
    say = said(random, words, "stains")
    goal = goals.told_place(lambda play: middle)
    return Case("stains", CLEANING, say, world, (Step("find_stains"),), goal, facts("can", "block", lambda play: middle), "the stain's place is told")


def lower_pan(random: Random, words: str) -> Case:
    """Which pan of a balance is lower."""

    def side(play: Play) -> str:
        joints = play.desk.simulation.truth().joints
        return "left" if joints["balance/left"] > joints["balance/right"] else "right"

    say = said(random, words, "lower_pan")
    goal = goals.told_word(side, ("left", "right", "level"))
    return Case("lower_pan", BUILDING, say, worlds.scales(random), (Step("read_balance"),), goal, facts("left", "right"), "the lower side is told")


def joints(random: Random, words: str) -> Case:
    """Which joint angles bring the hand to a place."""
    x, y = random.uniform((-0.05, -0.12), (0.1, 0.12)).round(2).tolist()
    z = 0.2
    say = said(random, words, "joints", x=x, y=y, z=z)
    steps = (Step("solve_ik", lambda play: {"position": [x, y, z]}),)
    goal = goals.told_joints(lambda play: np.array([x, y, z]))
    about = facts("red", "bin", lambda play: np.array([x, y, z]))
    return Case("joints", MANIPULATION, say, worlds.objects(random), steps, goal, about, "joints that bring the hand there are told")


def opening(random: Random, words: str) -> Case:
    """How far the fingers are apart."""
    name = str(random.choice(BLOCKS))
    say = said(random, words, "opening")

    def width(play: Play) -> float:
        simulation = play.desk.simulation
        return simulation.arm.gripper.width_of(simulation.finger_position())

    before = (LOOK, Step("pick", id_argument("object_id", name)))
    goal = goals.told_number(width, 0.0015, ("gripper_width", "width", "opening"))
    return Case("opening", QUESTIONS, say, worlds.objects(random), (Step("get_robot_state"),), goal, facts(name, "bin"), "the fingers' opening is told", before)


def meant(random: Random, words: str) -> Case:
    """Which object words mean."""
    world = worlds.alike(random)
    side = one_of(random, *SIDES)
    say = said(random, words, "side_block", side=side)
    steps = (LOOK, Step("resolve_reference", lambda play: {"phrase": f"the {side} red block"}))
    return Case("meant", BUILDING, say, world, steps, goals.told_objects(lambda play: [side]), facts(side, "can"), f"{side} alone is told")


def stable(random: Random, words: str) -> Case:
    """An order in which objects can stand on each other, the largest below."""
    say = said(random, words, "stable")
    steps = (LOOK, Step("stacking_order", lambda play: {"object_ids": [play.id_of(name) for name in BLOCKS]}))

    def told(play: Play) -> bool:
        wanted = {play.ids.get(name) for name in BLOCKS}
        orders = [turn.result.data.get("order") for turn in play.news() if isinstance(turn.result.data, dict)]
        return any(isinstance(order, list) and {_id(item) for item in order} == wanted for order in orders)

    return Case("stable", BUILDING, say, worlds.objects(random), steps, told, facts("red", "green"), "an order of the three blocks is told")


def _id(item: Any) -> Any:
    return item.get("object_id") if isinstance(item, dict) else item
