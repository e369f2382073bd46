"""Scenarios of the unit trajectory_generation: what the simulated arm really does."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from deskhand.arms.model import RobotModel
from deskhand.bench.tools.base import Measured, scenario
from deskhand.bench.tools.controller_dispatch import over_the_desk
from deskhand.bench.tools.desk import ScenarioDesk
from deskhand.bench.tools.drawing import Random, drawn
from deskhand.bench.tools.motions import low_between, named
from deskhand.bench.tools.worlds import RED, YELLOW, bare, bin_at, block, upright
from deskhand.geometry import Array
from deskhand.safety.settings import load_safety
from deskhand.sim.spec import ObjectSpec, WorldSpec, pose_at


def driven(desk: ScenarioDesk, plan_id: str) -> Array:
    """(N, 3) [m] where the hand truly was while a plan ran."""
    points: list[Array] = []
    body = desk.simulation.model.body(desk.robot.arm.tcp).id

    def watch(fraction: float, text: str) -> None:
        points.append(desk.simulation.data.xpos[body].copy())

    result = desk.session.invoke("execute_plan", {"plan_id": plan_id}, feedback=watch)
    assert result.ok, result
    return np.array(points)


@scenario(
    tool="plan_shape",
    name="circle_as_driven",
    situation="A level circle of 3 to 6 cm: how far is the hand of the moving arm from it at most?",
    world=bare,
)
def circle_as_driven(desk: ScenarioDesk) -> Measured:
    centre, radius = desk.random.uniform([-0.02, -0.06, 0.17], [0.05, 0.06, 0.23]), float(desk.random.uniform(0.03, 0.06))
    plan = desk.call("plan_shape", {"shape": "circle", "center": centre.tolist(), "radius": radius})
    driven(desk, plan["approach_plan_id"])
    off = driven(desk, plan["plan_id"]) - centre
    away = np.hypot(np.linalg.norm(off[:, :2], axis=1) - radius, off[:, 2])
    return Measured(1000 * float(away.max()), "mm off the circle", at_most=6.0)


@scenario(
    tool="plan_shape",
    name="polyline_as_driven",
    situation="Three corners: how near does the hand come to each, and how far from the lines at most?",
    world=bare,
)
def polyline_as_driven(desk: ScenarioDesk) -> Measured:
    corners = np.array([[0.0, -0.08, 0.18], [0.08, 0.0, 0.22], [0.0, 0.08, 0.18]]) + desk.random.uniform(-0.03, 0.03, (3, 3))
    plan = desk.call("plan_shape", {"shape": "polyline", "points": corners.tolist()})
    driven(desk, plan["approach_plan_id"])
    path = driven(desk, plan["plan_id"])
    dense = np.concatenate([np.linspace(a, b, 200) for a, b in pairwise(corners)])
    off = max(float(np.linalg.norm(dense - point, axis=1).min()) for point in path)
    near = max(float(np.linalg.norm(path - corner, axis=1).min()) for corner in corners)
    return Measured(1000 * max(off, near), "mm off", at_most=8.0)


@scenario(
    tool="retime_path",
    name="limits_are_kept",
    situation="Five random paths at several speeds: the greatest share of a limit by differences of what comes out.",
    world=bare,
)
def limits_are_kept(desk: ScenarioDesk) -> Measured:
    arm, random, worst = desk.robot.arm, desk.random, 0.0
    for speed in (1.0, *random.uniform(0.2, 1.0, 4).tolist()):
        path = np.cumsum(random.uniform(-0.5, 0.5, (5, len(arm.joints))), axis=0)
        given = desk.call("retime_path", {"joints": [named(desk, point) for point in path], "speed_scale": speed})
        data = desk.session.resources.get(given["trajectory"]["uri"]).json()
        rate = np.diff(data["positions"], axis=0) / np.diff(data["times"])[:, None]
        change = np.diff(rate, axis=0) * 100.0
        most = arm.max_velocity * load_safety().max_joint_speed * speed
        worst = max(worst, float((np.abs(rate) / most).max()), float((np.abs(change) / (arm.max_acceleration * speed)).max()))
    return Measured(worst, "share of the limit", at_most=1.02)


@scenario(
    tool="retime_path", name="not_slow", situation="One joint moves by 1 rad: the time against the least that a trapezoid of the limits takes.", world=bare
)
def not_slow(desk: ScenarioDesk) -> Measured:
    arm = desk.robot.arm
    start = np.zeros(len(arm.joints))
    end = start.copy()
    far = float(desk.random.uniform(0.6, 1.4))
    end[int(desk.random.integers(0, 2))] = far
    given = desk.call("retime_path", {"joints": [named(desk, start), named(desk, end)]})
    velocity, acceleration = float(arm.max_velocity[0]) * load_safety().max_joint_speed, float(arm.max_acceleration[0])
    least = 2 * np.sqrt(1.0 / acceleration) if velocity**2 / acceleration > 1.0 else 1.0 / velocity + velocity / acceleration
    return Measured(given["duration"] / least, "times the least", at_most=1.35)


@scenario(tool="move_home", name="at_home", situation="From a posture over the desk: how far are the true joints from home?")
def at_home(desk: ScenarioDesk) -> Measured:
    desk.call("execute_plan", {"plan_id": desk.call("plan_motion", {"position": over_the_desk(desk)})["plan_id"]})
    desk.call("move_home")
    arm = desk.robot.arm
    real = [desk.simulation.data.qpos[desk.simulation.built.qpos[name]] for name in arm.joints]
    return Measured(float(np.abs(np.subtract(real, arm.named_poses["home"])).max()), "rad off", at_most=0.03)


def for_handing(random: Random) -> WorldSpec:
    """A block, a can and a bin. Names: block, can, bin."""
    return drawn(random, WorldSpec((block("block", 0.02, 0.02, RED), upright("can", "can", (0.05, 0.05, 0.08), 0.05, -0.2, YELLOW), bin_at(0.03, 0.30))))


@scenario(tool="handover", name="held_out", situation="A block is picked and held out: how far from the robot's base is it really?", world=for_handing)
def held_out(desk: ScenarioDesk) -> Measured:
    ids = desk.look()
    desk.call("pick", {"object_id": ids["block"]})
    desk.call("handover")
    away = float(np.linalg.norm(desk.truth("block").pose[:2, 3] - desk.robot.arm.world_T_base[:2, 3]))
    return Measured(away if "block" in desk.simulation.truth().in_hand else float("nan"), "m from the base", at_least=0.3)


def with_sponge(random: Random) -> WorldSpec:
    """A sponge beside free desk. Names: sponge."""
    size = (0.075, 0.04, 0.025)
    return drawn(random, WorldSpec((ObjectSpec("sponge", "sponge", size, (0.9, 0.75, 0.1), 0.01, pose_at(0.02, 0.16, size[2] / 2)),)))


def _clear_rectangle(desk: ScenarioDesk, length: float, width: float) -> tuple[float, float]:
    """The middle of a drawn rectangle that keeps clear of the sponge."""
    sponge, radius = desk.truth("sponge"), 0.5 * float(np.hypot(length, width))
    while True:
        x, y = desk.random.uniform([0.0, -0.12], [0.06, 0.12]).round(3).tolist()
        if np.hypot(x - sponge.pose[0, 3], y - sponge.pose[1, 3]) > radius + 0.5 * float(np.hypot(*sponge.size[:2])) + 0.03:
            return x, y


@scenario(
    tool="wipe",
    name="area_gone_over",
    situation="10 by 12 cm with the closed fingers: how much of it comes within half a finger of the way of the hand?",
    world=with_sponge,
)
def area_gone_over(desk: ScenarioDesk) -> Measured:
    desk.look()
    points: list[Array] = []
    body = desk.simulation.model.body(desk.robot.arm.tcp).id
    follow = desk.simulation.step

    def step(seconds: float) -> None:
        follow(seconds)
        points.append(desk.simulation.data.xpos[body].copy())

    desk.simulation.step = step  # type: ignore[method-assign]
    x, y = _clear_rectangle(desk, 0.10, 0.12)
    desk.call("wipe", {"x": x, "y": y, "length": 0.10, "width": 0.12})
    path = np.array(points)
    low = path[path[:, 2] < RobotModel.load(desk.robot.arm).arm.gripper.finger_depth + 0.012][:, :2]
    spots = np.stack(np.meshgrid(np.linspace(x - 0.05, x + 0.05, 21), np.linspace(y - 0.06, y + 0.06, 25)), axis=-1).reshape(-1, 2)
    near = [float(np.linalg.norm(low - spot, axis=1).min()) < 0.016 for spot in spots] if len(low) else [False]
    return Measured(float(np.mean(near)), "share of the area", at_least=0.9)


@scenario(tool="move_home", name="touches_nothing", situation="From low between the objects: how far is anything moved on the way home?")
def touches_nothing(desk: ScenarioDesk) -> Measured:
    desk.look()
    before = {name: desk.truth(name).pose[:3, 3].copy() for name in desk.names}
    point = low_between(desk, 0.06)
    desk.call("execute_plan", {"plan_id": desk.call("plan_motion", {"position": point})["plan_id"]})
    desk.call("move_home")
    return Measured(1000 * max(float(np.linalg.norm(desk.truth(name).pose[:3, 3] - before[name])) for name in desk.names), "mm", at_most=1.0)


@scenario(tool="handover", name="not_without", situation="The hand is empty: is it refused, and does the arm stay?", world=for_handing)
def not_without(desk: ScenarioDesk) -> Measured:
    desk.look()
    before = desk.robot.tcp_pose()[:3, 3]
    refused = desk.result("handover").code == "precondition_failed"
    return Measured(1000 * float(np.linalg.norm(desk.robot.tcp_pose()[:3, 3] - before)) if refused else float("nan"), "mm moved", at_most=1.0)


@scenario(
    tool="wipe",
    name="refuses_what_is_taken",
    situation="A sponge lies in the rectangle: is it refused, and the sponge not moved?",
    world=with_sponge,
)
def refuses_what_is_taken(desk: ScenarioDesk) -> Measured:
    desk.look()
    before = desk.truth("sponge").pose[:3, 3].copy()
    x, y = (before[:2] + desk.random.uniform(-0.02, 0.02, 2)).round(3).tolist()
    refused = desk.result("wipe", {"x": x, "y": y, "length": 0.1, "width": 0.1}).code == "no_free_space"
    return Measured(1000 * float(np.linalg.norm(desk.truth("sponge").pose[:3, 3] - before)) if refused else float("nan"), "mm moved", at_most=1.0)
