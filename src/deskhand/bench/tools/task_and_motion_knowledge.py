"""Scenarios of the unit task_and_motion_knowledge."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np

from deskhand.bench.tools.base import Measured, scenario
from deskhand.bench.tools.desk import ScenarioDesk
from deskhand.bench.tools.worlds import plates_and_blocks, stacked
from deskhand.etp.base import ToolResult
from deskhand.perception.demonstration.video import write_video
from deskhand.sim.spec import pose_at
from deskhand.tools.base import load_tools, make_session
from deskhand.types import Frame


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


@scenario(tool="check_reachable", name="near_and_far", situation="Objects within reach, and one that a hand has put beyond it: right for each?")
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


@scenario(tool="check_reachable", name="as_the_pick_goes", situation="A block that is told to be within reach: does the pick lift it?")
def as_the_pick_goes(desk: ScenarioDesk) -> Measured:
    ids = desk.look()
    told = desk.call("check_reachable", {"object_id": ids["blue"]})
    lifted = desk.result("pick", {"object_id": ids["blue"]}).ok and "blue" in desk.simulation.truth().in_hand
    return Measured(float(told["reachable"] and told["grasps"] > 0 and lifted), "1 when both hold", equal=1.0)


@scenario(
    tool="what_can_do",
    name="played_through",
    situation="Nobody has looked: what it names to get something into the hand is called in its order, then what empties the hand.",
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


def _shown(desk: ScenarioDesk) -> tuple[list[Frame], list[str]]:
    """A hand puts a block of each colour onto the plate of a rank, and one onto the two first: the frames, and what is done."""
    plates = [item.pose for item in desk.simulation.built.spec.fixtures]
    order = [desk.names[int(number)] for number in desk.random.permutation(3)]
    first, second = sorted(int(number) for number in desk.random.choice([[0, 1], [1, 2]]))
    middle = plates[first].copy()
    middle[:3, 3] = (plates[first][:3, 3] + plates[second][:3, 3]) / 2
    lift = {0: 0.0205, 1: 0.0525}
    places = [plates[first] @ pose_at(0, 0, lift[0]), plates[second] @ pose_at(0, 0, lift[0]), middle @ pose_at(0, 0, lift[1])]
    frames = [desk.robot.observe(), desk.robot.observe()]
    for name, place in zip(order, places, strict=True):
        desk.put(name, place @ pose_at(0, 0, 0.09), settle=0.0)
        frames.append(desk.robot.observe())
        desk.put(name, place, settle=1.0)
        frames += [desk.robot.observe(), desk.robot.observe()]
    ranks = ("lightest", "middle", "darkest")
    told = [f"put the {name} block on the {ranks[number]} brown plate" for name, number in zip(order, (first, second), strict=False)]
    return frames, [*told, f"put the {order[2]} block on the {order[0]} and {order[1]} blocks"]


@scenario(
    tool="watch_demonstration",
    name="three_acts",
    situation="A hand puts two blocks onto plates of some lightness and a third across them, filmed: the share of the acts that is told as it was.",
    world=plates_and_blocks,
)
def three_acts(desk: ScenarioDesk) -> Measured:
    frames, true = _shown(desk)
    heard = _watched(desk, frames)
    told = [step["text"] for step in heard.data["steps"]] if heard.ok else []
    return Measured(sum(a == b for a, b in zip(told, true, strict=False)) / max(len(told), len(true)), "share of the acts", equal=1.0)


def _watched(desk: ScenarioDesk, frames: list[Frame]) -> ToolResult:
    """What the tool says of a video of these frames, in a folder that the operator named."""
    with tempfile.TemporaryDirectory() as folder:
        write_video(Path(folder) / "shown.zip", frames, desk.robot.joint_state())
        session = make_session(desk.robot, desk.belief, registry=load_tools(others=False)[0], folders=(Path(folder),))
        return session.invoke("watch_demonstration", {"video_uri": "shown.zip"})


@scenario(
    tool="watch_demonstration",
    name="nothing_is_done",
    situation="A hand lifts a block and puts it back to where it was, filmed: nothing may be told as an act.",
    world=plates_and_blocks,
)
def nothing_is_done(desk: ScenarioDesk) -> Measured:
    before = desk.truth("red").pose.copy()
    frames = [desk.robot.observe(), desk.robot.observe()]
    desk.put("red", before @ pose_at(0, 0, 0.1), settle=0.0)
    frames.append(desk.robot.observe())
    desk.put("red", before, settle=0.5)
    frames += [desk.robot.observe(), desk.robot.observe()]
    heard = _watched(desk, frames)
    return Measured(float(heard.code == "invalid_input" and "nothing that is done" in heard.message), "1: said so", equal=1)


@scenario(
    tool="steps_for_scene",
    name="who_is_missing",
    situation="Of two blocks of a demonstration one has a colour that no object here has, while two others may be meant: it must be told as missing.",
    world=plates_and_blocks,
)
def who_is_missing(desk: ScenarioDesk) -> Measured:
    ids = desk.look()
    steps = [
        {"text": "", "act": "put", "what": _block(name), "relation": "on", "where": [{"kind": "plate", "color": "brown", "rank": rank}]}
        for name, rank in (("red", "lightest"), ("yellow", "middle"))
    ]
    heard = desk.call("steps_for_scene", {"steps": steps})
    named = [act["object_id"] for act in heard["acts"]] == [ids["red"]] and any("yellow block" in text for text in heard["missing"])
    return Measured(float(named), "1: said so", equal=1)


def _block(color: str) -> dict[str, str]:
    return {"kind": "block", "color": color, "rank": ""}


@scenario(
    tool="steps_for_scene",
    name="on_the_middle",
    situation="A block shall go onto the middle one of three plates, another onto the darkest: how far from their middles do the acts put them?",
    world=plates_and_blocks,
)
def on_the_middle(desk: ScenarioDesk) -> Measured:
    ids = desk.look()
    wanted = {"green": ("middle", 1), "red": ("darkest", 2)}
    steps = [
        {"text": "", "act": "put", "what": _block(name), "relation": "on", "where": [{"kind": "plate", "color": "brown", "rank": rank}]}
        for name, (rank, _) in wanted.items()
    ]
    acts = desk.call("steps_for_scene", {"steps": steps})["acts"]
    if [act["object_id"] for act in acts] != [ids[name] for name in wanted]:
        return Measured(float("nan"), "mm off at most", at_most=6.0)
    plates = [item.pose[:2, 3] for item in desk.simulation.built.spec.fixtures]
    off = [float(np.linalg.norm([act["x"], act["y"]] - plates[number])) for act, (_, number) in zip(acts, wanted.values(), strict=True)]
    return Measured(1000 * max(off), "mm off at most", at_most=6.0)
