"""The envelope names link, obstacle, depth and time; its distances are checked against an independent optimiser."""

import numpy as np
import pytest
from scipy.optimize import lsq_linear

from deskhand.arms.config import load_arm
from deskhand.arms.model import RobotModel
from deskhand.errors import DeskhandError
from deskhand.geometry import Array, make_transform, rotation_about
from deskhand.motion.timing import time_path
from deskhand.safety.bodies import pieces_of, separation
from deskhand.safety.envelope import Envelope
from deskhand.safety.kinematics import lever_arms, link_poses
from deskhand.safety.scene import PlanningScene, pair
from deskhand.safety.settings import SafetySettings, load_safety, parse_safety
from deskhand.types import CollisionObject, Shape, Trajectory

ARM = load_arm("wx250s")
MODEL = RobotModel.load(ARM)
HOME = np.array(ARM.named_poses["home"], dtype=float)
FINGERS = {ARM.gripper.joint: 0.037}


def timed(path: Array, scale: float = 0.5) -> Trajectory:
    return time_path(ARM.joints, path, ARM.max_velocity, ARM.max_acceleration, scale)


def envelope(**changes: object) -> Envelope:
    settings = load_safety()
    return Envelope(MODEL, SafetySettings(**{**settings.__dict__, **changes}))  # type: ignore[arg-type]


def post(name: str, position: Array, size: float = 0.04) -> CollisionObject:
    return CollisionObject(name, (Shape("box", (size, size, size)),), make_transform(translation=position))


def test_separation_agrees_with_an_optimiser_and_depth_with_geometry() -> None:
    rng = np.random.default_rng(0)
    kinds = [Shape("box", (0.05, 0.08, 0.03)), Shape("cylinder", (0.03, 0.09)), Shape("sphere", (0.03,)), Shape("box", (0.2, 0.02, 0.02))]
    for _ in range(300):
        a, b = (pieces_of([kinds[i]]) for i in rng.integers(0, len(kinds), 2))
        a = a.moved(make_transform(rotation_about(rng.normal(size=3), rng.uniform(0, 3)), rng.normal(size=3) * 0.06))
        b = b.moved(make_transform(rotation_about(rng.normal(size=3), rng.uniform(0, 3))))
        generators = np.concatenate([a.generators, b.generators], axis=1)
        distance = float(separation(a.centers - b.centers, generators, a.radii + b.radii)[0])
        columns = generators[0][np.abs(generators[0]).sum(axis=1) > 0]
        truth = float(np.linalg.norm(a.centers - b.centers))
        if len(columns):
            truth = float(np.sqrt(2 * lsq_linear(columns.T, -(a.centers - b.centers)[0], (-1, 1), tol=1e-12).cost))
        if truth > 1e-6:
            truth -= float(a.radii[0] + b.radii[0])
            assert truth - 1.1e-4 - 0.035 * max(truth - 0.005, 0) <= distance <= truth + 1e-6
        else:
            assert distance <= 1e-9
    cube = pieces_of([Shape("box", (0.1, 0.1, 0.1))])
    for offset, depth in ((0.09, 0.01), (0.02, 0.08)):
        moved = cube.moved(make_transform(translation=(offset, 0.005, 0.0)))
        generators = np.concatenate([cube.generators, moved.generators], axis=1)
        assert separation(moved.centers - cube.centers, generators, np.zeros(1))[0] == pytest.approx(-depth, abs=1e-9)


def test_looking_at_few_states_finds_what_looking_at_each_finds() -> None:
    """Swings through clutter and a cloud of points with something in the hand: every contact and the clearance, against every state alone."""
    rng = np.random.default_rng(5)
    cloud = rng.uniform((-0.05, 0.05, 0.0), (0.1, 0.25, 0.12), (600, 3))
    obj = CollisionObject("cloud", (Shape("points", (0.006,), vertices=cloud),))
    hanging = CollisionObject("bar", (Shape("cylinder", (0.01, 0.1)),), make_transform(translation=(0, 0, 0.04)))
    keep = envelope().checker
    touched = 0
    for index in range(6):
        boxes = {f"box_{i}": post(f"box_{i}", np.array([rng.uniform(-0.2, 0.2), rng.uniform(-0.3, 0.3), 0.03]), 0.06) for i in range(8)}
        scene = PlanningScene(boxes | ({"cloud": obj} if index % 2 else {}), hanging if index % 3 else None)
        ends = HOME + rng.normal(size=(2, 6)) * (1.0, 0.5, 0.5, 0.8, 0.8, 0.8)
        positions = np.linspace(*ends, 90)
        poses = link_poses(MODEL, ARM.joints, positions, FINGERS)
        near, clearance = keep.survey(keep.placed(poses, scene), scene, frozenset(), (), 0.002, clearance=True)
        alone: dict[tuple[int, frozenset[str]], float] = {}
        least = 0.1
        for state in range(len(positions)):
            one = {link: pose[state : state + 1] for link, pose in poses.items()}
            alone |= {(state, frozenset((item.a, item.b))): item.distance for item in keep.near(one, scene, cutoff=0.002)}
            least = min(least, keep.clearance(one, scene))
        found = {(item.state, frozenset((item.a, item.b))): item.distance for item in near}
        assert found.keys() == alone.keys()
        assert all(abs(found[key] - alone[key]) < 2e-4 for key in found)
        assert clearance == pytest.approx(least, abs=6e-4 + 0.03 * max(least, 0))
        touched += len(found)
    assert touched > 100


