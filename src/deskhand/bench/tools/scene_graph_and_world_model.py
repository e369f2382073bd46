"""Scenarios of the unit scene_graph_and_world_model."""

from __future__ import annotations

from typing import Any

import numpy as np

from deskhand.bench.tools.base import Measured, scenario
from deskhand.bench.tools.desk import ScenarioDesk
from deskhand.bench.tools.drawing import Random, drawn
from deskhand.bench.tools.worlds import BLUE, GREEN, RED, bin_at, block
from deskhand.sim.spec import WorldSpec


def stack_and_bin(random: Random) -> WorldSpec:
    """A tower of three, a block in a bin and one alone; names: low, mid, top, inside, alone, bin."""
    world = WorldSpec(
        (
            block("low", 0.0, -0.1, RED, 0.04),
            block("mid", 0.0, -0.1, GREEN, 0.04, bottom=0.0405),
            block("top", 0.0, -0.1, BLUE, 0.04, bottom=0.081),
            bin_at(0.03, 0.25),
            block("inside", 0.03, 0.25, RED, 0.035, bottom=0.005),
            block("alone", 0.1, 0.05, GREEN),
        )
    )
    return drawn(random, world, [("low", "mid", "top"), ("bin", "inside")])


CARRIED = {"low": "table", "mid": "low", "top": "mid", "inside": "bin", "alone": "table", "bin": "table"}


@scenario(tool="describe_scene", name="all_told", situation="Six objects, stacked and in a bin: how many of their ids does the text name?", world=stack_and_bin)
def all_told(desk: ScenarioDesk) -> Measured:
    ids = desk.look()
    text = desk.call("describe_scene")["text"]
    return Measured(sum(name in text for name in ids.values()) / len(desk.names), "share of the objects", at_least=0.99)


@scenario(tool="describe_scene", name="contents", situation="A block lies in the bin: is it told to be in it, and nothing else?", world=stack_and_bin)
def contents(desk: ScenarioDesk) -> Measured:
    ids = desk.look()
    line = next(line for line in desk.call("describe_scene")["text"].splitlines() if line.startswith(ids["bin"]))
    return Measured(sum((ids[name] in line.split("holds")[-1]) == (name == "inside") for name in CARRIED if name != "bin"), "objects told right, of 5", equal=5)


@scenario(tool="build_scene_graph", name="carriers", situation="The same: how many edges on and in are right?", world=stack_and_bin)
def graph_carriers(desk: ScenarioDesk) -> Measured:
    ids = desk.look() | {"table": "table"}
    edges = {edge["source"]: edge["target"] for edge in desk.call("build_scene_graph")["edges"] if edge["relation"] in ("on", "in")}
    return Measured(sum(edges.get(ids[name]) == ids[carrier] for name, carrier in CARRIED.items()), "right edges of 6", equal=6)


@scenario(tool="build_scene_graph", name="regions", situation="Seven objects: is each in the region of the desk over which it really stands?")
def graph_regions(desk: ScenarioDesk) -> Measured:
    ids = desk.look()
    nodes = {node["id"]: node for node in desk.call("build_scene_graph")["nodes"]}
    right = 0
    for name, found in ids.items():
        x, y = desk.truth(name).pose[:2, 3]
        region = nodes[nodes[found]["parent"]]
        right += bool((np.abs(np.array(region["center"][:2]) - (x, y)) <= np.array(region["size"][:2]) / 2 + 0.01).all())
    return Measured(right / len(desk.names), "share of objects", at_least=0.99)


@scenario(tool="query_3d_scene_graph", name="stacks", situation="What is carried by the lowest block, also through others?", world=stack_and_bin)
def stacks(desk: ScenarioDesk) -> Measured:
    ids = desk.look()
    given = desk.call("query_3d_scene_graph", {"relation": "on", "target": ids["low"], "through": True})
    found = {hit["object_id"] for hit in given["objects"]}
    return Measured(len(found ^ {ids["mid"], ids["top"]}), "wrong or missing objects", equal=0)


@scenario(tool="query_3d_scene_graph", name="nearest", situation="For 20 points the nearest object is asked for; the truth says which it is.")
def nearest(desk: ScenarioDesk) -> Measured:
    ids, random, right = desk.look(), desk.random, 0
    for _ in range(20):
        point = random.uniform([-0.15, -0.2, 0], [0.2, 0.3, 0.1])
        far = sorted((float(np.linalg.norm(desk.truth(name).pose[:3, 3] - point)), name) for name in ids)
        hit = desk.call("query_3d_scene_graph", {"order": "nearest", "point": point.tolist(), "limit": 1})["objects"][0]["object_id"]
        right += hit == ids[far[0][1]] or far[1][0] - far[0][0] < 0.005
    return Measured(right / 20, "share of right answers", at_least=0.99)


