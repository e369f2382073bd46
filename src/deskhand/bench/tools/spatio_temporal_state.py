"""Scenarios of the unit spatio_temporal_state."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from deskhand.bench.tools.base import Measured, scenario
from deskhand.bench.tools.controller_dispatch import over_the_desk
from deskhand.bench.tools.desk import ScenarioDesk
from deskhand.bench.tools.worlds import rolling
from deskhand.sim.spec import pose_at


@scenario(tool="observe_motion", name="still", situation="Nothing moves on a desk of seven objects: how many are told to move?")
def still(desk: ScenarioDesk) -> Measured:
    given = desk.call("observe_motion", {"looks": 3, "interval": 0.2})["objects"]
    return Measured(sum(item["state"] != "still" for item in given), "objects", equal=0)


@scenario(
    tool="observe_motion",
    name="speed",
    situation="A ball rolls along the desk: the error of its told speed against how far it really went.",
    world=rolling,
)
def speed(desk: ScenarioDesk) -> Measured:
    ids = desk.look()
    desk.push("ball", (0.0, -float(desk.random.uniform(0.2, 0.3)), 0.0))
    begin, start = desk.simulation.time, desk.truth("ball").pose[:3, 3].copy()
    given = {item["object_id"]: item for item in desk.call("observe_motion", {"looks": 4, "interval": 0.15})["objects"]}
    real = float(np.linalg.norm(desk.truth("ball").pose[:3, 3] - start)) / (desk.simulation.time - begin)
    told = given[ids["ball"]]
    right = told["state"] in ("moving", "stopped") and given[ids["block"]]["state"] == given[ids["can"]]["state"] == "still"
    return Measured(abs(told["speed"] / real - 1) if right else float("nan"), "relative error of the speed", at_most=0.15)


@scenario(tool="observe_motion", name="approaching", situation="The ball rolls towards the can: is this told, with the heading?", world=rolling)
def approaching(desk: ScenarioDesk) -> Measured:
    ids = desk.look()
    desk.push("ball", (0.0, -float(desk.random.uniform(0.2, 0.3)), 0.0))
    given = desk.call("observe_motion", {"looks": 4, "interval": 0.15})
    told = any((one["subject"], one["relation"], one["object"]) == (ids["ball"], "approaching", ids["can"]) for one in given["interactions"])
    heading = next(item["heading"] for item in given["objects"] if item["object_id"] == ids["ball"])
    return Measured(abs(float(np.rad2deg(heading)) + 90) if told and heading is not None else float("nan"), "deg error of the heading", at_most=6.0)


@scenario(
    tool="target_memory",
    name="places",
    situation="A block is moved twice between looks: its three places and the length of its way against the truth.",
)
def places(desk: ScenarioDesk) -> Measured:
    ids = desk.look()
    true = [desk.truth("red").pose[:3, 3].copy()]
    for _ in range(2):
        by = desk.free_shift("red", 0.06, 0.15)
        while min(float(np.linalg.norm(desk.truth("red").pose[:2, 3] + by - one[:2])) for one in true) < 0.06:  # back where it was it has no new place
            by = desk.free_shift("red", 0.06, 0.15)
        desk.shift("red", by)
        desk.look()
        true.append(desk.truth("red").pose[:3, 3].copy())
    given = desk.call("target_memory", {"target": ids["red"]})
    way = sum(float(np.linalg.norm(b - a)) for a, b in pairwise(true))
    error = max(min(float(np.linalg.norm(np.array(place["position"]) - one)) for place in given["places"]) for one in true)
    return Measured(1000 * max(error, abs(given["travelled"] - way)) if len(given["places"]) == 3 else float("nan"), "mm largest error", at_most=10.0)


@scenario(tool="target_memory", name="where_to_look", situation="The can was taken away: its last place must lose its probability.")
def where_to_look(desk: ScenarioDesk) -> Measured:
    ids = desk.look()
    desk.put("can", pose_at(3.0, 0.0, 0.0))
    desk.call("detect_objects")
    given = desk.call("target_memory", {"target": ids["can"]})
    return Measured(
        given["places"][0]["probability"] if given["status"] == "vanished" else float("nan"), "probability of the place that is seen empty", at_most=0.2
    )


@scenario(tool="target_memory", name="sure", situation="The red block is in view: the probability of its place, and that of all places and elsewhere together.")
def sure(desk: ScenarioDesk) -> Measured:
    ids = desk.look()
    given = desk.call("target_memory", {"target": ids["red"]})
    total = sum(place["probability"] for place in given["places"]) + given["elsewhere"]
    return Measured(given["places"][0]["probability"] if abs(total - 1) < 0.001 else float("nan"), "probability of the place where it is", at_least=0.85)


@scenario(
    tool="scene_changes",
    name="moved",
    situation="One of seven objects is moved by 6 to 15 cm between two looks: the told distance, and that nothing else is told.",
)
def changes_moved(desk: ScenarioDesk) -> Measured:
    ids = desk.look()
    desk.robot.sleep(2.0)
    desk.shift("blue", desk.free_shift("blue", 0.06, 0.15))
    desk.call("detect_objects")
    events = desk.call("scene_changes", {"seconds": 1.5})["events"]
    told = [event for event in events if event["object_id"] == ids["blue"] and event["kind"] == "moved"]
    return Measured(len(events) - len(told) if told else float("nan"), "other changes told", equal=0)


@scenario(tool="scene_changes", name="taken_and_added", situation="A can is taken away and put back elsewhere: both must be told.")
def taken_and_added(desk: ScenarioDesk) -> Measured:
    ids = desk.look()
    place = desk.free_pose("can")
    desk.put("can", pose_at(3.0, 0.0, 0.0))
    desk.call("detect_objects")
    desk.put("can", place)
    desk.call("detect_objects")
    kinds = [event["kind"] for event in desk.call("scene_changes")["events"] if event["object_id"] == ids["can"]]
    return Measured(float("vanished" in kinds) + float("appeared" in kinds), "of 2 changes told", equal=2)


@scenario(tool="object_history", name="moves", situation="The red block is moved three times between looks: how many moves does its history tell?")
def history_moves(desk: ScenarioDesk) -> Measured:
    ids = desk.look()
    for _ in range(3):
        desk.shift("red", desk.free_shift("red", 0.04, 0.12))
        desk.call("detect_objects")
    events = desk.call("object_history", {"object_id": ids["red"]})["events"]
    return Measured(sum(event["kind"] == "moved" for event in events), "moves", equal=3)


@scenario(tool="object_history", name="order", situation="A can was added, moved and taken away: the order of the events.")
def history_order(desk: ScenarioDesk) -> Measured:
    ids = desk.look()
    desk.shift("can", desk.free_shift("can", 0.05, 0.12))
    desk.call("detect_objects")
    desk.put("can", pose_at(3.0, 0.0, 0.0))
    desk.call("detect_objects")
    kinds = [event["kind"] for event in desk.call("object_history", {"object_id": ids["can"]})["events"]]
    return Measured(float(kinds == ["added", "moved", "vanished"]), "1 when it is right", equal=1)


# ---------------------------------------------------------------- watches


def watching(desk: ScenarioDesk, name: str) -> str:
    """A watch over an object that has begun; its id."""
    ids = desk.look()
    return str(desk.call("watch_target", {"object_ids": [ids[name]], "interval": 0.2})["watch_id"])


def heard(desk: ScenarioDesk, watch: str, since: int = 0) -> list[dict[str, Any]]:
    """The next events of a watch, waited for."""
    found: list[dict[str, Any]] = desk.call("read_events", {"watch_id": watch, "since": since, "wait": 25})["events"]
    return found


@scenario(tool="watch_target", name="moved", situation="The red block is moved by 5 to 12 cm while it is watched: the error of the told distance.")
def watch_moved(desk: ScenarioDesk) -> Measured:
    watch = watching(desk, "red")
    before = desk.truth("red").pose[:3, 3].copy()
    desk.shift("red", desk.free_shift("red", 0.05, 0.12), settle=0.0)
    event = heard(desk, watch)[0]["data"]
    desk.call("stop_watch", {"watch_id": watch})
    real = float(np.linalg.norm(desk.truth("red").pose[:3, 3] - before))
    return Measured(1000 * abs(event["distance"] - real) if event["kind"] == "moved" else float("nan"), "mm error of the distance", at_most=5.0)


@scenario(tool="watch_target", name="gone_and_back", situation="The can is taken away and put back: which events are told, in which order?")
def watch_gone_and_back(desk: ScenarioDesk) -> Measured:
    watch = watching(desk, "can")
    place = desk.truth("can").pose.copy()
    desk.put("can", pose_at(3.0, 0.0, 0.0), settle=0.0)
    first = heard(desk, watch)
    desk.put("can", place, settle=0.0)
    second = heard(desk, watch, first[-1]["number"])
    desk.call("stop_watch", {"watch_id": watch})
    kinds = [event["data"]["kind"] for event in first + second]
    return Measured(float(kinds == ["left_view", "back_in_view"]), "1 when it is right", equal=1)


@scenario(tool="list_watches", name="running", situation="Two watches run and one of them is stopped: what is told of both?")
def list_running(desk: ScenarioDesk) -> Measured:
    first, second = watching(desk, "red"), watching(desk, "can")
    both = [one["running"] for one in desk.call("list_watches")["watches"]]
    desk.call("stop_watch", {"watch_id": first})
    told = {one["watch_id"]: one["running"] for one in desk.call("list_watches")["watches"]}
    desk.call("stop_watch", {"watch_id": second})
    return Measured(float(both == [True, True]) + float(told == {first: False, second: True}), "right lists of 2", equal=2)


@scenario(tool="list_watches", name="none", situation="Nothing was started: the list must be empty.")
def list_none(desk: ScenarioDesk) -> Measured:
    return Measured(len(desk.call("list_watches")["watches"]), "watches", equal=0)


@scenario(tool="read_events", name="nothing_happened", situation="Nothing moves: a second of waiting must bring no event.")
def read_nothing(desk: ScenarioDesk) -> Measured:
    watch = watching(desk, "blue")
    events = desk.call("read_events", {"watch_id": watch, "wait": 1})["events"]
    desk.call("stop_watch", {"watch_id": watch})
    return Measured(len(events), "events", equal=0)


@scenario(
    tool="read_events",
    name="each_once",
    situation="A block is moved twice while it is watched: reading on from the last number gives each move once.",
)
def read_each_once(desk: ScenarioDesk) -> Measured:
    watch = watching(desk, "red")
    numbers: list[int] = []
    for _ in range(2):
        desk.shift("red", desk.free_shift("red", 0.05, 0.12), settle=0.0)
        numbers += [event["number"] for event in heard(desk, watch, numbers[-1] if numbers else 0)]
    desk.call("stop_watch", {"watch_id": watch})
    return Measured(float(numbers == [1, 2]), "1 when it is right", equal=1)


@scenario(tool="stop_watch", name="silent_after", situation="A watch is stopped, then its target is moved: how many events come after that?")
def silent_after(desk: ScenarioDesk) -> Measured:
    watch = watching(desk, "red")
    desk.call("stop_watch", {"watch_id": watch})
    desk.shift("red", desk.free_shift("red", 0.05, 0.12))
    return Measured(sum(not event["ended"] for event in desk.call("read_events", {"watch_id": watch, "wait": 1})["events"]), "events", equal=0)


@scenario(tool="stop_watch", name="unknown", situation="A watch that never was is stopped: refused as unknown_watch.")
def stop_unknown(desk: ScenarioDesk) -> Measured:
    return Measured(float(desk.result("stop_watch", {"watch_id": "watch_99"}).code == "unknown_watch"), "1 when refused so", equal=1)


@scenario(tool="watch_layout", name="in_time", situation="Five objects are moved one after the other: the longest time until the right one is told.")
def layout_in_time(desk: ScenarioDesk) -> Measured:
    ids = desk.look()
    heard = desk.watch("watch_layout")
    times = []
    for name in desk.random.permutation(["blue", "cup", "red", "green", "box"]).tolist():
        heard.let_pass(0.35)
        begun = desk.shift(name, desk.free_shift(name, 0.03, 0.08), settle=0.0)
        events = heard.wait(1.0)
        right = len(events) == 1 and events[0][1]["kind"] == "moved" and events[0][1]["object_id"] == ids[name]
        times.append(events[0][0] - begun if right else float("nan"))
    heard.stop()
    return Measured(float(np.max(times)), "s until it was told", at_most=0.3)


@scenario(tool="watch_layout", name="taken_and_back", situation="A can is taken off the desk, later another object appears: what is told?")
def layout_taken(desk: ScenarioDesk) -> Measured:
    ids = desk.look()
    heard, place = desk.watch("watch_layout"), desk.free_pose("can")
    desk.put("can", pose_at(3.0, 0.0, 0.0), settle=0.0)
    first = heard.let_pass(0.6)
    desk.put("can", place, settle=0.0)
    second = heard.let_pass(0.6)
    heard.stop()
    told = [(event["kind"], event["object_id"]) for _, event in first + second]
    return Measured(float(told == [("taken", ids["can"]), ("appeared", "")]), "1 when it is right", equal=1)


@scenario(tool="watch_layout", name="arm_moves", situation="The arm moves over the desk and back while nothing else does: no event.")
def layout_arm_moves(desk: ScenarioDesk) -> Measured:
    desk.look()
    heard = desk.watch("watch_layout")
    plan = desk.call("plan_motion", {"position": over_the_desk(desk)})["plan_id"]
    desk.call("execute_plan", {"plan_id": plan})
    heard.let_pass(0.5)
    desk.call("move_home")
    heard.let_pass(0.5)
    return Measured(len(heard.stop()), "events", equal=0)