def test_states_near_something_are_those_that_each_state_alone_gives() -> None:
    """Whatever the distance, people's 0.2 m or an obstacle's 0.05 m, on swings through clutter and a cloud with something in the hand."""
    rng = np.random.default_rng(6)
    cloud = CollisionObject("cloud", (Shape("points", (0.006,), vertices=rng.uniform((0.25, -0.3, 0.0), (0.4, -0.2, 0.12), (100, 3))),))
    hanging = CollisionObject("bar", (Shape("cylinder", (0.01, 0.1)),), make_transform(translation=(0, 0, 0.04)))
    keep = envelope().checker
    near = 0
    for index, cutoff in enumerate((0.1, 0.05, 0.05, 0.02, 0.0)):
        positions = np.linspace(HOME, HOME + rng.normal(size=6) * (1.2, 0.5, 0.5, 0.8, 0.8, 0.8), 30)
        by_way = [MODEL.tcp_pose(MODEL.arm_joints(positions[i]))[:3, 3] + rng.normal(size=3) * 0.05 for i in rng.integers(0, 30, 4)]
        scene = PlanningScene({f"box_{i}": post(f"box_{i}", at, 0.06) for i, at in enumerate(by_way)} | {"cloud": cloud}, hanging if index % 2 else None)
        poses = link_poses(MODEL, ARM.joints, positions, FINGERS)
        names = {"box_0", "box_1", "cloud"}
        found = keep.approaches(keep.placed(poses, scene), scene, frozenset(), names, cutoff)
        for state in range(len(positions)):
            one = {link: pose[state : state + 1] for link, pose in poses.items()}
            distance = min((item.distance for item in keep.near(one, scene, cutoff=cutoff + 0.02) if {item.a, item.b} & names), default=np.inf)
            if abs(distance - cutoff) > 2e-4 + 0.03 * cutoff:  # as far as distances are told
                assert found[state] == (distance < cutoff), (index, state, distance)
        near += int(found.sum())
    assert 30 < near < 140


def test_what_dips_in_between_two_looks_is_found() -> None:
    """A thin plate that the finger tips pass edge on: coarse states may all lie beside it."""
    left, right = HOME.copy(), HOME.copy()
    left[0], right[0] = 0.5, -0.5
    for height in np.linspace(0.0, 0.01, 6):
        tip = MODEL.tcp_pose(MODEL.arm_joints(HOME)) @ np.array([0, 0, ARM.gripper.finger_depth - 0.0022, 1])
        plate = CollisionObject("plate", (Shape("box", (0.2, 0.0005, 0.004)),), make_transform(translation=(tip[0], tip[1] + height, tip[2])))
        report = envelope().check(timed(np.array([left, right])), PlanningScene({"plate": plate}), FINGERS)
        assert any("plate" in (item.link, item.obstacle) for item in report.violations)


def test_no_point_of_the_arm_moves_farther_than_its_levers_say() -> None:
    rng, levers = np.random.default_rng(1), lever_arms(MODEL)
    lower, upper = (np.array([MODEL.limits[name][i] for name in ARM.joints]) for i in (0, 1))
    for _ in range(100):
        start = rng.uniform(lower, upper)
        step = rng.normal(size=6) * 0.05
        poses = link_poses(MODEL, ARM.joints, np.array([start, start + step]), FINGERS)
        bound = float(np.abs(step) @ np.array([levers[name] for name in ARM.joints]))
        for link, shapes in MODEL.shapes.items():
            corners = np.concatenate([piece for shape in shapes for piece in _corners(shape)])
            moved = np.linalg.norm(
                corners @ poses[link][1][:3, :3].T + poses[link][1][:3, 3] - corners @ poses[link][0][:3, :3].T - poses[link][0][:3, 3], axis=1
            )
            assert moved.max() <= bound + 1e-9


