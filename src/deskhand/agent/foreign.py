"""Whether text that reaches a model was written by neither the user nor the robot: on objects, in names, from others' tools, quoted."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from deskhand.etp.base import ToolResult
from deskhand.language import lexicon as lex
from deskhand.language import verbs as vb
from deskhand.language.requests import quotes_others, read
from deskhand.tools.look_notes import NOTES
from deskhand.world.acts import LOOKS

OWN = "deskhand"
"""The source of our own tools."""
READING = frozenset(("answer_visual_question", "ask_memory", "describe_scene", "read_events", "stop_watch"))
"""Our own tools whose results may hold text that somebody wrote on an object, said once, or published by a tool of others."""
_NAMES = frozenset(("id", "object_id", "label", "color"))
"""Keys of results under which the name of an object stands, which a detector or the object itself may have given."""
_KINDS = frozenset(word for words in lex.KIND_WORDS.values() for word in words) | {"open box", "box open"}
_PARTS_OF_THE_DESK = vb.words("left right middle centre center front back")
_SENTENCE_WORDS = (
    vb.PRONOUNS
    | vb.SUBJECTS
    | vb.AUXILIARIES
    | vb.RULING
    | vb.PARTICLES
    | vb.words("to into onto not never now please instead want wants ignore user operator system")
) - frozenset(lex.KIND_WORDS)
"""Words that stand in sentences, and in no name of a kind of object."""


def foreign_text(card: Mapping[str, Any], name: str, result: ToolResult) -> bool:
    """Whether a result may hold text that neither the user nor the robot wrote: of others' tools, of tools that read, in notes and in names of objects."""
    if str(card.get("source", OWN)) != OWN or name in READING:
        return True
    data = result.data if isinstance(result.data, Mapping) else {}
    strange = name in LOOKS and data.get("note") and data["note"] not in NOTES
    return bool(strange) or any(not plain_name(text) for text in _named(data))


def foreign_words(instruction: str) -> bool:
    """Whether the user's own words hold those of somebody else: quoted, forwarded, read out."""
    return quotes_others(instruction)


def plain_name(text: str) -> bool:
    """Whether an id, a label or a colour names a kind of object and says nothing: one or two words, or three that end in a known kind; none of them a word of
    sentences, and no request.
    """
    words = re.sub(r"[_-]?\d+$", "", text).replace("_", " ").lower().split()
    name = " ".join(words)
    if not words or name in _KINDS or _PARTS_OF_THE_DESK.issuperset(words):
        return True
    if plain_label(name) != name or (len(words) == 3 and words[-1] not in _KINDS):
        return False
    return len(words) == 1 or not (_SENTENCE_WORDS & set(words) or read(name).requests)


def plain_label(label: Any) -> str:
    """A label that names a kind of object; whatever else stands there (text that somebody printed on it) names none."""
    words = str(label).replace("_", " ").split()
    return str(label) if 0 < len(words) <= 3 and len(str(label)) <= 32 and all(re.fullmatch(r"[A-Za-z][A-Za-z0-9-]*", word) for word in words) else "object"


def _named(value: Any) -> Iterator[str]:
    """The names of objects anywhere in a result."""
    if isinstance(value, Mapping):
        for key, item in value.items():
            if key in _NAMES and isinstance(item, str):
                yield item
            else:
                yield from _named(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _named(item)
