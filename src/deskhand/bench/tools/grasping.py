"""Scenarios of the unit grasping: what is held and where it lands, by the truth."""

from __future__ import annotations

import numpy as np

from deskhand.bench.tools.base import Measured, scenario
from deskhand.bench.tools.desk import Desk
from deskhand.bench.tools.worlds import EDGE, stacked
from deskhand.geometry import inverse, transform_points


@scenario(tool="generate_grasps", name="width", situation="The best grasps of three blocks: how far are the widths from the true edges?")
def width(desk: Desk) -> Measured:
    ids = desk.look()
    best = [desk.call("generate_grasps", {"object_id": ids[name], "max_grasps": 1})["grasps"][0]["width"] for name in ("red", "green", "blue")]
    return Measured(1000 * float(np.abs(np.array(best) - EDGE).max()), "mm off at most", at_most=5.0)


@scenario(
    tool="generate_grasps", name="between_the_sides", situation="Ten grasps of a block: how far is the hand's middle from the true middle of the block, across?"
)
def between_the_sides(desk: Desk) -> Measured:
    ids = desk.look()
    truth, worst = desk.truth("green").pose, 0.0
    for grasp in desk.call("generate_grasps", {"object_id": ids["green"], "max_grasps": 10})["grasps"]:
        worst = max(worst, abs(float((np.array(grasp["position"]) - truth[:3, 3]) @ np.array(grasp["closing"]))))
    return Measured(1000 * worst, "mm off at most", at_most=6.0)


@scenario(
    tool="grasp_from_cloud",
    name="closes_on_the_thing",
    situation="Grasps from the points of three blocks: would the pads close on the true thing, within 5 mm of its middle?",
)
def closes_on_the_thing(desk: Desk) -> Measured:
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
    changes=True,
)
def from_a_place_alone(desk: Desk) -> Measured:
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
    return Measured(1000 * (float(desk.truth("green").pose[2, 3]) - EDGE / 2), "mm lifted", at_least=40.0)


@scenario(tool="pick", name="lifted", situation="A block is picked: how high is it really, between both fingers?", changes=True)
def lifted(desk: Desk) -> Measured:
    ids = desk.look()
    desk.call("pick", {"object_id": ids["red"]})
    held = "red" in desk.simulation.truth().in_hand
    return Measured(1000 * (float(desk.truth("red").pose[2, 3]) - EDGE / 2) if held else 0.0, "mm lifted", at_least=40.0)


@scenario(tool="place_in", name="inside", situation="A block is put into the bin: how far is its middle from the inside walls?", changes=True)
def inside(desk: Desk) -> Measured:
    ids = desk.look()
    desk.call("pick", {"object_id": ids["red"]})
    desk.call("place_in", {"container_id": ids["bin"]})
    box = desk.truth("bin")
    local = transform_points(inverse(box.pose), desk.truth("red").pose[:3, 3])
    return Measured(1000 * float((np.asarray(box.size[:2]) / 2 - 0.004 - np.abs(local[:2])).min()), "mm inside the walls", at_least=5.0)


@scenario(tool="place_on", name="centre_over_centre", situation="A block is put on another: how far apart are their centres?", world=stacked, changes=True)
def centre_over_centre(desk: Desk) -> Measured:
    ids = desk.look()
    desk.call("pick", {"object_id": ids["high"]})
    desk.call("place_on", {"target_id": ids["third"]})
    off = desk.truth("high").pose[:3, 3] - desk.truth("third").pose[:3, 3]
    return Measured(1000 * float(np.linalg.norm(off[:2])) if abs(off[2] - EDGE) < 0.003 else float("nan"), "mm apart", at_most=10.0)


@scenario(tool="place_at", name="exact_place", situation="A block is put to a place with a turn: how far is it off?", changes=True)
def exact_place(desk: Desk) -> Measured:
    ids = desk.look()
    desk.call("pick", {"object_id": ids["green"]})
    desk.call("place_at", {"x": 0.04, "y": -0.22, "yaw": 0.0})
    return Measured(1000 * float(np.linalg.norm(desk.truth("green").pose[:2, 3] - [0.04, -0.22])), "mm off", at_most=10.0)
