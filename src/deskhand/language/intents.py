"""What an instruction asks for, as data, before anybody has looked at the desk."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from deskhand.types.demonstration import Step

NOT = "not_"
"""Before a relation: it must not hold."""


@dataclass(frozen=True)
class Ref:
    """A description of objects: "the two biggest red blocks on the left".

    Attributes:
        words: the phrase as it was said.
        kinds: kinds that fit, empty for any (see ``noun``).
        noun: the head word when it is no known kind; perception may still have it as a label.
        container: a container is meant, whatever its kind.
        table: the desk itself.
        colors, shapes: allowed values, empty for any.
        outline: that of the solid or flat shape that the noun is (shape_words.py), empty for other nouns.
        tint: the colour word as it was said, where one was.
        size: (``volume``, ``height`` or ``length``; +1 or -1; superlative) or None.
        place: ``left``, ``right``, ``front``, ``back``, ``near``, ``far``, ``middle`` or empty, from the robot's view.
        count: how many; 0 for all.
        nth: 2 for "the second biggest", "the second from the left".
        definite: "the", not "a".
        rest: whatever no other phrase of the instruction names.
        pronoun: "it", "them": what the phrase before named.
        bare: adjectives without a noun ("the red one"): the noun is that of a neighbour.
        id: an object's id.
        where: (relation, Ref) that must hold: ``on``, ``in``, ``left_of`` …, or must not: ``not_on`` …
        excluded: objects left out.
        second: the other one of two objects, for ``between``.
        unread: words of the phrase that decide nothing: who means the phrase by all its words cannot be sure.
        drawer: which drawer of a cabinet is meant: ``top``, ``middle``, ``bottom``, ``any`` (the open one, or the only one); empty where none is.
    """

    words: str
    kinds: frozenset[str] = frozenset()
    noun: str = ""
    container: bool = False
    table: bool = False
    colors: frozenset[str] = frozenset()
    shapes: frozenset[str] = frozenset()
    outline: str = ""
    tint: str = ""
    size: tuple[str, int, bool] | None = None
    place: str = ""
    count: int = 1
    definite: bool = False
    rest: bool = False
    pronoun: bool = False
    bare: bool = False
    id: str = ""
    where: tuple[str, Ref] | None = None
    excluded: tuple[Ref, ...] = ()
    second: Ref | None = None
    nth: int = 1
    unread: tuple[str, ...] = ()
    drawer: str = ""

    @property
    def anything(self) -> bool:
        """True when neither kind nor noun nor id restricts it."""
        return not (self.kinds or self.noun or self.id or self.container or self.table)


@dataclass(frozen=True)
class Intent:
    """Base of what a clause asks for."""


@dataclass(frozen=True)
class Place(Intent):
    """Bring ``objects`` to ``target``. ``relation``: ``in``, ``on``, ``auto`` (in where it is a container), or one that nobody does yet (``left_of`` …)."""

    objects: tuple[Ref, ...]
    relation: str
    target: Ref
    stage: int = 0
    """What was said to come first, comes first."""


@dataclass(frozen=True)
class Tidy(Intent):
    """Clear the desk: objects that no Place names go into the nearest container. ``scope`` restricts it; ``strict`` (sort) touches only what is named."""

    scope: tuple[Ref, ...] = ()
    strict: bool = False


@dataclass(frozen=True)
class Leave(Intent):
    """These stay where they are, whatever the other clauses say; ``elsewhere``: forbidden was only to bring them there."""

    objects: tuple[Ref, ...]
    elsewhere: bool = False


@dataclass(frozen=True)
class Tower(Intent):
    """Stack ``objects`` on each other; ``ordered`` when they are named bottom first."""

    objects: tuple[Ref, ...]
    ordered: bool = False


@dataclass(frozen=True)
class Build(Intent):
    """Build with blocks. One of ``structure`` (a name of structures.py, with ``count`` and ``colors`` where they were said), ``plan`` (plain data) and
    ``file`` (a plan or a picture) says what; ``unclear`` why it cannot be understood.
    """

    words: str
    structure: str = ""
    count: int = 0
    colors: tuple[str, ...] = ()
    plan: Any = None
    file: str = ""
    unclear: str = ""


@dataclass(frozen=True)
class Imitate(Intent):
    """Do what a demonstration shows: that in the file ``video``, or its ``steps`` told in its own sentences."""

    words: str
    video: str = ""
    steps: tuple[Step, ...] = ()


@dataclass(frozen=True)
class Pick(Intent):
    """Take it into the hand and hold it."""

    item: Ref


@dataclass(frozen=True)
class Release(Intent):
    """Put down on the desk what is held, or ``objects``."""

    objects: tuple[Ref, ...] = ()


@dataclass(frozen=True)
class Hand(Intent):
    """Hold it out to the person."""

    item: Ref


@dataclass(frozen=True)
class Sort(Intent):
    """Objects that are alike go together; ``by`` is ``color`` or ``kind``; ``contained``: each group has to go into a container."""

    objects: tuple[Ref, ...]
    by: str
    contained: bool = False


@dataclass(frozen=True)
class Row(Intent):
    """A row of objects, from the robot's left to its right; ``by`` is a measure or empty for any order, ``up`` whether it rises to the right."""

    objects: tuple[Ref, ...]
    by: str = ""
    up: bool = True


@dataclass(frozen=True)
class Swap(Intent):
    """Two objects change places; one phrase that names both, or two."""

    objects: tuple[Ref, ...]


@dataclass(frozen=True)
class Clear(Intent):
    """Nothing shall stand in a region of the desk, (x, y) [m] large at least; with ``to`` what stands there goes to that region."""

    region: str
    size: tuple[float, float] = (0.20, 0.20)
    to: str = ""


