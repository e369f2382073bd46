"""What a person asks for, and what the words merely mention: requests in sentences, the phrases in them by their part, and what shall stay in peace.

A request is an imperative, also a polite one ("could you …", "I need you to …", "the cup goes in the bin"). Questions, statements, what is quoted, what stands
in a side clause ("before you …", "so that …"), behind "not" or "instead of" asks for no motion, whatever verbs and objects it names. This reads the shape of a
clause only; which objects its phrases mean is for :mod:`deskhand.language.resolve`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from deskhand.language import lexicon as lex
from deskhand.language import moods
from deskhand.language import verbs as vb
from deskhand.language.intents import Ask, Impossible, Intent, Unclear
from deskhand.language.moods import Mood
from deskhand.language.parser import normalise, parse
from deskhand.language.phrases import match

OBJECT, INTO, BESIDE, WITH, KEPT, MENTIONED = "object", "into", "beside", "with", "kept", "mentioned"
"""Parts of a phrase in a request: acted on; where it goes (on or into); beside, under or between which; a means; excluded; said for another reason."""


@dataclass(frozen=True)
class Request:
    """One act that was asked for.

    Attributes:
        verb: its first word, the base form; empty for a phrase that answers a question ("the green one").
        words: all of the clause.
        phrases: (part, words) of its noun phrases in their order.
        aside: whether it says where by a word alone ("away", "there").
    """

    verb: str
    words: tuple[str, ...]
    phrases: tuple[tuple[str, tuple[str, ...]], ...] = ()
    aside: bool = False

    def of(self, *parts: str) -> list[tuple[str, ...]]:
        """The phrases that have one of these parts."""
        return [words for part, words in self.phrases if part in parts]

    def goal(self, words: tuple[str, ...]) -> bool:
        """Whether a phrase of place may name an object, not a part of the desk."""
        return _object(words)

    @property
    def pronoun(self) -> bool:
        """Whether it acts on "it"."""
        return any(set(words) <= vb.PRONOUNS for words in self.of(OBJECT))


@dataclass(frozen=True)
class Reading:
    """What a text asks for.

    Attributes:
        requests: its requests by shape; they say which acts are asked for.
        unread: those of them that the grammar does not read: only their phrases say which objects are meant.
        intents: what the grammar reads in the sentences that ask; objects are meant by them where it reads a sentence wholly.
        kept: phrases for what shall stay in peace.
    """

    requests: list[Request] = field(default_factory=list)
    unread: list[Request] = field(default_factory=list)
    intents: list[Intent] = field(default_factory=list)
    kept: list[tuple[str, ...]] = field(default_factory=list)


def read(text: str, answering: bool = False) -> Reading:
    """The requests of a text in the person's own words; ``answering`` where a phrase alone ("the green one") means something too."""
    reading = Reading()
    asked: list[tuple[list[str], list[Request]]] = []
    named: list[tuple[str, ...]] = []
    for sentence in _sentences(text):
        body: list[str] = []
        mine: list[Request] = []
        for segment in moods.segments(sentence):
            words = segment.words
            if segment.mood is Mood.ASKS:
                request, kept = clause(words)
                mine.append(_with_named(request, named))
                reading.kept.extend(kept)
                named = named if request.pronoun else _objects_of(request)
            elif segment.mood is Mood.RULES and segment.asked:
                mine.append(_with_named(clause(segment.asked)[0], named))
                named = _first_named(words) or named
            elif segment.mood is Mood.RULES:
                named = _first_named(words) or named
            elif segment.mood is Mood.FORBIDS:
                reading.kept.extend(_forbidden(words))
                words = words if words[0] in vb.PEACE else ("do", "not", *words)
            elif segment.mood is Mood.PHRASE and answering:
                mine.append(_answer(words))
                reading.kept.extend(mine[-1].of(KEPT))
            elif segment.mood in (Mood.STATES, Mood.WONDERS):
                named = _first_named(words) or named
                continue
            body += [*([segment.link] if segment.link and (body or segment.link in ("otherwise", "else")) else []), *words]
        asked.append((body or _question(sentence), mine))
        reading.requests.extend(mine)
    _meant(asked, reading)
    reading.unread.extend(request for request in reading.requests if request.pronoun and request not in reading.unread)
    if answering:
        reading.unread.extend(request for request in reading.requests if not request.verb and request not in reading.unread)
    return reading


def _meant(asked: Sequence[tuple[list[str], list[Request]]], reading: Reading) -> None:
    """Let the grammar read the sentences that ask: all together, since one may speak of what another names, else each by itself."""
    whole = _understood(". ".join(" ".join(body) for body, _ in asked if body))
    reading.intents.extend(whole or ())
    for body, requests in asked if whole is None else ():
        intents = _understood(" ".join(body))
        reading.intents.extend(intents or ())
        reading.unread.extend(requests if intents is None else ())


