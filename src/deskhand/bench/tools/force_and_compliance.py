"""Scenarios of the unit force_and_compliance."""

from __future__ import annotations

from typing import Any

import numpy as np

from deskhand.bench.tools import rings
from deskhand.bench.tools.base import Measured, scenario
from deskhand.bench.tools.desk import ScenarioDesk
from deskhand.bench.tools.worlds import bare, furniture, open_furniture, pegs, sorter, two_pens
from deskhand.sim.spec import Truth, pose_at
from deskhand.tasks.eb_goals import InSorter, unmet

FINGERS = 0.03  # [m] behind a block in which the closed fingers come down


@scenario(tool="grip_force", name="by_the_formula", situation="Forty masses, frictions and accelerations against m (g + a) / (2 mu).", world=bare)
def by_the_formula(desk: ScenarioDesk) -> Measured:
    random, worst, most = desk.random, 0.0, desk.robot.arm.gripper.force_max
    for _ in range(40):
        mass, friction, acceleration = (float(value) for value in random.uniform((0.02, 0.1, 0.0), (0.6, 1.2, 5.0)))
        given = desk.call("grip_force", {"mass": mass, "friction": friction, "acceleration": acceleration, "safety": 1.5})
        needed = mass * (9.81 + acceleration) / (2 * friction)
        worst = max(worst, abs(given["needed"] - needed), float(given["feasible"] != (needed <= most)), abs(given["force"] - min(1.5 * needed, most)))
    return Measured(worst, "N off at most", at_most=0.01)


@scenario(
    tool="grip_force",
    name="holds_what_it_says",
    situation="A block is picked and held with the force for its true mass and half the friction of the pads: does it slip in 2 s?",
)
def holds_what_it_says(desk: ScenarioDesk) -> Measured:
    ids = desk.look()
    desk.call("pick", {"object_id": ids["green"]})
    body = desk.simulation.built.object_bodies[desk.names.index("green")]
    given = desk.call("grip_force", {"mass": float(desk.simulation.model.body_mass[body]), "friction": 0.4})
    desk.call("close_gripper", {"force": max(given["force"], 0.3)})
    before = float(desk.truth("green").pose[2, 3])
    desk.robot.sleep(2.0)
    return Measured(1000 * abs(before - float(desk.truth("green").pose[2, 3])), "mm that it slipped", at_most=3.0)


@scenario(tool="touch_down", name="height_of_two_things", situation="The tops of a box and of a block are felt: how far off are the heights?")
def height_of_two_objects(desk: ScenarioDesk) -> Measured:
    ids = desk.look()
    worst = 0.0
    for name in ("box", "green"):
        given = desk.call("touch_down", {"object_id": ids[name]})
        truth = desk.truth(name)
        worst = max(worst, abs(given["height"] - float(truth.pose[2, 3]) - truth.size[2] / 2) if given["touched"] else 1.0)
    return Measured(1000 * worst, "mm off at most", at_most=5.0)


@scenario(tool="touch_down", name="moves_nothing_away", situation="A block is touched with 2 N: how far was it moved?")
def moves_nothing_away(desk: ScenarioDesk) -> Measured:
    ids = desk.look()
    before = desk.truth("green").pose[:3, 3].copy()
    desk.call("touch_down", {"object_id": ids["green"]})
    return Measured(1000 * float(np.linalg.norm(desk.truth("green").pose[:3, 3] - before)), "mm moved", at_most=5.0)


@scenario(tool="weigh_in_hand", name="two_blocks", situation="Two blocks: how far off is what the hand feels of their mass?")
def two_blocks(desk: ScenarioDesk) -> Measured:
    worst = 0.0
    for name in ("blue", "green"):
        told = desk.call("weigh_in_hand", {"object_id": desk.look()[name]})
        true = next(item.mass for item in desk.simulation.built.spec.objects if item.name == name)
        worst = max(worst, abs(told["grams"] - 1000 * true))
    return Measured(worst, "g off at most", at_most=5.0)


@scenario(tool="weigh_in_hand", name="put_back", situation="A block is weighed in the gripper: how far from where it was does it stand then?")
def put_back(desk: ScenarioDesk) -> Measured:
    ids = desk.look()
    before = desk.truth("green").pose[:3, 3].copy()
    desk.call("weigh_in_hand", {"object_id": ids["green"]})
    return Measured(1000 * float(np.linalg.norm(desk.truth("green").pose[:3, 3] - before)), "mm off", at_most=10.0)


