"""Scenarios of the unit segmentation_and_tracking."""

from __future__ import annotations

from typing import Any

import cv2
import numpy as np
import numpy.typing as npt

from deskhand.bench.tools.base import Measured, scenario
from deskhand.bench.tools.desk import ScenarioDesk
from deskhand.bench.tools.detection import overlap
from deskhand.bench.tools.worlds import beside, rolling, stained
from deskhand.errors import DeskhandError
from deskhand.etp.resources import IMAGE, POINTS
from deskhand.geometry import Array, transform_points
from deskhand.sim.spec import pose_at


def white(desk: ScenarioDesk, ref: dict[str, Any]) -> npt.NDArray[np.bool_]:
    """A mask that a tool gave."""
    return np.asarray(desk.fetch(ref)[..., 0] > 127)


def middle(desk: ScenarioDesk, name: str) -> list[int]:
    """[column, row] of a pixel in the middle of what is seen of an object."""
    rows, columns = np.nonzero(desk.mask(name))
    best = int(np.argmin((rows - rows.mean()) ** 2 + (columns - columns.mean()) ** 2))
    return [int(columns[best]), int(rows[best])]


def around(desk: ScenarioDesk, name: str, margin: int = 6) -> list[int]:
    """[left, top, width, height] around what is seen of an object."""
    rows, columns = np.nonzero(desk.mask(name))
    left, top = int(columns.min()) - margin, int(rows.min()) - margin
    return [left, top, int(columns.max()) + margin - left, int(rows.max()) + margin - top]


@scenario(tool="segment_by_prompt", name="points", situation="Five objects are pointed at in their middle, one after the other; depth tells them apart.")
def points(desk: ScenarioDesk) -> Measured:
    each = [overlap(white(desk, desk.call("segment_by_prompt", {"point": middle(desk, name)})["mask"]), desk.mask(name)) for name in FIVE]
    return Measured(min(each), "smallest intersection over union", at_least=0.8)


FIVE = ("red", "green", "blue", "can", "box")


@scenario(tool="segment_by_prompt", name="boxes_by_color", situation="Five objects are given by boxes around them and cut out by colour alone.")
def boxes_by_color(desk: ScenarioDesk) -> Measured:
    each = [overlap(white(desk, desk.call("segment_by_prompt", {"box": around(desk, name), "method": "color"})["mask"]), desk.mask(name)) for name in FIVE]
    return Measured(float(np.median(each)), "median intersection over union", at_least=0.8)


@scenario(tool="segment_by_prompt", name="text", situation="An object is given by the words 'the yellow can'.")
def text(desk: ScenarioDesk) -> Measured:
    return Measured(
        overlap(white(desk, desk.call("segment_by_prompt", {"text": "the yellow can"})["mask"]), desk.mask("can")), "intersection over union", at_least=0.8
    )


@scenario(tool="segment_instances", name="all_instances", situation="Seven objects on a desk, cut out at once, matched to the pixels that really show them.")
def all_instances(desk: ScenarioDesk) -> Measured:
    given = desk.call("segment_instances")
    labels, names = desk.fetch(given["labels"]), {found: name for name, found in desk.recognised().items()}
    each = [overlap(labels == item["number"], desk.mask(names[item["object_id"]])) for item in given["instances"] if item["object_id"] in names]
    return Measured(float(np.mean(each)) * len(each) / len(desk.names), "mean intersection over union, 0 for what is missing", at_least=0.8)


@scenario(tool="segment_instances", name="only_one", situation="Only the red block is asked for: how many pixels of other objects are labelled?")
def only_one(desk: ScenarioDesk) -> Measured:
    ids = desk.look()
    labels = desk.fetch(desk.call("segment_instances", {"only": [ids["red"]]})["labels"]) > 0
    return Measured(float((labels & ~desk.mask("red")).sum()) / labels.sum(), "share of labelled pixels that show something else", at_most=0.05)


# ---------------------------------------------------------------- over time


