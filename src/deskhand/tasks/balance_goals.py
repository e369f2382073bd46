"""What must be true at the end of balance_scale: on the truth of objects and joints, and on what the robot said. A predicate says why it does not hold."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from deskhand.geometry import inverse
from deskhand.sim.fixtures.spec import FixtureSpec, joint_name
from deskhand.sim.spec import Truth, TruthObject
from deskhand.tasks.placement import FLOOR, is_inside, outline

SUNK, RISEN = 0.002, 0.008  # [m] below and above a pan's plate between which the underside of what lies on it is
ON_DESK = 0.006  # [m] above the desk up to which something lies on it
IN_LINE = 0.015  # [m] that the middles of a row may be off its line
NEXT = 0.12  # [m] between the middles of neighbours in a row, at most
_GRAMS = re.compile(r"(\d+(?:\.\d+)?)\s?(?:g|grams?)\b", re.IGNORECASE)


@dataclass(frozen=True)
class BalanceGoal:
    """What a seed asks for; empty fields ask for nothing.

    Attributes:
        chosen: the object that belongs in the tray, none of the other ``candidates`` does.
        row: objects by weight, lightest first. ``left_to_right``: whether the lightest has to be at the robot's left.
        on_left, on_right: objects that lie on the pans. ``any_right``: of which at least one lies on the right pan.
        level: whether the pans have to be level, [m] between them at most; 0: it does not matter.
        grams: what an object weighs, and by how much the answer may be off.
        weighings: so many are allowed; 0: any number.
    """

    candidates: tuple[str, ...]
    chosen: str = ""
    row: tuple[str, ...] = ()
    left_to_right: bool = False
    on_left: tuple[str, ...] = ()
    on_right: tuple[str, ...] = ()
    any_right: tuple[str, ...] = ()
    level: float = 0.0
    grams: tuple[float, float] | None = None
    weighings: int = 0


@dataclass(frozen=True)
class BalanceDesk:
    """A world at its end, as predicates see it; ``walls``: of containers, by name."""

    fixture: FixtureSpec
    walls: Mapping[str, float]
    end: Truth
    summary: str = ""
    success: bool = False
    _pans: dict[str, str] = field(default_factory=dict)

    def pan(self, name: str) -> str:
        """``left`` or ``right`` where it lies on that pan, or on what does; else empty."""
        if name not in self._pans:
            self._pans[name] = pan_of(self.end.get(name), self.fixture, self.end)
        return self._pans[name]

    def inside(self, name: str) -> str:
        """The container that it lies in, or empty."""
        item = self.end.get(name)
        return next((box for box, wall in self.walls.items() if is_inside(item, self.end.get(box), wall)), "")


def pan_of(item: TruthObject, fixture: FixtureSpec, truth: Truth) -> str:
    """The pan of the balance ``fixture`` that ``item`` rests on, nobody holding it: ``left``, ``right``, or empty."""
    if item.name in truth.in_hand:
        return ""
    place = (inverse(fixture.pose) @ item.pose)[:3, 3]
    bottom = float(outline(item)[:, 2].min()) - float(fixture.pose[2, 3])
    for side, sign in (("left", 1.0), ("right", -1.0)):
        plate = fixture.size[2] - truth.joints[joint_name(fixture.name, side)]
        over = max(abs(place[0]), abs(place[1] - sign * fixture.apart / 2)) <= fixture.pan / 2
        if over and -SUNK <= bottom - plate <= RISEN:
            return side
    return ""


def tilt_of(fixture: FixtureSpec, truth: Truth) -> float:
    """By how much the left pan is below the right one [m]."""
    return truth.joints[joint_name(fixture.name, "left")] - truth.joints[joint_name(fixture.name, "right")]


def unmet(desk: BalanceDesk, goal: BalanceGoal) -> dict[str, str]:
    """Predicate -> why it does not hold, empty when it does; one entry for each object that the goal asks for, and for what goes without saying."""
    found = {"dropped": _dropped(desk)}
    if goal.chosen:
        found["chosen"] = _chosen(desk, goal)
    if goal.row:
        found["row"] = _row(desk, goal)
    if goal.on_left or goal.on_right or goal.any_right:
        found["pans"] = _pans(desk, goal)
    if goal.level:
        found["level"] = _level(desk, goal)
    if goal.grams is not None:
        found["grams"] = _grams(desk, goal.grams)
    return found


def _dropped(desk: BalanceDesk) -> str:
    fallen = [item.name for item in desk.end.objects if item.pose[2, 3] < FLOOR]
    return f"{', '.join(fallen)} fell off the desk" if fallen else ""


def _chosen(desk: BalanceDesk, goal: BalanceGoal) -> str:
    wrong = [name for name in goal.candidates if name != goal.chosen and desk.inside(name)]
    if not desk.inside(goal.chosen):
        return f"{goal.chosen} is not in the tray" + (f", {', '.join(wrong)} is" if wrong else "")
    return f"{', '.join(wrong)} is in the tray, too" if wrong else ""


def _row(desk: BalanceDesk, goal: BalanceGoal) -> str:
    items = [desk.end.get(name) for name in goal.row]
    for item in items:
        if item.name in desk.end.in_hand or float(outline(item)[:, 2].min()) > ON_DESK or desk.inside(item.name):
            return f"{item.name} does not lie on the desk"
    places = np.array([item.pose[:2, 3] for item in items])
    middle = places.mean(axis=0)
    way = np.linalg.svd(places - middle)[2][0]
    if (off := float(np.abs((places - middle) @ [-way[1], way[0]]).max())) > IN_LINE:
        return f"they are up to {1000 * off:.0f} mm off a line"
    along = (places - middle) @ way
    steps = np.diff(along)
    if not (np.all(steps > 0) or np.all(steps < 0)):
        order = [goal.row[int(number)] for number in np.argsort(along)]
        return f"by weight it is {', '.join(goal.row)}, and they lie as {', '.join(order)}"
    if np.abs(steps).max() > NEXT:
        return f"neighbours are {1000 * np.abs(steps).max():.0f} mm apart"
    if goal.left_to_right and not np.all(np.diff(places[:, 1]) < 0):
        return "the lightest is not at the left"
    return ""


def _pans(desk: BalanceDesk, goal: BalanceGoal) -> str:
    wanted = {**dict.fromkeys(goal.on_left, "left"), **dict.fromkeys(goal.on_right, "right")}
    wrong = [f"{name} does not lie on the {side} pan" for name, side in wanted.items() if desk.pan(name) != side]
    if goal.any_right and not any(desk.pan(name) == "right" for name in goal.any_right):
        wrong.append("no weight lies on the right pan")
    return "; ".join(wrong)


def _level(desk: BalanceDesk, goal: BalanceGoal) -> str:
    tilt = tilt_of(desk.fixture, desk.end)
    if held := [name for name in desk.end.in_hand if name in (*goal.candidates, *goal.on_left, *goal.on_right)]:
        return f"{', '.join(held)} is in the gripper"
    side = "left" if tilt > 0 else "right"
    return "" if abs(tilt) <= goal.level else f"the {side} pan is {1000 * abs(tilt):.1f} mm lower"


def _grams(desk: BalanceDesk, wanted: tuple[float, float]) -> str:
    said = {float(found) for found in _GRAMS.findall(desk.summary)}
    if not desk.success or len(said) != 1:
        return f"it says {'no weight' if not said else 'several weights'}" if desk.success else "it gives no answer"
    (answer,) = said
    return "" if abs(answer - wanted[0]) <= wanted[1] else f"it says {answer:g} g, and it is {wanted[0]:.1f} g"


def weighings_allowed(count: int) -> int:
    """By which one odd object among ``count`` has to be found: one more than log3 of the 2 count cases, rounded up."""
    return int(np.ceil(np.log(2 * count) / np.log(3) - 1e-9)) + 1


def named(names: Sequence[str]) -> str:
    """``a, b and c``."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
