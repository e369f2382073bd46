"""Scenarios of the unit spatial_grounding."""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations

import numpy as np

from deskhand.bench.tools.base import Measured, scenario
from deskhand.bench.tools.desk import ScenarioDesk
from deskhand.bench.tools.model_server import configured
from deskhand.types import SceneObject
from deskhand.world.relations import DIRECTIONS
from deskhand.world.spatial import relation_holds


@scenario(
    tool="query_relation", name="directions", situation="Every pair of six objects is asked for every direction; the answer follows from the true centres."
)
def directions(desk: ScenarioDesk) -> Measured:
    ids = desk.look()
    right = asked = 0
    for a, b in permutations(["red", "green", "blue", "can", "box", "cup"], 2):
        for name, (x, y) in DIRECTIONS.items():
            dx, dy = (desk.truth(a).pose[:2, 3] - desk.truth(b).pose[:2, 3]).tolist()
            along, across = dx * x + dy * y, abs(dy * x - dx * y)
            if min(abs(along - 0.01), abs(across - abs(along))) < 0.006:
                continue  # too near to the border to be told by a camera
            right += desk.call("query_relation", {"object_id": ids[a], "relation": name, "target_id": ids[b]})["holds"] == (along >= 0.01 and across <= along)
            asked += 1
    return Measured(right / asked, "share of right answers", at_least=0.99)


@scenario(tool="query_relation", name="on_the_table", situation="All six objects stand on the table and none in the bin.")
def on_the_table(desk: ScenarioDesk) -> Measured:
    ids = desk.look()
    names = ["red", "green", "blue", "can", "box", "cup"]
    on = [desk.call("query_relation", {"object_id": ids[name], "relation": "on", "target_id": "table"})["holds"] for name in names]
    within = [desk.call("query_relation", {"object_id": ids[name], "relation": "in", "target_id": ids["bin"]})["holds"] for name in names]
    return Measured(sum(on) + sum(not holds for holds in within), "right answers of 12", equal=12)


WORDS = {"red": "the red block", "green": "the green block", "blue": "the blue block", "can": "the can", "box": "the orange box", "cup": "the cup"}


def _both_hold(desk: ScenarioDesk) -> list[tuple[str, str]]:
    """Two drawn (relation, name) that a free place satisfies, well inside of both directions."""
    while True:
        place = desk.free_pose("red", gap=0.05)[:2, 3]
        found = []
        for name in desk.random.permutation([name for name in WORDS if name != "red"]).tolist():
            away = place - desk.truth(name).pose[:2, 3]
            found += [
                (relation, name) for relation, way in DIRECTIONS.items() if away @ way > 0.04 and abs(away[1] * way[0] - away[0] * way[1]) < 0.6 * (away @ way)
            ][:1]
        if len(found) >= 2:
            return found[:2]


def stood(item: SceneObject, x: float, y: float) -> SceneObject:
    """A small object at a place."""
    pose = np.eye(4)
    pose[:3, 3] = x, y, 0.01
    return replace(item, id="imagined", size=np.full(3, 0.02), pose=pose, support="table", relation="on")


@scenario(
    tool="ground_place",
    name="composite",
    situation="'left of the can and behind the green block' and the like: how much of the distribution lies where both relations hold?",
)
def composite(desk: ScenarioDesk) -> Measured:
    ids = desk.look()
    asked = _both_hold(desk)
    text = " and ".join(f"{relation.replace('_', ' ')} {WORDS[name]}" for relation, name in asked)
    given = desk.call("ground_place", {"text": text})
    heat, (x0, y0), cell = desk.fetch(given["heat"]), given["origin"], given["cell"]
    scene = desk.belief.scene
    assert scene is not None
    share = 0.0
    for row, column in np.argwhere(heat > 1e-7):
        item = stood(scene.objects[0], x0 + row * cell, y0 + column * cell)
        both = [relation_holds(scene, item, relation, scene.get(ids[name]))[0] for relation, name in asked]
        share += float(heat[row, column]) * all(both)
    return Measured(share, "share of the distribution", at_least=0.9)


