"""Scenarios of the unit inverse_kinematics: against MuJoCo's kinematics."""

from __future__ import annotations

import numpy as np
from scipy.optimize import least_squares

from deskhand.bench.tools.base import Measured, scenario
from deskhand.bench.tools.desk import ScenarioDesk
from deskhand.bench.tools.motions import Reference, named, random_joints
from deskhand.bench.tools.worlds import bare
from deskhand.geometry import Array


@scenario(
    tool="solve_ik",
    name="where_the_joints_lead",
    situation="Ten points with three directions of the hand: where does MuJoCo have the hand at the joints it gives?",
    world=bare,
)
def where_the_joints_lead(desk: ScenarioDesk) -> Measured:
    reference, random, worst = Reference(desk), desk.random, 0.0
    for number in range(10):
        point = [float(random.uniform(-0.1, 0.1)), float(random.uniform(-0.2, 0.2)), float(random.uniform(0.05, 0.2))]
        found = desk.call("solve_ik", {"position": point, "approach": ("down", "tilted", "forward")[number % 3]})
        joints = [found["solutions"][0]["joints"][name] for name in reference.joints]
        worst = max(worst, float(np.linalg.norm(reference.tcp(joints)[:3, 3] - point)))
    return Measured(1000 * worst, "mm off at most", at_most=1.0)


@scenario(
    tool="solve_ik", name="out_of_reach", situation="Four points beyond the reach, in the base and under the table: is there no solution for any?", world=bare
)
def out_of_reach(desk: ScenarioDesk) -> Measured:
    low, side, beyond = desk.random.uniform(-0.2, -0.05), desk.random.choice([-0.9, 0.9]), desk.random.uniform(0.6, 0.8)
    points = ([beyond, 0.0, 0.2], [-0.3, 0.0, 0.05], [0.0, 0.0, low], [0.0, side, 0.1])
    codes = [desk.result("solve_ik", {"position": point}).code for point in points]
    return Measured(sum(code in ("no_ik_solution", "goal_in_collision") for code in codes) / 4, "share refused", equal=1.0)


@scenario(tool="hand_pose_at", name="against_the_simulator", situation="Twenty random postures: how far is the hand from where MuJoCo has it?", world=bare)
def against_the_simulator(desk: ScenarioDesk) -> Measured:
    reference, worst = Reference(desk), 0.0
    for joints in random_joints(desk, 20):
        told, real = desk.call("hand_pose_at", {"joints": named(desk, joints)}), reference.tcp(joints)
        worst = max(
            worst, float(np.linalg.norm(np.subtract(told["position"], real[:3, 3]))), 0.1 * float(np.abs(np.subtract(told["approach"], real[:3, 2])).max())
        )
    return Measured(1000 * worst, "mm off at most", at_most=0.5)


@scenario(
    tool="hand_pose_at",
    name="dexterity",
    situation="Twenty random postures: the ratio of singular values against that of differences of MuJoCo's kinematics.",
    world=bare,
)
def dexterity(desk: ScenarioDesk) -> Measured:
    reference, worst = Reference(desk), 0.0
    for joints in random_joints(desk, 20):
        step = 1e-5 * np.eye(len(joints))
        columns = [(reference.tcp(joints + one)[:3, 3] - reference.tcp(joints - one)[:3, 3]) / 2e-5 for one in step]
        values = np.linalg.svd(np.array(columns).T, compute_uv=False)
        worst = max(worst, abs(desk.call("hand_pose_at", {"joints": named(desk, joints)})["dexterity"] - float(values[-1] / values[0])))
    return Measured(worst, "difference at most", at_most=0.002)


@scenario(
    tool="reachability_map",
    name="against_another_solver",
    situation="A map at 8 to 15 cm, fingers down: do least squares on MuJoCo's kinematics agree, cell by cell?",
    world=bare,
)
def against_another_solver(desk: ScenarioDesk) -> Measured:
    height = float(desk.random.uniform(0.08, 0.15))
    given = desk.call("reachability_map", {"height": height, "cells": 8})
    reference, agree, count = Reference(desk), 0, 0
    limits = np.array([desk.simulation.built.robot.limits[name][:2] for name in reference.joints])
    home = np.asarray(desk.robot.arm.named_poses["home"])
    for x, row in zip(given["x"], given["rows"], strict=True):
        for y, cell in zip(given["y"], row, strict=True):
            point = np.array([x, y, height])

            def off(joints: Array, point: Array = point) -> Array:
                pose = reference.tcp(joints)
                return np.concatenate([10 * (pose[:3, 3] - point), pose[:3, 2] + [0.0, 0.0, 1.0]])

            turned = np.clip(np.append(np.arctan2(y, x + 0.3), home[1:]), limits[:, 0] + 1e-3, limits[:, 1] - 1e-3)
            starts = (turned, np.clip(turned + np.array([0, 0.9, 0.3, 0, 0.3, 0]), limits[:, 0] + 1e-3, limits[:, 1] - 1e-3))
            reached = any(least_squares(off, start, bounds=limits.T, max_nfev=80).cost < 1e-5 for start in starts)
            count, agree = count + 1, agree + (reached == (cell == "#"))
    return Measured(agree / count, "share of the cells judged alike", at_least=0.95)


@scenario(
    tool="reachability_map",
    name="lower_is_less_far",
    situation="The reached share at about 10 cm against that at about 45 cm, where the arm must stretch.",
    world=bare,
)
def lower_is_less_far(desk: ScenarioDesk) -> Measured:
    shares = [
        desk.call("reachability_map", {"height": height, "cells": 8})["share"] for height in (desk.random.uniform(0.08, 0.12), desk.random.uniform(0.43, 0.47))
    ]
    return Measured(shares[0] - shares[1], "share less", at_least=0.02)