@scenario(
    tool="query_3d_scene_graph",
    name="described",
    situation="'all blocks', 'red objects', the tallest object, the largest container: each set against the truth.",
)
def described(desk: ScenarioDesk) -> Measured:
    ids = desk.look()
    asked: list[tuple[dict[str, Any], set[str]]] = [
        ({"what": "all blocks"}, {"red", "green", "blue"}),
        ({"what": "everything red"}, {"red"}),
        ({"order": "highest", "limit": 1}, {"can", "cup"}),
        ({"what": "containers"}, {"bin"}),
    ]
    right = 0
    for arguments, names in asked:
        found = {hit["object_id"] for hit in desk.call("query_3d_scene_graph", arguments)["objects"]}
        right += bool(found) and (found <= {ids[name] for name in names} if "limit" in arguments else found == {ids[name] for name in names})
    return Measured(right, "right answers of 4", equal=4)


# ---------------------------------------------------------------- put right by sight


@scenario(
    tool="rename_object", name="kept", situation="A block is said to be a maroon sponge; two looks later it still is, and a model is named as who said so."
)
def renamed_kept(desk: ScenarioDesk) -> Measured:
    name = desk.look()["green"]
    desk.call("rename_object", {"object_id": name, "label": "sponge", "color": "maroon"})
    desk.call("detect_objects")
    item = next(item for item in desk.call("detect_objects")["objects"] if item["id"] == name)
    return Measured(float((item["label"], item["color"], item["label_source"]) == ("sponge", "maroon", "model")), "1 when so", equal=1)


@scenario(
    tool="rename_object", name="geometry_stays", situation="The can is said to be a bottle: by how much does its place or size differ from what was measured?"
)
def renamed_geometry(desk: ScenarioDesk) -> Measured:
    name = desk.look()["can"]
    before = next(item for item in desk.call("find_objects")["objects"] if item["id"] == name)
    after = next(item for item in desk.call("rename_object", {"object_id": name, "label": "bottle"})["objects"] if item["id"] == name)
    off = [abs(a - b) for key in ("position", "size") for a, b in zip(before[key], after[key], strict=True)]
    return Measured(1000 * max(off), "mm", at_most=0.0)


def _halves(desk: ScenarioDesk, name: str) -> list[list[int]]:
    """A pixel on the left third and one on the right third of what shows an object."""
    rows, columns = np.nonzero(desk.mask(name))
    row = int(np.median(rows))
    here = np.sort(columns[rows == row])
    return [[int(here[len(here) // 5]), row], [int(here[-len(here) // 5]), row]]


@scenario(tool="split_object", name="kept_apart", situation="The box is said to be two objects, by a pixel on each half: two looks later both are still there.")
def split_kept(desk: ScenarioDesk) -> Measured:
    ids = desk.look()
    parts = desk.call("split_object", {"object_id": ids["box"], "pixels": _halves(desk, "box")})["object_ids"]
    desk.call("detect_objects")
    seen = {item["id"] for item in desk.call("detect_objects")["objects"]}
    return Measured(float(set(parts) <= seen and ids["box"] not in seen and len(seen) == len(ids) + 1), "1 when so", equal=1)


@scenario(tool="split_object", name="not_on_it", situation="A pixel on another object is given: the call is refused and says which.")
def split_refused(desk: ScenarioDesk) -> Measured:
    ids = desk.look()
    pixels = [_halves(desk, "box")[0], _halves(desk, "can")[0]]
    result = desk.result("split_object", {"object_id": ids["box"], "pixels": pixels})
    return Measured(float(result.code == "invalid_input" and str([float(value) for value in pixels[1]]) in result.message), "1 when refused so", equal=1)


@scenario(
    tool="merge_objects",
    name="tower",
    situation="Three blocks on each other are said to be one object: how far is its height from theirs?",
    world=stack_and_bin,
)
def merged_tower(desk: ScenarioDesk) -> Measured:
    ids = desk.look()
    merged = desk.call("merge_objects", {"object_ids": [ids["low"], ids["mid"], ids["top"]], "label": "tower"})
    item = next(item for item in desk.call("detect_objects")["objects"] if item["id"] == merged["object_ids"][0])
    return Measured(1000 * abs(item["size"][2] - 0.121), "mm", at_most=4.0)


@scenario(tool="merge_objects", name="too_far", situation="Two blocks that stand apart are said to be one: refused, with the reason.", world=stack_and_bin)
def merged_far(desk: ScenarioDesk) -> Measured:
    ids = desk.look()
    result = desk.result("merge_objects", {"object_ids": [ids["low"], ids["alone"]]})
    return Measured(float(result.code == "invalid_input" and "mm from the others" in result.message), "1 when refused so", equal=1)
