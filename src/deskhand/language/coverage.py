"""Whether every word of a sentence has a part in what was made of it: what is left over makes the sentence unclear.

A part is: a verb, a preposition, a word of a noun phrase that decides which objects are meant, an exception, a separator, or one of the closed list of
function words (:data:`lexicon.FUNCTION_WORDS`). The readers mark what has none (``Clause.unknown``, ``Ref.unread``); patterns that match a whole sentence
account for all words but those in their noun phrases. This file gathers what was marked.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import fields

from deskhand.language import lexicon as lex
from deskhand.language.intents import Ask, If, Impossible, Intent, Leave, Place, Ref, Tidy, Unclear
from deskhand.language.verbs import words

OPERATORS = words(
    "not no non never nothing none nobody neither nor either or only except excepted excepting excluding excluded without but besides save instead "
    "rather until till unless while whilst whenever once after half most few fewer almost nearly hardly barely less least maybe perhaps unlike versus"
)
"""Words that turn a sentence round, or restrict it: a pattern for a whole sentence must name them itself."""
MEASURES = words("cm mm centimeter centimetre millimeter millimetre inch degree second minute hour day week moment time while bit lot couple half")
"""Nouns that are no objects."""
ENGLISH_ONLY = "without a language model I read English only: say it in English, or start me with a model (--brain)"
_TO_EACH = frozenset(("each", "every", "both", "either", "all"))


def unread_words(intent: Intent) -> tuple[str, ...]:
    """The words of its noun phrases that decide nothing."""
    found = tuple(word for ref in phrases_of(intent) for word in (*ref.unread, *([ref.noun] if ref.noun in MEASURES else [])))
    if isinstance(intent, Place | Tidy | Leave):
        found += tuple(word for ref in phrases_of(intent) for other in ref.excluded for word in _how_many_stay(other))
    found += tuple(ref.place for ref in phrases_of(intent) if ref.place in ("near", "far") and not ref.count and not ref.table)  # how near?
    if not isinstance(intent, Ask):
        found += tuple("any" for ref in phrases_of(intent) if ref.words.startswith("any ") and not ref.where and ref.kinds)
    if isinstance(intent, Place):
        found += tuple(word for word in intent.target.words.split()[:1] if word in _TO_EACH and not intent.target.table)
    if isinstance(intent, If):
        found += tuple(word for item in (intent.condition, *intent.then, *intent.otherwise) for word in unread_words(item))
    return tuple(dict.fromkeys(found))


def phrases_of(intent: Intent) -> Iterator[Ref]:
    """All phrases of an intent, those within others too."""
    todo = [getattr(intent, item.name) for item in fields(intent)]
    while todo:
        value = todo.pop()
        if isinstance(value, tuple):
            todo += value
        elif isinstance(value, Ref):
            yield value
            todo += [value.where, value.excluded, value.second]


def _how_many_stay(ref: Ref) -> tuple[str, ...]:
    """As in "everything except a block": one of them, or all of that kind? Both are said so."""
    return tuple(ref.words.split()[:1]) if ref.count and not (ref.definite or ref.id or ref.pronoun or ref.excluded) and _counted(ref) else ()


def _counted(ref: Ref) -> bool:
    first = ref.words.split()[0] if ref.words else ""
    return first in {"a", "an", "one", "another", "any"} or first in lex.NUMBERS or first.isdigit()


def checked(sentence: str, intents: list[Intent]) -> list[Intent]:
    """The intents, or one :class:`Unclear` where words in them decide nothing: half an instruction is another instruction."""
    if any(isinstance(item, Unclear) for item in intents):
        return intents
    inside = [one for item in intents if isinstance(item, If) for one in (*item.then, *item.otherwise) if isinstance(one, Unclear | Impossible)]
    if inside:
        return [Unclear(sentence, inside[0].why or f"I cannot do {inside[0].words!r}")]
    if (why := contradiction(intents)) or (why := two_places(intents)):
        return [Unclear(sentence, why)]
    left = tuple(dict.fromkeys(word for item in intents for word in unread_words(item)))
    return [Unclear(sentence, unread(left))] if left else intents


def contradiction(intents: Sequence[Intent]) -> str:
    """Why the intents cannot all hold; empty where they can. "Do not put it there, put it here" is none."""
    if any(isinstance(item, Leave) and item.elsewhere for item in intents) and any(isinstance(item, Tidy) for item in intents):
        return "it says where something shall not go, and not where it shall"
    moved: set[Ref] = set()
    kept: set[Ref] = set()
    for item in intents:
        refs = {ref for ref in getattr(item, "objects", ()) if not (ref.rest or ref.pronoun)}
        if isinstance(item, Leave):
            both = refs & moved  # "put the blocks in the tray so that they do not touch"
            kept |= refs if not item.elsewhere else set()
        else:
            both = refs & kept if isinstance(item, Place) else set()
            moved |= refs if isinstance(item, Place) else set()
        if both:
            return f"it moves {next(iter(both)).words!r} and leaves it where it is"
    return ""


def two_places(intents: Sequence[Intent]) -> str:
    """Why one sentence without an order of its own brings an object to two places; empty where it does not."""
    there: dict[Ref, Ref] = {}
    for item in intents:
        if not isinstance(item, Place) or item.target.table:
            continue
        for ref in item.objects:
            if not (ref.rest or ref.pronoun) and ref.definite and there.setdefault(ref, item.target) != item.target:
                return f"it brings {ref.words!r} to two places"
    return ""


def unread(left: Sequence[str]) -> str:
    """Why a sentence is unclear that has these words over."""
    said = ", ".join(map(repr, dict.fromkeys(left)))
    if any(word in OPERATORS or word in _TO_EACH for word in left):
        return f"I cannot tell what {said} changes here; say it without"
    return f"I do not know the word{'s' * (len(set(left)) > 1)} {said}"


QUESTION_WORDS = (lex.FUNCTION_WORDS - lex.PRONOUNS - {"all", "together", "again"}) | words(
    "what which who where how many is are was do does did have has can could be we i you it a an any there here now currently right present moment exactly "
    "see find stand stands standing lie lies lying sit sits sitting that one still already got visible anything something everything thing object item stuff"
)
"""Words of questions that ask for nothing but what the kind of question says."""
_OF_KINDS: dict[str, frozenset[str]] = {
    "describe": words("describe list name look inspect scan examine survey around every your our my me us all front of on in at desk table tabletop top scene "
                      "workspace surroundings content contents recognise recognize detect tell say"),
    "count": words("count number of left together"), "where": words("locate"), "exists": words("left color colour"),
    "color": words("color colour of all same"), "which": words("of on in at desk table the them"), "holds": words(""), "measure": words("away"),
    "more": words("than as at more fewer less least most only exactly and of two"), "larger": words("than and of them"), "distance": words("far away from and"),
    "nearest": words("to from next closest nearest farthest furthest away"), "empty": words("empty not nothing inside in"),
}  # fmt: skip
"""What more may stand in a question of one kind."""


def unread_of_question(text: str, ask: Ask) -> tuple[str, ...]:
    """The words of a question that have no part in what was made of it. What is in no phrase of it must say how it asks, or be a word of the closed lists;
    a question about the past is read as a whole (language/past), those about the gripper and a tidy desk by patterns without gaps.
    """
    if ask.kind in ("memory", "held", "clean"):
        return ()
    said = Counter(word for ref in _outer(ask) for word in re.findall(r"[a-z0-9_]+", ref.words))
    if ask.kind == "where":
        said.update(re.findall(r"[a-z0-9_]+", ask.words))  # "in the tray or on the desk": the places to choose from
    known = QUESTION_WORDS | _OF_KINDS[ask.kind]
    if ask.relation:
        known |= _RELATION_WORDS
    if ask.kind in ("larger", "measure", "which"):
        known |= _SIZE_WORDS
    if ask.number is not None:
        known |= {*lex.NUMBERS, "one", str(ask.number)}
    left = []
    for word in re.findall(r"[a-z0-9_]+", text):
        if said[word]:
            said[word] -= 1
        elif word not in known and lex.singular(word) not in known:
            left.append(word)
    return tuple(dict.fromkeys(left))


def _outer(ask: Ask) -> Iterator[Ref]:
    for ref in (ask.about, ask.target):
        if ref is not None:
            yield ref
            if ref.second is not None and ref.second.words not in ref.words:
                yield ref.second


_RELATION_WORDS = frozenset(word for phrase in (*lex.IN, *lex.ON, *lex.BESIDE) for word in phrase)
_SIZE_WORDS = frozenset(lex.SIZES) | words("high higher highest longer shorter wide wider")


def turned(sentence: str) -> bool:
    """Whether it has a word that may turn round what the rest of it says."""
    return any(word in OPERATORS for word in re.findall(r"[a-z]+", sentence))


# ---------------------------------------------------------------- other languages


def _vocabulary() -> frozenset[str]:
    phrases = (*lex.IN, *lex.ON, *lex.TO, *lex.FROM, *lex.BESIDE, *lex.EXCEPT, *lex.VERBS)
    nouns = " ".join((*lex.KIND_OF, *lex.ANYTHING, *lex.CONTAINER_NOUNS, *lex.TABLE_NOUNS, *lex.USES)).split()
    tables = (lex.COLORS, lex.SHAPES, lex.SIZES, lex.PLACES, lex.MATERIALS, lex.ORDINALS, lex.NUMBERS, lex.DEFINITE, lex.PRONOUNS, lex.LINKING)
    more = words("and what how many there where when i you he she if")
    return frozenset((*(word for phrase in phrases for word in phrase), *nouns, *(word for table in tables for word in table), *lex.FILLERS, *OPERATORS, *more))


_VOCABULARY = _vocabulary()
_ALSO_ELSEWHERE = frozenset(
    ("die", "in", "am", "an", "so", "will", "as", "do", "on", "me", "a", "of", "no", "bin", "tin", "put", "son", "is", "or", "at", "by")
)
"""Words of English that are words of other languages too."""
MINE = 0.2
"""A text of which a smaller share of the words is English that the grammar knows is taken for another language."""


def foreign(text: str) -> bool:
    """Whether a text that was not understood seems to be in another language: letters that English has not, or hardly a word that is known."""
    said = re.findall(r"[^\W\d_]+", text.lower())
    if any(ord(letter) > 127 for word in said for letter in word):
        return True
    known = [word for word in said if (word in _VOCABULARY or lex.singular(word) in _VOCABULARY) and word not in _ALSO_ELSEWHERE]
    return len(said) > 2 and len(known) < MINE * len(said)
