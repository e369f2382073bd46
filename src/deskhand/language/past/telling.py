"""Answers of the memory, as data and in words."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from deskhand.language.past.query import Kinds, Match, Query, When, ask, moment_of
from deskhand.language.past.words import Question
from deskhand.types import SceneObject
from deskhand.world.history.reader import MemoryReader
from deskhand.world.history.records import Event, Moment, State

MOST = 30
_STATUS = {
    "seen": "",
    "held": "",
    "occluded": ", hidden from view",
    "unseen": ", not seen by the last look",
    "vanished": "; it is there no longer",
}
_HAPPENED = {
    "added": "was first seen",
    "moved": "moved",
    "changed": "looked different",
    "occluded": "was hidden",
    "unseen": "was not found",
    "vanished": "vanished",
    "appeared": "appeared again",
    "held": "was picked up",
    "released": "was let go",
    "dropped": "was dropped",
    "placed": "was put down",
    "renamed": "was given another id",
}
_WORDS = {"left_of": "left of", "right_of": "right of", "in_front_of": "in front of"}


@dataclass(frozen=True)
class Answer:
    """The answer in words, and what it rests on."""

    text: str
    matches: tuple[Match, ...] = ()
    events: tuple[Event, ...] = ()


def answer(memory: MemoryReader, question: Question) -> Answer:
    """What the memory says to a question.

    Raises:
        DeskhandError: as :func:`deskhand.language.past.query.ask`.
    """
    if question.kind == "events":
        return _events(memory, question)
    found = tuple(ask(memory, question.query, MOST))
    if not found:
        return Answer(_nothing(memory, question.query))
    tell = _support if question.kind == "support" else _match
    return Answer(" ".join(tell(memory, match, question.query) for match in found), found)


def event_text(event: Event) -> str:
    """One line: ``12.3 s: red_block_1 moved from on table at x …``."""
    detail = event.detail
    parts = [f"{event.moment.stamp:.1f} s: {event.object_id} {_HAPPENED[event.kind]}"]
    if event.kind == "renamed":
        parts.append(f"and is {detail['to']} now")
    elif event.kind == "changed":
        parts.append("; ".join(f"{name} {was} -> {now}" for name, (was, now) in detail.items()))
    else:
        parts += [f"from {_place(detail['from'], bare=True)}"] if "from" in detail else []
        parts += [f"{'to ' if 'from' in detail else ''}{_place(detail['to'], 'from' in detail)}"] if "to" in detail else []
    if "reason" in detail:
        parts.append(f"({detail['reason']})")
    return " ".join(parts)


def state_text(memory: MemoryReader, state: State) -> str:
    """Where an object is or was, in words."""
    item = state.object
    last = memory.moment(state.last)
    if state.status == "held":
        return f"{name(item)} {_tense(state)} in the gripper since {_time(memory, memory.moment(state.begun))}"
    if not item.support:
        return f"{name(item)} was let go at {_time(memory, memory.moment(state.begun))} and not seen since"
    seen = f"{_STATUS[state.status]} (seen at {_time(memory, last)})" if state.status == "seen" else f"{_STATUS[state.status]}"
    return f"{name(item)} {_tense(state)} {_where(item)}{seen}"


def name(item: SceneObject) -> str:
    """``the red pen (pen_1)``"""
    return f"the {item.color} {item.label.replace('_', ' ')} ({item.id})"


def _tense(state: State) -> str:
    return "is" if state.ended is None and state.status != "vanished" else "was"


def _where(item: SceneObject) -> str:
    return _place({"position": item.position, "relation": item.relation, "support": item.support})


def _place(place: dict[str, object], bare: bool = False) -> str:
    """``on the table at x …``; ``bare``: after "from" or "to", which take no "on"."""
    if place["relation"] == "held":
        return "in the gripper"
    x, y = list(place["position"])[:2]  # type: ignore[call-overload]
    on = f"{'the ' if place['support'] == 'table' else ''}{place['support']} " if place["support"] else ""
    on = on if bare or not on else f"{place['relation']} {on}"
    return f"{on}at x {x:.3f}, y {y:.3f}"


def _time(memory: MemoryReader, moment: Moment) -> str:
    if moment.session != memory.session:
        return f"{moment.stamp:.1f} s of an earlier session ({memory.sessions_ago(moment.session)} before this one)"
    return f"{moment.stamp:.1f} s"


def _match(memory: MemoryReader, match: Match, query: Query) -> str:
    told = state_text(memory, match.state)
    if query.relation:
        word = _WORDS.get(query.relation, query.relation)
        verb = "is" if match.until is None else "was"
        span = f"since {_time(memory, match.since)}" if match.until is None else f"from {_time(memory, match.since)} until {_time(memory, match.until)}"
        told = f"{name(match.object)} {verb} {word} {'the table' if match.target_id == 'table' else match.target_id} {span}"
    now = memory.state(match.object.id)
    return f"{told}." if now.id == match.state.id else f"{told}; now: {state_text(memory, now)}."


def _support(memory: MemoryReader, match: Match, query: Query) -> str:
    item = match.object
    if match.state.status == "held" or not item.support:
        return f"{state_text(memory, match.state)}."
    known = {state.object_id: state.object for state in memory.states_at(match.since.id)}
    support = name(known[item.support]) if item.support in known else f"the {item.support}"
    return f"{name(item)} {_tense(match.state)} {item.relation} {support} from {_time(memory, match.since)}."


def _events(memory: MemoryReader, question: Question) -> Answer:
    query, ids = question.query, None
    if query.what != Kinds():
        ids = {state.object_id for state in memory.all_states() if query.what.fits(state.object)}
        if not ids:
            return Answer(_nothing(memory, query))
    since, until = _span(memory, query.when)
    newest = question.order != "first"
    found = memory.events(ids, question.events or None, since, until, 1 if question.order else MOST, newest_first=newest)
    found = found[::-1] if newest else found
    if not found:
        return Answer("Nothing of that kind is remembered.")
    return Answer(" ".join(f"{event_text(event)}." for event in found), events=tuple(found))


def _span(memory: MemoryReader, when: When) -> tuple[int, int | None]:
    """After which moment, and until which, an event counts."""
    if when.kind not in ("at", "before_event", "after_event"):
        return 0, None
    moment = moment_of(memory, when)
    if moment is None:
        return 0, None
    return (0, moment.id) if when.kind == "before_event" else (moment.id, None)


def _nothing(memory: MemoryReader, query: Query) -> str:
    alike = [match.object for match in ask(memory, replace(query, relation="", target=None, when=replace(query.when, kind="now"), seen=False))]
    if alike and (query.relation or query.when.kind != "now"):
        return f"Nothing that fits is remembered. Such objects are: {listing(alike)}."
    known = [state.object for state in memory.states_now()]
    return f"Nothing that fits is remembered. Known: {listing(known)}."


def listing(items: Iterable[SceneObject]) -> str:
    """``pen_1 (red pen), cup_1 (white cup)``; ``nothing`` when there is none."""
    return ", ".join(f"{item.id} ({item.color} {item.label})" for item in items) or "nothing"
