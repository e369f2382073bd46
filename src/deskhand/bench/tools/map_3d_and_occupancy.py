"""Scenarios of the unit map_3d_and_occupancy."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from deskhand.bench.tools.base import Measured, scenario
from deskhand.bench.tools.desk import ScenarioDesk
from deskhand.geometry import Array, inverse, transform_points


def sampled(desk: ScenarioDesk, count: int) -> tuple[Array, npt.NDArray[np.bool_], npt.NDArray[np.bool_]]:
    """Points over the desk at random; which of them the camera measures through, and which lie well inside of objects."""
    random = desk.random
    points = random.uniform([-0.25, -0.3, 0.02], [0.25, 0.35, 0.25], (count, 3))
    frame, depth = desk.frame(), desk.true_picture()[1]
    pixels = np.round(frame.project(points)).astype(int)
    inside = (pixels >= 0).all(axis=1) & (pixels[:, 0] < depth.shape[1]) & (pixels[:, 1] < depth.shape[0])
    far = transform_points(inverse(frame.world_T_camera), points)[:, 2]
    seen = np.zeros(count, bool)
    seen[inside] = far[inside] < depth[pixels[inside, 1], pixels[inside, 0]] - 0.04
    seen[inside] &= np.isfinite(frame.depth[pixels[inside, 1], pixels[inside, 0]])  # beyond its range the sensor tells nothing
    within = np.zeros(count, bool)
    for item in desk.simulation.truth().objects:
        if item.kind in ("block", "box"):
            local = np.abs(transform_points(inverse(item.pose), points))
            within |= (local < np.array(item.size) / 2).all(axis=1)
    return points, seen, within


def asked(desk: ScenarioDesk, points: Array, **more: object) -> dict[str, object]:
    """The answer of a new map about points."""
    uri = desk.call("build_occupancy_map", {"resolution": 0.01})["map"]["uri"]
    answer: dict[str, object] = desk.call("query_occupancy", {"map_uri": uri, "points": points.tolist(), **more})
    return answer


@scenario(
    tool="build_occupancy_map", name="free_space", situation="900 points over the desk behind which the camera measures something: how many are told free?"
)
def free_space(desk: ScenarioDesk) -> Measured:
    points, seen, _ = sampled(desk, 900)
    states = np.array(asked(desk, points)["states"])
    return Measured(float((states[seen] == "free").mean()), "share of these points", at_least=0.95)


@scenario(
    tool="build_occupancy_map",
    name="never_free",
    situation="Points a leaf or more inside of solid objects: how many are told free, which a planner would run into?",
)
def never_free(desk: ScenarioDesk) -> Measured:
    objects = [item for item in desk.simulation.truth().objects if item.kind in ("block", "box")]
    random = desk.random
    points = np.concatenate([transform_points(item.pose, random.uniform(-0.2, 0.2, (60, 3)) * item.size) for item in objects])
    states = np.array(asked(desk, points)["states"])
    return Measured(float((states == "free").mean()), "share of these points", at_most=0.01)


@scenario(tool="build_occupancy_map", name="goes_on", situation="Three views of one desk: the map must hold three views, and no surface may be lost.")
def goes_on(desk: ScenarioDesk) -> Measured:
    first = desk.call("build_occupancy_map", {})
    second = desk.call("build_occupancy_map", {"map_uri": first["map"]["uri"]})
    third = desk.call("build_occupancy_map", {"map_uri": second["map"]["uri"]})
    return Measured(
        third["occupied"] / first["occupied"] if third["views"] == 3 else float("nan"), "occupied leaves over those of the first view", at_least=0.97
    )


@scenario(tool="query_occupancy", name="surfaces", situation="Points on the seen upper sides of the blocks and the box: how many are told occupied?")
def surfaces(desk: ScenarioDesk) -> Measured:
    points = []
    for item in desk.simulation.truth().objects:
        if item.kind in ("block", "box"):
            grid = np.array([[x, y, 0.499] for x in (-0.3, 0, 0.3) for y in (-0.3, 0, 0.3)])
            points.append(transform_points(item.pose, grid * item.size))
    places = np.concatenate(points) - [0, 0, 0.001]
    near = [np.array(asked(desk, places + np.array([0, 0, dz]))["states"]) == "occupied" for dz in (0.0, 0.005, -0.005)]
    return Measured(float(np.any(near, axis=0).mean()), "share of these points, to half a leaf", at_least=0.95)


@scenario(
    tool="query_occupancy",
    name="path",
    situation="A line through the can and one 10 cm over everything: the first must be blocked at the can, the second free.",
)
def path(desk: ScenarioDesk) -> Measured:
    can = desk.truth("can").pose[:3, 3]
    low = asked(desk, np.array([can + np.array([0.12, 0.0, 0.0]), can]), path=True)
    above = float(desk.random.uniform(0.19, 0.22))
    high = asked(desk, np.array([[0.15, -0.1, above], [-0.1, 0.15, above]]), path=True)
    if high["path"] != "free" or low["path"] != "occupied":
        return Measured(float("nan"), f"told {low['path']} and {high['path']}", at_most=12.0)
    error = abs(float(np.linalg.norm(np.array(low["path_blocked_at"]) - can)) - desk.truth("can").size[0] / 2)
    return Measured(1000 * error, "mm between where it is blocked and the can's surface", at_most=12.0)


@scenario(
    tool="query_occupancy", name="box_and_level", situation="A made octree: shares of a box and nodes at a coarser level against counting them one by one."
)
def box_and_level(desk: ScenarioDesk) -> Measured:
    from deskhand.etp.resources import ARRAY
    from deskhand.tools.cognition.octree import FREE, FULL, Octree

    random, tree = desk.random, Octree(0.01)
    tree.integrate(random.uniform([0.0, 0.0, 0.0], [0.3, 0.3, 0.02], (3000, 3)), np.array([0.15, 0.15, 0.8]), 2.0)
    given = desk.call("query_occupancy", {"map_uri": desk.keep(tree.as_array(), ARRAY), "low": [0.1, 0.1, 0.0], "high": [0.2, 0.2, 0.1], "level": 2})
    cells = np.array([[x, y, z] for x in np.arange(0.105, 0.2, 0.01) for y in np.arange(0.105, 0.2, 0.01) for z in np.arange(0.005, 0.1, 0.01)])
    states = tree.states(cells)
    off = max(abs(given["box"]["free"] - float((states == FREE).mean())), abs(given["box"]["occupied"] - float((states == FULL).mean())))
    leaves = tree.centres(tree.keys[tree.odds > 0])
    coarse = np.unique(np.floor(leaves / 0.04).astype(int), axis=0)
    return Measured(off + abs(len(desk.fetch(given["cells"])) - len(coarse)), "difference of shares and of the number of nodes", at_most=0.001)


@scenario(
    tool="build_semantic_map",
    name="places",
    situation="A semantic map of one look: the largest distance of a block's or box's voxels' middle from its real place.",
)
def places(desk: ScenarioDesk) -> Measured:
    given = desk.call("build_semantic_map")
    ids = desk.recognised()
    objects = {item["object_id"]: item for item in desk.call("query_semantic_map", {"map_uri": given["map"]["uri"]})["objects"]}
    errors = [np.linalg.norm(np.array(objects[ids[name]]["center"][:2]) - desk.truth(name).pose[:2, 3]) for name in ("red", "green", "blue", "box")]
    return Measured(1000 * float(max(errors)), "mm along the desk", at_most=15.0)


@scenario(
    tool="build_semantic_map",
    name="moved",
    situation="A block is moved between two looks: how many of its voxels are still told at the old place?",
)
def moved(desk: ScenarioDesk) -> Measured:
    first = desk.call("build_semantic_map")["map"]["uri"]
    old, name = desk.truth("red").pose[:3, 3].copy(), desk.recognised()["red"]
    before = desk.call("query_semantic_map", {"map_uri": first, "words": name})["objects"][0]["voxels"]
    desk.shift("red", desk.free_shift("red", 0.08, 0.15))
    second = desk.call("build_semantic_map", {"map_uri": first})["map"]["uri"]
    left = desk.call("query_semantic_map", {"map_uri": second, "near": old.tolist(), "radius": 0.03})["points"]
    return Measured((len(desk.fetch(left)) if left else 0) / before, "share of its voxels", at_most=0.1)


@scenario(tool="query_semantic_map", name="words", situation="'all blocks', 'the can' and a point in the cup are asked for: do exactly the right objects come?")
def words(desk: ScenarioDesk) -> Measured:
    uri = desk.call("build_semantic_map")["map"]["uri"]
    ids, right = desk.recognised(), 0
    cup = desk.truth("cup").pose[:3, 3].tolist()
    for arguments, names in (({"words": "all blocks"}, ["red", "green", "blue"]), ({"words": "the can"}, ["can"]), ({"near": cup, "radius": 0.06}, ["cup"])):
        found = {item["object_id"] for item in desk.call("query_semantic_map", {"map_uri": uri, **arguments})["objects"]}
        right += found == {ids[name] for name in names}
    return Measured(right, "right answers of 3", equal=3)


@scenario(tool="query_semantic_map", name="size", situation="The extent of the can's voxels against its real height.")
def size(desk: ScenarioDesk) -> Measured:
    uri = desk.call("build_semantic_map")["map"]["uri"]
    item = desk.call("query_semantic_map", {"map_uri": uri, "words": desk.recognised()["can"]})["objects"][0]
    return Measured(1000 * abs(item["high"][2] - desk.truth("can").size[2]), "mm error of its top", at_most=8.0)  # a voxel of 5 mm, and the depth's error


@scenario(tool="watch_occupancy", name="comes_and_goes", situation="A can is put into a free volume and taken out again: the time until each is told.")
def comes_and_goes(desk: ScenarioDesk) -> Measured:
    place = desk.free_pose("can")
    x, y = place[:2, 3].tolist()
    heard = desk.watch("watch_occupancy", {"low": [x - 0.04, y - 0.04, 0.005], "high": [x + 0.04, y + 0.04, 0.1]})
    home = desk.truth("can").pose.copy()
    begun = desk.put("can", place, settle=0.0)
    came = heard.wait(1.0)
    again = desk.put("can", home, settle=0.0)
    went = heard.let_pass(0.6)
    heard.stop()
    right = bool(came) and bool(went) and len(came[0][1]["occupied"]) > 3 and went[-1][1]["total"] == 0
    return Measured(max(came[0][0] - begun, went[0][0] - again) if right else float("nan"), "s until it was told", at_most=0.3)


@scenario(tool="watch_occupancy", name="whole_desk", situation="All objects are told at the beginning: how many have a told cell within 4 cm?")
def whole_desk(desk: ScenarioDesk) -> Measured:
    heard = desk.watch("watch_occupancy", {"low": [-0.3, -0.4, 0.01], "high": [0.3, 0.4, 0.2], "cell": 0.04}, settle=0.6)
    cells = np.array([cell for _, event in heard.stop() for cell in event["occupied"]])
    near = [float(np.linalg.norm(cells - desk.truth(name).pose[:3, 3], axis=1).min()) for name in ("red", "green", "blue", "can", "box", "cup")]
    return Measured(sum(distance < 0.04 for distance in near), "objects of 6", equal=6)