@scenario(tool="ground_place", name="room", situation="Places for something 5 cm wide near the cup: their gap to everything that really stands there.")
def room(desk: ScenarioDesk) -> Measured:
    desk.look()
    given = desk.call("ground_place", {"text": "near the cup", "room": 0.05, "count": 5})
    gaps = []
    for place in given["places"]:
        for item in desk.simulation.truth().objects:
            local = np.abs(item.pose[:3, :3].T @ (np.array([*place["position"][:2], item.pose[2, 3]]) - item.pose[:3, 3]))[:2]
            gaps.append(float(np.linalg.norm(np.maximum(0.0, local - np.array(item.size[:2]) / 2))))
    return Measured(1000 * min(gaps), "mm from the middle of a place to the nearest object", at_least=22.0)


@scenario(tool="ground_place", name="between", situation="'between the red block and the blue block': distance of the best place from the true middle.")
def between(desk: ScenarioDesk) -> Measured:
    desk.look()
    best = desk.call("ground_place", {"text": "between the red block and the blue block", "room": 0.0})["places"][0]["position"]
    middle = (desk.truth("red").pose[:2, 3] + desk.truth("blue").pose[:2, 3]) / 2
    return Measured(1000 * float(np.linalg.norm(np.array(best[:2]) - middle)), "mm", at_most=10.0)


@scenario(tool="crop_object", name="all_of_it", situation="The cup is cut out with a margin of 8 px: the share of its true pixels that the cut-out shows.")
def all_of_it(desk: ScenarioDesk) -> Measured:
    ids = desk.look()
    left, top, width, height = desk.call("crop_object", {"object_id": ids["cup"]})["box"]
    mask = desk.mask("cup")
    return Measured(float(mask[top : top + height, left : left + width].sum()) / float(mask.sum()), "share of its pixels", at_least=0.99)


@scenario(
    tool="crop_object", name="same_pixels", situation="A region is cut out of a stored picture: the largest difference to these pixels of the picture itself."
)
def same_pixels(desk: ScenarioDesk) -> Measured:
    image, (left, top) = desk.frame().color, desk.random.integers(10, [560, 420]).tolist()
    given = desk.call("crop_object", {"box": [left, top, 60, 40], "picture_uri": desk.keep(image), "margin": 0})
    return Measured(float(np.abs(desk.fetch(given["picture"]).astype(int) - image[top : top + 40, left : left + 60]).max()), "of 255", equal=0)


@scenario(tool="crop_object", name="alone", situation="The can is cut out alone, twice as large: the share of what is not grey that shows something else.")
def alone(desk: ScenarioDesk) -> Measured:
    ids = desk.look()
    given = desk.call("crop_object", {"object_id": ids["can"], "alone": True, "margin": 4})
    left, top, width, height = given["box"]
    shown = np.abs(desk.fetch(given["picture"]).astype(int) - 127).max(axis=-1) > 0
    return Measured(float((shown & ~desk.mask("can")[top : top + height, left : left + width]).sum()) / float(shown.sum()), "share", at_most=0.06)


@scenario(
    tool="answer_visual_question",
    name="counted",
    situation="A model on this machine that counts coloured regions is asked how many red, green and blue objects it sees.",
)
def counted(desk: ScenarioDesk) -> Measured:
    with configured():
        desk.begin()
        answers = [desk.call("answer_visual_question", {"question": f"How many {color} objects are there?"})["answer"] for color in ("red", "green", "blue")]
    return Measured(sum(answer == "1" for answer in answers), "right answers of 3", equal=3)