@scenario(
    tool="servo_to_target",
    name="moved_on_the_way",
    situation="While the hand goes above a block, the block is moved by 4 to 8 cm, twice: how far beside it, seen from above, are the finger tips at the end?",
)
def moved_on_the_way(desk: ScenarioDesk) -> Measured:
    ids = desk.look()
    pushes: list[str] = []

    def push(fraction: float, text: str) -> None:
        if "off" in text and len(pushes) < 2:
            pushes.append(text)
            desk.shift("green", desk.free_shift("green", 0.04, 0.08))

    result = desk.session.invoke("servo_to_target", {"object_id": ids["green"], "height": 0.06}, push)
    beside = desk.simulation.tcp()[:2] - desk.truth("green").pose[:2, 3]
    return Measured(1000 * float(np.linalg.norm(beside)) if result.ok and len(pushes) == 2 else float("nan"), "mm beside it", at_most=8.0)


@scenario(tool="servo_to_target", name="taken_away", situation="The block is taken off the desk on the way: the call must end and say that it is lost.")
def taken_away(desk: ScenarioDesk) -> Measured:
    ids = desk.look()

    def take(fraction: float, text: str) -> None:
        if "off" in text:
            desk.put("green", pose_at(3.0, 0.0, 0.0))

    result = desk.session.invoke("servo_to_target", {"object_id": ids["green"]}, take)
    return Measured(float(result.code == "object_lost"), "1: said so", equal=1)


@scenario(tool="open_gripper", name="wide", situation="From closed: how far from fully open do the fingers really stand?", world=bare)
def wide(desk: ScenarioDesk) -> Measured:
    desk.call("close_gripper")
    desk.call("open_gripper")
    gripper = desk.robot.arm.gripper
    return Measured(1000 * abs(gripper.width_of(desk.simulation.finger_position()) - gripper.width_max), "mm off", at_most=1.0)


@scenario(
    tool="close_gripper",
    name="width_is_measured",
    situation="Closed on nothing: does the width that it tells agree with the fingers?",
    world=bare,
)
def width_is_measured(desk: ScenarioDesk) -> Measured:
    told = desk.call("close_gripper")["width"]
    return Measured(1000 * abs(told - desk.robot.arm.gripper.width_of(desk.simulation.finger_position())), "mm off", at_most=0.5)


@scenario(tool="push", name="as_far_as_asked", situation="A block is pushed 4 to 7 cm along a drawn direction: how far is it from where it should be?")
def as_far_as_asked(desk: ScenarioDesk) -> Measured:
    ids = desk.look()
    before, way = desk.truth("blue").pose[:2, 3].copy(), desk.free_way("blue", float(desk.random.uniform(0.04, 0.07)), FINGERS)
    desk.call("push", {"object_id": ids["blue"], "direction": float(np.arctan2(way[1], way[0])), "distance": float(np.hypot(*way))})
    return Measured(1000 * float(np.linalg.norm(desk.truth("blue").pose[:2, 3] - before - way)), "mm off", at_most=15.0)


@scenario(
    tool="separate",
    name="two_pens",
    situation="Of two pens side by side one is pushed out lengthwise: how far is that one from where it says?",
    world=two_pens,
)
def two_pens_apart(desk: ScenarioDesk) -> Measured:
    ids = desk.look()
    before = {name: desk.truth(name).pose[:3, 3].copy() for name in ("pen", "other")}
    told = desk.call("separate", {"object_id": ids["pen"]})
    pushed = "pen" if told["pushed"] == told["object_id"] else "other"
    really = float(np.linalg.norm((desk.truth(pushed).pose[:3, 3] - before[pushed])[:2]))
    return Measured(1000 * abs(told["moved"] - really) if really > 0.015 else 1e3, "mm off", at_most=8.0)


@scenario(
    tool="separate",
    name="then_it_is_picked",
    situation="Two pens side by side, at which no grasp was found: is one in the hand after it and a pick?",
    world=two_pens,
)
def then_it_is_picked(desk: ScenarioDesk) -> Measured:
    ids = desk.look()
    refused = desk.result("pick", {"object_id": ids["pen"]}).code
    desk.call("separate", {"object_id": ids["pen"]})
    desk.call("pick", {"object_id": ids["pen"]})
    return Measured(float(refused == "no_grasp" and desk.truth("pen").pose[2, 3] > 0.04), "picked", at_least=1.0)


@scenario(tool="open_gripper", name="lets_go", situation="A block in the hand: is it out of the hand after it?")
def lets_go(desk: ScenarioDesk) -> Measured:
    ids = desk.look()
    desk.call("pick", {"object_id": ids["green"]})
    desk.call("open_gripper")
    desk.simulation.step(0.5)
    return Measured(float(len(desk.simulation.truth().in_hand)), "objects in the hand", equal=0.0)


@scenario(
    tool="close_gripper",
    name="stops_at_a_thing",
    situation="The fingers close on a picked block with 3 N: the width that is told against its true edge.",
)
def stops_at_a_object(desk: ScenarioDesk) -> Measured:
    ids = desk.look()
    desk.call("pick", {"object_id": ids["green"]})
    return Measured(1000 * abs(desk.call("close_gripper", {"force": 3.0})["width"] - desk.truth("green").size[1]), "mm off", at_most=2.0)


