"""Scenarios of the unit controller_dispatch."""

from __future__ import annotations

import numpy as np

from deskhand.bench.tools.base import Measured, scenario
from deskhand.bench.tools.desk import ScenarioDesk
from deskhand.bench.tools.motions import named
from deskhand.bench.tools.worlds import bare


def postures(desk: ScenarioDesk) -> list[list[float]]:
    """Two drawn ones over the desk."""
    return [(np.array(one) + desk.random.uniform(-0.15, 0.15, 6)).tolist() for one in ([0.4, -0.6, 0.6, 0.0, 0.9, 0.0], [-0.3, -0.4, 0.3, 0.2, 1.0, 0.5])]


def over_the_desk(desk: ScenarioDesk) -> list[float]:
    """A drawn point (x, y, z) [m] above everything that stands there."""
    return [round(float(value), 3) for value in desk.random.uniform([-0.03, -0.12, 0.19], [0.08, 0.12, 0.24])]


def real(desk: ScenarioDesk) -> np.ndarray:
    """The true joints."""
    return np.array([desk.simulation.data.qpos[desk.simulation.built.qpos[name]] for name in desk.robot.arm.joints])


@scenario(tool="get_controllers", name="positions", situation="Joint positions that are listed against the true ones.", world=bare)
def positions(desk: ScenarioDesk) -> Measured:
    arm = desk.call("get_controllers")["controllers"][0]
    return Measured(float(np.abs(np.array(arm["positions"]) - real(desk)).max()) if arm["state"] == "idle" else float("nan"), "rad off", at_most=0.003)


@scenario(tool="get_controllers", name="states", situation="Idle, then stopped by the operator: are both told?", world=bare)
def states(desk: ScenarioDesk) -> Measured:
    told = [{item["state"] for item in desk.call("get_controllers")["controllers"]}]
    desk.robot.stop("scenario")
    told.append({item["state"] for item in desk.call("get_controllers")["controllers"]})
    return Measured(float(told == [{"idle"}, {"stopped"}]), "1 when both are right", equal=1.0)


@scenario(tool="move_joints", name="arrives", situation="Two postures one after the other: how far are the true joints from the last?", world=bare)
def arrives(desk: ScenarioDesk) -> Measured:
    through = postures(desk)
    desk.call("move_joints", {"joints": [named(desk, joints) for joints in through]})
    return Measured(float(np.abs(real(desk) - through[-1]).max()), "rad off", at_most=0.02)


@scenario(
    tool="move_joints",
    name="refuses_what_touches",
    situation="A posture with the hand in the table: is it refused before anything moves?",
    world=bare,
)
def refuses_what_touches(desk: ScenarioDesk) -> Measured:
    before = real(desk)
    result = desk.result("move_joints", {"joints": [named(desk, [float(desk.random.uniform(-0.6, 0.6)), 1.2, 0.6, 0.0, 0.3, 0.0])]})
    moved = float(np.abs(real(desk) - before).max())
    return Measured(moved if not result.ok else float("nan"), "rad moved", at_most=0.005)


@scenario(tool="hold_still", name="drift", situation="For 1 to 2.5 s: the drift that is told against the true one.", world=bare)
def drift(desk: ScenarioDesk) -> Measured:
    before = real(desk)
    told = desk.call("hold_still", {"seconds": round(float(desk.random.uniform(1.0, 2.5)), 2)})
    true = float(np.abs(real(desk) - before).max())
    return Measured(abs(told["drift"] - true) if told["still"] else float("nan"), "rad off", at_most=0.003)


@scenario(tool="hold_still", name="duration", situation="0.8 to 2 s are asked for: how long did it wait by the clock?", world=bare)
def duration(desk: ScenarioDesk) -> Measured:
    begun, asked = desk.simulation.time, round(float(desk.random.uniform(0.8, 2.0)), 2)
    desk.call("hold_still", {"seconds": asked})
    return Measured(abs(desk.simulation.time - begun - asked), "s off", at_most=0.1)


@scenario(tool="execute_plan", name="arrives_where_planned", situation="To a point over the desk: how far is the true hand from it?")
def arrives_where_planned(desk: ScenarioDesk) -> Measured:
    desk.look()
    point = over_the_desk(desk)
    desk.call("execute_plan", {"plan_id": desk.call("plan_motion", {"position": point})["plan_id"]})
    return Measured(1000 * float(np.linalg.norm(desk.simulation.data.xpos[desk.simulation.model.body(desk.robot.arm.tcp).id] - point)), "mm off", at_most=8.0)


@scenario(tool="navigate_to_goal_pose", name="no_base", situation="The arm stands on a desk: is driving refused with a reason, and nothing moved?", world=bare)
def no_base(desk: ScenarioDesk) -> Measured:
    before = real(desk)
    result = desk.result("navigate_to_goal_pose", {"x": float(desk.random.uniform(0.5, 2)), "y": float(desk.random.uniform(-1, 1))})
    return Measured(
        float(np.abs(real(desk) - before).max()) if result.code == "impossible" and "base" in result.message else float("nan"), "rad moved", at_most=0.005
    )


@scenario(
    tool="execute_plan",
    name="only_once",
    situation="A plan is run, then run again, and one after the scene changed: is each refused, and does the arm stay?",
)
def only_once(desk: ScenarioDesk) -> Measured:
    desk.look()
    first = desk.call("plan_motion", {"position": over_the_desk(desk)})["plan_id"]
    desk.call("execute_plan", {"plan_id": first})
    later = desk.call("plan_motion", {"position": over_the_desk(desk)})["plan_id"]
    desk.call("detect_objects")
    before = real(desk)
    codes = [desk.result("execute_plan", {"plan_id": plan}).code for plan in (first, later)]
    return Measured(float(np.abs(real(desk) - before).max()) if codes == ["plan_used", "plan_expired"] else float("nan"), "rad moved", at_most=0.002)


@scenario(
    tool="navigate_to_goal_pose",
    name="refuses_wrong_units",
    situation="A heading in degrees and a place that is no number: are both refused with the field?",
    world=bare,
)
def refuses_wrong_units(desk: ScenarioDesk) -> Measured:
    results = [
        desk.result("navigate_to_goal_pose", arguments)
        for arguments in ({"x": 1.0, "y": 0.0, "yaw": float(desk.random.uniform(10, 180))}, {"x": float("nan"), "y": 0.0})
    ]
    fields = [result.details["problems"][0]["field"] for result in results if result.code == "invalid_arguments"]
    return Measured(float(fields == ["yaw", "x"]), "1 when both are", equal=1.0)