def film(desk: ScenarioDesk, name: str, length: float, count: int) -> tuple[list[str], list[npt.NDArray[np.bool_]], list[npt.NDArray[np.float64]]]:
    """Pictures while a hand moves an object by a drawn way of ``length`` [m] in all: uris, true masks, true poses."""
    uris, masks, poses = [], [], []
    step = np.array(desk.free_way(name, length)) / (count - 1)
    for number in range(count):
        if number:
            desk.shift(name, (float(step[0]), float(step[1])), settle=0.05)
        uris.append(desk.call("capture_rgbd")["shots"][0]["color"]["uri"])
        masks.append(desk.mask(name))
        poses.append(desk.truth(name).pose)
    return uris, masks, poses


@scenario(tool="segment_video", name="moved_block", situation="A hand moves the red block by 6 cm in ten pictures; its mask is given in the first.")
def moved_block(desk: ScenarioDesk) -> Measured:
    uris, masks, _ = film(desk, "red", 0.057, 10)
    first = desk.keep(np.where(masks[0], np.uint8(255), np.uint8(0)), IMAGE)
    given = desk.call("segment_video", {"pictures": uris, "mask": first})["pictures"]
    return Measured(
        min(overlap(white(desk, one["mask"]), mask) for one, mask in zip(given, masks, strict=True)), "smallest intersection over union", at_least=0.8
    )


@scenario(tool="segment_video", name="taken_away", situation="After four pictures the target is taken off the desk: from then on it must be told lost.")
def taken_away(desk: ScenarioDesk) -> Measured:
    uris, _, _ = film(desk, "red", 0.015, 4)
    box = around(desk, "red", 3)
    desk.put("red", pose_at(3.0, 0.0, 0.0), settle=0.02)
    uris += [desk.call("capture_rgbd")["shots"][0]["color"]["uri"] for _ in range(2)]
    given = desk.call("segment_video", {"pictures": uris[3:], "box": box})["pictures"]
    return Measured(sum(one["lost"] != (number > 0) for number, one in enumerate(given)), "pictures with the wrong verdict", equal=0)


