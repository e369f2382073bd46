"""Typed questions to the memory: which objects, by what they are, how they stood to others, and when."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from deskhand.errors import DeskhandError
from deskhand.language.lexicon import color_of, kind_of_label
from deskhand.types import SceneObject
from deskhand.world.history.reader import MemoryReader, scene_of
from deskhand.world.history.records import PRESENT, Moment, State
from deskhand.world.relations import RELATIONS, TABLE
from deskhand.world.spatial import relation_holds

WhenKind = Literal["now", "before", "first", "last", "ever", "at", "before_event", "after_event"]
WHEN: tuple[str, ...] = ("now", "before", "first", "last", "ever")


@dataclass(frozen=True)
class Kinds:
    """What an object is; an empty field is anything. Words are the lexicon's: a mug is a cup, grey is gray."""

    ids: frozenset[str] = frozenset()
    labels: frozenset[str] = frozenset()
    colors: frozenset[str] = frozenset()
    shapes: frozenset[str] = frozenset()
    container: bool | None = None

    def fits(self, item: SceneObject) -> bool:
        """Whether ``item`` is such an object."""
        labels = {kind_of_label(label) for label in self.labels} | self.labels
        return (
            (not self.ids or item.id in self.ids)
            and (not labels or item.label in labels or kind_of_label(item.label) in labels)
            and (not self.colors or color_of(item.color) in {color_of(color) for color in self.colors})
            and (not self.shapes or item.shape in self.shapes)
            and self.container in (None, item.is_container)
        )


@dataclass(frozen=True)
class When:
    """The time that is asked about.

    Attributes:
        kind: ``now``; ``before``: at an earlier time than now, objects for which it no longer holds first; ``first``: at the first look of the
            newest session that has one; ``last``: the last time that it was so, which may be now; ``ever``: every time, newest first;
            ``at``: at ROS time ``stamp`` [s]; ``before_event``, ``after_event``: right before or after the last event of one of ``events``
            of an object that fits ``of``.
    """

    kind: WhenKind = "now"
    stamp: float = 0.0
    events: frozenset[str] = frozenset()
    of: Kinds = Kinds()


@dataclass(frozen=True)
class Query:
    """Objects that fit ``what`` and, with ``relation`` (a word of world/spatial.py), stand so to ``target`` (None: the table).

    ``seen``: only while they were seen, not while they were taken to be hidden somewhere.
    """

    what: Kinds = Kinds()
    relation: str = ""
    target: Kinds | None = None
    when: When = When()
    seen: bool = False


@dataclass(frozen=True)
class Match:
    """An object that fits, how it was, and from when until when (None: still) that held; ``target_id`` is what it stood in relation to."""

    state: State
    since: Moment
    until: Moment | None
    target_id: str = ""
    reason: str = ""

    @property
    def object(self) -> SceneObject:
        """As it was then."""
        return self.state.object


def ask(memory: MemoryReader, query: Query, limit: int = 50) -> list[Match]:
    """The objects that fit, newest first, each once (with ``ever``: each time it was so).

    Raises:
        DeskhandError: ``invalid_input`` for an unknown relation, or a time before the memory's first; ``memory_busy``, ``memory_broken``.
    """
    if query.relation and query.relation not in RELATIONS:
        raise DeskhandError("invalid_input", f"there is no relation {query.relation!r}; valid: {', '.join(RELATIONS)}.")
    kind = query.when.kind
    if kind in ("before", "last", "ever"):
        periods = _periods(memory, query)
        if kind != "ever":
            periods = _once(_former(periods, query.relation) if kind == "before" else periods)
        return [
            Match(item.state, memory.moment(item.begun), memory.moment(item.ended) if item.ended is not None else None, item.target, item.reason)
            for item in periods[:limit]
        ]
    moment = moment_of(memory, query.when)
    if moment is None:
        return []
    states = memory.states_at(moment.id)
    return [match for state in states if (match := _match(memory, query, state, states, moment)) is not None][:limit]


# ---------------------------------------------------------------- one moment


def moment_of(memory: MemoryReader, when: When) -> Moment | None:
    """The one moment that is asked about; None when there is none (not for ``before``, ``last`` and ``ever``).

    Raises:
        DeskhandError: ``invalid_input`` for a time before the memory's first.
    """
    if when.kind == "now":
        return memory.last_moment()
    if when.kind == "first":
        return memory.first_look()
    if when.kind == "at":
        found = memory.moment_at(when.stamp)
        if found is None:
            raise DeskhandError("invalid_input", f"nothing is remembered of ROS time {when.stamp:.1f} s.", hint="The memory of this session begins later.")
        return found
    ids = {state.object_id for state in memory.all_states() if when.of.fits(state.object)}
    events = memory.events(ids, when.events or None, limit=1, newest_first=True)
    if not events:
        return None
    return events[0].moment if when.kind == "after_event" else memory.moment_before(events[0].moment.id)