def _objects_of(request: Request) -> list[tuple[str, ...]]:
    """What "it" means behind a request."""
    found = [words for words in request.of(OBJECT) if words[0] not in vb.ASKING]
    return found or request.of(INTO) or request.of(MENTIONED)


def _first_named(words: Sequence[str]) -> list[tuple[str, ...]]:
    """What "it" means behind a statement or a question: the first noun phrase that is no pronoun."""
    for start, word in enumerate(words):
        if word in vb.DETERMINERS or word == "whose":
            stops = (i for i in range(start + 1, len(words)) if words[i] in vb.STATING | vb.RULING | vb.RELATIVE | {",", "and"} or _at_preposition(words, i))
            end = next(stops, len(words))
            if end > start + 1:
                return [("the", *words[start + 1 : end])]
    return []


def _at_preposition(words: Sequence[str], i: int) -> bool:
    return any(match(words, i, phrases) for phrases, _ in _PREPOSITIONS)


def _question(sentence: str) -> list[str]:
    """A question about the desk, which names objects for the sentence behind it; else nothing."""
    return [sentence] if sentence.endswith("?") and all(isinstance(item, Ask) for item in parse(sentence).intents) else []


def _with_named(request: Request, named: list[tuple[str, ...]]) -> Request:
    """A pronoun is what the clause before has named."""
    return replace(request, phrases=(*request.phrases, *((OBJECT, words) for words in named))) if request.pronoun else request


def _understood(text: str) -> list[Intent] | None:
    """The intents of a text that the grammar reads wholly; None when there is a clause that it does not read."""
    intents = list(parse(text).intents) if text else []
    return None if any(isinstance(item, Unclear | Impossible) for item in intents) or (text and not intents) else intents


_QUOTED = re.compile(r"[\"“”«»„]([^\"“”«»„]*)[\"“”«»„]|(?<!\w)[‘']([^‘’'\n]{4,})['’](?!\w)|`([^`]*)`")
_TOLD_BY_TEXT = re.compile(r"(?m)^\s*>.*$|<[^<>\n]{0,80}>")


_SPEAKER = re.compile(r"(?m)(?:^|[.!?]\s+)[A-Z][\w.-]*(?:\s+[A-Z][\w.-]*)*\s*:\s")
"""A name before a colon, as in the record of a talk."""
_TELLING = re.compile(
    r"\b(say|says|said|saying|read|reads|write|writes|wrote|written|tell|tells|told|ask|asks|asked|state|states|stated|show|shows|print|prints|printed|note|"
    r"label|sign|sticker|message|mail|email|letter|text|memo|page|paper|post|card|ticket|log|output|result|error|caption|screen|display|manual|from|subject)\b"
)
"""Words of telling, and what bears text: "the label says: …". A colon after other words ("she is left-handed: lay …") is the user's own."""


def quotes_others(text: str) -> bool:
    """Whether a text holds words of somebody else: quoted (three words or more), forwarded (lines behind ">"), or behind "it says:"."""
    quoted = any(len(said.split()) >= 3 for found in _QUOTED.finditer(text) for said in found.groups() if said)
    told = _TOLD_BY_TEXT.sub(" ", text)
    if quoted or told != text or _SPEAKER.search(text):
        return True
    reported = (_reported(sentence) for paragraph in _paragraphs(_unquoted(told)) for sentence in paragraph)
    return any(before is not None and _TELLING.search(" ".join(before)) for before in reported)


def _reported(sentence: str) -> list[str] | None:
    """What stands before the words of somebody else ("the label says: …"); None where nobody is quoted so."""
    *before, last = re.split(r" ?: ?", sentence)
    reported = next((index for index, part in enumerate(before) if not moods.introduces(part)), None)
    return before[: reported + 1] if reported is not None and not all(moods.is_phrase(part) for part in (*before, last)) else None


def _unquoted(text: str) -> str:
    return _QUOTED.sub(lambda found: next((f" {said} " for said in found.groups() if said and len(said.split()) < 3), " something "), text)


def _paragraphs(text: str) -> Iterator[list[str]]:
    """The sentences of each paragraph, normalised."""
    for paragraph in re.split(r"\n\s*\n", text):
        yield re.split(r"\s*[;!]\s*|\s*[.](?!\w)\s*|\s*(?<=\?)\s*", re.sub(r"\bor\b", "and", normalise(paragraph)))


def _sentences(text: str) -> list[str]:
    """Its sentences; what is quoted, and what follows "it says:", is somebody else's."""
    text = _unquoted(_TOLD_BY_TEXT.sub(" ", text))
    text = re.sub(r"(?i)\b(?:so|such|in (?:such )?a way) that(?= (?:you|i|we|he|she|they|it|there)\b)", "because", text)  # what for
    found: list[str] = []
    for paragraph in _paragraphs(text):
        for sentence in paragraph:
            before = _reported(sentence)
            if before is not None:
                found += before
                break  # what somebody else wrote may go on to the end
            found.append(sentence)
    return [sentence for sentence in found if re.search(r"[a-z0-9]", sentence) and set(moods.words_of(sentence)) != {"something"}]  # nothing but a quotation


