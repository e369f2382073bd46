"""Outlines of what is moved in a video: one picture of a small piece leaves several open, all pictures of it before and after together few."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from deskhand.arms.config import ArmConfig
from deskhand.arms.model import RobotModel
from deskhand.geometry import Array
from deskhand.perception.boards import boards
from deskhand.perception.desk_view import DeskView, view_of
from deskhand.perception.holes import holes_in, without_slack
from deskhand.perception.outline_match import outlines_of
from deskhand.perception.piece_outlines import ALL, likely_outlines
from deskhand.perception.pipeline import Perception
from deskhand.types import Frame, JointState, SceneObject

NEAR = 0.02  # [m] between where a thing is known to be and where a look sees it
APART = 0.05  # times as likely as each outline by itself, from which on a piece and its recess are taken to have the same one
LEAST = 0.005  # likelihood that an outline keeps in a picture that does not show it


@dataclass(frozen=True)
class Recess:
    """A recess of a board: its middle (2,) [m, world], and how likely outlines are."""

    centre: Array
    likely: dict[str, float]


def recesses_in(view: DeskView, items: Sequence[SceneObject]) -> list[Recess]:
    """Recesses of thin boards that are among the objects of a look; one alone may be a mark or a shadow."""
    found: list[Recess] = []
    for whole, _ in boards(items):
        holes = [hole for hole in holes_in(view, whole) if np.isfinite(hole.depth)]
        found += [Recess(hole.centre, dict(outlines_of(without_slack(hole.mask), ALL, wide=True))) for hole in holes if len(holes) > 1]
    return found


class Looks:
    """Looks at frames of one camera, each made once."""

    def __init__(self, frames: Sequence[Frame], joints: JointState, arm: ArmConfig) -> None:
        self._frames, self._joints, self._arm, self._model = frames, joints, arm, RobotModel.load(arm)
        self._seen: dict[int, tuple[DeskView, Sequence[SceneObject]]] = {}

    def at(self, number: int) -> tuple[DeskView, Sequence[SceneObject]]:
        """A frame as perception prepares it, and the objects in it."""
        if number not in self._seen:
            frame = self._frames[number]
            self._seen[number] = view_of(frame, self._joints, self._arm), Perception().detect(frame, self._model, self._joints).objects
        return self._seen[number]

    def outlines(self, places: Sequence[tuple[int, Array]]) -> dict[str, float]:
        """How likely outlines are of a thing that is at a place (3,) [m] in each of some frames (number, place), by the geometric mean over these; empty where
        none shows it.
        """
        told: list[dict[str, float]] = []
        for number, place in places:
            view, items = self.at(number)
            away = [float(np.linalg.norm(item.position - place)) if not item.is_container else np.inf for item in items]
            nearest = int(np.argmin(away)) if away else 0
            likely = likely_outlines(view, items, (nearest,))[nearest] if away and away[nearest] < NEAR else {}
            told += [likely] if likely else []
        names = {name for one in told for name in one}
        return {name: float(np.exp(np.mean([np.log(max(LEAST, one.get(name, 0.0))) for one in told]))) for name in names}


def own_recess(piece: Mapping[str, float], recess: Mapping[str, float]) -> tuple[str, str]:
    """The outlines of a piece and of the recess into which it went: the same one, where that is about as likely as the likeliest of each."""
    best = max(piece, key=lambda name: piece[name]), max(recess, key=lambda name: recess[name])
    same = max({*piece, *recess}, key=lambda name: max(LEAST, piece.get(name, 0.0)) * max(LEAST, recess.get(name, 0.0)))
    together = max(LEAST, piece.get(same, 0.0)) * max(LEAST, recess.get(same, 0.0))
    return (same, same) if together > APART * piece[best[0]] * recess[best[1]] else best
