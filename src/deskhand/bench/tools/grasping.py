"""Scenarios of the unit grasping: what is held and where it lands, by the truth."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from deskhand.bench.tools.base import Measured, scenario
from deskhand.bench.tools.desk import ScenarioDesk
from deskhand.bench.tools.drawing import stands_free
from deskhand.bench.tools.worlds import EDGE, open_furniture, scales, stacked
from deskhand.errors import DeskhandError
from deskhand.geometry import inverse, transform_points
from deskhand.sim.spec import pose_at

FINGERS = 0.045  # [m] to others beside a block that is put down: the open fingers and 3 mm


WAYS = {"behind": np.array([1.0, 0.0]), "in_front_of": np.array([-1.0, 0.0]), "left_of": np.array([0.0, 1.0]), "right_of": np.array([0.0, -1.0])}
"""Sides as the tools name them, and the way there (2,) in world."""


def free_side(desk: ScenarioDesk, moved: str, target: str, gap: float) -> str:
    """A drawn side of the target at which a block has room with the fingers, ``gap`` [m] off.

    Raises:
        DeskhandError: ``no_free_space``.
    """
    at, carried = desk.truth(target).pose[:2, 3], desk.standing(moved)
    for side in desk.random.permutation(list(WAYS)):
        there = at + (EDGE + gap) * WAYS[side]
        put = replace(carried, pose=pose_at(float(there[0]), float(there[1]), EDGE / 2))
        if stands_free(desk.simulation.built.spec, put, desk.others(moved, target), FINGERS):
            return str(side)
    raise DeskhandError("no_free_space", f"{target} has no side with room for {moved}.")


@scenario(tool="generate_grasps", name="width", situation="The best grasps of three blocks: how far are the widths from the true edges?")
def width(desk: ScenarioDesk) -> Measured:
    ids = desk.look()
    names = ("red", "green", "blue")
    best = [desk.call("generate_grasps", {"object_id": ids[name], "max_grasps": 1})["grasps"][0]["width"] for name in names]
    return Measured(1000 * float(np.abs(np.array(best) - [desk.truth(name).size[0] for name in names]).max()), "mm off at most", at_most=5.0)


@scenario(
    tool="generate_grasps", name="between_the_sides", situation="Ten grasps of a block: how far is the hand's middle from the true middle of the block, across?"
)
def between_the_sides(desk: ScenarioDesk) -> Measured:
    ids = desk.look()
    truth, worst = desk.truth("green").pose, 0.0
    for grasp in desk.call("generate_grasps", {"object_id": ids["green"], "max_grasps": 10})["grasps"]:
        worst = max(worst, abs(float((np.array(grasp["position"]) - truth[:3, 3]) @ np.array(grasp["closing"]))))
    return Measured(1000 * worst, "mm off at most", at_most=6.0)


@scenario(
    tool="grasp_from_cloud",
    name="closes_on_the_thing",
    situation="Grasps from the points of three blocks: would the pads close on the true object, within 5 mm of its middle?",
)
def closes_on_the_object(desk: ScenarioDesk) -> Measured:
    ids = desk.look()
    worst = 0.0
    for name in ("red", "green", "blue"):
        grasp = desk.call("grasp_from_cloud", {"object_id": ids[name]})["grasps"][0]
        off = np.array(grasp["position"])[:2] - desk.truth(name).pose[:2, 3]
        worst = max(worst, abs(float(off @ np.array(grasp["closing"])[:2])))
    return Measured(1000 * worst, "mm off at most", at_most=8.0)


@scenario(
    tool="grasp_from_cloud",
    name="from_a_place_alone",
    situation="A place without a name: does the hand that it gives really lift the block there?",
)
def from_a_place_alone(desk: ScenarioDesk) -> Measured:
    desk.look()
    spot = desk.truth("green").pose[:3, 3]
    grasp = desk.call("grasp_from_cloud", {"position": spot.round(3).tolist(), "radius": 0.04})["grasps"][0]
    above = [*grasp["position"][:2], grasp["position"][2] + 0.08]
    desk.call("execute_plan", {"plan_id": desk.call("plan_motion", {"position": above, "yaw": grasp["yaw"]})["plan_id"]})
    down = desk.robot.tcp_pose().copy()
    down[2, 3] = grasp["position"][2]
    from deskhand.types import PlanOptions

    number = next(item.id for item in desk.belief.scene.objects if np.linalg.norm(item.position - spot) < 0.03)  # type: ignore[union-attr]
    desk.call("execute_plan", {"plan_id": desk.robot.plan_cartesian((down,), PlanOptions(allow=(("gripper", number),))).id})
    desk.call("close_gripper")
    up = desk.robot.tcp_pose().copy()
    up[2, 3] += 0.06
    desk.call("execute_plan", {"plan_id": desk.robot.plan_cartesian((up,), PlanOptions(allow=(("gripper", number),))).id})
    return Measured(1000 * (float(desk.truth("green").pose[2, 3]) - desk.truth("green").size[2] / 2), "mm lifted", at_least=40.0)


@scenario(tool="pick", name="lifted", situation="A block is picked: how high is it really, between both fingers?")
def lifted(desk: ScenarioDesk) -> Measured:
    ids = desk.look()
    desk.call("pick", {"object_id": ids["red"]})
    held = "red" in desk.simulation.truth().in_hand
    return Measured(1000 * (float(desk.truth("red").pose[2, 3]) - desk.truth("red").size[2] / 2) if held else 0.0, "mm lifted", at_least=40.0)


@scenario(tool="place_in", name="inside", situation="A block is put into the bin: how far is its middle from the inside walls?")
def inside(desk: ScenarioDesk) -> Measured:
    ids = desk.look()
    desk.call("pick", {"object_id": ids["red"]})
    desk.call("place_in", {"container_id": ids["bin"]})
    box = desk.truth("bin")
    local = transform_points(inverse(box.pose), desk.truth("red").pose[:3, 3])
    return Measured(1000 * float((np.asarray(box.size[:2]) / 2 - 0.004 - np.abs(local[:2])).min()), "mm inside the walls", at_least=5.0)


@scenario(
    tool="place_in",
    name="into_an_open_drawer",
    situation="A block is put into a drawer that stands open: how high above the table does its middle come to lie?",
    world=open_furniture,
)
def into_an_open_drawer(desk: ScenarioDesk) -> Measured:
    ids = desk.look()
    drawer = next(item["id"] for item in desk.call("detect_objects")["objects"] if item["label"] == "drawer")
    desk.call("pick", {"object_id": ids["block"]})
    desk.call("place_in", {"container_id": drawer})
    fixture = next(one for one in desk.simulation.built.spec.fixtures if one.name == "drawer")
    local = transform_points(inverse(fixture.pose), desk.truth("block").pose[:3, 3])
    inside = abs(local[1]) < fixture.size[1] / 2 and -fixture.size[0] / 2 - fixture.opened < local[0] < -fixture.size[0] / 2
    return Measured(1000 * float(local[2]) if inside else float("inf"), "mm, on its floor", at_most=35.0)


@scenario(tool="place_on", name="centre_over_centre", situation="A block is put on another: how far apart are their centres?", world=stacked)
def centre_over_centre(desk: ScenarioDesk) -> Measured:
    ids = desk.look()
    desk.call("pick", {"object_id": ids["high"]})
    desk.call("place_on", {"target_id": ids["third"]})
    off = desk.truth("high").pose[:3, 3] - desk.truth("third").pose[:3, 3]
    return Measured(1000 * float(np.linalg.norm(off[:2])) if abs(off[2] - EDGE) < 0.003 else float("nan"), "mm apart", at_most=10.0)


@scenario(tool="place_at", name="exact_place", situation="A block is put to a place with a turn: how far is it off?")
def exact_place(desk: ScenarioDesk) -> Measured:
    ids = desk.look()
    place, yaw = desk.free_pose("green")[:2, 3].round(3), float(desk.random.uniform(-0.7, 0.7))
    desk.call("pick", {"object_id": ids["green"]})
    desk.call("place_at", {"x": place[0], "y": place[1], "yaw": yaw})
    return Measured(1000 * float(np.linalg.norm(desk.truth("green").pose[:2, 3] - place)), "mm off", at_most=10.0)


@scenario(
    tool="pick",
    name="the_upper_one",
    situation="The upper of two stacked blocks is picked: is it held, and how far was the lower one moved?",
    world=stacked,
)
def the_upper_one(desk: ScenarioDesk) -> Measured:
    ids = desk.look()
    before = desk.truth("low").pose[:3, 3].copy()
    desk.call("pick", {"object_id": ids["high"]})
    moved = float(np.linalg.norm(desk.truth("low").pose[:3, 3] - before))
    return Measured(1000 * moved if desk.simulation.truth().in_hand == ("high",) else float("nan"), "mm that the lower one moved", at_most=8.0)


@scenario(tool="place_in", name="the_second_beside_the_first", situation="Two blocks one after the other: how many lie within the walls of the bin?")
def the_second_beside_the_first(desk: ScenarioDesk) -> Measured:
    ids = desk.look()
    box = desk.truth("bin")
    for name in ("red", "green"):
        desk.call("pick", {"object_id": ids[name]})
        desk.call("place_in", {"container_id": ids["bin"]})
    local = [transform_points(inverse(box.pose), desk.truth(name).pose[:3, 3]) for name in ("red", "green")]
    return Measured(float(sum(bool(np.all(np.abs(one[:2]) < np.asarray(box.size[:2]) / 2)) for one in local)), "blocks inside", equal=2.0)


@scenario(
    tool="place_on",
    name="a_tower_again",
    situation="The third block on the upper of two: how far is its centre from that of the lowest, seen from above?",
    world=stacked,
)
def a_tower_again(desk: ScenarioDesk) -> Measured:
    ids = desk.look()
    desk.call("pick", {"object_id": ids["third"]})
    desk.call("place_on", {"target_id": ids["high"]})
    off = desk.truth("third").pose[:3, 3] - desk.truth("low").pose[:3, 3]
    return Measured(1000 * float(np.linalg.norm(off[:2])) if abs(off[2] - 2 * EDGE) < 0.004 else float("nan"), "mm apart", at_most=10.0)


@scenario(tool="place_at", name="any_turn", situation="A block is put to a place with any turn: how far is it off?")
def any_turn(desk: ScenarioDesk) -> Measured:
    ids = desk.look()
    place = desk.free_pose("red")[:2, 3].round(3)
    desk.call("pick", {"object_id": ids["red"]})
    desk.call("place_at", {"x": place[0], "y": place[1]})
    return Measured(1000 * float(np.linalg.norm(desk.truth("red").pose[:2, 3] - place)), "mm off", at_most=30.0)


@scenario(
    tool="place_beside",
    name="gap",
    situation="A block is put to a side of another where there is room, 3 cm off: how far is the true gap from that?",
    world=stacked,
)
def gap(desk: ScenarioDesk) -> Measured:
    ids = desk.look()
    side = free_side(desk, "high", "third", 0.03)
    desk.call("pick", {"object_id": ids["high"]})
    desk.call("place_beside", {"target_id": ids["third"], "side": side, "gap": 0.03})
    apart = (desk.truth("high").pose[:2, 3] - desk.truth("third").pose[:2, 3]) @ WAYS[side] - EDGE
    return Measured(1000 * abs(float(apart) - 0.03), "mm off", at_most=25.0)


@scenario(
    tool="place_beside",
    name="on_the_side_asked",
    situation="A block to a side of another where there is room: by how much is it farther that way?",
    world=stacked,
)
def on_the_side_asked(desk: ScenarioDesk) -> Measured:
    ids = desk.look()
    side = free_side(desk, "high", "third", 0.02)
    desk.call("pick", {"object_id": ids["high"]})
    desk.call("place_beside", {"target_id": ids["third"], "side": side})
    return Measured(1000 * float((desk.truth("high").pose[:2, 3] - desk.truth("third").pose[:2, 3]) @ WAYS[side]), "mm that way", at_least=35.0)


@scenario(tool="put_aside", name="free_place", situation="A block is put aside: how near does it come to the other objects?", world=stacked)
def free_place(desk: ScenarioDesk) -> Measured:
    ids = desk.look()
    desk.call("pick", {"object_id": ids["high"]})
    desk.call("put_aside")
    here = desk.truth("high").pose[:3, 3]
    others = [desk.truth(name) for name in desk.names if name != "high"]
    gaps = [float(np.linalg.norm(other.pose[:2, 3] - here[:2])) - float(np.linalg.norm(other.size[:2])) / 2 - EDGE / 2 for other in others]
    return Measured(1000 * min(gaps) if abs(here[2] - EDGE / 2) < 0.004 else float("nan"), "mm to the nearest", at_least=0.0)


@scenario(tool="put_aside", name="stays_clear", situation="The same, with a place that is to stay clear: how far from it is the block?", world=stacked)
def stays_clear(desk: ScenarioDesk) -> Measured:
    ids = desk.look()
    desk.call("pick", {"object_id": ids["high"]})
    clear = desk.random.uniform([-0.05, -0.1], [0.08, 0.1]).round(3)
    desk.call("put_aside", {"keep_clear": [clear.tolist()]})
    return Measured(1000 * float(np.linalg.norm(desk.truth("high").pose[:2, 3] - clear)), "mm from there", at_least=60.0)


@scenario(
    tool="place_on_pan",
    name="beside_another",
    situation="The spare block is laid on a pan beside the one that lies there: where is the pan then, against the balance's equation?",
    world=scales,
)
def beside_another(desk: ScenarioDesk) -> Measured:
    ids = desk.look()
    desk.call("pick", {"object_id": ids["spare"]})
    desk.call("place_on_pan", {"side": "right"})
    desk.simulation.step(1.0)
    mass = {item.name: item.mass for item in desk.simulation.built.spec.objects}
    wanted = 9.81 * (mass["left"] - mass["right"] - mass["spare"]) / desk.simulation.built.spec.fixtures[0].stiffness
    return Measured(1000 * abs(desk.simulation.truth().joints["balance/left"] - wanted), "mm off", at_most=0.5)


@scenario(
    tool="place_on_pan",
    name="without_a_balance",
    situation="A block is held and no balance is on the desk: refused as such, and the block still in the hand?",
)
def without_a_balance(desk: ScenarioDesk) -> Measured:
    ids = desk.look()
    desk.call("pick", {"object_id": ids["green"]})
    code = desk.result("place_on_pan", {"side": "left"}).code
    return Measured(float(code == "unknown_object" and desk.simulation.truth().in_hand == ("green",)), "1 when refused so", equal=1)