@scenario(tool="push", name="tells_what_happened", situation="A block is pushed 3 to 6 cm along a drawn direction: how far is it moved, told and true?")
def tells_what_happened(desk: ScenarioDesk) -> Measured:
    ids = desk.look()
    before, way = desk.truth("blue").pose[:2, 3].copy(), desk.free_way("blue", float(desk.random.uniform(0.03, 0.06)), FINGERS)
    result = desk.result("push", {"object_id": ids["blue"], "direction": float(np.arctan2(way[1], way[0])), "distance": float(np.hypot(*way))})
    true = float(np.linalg.norm(desk.truth("blue").pose[:2, 3] - before))
    return Measured(1000 * abs(float(result.data["moved"]) - true), "mm off", at_most=6.0)


@scenario(
    tool="insert",
    name="into_a_sorter",
    situation="A cube is put through the square hole of a shape sorter: how far does it stick out of the board?",
    world=sorter,
)
def into_a_sorter(desk: ScenarioDesk) -> Measured:
    ids = desk.look()
    fit = desk.call("find_holes", {"piece_id": ids["cube"]})["fits"][0]
    desk.call("pick", {"object_id": ids["cube"]})
    desk.call("insert", {key: fit[key] for key in ("target_id", "hole", "turn", "middle")})
    (box,) = desk.simulation.built.spec.fixtures
    why = unmet(InSorter("cube", box.name), Truth(0.0, (desk.truth("cube"),)), {}, {box.name: box})
    return Measured(0 if not why else 1, f"pieces not inside{': ' + why if why else ''}", equal=0)


@scenario(
    tool="insert",
    name="no_hole_there",
    situation="A place beside the sorter: is it refused, and the piece held still?",
    world=sorter,
)
def no_hole_there(desk: ScenarioDesk) -> Measured:
    ids = desk.look()
    target = desk.call("find_holes", {"piece_id": ids["cube"]})["fits"][0]["target_id"]
    desk.call("pick", {"object_id": ids["cube"]})
    refused = desk.result("insert", {"target_id": target, "hole": [0.1, 0.2]}).code == "invalid_input"
    return Measured(float(refused and bool(desk.call("get_robot_state")["holding"])), "refused", equal=1)


def _handle(desk: ScenarioDesk, side: str, near: str | list[float]) -> dict[str, Any]:
    """The handle of that side that is nearest to a fixture or a place [m, world], as `find_handles` tells it: its object, and where it is."""
    places = {one.name: one.pose[:2, 3] for one in desk.simulation.built.spec.fixtures}
    place = places[near] if isinstance(near, str) else np.asarray(near[:2])
    found = [one for one in desk.call("find_handles")["handles"] if one["side"] == side]
    best = min(found, key=lambda one: float(np.linalg.norm(np.asarray(one["position"][:2]) - place)))
    return {"object_id": best["object_id"], "handle": best["position"]}


@scenario(
    tool="open_drawer",
    name="as_far_as_it_says",
    situation="A shut drawer is pulled open by 7 cm: how far is it from where it is said to be?",
    world=furniture,
)
def as_far_as_it_says(desk: ScenarioDesk) -> Measured:
    desk.look()
    told = desk.call("open_drawer", {**_handle(desk, "side", "drawer"), "distance": 0.07})["moved"]
    opened = desk.simulation.truth().joints["drawer/drawer"]
    return Measured(1000 * abs(told - opened) if opened > 0.05 else float("inf"), "mm", at_most=12.0)


@scenario(tool="open_drawer", name="no_handle_there", situation="A box without a handle at its side: is it refused?", world=furniture)
def no_handle_there(desk: ScenarioDesk) -> Measured:
    desk.look()
    lid = _handle(desk, "top", "lid_box")["object_id"]
    return Measured(float(desk.result("open_drawer", {"object_id": lid}).code == "no_handle"), "refused", equal=1)


@scenario(
    tool="close_drawer",
    name="shut_again",
    situation="A drawer that was pulled open is pushed shut: how far is it open then?",
    world=furniture,
)
def shut_again(desk: ScenarioDesk) -> Measured:
    desk.look()
    opened = desk.call("open_drawer", {**_handle(desk, "side", "drawer"), "distance": 0.07})
    desk.call("close_drawer", _handle(desk, "side", opened["handle"]))
    return Measured(1000 * desk.simulation.truth().joints["drawer/drawer"], "mm open", at_most=5.0)


@scenario(
    tool="close_drawer",
    name="already_shut",
    situation="A drawer that is shut: is it claimed to have moved?",
    world=furniture,
)
def already_shut(desk: ScenarioDesk) -> Measured:
    desk.look()
    return Measured(float(desk.result("close_drawer", _handle(desk, "side", "drawer")).ok), "claims", equal=0)


