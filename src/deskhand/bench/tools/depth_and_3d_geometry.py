"""Scenarios of the unit depth_and_3d_geometry."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy.spatial.transform import Rotation

from deskhand.bench.tools import rings
from deskhand.bench.tools.base import Measured, scenario
from deskhand.bench.tools.desk import ScenarioDesk
from deskhand.bench.tools.drawing import Random
from deskhand.bench.tools.worlds import furniture, pegs, scales, sorter
from deskhand.etp.resources import DEPTH
from deskhand.geometry import Array, inverse, look_at, rotation_rpy, transform_points
from deskhand.sim.fixtures.kinds import fixture_parts, hole_of
from deskhand.sim.fixtures.spec import FixtureSpec
from deskhand.sim.spec import WorldSpec
from deskhand.tasks.clutter import cluttered_desk
from deskhand.types import Depth


@scenario(tool="capture_rgbd", name="points_on_things", situation="A point cloud of what stands on the desk: how far is it from the true surfaces?")
def points_on_objects(desk: ScenarioDesk) -> Measured:
    shot = desk.call("capture_rgbd", {"cloud": True})["shots"][0]
    cloud, frame = desk.fetch(shot["cloud"]), desk.frame()
    pixels = np.round(frame.project(cloud)).astype(int)
    depth = transform_points(inverse(frame.world_T_camera), cloud)[:, 2]
    inside = (pixels >= 0).all(axis=1) & (pixels[:, 0] < 640) & (pixels[:, 1] < 480)
    true = desk.true_picture()[1][pixels[inside, 1], pixels[inside, 0]]
    return Measured(1000 * float(np.median(np.abs(depth[inside] - true))), "mm median distance along the line of sight", at_most=2.0)


@scenario(tool="capture_rgbd", name="timing", situation="Five exposures, 0.2 s apart: the largest error of the time between two of them.")
def timing(desk: ScenarioDesk) -> Measured:
    stamps = [shot["stamp"] for shot in desk.call("capture_rgbd", {"count": 5, "interval": 0.2})["shots"]]
    return Measured(float(np.abs(np.diff(stamps) - 0.2).max()), "s largest error", at_most=0.03)


def holed(desk: ScenarioDesk, share: float) -> tuple[dict[str, str], Depth, npt.NDArray[np.bool_]]:
    """Arguments with a depth picture that lost patches at random; the true depth, and where the patches are."""
    random = desk.random
    shot = desk.call("capture_rgbd")["shots"][0]
    depth = desk.fetch(shot["depth"]).copy()
    lost = np.zeros(depth.shape, bool)
    while lost.mean() < share:
        row, column, size = int(random.integers(0, 470)), int(random.integers(0, 630)), int(random.integers(4, 14))
        lost[row : row + size, column : column + size] = True
    depth[lost] = np.nan
    return {"depth": desk.keep(depth, DEPTH), "color": shot["color"]["uri"]}, desk.true_picture()[1], lost


@scenario(tool="fill_depth", name="patches", situation="A tenth of the depth is lost in patches of 4 to 14 px: the error of what is filled in.")
def patches(desk: ScenarioDesk) -> Measured:
    arguments, true, lost = holed(desk, 0.1)
    full = desk.fetch(desk.call("fill_depth", arguments)["depth"])
    near = lost & (true < 1.3) & np.isfinite(full)
    return Measured(1000 * float(np.median(np.abs(full[near] - true[near]))), "mm median error", at_most=2.0)


@scenario(tool="fill_depth", name="edges", situation="The same patches: how many of the filled pixels are more than 15 mm off, as at the edges of objects?")
def edges(desk: ScenarioDesk) -> Measured:
    arguments, true, lost = holed(desk, 0.1)
    full = desk.fetch(desk.call("fill_depth", arguments)["depth"])
    near = lost & (true < 1.3)
    return Measured(float((~(np.abs(full[near] - true[near]) < 0.015)).mean()), "share of filled pixels", at_most=0.08)


@scenario(
    tool="fill_depth",
    name="sensor_holes",
    situation="The sensor's own holes beside objects and in shadows are filled: the share that is within 10 mm of the truth.",
)
def sensor_holes(desk: ScenarioDesk) -> Measured:
    given = desk.call("fill_depth", {})
    full, filled, true = desk.fetch(given["depth"]), desk.fetch(given["filled"])[..., 0] > 0, desk.true_picture()[1]
    judged = filled & (true < 1.3)
    return Measured(float((np.abs(full - true)[judged] < 0.010).mean()), "share of filled pixels within 10 mm", at_least=0.75)


# ---------------------------------------------------------------- several pictures


def crowded(random: Random) -> WorldSpec:
    """A desk with twelve objects: corners enough."""
    return cluttered_desk("wx250s", int(random.integers(1_000_000)), 12)


EYES = [(0.58, 0.0, 0.62), (0.56, 0.12, 0.62), (0.52, -0.12, 0.66), (0.60, 0.06, 0.54)]


def walk(desk: ScenarioDesk) -> tuple[dict[str, object], list[Array]]:
    """Arguments with pictures from several places, and their true poses."""
    eyes = np.array(EYES)
    eyes[1:] += desk.random.uniform(-0.015, 0.015, eyes[1:].shape)  # the first is the camera's own place
    frames = [desk.picture_from(look_at(eye, (0.03, 0.0, 0.0))) for eye in eyes]
    poses = [frame.world_T_camera for frame in frames]
    k = frames[0].intrinsics
    camera = {"width": k.width, "height": k.height, "fx": k.fx, "fy": k.fy, "cx": k.cx, "cy": k.cy}
    baseline = float(np.linalg.norm(poses[1][:3, 3] - poses[0][:3, 3]))
    return {"pictures": [desk.keep(frame.color) for frame in frames], "camera": camera, "baseline": baseline}, poses


@scenario(
    tool="reconstruct_from_pictures",
    name="camera_turns",
    situation="Four pictures of a crowded desk from places 12 to 28 cm apart: error of the camera's turn.",
    world=crowded,
)
def camera_turns(desk: ScenarioDesk) -> Measured:
    arguments, poses = walk(desk)
    given = desk.call("reconstruct_from_pictures", arguments)["poses"]
    errors = [
        Rotation.from_matrix((inverse(np.array(found)) @ inverse(poses[0]) @ true)[:3, :3]).magnitude() if found else np.pi
        for found, true in zip(given, poses, strict=True)
    ]
    return Measured(float(np.rad2deg(max(errors))), "deg largest error", at_most=1.0)


@scenario(tool="reconstruct_from_pictures", name="camera_places", situation="The same four pictures: error of where the camera was.", world=crowded)
def camera_places(desk: ScenarioDesk) -> Measured:
    arguments, poses = walk(desk)
    given = desk.call("reconstruct_from_pictures", arguments)["poses"]
    errors = [np.linalg.norm(np.array(found)[:3, 3] - (inverse(poses[0]) @ true)[:3, 3]) if found else 9.0 for found, true in zip(given, poses, strict=True)]
    return Measured(1000 * float(max(errors)), "mm largest error", at_most=12.0)


@scenario(
    tool="reconstruct_from_pictures",
    name="points",
    situation="The same four pictures: distance of the points from the true surface that the first one shows.",
    world=crowded,
)
def points(desk: ScenarioDesk) -> Measured:
    arguments, _ = walk(desk)
    cloud = desk.fetch(desk.call("reconstruct_from_pictures", arguments)["points"])
    true, frame = desk.true_picture()[1], desk.frame()
    k = frame.intrinsics
    pixels = np.round(cloud[:, :2] / cloud[:, 2:] * [k.fx, k.fy] + [k.cx, k.cy]).astype(int)
    inside = (pixels >= 0).all(axis=1) & (pixels[:, 0] < k.width) & (pixels[:, 1] < k.height)
    error = np.abs(cloud[inside, 2] - true[pixels[inside, 1], pixels[inside, 0]])
    return Measured(
        1000 * float(np.median(error)) if len(error) >= 50 else float("nan"), "mm median error of the depth (0.7 to 1 m), 50 points or more", at_most=20.0
    )


def reading_error(desk: ScenarioDesk) -> tuple[float, str]:
    """By how much [mm] a reading differs from the balance's joints, signed by the side that is said to be lower; and that side."""
    told, joints = desk.call("read_balance"), desk.simulation.truth().joints
    down = told["difference_mm"] * {"left": 1, "right": -1, "level": 1}[told["lower"]]
    true = 1000 * (joints["balance/left"] - joints["balance/right"])
    return (abs(down - true) if told["lower"] != "level" else abs(told["difference_mm"] - abs(true))), str(told["lower"])