@dataclass(frozen=True)
class MoveTo(Intent):
    """Objects go to a region of the desk: ``left``, ``right``, ``front``, ``back``, ``middle`` or two of them (``left back``); empty: elsewhere."""

    objects: tuple[Ref, ...]
    region: str


@dataclass(frozen=True)
class Shift(Intent):
    """Objects go (x, y) [m] farther, or are turned by ``turn`` [rad]."""

    objects: tuple[Ref, ...]
    by: tuple[float, float] = (0.0, 0.0)
    turn: float = 0.0


@dataclass(frozen=True)
class Undo(Intent):
    """Everything that was moved last goes back to where it was, or only ``objects``; ``last``: only the very last move."""

    objects: tuple[Ref, ...] = ()
    last: bool = False


@dataclass(frozen=True)
class Weigh(Intent):
    """Something that a balance tells.

    Attributes:
        kind: ``heaviest`` (or lightest, by ``sign``) and ``odd`` of ``things``; ``row``: them by weight; ``level``: the pans, with weights; ``grams``: of one.
        sign: 1 heavier, -1 lighter, 0 unknown.
        target: where the one that is found goes; None: it is only told.
        weights: what weighs how much [g].
        onto: of ``level``: the pan that ``things`` are to be put on first; empty: they are there.
        up: of ``row``: whether it rises to the right; None: either way.
        most: weighings at most; 0: any number.
    """

    kind: str
    objects: tuple[Ref, ...]
    sign: int = 1
    target: Ref | None = None
    weights: tuple[tuple[Ref, float], ...] = ()
    onto: str = ""
    up: bool | None = None
    most: int = 0

    @property
    def asks(self) -> bool:
        """Whether it only wants to know."""
        return self.kind == "grams" or (self.kind in ("heaviest", "odd") and self.target is None)


@dataclass(frozen=True)
class Wipe(Intent):
    """A painted or dirty area of the desk shall be wiped.

    Attributes:
        words: the phrase as it was said.
        direction: ``left-right`` or ``front-back``, of its long side; empty for any.
        color: a basic colour, empty for any.
        shape: ``triangle`` or ``rectangle``, empty for any.
        place: as of :class:`Ref`: among areas that fit else.
        largest: 1 the largest, -1 the smallest, 0 any.
    """

    words: str
    direction: str = ""
    color: str = ""
    shape: str = ""
    place: str = ""
    largest: int = 0


@dataclass(frozen=True)
class Operate(Intent):
    """A drawer or lid shall be opened or closed, or a knob turned.

    Attributes:
        act: ``open``, ``close`` or ``turn``.
        item: what it is part of, or what is called so itself.
        part: ``drawer``, ``lid`` or ``knob``.
        which: ``top``, ``middle``, ``bottom``, empty for the only one.
        distance: [m], 0 for as far as it goes.
        angle: of a knob [rad], left from above positive; ``either``: where it does not turn that way, it may the other.
    """

    act: str
    item: Ref
    part: str
    which: str = ""
    distance: float = 0.0
    angle: float = 0.0
    either: bool = False


@dataclass(frozen=True)
class Insert(Intent):
    """A piece goes through a hole of ``target``, a shape sorter."""

    item: Ref
    target: Ref


@dataclass(frozen=True)
class Act(Intent):
    """One tool without arguments: ``move_home``, ``open_gripper``, ``close_gripper``."""

    tool: str


@dataclass(frozen=True)
class Stop(Intent):
    """Stop the arm, now."""


@dataclass(frozen=True)
class Help(Intent):
    """What can you do?"""


@dataclass(frozen=True)
class Ask(Intent):
    """A question.

    Attributes:
        kind: ``describe``, ``exists``, ``count``, ``where``, ``holds``, ``color``, ``which``, ``held``, ``clean``, ``empty``; ``memory``: about the past, in
            its own words; ``more`` (of ``about`` than of ``target``, or how many), ``larger``, ``measure``, ``distance``, ``nearest``.
        relation: a place, or what is compared: ``more``, ``fewer``, ``equal``; a measure.
        number: for ``more``: compared with this instead of with ``target``.
        sign: for ``larger``: 1 for bigger, -1 for smaller; for ``nearest``: -1 for the farthest.
        negated: asked whether it is not so.
    """

    kind: str
    about: Ref | None = None
    relation: str = ""
    target: Ref | None = None
    words: str = ""
    number: int | None = None
    sign: int = 1
    negated: bool = False


@dataclass(frozen=True)
class If(Intent):
    """When the answer to ``condition`` is yes, ``then``, else ``otherwise``."""

    condition: Ask
    then: tuple[Intent, ...]
    otherwise: tuple[Intent, ...] = ()


@dataclass(frozen=True)
class Impossible(Intent):
    """Understood, and nothing the robot can do; ``words`` is the clause."""

    words: str
    why: str = ""


@dataclass(frozen=True)
class Unclear(Intent):
    """A clause that was not understood; ``why`` names what is missing."""

    words: str
    why: str = ""


@dataclass(frozen=True)
class Instruction:
    """All that an instruction asks for, in its order."""

    text: str
    intents: tuple[Intent, ...] = field(default=())

    @property
    def question(self) -> bool:
        """True when it only asks, and moves nothing but to know."""
        return bool(self.intents) and all(isinstance(item, Ask | Help) or (isinstance(item, Weigh) and item.asks) for item in self.intents)

    @property
    def stop(self) -> bool:
        """True when it says stop."""
        return any(isinstance(item, Stop) for item in self.intents)