def _match(memory: MemoryReader, query: Query, state: State, states: Sequence[State], moment: Moment) -> Match | None:
    if not _counts(query, state):
        return None
    until = memory.moment(state.ended) if state.ended is not None else None
    if not query.relation:
        return Match(state, memory.moment(state.begun), until)
    held = _holds(memory, query, state, states, moment.id)
    if held is None:
        return None
    since = max(state.begun, *(other.begun for other in states if other.object_id in (state.object_id, held[0])))
    return Match(state, memory.moment(since), until, *held)


def _counts(query: Query, state: State) -> bool:
    return query.what.fits(state.object) and state.status in ({"seen"} if query.seen else PRESENT)


def _holds(memory: MemoryReader, query: Query, state: State, states: Iterable[State], moment: int) -> tuple[str, str] | None:
    """(id of the target, why) when the relation held at this moment."""
    if state.status == "held" or not state.object.support:
        return None  # where it was then is not known
    targets = [None] if query.target is None else [other.object for other in states if other.status in PRESENT and query.target.fits(other.object)]
    for target in targets:
        if target is not None and target.id == state.object_id:
            continue
        # "in" asks what carries what carries it; the others are about the two alone
        scene = memory.scene_at(moment) if query.relation == "in" else scene_of((state.object, *([target] if target is not None else [])), 0.0)
        holds, reason = relation_holds(scene, state.object, query.relation, target)
        if holds:
            return target.id if target is not None else TABLE, reason
    return None


# ---------------------------------------------------------------- all of time


@dataclass(frozen=True)
class _Period:
    """A time in which it was so, by moments' ids."""

    state: State
    begun: int
    ended: int | None
    target: str = ""
    reason: str = ""


def _periods(memory: MemoryReader, query: Query) -> list[_Period]:
    """Every period in which it was so, newest first."""
    everything = memory.all_states()
    periods: list[_Period] = []
    for state in everything:
        if not _counts(query, state):
            continue
        if not query.relation:
            periods.append(_Period(state, state.begun, state.ended))
            continue
        for begun, ended, others in _spans(state, everything, query):
            held = _holds(memory, query, state, others, begun)
            if held:
                periods.append(_Period(state, begun, ended, *held))
    return sorted(_joined(periods) if query.relation else periods, key=lambda period: period.begun, reverse=True)


def _spans(state: State, everything: Sequence[State], query: Query) -> list[tuple[int, int | None, list[State]]]:
    """The life of a state, cut where a state of a possible target begins or ends, with the targets' states of each part."""
    if query.target is None:
        return [(state.begun, state.ended, [])]
    end = float("inf") if state.ended is None else state.ended
    others = [
        other
        for other in everything
        if other.begun < end and (other.ended is None or other.ended > state.begun) and other.object_id != state.object_id and query.target.fits(other.object)
    ]
    cuts = sorted({state.begun, *(edge for other in others for edge in (other.begun, other.ended) if edge is not None and state.begun < edge < end)})
    ends: list[int | None] = [*cuts[1:], state.ended]
    return [
        (begun, until, [other for other in others if other.begun <= begun and (other.ended is None or other.ended > begun)])
        for begun, until in zip(cuts, ends, strict=True)
    ]


def _joined(periods: list[_Period]) -> list[_Period]:
    """Parts that follow each other as one period; its state is the latest."""
    joined: list[_Period] = []
    for part in sorted(periods, key=lambda part: (part.state.object_id, part.target, part.begun)):
        last = joined[-1] if joined else None
        follows = last is not None and (last.state.object_id, last.target, last.ended) == (part.state.object_id, part.target, part.begun)
        if last is not None and follows:
            joined[-1] = _Period(part.state, last.begun, part.ended, part.target, part.reason)
        else:
            joined.append(part)
    return joined


def _former(periods: Sequence[_Period], relation: str) -> list[_Period]:
    """Periods of the past; with a relation those of objects for which it does not hold now, unless there are no others."""
    past = [period for period in periods if period.ended is not None]
    now = {period.state.object_id for period in periods if period.ended is None}
    gone = [period for period in past if period.state.object_id not in now]
    return (gone or list(periods)) if relation else past


def _once(periods: Iterable[_Period]) -> list[_Period]:
    """The newest of each object."""
    newest: dict[str, _Period] = {}
    for period in periods:
        newest.setdefault(period.state.object_id, period)
    return list(newest.values())