@scenario(
    tool="read_balance",
    name="five_loads",
    situation="The blocks on the pans are given five pairs of masses, from level to the stop: the largest error against the balance's joints.",
    world=scales,
)
def five_loads(desk: ScenarioDesk) -> Measured:
    worst, model = 0.0, desk.simulation.model
    for left, right in ((0.030, 0.020), (0.020, 0.020), *desk.random.uniform(0.005, 0.03, (2, 2)).tolist(), (0.008, 0.060)):
        for name, mass in (("left", left), ("right", right)):
            body = desk.simulation.built.object_bodies[desk.names.index(name)]
            with desk.simulation.lock:
                model.body_inertia[body] *= mass / model.body_mass[body]
                model.body_mass[body] = mass
                desk.push(name, (0.0, 0.0, -0.001))  # what sleeps does not feel that it has become heavier
        desk.simulation.step(2.0)
        worst = max(worst, reading_error(desk)[0])
    return Measured(worst, "mm off at most", at_most=0.5)


@scenario(
    tool="read_balance",
    name="what_lies_on_it",
    situation="A block on each pan and one beside the balance: how many of the three are told to lie where they do?",
    world=scales,
)
def what_lies_on_it(desk: ScenarioDesk) -> Measured:
    told, ids = desk.call("read_balance"), desk.recognised()
    right = [told["left"]["on"] == [ids["left"]], told["right"]["on"] == [ids["right"]], ids["spare"] not in (*told["left"]["on"], *told["right"]["on"])]
    return Measured(sum(right), "right of 3", equal=3)


