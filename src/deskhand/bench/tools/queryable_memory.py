"""Scenarios of the unit queryable_memory."""

from __future__ import annotations

from typing import Any

import numpy as np

from deskhand.bench.tools.base import Measured, scenario
from deskhand.bench.tools.desk import ScenarioDesk
from deskhand.sim.spec import pose_at


@scenario(tool="find_objects", name="kinds", situation="Seven objects: blocks, red objects, containers, cylinders are looked up; each set against the truth.")
def kinds(desk: ScenarioDesk) -> Measured:
    ids = desk.look()
    asked: list[tuple[dict[str, Any], set[str]]] = [
        ({"label": "block"}, {"red", "green", "blue"}),
        ({"color": "red"}, {"red"}),
        ({"container": True}, {"bin"}),
        ({"label": "block", "color": "blue"}, {"blue"}),
        ({"label": "can"}, {"can"}),
    ]
    right = sum({item["id"] for item in desk.call("find_objects", given)["objects"]} == {ids[name] for name in names} for given, names in asked)
    return Measured(right, "right answers of 5", equal=5)


@scenario(tool="find_objects", name="nothing", situation="Pens are looked up, of which there are none: nothing may be found, and a hint given.")
def nothing(desk: ScenarioDesk) -> Measured:
    desk.look()
    given = desk.call("find_objects", {"label": "pen"})
    return Measured(len(given["objects"]) + (not given["hint"]), "objects found, or no hint", equal=0)


@scenario(tool="where_is", name="place", situation="Where six objects are, by words: the largest error of the told places.")
def place(desk: ScenarioDesk) -> Measured:
    desk.look()
    words = {"red block": "red", "green block": "green", "blue block": "blue", "can": "can", "orange box": "box", "cup": "cup"}
    errors = [
        np.linalg.norm(np.array(desk.call("where_is", {"words": text})["objects"][0]["position"]) - desk.truth(name).pose[:3, 3])
        for text, name in words.items()
    ]
    return Measured(1000 * float(max(errors)), "mm", at_most=8.0)


@scenario(tool="where_is", name="gone", situation="The cup was taken away before the second look: it must be told vanished.")
def gone(desk: ScenarioDesk) -> Measured:
    desk.look()
    desk.put("cup", pose_at(3.0, 0.0, 0.0))
    desk.call("detect_objects")
    return Measured(float(desk.call("where_is", {"words": "cup"})["objects"][0]["status"] == "vanished"), "1 when told so", equal=1)


@scenario(
    tool="recall_objects",
    name="before",
    situation="The red block stood elsewhere before it was moved: is it recalled, and where it was?",
)
def before(desk: ScenarioDesk) -> Measured:
    ids = desk.look()
    old = desk.truth("red").pose[:3, 3].copy()
    desk.shift("red", desk.free_shift("red", 0.08, 0.25))
    desk.call("detect_objects")
    found = desk.call("recall_objects", {"label": "block", "color": "red", "when": "first"})["objects"]
    item = next((one for one in found if one["id"] == ids["red"]), None)
    return Measured(1000 * float(np.linalg.norm(np.array(item["position"]) - old)) if item else float("nan"), "mm from where it was", at_most=8.0)


@scenario(tool="recall_objects", name="seconds_ago", situation="A can is moved; where it was five seconds ago is asked for.")
def seconds_ago(desk: ScenarioDesk) -> Measured:
    desk.look()
    old = desk.truth("can").pose[:3, 3].copy()
    desk.robot.sleep(4.0)
    desk.shift("can", desk.free_shift("can", 0.06, 0.15))
    desk.robot.sleep(3.0)
    desk.call("detect_objects")
    found = desk.call("recall_objects", {"label": "can", "seconds_ago": 5.0})["objects"]
    return Measured(1000 * float(np.linalg.norm(np.array(found[0]["position"]) - old)) if found else float("nan"), "mm from where it was", at_most=8.0)


@scenario(
    tool="ask_memory",
    name="moved",
    situation="After the blue block was moved, 'what was moved last?' and 'where was the blue block before?' are asked.",
)
def moved(desk: ScenarioDesk) -> Measured:
    ids = desk.look()
    old = desk.truth("blue").pose[:3, 3].copy()
    desk.shift("blue", desk.free_shift("blue", 0.06, 0.15))
    desk.call("detect_objects")
    last = desk.call("ask_memory", {"question": "what was moved last?"})
    past = desk.call("ask_memory", {"question": "where was the blue block before?"})
    told = [event["object_id"] for event in last["events"]] == [ids["blue"]]
    near = any(float(np.linalg.norm(np.array(item["position"]) - old)) < 0.01 for item in past["objects"])
    return Measured(float(told) + float(near), "right answers of 2", equal=2)


@scenario(tool="ask_memory", name="not_a_question", situation="Words that are no question about the past: refused as not_understood, not answered at random.")
def not_a_question(desk: ScenarioDesk) -> Measured:
    desk.look()
    return Measured(float(desk.result("ask_memory", {"question": "colourless green ideas"}).code == "not_understood"), "1 when refused so", equal=1)