# ---------------------------------------------------------------- one clause


_PREPOSITIONS: list[tuple[tuple[tuple[str, ...], ...], str]] = [
    (vb.EXCLUDING, KEPT), (lex.IN, INTO), (lex.ON, INTO), (lex.phrases("to, ->, at"), INTO), (tuple(lex.BESIDE), BESIDE), (lex.FROM, MENTIONED),
    (vb.WITH, WITH),
    (vb.ASIDE, MENTIONED),
]  # fmt: skip
_TO_ONLY = frozenset(("to", "into", "onto", "->"))
"""What says where to with any verb; "in" and "on" say where an object is when it is picked, wiped or handed over."""
_GOAL_VERBS = (vb.SORTS[vb.MOVE] | vb.words("drive")) - vb.words(
    "pick grab grasp lift take fetch get hold seize snatch retrieve reach remove release hand give pass raise lower grip pull empty unload undo"
)
_ASIDE = vb.words("away aside down back here there apart together elsewhere somewhere")
_ONTO_IT = ("on", "at", "over", "against", "across", "upon")
_SAID_OF_ACTS = vb.words("please now too first here there little bit go fall loose yet soon instead immediately slightly fast slow quickly very")
_NOT_AN_OBJECT = (
    vb.words("left right middle centre center front back side half part area hand corner edge top bottom here there row line circle order end")
    | lex.TABLE_NOUNS
)


def clause(words: Sequence[str]) -> tuple[Request, list[tuple[str, ...]]]:
    """A request from the words of its clause, the verb first, and the phrases that it excludes."""
    words = list(words)
    if words[0] == "give" and "a" in words[2:-1] and any(words[-1] in vb.SORTS[sort] for sort in (vb.WIPE, vb.PUSH, vb.TOUCH)):
        last = len(words) - 1 - words[::-1].index("a")
        words = [words[-1], *words[1:last]]  # "give the desk a quick wipe"
    verb, i = words[0], 1
    indirect = False
    while i < len(words) and (words[i] in _particles(verb) or words[i] in ("rid", "go", "me", "us")):
        if words[i] in ("out", "off") and words[i + 1 : i + 2] == ["of"] and words[i - 1] != "rid":
            break
        indirect = indirect or words[i] in ("me", "us")
        i += 1
    if words[i : i + 1] == ["of"]:
        i += 1
    chunks = _chunks(words, i)
    if len(chunks) > 1 and not chunks[0][2] and chunks[1][1] in _ONTO_IT and any(verb in vb.SORTS[sort] for sort in (vb.TOUCH, vb.WIPE, vb.PUSH)):
        chunks[1] = (OBJECT, *chunks[1][1:])  # "press on the sponge"
    phrases = _roles(verb, chunks)
    if verb in ("use", "take") and "to" in words and words[words.index("to") + 1 : words.index("to") + 2] and vb_is(words[words.index("to") + 1]):
        start = words.index("to") + 1
        inner, _ = clause(words[start:])
        phrases = [(part, said) for part, said in phrases if part == OBJECT][:1] + list(inner.phrases)
        verb = words[start] if verb == "use" else verb
    if indirect:
        phrases.append((INTO, ("me",)))
    aside = any(word in _ASIDE and words[index - 1] not in vb.DETERMINERS for index, word in enumerate(words))
    return Request(verb, tuple(words), tuple(phrases), aside), [said for part, said in phrases if part == KEPT]


def vb_is(word: str) -> bool:
    """Whether it is a verb of motion in its base form."""
    return any(word in known for known in vb.SORTS.values())


def _particles(verb: str) -> frozenset[str]:
    more = {"over"} if verb in ("hand", "turn", "tip", "flip", "give", "pass", "roll", "bring", "move", "take", "put") else set()
    return (vb.PARTICLES - {"in", "on", "over", "along", "around", "round"}) | more


