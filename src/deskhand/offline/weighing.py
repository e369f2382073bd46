"""Weighing: objects onto the pans and off again until it is known which is heavier, which is the odd one, or how many grams one has. Part of the script."""

from __future__ import annotations

import itertools
from collections.abc import Generator, Sequence
from typing import Any

from deskhand.errors import DeskhandError
from deskhand.language.resolve import listing, resolve
from deskhand.language.weighing import Weigh
from deskhand.offline.script import Call, CallResult, DecisionScript, ResultScript, Script, planned
from deskhand.offline.task_executive import TaskExecutive
from deskhand.planning.goals import Goal

TRIES = 3  # so often one object is brought to a pan
MOST = 9  # weighings
FULL_WAY = 22.0  # [mm] from which on a pan may stand on its stop, and the reading is a bound


class Weighing:
    """One :class:`Weigh`. Methods that act are generators of calls."""

    def __init__(self, pursuit: TaskExecutive, answers: list[str]) -> None:
        self._pursuit, self._answers = pursuit, answers
        self._reading: dict[str, Any] = {}
        self.made: list[dict[str, Any]] = []

    def weigh(self, wish: Weigh) -> Script:
        """Find it, and bring it where it shall go; what could not be done is among the problems of the pursuit."""
        if not (yield from self._pursuit.look("I look for the scales and for what is to be weighed.")) or not (yield from self._read("Where are the pans?")):
            return
        things = self._resolved(wish)
        if wish.kind == "measure":
            yield from self._measure(things[0], wish)
            return
        assert wish.target is not None
        target = resolve(wish.target, self._pursuit.objects, "into").objects
        if not target:
            raise DeskhandError("unknown_object", f"I see no {wish.target.words.removeprefix('the ')}. I see {listing(self._pursuit.objects)}.")
        found = yield from (self._heavier(things, wish.way) if wish.kind == "compare" else self._odd_one(things, wish.way))
        if found:
            goal = Goal(found, "in", str(target[0]["id"]))
            yield from self._pursuit.look("Where is everything now?")
            heard = yield planned([goal], f"The scales say that it is {found}.")
            if not heard.ok:
                self._pursuit.problems.append((heard.code, heard.message))
                return
            self._pursuit.begin([goal], set())
            yield from self._pursuit.run()

    def _resolved(self, wish: Weigh) -> list[str]:
        parts = set(self._reading["parts"])
        loose = [item for item in self._pursuit.objects if item["id"] not in parts]
        found = resolve(wish.things, loose, "thing")
        if found.missing or len(found.objects) < (1 if wish.kind == "measure" else 2):
            raise DeskhandError("unknown_object", f"I do not see {wish.things.words}. I see {listing(self._pursuit.objects)}.")
        return [str(item["id"]) for item in found.objects]

    # ------------------------------------------------------------ what is asked

    def _heavier(self, things: Sequence[str], way: str) -> Generator[Call, CallResult, str]:
        if not (yield from self._set_pans(things[:1], things[1:2])):
            return ""
        lower = self._reading["lower"]
        if lower == "level":
            self._pursuit.problems.append(("impossible", "The scales stay level: both weigh the same, as far as they tell."))
            return ""
        down, up = (things[0], things[1]) if lower == "left" else (things[1], things[0])
        self._answers.append(f"{down} is heavier than {up}.")
        return down if way == "heavier" else up

    def _odd_one(self, things: Sequence[str], way: str) -> Generator[Call, CallResult, str]:
        for _ in range(MOST):
            advice = yield Call("plan_weighings", {"candidates": list(things), "weighings": self.made, "differs": way or "unknown"}, "What shall I weigh next?")
            if not advice.ok:
                self._pursuit.problems.append((advice.code, advice.message))
                return ""
            if advice.data["found"]:
                self._answers.append(f"{advice.data['found']} is {advice.data['differs']} than the others.")
                return advice.data["found"]
            if not (yield from self._set_pans(advice.data["left"], advice.data["right"])):
                return ""
            self.made.append({"left": advice.data["left"], "right": advice.data["right"], "lower": self._reading["lower"]})
        self._pursuit.problems.append(("task_incomplete", "I have weighed often, and do not know yet."))
        return ""

    def _measure(self, thing: str, wish: Weigh) -> Script:
        """The thing on the left pan, weights on the right until the pans hang free: the weights and what is left of the way tell the grams."""
        weights = {}
        for ref, grams in wish.known:
            found = resolve(ref, [item for item in self._pursuit.objects if item["id"] not in self._reading["parts"]], "thing").objects
            if not found:
                raise DeskhandError("unknown_object", f"I see no {ref.words.removeprefix('the ')}. I see {listing(self._pursuit.objects)}.")
            weights[str(found[0]["id"])] = grams
        sums = sorted((sum(weights[name] for name in names), names) for size in (0, 1, 2) for names in itertools.combinations(weights, size))
        low, high, tried = 0.0, float("inf"), 0
        while sums and tried < MOST:
            fitting = [item for item in sums if low - FULL_WAY / wish.per_gram < item[0] < high + FULL_WAY / wish.per_gram]
            if not fitting:
                break
            total, names = fitting[len(fitting) // 2]
            tried += 1
            if not (yield from self._set_pans([thing], names)):
                return
            far = float(self._reading["difference_mm"]) * {"left": 1, "right": -1, "level": 0}[self._reading["lower"]]
            if abs(far) < FULL_WAY:
                grams = total + far / wish.per_gram
                self._answers.append(f"It weighs {grams:.0f} g.")
                return
            low, high = (max(low, total), high) if far > 0 else (low, min(high, total))
            sums = [item for item in sums if item[1] != names and low < item[0] < high]
        self._pursuit.problems.append(
            ("impossible", f"With these weights I cannot tell: it weighs more than {low:.0f} g" + (f" and less than {high:.0f} g." if high < 1e9 else "."))
        )

    # ------------------------------------------------------------ pans

    def _read(self, thought: str = "") -> DecisionScript:
        heard = yield Call("read_balance", {}, thought)
        if not heard.ok:
            yield Call("move_home", {}, "The arm may be in the way.")
            heard = yield Call("read_balance", {})
        if not heard.ok:
            self._pursuit.problems.append((heard.code, heard.message))
            return False
        self._reading = dict(heard.data)
        return True

    def _set_pans(self, left: Sequence[str], right: Sequence[str]) -> DecisionScript:
        """These on the pans and nothing else, and a reading of it; False when that failed."""
        wanted = {**dict.fromkeys(left, "left"), **dict.fromkeys(right, "right")}
        for _ in range(TRIES):
            here = {name: side for side in ("left", "right") for name in self._reading[side]["on"]}
            wrong = [name for name, side in here.items() if wanted.get(name) != side]
            missing = [name for name in wanted if here.get(name) != wanted[name]]
            if not (wrong or missing):
                return True
            for name in [*(one for one in wrong if one not in wanted), *(one for one in wrong if one in wanted)]:
                if not (yield from self._move(name, "")).ok:
                    break
            for name in missing:
                if not (yield from self._move(name, wanted[name])).ok:
                    break
            if not (yield from self._read("What do the scales say?")):
                return False
        here = {name: side for side in ("left", "right") for name in self._reading[side]["on"]}
        if here == wanted:
            return True
        self._pursuit.problems.append(("task_incomplete", f"I did not get {', '.join(wanted)} onto the pans and the rest off them."))
        return False

    def _move(self, name: str, side: str) -> ResultScript:
        """One object onto a pan, or with no side off it."""
        picked: CallResult = yield Call("pick", {"object_id": name}, f"{name} onto the {side} pan" if side else f"{name} off the pan")
        if not picked.ok:
            return picked
        put: CallResult = yield (Call("place_on_pan", {"side": side}) if side else Call("put_aside", {}))
        if not put.ok:
            yield Call("put_aside", {}, "It does not go there; aside with it.")
        return put
