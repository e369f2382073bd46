"""Scenarios of the unit pose_and_localisation."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
from scipy.spatial import ConvexHull

from deskhand.bench.tools.base import Measured, scenario
from deskhand.bench.tools.desk import ScenarioDesk
from deskhand.bench.tools.drawing import Random, drawn
from deskhand.bench.tools.worlds import BLUE, ORANGE, RED, upright
from deskhand.etp.resources import POINTS
from deskhand.geometry import Array, inverse, make_transform, matrix_from_quaternion, rotation_rpy, transform_points
from deskhand.sim.shapes import SHAPES, shape_pieces
from deskhand.sim.spec import ObjectSpec, WorldSpec, pose_at

SCALE = 1.3


def parts(random: Random) -> WorldSpec:
    """Two CAD parts, a box and a can, at odd angles; names: wedge, l_piece, box, can."""
    shapes = [("wedge", 0.02, 0.10, 0.9), ("l_piece", 0.0, -0.10, 2.2)]
    made = tuple(ObjectSpec(name, "mesh", size_of(name), RED, 0.05, pose_at(x, y, size_of(name)[2] / 2 + 0.001, yaw), shape=name) for name, x, y, yaw in shapes)
    others = (upright("box", "box", (0.09, 0.05, 0.04), 0.10, 0.0, ORANGE, 0.5), upright("can", "can", (0.05, 0.05, 0.08), -0.10, 0.03, BLUE))
    return drawn(random, WorldSpec((*made, *others)))


def size_of(name: str) -> tuple[float, float, float]:
    """Of a part [m]."""
    x, y, z = SHAPES[name].size
    return x * SCALE, y * SCALE, z * SCALE


def obj_file(name: str, folder: Path) -> Path:
    """The part as an OBJ file in millimetres."""
    lines, count = [], 0
    for piece in shape_pieces(name, size_of(name)):
        hull = ConvexHull(piece)
        lines += [f"v {' '.join(f'{1000 * v:.4f}' for v in vertex)}" for vertex in piece]
        for face in hull.simplices:
            a, b, c = piece[face]
            outward = np.cross(b - a, c - a) @ (a - piece.mean(axis=0)) > 0
            lines.append("f " + " ".join(str(count + 1 + int(v)) for v in (face if outward else face[::-1])))
        count += len(piece)
    file = folder / f"{name}.obj"
    file.write_text("\n".join(lines) + "\n")
    return file


def registered(desk: ScenarioDesk, name: str) -> tuple[Array, Array]:
    """Found pose of a part, and the part's points (N, 3) in its own frame."""
    desk.look()
    with tempfile.TemporaryDirectory() as folder:
        given = desk.call("estimate_model_pose", {"object_id": nearest_to(desk, name), "mesh": str(obj_file(name, Path(folder))), "scale": 0.001})
    return make_transform(matrix_from_quaternion(given["quaternion"]), given["position"]), np.concatenate(shape_pieces(name, size_of(name)))


def nearest_to(desk: ScenarioDesk, name: str) -> str:
    """Id of the object of the last look that lies nearest to a part: of one that was cut into several, one of the pieces."""
    assert desk.belief.scene is not None
    return min(desk.belief.scene.objects, key=lambda item: float(np.linalg.norm(item.position - desk.truth(name).pose[:3, 3]))).id


@scenario(
    tool="estimate_model_pose",
    name="wedge",
    situation="A wedge whose CAD file is given lies turned on the desk: mean distance of its corners from where they are.",
    world=parts,
)
def wedge(desk: ScenarioDesk) -> Measured:
    pose, corners = registered(desk, "wedge")
    off = np.linalg.norm(transform_points(pose, corners) - transform_points(desk.truth("wedge").pose, corners), axis=1)
    return Measured(1000 * float(off.mean()), "mm mean distance of the corners", at_most=5.0)


@scenario(tool="estimate_model_pose", name="l_piece", situation="The same with an L-shaped part.", world=parts)
def l_piece(desk: ScenarioDesk) -> Measured:
    pose, corners = registered(desk, "l_piece")
    off = np.linalg.norm(transform_points(pose, corners) - transform_points(desk.truth("l_piece").pose, corners), axis=1)
    return Measured(1000 * float(off.mean()), "mm mean distance of the corners", at_most=5.0)


