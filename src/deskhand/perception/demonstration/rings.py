"""Demonstrations with rings on pegs: at each rest it is seen which ring is on which peg, and one that has changed its peg was moved."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from deskhand.errors import DeskhandError
from deskhand.geometry import Array
from deskhand.perception.color import name_color
from deskhand.perception.demonstration.watched import Watched
from deskhand.perception.desk_view import DeskView
from deskhand.perception.pegs import Peg, Ring, find_peg_stands
from deskhand.perception.ranks import row_ranks
from deskhand.types import Frame
from deskhand.types.demonstration import Role, Step

ALIKE = 0.12  # between the shares of the primary colours of one ring in two frames
NEAR = 0.02  # [m] between a peg in two frames
State = dict[str, int]
"""The number of the peg of each ring, by its colour."""


def watch_rings(view: DeskView, frames: Sequence[Frame]) -> Watched:
    """The steps between frames at rest, all taken by one camera; ``view``: the first of them.

    Raises:
        DeskhandError: ``invalid_input`` where nothing is done, or it is not seen which end of a row of pegs is the lighter one.
    """
    views = [_as_seen(view, frame) for frame in frames]
    row = _row([_pegs(one, []) for one in views])
    if len(row) < 2:
        raise DeskhandError("invalid_input", f"the video shows {len(row)} pegs; a row needs two.")
    looks = [_pegs(one, row) for one in views]
    lightness = np.array([[_at(look, place, "lightness", np.nan) for place in row] for look in looks], dtype=float)
    seen = np.isfinite(lightness).any(axis=0)
    ranks = row_ranks([float(np.nanmedian(lightness[:, number])) if seen[number] else np.nan for number in range(len(row))])
    if not all(ranks):
        raise DeskhandError("invalid_input", "the video does not show which of the pegs are lighter and which are darker.")
    rings = [ring for peg in looks[0] for ring in peg.rings]
    states = [_state(look, row, rings) for look in looks]
    known = {ring.color for ring in rings}
    color = name_color(np.median([peg.rgb for look in looks for peg in look if peg.rgb], axis=0).astype(float))
    steps, shares = [], []
    for before, after in itertools.pairwise(states):
        moved = [ring for ring in after if ring in before and before[ring] != after[ring]]
        steps += [Step(Role("ring", ring), "on", (Role("peg", color, ranks[after[ring]]),)) for ring in moved]
        shares.append((len(set(before) & set(after)) / len(known)) / max(1, len(moved)) if moved else 0.0)
    if not steps:
        raise DeskhandError("invalid_input", "no ring changes its peg in the video.")
    return Watched(tuple(steps), round(min(shares), 3), len(frames))


def _as_seen(view: DeskView, frame: Frame) -> DeskView:
    """A later frame of the same camera, of whose points those above the table that are not the robot's are told by their height."""
    level = replace(frame, world_T_camera=view.frame.world_T_camera)
    points = level.points()
    with np.errstate(invalid="ignore"):
        objects = (points[..., 2] > LOW) & ~view.robot
    return replace(view, frame=level, points=points, valid=np.isfinite(level.depth), objects=objects)


LOW = 0.004  # [m] above the table, from which on a point may be of a stand


def _pegs(view: DeskView, known: Sequence[Array]) -> list[Peg]:
    return [peg for stand in find_peg_stands(view, known) for peg in stand.pegs]


def _row(looks: Sequence[Sequence[Peg]]) -> list[Array]:
    """Where pegs (2,) [m] are in most of the frames, along their row: what one frame alone shows as a peg is none."""
    places: list[list[Array]] = []
    for peg in (peg for look in looks for peg in look):
        near = [one for one in places if np.linalg.norm(np.mean(one, axis=0) - peg.position) < NEAR]
        if not near:
            near = [[]]
            places += near
        near[0].append(peg.position)
    found = [np.asarray(np.median(one, axis=0)) for one in places if len(one) > len(looks) / 2]
    if len(found) < 2:
        return found
    along = np.linalg.svd(np.array(found) - np.mean(found, axis=0))[2][0]
    return sorted(found, key=lambda place: float(place @ along))


def _at(pegs: Sequence[Peg], place: Array, name: str, default: float) -> float:
    near = [peg for peg in pegs if np.linalg.norm(peg.position - place) < NEAR]
    return float(getattr(near[0], name)) if near else default


def _state(pegs: Sequence[Peg], row: Sequence[Array], known: Sequence[Ring]) -> State:
    """Rings keep the names that they have in the first frame: a shadow changes a name, but hardly the shares of the primary colours."""
    found: State = {}
    for peg in pegs:
        number = int(np.argmin([np.linalg.norm(peg.position - place) for place in row]))
        for ring in peg.rings:
            if np.linalg.norm(peg.position - row[number]) < NEAR:
                apart = [float(np.linalg.norm(ring.shares - other.shares)) for other in known]
                if min(apart) < ALIKE:
                    found[known[int(np.argmin(apart))].color] = number
    return found
