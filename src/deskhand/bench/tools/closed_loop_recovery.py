"""Scenarios of the unit closed_loop_recovery."""

from __future__ import annotations

import numpy as np

from deskhand.bench.tools.base import Measured, scenario
from deskhand.bench.tools.controller_dispatch import over_the_desk
from deskhand.bench.tools.desk import ScenarioDesk
from deskhand.bench.tools.worlds import alike, bare
from deskhand.errors import ERROR_NUMBERS
from deskhand.geometry import rpy_from_rotation
from deskhand.safety.settings import load_safety


@scenario(tool="advise_recovery", name="every_code", situation="Every error code there is: is there something to do or to say for each?", world=bare)
def every_code(desk: ScenarioDesk) -> Measured:
    given = [desk.call("advise_recovery", {"code": code}) for code in ERROR_NUMBERS]
    return Measured(sum(bool(one["give_up"]) and (not one["retry"] or bool(one["actions"])) for one in given) / len(given), "share of the codes", equal=1.0)


@scenario(
    tool="advise_recovery",
    name="gets_there",
    situation="A hand has carried a block away before it is picked: do the steps that are advised bring it into the hand?",
)
def gets_there(desk: ScenarioDesk) -> Measured:
    ids = desk.look()
    number = ids["green"]
    desk.shift("green", desk.free_shift("green", 0.06, 0.15))
    failed = desk.result("pick", {"object_id": number})
    tries = 1
    while not failed.ok:
        advice = desk.call("advise_recovery", {"code": failed.code, "failed_tool": "pick", "object_id": number, "attempts": tries})
        if not advice["retry"]:
            break
        for action in advice["actions"]:
            if action["tool"] in ("detect_objects", "move_home", "open_gripper", "find_again"):
                done = desk.result(action["tool"], action["arguments"])
                number = done.data["object_id"] if action["tool"] == "find_again" and done.ok and done.data["found"] else number
        failed = desk.result("pick", {"object_id": number})
        tries += 1
    return Measured(float("green" in desk.simulation.truth().in_hand), "1 when it is held", equal=1.0)


@scenario(
    tool="find_again",
    name="carried_away",
    situation="A blue block and a can are carried to other places by a hand: are they found under their present ids?",
    world=alike,
)
def carried_away(desk: ScenarioDesk) -> Measured:
    before = desk.look()
    for name in ("small", "can"):
        desk.shift(name, desk.free_shift(name, 0.15, 0.35))
    found = {name: desk.call("find_again", {"object_id": before[name]}) for name in ("small", "can")}
    scene = desk.belief.scene
    assert scene is not None
    right = 0
    for name, one in found.items():
        right += one["found"] and float(np.linalg.norm(scene.get(one["object_id"]).position - desk.truth(name).pose[:3, 3])) < 0.03
    return Measured(right / 2, "share found where it really is", equal=1.0)


@scenario(tool="find_again", name="not_the_twin", situation="One of two alike blocks is taken away for good: is the other taken for it?", world=alike)
def not_the_twin(desk: ScenarioDesk) -> Measured:
    before = desk.look()
    desk.shift("left", (0.0, 5.0))
    return Measured(float(desk.call("find_again", {"object_id": before["left"]})["found"]), "1 when it is mistaken", equal=0.0)


@scenario(tool="undo_last_act", name="back_in_place", situation="A block is placed elsewhere, then that is taken back: how far is it from where it was?")
def back_in_place(desk: ScenarioDesk) -> Measured:
    ids = desk.look()
    before, place = desk.truth("green").pose[:2, 3].copy(), desk.free_pose("green")[:2, 3].round(3)
    desk.call("pick", {"object_id": ids["green"]})
    desk.call("place_at", {"x": place[0], "y": place[1]})
    desk.call("undo_last_act")
    return Measured(1000 * float(np.linalg.norm(desk.truth("green").pose[:2, 3] - before)), "mm off", at_most=12.0)


