"""Scenarios of the unit task_and_motion_knowledge."""

from __future__ import annotations

import numpy as np

from deskhand.bench.tools.base import Measured, scenario
from deskhand.bench.tools.desk import ScenarioDesk
from deskhand.bench.tools.worlds import stacked


@scenario(
    tool="plan_task",
    name="tower_turned_over",
    situation="Two stacked blocks and a third: four tasks that need the tower taken apart, played through with the rules of the desk.",
    world=stacked,
)
def tower_turned_over(desk: ScenarioDesk) -> Measured:
    ids = desk.look()
    low, high, third, bin_ = (ids[name] for name in ("low", "high", "third", "bin"))
    tasks = [[(low, high)], [(low, bin_)], [(high, third), (low, high)], [(third, low), (high, bin_)]]
    done = 0
    for goals in tasks:
        data = [{"object_id": a, "relation": "in" if b == bin_ else "on", "target_id": b} for a, b in goals]
        steps = desk.call("plan_task", {"goals": data})["steps"]
        below, held, allowed = {low: "table", high: low, third: "table", ids["box"]: "table"}, "", True
        for step in steps:
            target = step["arguments"].get("object_id") or step["arguments"].get("target_id") or step["arguments"].get("container_id") or "table"
            if step["tool"] == "pick":
                allowed &= not held and target not in below.values()
                held = target
                below.pop(held, None)
            else:
                allowed &= bool(held) and (target in (bin_, "table") or target not in below.values())
                below[held], held = target, ""
        done += allowed and all(below.get(a) == b for a, b in goals)
    return Measured(done / len(tasks), "share of the tasks that are solved", equal=1.0)


@scenario(
    tool="plan_task",
    name="played_through",
    situation="The lower of two stacked blocks shall go into the bin: the plan's calls are made.",
    world=stacked,
    changes=True,
)
def played_through(desk: ScenarioDesk) -> Measured:
    ids = desk.look()
    plan = desk.call("plan_task", {"goals": [{"object_id": ids["low"], "relation": "in", "target_id": ids["bin"]}]})
    for step in plan["steps"]:
        desk.call(step["tool"], step["arguments"])
    off = np.abs(desk.truth("low").pose[:2, 3] - desk.truth("bin").pose[:2, 3])
    return Measured(1000 * float(off.max()), "mm from the middle of the bin", at_most=80.0)


@scenario(
    tool="plan_structure",
    name="tower_of_three",
    situation="A tower of the three blocks on the desk: how far apart are the places of its blocks, seen from above?",
)
def tower_of_three(desk: ScenarioDesk) -> Measured:
    desk.look()
    steps = desk.call("plan_structure", {"structure_name": "tower", "count": 3})["steps"]
    carried = [step["on"] == ([steps[k - 1]["object_id"]] if k else []) for k, step in enumerate(steps)]
    spread = float(np.ptp([[step["x"], step["y"]] for step in steps], axis=0).max())
    return Measured(1000 * spread if all(carried) and len(steps) == 3 else float("nan"), "mm", at_most=0.2)


@scenario(tool="plan_structure", name="site_is_free", situation="A row of three blocks: how near does its site come to what stands on the desk?")
def site_is_free(desk: ScenarioDesk) -> Measured:
    ids = desk.look()
    steps = desk.call("plan_structure", {"structure_name": "row", "count": 3})["steps"]
    used = {step["object_id"] for step in steps}
    others = [name for name in desk.names if ids.get(name) not in used]
    gaps = []
    for name in others:
        truth = desk.truth(name)
        reach = float(np.linalg.norm(truth.size[:2])) / 2
        gaps += [float(np.linalg.norm(truth.pose[:2, 3] - [step["x"], step["y"]])) - reach - 0.02 for step in steps]
    return Measured(1000 * min(gaps), "mm between the row and the nearest object", at_least=15.0)


@scenario(tool="check_reachable", name="near_and_far", situation="Objects within reach, and one that a hand has put beyond it: right for each?", changes=True)
def near_and_far(desk: ScenarioDesk) -> Measured:
    far = desk.truth("can").pose.copy()
    far[:2, 3] = desk.random.uniform([0.30, 0.28], [0.33, 0.30]) * [1, desk.random.choice([-1, 1])]
    desk.put("can", far)
    ids = desk.look()
    base, reach = desk.robot.arm.world_T_base[:2, 3], desk.robot.arm.reach
    right = []
    for name in ("red", "green", "blue", "can"):
        away = float(np.linalg.norm(desk.truth(name).pose[:2, 3] - base))
        right.append(desk.call("check_reachable", {"object_id": ids[name]})["reachable"] == (away < reach))
    return Measured(sum(right) / len(right), "share of the answers that are right", equal=1.0)


@scenario(tool="check_reachable", name="as_the_pick_goes", situation="A block that is told to be within reach: does the pick lift it?", changes=True)
def as_the_pick_goes(desk: ScenarioDesk) -> Measured:
    ids = desk.look()
    told = desk.call("check_reachable", {"object_id": ids["blue"]})
    lifted = desk.result("pick", {"object_id": ids["blue"]}).ok and "blue" in desk.simulation.truth().in_hand
    return Measured(float(told["reachable"] and told["grasps"] > 0 and lifted), "1 when both hold", equal=1.0)


@scenario(
    tool="what_can_do",
    name="played_through",
    situation="Nobody has looked: what it names to get something into the hand is called in its order, then what empties the hand.",
    changes=True,
)
def enabled_and_undone(desk: ScenarioDesk) -> Measured:
    name = str(desk.random.choice(["red", "green", "blue"]))
    way = next(one for one in desk.call("what_can_do", {"state": "holding"})["tools"] if one["tool"] == "pick")
    for tool in way["first"]:
        desk.call(tool)
    desk.call("pick", {"object_id": desk.recognised()[name]})
    held = desk.simulation.truth().in_hand == (name,)
    told = desk.call("what_can_do", {"state": "not_holding"})
    free = next(one for one in told["tools"] if one["tool"] == "put_aside")
    for tool in (*free["first"], "put_aside"):
        desk.call(tool)
    right = held and not told["holds"] and desk.call("what_can_do", {"state": "not_holding"})["holds"]
    return Measured(float(right and not desk.simulation.truth().in_hand), "1 when held, then not", equal=1)


@scenario(
    tool="what_can_do",
    name="refused_until_then",
    situation="Nobody has looked and nothing is held: is every tool refused for which it names others to call first?",
)
def refused_until_then(desk: ScenarioDesk) -> Measured:
    refused = asked = 0
    for state in ("holding", "not_holding", "scene_known", "view_fresh", "at_home"):
        for told in desk.call("what_can_do", {"state": state})["tools"]:
            if told["first"]:
                example = desk.session.describe(told["tool"])["examples"][0]["arguments"]
                asked, refused = asked + 1, refused + (desk.result(told["tool"], example).code == "precondition_failed")
    return Measured(refused / asked if asked else float("nan"), "share of these tools", equal=1.0)
