"""Acts: one function a kind of sub-goal, which draws a case. The experts know the truth and share nothing with the robot's own planner."""

from __future__ import annotations

import numpy as np

from deskhand.bench.toolbench import goals
from deskhand.bench.toolbench.expert import BLOCKS, BUILDING, CLEANING, LOOK, MANIPULATION, SIDES, WORDS, facts, id_argument, one_of, said, two
from deskhand.bench.toolbench.play import Case, Play, Step
from deskhand.bench.tools import worlds
from deskhand.bench.tools.drawing import Random


def tidy(random: Random, words: str) -> Case:
    """An object into the bin."""
    name = str(random.choice(BLOCKS))
    say = said(random, words, "tidy", a=WORDS[name])
    steps = (LOOK, Step("pick", id_argument("object_id", name)), Step("place_in", id_argument("container_id", "bin")))
    return Case("tidy", CLEANING, say, worlds.objects(random), steps, goals.inside(name, "bin"), facts(name, "bin"), f"{name} lies in the bin")


def grasp(random: Random, words: str) -> Case:
    """An object into the hand."""
    name = str(random.choice(BLOCKS))
    say = said(random, words, "grasp", a=WORDS[name])
    steps = (LOOK, Step("pick", id_argument("object_id", name)))
    return Case("grasp", CLEANING, say, worlds.objects(random), steps, goals.in_hand(name), facts(name, "bin"), f"{name} is held")


def stack(random: Random, words: str) -> Case:
    """A block onto another one."""
    upper, lower = two(random, BLOCKS)
    a, b = WORDS[upper], WORDS[lower]
    say = said(random, words, "stack", a=a, b=b)
    steps = (LOOK, Step("pick", id_argument("object_id", upper)), Step("place_on", id_argument("target_id", lower)))
    return Case("stack", BUILDING, say, worlds.objects(random), steps, goals.on_top(upper, lower), facts(upper, lower), f"{upper} lies on {lower}")


def unstack(random: Random, words: str) -> Case:
    """The upper block of two to a place on the table."""
    world = worlds.stacked(random)
    taken = np.array([item.pose[:2, 3] for item in world.objects])
    tries = (random.uniform((-0.08, -0.15), (0.10, 0.15)).round(3) for _ in range(500))
    place = next(each for each in tries if np.linalg.norm(taken - each, axis=1).min() > 0.11)
    x, y = place.tolist()
    say = said(random, words, "unstack", x=x, y=y)
    steps = (LOOK, Step("pick", id_argument("object_id", "high")), Step("place_at", lambda play: {"x": x, "y": y}))
    about = facts("high", "low", lambda play: place)
    return Case("unstack", BUILDING, say, world, steps, goals.at("high", lambda play: place), about, f"high lies at {x}, {y}")


def beside(random: Random, words: str) -> Case:
    """An object left or right of another one."""
    name, other = two(random, BLOCKS)
    side = one_of(random, *SIDES)
    say = said(random, words, "beside", side=side, a=WORDS[name], b=WORDS[other])
    sign = 1 if side == "left" else -1

    def placed(play: Play) -> bool:
        apart = play.desk.truth(name).pose[:3, 3] - play.desk.truth(other).pose[:3, 3]
        return bool(0.03 < sign * apart[1] < 0.15 and abs(apart[0]) < sign * apart[1] and abs(apart[2]) < 0.01) and name not in goals.held(play)

    steps = (
        LOOK,
        Step("pick", id_argument("object_id", name)),
        Step("place_beside", lambda play: {"target_id": play.id_of(other), "side": f"{side}_of"}),
    )
    return Case("beside", MANIPULATION, say, worlds.objects(random), steps, placed, facts(name, other), f"{name} stands {side} of {other}")


def push(random: Random, words: str) -> Case:
    """A block pushed along the table."""
    world = worlds.objects(random)
    name, far = str(random.choice(BLOCKS)), float(random.choice([0.04, 0.05, 0.06]))
    side = one_of(random, *SIDES)
    start = next(item for item in world.objects if item.name == name).pose[:2, 3]
    place = start + np.array([0.0, far if side == "left" else -far])
    say = said(random, words, "push", a=WORDS[name], far=f"{100 * far:.0f}", side=side)
    arguments = {"direction": 1.571 if side == "left" else -1.571, "distance": far}
    steps = (LOOK, Step("push", lambda play: {"object_id": play.id_of(name), **arguments}))
    about = facts(name, "bin", lambda play: place)
    return Case("push", MANIPULATION, say, world, steps, goals.at(name, lambda play: place), about, f"{name} lies {far} m further {side}")


def hand(random: Random, words: str) -> Case:
    """The hand to a place in the air."""
    x, y = random.uniform((-0.05, -0.12), (0.1, 0.12)).round(2).tolist()
    z = float(np.round(random.uniform(0.2, 0.26), 2))
    say = said(random, words, "hand", x=x, y=y, z=z)
    steps = (
        Step("plan_motion", lambda play: {"position": [x, y, z]}),
        Step("execute_plan", lambda play: {"plan_id": play.data("plan_motion")["plan_id"]}),
    )

    def there(play: Play) -> bool:
        return float(np.linalg.norm(play.desk.simulation.tcp() - [x, y, z])) < goals.NEAR

    about = facts("red", "bin", lambda play: np.array([x, y, z]))
    return Case("hand", MANIPULATION, say, worlds.objects(random), steps, there, about, f"the hand is at {x}, {y}, {z}")


def take_back(random: Random, words: str) -> Case:
    """What was just done is taken back."""
    world, name = worlds.objects(random), str(random.choice(BLOCKS))
    start = next(item for item in world.objects if item.name == name).pose[:2, 3].copy()
    before = (LOOK, Step("pick", id_argument("object_id", name)), Step("place_in", id_argument("container_id", "bin")))
    say = said(random, words, "take_back")
    goal = goals.at(name, lambda play: start, 0.02)
    return Case("take_back", CLEANING, say, world, (Step("undo_last_act"),), goal, facts(name, "bin", lambda play: start), f"{name} is back", before)


def away(random: Random, words: str) -> Case:
    """The arm out of the way."""
    x, y = random.uniform((0.0, -0.1), (0.1, 0.1)).round(2).tolist()
    before = (
        Step("plan_motion", lambda play: {"position": [x, y, 0.25]}),
        Step("execute_plan", lambda play: {"plan_id": play.data("plan_motion")["plan_id"]}),
    )
    say = said(random, words, "away")

    def home(play: Play) -> bool:
        simulation = play.desk.simulation
        return float(np.abs(simulation.joint_positions() - simulation.arm.named_poses["home"]).max()) < 0.05

    return Case("away", CLEANING, say, worlds.objects(random), (Step("move_home"),), home, facts("red", "bin"), "the arm is at home", before)


def close(random: Random, words: str) -> Case:
    """The fingers together."""
    say = said(random, words, "close")

    def closed(play: Play) -> bool:
        simulation = play.desk.simulation
        return simulation.arm.gripper.width_of(simulation.finger_position()) < simulation.arm.gripper.width_min + 0.005

    return Case("close", MANIPULATION, say, worlds.objects(random), (Step("close_gripper"),), closed, facts("red", "bin"), "the fingers are closed")