@scenario(tool="measure", name="gap", situation="The gap between two blocks, and the length of a box, against their true poses and sizes.")
def gap_and_length(desk: ScenarioDesk) -> Measured:
    ids = desk.look()
    red, can = desk.truth("red"), desk.truth("can")
    corners = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)])
    side = [transform_points(red.pose, corner * np.array(red.size) / 2) for corner in corners]
    edges = np.concatenate([a + np.linspace(0, 1, 60)[:, None] * (b - a) for a in side for b in side])
    real = float(np.linalg.norm(edges[:, :2] - can.pose[:2, 3], axis=1).min()) - can.size[0] / 2
    gap = desk.call("measure", {"quantity": "gap", "object_ids": [ids["red"], ids["can"]]})["value"]
    length = desk.call("measure", {"quantity": "length", "object_ids": [ids["box"]]})["value"]
    return Measured(1000 * max(abs(gap - real), abs(length - max(desk.truth("box").size[:2]))), "mm larger error", at_most=6.0)


@scenario(tool="measure", name="exact", situation="Angle, area, path and distance of given points: the largest relative error against the formula.")
def exact_measures(desk: ScenarioDesk) -> Measured:
    desk.look()
    turn, angle = rotation_rpy(*desk.random.uniform(-3, 3, 3)), float(desk.random.uniform(0.3, 2.6))
    first, second = desk.random.uniform(0.05, 0.4, 2).tolist()
    points = np.array([[first, 0, 0], [0, 0, 0], [second * np.cos(angle), second * np.sin(angle), 0]]) @ turn.T
    real = {"angle": angle, "area": 0.5 * first * second * np.sin(angle), "path": first + second}
    errors = [abs(desk.call("measure", {"quantity": name, "points": points.tolist()})["value"] / value - 1) for name, value in real.items()]
    errors.append(abs(desk.call("measure", {"quantity": "distance", "points": points[:2].tolist()})["value"] / first - 1))
    return Measured(max(errors), "largest relative error", at_most=0.001)