def _chunks(words: Sequence[str], start: int) -> list[tuple[str, str, list[str], bool]]:
    """The phrases behind the verb: (part, preposition, words, whether in a relative clause)."""
    out: list[tuple[str, str, list[str], bool]] = [(OBJECT, "", [], False)]
    relative = False
    i = start
    while i < len(words):
        length, part = max(((match(words, i, phrases), -rank) for rank, (phrases, _) in enumerate(_PREPOSITIONS)), default=(0, 0))
        if words[i] in vb.RELATIVE and not (words[i] in ("that", "what") and i == start):
            relative = True
            out.append((MENTIONED, words[i], [], True))
            i += 1
        elif length and words[i] == "to" and i + 1 < len(words) and vb_is(words[i + 1]) and words[i + 1] not in lex.KIND_WORDS and _opens(words, i + 1):
            break  # "… to make room": what for
        elif length:
            refused = out[-1][0] == KEPT and not out[-1][2]  # "not on the phone"
            out.append((KEPT if refused else _PREPOSITIONS[-part][1], " ".join(words[i : i + length]), [], relative))
            i += length
        elif words[i] in (",", ":", "(", ")"):
            relative = False
            out[-1][2].append(",")
            i += 1
        else:
            out[-1][2].append(words[i])
            i += 1
    return out


def _opens(words: Sequence[str], i: int) -> bool:
    after = words[i + 1] if i + 1 < len(words) else ""
    return not after or after in vb.DETERMINERS or after in vb.PRONOUNS or after in vb.PARTICLES or after in vb.ROOMS


def _roles(verb: str, chunks: list[tuple[str, str, list[str], bool]]) -> list[tuple[str, tuple[str, ...]]]:
    """Parts and phrases; of several places the last one is the goal, those before say where the object is."""
    filling = verb in ("fill", "load") and any(part == WITH for part, *_ in chunks)
    goals = [index for index, (part, said, words, relative) in enumerate(chunks) if part in (INTO, BESIDE) and _is_goal(verb, said) and _object(words)]
    outer = [index for index in goals if not chunks[index][3]] or goals[-1:]
    parts: list[tuple[str, tuple[str, ...]]] = []
    for index, (part, said, words, relative) in enumerate(chunks):
        if (part in (INTO, BESIDE) and index not in outer[-1:]) or (relative and part in (OBJECT, WITH)):
            part = MENTIONED
        elif part == WITH and verb in vb.SORTS[vb.MOVE] - vb.SORTS[vb.WIPE] and not filling and verb not in ("build", "make", "form", "construct", "cover"):
            part = BESIDE if said == "with" else OBJECT
        elif part == WITH:
            part = OBJECT
        elif part == OBJECT and filling:
            part = INTO
        if verb in ("build", "make", "form", "construct", "erect") and said in ("from", "out of"):
            part = OBJECT
        parts += [(part, item) for item in _listed(words)]
    return parts


def _is_goal(verb: str, said: str) -> bool:
    return verb in _GOAL_VERBS or said in _TO_ONLY or not vb_is(verb)


def _object(words: Sequence[str]) -> bool:
    """Whether a phrase of place may be an object, not a part of the desk."""
    return any(word.isalpha() and word not in _NOT_AN_OBJECT and word not in vb.DETERMINERS and word not in lex.FILLERS and word != "of" for word in words)


def _listed(words: Sequence[str]) -> list[tuple[str, ...]]:
    """The phrases of a list."""
    out: list[list[str]] = [[]]
    for word in words:
        if word in ("and", ",", "then"):
            out.append([])
        else:
            out[-1].append(word)
    return [tuple(item) for item in map(_bare, out) if any(word not in lex.FILLERS or word in vb.PRONOUNS or word in lex.KIND_OF for word in item)]


def _bare(words: list[str]) -> list[str]:
    """A phrase without what is said behind it of the act: "the cup away", "the arm a little", "the cup very carefully", "the cup somewhere safe"."""
    words = words[
        : next((i for i, word in enumerate(words) if i and word in ("somewhere", "someplace", "anywhere", "elsewhere", "until", "again")), len(words))
    ]
    while len(words) > 1 and (words[-1] in vb.PARTICLES or words[-1] in _SAID_OF_ACTS or (words[-1].endswith("ly") and len(words) > 2)):
        words = words[:-2] if words[-2:] in (["a", "little"], ["a", "bit"], ["a", "touch"], ["at", "once"]) else words[:-1]
    return words


def _forbidden(words: Sequence[str]) -> list[tuple[str, ...]]:
    """What "do not touch the cup", "leave the cup" means to stay; empty for "do not drop it", which says how."""
    if not words or words[0] in vb.DROPPING or words[0] not in vb.KEEPING:
        return []
    request, kept = clause(words)
    moved = [] if words[0] not in vb.PEACE and request.of(INTO, BESIDE) else request.of(OBJECT)
    return [said for said in (*moved, *kept) if not set(said) <= vb.PRONOUNS]


def _answer(words: Sequence[str]) -> Request:
    """A phrase for an object, or for where it goes: nobody knows which."""
    chunks = [(part if part in (KEPT, MENTIONED, BESIDE) else OBJECT, said) for part, _, body, _ in _chunks(words, 0) for said in _listed(body)]
    both = [(INTO, said) for part, said in chunks if part == OBJECT]
    return Request("", tuple(words), (*chunks, *both))