@scenario(tool="track_points", name="corners", situation="Corners of the moving block's upper side are tracked through ten pictures.")
def corners(desk: ScenarioDesk) -> Measured:
    frame, half = desk.frame(), desk.truth("red").size[2] / 2
    local = np.array([[x, y, half] for x in (-half, half) for y in (-half, half)])

    def pixels(pose: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        return frame.project(local @ pose[:3, :3].T + pose[:3, 3])

    start = pixels(desk.truth("red").pose)
    uris, _, poses = film(desk, "red", 0.048, 10)
    given = desk.call("track_points", {"pictures": uris, "points": start.tolist()})["points"]
    errors = [np.linalg.norm(np.array(point["pixels"][-1]) - true) for point, true in zip(given, pixels(poses[-1]), strict=True) if point["visible"][-1]]
    return Measured(float(np.median(errors)) if len(errors) >= 3 else float("nan"), "px median error of the visible points at the end", at_most=2.0)


@scenario(
    tool="track_points",
    name="occlusion",
    situation="A can is held before a block's top and taken away again: its point must be told hidden, then visible.",
)
def occlusion(desk: ScenarioDesk) -> Measured:
    name = "blue"
    place = desk.truth(name).pose[:3, 3] + [0, 0, desk.truth(name).size[2] / 2]
    start = desk.frame().project(place)[0]
    uris, hidden = [], []
    away = desk.truth("can").pose.copy()
    for number in range(6):
        if number == 2:
            desk.cover("can", place)
        if number == 4:
            desk.put("can", away, settle=0.05)
        uris.append(desk.call("capture_rgbd")["shots"][0]["color"]["uri"])
        column, row = np.round(start).astype(int)
        hidden.append(desk.owners()[row, column] != desk.names.index(name))
    given = desk.call("track_points", {"pictures": uris, "points": [start.tolist()]})["points"][0]["visible"]
    if not any(hidden):
        return Measured(float("nan"), "the point was never hidden", equal=0)
    return Measured(sum(seen == gone for seen, gone in zip(given, hidden, strict=True)), "pictures with the wrong verdict", equal=0)


@scenario(tool="track_boxes_3d", name="boxes", situation="Boxes in a cloud of the desk: how far is the centre of each block and can from its box's?")
def boxes(desk: ScenarioDesk) -> Measured:
    cloud = desk.call("capture_rgbd", {"cloud": True})["shots"][0]["cloud"]["uri"]
    found = [np.array(box["center"]) for box in desk.call("track_boxes_3d", {"clouds": [cloud]})["clouds"][0]]
    worst = max(min(float(np.linalg.norm(box[:2] - desk.truth(name).pose[:2, 3])) for box in found) for name in FIVE)
    return Measured(1000 * worst, "mm largest distance along the desk", at_most=15.0)


@scenario(tool="track_boxes_3d", name="ids_kept", situation="A block is moved in five clouds: do all objects keep their ids, and is its motion right?")
def ids_kept(desk: ScenarioDesk) -> Measured:
    uris, way = [], np.array(desk.free_way("red", 0.09))
    for number in range(5):
        if number:
            desk.shift("red", (float(way[0] / 4), float(way[1] / 4)), settle=0.05)
        uris.append(desk.call("capture_rgbd", {"cloud": True})["shots"][0]["cloud"]["uri"])
    given = desk.call("track_boxes_3d", {"clouds": uris})
    final = min(given["clouds"][-1], key=lambda box: float(np.linalg.norm(np.array(box["center"]) - desk.truth("red").pose[:3, 3])))
    first = next((box for box in given["clouds"][0] if box["track_id"] == final["track_id"]), None)
    if first is None or given["tracks"] != len(desk.names):
        return Measured(float("nan"), f"tracks of {given['tracks']} objects", at_most=8.0)
    moved = np.array(final["center"]) - first["center"]
    return Measured(1000 * float(np.linalg.norm(moved[:2] - way)), "mm error of the motion", at_most=8.0)


@scenario(tool="track_boxes_3d", name="exact", situation="A made cloud of two boxes, turned by known angles: the error of the size that is told.")
def exact(desk: ScenarioDesk) -> Measured:
    random = desk.random
    sizes = (np.array([0.08, 0.05, 0.04]), np.array([0.12, 0.03, 0.06]))
    parts = []
    for number, size in enumerate(sizes):
        turn = pose_at(0.3 * number, 0.0, size[2] / 2, 0.4 + number)
        inside = random.uniform(-0.5, 0.5, (6000, 3)) * size
        parts.append(inside @ turn[:3, :3].T + turn[:3, 3])
    given = desk.call("track_boxes_3d", {"clouds": [desk.keep(np.concatenate(parts).astype(np.float32), POINTS)]})["clouds"][0]
    found = sorted((box["size"] for box in given), key=lambda size: size[0])
    worst = max(float(np.abs(np.array(a) - b).max()) for a, b in zip(found, sizes, strict=True))
    return Measured(1000 * worst, "mm largest error of an extent", at_most=2.0)


# ---------------------------------------------------------------- live


def late(desk: ScenarioDesk, events: list[tuple[float, dict[str, Any]]], begun: float, kind: str) -> float:
    """[s] of simulated time from ``begun`` until an event of a kind was heard; NaN when another or none was."""
    return events[0][0] - begun if events and events[0][1]["kind"] == kind else float("nan")


@scenario(tool="track_target", name="rolling", situation="A ball rolls along the desk: the error of its told place in each picture.", world=rolling)
def target_rolling(desk: ScenarioDesk) -> Measured:
    heard = desk.watch("track_target", {"object_id": desk.look()["ball"]})
    start, offset = desk.truth("ball").pose[:2, 3].copy(), np.array(heard.let_pass(0.3)[-1][1]["position"][:2])
    desk.push("ball", (float(desk.random.uniform(-0.05, 0.05)), -float(desk.random.uniform(0.17, 0.23)), 0.0))
    errors = []
    for _ in range(8):
        told = heard.let_pass(0.1)[-1][1]
        off = float(np.linalg.norm(np.array(told["position"][:2]) - offset - desk.truth("ball").pose[:2, 3] + start))
        errors.append(float("nan") if told["lost"] else off)
    heard.stop()
    return Measured(1000 * float(np.max(errors)), "mm largest error", at_most=30.0)


@scenario(
    tool="track_target",
    name="found_again",
    situation="The green block is taken off the desk and put down elsewhere: is it told lost, then found?",
)
def target_found_again(desk: ScenarioDesk) -> Measured:
    heard = desk.watch("track_target", {"object_id": desk.look()["green"]})
    pose = desk.free_pose("green")
    desk.put("green", pose_at(3.0, 0.0, 0.0), settle=0.0)
    lost = heard.let_pass(0.5)[-1][1]["lost"]
    desk.put("green", pose, settle=0.0)
    told = heard.let_pass(0.5)[-1][1]
    heard.stop()
    error = float(np.linalg.norm(np.array(told["position"][:2]) - pose[:2, 3]))
    return Measured(1000 * error if lost and not told["lost"] else float("nan"), "mm error of the new place", at_most=25.0)


@scenario(tool="follow_points", name="corner", situation="A block slides: the error of a corner of its upper side in the last picture.")
def point_of_a_corner(desk: ScenarioDesk) -> Measured:
    half = 0.5 * np.array(desk.truth("red").size)

    def corner() -> Array:
        pose = desk.truth("red").pose
        return np.asarray(pose[:3, :3] @ half + pose[:3, 3])

    frame = desk.frame()
    heard = desk.watch("follow_points", {"points": [frame.project(corner())[0].tolist()]})
    desk.push("red", (0.25, 0.15, 0.0))
    told = heard.let_pass(0.6)[-1][1]["points"][0]
    heard.stop()
    error = np.linalg.norm(np.array(told["pixel"]) - frame.project(corner())[0])
    return Measured(float(error) if told["visible"] else float("nan"), "px error", at_most=3.0)


@scenario(
    tool="follow_points",
    name="covered",
    situation="A can is held before a block: is the followed corner told hidden, and one of another block not?",
)
def point_covered(desk: ScenarioDesk) -> Measured:
    frame = desk.frame()
    corners = [transform_points(desk.truth(name).pose, 0.49 * np.array(desk.truth(name).size)) for name in ("red", "blue")]
    heard = desk.watch("follow_points", {"points": [frame.project(corner)[0].tolist() for corner in corners]})
    desk.cover("can", corners[0])
    told = heard.let_pass(0.5)[-1][1]["points"]
    heard.stop()
    return Measured(float(not told[0]["visible"]) + float(told[1]["visible"]), "right of 2", equal=2)


@scenario(tool="watch_people", name="reaches_in", situation="An arm of a person comes in over the desk: the time until it is told.", world=beside)
def person_reaches_in(desk: ScenarioDesk) -> Measured:
    heard = desk.watch("watch_people")
    begun = desk.hold("arm", pose_at(float(desk.random.uniform(0.0, 0.1)), float(desk.random.choice([-1, 1]) * desk.random.uniform(0.28, 0.36)), 0.16))
    entered = late(desk, heard.wait(1.0), begun, "entered")
    begun = desk.put("arm", pose_at(0.0, 3.0, 0.0), settle=0.0)
    left = late(desk, heard.wait(1.0), begun, "left")
    heard.stop()
    return Measured(max(entered, left), "s until it was told", at_most=0.3)


@scenario(tool="watch_people", name="objects_move", situation="Objects are moved, taken and put down on the desk: none of this is a person.")
def person_is_none(desk: ScenarioDesk) -> Measured:
    heard = desk.watch("watch_people")
    moved = 0
    for name in desk.random.permutation(["red", "green", "blue", "box", "cup"]).tolist():
        try:
            by = desk.free_shift(name, 0.04, 0.1)
        except DeskhandError:
            continue  # it has no room where it stands
        desk.shift(name, by, settle=0.0)
        heard.let_pass(0.5)
        moved += 1
        if moved == 3:
            break
    else:
        return Measured(float("nan"), "fewer than three objects had room to be moved", equal=0)
    desk.put("can", pose_at(3.0, 0.0, 0.0), settle=0.0)
    heard.let_pass(0.5)
    return Measured(len(heard.stop()), "events", equal=0)


@scenario(
    tool="segment_surface",
    name="free",
    situation="The share of the told free area that really is bare table whose depth was measured, and how much of that it covers.",
)
def free_surface(desk: ScenarioDesk) -> Measured:
    desk.look()
    given = desk.call("segment_surface")
    random = desk.random
    places = random.uniform([-0.2, -0.3], [0.2, 0.3], (3000, 2))
    frame, owners, true = desk.frame(), desk.owners(), desk.true_picture()[1]
    points = np.column_stack([places, np.zeros(len(places))])
    u, v = np.round(frame.project(points)).astype(int).T
    inside = (u >= 0) & (v >= 0) & (u < frame.intrinsics.width) & (v < frame.intrinsics.height)
    far = (points - frame.world_T_camera[:3, 3]) @ frame.world_T_camera[:3, 2]
    bare = np.zeros(len(places), bool)
    bare[inside] = (owners[v[inside], u[inside]] < 0) & (np.abs(true[v[inside], u[inside]] - far[inside]) < 0.004)
    told = np.zeros(len(places), bool)
    for piece in given["free"]:
        outline = np.array(piece, np.float32)
        told |= np.array([cv2.pointPolygonTest(outline, (float(x), float(y)), False) >= 0 for x, y in places])
    measured = np.zeros(len(places), bool)  # where the sensor tells no depth, nobody knows
    measured[inside] = np.isfinite(frame.depth[v[inside], u[inside]])
    told, bare = told & measured, bare & measured
    away = _away(desk, places)
    return Measured(float((told & bare)[away].sum() / (told | bare)[away].sum()), "intersection over union away from objects", at_least=0.95)


def _away(desk: ScenarioDesk, places: Array) -> npt.NDArray[np.bool_]:
    """Places (N,) that are more than 1 cm outside of every object's circle."""
    items = desk.simulation.truth().objects
    gaps = [np.linalg.norm(places - item.pose[:2, 3], axis=1) - 0.5 * max(item.size[:2]) for item in items]
    return np.asarray(np.min(gaps, axis=0) > 0.01)


@scenario(
    tool="segment_surface", name="largest_circle", situation="The largest free circle: how far does its disc reach over an object? Its radius is at least 8 cm."
)
def largest_circle(desk: ScenarioDesk) -> Measured:
    desk.look()
    x, y, radius = desk.call("segment_surface")["largest_circle"]
    reaches = [radius - float(np.hypot(x - item.pose[0, 3], y - item.pose[1, 3])) for item in desk.simulation.truth().objects]
    return Measured(1000 * max(0.0, *reaches) if radius >= 0.08 else float("nan"), "mm over the nearest object's middle", equal=0)


@scenario(tool="find_stains", name="one_stain", situation="A brown stain of 10 cm by 4 cm beside two objects: how far off its middle is told.", world=stained)
def one_stain(desk: ScenarioDesk) -> Measured:
    desk.look()
    told = [np.asarray(stain["position"]) for stain in desk.call("find_stains")["stains"]]
    (stain,) = desk.simulation.built.spec.stains
    near = [1000 * float(np.linalg.norm(place - stain.outline.mean(axis=0))) for place in told if np.linalg.norm(place) < 0.35]
    return Measured(near[0] if len(near) == 1 else float("inf"), "mm", at_most=5.0)


@scenario(tool="find_stains", name="clean_desk", situation="A clean desk with objects and their shadows: how many stains are told in the arm's work area.")
def no_stains(desk: ScenarioDesk) -> Measured:
    desk.look()
    told = desk.call("find_stains")["stains"]
    return Measured(sum(float(np.hypot(*stain["position"])) < 0.35 for stain in told), "stains", equal=0)


@scenario(tool="segment_surface", name="on_a_box", situation="The top of a box: the error of its told height and area.")
def top_of_a_box(desk: ScenarioDesk) -> Measured:
    box = desk.truth("box")
    given = desk.call("segment_surface", {"object_id": desk.look()["box"]})
    error = abs(given["area"] / (box.size[0] * box.size[1]) - 1)
    return Measured(error if abs(given["height"] - box.pose[2, 3] - box.size[2] / 2) < 0.004 else float("nan"), "relative error of the area", at_most=0.15)