@scenario(
    tool="estimate_model_pose", name="known_box", situation="A box of known size: error of its centre, its turn being free up to half turns.", world=parts
)
def known_box(desk: ScenarioDesk) -> Measured:
    ids = desk.look()
    given = desk.call("estimate_model_pose", {"object_id": ids["box"], "shape": "box", "size": list(desk.truth("box").size)})
    pose = make_transform(matrix_from_quaternion(given["quaternion"]), given["position"])
    off = np.linalg.norm(pose[:3, 3] - desk.truth("box").pose[:3, 3])
    turn = np.abs(inverse(desk.truth("box").pose)[:3, :3] @ pose[:3, :3]).max(axis=0).min()  # 1 when all axes lie along each other
    return Measured(1000 * float(off) if turn > 0.99 else float("nan"), "mm error of the centre, axes within 8 deg", at_most=4.0)


@scenario(tool="locate_object", name="in_space", situation="Six objects are located by words: the largest error of their place in the frame of the arm's base.")
def in_space(desk: ScenarioDesk) -> Measured:
    words = {"red block": "red", "green block": "green", "blue block": "blue", "can": "can", "orange box": "box", "cup": "cup"}
    base_T_world = inverse(desk.robot.arm.world_T_base)
    errors = []
    for phrase, name in words.items():
        found = desk.call("locate_object", {"words": phrase})["locations"][0]
        errors.append(np.linalg.norm(np.array(found["base"]) - transform_points(base_T_world, desk.truth(name).pose[:3, 3])))
    return Measured(1000 * float(max(errors)), "mm largest error", at_most=8.0)


@scenario(
    tool="locate_object",
    name="in_the_picture",
    situation="The same six objects: the smallest overlap of the told box with that of the pixels that really show them.",
)
def in_the_picture(desk: ScenarioDesk) -> Measured:
    ids = desk.look()
    each = []
    for name in ("red", "green", "blue", "can", "box", "cup"):
        left, top, width, height = desk.call("locate_object", {"words": ids[name]})["locations"][0]["box"]
        told = np.zeros((480, 640), bool)
        told[top : top + height, left : left + width] = True
        rows, columns = np.nonzero(desk.mask(name))
        true = np.zeros_like(told)
        true[rows.min() : rows.max() + 1, columns.min() : columns.max() + 1] = True
        each.append(float((told & true).sum()) / float((told | true).sum()))
    return Measured(min(each), "smallest intersection over union", at_least=0.8)


@scenario(tool="locate_object", name="not_there", situation="Something is asked for that is not on the desk: the call must fail with object_lost.")
def not_there(desk: ScenarioDesk) -> Measured:
    return Measured(float(desk.result("locate_object", {"words": "the purple sponge"}).code == "object_lost"), "1 when refused so", equal=1)


def yaw_error(told: list[float], real: Array) -> float:
    """Angle [deg] between the told quaternion's heading and the real one, opposite headings being the same."""
    x, y, z, w = told
    angle = np.arctan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z)) - np.arctan2(real[1, 0], real[0, 0])
    return abs(float(np.rad2deg((angle + np.pi / 2) % np.pi - np.pi / 2)))


def box_turned(desk: ScenarioDesk, turn: float, step: float) -> list[tuple[float, float]]:
    """The box is turned and shifted in five steps while its pose is tracked: errors of each told pose [m], [deg]."""
    heard = desk.watch("track_pose", {"object_id": desk.look()["box"]})
    errors = []
    for _ in range(5):
        pose = desk.truth("box").pose.copy()
        pose[:3, :3] = rotation_rpy(0.0, 0.0, turn) @ pose[:3, :3]
        pose[:3, 3] += step, 0.0, 0.0005
        desk.put("box", pose, settle=0.0)
        told, real = heard.let_pass(0.15)[-1][1], desk.truth("box").pose
        wrong = float("nan") if told["lost"] else 1.0
        errors.append((wrong * float(np.linalg.norm(np.array(told["position"]) - real[:3, 3])), yaw_error(told["quaternion"], real)))
    heard.stop()
    return errors


@scenario(tool="track_pose", name="shifted", situation="A box is shifted by 15 mm five times: the largest error of its told place.")
def pose_shifted(desk: ScenarioDesk) -> Measured:
    return Measured(1000 * max(place for place, _ in box_turned(desk, 0.0, 0.015)), "mm largest error", at_most=8.0)