@scenario(
    tool="estimate_depth",
    name="table_and_objects",
    situation="Depth of six objects and the table from colour alone: the median error, as a share of the distance, the worse of both.",
)
def depth_from_color(desk: ScenarioDesk) -> Measured:
    given, true, owners = desk.call("estimate_depth"), desk.true_picture()[1], desk.owners()
    told, stands = desk.fetch(given["depth"]), desk.fetch(given["standing"])[..., 0] > 127
    objects = (owners >= 0) & (owners < 6)
    errors = [float(np.nanmedian(np.abs(told[mask] / true[mask] - 1))) for mask in (objects & stands, (owners < 0) & np.isfinite(told) & ~stands)]
    return Measured(max(errors) if stands[objects].mean() > 0.8 else float("nan"), "share of the distance", at_most=0.03)


@scenario(
    tool="estimate_depth", name="stored_and_dark", situation="The same from a stored picture, darkened to a half: the median error of the objects' depth."
)
def depth_from_dark(desk: ScenarioDesk) -> Measured:
    image = (desk.frame().color * desk.random.uniform(0.45, 0.65)).astype(np.uint8)
    given, true, owners = desk.call("estimate_depth", {"picture": desk.keep(image)}), desk.true_picture()[1], desk.owners()
    told, mask = desk.fetch(given["depth"]), (owners >= 0) & (owners < 6)
    return Measured(float(np.nanmedian(np.abs(told[mask] / true[mask] - 1))), "share of the distance", at_most=0.04)


@scenario(tool="complete_shape", name="surface", situation="Can, box and block, completed: the mean distance of the told points from their true surfaces.")
def completed_surface(desk: ScenarioDesk) -> Measured:
    ids, errors = desk.look(), []
    for name in ("can", "box", "red"):
        points, item = desk.fetch(desk.call("complete_shape", {"object_id": ids[name]})["surface"]), desk.truth(name)
        local, half = transform_points(inverse(item.pose), points), np.array(item.size) / 2
        if name == "can":
            radius, height = np.linalg.norm(local[:, :2], axis=1) - half[0], np.abs(local[:, 2]) - half[2]
        else:
            radius, height = np.abs(local[:, :2] / half[:2]).max(axis=1) * half[:2].min() - half[:2].min(), np.abs(local[:, 2]) - half[2]
        off = np.stack([radius, height])
        outside = np.linalg.norm(np.maximum(off, 0), axis=0)
        errors.append(float(np.where(outside > 0, outside, -off.max(axis=0)).mean()))
    return Measured(1000 * max(errors), "mm largest mean distance", at_most=4.0)


@scenario(
    tool="complete_shape",
    name="inferred",
    situation="Of a box, the told hidden points whose side the camera really cannot see, or at less than 10 degrees, as a share of them.",
)
def inferred_points(desk: ScenarioDesk) -> Measured:
    hidden, box = desk.fetch(desk.call("complete_shape", {"object_id": desk.look()["box"]})["hidden"]), desk.truth("box")
    half, eye = np.array(box.size) / 2, transform_points(inverse(box.pose), desk.frame().world_T_camera[:3, 3])
    local = transform_points(inverse(box.pose), hidden)
    side = np.argmax(np.abs(local) / half, axis=1)
    rows = np.arange(len(local))
    local[rows, side] = np.sign(local[rows, side]) * half[side]  # where on the true box that is
    sight = eye - local
    facing = np.sign(local[rows, side]) * sight[rows, side] / np.linalg.norm(sight, axis=1)
    return Measured(float((facing < np.sin(np.deg2rad(10))).mean()), "share of the points", at_least=0.85)


def true_holes(desk: ScenarioDesk) -> dict[str, Array]:
    """Outline -> [x, y] of the middle of its hole [m, world]."""
    (box,) = desk.simulation.built.spec.fixtures
    return {one.outline: np.asarray(box.pose[:2, :2] @ hole_of(one, box.clearance).mean(axis=0) + box.pose[:2, 3]) for one in box.recesses}


