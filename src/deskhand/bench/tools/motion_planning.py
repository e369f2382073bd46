"""Scenarios of the unit motion_planning."""

from __future__ import annotations

import time

import numpy as np

from deskhand.bench.tools.base import Measured, scenario
from deskhand.bench.tools.controller_dispatch import over_the_desk
from deskhand.bench.tools.desk import ScenarioDesk
from deskhand.bench.tools.motions import Reference, low_between, named, random_joints

CLEAR = 0.003  # [m] beside which neither side is asked to be right


@scenario(tool="plan_motion", name="nothing_is_touched", situation="To three points low between the objects: how far is anything moved on the way?")
def nothing_is_touched(desk: ScenarioDesk) -> Measured:
    desk.look()
    before = {name: desk.truth(name).pose[:3, 3].copy() for name in desk.names}
    for position in (low_between(desk, height) for height in (0.06, 0.06, 0.08)):
        desk.call("execute_plan", {"plan_id": desk.call("plan_motion", {"position": position})["plan_id"]})
    moved = max(float(np.linalg.norm(desk.truth(name).pose[:3, 3] - before[name])) for name in desk.names)
    return Measured(1000 * moved, "mm that an object moved at most", at_most=1.0)


@scenario(
    tool="path_feasibility",
    name="known_paths",
    situation="Eight paths that can or cannot be followed, for reasons of reach, table and objects, which must be told.",
)
def known_paths(desk: ScenarioDesk) -> Measured:
    desk.look()
    can = desk.truth("can").pose[:2, 3]
    through = [[float(can[0]), float(can[1]) - 0.09, 0.05], [float(can[0]), float(can[1]) + 0.09, 0.05]]
    high, low = round(float(desk.random.uniform(0.19, 0.22)), 3), low_between(desk, 0.06)
    rows = [
        ([[0.0, -0.1, high], [0.0, 0.1, high]], True),
        ([[0.05, 0.0, high - 0.05]], True),
        ([[0.0, 0.0, high], [0.08, 0.0, high], [0.08, 0.08, high]], True),
        ([[*low[:2], 0.15], low], True),
        (through, False),
        ([[0.6, 0.0, 0.2]], False),
        ([[*low[:2], 0.12], [*low[:2], -0.02]], False),
        ([[0.1, 0.0, 0.15], [0.55, 0.0, 0.15]], False),
    ]
    told = [desk.call("path_feasibility", {"waypoints": points}) for points, _ in rows]
    right = [one["feasible"] == good and (good or bool(one["code"] and one["reason"])) for one, (_, good) in zip(told, rows, strict=True)]
    return Measured(sum(right) / len(right), "share of the verdicts that are right", equal=1.0)


@scenario(
    tool="path_feasibility",
    name="contacts_of_postures",
    situation="60 random postures: does it see the contacts that the simulator sees, deeper than 3 mm, and none where that has none?",
)
def contacts_of_postures(desk: ScenarioDesk) -> Measured:
    desk.look()
    reference, agree, count = Reference(desk), 0, 0
    for joints in random_joints(desk, 60):
        depth = reference.depth(joints)
        verdict = desk.call("path_feasibility", {"joints": [named(desk, joints)]})
        if depth > CLEAR or verdict["feasible"]:  # the checker's bodies are a little larger than the simulator's: a touch more is no error
            count, agree = count + 1, agree + (verdict["feasible"] == (depth <= CLEAR))
    return Measured(agree / count, "share of the postures judged alike", at_least=1.0)


@scenario(
    tool="motion_repair",
    name="blocked_and_too_low",
    situation="A path through a can, a point in the table, one inside a box: is each repaired within 6 cm, so that path_feasibility agrees?",
)
def blocked_and_too_low(desk: ScenarioDesk) -> Measured:
    desk.look()
    can, box = desk.truth("can").pose[:3, 3], desk.truth("box").pose[:3, 3]
    cases = [
        [[float(can[0]), float(can[1]) - 0.09, 0.05], [float(can[0]), float(can[1]) + 0.09, 0.05]],
        [low_between(desk, -0.02)],
        [[float(box[0]), float(box[1]), 0.02]],
    ]
    good = 0
    for points in cases:
        fixed = desk.call("motion_repair", {"waypoints": points})
        if fixed["repaired"] and fixed["offset"] <= 0.06:
            again = {"waypoints": fixed["waypoints"], "approach": fixed["approach"], "yaw": fixed["yaw"]}
            good += desk.call("path_feasibility", again)["feasible"]
    return Measured(good / len(cases), "share that is repaired", equal=1.0)


