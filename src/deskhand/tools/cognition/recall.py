"""Asking the memory: what was where, when, and what became of it. It survives hiding, moving and restarts."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field
from typing_extensions import TypedDict

from deskhand.errors import DeskhandError
from deskhand.etp.tool import ToolContext, tool
from deskhand.language.past.query import Kinds, Match, Query, When, ask
from deskhand.language.past.telling import answer, event_text, listing, state_text
from deskhand.language.past.words import kinds_of, parse
from deskhand.tools.objects import ObjectId, rounded
from deskhand.world.history.recorder import Memory
from deskhand.world.history.records import Event
from deskhand.world.relations import TABLE, Relation


class Recollection(TypedDict):
    """An object as it was at some time; positions in world: x away from the robot, y to its left, z up."""

    id: str
    label: str
    color: str
    status: Annotated[
        str, Field(description="seen; held; occluded (hidden, taken to be there); unseen (not found, nobody knows why); vanished (its place was seen empty)")
    ]
    position: Annotated[list[float], Field(description="centre [x, y, z] in world [m]")]
    relation: Annotated[str, Field(description="on, in or held: how it lay on its support")]
    support: str
    confidence: Annotated[float, Field(description="0 to 1 that it was so")]
    since: Annotated[float, Field(description="ROS time [s] from which it was so")]
    until: Annotated[float | None, Field(description="ROS time [s] until which it was so; null: still")]
    earlier_session: Annotated[bool, Field(description="true: before the robot was last started, its times cannot be compared with those of today")]
    target_id: Annotated[str, Field(description="what it stood in the relation to that was asked for, else empty")]


class Recalled(TypedDict):
    """Objects that fit, newest first."""

    objects: list[Recollection]
    hint: Annotated[str, Field(description="what is known instead when nothing fits, else empty")]


class Happened(TypedDict):
    """A change of one object."""

    object_id: str
    kind: Annotated[str, Field(description="added, moved, changed, occluded, unseen, vanished, appeared, held, released, dropped, placed or renamed")]
    time: Annotated[float, Field(description="ROS time [s]")]
    earlier_session: bool
    text: str


class Changes(TypedDict):
    """What happened, oldest first."""

    events: list[Happened]
    text: str


class Whereabouts(TypedDict):
    """Where objects are, as far as is known."""

    known: Annotated[bool, Field(description="false: nothing like it was ever seen")]
    text: str
    objects: list[Recollection]


class MemoryAnswer(TypedDict):
    """An answer and what it rests on."""

    answer: str
    objects: list[Recollection]
    events: list[Happened]


Word = Annotated[str, Field(max_length=64)]
MOST = 30


@tool(
    group="cognition",
    unit="queryable_memory",
    when_to_use="To ask the memory which objects were somewhere at another time: by kind, colour and relation to other objects, at first, before, or seconds "
    "ago; for what was left of the box before, or what used to be in the bin.",
    limits="Knows what looks have shown since the memory began; detect_objects takes a new look. Directions are as seen from the robot.",
    examples=[
        ("Which cup stood left of the box before?", {"label": "cup", "relation": "left_of", "target": "box", "when": "before"}),
        ("What lay on the table at the very first look?", {"relation": "on", "target": "table", "when": "first"}),
        ("What lay in the bin half a minute ago?", {"relation": "in", "target": "bin_1", "seconds_ago": 30}),
    ],
    failures=[("A time that lies ahead", {"label": "cup", "seconds_ago": -5}, "invalid_arguments")],
)
def recall_objects(
    ctx: ToolContext,
    label: Annotated[Word, Field(description="kind, for example cup; empty for any")] = "",
    color: Annotated[Word, Field(description="colour name, for example red; empty for any")] = "",
    relation: Annotated[Relation | None, Field(description="how they stood to the target; null: does not matter")] = None,
    target: Annotated[Word, Field(description="id of the other object, or words for it such as 'brown box', or 'table'")] = "",
    when: Annotated[
        Literal["now", "before", "first", "last", "ever"],
        Field(description="now; before: earlier, and best no longer; first: at the first look; last: the last time it was so; ever: each time"),
    ] = "last",
    seconds_ago: Annotated[float | None, Field(ge=0, description="[s] before now, instead of 'when'; null: use 'when'")] = None,
) -> Recalled:
    """Recall objects by kind, colour, relation to others and time, with where they were, from when until when, and how sure that is."""
    memory = memory_of(ctx)
    if (relation is None) != (not target.strip()):
        raise DeskhandError("invalid_arguments", "recall_objects: relation and target belong together.", hint="Give both or none.")
    time = When(when) if seconds_ago is None else When("at", stamp=memory.now() - seconds_ago)
    query = Query(Kinds(labels=_set(label), colors=_set(color)), relation or "", _target(target), time)
    found = ask(memory, query, MOST)
    hint = "" if found else f"Nothing fits; known: {listing(state.object for state in memory.states_now())}."
    return Recalled(objects=[_recollection(memory, match) for match in found], hint=hint)


@tool(
    group="cognition",
    unit="queryable_memory",
    when_to_use="To find an object that the last look does not show, or to tell where it was last seen: hidden, held, inside a container, or gone.",
    limits="Nothing is looked at: an object that somebody moved since the last look is told at its old place.",
    examples=[("Where did I last see the red pen?", {"words": "red pen"}), ("Where is the sponge that went into the bin?", {"words": "sponge_1"})],
    failures=[("Words that name no object", {"words": "of the and"}, "not_understood")],
)
def where_is(ctx: ToolContext, words: Annotated[str, Field(min_length=1, max_length=64, description="id or words, for example 'red pen'")]) -> Whereabouts:
    """Tell where an object is or was last seen, on or in what, whether it is hidden or held, and how sure that is."""
    memory = memory_of(ctx)
    if words in memory.ids():
        found = [memory.state(words)]
    else:
        what = kinds_of(words)
        found = [state for state in memory.states_now() if what.fits(state.object)]
    found.sort(key=lambda state: (state.status != "seen", -state.last))
    matches = [Match(state, memory.moment(state.begun), None) for state in found[:MOST]]
    text = " ".join(f"{state_text(memory, match.state)}." for match in matches)
    text = text or f"I have never seen such an object ({words}); known: {listing(state.object for state in memory.states_now())}."
    return Whereabouts(known=bool(matches), text=text, objects=[_recollection(memory, match) for match in matches])


@tool(
    group="cognition",
    unit="spatio_temporal_state",
    when_to_use="To learn what became of one object over time: when it was first seen, moved, hidden, picked up, put down or lost, and from where to where.",
    limits="Only what looks and the robot's own actions have shown; who else moved an object is not known.",
    examples=[("What happened to this block since it was first seen?", {"object_id": "block_1"})],
    failures=[("The object was never seen", {"object_id": "ghost_9"}, "unknown_object")],
)
def object_history(ctx: ToolContext, object_id: ObjectId, limit: Annotated[int, Field(ge=1, le=200, description="newest events at most")] = 30) -> Changes:
    """Tell the history of one object: what happened to it, oldest first, with times and places."""
    memory = memory_of(ctx)
    now = memory.state(object_id)  # raises for an id that was never seen
    return _changes(memory, memory.events({object_id, now.object_id}, limit=limit, newest_first=True)[::-1])


@tool(
    group="cognition",
    unit="spatio_temporal_state",
    when_to_use="To see what changed on the desk lately: what was added, moved, hidden, taken, put down or vanished, for example since before an action.",
    limits="Changes are noticed when somebody looks; take a look first to notice what changed since.",
    examples=[("What changed on the desk in the last minute?", {"seconds": 60}), ("List all changes that are remembered", {})],
    failures=[("A time span that is no time", {"seconds": 0}, "invalid_arguments")],
)
def scene_changes(
    ctx: ToolContext,
    seconds: Annotated[float | None, Field(gt=0, description="[s] before now from which changes count; null: all that is remembered")] = None,
    limit: Annotated[int, Field(ge=1, le=200, description="newest changes at most")] = 50,
) -> Changes:
    """List what changed on the desk, oldest first: objects added, moved, hidden, vanished, picked up, put down or dropped."""
    memory = memory_of(ctx)
    since = 0
    if seconds is not None:
        moment = memory.moment_at(memory.now() - seconds)
        since = moment.id if moment is not None else memory.before_session()
    return _changes(memory, memory.events(since=since, limit=limit, newest_first=True)[::-1])


@tool(
    group="cognition",
    unit="queryable_memory",
    when_to_use="To answer a question about the past in plain words (which can was left of the block before, where was it, what was moved last), in one "
    "call: better than several calls of the other memory tools.",
    limits="A small grammar: where, which, what was on or in what, what happened, when; not_understood says which questions it takes.",
    examples=[
        ("A question about the past from a person", {"question": "which cup was left of the box before?"}),
        ("Recall what was done last", {"question": "what did you pick up last?"}),
    ],
    failures=[("Words that are no question about the past", {"question": "colourless green ideas"}, "not_understood")],
)
def ask_memory(ctx: ToolContext, question: Annotated[str, Field(min_length=3, max_length=300, description="in English")]) -> MemoryAnswer:
    """Answer a question in words about what was where and what happened on the desk."""
    memory = memory_of(ctx)
    told = answer(memory, parse(question, memory.now()))
    return MemoryAnswer(
        answer=told.text,
        objects=[_recollection(memory, match) for match in told.matches],
        events=[_happened(memory, event) for event in told.events],
    )


# ---------------------------------------------------------------- as data


def memory_of(ctx: ToolContext) -> Memory:
    """The session's memory. Raises ``config_error`` when it has none."""
    if ctx.belief.memory is None:
        raise DeskhandError("config_error", "this session has no memory.", hint="Use find_objects for the last look.")
    return ctx.belief.memory


def _set(word: str) -> frozenset[str]:
    return frozenset({word.strip().lower()}) if word.strip() else frozenset()


def _target(words: str) -> Kinds | None:
    return None if words.strip().lower() in ("", TABLE, "desk") else kinds_of(words)


def _recollection(memory: Memory, match: Match) -> Recollection:
    item = match.object
    return Recollection(
        id=item.id,
        label=item.label,
        color=item.color,
        status=match.state.status,
        position=rounded(item.position),
        relation=item.relation,
        support=item.support,
        confidence=round(match.state.confidence, 3),
        since=round(match.since.stamp, 3),
        until=round(match.until.stamp, 3) if match.until is not None else None,
        earlier_session=match.since.session != memory.session,
        target_id=match.target_id,
    )


def _happened(memory: Memory, event: Event) -> Happened:
    return Happened(
        object_id=event.object_id,
        kind=event.kind,
        time=round(event.moment.stamp, 3),
        earlier_session=event.moment.session != memory.session,
        text=event_text(event),
    )


def _changes(memory: Memory, events: list[Event]) -> Changes:
    text = " ".join(f"{event_text(event)}." for event in events) or "Nothing of that kind is remembered."
    return Changes(events=[_happened(memory, event) for event in events], text=text)
