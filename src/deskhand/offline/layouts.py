"""What arranging instructions come to: groups, rows, changed places, room, what was moved put back. Part of the offline brain's script."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence

from deskhand.agent.moves import Move, Spot, first_origins
from deskhand.language.intents import Clear, Intent, MoveTo, Place, Ref, Row, Shift, Sort, Swap, Undo
from deskhand.language.resolve import Seen, is_receptacle, kind, listing, measure, name_of, order_near, pair, resolve
from deskhand.offline.arranging import Arranging
from deskhand.offline.script import Call, Script, planned
from deskhand.offline.task_executive import TaskExecutive
from deskhand.planning.goals import Goal
from deskhand.planning.room import room_in
from deskhand.world.relations import TABLE

APART = 0.13
"""[m] between the middles of two groups on the desk."""
LAYOUTS = (Sort, Row, Swap, Clear, MoveTo, Shift, Undo)


class Layouts:
    """``do`` is a generator of calls. The desk was looked at before; phrases that fit several objects are settled."""

    def __init__(self, executive: TaskExecutive, tools: Collection[str]) -> None:
        self._executive, self._tools = executive, tools

    def do(self, intent: Intent, moves: Sequence[Move]) -> Script:
        """One intent of :data:`LAYOUTS`, or a place between two objects; ``moves`` are those that can be undone."""
        arranging = Arranging(self._executive)
        before = len(self._executive.problems)
        if isinstance(intent, Undo):
            yield from self._undo(intent, moves, arranging)
        elif isinstance(intent, Clear):
            yield from self._clear(intent, arranging)
        elif isinstance(intent, Sort | Row | Swap | MoveTo | Shift | Place) and (items := self._items(intent.objects)):
            if isinstance(intent, Sort):
                yield from self._sort(intent, items)
            elif isinstance(intent, Row):
                yield from self._row(intent, items, arranging)
            elif isinstance(intent, Swap):
                yield from self._swap(items, arranging)
            elif isinstance(intent, MoveTo):
                yield from arranging.into_region(items, intent.region) if intent.region else arranging.elsewhere(items)
            elif isinstance(intent, Shift):
                yield from arranging.bring({str(item["id"]): _shifted(item, intent) for item in items}, "A little farther.")
            else:
                yield from self._between(intent.target, items, arranging)
        if len(self._executive.problems) == before and not self._executive.done:
            yield planned([], "It is so already.")

    def _items(self, refs: Sequence[Ref]) -> list[Seen]:
        """The objects that phrases name, each once; what is missing becomes a problem."""
        items: list[Seen] = []
        for ref in refs:
            found = resolve(ref, self._executive.objects, "object")
            if found.missing:
                self._problem("unknown_object", f"I see {'only some' if found.objects else 'none'} of '{ref.words}'. I see {listing(self._executive.objects)}.")
                return []
            items += [item for item in found.objects if item not in items]
        return items

    def _problem(self, code: str, text: str) -> None:
        self._executive.problems.append((code, text))

    # ------------------------------------------------------------ groups

    def _sort(self, intent: Sort, items: Sequence[Seen]) -> Script:
        """What is alike into a container of its own while there are enough, else side by side on the desk."""
        groups: dict[str, list[Seen]] = {}
        for item in items:
            groups.setdefault(str(item.get("color")) if intent.by == "color" else kind(item), []).append(item)
        containers = [item for item in self._executive.objects if is_receptacle(item)]
        if intent.contained and len(groups) > len(containers):
            self._problem("impossible", f"there are {len(groups)} groups ({', '.join(groups)}) and {len(containers)} containers: {listing(containers)}.")
            return
        goals = _into_containers(groups, containers) if len(groups) <= len(containers) else _side_by_side(groups)
        heard = yield planned(goals, f"{len(groups)} groups: {', '.join(groups)}")
        if not heard.ok:
            self._problem(heard.code, heard.message)
            return
        self._executive.begin(goals, set())
        yield from self._executive.run()

    # ------------------------------------------------------------ rows and pairs

    def _row(self, row: Row, items: Sequence[Seen], arranging: Arranging) -> Script:
        if len(items) < 2:
            self._problem("impossible", f"a row needs two objects; I found {listing(items)}.")
            return
        sign = 1 if row.up else -1
        if row.by == "color":
            ordered = sorted(items, key=lambda item: (str(item.get("color")), str(item["id"])))
        else:
            ordered = sorted(items, key=lambda item: sign * measure(item, row.by) if row.by else -float(item["position"][1]))
        spots = arranging.row_spots(ordered)
        if not spots:
            self._problem("no_free_space", f"a row of {len(items)} objects does not fit within my reach.")
            return
        yield from arranging.bring(spots, "A row, from left to right: " + ", ".join(spots))

    def _swap(self, items: Sequence[Seen], arranging: Arranging) -> Script:
        if len(items) != 2:
            self._problem("impossible", f"two objects can change places; I found {listing(items)}.")
            return
        spots = [Spot.of(item) for item in items]
        if any(spot.support == item["id"] for spot, item in zip(spots, reversed(items), strict=True)):
            self._problem("impossible", "one of them lies on the other.")
            return
        first, second = (str(item["id"]) for item in items)
        yield from arranging.bring({first: _taking(spots[1], spots[0]), second: _taking(spots[0], spots[1])}, f"{first} and {second} change places.")

    def _between(self, target: Ref, items: Sequence[Seen], arranging: Arranging) -> Script:
        names = {item["id"] for item in items}
        ends = pair(target, [item for item in self._executive.objects if item["id"] not in names])
        if len(ends) != 2 or len(items) != 1:
            self._problem("unknown_object", f"I do not see what it shall stand between ({target.words}). I see {listing(self._executive.objects)}.")
            return
        (ax, ay), (bx, by) = (item["position"][:2] for item in ends)
        free = math.hypot(bx - ax, by - ay) - sum(min(item["size"][:2]) for item in ends) / 2 - min(items[0]["size"][:2])
        if free < 0.01:
            self._problem("no_free_space", f"between {' and '.join(str(item['id']) for item in ends)} there is no room for the {name_of(items[0])}.")
            return
        spot = Spot("on", TABLE, round((ax + bx) / 2, 4), round((ay + by) / 2, 4), math.atan2(by - ay, bx - ax) + math.pi / 2)
        yield from arranging.bring({str(items[0]["id"]): _turned(spot)}, f"Half-way between {ends[0]['id']} and {ends[1]['id']}")

    # ------------------------------------------------------------ room, and back

    def _clear(self, intent: Clear, arranging: Arranging) -> Script:
        box = room_in(intent)
        words = f"in the way in the {intent.region}"
        if not intent.to:
            yield from arranging.clear(box, words)
            return
        inside = [
            item
            for item in self._executive.objects
            if not item.get("is_container") and all(box[axis][0] < item["position"][axis] < box[axis][1] for axis in (0, 1))
        ]
        yield from arranging.into_region(inside, intent.to)

    def _undo(self, intent: Undo, moves: Sequence[Move], arranging: Arranging) -> Script:
        moves = moves[-1:] if intent.last else moves
        if intent.objects:
            wanted = {item["id"] for item in self._items(intent.objects)}
            moves = [move for move in moves if move.name in wanted]
        if moves:
            yield from arranging.bring(first_origins(moves), "Back to where it was: " + ", ".join(first_origins(moves)))
        elif "undo_last_act" in self._tools and not intent.objects:
            heard = yield Call("undo_last_act", {}, "I know of no move of this session; the robot may.")
            self._executive.done += heard.ok
            if not heard.ok:
                self._problem(heard.code, heard.message)
        elif not self._executive.problems:
            self._problem("impossible", "I have moved nothing that could be put back.")


def _into_containers(groups: dict[str, list[Seen]], containers: Sequence[Seen]) -> list[Goal]:
    """A container for each group: one where most of it lies already, else the nearest that is left; large groups choose first."""
    free = list(containers)
    goals: list[Goal] = []
    for items in sorted(groups.values(), key=lambda items: -len(items)):
        middle = {"position": [sum(float(item["position"][axis]) for item in items) / len(items) for axis in (0, 1)]}
        inside = {str(box["id"]): sum(str(item.get("support")) == box["id"] for item in items) for box in free}
        chosen = max(order_near(free, middle), key=lambda box: inside[str(box["id"])])
        free.remove(chosen)
        goals += [Goal(str(item["id"]), "in", str(chosen["id"])) for item in items]
    return goals


def _side_by_side(groups: dict[str, list[Seen]]) -> list[Goal]:
    """Each group about one of its own objects that stays: those that are far from each other."""
    anchors: list[Seen] = []
    goals: list[Goal] = []
    for items in sorted(groups.values(), key=len):
        anchor = max(
            items, key=lambda item: (min((math.dist(item["position"][:2], other["position"][:2]) for other in anchors), default=APART), str(item["id"]))
        )
        anchors.append(anchor)
        goals += [Goal(str(item["id"]), "near", str(anchor["id"])) for item in items if item is not anchor]
    return goals


def _taking(place: Spot, own: Spot) -> Spot:
    """Another one's place, in one's own turn."""
    return Spot(place.relation, place.support, place.x, place.y, own.yaw)


def _turned(spot: Spot) -> Spot:
    """With its turn within half a turn."""
    yaw = None if spot.yaw is None else math.remainder(spot.yaw, 2 * math.pi)
    return Spot(spot.relation, spot.support, spot.x, spot.y, yaw)


def _shifted(item: Seen, intent: Shift) -> Spot:
    here = Spot.of(item)
    yaw = float(item.get("yaw") or 0.0) + intent.turn if intent.turn else here.yaw
    return _turned(Spot("on", TABLE, round(here.x + intent.by[0], 4), round(here.y + intent.by[1], 4), yaw))