@scenario(tool="track_pose", name="turned", situation="A box is turned by 9 degrees five times: the largest error of its told heading.")
def pose_turned(desk: ScenarioDesk) -> Measured:
    return Measured(max(angle for _, angle in box_turned(desk, 0.157, 0.0)), "deg largest error", at_most=4.0)


@scenario(
    tool="register_clouds", name="moved_view", situation="The cloud of the desk is shifted and turned by a known motion and thinned anew: what is left of it?"
)
def moved_view(desk: ScenarioDesk) -> Measured:
    points = desk.frame().points()[100:400, 100:540]
    cloud = points[np.isfinite(points).all(axis=-1)].astype(np.float32)
    random = desk.random
    first, second = cloud[random.choice(len(cloud), 9000, replace=False)], cloud[random.choice(len(cloud), 9000, replace=False)]
    real = make_transform(rotation_rpy(*random.uniform(-0.06, 0.06, 3)), random.uniform(-0.02, 0.02, 3))
    source = transform_points(inverse(real), second).astype(np.float32) + random.normal(0, 0.0005, second.shape).astype(np.float32)
    given = desk.call("register_clouds", {"source": desk.keep(source, POINTS), "target": desk.keep(first, POINTS)})
    off = inverse(real) @ make_transform(matrix_from_quaternion(given["quaternion"]), given["position"])
    return Measured(1000 * float(np.linalg.norm(transform_points(off, cloud) - cloud, axis=1).mean()), "mm mean error", at_most=1.5)


@scenario(
    tool="register_clouds", name="unsure", situation="Clouds of a cylinder leave its turn about itself open: its told deviation over that of the other turns."
)
def unsure_turn(desk: ScenarioDesk) -> Measured:
    random = desk.random
    angle, height = random.uniform(0, 2 * np.pi, 3000), random.uniform(-0.05, 0.05, 3000)
    can = np.column_stack([0.03 * np.cos(angle), 0.03 * np.sin(angle), height]) + random.normal(0, 0.0003, (3000, 3))
    given = desk.call("register_clouds", {"source": desk.keep(can[::2].astype(np.float32), POINTS), "target": desk.keep(can[1::2].astype(np.float32), POINTS)})
    deviation = given["deviation"]
    return Measured(deviation[2] / max(deviation[0], deviation[1]), "times as unsure", at_least=3.0)


@scenario(
    tool="check_camera_pose",
    name="knocked",
    situation="The camera is pushed by 2 cm and turned by 1.5 degrees after a reference: the error of what is told.",
)
def camera_knocked(desk: ScenarioDesk) -> Measured:
    desk.look()
    reference = desk.call("capture_rgbd", {"cloud": True})["shots"][0]["cloud"]["uri"]
    desk.knock(make_transform(rotation_rpy(0.0, 0.0, 0.026), (0.016, -0.012, 0.0)))
    given = desk.call("check_camera_pose", {"reference": reference})
    if given["ok"] or given["shift"] is None:
        return Measured(float("nan"), "mm", at_most=5.0)
    moved = np.linalg.norm(np.abs(given["shift"]) - np.abs([0.016, -0.012]))
    return Measured(1000 * float(moved) if abs(abs(given["yaw"]) - 0.026) < 0.006 else float("nan"), "mm error of the shift", at_most=5.0)


@scenario(
    tool="check_camera_pose",
    name="as_it_was",
    situation="Nothing happened since the reference but that one block was moved: no problem may be told.",
)
def camera_as_it_was(desk: ScenarioDesk) -> Measured:
    desk.look()
    reference = desk.call("capture_rgbd", {"cloud": True})["shots"][0]["cloud"]["uri"]
    desk.shift("red", desk.free_shift("red", 0.04, 0.1))
    return Measured(len(desk.call("check_camera_pose", {"reference": reference})["problems"]), "problems", equal=0)


@scenario(
    tool="check_camera_pose",
    name="too_low",
    situation="The camera hangs 2 cm lower than it is told to: the error of the told offset of the table.",
)
def camera_too_low(desk: ScenarioDesk) -> Measured:
    desk.knock(make_transform(None, (0.0, 0.0, -0.02)))
    given = desk.call("check_camera_pose")
    return Measured(1000 * abs(abs(given["table_offset"]) - 0.02) if not given["ok"] else float("nan"), "mm error", at_most=3.0)
