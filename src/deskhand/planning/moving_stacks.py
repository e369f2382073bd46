"""Orders of single moves that turn piles into other piles when only what lies on top can be taken, under rules of what may lie on what."""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from deskhand.errors import DeskhandError

State = tuple[tuple[str, ...], ...]
MayLie = Callable[[str, str], bool]
"""Whether the first may lie on the second."""
MOST_STATES = 400_000


@dataclass(frozen=True)
class PileMove:
    """Take ``item`` from the top of ``origin`` and put it on top of ``target`` (names of places)."""

    item: str
    origin: str
    target: str


def order_of_moves(start: Mapping[str, Sequence[str]], goal: Mapping[str, Sequence[str]], may_lie: MayLie, room: Mapping[str, int]) -> list[PileMove]:
    """The fewest moves from piles to piles, both given as place -> items from the bottom up; ``room``: place -> how many items at most.

    A* with the number of items that must move at least once as its bound, which never is too high, so that the answer is optimal.

    Raises:
        DeskhandError: ``invalid_input`` when the piles do not hold the same items or break the rules, ``impossible`` when the goal cannot be reached,
            ``limit_exceeded`` when there are too many ways.
    """
    places = list(start)
    _check(start, goal, may_lie, room)
    first: State = tuple(tuple(start[place]) for place in places)
    last: State = tuple(tuple(goal.get(place, ())) for place in places)
    count = itertools.count()
    best: dict[State, int] = {first: 0}
    came: dict[State, tuple[State, PileMove]] = {}
    queue = [(_misplaced(first, last), next(count), first)]
    while queue:
        _, _, state = heapq.heappop(queue)
        if state == last:
            return _path(came, state)
        if len(best) > MOST_STATES:
            raise DeskhandError("limit_exceeded", f"more than {MOST_STATES} states were looked at.", hint="Ask for fewer items or places at a time.")
        for move, new in _moves(state, places, may_lie, room):
            cost = best[state] + 1
            if cost < best.get(new, 1 << 30):
                best[new], came[new] = cost, (state, move)
                heapq.heappush(queue, (cost + _misplaced(new, last), next(count), new))
    raise DeskhandError("impossible", "the goal cannot be reached by moving what lies on top under these rules.", hint="Give another free place.")


def _check(start: Mapping[str, Sequence[str]], goal: Mapping[str, Sequence[str]], may_lie: MayLie, room: Mapping[str, int]) -> None:
    if unknown := set(goal) - set(start):
        raise DeskhandError("invalid_input", f"the goal names places that the start does not: {sorted(unknown)}.", hint="Name empty places in the start too.")
    items = [[item for pile in piles.values() for item in pile] for piles in (start, goal)]
    if len(set(items[0])) != len(items[0]) or sorted(items[0]) != sorted(items[1]):
        raise DeskhandError("invalid_input", "start and goal must hold the same items, each once.")
    for text, piles in (("start", start), ("goal", goal)):
        for place, pile in piles.items():
            for below, above in itertools.pairwise(pile):
                if not may_lie(above, below):
                    raise DeskhandError("invalid_input", f"in the {text} {above} lies on {below}, which the rules forbid.")
            if len(pile) > room.get(place, len(pile)):
                raise DeskhandError("invalid_input", f"in the {text} {place} holds {len(pile)} items; it has room for {room[place]}.")


def _moves(state: State, places: Sequence[str], may_lie: MayLie, room: Mapping[str, int]) -> list[tuple[PileMove, State]]:
    found = []
    for a, b in itertools.permutations(range(len(places)), 2):
        if not state[a] or len(state[b]) >= room.get(places[b], 1 << 30):
            continue
        item = state[a][-1]
        if state[b] and not may_lie(item, state[b][-1]):
            continue
        new = list(state)
        new[a], new[b] = state[a][:-1], (*state[b], item)
        found.append((PileMove(item, places[a], places[b]), tuple(new)))
    return found


def _misplaced(state: State, last: State) -> int:
    """Items that do not lie on what they shall lie on, all the way down: each moves at least once."""
    total = 0
    for pile, wanted in zip(state, last, strict=True):
        right = sum(1 for _ in itertools.takewhile(lambda pair: pair[0] == pair[1], zip(pile, wanted, strict=False)))
        total += len(pile) - right
    return total


def _path(came: Mapping[State, tuple[State, PileMove]], state: State) -> list[PileMove]:
    moves = []
    while state in came:
        state, move = came[state]
        moves.append(move)
    return moves[::-1]
