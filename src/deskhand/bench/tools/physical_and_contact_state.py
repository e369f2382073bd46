"""Scenarios of the unit physical_and_contact_state."""

from __future__ import annotations

import numpy as np

from deskhand.bench.tools.base import Measured, scenario
from deskhand.bench.tools.controller_dispatch import over_the_desk
from deskhand.bench.tools.desk import ScenarioDesk
from deskhand.bench.tools.drawing import Random, drawn
from deskhand.bench.tools.scene_graph_and_world_model import stack_and_bin
from deskhand.bench.tools.worlds import BLUE, GREEN, RED, YELLOW, block
from deskhand.sim.spec import ObjectSpec, WorldSpec, pose_at


def bridge(random: Random) -> WorldSpec:
    """A beam on two blocks with a block on its middle, and a block beside; names: left, right, beam, upon, beside."""
    beam = ObjectSpec("beam", "box", (0.03, 0.15, 0.02), YELLOW, 0.05, pose_at(0.0, 0.0, 0.0505))
    world = WorldSpec(
        (
            block("left", 0.0, 0.055, RED, 0.04),
            block("right", 0.0, -0.055, BLUE, 0.04),
            beam,
            block("upon", 0.0, 0.0, GREEN, 0.03, bottom=0.061),
            block("beside", 0.12, 0.1, GREEN, 0.04),
        )
    )
    return drawn(random, world, [("left", "right", "beam", "upon")], turn=0.4, facing=True)


def fallen(desk: ScenarioDesk, removed: str) -> set[str]:
    """Names of what falls in the simulation when an object is taken away; the desk is changed by it."""
    before = {name: desk.truth(name).pose[:3, 3] for name in desk.names}
    desk.put(removed, pose_at(3.0, 0.0, 0.0), settle=1.0)
    return {name for name in desk.names if name != removed and float(np.linalg.norm(desk.truth(name).pose[:3, 3] - before[name])) > 0.01}


def wrong_about(desk: ScenarioDesk, removed: str) -> Measured:
    """How many objects were told to fall and did not, or the other way round."""
    ids = desk.look()
    told = set(desk.call("check_stability", {"removed": [ids[removed]]})["falls"])
    return Measured(len(told ^ {ids[name] for name in fallen(desk, removed) if name in ids}), "objects told wrong, by letting it happen", equal=0)


@scenario(
    tool="check_stability",
    name="pillar_removed",
    situation="One of two blocks under a beam is taken away in the simulation: what falls?",
    world=bridge,
)
def pillar_removed(desk: ScenarioDesk) -> Measured:
    return wrong_about(desk, "left")


@scenario(
    tool="check_stability",
    name="tower",
    situation="The lowest block of a tower of three is taken away in the simulation: what falls?",
    world=stack_and_bin,
)
def tower(desk: ScenarioDesk) -> Measured:
    return wrong_about(desk, "low")


@scenario(
    tool="check_stability",
    name="nothing_falls",
    situation="The block upon the beam is taken away in the simulation: nothing falls.",
    world=bridge,
)
def nothing_falls(desk: ScenarioDesk) -> Measured:
    return wrong_about(desk, "upon")


@scenario(
    tool="check_stability",
    name="bears",
    situation="A beam on two blocks: the told carriers of all five objects against the simulation's contacts.",
    world=bridge,
)
def bears(desk: ScenarioDesk) -> Measured:
    ids = desk.look()
    names = {found: name for name, found in ids.items()} | {"table": "table"}
    told = {names[item["object_id"]]: {names[other] for other in item["on"]} for item in desk.call("check_stability")["objects"] if item["object_id"] in names}
    return Measured(sum(told.get(real.item.name) == set(real.carried_by) for real in desk.seen_truth()), "right of 5", equal=5)


@scenario(tool="get_robot_state", name="joints", situation="The arm rests at home: the largest error of a told joint angle against the simulation.")
def joints(desk: ScenarioDesk) -> Measured:
    given = desk.call("get_robot_state")["joints"]
    true = desk.simulation.joint_state()
    values = given if isinstance(given, dict) else {item["name"]: item["position"] for item in given}
    return Measured(float(max(abs(values[name] - true.of([name])[0]) for name in desk.robot.arm.joints)), "rad largest error", at_most=0.002)


@scenario(tool="get_robot_state", name="hand_place", situation="The same: the error of the hand's place against the simulation.")
def hand_place(desk: ScenarioDesk) -> Measured:
    told = np.array(desk.call("get_robot_state")["tcp_position"])
    return Measured(1000 * float(np.linalg.norm(told - desk.simulation.tcp())), "mm", at_most=3.0)


@scenario(
    tool="contact_events",
    name="picked_and_lost",
    situation="A block is picked up, then pulled out of the fingers: touch and lost must be told, at once.",
)
def picked_and_lost(desk: ScenarioDesk) -> Measured:
    heard = desk.watch("contact_events")
    desk.call("pick", {"object_id": desk.look()["red"]})
    touched = [event["kind"] for _, event in heard.all()]
    begun = desk.put("red", pose_at(3.0, 0.0, 0.0), settle=0.0)
    lost = [(at, event["kind"]) for at, event in heard.let_pass(0.5)]
    heard.stop()
    right = touched == ["touch"] and lost and lost[-1][1] == "lost"
    return Measured(lost[-1][0] - begun if right else float("nan"), "s until the loss was told", at_most=0.3)


@scenario(tool="contact_events", name="pressed", situation="Somebody leans on the resting arm with 13 to 18 N and lets go: the time until each is told.")
def pressed(desk: ScenarioDesk) -> Measured:
    heard = desk.watch("contact_events", settle=1.5)
    kinds, times = [], []
    for force in (-float(desk.random.uniform(13, 18)), 0.0):
        with desk.simulation.lock:
            begun = desk.simulation.time
            desk.simulation.data.xfrc_applied[desk.simulation.model.body(desk.robot.arm.tcp).id, 2] = force
        for at, event in heard.wait(1.5):
            kinds.append(event["kind"])
            times.append(at - begun)
        heard.let_pass(1.2)
    heard.stop()
    return Measured(max(times) if kinds == ["stuck", "free"] else float("nan"), "s until it was told", at_most=0.3)


@scenario(tool="contact_events", name="moving_freely", situation="The arm goes elsewhere and back, the gripper closes and opens: nothing is touched.")
def moving_freely(desk: ScenarioDesk) -> Measured:
    heard = desk.watch("contact_events")
    plan = desk.call("plan_motion", {"position": over_the_desk(desk)})["plan_id"]
    desk.call("execute_plan", {"plan_id": plan})
    desk.call("close_gripper")
    desk.call("open_gripper")
    desk.call("move_home")
    heard.let_pass(1.5)
    return Measured(len(heard.stop()), "events", equal=0)