@scenario(tool="open_lid", name="stays_open", situation="The hinged lid of a box is opened: at which angle is it two seconds later?", world=furniture)
def stays_open(desk: ScenarioDesk) -> Measured:
    desk.look()
    desk.call("open_lid", _handle(desk, "top", "lid_box"))
    desk.simulation.step(2.0)
    return Measured(float(np.degrees(desk.simulation.truth().joints["lid_box/lid"])), "degrees", at_least=95.0)


@scenario(tool="open_lid", name="handle_in_the_middle", situation="A knob, whose handle is in the middle: is it refused as a lid?", world=furniture)
def handle_in_the_middle(desk: ScenarioDesk) -> Measured:
    desk.look()
    return Measured(float(desk.result("open_lid", _handle(desk, "top", "knob")).code == "invalid_input"), "refused", equal=1)


@scenario(
    tool="close_lid",
    name="falls_shut",
    situation="The lid of a box stands open: at which angle is it two seconds after it was closed?",
    world=open_furniture,
)
def falls_shut(desk: ScenarioDesk) -> Measured:
    desk.look()
    lids = desk.call("find_handles")["open_lids"]
    desk.call("close_lid", {"object_id": lids[0]["object_id"]})
    desk.simulation.step(2.0)
    return Measured(float(np.degrees(desk.simulation.truth().joints["lid_box/lid"])), "degrees", at_most=5.0)


@scenario(tool="close_lid", name="none_is_open", situation="No lid stands open: is that said, whatever object is named?", world=furniture)
def none_is_open(desk: ScenarioDesk) -> Measured:
    desk.look()
    lid = _handle(desk, "top", "lid_box")["object_id"]
    refused = [desk.result("close_lid", {"object_id": name}).code == "no_lid" for name in {lid, _handle(desk, "side", "drawer")["object_id"]}]
    return Measured(float(all(refused)), "refused", equal=1)


@scenario(
    tool="turn_knob",
    name="as_far_as_it_turned",
    situation="A knob is turned left by 1.2 rad: by how much does what is told differ from how far it has turned?",
    world=furniture,
)
def as_far_as_it_turned(desk: ScenarioDesk) -> Measured:
    desk.look()
    told = desk.call("turn_knob", {**_handle(desk, "top", "knob"), "angle": 1.2})["moved"]
    turned = desk.simulation.truth().joints["knob/knob"]
    return Measured(abs(told - turned) if turned > 0.8 else float("inf"), "rad", at_most=0.25)


@scenario(
    tool="turn_knob",
    name="against_its_stop",
    situation="A knob at its stop is turned against it: is it claimed to have moved?",
    world=furniture,
)
def against_its_stop(desk: ScenarioDesk) -> Measured:
    desk.look()
    return Measured(float(desk.result("turn_knob", {**_handle(desk, "top", "knob"), "angle": -1.2}).ok), "claims", equal=0)


@scenario(
    tool="take_ring",
    name="the_uppermost",
    situation="Two rings on a peg: is the upper one held, the other where it was?",
    world=pegs,
)
def the_uppermost(desk: ScenarioDesk) -> Measured:
    before = desk.truth("large").pose[2, 3]
    desk.call("take_ring", rings.peg(desk, 0))
    held = desk.simulation.truth().in_hand == ("small",)
    return Measured(float(held and abs(desk.truth("large").pose[2, 3] - before) < 0.003), "as it should be", equal=1)


@scenario(tool="take_ring", name="none_there", situation="A peg without a ring: is it refused?", world=pegs)
def none_there(desk: ScenarioDesk) -> Measured:
    return Measured(float(desk.result("take_ring", rings.peg(desk, 1)).code == "unknown_object"), "refused", equal=1)


@scenario(tool="hang_ring", name="onto_another", situation="A ring goes over a peg that has one: how far is it from where it should lie?", world=pegs)
def onto_another(desk: ScenarioDesk) -> Measured:
    goal = rings.peg(desk, 2)
    desk.call("take_ring", rings.peg(desk, 0))
    desk.call("hang_ring", goal)
    place = rings.feet(desk)[2][:3, 3] + [0.0, 0.0, 0.018]
    return Measured(1000 * float(np.linalg.norm(desk.truth("small").pose[:3, 3] - place)), "mm", at_most=4.0)


@scenario(tool="hang_ring", name="no_peg_there", situation="A place without a peg: is it refused, and the ring held still?", world=pegs)
def no_peg_there(desk: ScenarioDesk) -> Measured:
    desk.call("take_ring", rings.peg(desk, 0))
    refused = desk.result("hang_ring", {"peg": [0.2, 0.35]}).code == "unknown_object"
    return Measured(float(refused and bool(desk.call("get_robot_state")["holding"])), "refused", equal=1)