@scenario(tool="plan_manipulation", name="as_it_turns_out", situation="A block into the bin, and one out of reach: does it work out as it was told?")
def as_it_turns_out(desk: ScenarioDesk) -> Measured:
    ids = desk.look()
    told = desk.call("plan_manipulation", {"object_id": ids["red"], "target_id": ids["bin"]})["feasible"]
    away = desk.call("plan_manipulation", {"object_id": ids["green"], "position": [0.44, -0.5]})["feasible"]
    picked = desk.result("pick", {"object_id": ids["red"]}).ok and desk.result("place_in", {"container_id": ids["bin"]}).ok
    return Measured((float(told == picked) + float(not away)) / 2, "share of the predictions that hold", equal=1.0)


@scenario(tool="plan_motion", name="refuses_what_cannot_be", situation="Four goals in the table, in objects and out of reach: is there no plan for any?")
def refuses_what_cannot_be(desk: ScenarioDesk) -> Measured:
    desk.look()
    box = desk.truth("box").pose[:3, 3]
    goals = ([0.0, -0.2, -0.03], [float(box[0]), float(box[1]), 0.01], [0.62, 0.0, 0.2], [0.0, 0.8, 0.1])
    refused = [desk.result("plan_motion", {"position": list(goal)}).code in ("no_ik_solution", "goal_in_collision", "planning_failed") for goal in goals]
    return Measured(sum(refused) / len(goals), "share refused", equal=1.0)


@scenario(tool="motion_repair", name="leaves_what_is_possible", situation="Two motions that exist: is nothing changed?")
def leaves_what_is_possible(desk: ScenarioDesk) -> Measured:
    desk.look()
    fixed = [desk.call("motion_repair", {"waypoints": points}) for points in ([over_the_desk(desk)], [[0.0, -0.1, 0.2], [0.0, 0.1, 0.2]])]
    return Measured(sum(one["offset"] + len(one["changed"]) for one in fixed), "changes", equal=0.0)


@scenario(
    tool="plan_manipulation",
    name="clearance_is_kept",
    situation="A block to three places on the table: is each motion feasible, and how near does the way there and over come to anything?",
)
def clearance_is_kept(desk: ScenarioDesk) -> Measured:
    ids = desk.look()
    least = 1.0
    for position in (desk.free_pose("red")[:2, 3].round(3).tolist() for _ in range(3)):
        given = desk.call("plan_manipulation", {"object_id": ids["red"], "position": position})
        over = [leg["clearance"] for leg in given["legs"] if leg["name"] in ("approach", "transfer") and leg["clearance"] is not None]
        least = min([least, *over]) if given["feasible"] else 0.0
    return Measured(1000 * least, "mm", at_least=2.0)


@scenario(
    tool="estimate_cost",
    name="seconds",
    situation="After calls that were timed by a watch of one's own: the estimate of a chain of them against the sum of their medians.",
)
def seconds(desk: ScenarioDesk) -> Measured:
    taken: dict[str, list[float]] = {"detect_objects": [], "describe_scene": [], "plan_motion": []}
    for number in range(5):
        for name, times in taken.items():
            begun = time.perf_counter()
            desk.call(name, {"position": [0.0, 0.02 * number, 0.25]} if name == "plan_motion" else {})
            times.append(time.perf_counter() - begun)
    chain = ["detect_objects", "plan_motion", "describe_scene", "plan_motion"]
    told = desk.call("estimate_cost", {"calls": chain})["seconds"]
    return Measured(abs(told / sum(float(np.median(taken[name])) for name in chain) - 1.0), "share of the time", at_most=0.1)


@scenario(
    tool="estimate_cost",
    name="risk",
    situation="Plans to places of which a drawn number is out of reach: the estimated success of two such calls against the share of calls that succeeded.",
)
def risk(desk: ScenarioDesk) -> Measured:
    failing = int(desk.random.integers(1, 5))
    results = [desk.result("plan_motion", {"position": [0.0, 0.0, 0.25] if number >= failing else [1.4, 0.0, 0.3]}).ok for number in range(12)]
    told = desk.call("estimate_cost", {"calls": ["plan_motion", "plan_motion", "get_robot_state"]})
    right = told["unmeasured"] == ["get_robot_state"] and told["calls"][0]["calls"] == len(results)
    return Measured(abs(told["success"] - (sum(results) / len(results)) ** 2) if right else float("nan"), "difference of probabilities", at_most=0.12)