def _corners(shape: Shape) -> list[Array]:
    half = np.abs(pieces_of([Shape(shape.kind, shape.size)]).generators[0]).sum(axis=0)
    signs = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)])
    return [(signs * half * 0.99) @ shape.pose[:3, :3].T + shape.pose[:3, 3]]


def test_a_collision_between_way_points_is_found_and_named() -> None:
    """A thin post in the middle of a swing; start and end are far from it."""
    left, right = HOME.copy(), HOME.copy()
    left[0], right[0] = 0.9, -0.9
    tip = MODEL.tcp_pose(MODEL.arm_joints(HOME))[:3, 3]
    scene = PlanningScene({"post": post("post", tip, 0.008)})
    swing = timed(np.array([left, right]))
    report = envelope().check(swing, scene, FINGERS, clearance=True)
    [violation] = [item for item in report.violations if item.obstacle == "post" and item.link == "left_finger_link"] or report.violations[:1]
    assert violation.kind == "collision" and "post" in str(violation)
    assert violation.time == pytest.approx(swing.duration / 2, abs=0.3)
    assert 0.001 < violation.amount < 0.02
    with pytest.raises(DeskhandError, match=r"post by \d+\.\d mm at \d") as caught:
        report.require()
    assert caught.value.code == "envelope_violated"
    allowed = frozenset(pair(link, "post") for link in MODEL.links)
    assert not envelope().check(swing, scene, FINGERS, allowed).violations


def test_a_coarse_trajectory_is_looked_at_finely() -> None:
    """Two points only, 1.8 rad apart."""
    left, right = HOME.copy(), HOME.copy()
    left[0], right[0] = 0.9, -0.9
    tip = MODEL.tcp_pose(MODEL.arm_joints(HOME))[:3, 3]
    zeros = np.zeros((2, 6))
    swing = Trajectory(ARM.joints, np.array([0.0, 5.0]), np.array([left, right]), zeros, zeros)
    assert envelope().check(swing, PlanningScene({"post": post("post", tip, 0.02)}), FINGERS).violations


def test_plans_stay_a_margin_away_from_keep_out_zones() -> None:
    workspace = {"lower": [-1, -1, 0], "upper": [1, 1, 1]}
    zone = {"name": "lamp", "xyz": [0.1, 0.2, 0.3], "size": [0.1, 0.2, 0.3]}
    [by_default] = parse_safety({"workspace": workspace, "keep_out": [zone]}).keep_out
    [wide] = parse_safety({"workspace": workspace, "keep_out": [zone], "keep_out_margin": 0.02}).keep_out
    assert by_default.id == wide.id == "keep_out:lamp"
    assert by_default.shapes[0].size == pytest.approx((0.11, 0.21, 0.31)) and wide.shapes[0].size == pytest.approx((0.14, 0.24, 0.34))


def test_table_workspace_keep_out_and_self_collision() -> None:
    low = HOME.copy()
    low[1:3] = 1.2, 0.3
    found = envelope().check(timed(np.array([HOME, low])), PlanningScene(), FINGERS).violations
    assert any(item.kind == "collision" and "table" in (item.link, item.obstacle) for item in found)
    aside = HOME.copy()
    aside[0] = 1.5
    narrow = envelope(upper=np.array([0.5, 0.05, 1.0])).check(timed(np.array([HOME, aside])), PlanningScene(), FINGERS).violations
    assert {item.kind for item in narrow} == {"workspace"} and narrow[0].amount > 0.05
    tip = MODEL.tcp_pose(MODEL.arm_joints(aside))[:3, 3]
    zone = CollisionObject("keep_out:monitor", (Shape("box", (0.1, 0.1, 0.1)),), make_transform(translation=tip))
    kept = envelope(keep_out=(zone,)).check(timed(np.array([HOME, aside])), PlanningScene(), FINGERS).violations
    assert any("keep_out:monitor" in (item.link, item.obstacle) for item in kept)
    folded = np.array([0.0, -1.8, 1.6, 0.0, 2.1, 0.0])
    itself = envelope(lower=np.array([-2.0, -2, -1])).check(timed(np.array([HOME, folded])), PlanningScene(), FINGERS).violations
    assert any({item.link, item.obstacle} <= set(MODEL.links) and item.kind == "collision" for item in itself)


def test_what_is_held_counts_as_the_arm() -> None:
    aside = HOME.copy()
    aside[0] = 0.8
    hanging = CollisionObject("bar", (Shape("box", (0.02, 0.02, 0.1)),), make_transform(translation=(0, 0, 0.05)))
    tip = MODEL.tcp_pose(MODEL.arm_joints(aside))
    below = tip @ np.array([0, 0, 0.09, 1])
    scene = PlanningScene({"cup": post("cup", below[:3], 0.02)})
    assert not envelope().check(timed(np.array([HOME, aside])), scene, FINGERS).violations
    [violation] = envelope().check(timed(np.array([HOME, aside])), PlanningScene(scene.obstacles, hanging), FINGERS).violations
    assert {violation.link, violation.obstacle} == {"bar", "cup"}