@scenario(tool="find_holes", name="all_holes", situation="A shape sorter with three holes: how far is the worst from where it is?", world=sorter)
def all_holes(desk: ScenarioDesk) -> Measured:
    desk.look()
    told = [np.asarray(hole["position"]) for hole in desk.call("find_holes")["holes"]]
    off = [min((float(np.linalg.norm(place - one)) for one in told), default=np.inf) for place in true_holes(desk).values()]
    return Measured(1000 * max(off) if len(told) == 3 else float("inf"), "mm", at_most=6.0)


@scenario(tool="find_holes", name="which_hole", situation="A cube and a disc: how many are told another hole than that of their outline?", world=sorter)
def which_hole(desk: ScenarioDesk) -> Measured:
    ids, wrong = desk.look(), 0
    for name, outline in (("cube", "square"), ("disc", "circle")):
        fits = desk.call("find_holes", {"piece_id": ids[name]})["fits"]
        wrong += not fits or float(np.linalg.norm(np.asarray(fits[0]["hole"]) - true_holes(desk)[outline])) > 0.02
    return Measured(wrong, "of 2 pieces", equal=0)


@scenario(
    tool="find_handles",
    name="where_they_are",
    situation="A drawer, a lid and a knob: how far is the worst of their handles from where it is?",
    world=furniture,
)
def where_they_are(desk: ScenarioDesk) -> Measured:
    desk.look()
    told = [(one["side"], np.asarray(one["position"])) for one in desk.call("find_handles")["handles"]]
    off = [
        min((float(np.linalg.norm(place - one)) for kind, one in told if kind == side), default=np.inf)
        for side, place in ((("side" if item.kind == "drawer" else "top"), handle_at(item)) for item in desk.simulation.built.spec.fixtures)
    ]
    return Measured(1000 * max(off), "mm", at_most=12.0)


def handle_at(item: FixtureSpec) -> Array:
    """Middle (3,) [m, world] of what sticks out: the piece that is on a joint and farthest out of the fixture's box."""
    sizes = np.asarray(item.size)
    pieces = [piece for piece in fixture_parts(item).pieces if piece.joint]
    out = [float((np.abs(piece.centre - np.array([0, 0, sizes[2] / 2])) - sizes / 2).max()) for piece in pieces]
    return np.asarray((item.pose @ np.append(pieces[int(np.argmax(out))].centre, 1.0))[:3])


@scenario(tool="find_handles", name="none_there", situation="Blocks, a can and a bin without handles: how many handles are told?")
def none_there(desk: ScenarioDesk) -> Measured:
    desk.look()
    return Measured(len(desk.call("find_handles")["handles"]), "handles", equal=0)


@scenario(tool="find_pegs", name="all_pegs", situation="A stand with three pegs and three rings: how far is the worst peg from where it is?", world=pegs)
def all_pegs(desk: ScenarioDesk) -> Measured:
    seen = [np.asarray(peg["position"]) for stand in desk.call("find_pegs")["stands"] for peg in stand["pegs"]]
    worst = max(min((float(np.linalg.norm(one - foot[:2, 3])) for one in seen), default=1.0) for foot in rings.feet(desk))
    return Measured(1000 * worst + 100 * abs(len(seen) - 3), "mm off at most", at_most=8.0)


@scenario(tool="find_pegs", name="which_rings", situation="Two rings on the first peg, one on the last: on how many pegs are others told?", world=pegs)
def which_rings(desk: ScenarioDesk) -> Measured:
    wrong = 0
    for foot, own in zip(rings.feet(desk), (["red", "blue"], [], ["green"]), strict=True):
        near = [peg for stand in desk.call("find_pegs")["stands"] for peg in stand["pegs"] if np.linalg.norm(peg["position"] - foot[:2, 3]) < 0.02]
        wrong += [[ring["color"] for ring in peg["rings"]] for peg in near] != [own]
    return Measured(wrong, "pegs", equal=0)