@scenario(
    tool="answer_visual_question",
    name="part",
    situation="The same model is shown only the part of the picture with the red block: one red object there, no blue one.",
)
def part(desk: ScenarioDesk) -> Measured:
    rows, columns = np.nonzero(desk.mask("red"))
    box = [int(columns.min()), int(rows.min()), int(np.ptp(columns)) + 1, int(np.ptp(rows)) + 1]
    with configured():
        desk.begin()
        answers = [desk.call("answer_visual_question", {"question": f"How many {color} objects?", "box": box})["answer"] for color in ("red", "blue")]
    return Measured(sum(answer == right for answer, right in zip(answers, ("1", "0"), strict=True)), "right answers of 2", equal=2)


@scenario(tool="answer_visual_question", name="no_model", situation="No vision-language model is configured: the call must be refused, and say so.")
def no_model(desk: ScenarioDesk) -> Measured:
    result = desk.result("answer_visual_question", {"question": "What is on the desk?"})
    return Measured(float(result.code == "precondition_failed" and "model" in result.message), "1 when refused so", equal=1)


@scenario(
    tool="mark_picture",
    name="boxes",
    situation="All objects are marked: how many boxes overlap by half or more with the box around the pixels that show the object?",
)
def marked_boxes(desk: ScenarioDesk) -> Measured:
    ids = desk.look()
    marks = {mark["object_id"]: mark["box"] for mark in desk.call("mark_picture")["marks"]}
    good = 0
    for name, object_id in ids.items():
        rows, columns = np.nonzero(desk.mask(name))
        left, top, width, height = marks[object_id]
        wide = min(left + width, columns.max()) - max(left, columns.min())
        high = min(top + height, rows.max()) - max(top, rows.min())
        shared = max(0, wide) * max(0, high)
        good += shared / (width * height + np.ptp(columns) * np.ptp(rows) - shared) >= 0.5
    return Measured(good / len(ids), "share of the objects", at_least=0.99)


@scenario(
    tool="mark_picture", name="chosen", situation="Two objects of six are marked by outlines, with the world's axes: nothing else is, and the picture shows it."
)
def marked_chosen(desk: ScenarioDesk) -> Measured:
    ids = desk.look()
    given = desk.call("mark_picture", {"object_ids": [ids["can"], ids["cup"]], "style": "contours", "axes": True})
    drawn = np.abs(desk.fetch(given["picture"]).astype(int) - desk.frame().color.astype(int)).max(axis=-1) > 60
    return Measured(float({mark["object_id"] for mark in given["marks"]} == {ids["can"], ids["cup"]} and drawn.sum() > 100), "1 when so", equal=1)


@scenario(tool="point_to_object", name="clicks", situation="Pixels in the middle of what is seen of each of seven objects, and one of the bare table.")
def clicks(desk: ScenarioDesk) -> Measured:
    ids, owners = desk.look(), desk.owners()
    right = 0
    for number, name in enumerate(desk.names):
        rows, columns = np.nonzero(owners == number)
        best = int(np.argmin((rows - np.median(rows)) ** 2 + (columns - np.median(columns)) ** 2))
        told = desk.call("point_to_object", {"pixel": [int(columns[best]), int(rows[best])]})
        right += told["object_id"] == ids[name] and told["on"] == "object"
    bare = np.append(desk.free_pose("red")[:2, 3], 0.0)
    table = desk.call("point_to_object", {"pixel": desk.frame().project(bare)[0].tolist()})
    right += table["on"] == "table" and float(np.linalg.norm(np.array(table["place"]) - bare)) < 0.01
    return Measured(right, "right of 8", equal=8)


@scenario(tool="point_to_object", name="pointing", situation="A finger at five places points at the upper half of each of five objects: which are told?")
def pointing(desk: ScenarioDesk) -> Measured:
    ids, right = desk.look(), 0
    for number, name in enumerate(("red", "green", "blue", "can", "box")):
        target = desk.truth(name)
        goal = target.pose[:3, 3] + np.array([0, 0, 0.25 * target.size[2]])
        finger = np.array([0.35, 0.2 - 0.1 * number, 0.5])
        right += desk.call("point_to_object", {"origin": finger.tolist(), "direction": (goal - finger).tolist()})["object_id"] == ids[name]
    return Measured(right, "right of 5", equal=5)
