"""Laying objects out: each to a spot of its own, one out of the way of the other. Part of the offline brain's script."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Generator, Sequence

from deskhand.agent.moves import Spot
from deskhand.language.resolve import BASE, Seen, name_of
from deskhand.offline.script import Call, CallResult, DecisionScript, ResultScript, Script, planned
from deskhand.offline.task_executive import TaskExecutive
from deskhand.planning.goals import Goal
from deskhand.planning.room import box_of, overlaps
from deskhand.world.level import SQUARE, TURNED, heading_error
from deskhand.world.relations import TABLE

TRIES = 3
"""How often one object is put to its spot."""
NEAR_ENOUGH = 0.010
"""[m] from its spot where an object counts as being there."""
FINGERS = 0.030
"""[m] between objects in a row: room for the fingers."""
ROWS_X = (0.03, 0.06, 0.0, 0.09, -0.03, 0.12)
ROWS_Y = (0.0, 0.04, -0.04, 0.08, -0.08)
REACH = (0.17, 0.46)
"""[m] from the robot where it puts objects down with ease."""


class Arranging:
    """Methods that act are generators of calls; what could not be done is among the problems of the executive."""

    def __init__(self, executive: TaskExecutive) -> None:
        self._executive = executive
        self._tries: Counter[str] = Counter()
        self._set_asides: Counter[str] = Counter()

    # ------------------------------------------------------------ to spots

    def bring(self, spots: dict[str, Spot], why: str) -> Script:
        """Each object to its spot, in this order where nothing is in the way; what is there already stays."""
        goals = [_goal(name, spot) for name, spot in spots.items()]
        heard = yield planned(goals, why)
        if not heard.ok:
            self._executive.problems.append((heard.code, heard.message))
            return
        failures: dict[str, tuple[str, str]] = {}
        todo = {name: spot for name, spot in spots.items() if not self._is_there(name, spot)}
        while todo:
            name = self._next(todo)
            if name is None:  # each waits for another one: one that another waits for makes room
                waiting = self._in_a_circle(todo)
                if self._set_asides[waiting] >= TRIES:
                    failures |= {other: ("no_free_space", f"{other}: I find no room to set {waiting} aside.") for other in todo}
                    break
                yield from self._set_aside(waiting, spots)
                continue
            self._tries[name] += 1
            failed = yield from self._carry(name, todo[name])
            if failed is None:
                self._executive.done += 1
                failures.pop(name, None)
                del todo[name]
                self._settle(name, spots[name])
                continue
            failures[name] = failed.code, f"{name}: {failed.message}"
            if self._tries[name] >= TRIES or not (yield from self._executive.look(f"{name} is not where it belongs ({failed.message}); where is it?")):
                del todo[name]
        self._executive.problems += failures.values()

    def _next(self, todo: dict[str, Spot]) -> str | None:
        """The first object whose spot no other object that still moves covers; of two that wait, the one that was tried less."""
        free = [name for name, spot in todo.items() if not any(other in todo and other != name for other in self._blockers(name, spot))]
        return min(free, key=lambda name: self._tries[name]) if free else None

    def _in_a_circle(self, todo: dict[str, Spot]) -> str:
        """Of objects that wait for each other in a circle the one set aside least; one outside of the circle would make no room by going."""
        chain = [next(iter(todo))]
        while True:
            before = next(other for other in self._blockers(chain[-1], todo[chain[-1]]) if other in todo)
            if before in chain:
                return min(chain[chain.index(before) :], key=lambda name: self._set_asides[name])
            chain.append(before)

    def _blockers(self, name: str, spot: Spot) -> list[str]:
        if spot.support != TABLE:
            return []
        item = self._item(name)
        mine = _radius(item) if item else 0.02
        return [
            str(other["id"])
            for other in self._executive.objects
            if other["id"] != name
            and other.get("relation") != "held"
            and str(other.get("support", TABLE)) == TABLE
            and math.dist(other["position"][:2], (spot.x, spot.y)) < mine + _radius(other) + FINGERS / 3
        ]

    def _set_aside(self, name: str, spots: dict[str, Spot]) -> Script:
        """Out of the way of all spots; it comes to its own later."""
        self._set_asides[name] += 1
        picked = yield from self._executive.take(self._free_hand, name, f"{name} makes room first.")
        if picked.ok:
            yield Call("put_aside", {"keep_clear": [[spot.x, spot.y] for spot in spots.values()][:20]})
        yield from self._executive.look("Where is everything now?")

    def _carry(self, name: str, spot: Spot) -> Generator[Call, CallResult, CallResult | None]:
        """None when it came to its spot, else what failed."""
        picked = yield from self._executive.take(self._free_hand, name, f"{name} to its place")
        if not picked.ok:
            return picked
        blockers = self._blockers(name, spot)
        placed = yield from self._put(spot)
        if placed.ok:
            return None
        note = f" {', '.join(blockers)} is in the way." if placed.code == "no_free_space" and blockers else ""
        state = yield Call("get_robot_state", {}, f"That failed ({placed.message}); is it still in the hand?")
        if state.ok and state.data.get("holding"):
            yield from self._free_hand()
        return CallResult(False, None, placed.code, placed.message + note)

    def _put(self, spot: Spot) -> ResultScript:
        if spot.relation == "in":
            return (yield Call("place_in", {"container_id": spot.support}))
        if spot.support != TABLE:
            return (yield Call("place_on", {"target_id": spot.support}))
        turned = {} if spot.yaw is None else {"yaw": spot.yaw}
        return (yield Call("place_at", {"x": spot.x, "y": spot.y} | turned))

    def _free_hand(self) -> Script:
        aside = yield Call("put_aside", {}, "The hand is needed empty.")
        if not aside.ok:
            yield Call("open_gripper", {}, "It cannot stay in the hand; nothing else worked.")

    def _settle(self, name: str, spot: Spot) -> None:
        """The last look, with the object where it was put."""
        moved = {"position": [spot.x, spot.y, 0.0], "support": spot.support, "relation": spot.relation}
        self._executive.objects = [
            {**item, **moved, "position": [spot.x, spot.y, item["position"][2]]} if item["id"] == name else item for item in self._executive.objects
        ]

    def _is_there(self, name: str, spot: Spot) -> bool:
        item = self._item(name)
        if item is None or item.get("relation") == "held":
            return False
        there = str(item.get("support", TABLE)) == spot.support
        return there and (spot.support != TABLE or (math.dist(item["position"][:2], (spot.x, spot.y)) < NEAR_ENOUGH and not _turned(item, spot)))

    def _item(self, name: str) -> Seen | None:
        return next((item for item in self._executive.objects if item["id"] == name), None)

    # ------------------------------------------------------------ out of a part of the desk, and into one

    def clear(self, box: tuple[tuple[float, float], tuple[float, float]], words: str) -> DecisionScript:
        """Nothing shall stand within ``box`` ((x from, to), (y from, to)) [m]; containers are not moved."""
        grid = [[x, y] for x in _steps(*box[0], 4) for y in _steps(*box[1], 5)]
        for _ in range(TRIES):
            inside = [item for item in self._executive.objects if overlaps(item, box)]
            fixed = [item for item in inside if item.get("is_container")]
            loose = [item for item in inside if not item.get("is_container") and item.get("relation") == "on" and item.get("support") == TABLE]
            if not loose:
                self._executive.problems += [
                    ("impossible", f"the {name_of(item)} ({item['id']}) stands {words}, and I do not move containers.") for item in fixed
                ]
                return not fixed
            goals = [Goal(str(item["id"]), "on", TABLE) for item in loose]
            yield planned(goals, f"In the way: {', '.join(str(item['id']) for item in loose)}")
            for item in loose:
                picked = yield from self._executive.take(self._free_hand, str(item["id"]), f"{item['id']} stands {words}.")
                placed = (yield Call("put_aside", {"keep_clear": grid})) if picked.ok else picked
                self._executive.done += placed.ok
                if picked.ok and not placed.ok:
                    yield from self._free_hand()
            if not (yield from self._executive.look("Is there room now?")):
                return False
        left = [item for item in self._executive.objects if overlaps(item, box) and not item.get("is_container")]
        self._executive.problems += [("task_incomplete", f"the {name_of(item)} ({item['id']}) is still {words}.") for item in left]
        return not left

    def into_region(self, items: Sequence[Seen], region: str) -> Script:
        """Each of the objects to a free place in a part of the desk."""
        for item in items:
            name, failed = str(item["id"]), CallResult(False, None, "no_free_space", f"there is no free place in the {region} of the desk")
            for x, y in self._places(item, region)[:4]:
                yield planned([Goal(name, "on", TABLE)])
                result = yield from self._carry(name, Spot("on", TABLE, x, y))
                if result is None:
                    self._executive.done += 1
                    self._settle(name, Spot("on", TABLE, x, y))
                    break
                failed = result
                yield from self._executive.look(f"{name} is not there yet.")
            else:
                self._executive.problems.append((failed.code, f"{name}: {failed.message}"))

    def elsewhere(self, items: Sequence[Seen]) -> Script:
        """Each of the objects to another free place."""
        goals = [Goal(str(item["id"]), "on", TABLE) for item in items]
        yield planned(goals)
        for item in items:
            picked = yield from self._executive.take(self._free_hand, str(item["id"]), f"{item['id']} to another place")
            placed = (yield Call("put_aside", {"keep_clear": [list(item["position"][:2])]})) if picked.ok else picked
            self._executive.done += placed.ok
            if not placed.ok:
                self._executive.problems.append((placed.code, f"{item['id']}: {placed.message}"))

    def _places(self, item: Seen, region: str) -> list[tuple[float, float]]:
        """Free places in a region, the roomiest near its middle first."""
        (x0, x1), (y0, y1) = box_of(region)
        places = [(x, y) for x in _steps(x0, x1, 6) for y in _steps(y0, y1, 8) if REACH[0] < math.dist((x, y), BASE) < REACH[1]]
        others = [other for other in self._executive.objects if other["id"] != item["id"] and other.get("relation") != "held"]

        def room(place: tuple[float, float]) -> float:
            return min((math.dist(place, other["position"][:2]) - _radius(other) for other in others), default=1.0) - _radius(item)

        def cost(place: tuple[float, float]) -> float:
            return math.dist(place, ((x0 + x1) / 2, (y0 + y1) / 2)) - 2 * min(room(place), 0.06)

        return sorted((place for place in places if room(place) > 0.015), key=cost)

    # ------------------------------------------------------------ rows

    def row_spots(self, items: Sequence[Seen]) -> dict[str, Spot]:
        """Spots side by side, the first of ``items`` leftmost; where the fewest other objects are in the way. Empty when the row does not fit."""
        widths = [min(float(edge) for edge in item["size"][:2]) for item in items]
        pitch = max(widths) + FINGERS
        names = {str(item["id"]) for item in items}
        others = [other for other in self._executive.objects if other["id"] not in names and str(other.get("support", TABLE)) == TABLE]
        best: tuple[float, list[tuple[float, float]]] | None = None
        for x in ROWS_X:
            for middle in ROWS_Y:
                spots = [(x, middle + pitch * ((len(items) - 1) / 2 - i)) for i in range(len(items))]
                if not all(REACH[0] < math.dist(spot, BASE) < REACH[1] for spot in spots):
                    continue
                taken = sum(_away(spot, other) < max(widths) / 2 + FINGERS for spot in spots for other in others)
                way = sum(math.dist(spot, item["position"][:2]) for spot, item in zip(spots, items, strict=True))
                if best is None or taken + 0.1 * way < best[0]:
                    best = taken + 0.1 * way, spots
        if best is None:
            return {}
        return {str(item["id"]): Spot("on", TABLE, round(x, 4), round(y, 4), 0.0) for item, (x, y) in zip(items, best[1], strict=True)}


def _goal(name: str, spot: Spot) -> Goal:
    exact = (spot.x, spot.y) if spot.support == TABLE and spot.yaw is not None else None
    return Goal(name, spot.relation if spot.relation in ("in", "on") else "on", spot.support, exact)


def _radius(item: Seen) -> float:
    return math.hypot(*(float(edge) for edge in item["size"][:2])) / 2 if item.get("is_container") else max(float(edge) for edge in item["size"][:2]) / 2


def _away(spot: tuple[float, float], item: Seen) -> float:
    """Distance [m] of a spot from an object's outline, 0 within it."""
    dx, dy = spot[0] - float(item["position"][0]), spot[1] - float(item["position"][1])
    turn, (along, across) = float(item.get("yaw") or 0.0), (float(edge) / 2 for edge in item["size"][:2])
    x, y = abs(dx * math.cos(turn) + dy * math.sin(turn)) - along, abs(dy * math.cos(turn) - dx * math.sin(turn)) - across
    return math.hypot(max(x, 0.0), max(y, 0.0))


def _steps(low: float, high: float, count: int) -> list[float]:
    return [round(low + (high - low) * i / (count - 1), 4) for i in range(count)]


def _turned(item: Seen, spot: Spot) -> bool:
    """Whether the object stands turned from how it shall; what is round, seen from above, has no heading."""
    along, across = float(item["size"][0]), float(item["size"][1])
    round_ = item.get("shape") in ("sphere", "cylinder") and abs(along - across) <= SQUARE * max(along, across)
    if spot.yaw is None or item.get("yaw") is None or round_:
        return False
    return heading_error(item["size"], float(item["yaw"]), spot.yaw) > TURNED