@scenario(tool="undo_last_act", name="a_pick", situation="A block is picked, then that is taken back: how far is it from where it was?")
def a_pick(desk: ScenarioDesk) -> Measured:
    ids = desk.look()
    before = desk.truth("red").pose[:2, 3].copy()
    desk.call("pick", {"object_id": ids["red"]})
    desk.call("undo_last_act")
    return Measured(1000 * float(np.linalg.norm(desk.truth("red").pose[:2, 3] - before)), "mm off", at_most=12.0)


@scenario(tool="stop_motion", name="stays_stopped", situation="Stopped, then a motion is asked for: how far does the arm move?", world=bare)
def stays_stopped(desk: ScenarioDesk) -> Measured:
    plan = desk.call("plan_motion", {"position": over_the_desk(desk)})["plan_id"]
    desk.call("stop_motion", {"reason": "scenario"})
    before = desk.robot.tcp_pose()[:3, 3]
    refused = not desk.result("execute_plan", {"plan_id": plan}).ok and not desk.result("move_home").ok
    desk.simulation.step(0.5)
    return Measured(1000 * float(np.linalg.norm(desk.robot.tcp_pose()[:3, 3] - before)) if refused else float("nan"), "mm moved", at_most=1.0)


@scenario(tool="stop_motion", name="in_the_middle", situation="The arm is stopped in the middle of a motion: how far does it go on?", world=bare)
def in_the_middle(desk: ScenarioDesk) -> Measured:
    where: list[np.ndarray] = []

    def watch(fraction: float, text: str) -> None:
        if fraction > 0.4 and not where:
            desk.call("stop_motion", {"reason": "scenario"})
            where.append(desk.robot.tcp_pose()[:3, 3])

    plan = desk.call("plan_motion", {"position": over_the_desk(desk), "speed_scale": 0.5})["plan_id"]
    result = desk.session.invoke("execute_plan", {"plan_id": plan}, feedback=watch)
    desk.simulation.step(0.5)
    gone = float(np.linalg.norm(desk.robot.tcp_pose()[:3, 3] - where[0])) if where else float("nan")
    return Measured(1000 * gone if result.code == "safety_stop" else float("nan"), "mm after the stop", at_most=60.0)


@scenario(
    tool="sanitize_actions", name="hostile", situation="30 random actions with missing numbers, far places and leaps: how many that come back break a bound?"
)
def hostile_actions(desk: ScenarioDesk) -> Measured:
    random = desk.random
    actions: list[list[float | None]] = [[*random.uniform(-2, 2, 3), *random.uniform(-9, 9, 3), random.uniform(-1, 2)] for _ in range(30)]
    for row in random.integers(0, 30, 12):
        actions[int(row)][int(random.integers(0, 7))] = None
    given = np.array(desk.call("sanitize_actions", {"actions": actions, "step": 0.05, "turn": 0.5})["actions"])
    safety = load_safety()
    path = np.vstack([desk.robot.tcp_pose()[:3, 3], given[:, :3]])
    wrong = ~np.isfinite(given).all(axis=1) | (given[:, :3] < safety.lower - 1e-4).any(axis=1) | (given[:, :3] > safety.upper + 1e-4).any(axis=1)
    wrong |= (np.linalg.norm(np.diff(path, axis=0), axis=1) > 0.0502) | (given[:, 6] < 0) | (given[:, 6] > 1)
    return Measured(float(wrong.sum()), "actions", equal=0)


@scenario(
    tool="sanitize_actions", name="good_ones", situation="Ten good actions within a step of each other: they must come back as they were, with nothing to tell."
)
def good_actions(desk: ScenarioDesk) -> Measured:
    pose = desk.robot.tcp_pose()
    start = [*pose[:3, 3], *rpy_from_rotation(pose[:3, :3])]
    along = desk.random.uniform(-0.01, 0.01, 3)
    actions = [[*(start[:3] + step * along).tolist(), *start[3:], 1.0] for step in range(1, 11)]
    given = desk.call("sanitize_actions", {"actions": actions})
    error = np.abs(np.array(given["actions"]) - actions).max() if len(given["actions"]) == 10 else np.nan
    return Measured(float(error) if not given["mended"] else float("nan"), "largest change", at_most=1e-4)