def test_limits_and_speeds() -> None:
    beyond = HOME.copy()
    beyond[2] = 2.0
    kinds = {(item.kind, item.link) for item in envelope().check(timed(np.array([HOME, beyond])), PlanningScene(), FINGERS).violations}
    assert ("joint_limit", "elbow") in kinds
    aside = HOME.copy()
    aside[0] = 1.0
    good = timed(np.array([HOME, aside]), 1.0)
    assert not envelope().check(good, PlanningScene(), FINGERS).violations
    hasty = Trajectory(good.joint_names, good.times / 5, good.positions, good.velocities, good.accelerations)
    assert {item.kind for item in envelope().check(hasty, PlanningScene(), FINGERS).violations} == {"joint_speed", "tcp_speed"} - (
        set() if envelope().settings.max_tcp_speed < 1.5 else {"tcp_speed"}
    )
    slow = envelope(max_tcp_speed=0.1).check(good, PlanningScene(), FINGERS).violations
    assert [item.kind for item in slow] == ["tcp_speed"]


def test_a_contact_at_the_start_may_be_left_but_not_deepened() -> None:
    tip = MODEL.tcp_pose(MODEL.arm_joints(HOME))
    size = 0.06
    touching = tip[:3, 3] + tip[:3, 2] * (ARM.gripper.finger_depth + size / 2 - 0.003)
    item = CollisionObject("wall", (Shape("box", (0.06, 0.1, size)),), make_transform(tip[:3, :3], touching))
    scene = PlanningScene({"wall": item})
    into, away = HOME.copy(), HOME.copy()
    away[2] -= 0.3
    into[2] += 0.3
    assert not [v for v in envelope().check(timed(np.array([HOME, away])), scene, FINGERS).violations if "wall" in (v.link, v.obstacle)]
    assert [v for v in envelope().check(timed(np.array([HOME, into])), scene, FINGERS).violations if "wall" in (v.link, v.obstacle)]
    back = timed(np.array([HOME, away, HOME]))
    assert [v for v in envelope().check(back, scene, FINGERS).violations if "wall" in (v.link, v.obstacle)], "once free, it must stay free"


def test_broken_trajectories_are_violations_not_crashes() -> None:
    good = timed(np.array([HOME, HOME + 0.1]))
    nan = good.positions.copy()
    nan[3, 2] = np.nan
    for broken in (
        Trajectory(good.joint_names, good.times, nan, good.velocities, good.accelerations),
        Trajectory(good.joint_names, good.times[::-1], good.positions, good.velocities, good.accelerations),
        Trajectory(good.joint_names, good.times[:-1], good.positions, good.velocities, good.accelerations),
        Trajectory((), np.zeros(0), np.zeros((0, 0)), np.zeros((0, 0)), np.zeros((0, 0))),
        Trajectory(("nose", *good.joint_names[1:]), good.times, good.positions, good.velocities, good.accelerations),
    ):
        [violation] = envelope().check(broken, PlanningScene()).violations
        assert violation.kind == "trajectory"


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"approval": False}, "approval"),
        ({"workspace": {"lower": [0, 0, 0], "upper": [1, -1, 1]}}, "upper"),
        ({"workspace": {"lower": [0, 0], "upper": [1, 1, 1]}}, "lower"),
        ({"workspace": None}, "workspace"),
        ({"max_tcp_speed": "fast"}, "max_tcp_speed"),
        ({"max_tcp_speed": -1}, "max_tcp_speed"),
        ({"speed": 1}, "speed"),
        ({"keep_out": [{"name": "a", "xyz": [0, 0, 0], "size": [1, 1, -1]}]}, r"keep_out\[0\].size"),
        ({"keep_out": [{"xyz": [0, 0, 0], "size": [1, 1, 1]}]}, r"keep_out\[0\].name"),
        ({"keep_out": {"a": 1}}, "keep_out"),
        ({"watchdog": {"timeout": 0}}, "timeout"),
        ({"slow": {"near": -0.1}}, "near"),
        ({"slow": {"speed": 0.1}}, "speed"),
    ],
)
def test_broken_settings_name_the_field(change: dict[str, object], named: str) -> None:
    good: dict[str, object] = {"workspace": {"lower": [-1, -1, 0], "upper": [1, 1, 1]}}
    assert parse_safety(good).approval == "never"
    with pytest.raises(DeskhandError, match=named) as caught:
        parse_safety({**good, **change})
    assert caught.value.code == "config_error"
    with pytest.raises(DeskhandError):
        parse_safety("text")
