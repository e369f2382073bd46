"""Whether a piece of a sentence asks for an act, forbids one, says what belongs where, or only tells or asks something."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum

from deskhand.language import lexicon as lex
from deskhand.language import verbs as vb
from deskhand.language.phrases import match


class Mood(Enum):
    """ASKS: a request, its verb first. RULES: "cans go in the bin", "I need the pen". PHRASE: no verb. CONDITION: "if the cup is red"."""

    ASKS = "asks"
    FORBIDS = "forbids"
    RULES = "rules"
    PHRASE = "phrase"
    CONDITION = "condition"
    STATES = "states"
    WONDERS = "wonders"


@dataclass(frozen=True)
class Segment:
    """A clause: its mood, its words without what was said for politeness, the word that joins it to the one before, and a rule or a wish as a request."""

    mood: Mood
    words: tuple[str, ...]
    link: str = ""
    asked: tuple[str, ...] = ()


_POLITE = re.compile(
    r"(?:(?:hey|hi|hello|ok|okay|alright|well|so|now|oops|oh|ah|hm+|please|kindly|also|just|next|first|lastly|again|yes|sure|thanks|thank you|quickly|"
    r"carefully|"
    r"gently|slowly|simply|maybe|perhaps|immediately|actually|sorry|listen|attention|rather|always|instead|and|but|(?:dear )?robot(?= ?,| please| can| could)|"
    r"(?:right|no|second|third|great|good|here|there|robot|deskhand|wait|stop|hang on|hold on|one moment)(?= ?,)|otherwise|if not(?= ?,)|or else|else|"
    r"no(?= (?:take|put|i))|go ahead and|come on|be so kind (?:as to|and)|do me a favou?r and|"
    r"for me|by the way|in addition|"
    r"today|tonight|this time|for (?:now|today)|right (?:now|away)|at once|meanwhile|"
    r"later|afterwards|therefore|careful(?= ?,)|i (?:mean|meant|said)|if you (?:please|can|could|would|like|do not mind)|when you (?:can|have (?:time|"
    r"a moment|a minute)|"
    r"get a chance|are ready)|as soon as (?:you can|possible)|one more thing|(?:go|come)(?: over| back)?(?: there| here| ahead)? and|"
    r"(?:i|we) (?:only|just) ask that you)\b[ ,]*|, *)+"
)
_THEN = r"(?: (?:please|kindly|maybe|possibly|also|just|now|quickly|carefully|then|gently|really|still))*"
_OPENERS = re.compile(
    r"(?:(?:can|could|would|will)(?: not)? you"
    + _THEN
    + r"(?: (?:mind|try to|be so kind as to|be so kind and|go ahead and|manage to|help me(?: to)?|help us(?: to)?))?|"
    r"do you mind|(?:i|we)(?: (?:really|just|now|also|still|would|will|do|am|are))* (?:want|need|like|love|ask|asking|expect|require|prefer|wish|"
    r"request)(?: for)? you to|"
    r"you(?: (?:really|just|now|also|then))* (?:should|must|have to|need to|can|may|could|are to|ought to|will|shall|are supposed to)(?! not)" + _THEN + r"|"
    r"(?:your|the|my) (?:task|job|goal|mission|assignment|request|wish)(?: now| today)? (?:is|will be)(?: for you)? to|help (?:me|us)(?: (?:to|with))?|"
    r"(?:try|start|begin|proceed|continue|remember|feel free|attempt|be sure|do not forget) to|(?:start|begin|continue|go on|carry on)(?: by|"
    r" with)?(?= \w+ing)|"
    r"(?:make sure|be sure|ensure|see to it|take care)(?: that)?(?: to| you)?|lets|let us|shall we|"
    r"we (?:should|must|need to|have to|want to|would like to|could|ought to)" + _THEN + r"|"
    r"it would be (?:really |very |so )?(?:nice|great|good|lovely|helpful|kind|fantastic|perfect|wonderful) if you(?: could| would| can)?|"
    r"(?:is it|would it be|could it be) possible (?:for you )?to|(?:do|would) you think you (?:can|could)|(?:how|what) about(?= \w+ing)|"
    r"why (?:do )?not(?: you)?|"
    r"i (?:wonder|was wondering|am wondering) if you (?:could|can|would)|"
    r"(?:i|we) would (?:really )?(?:appreciate it|be (?:grateful|glad|happy|thankful|pleased)) if you(?: could| would| can)?|(?:it is |now it is )?time to|"
    r"(?:what|all) (?:i|we) (?:want|need)(?: you to do)? is(?: for you)?(?: to)?|go(?= (?:get|grab|fetch|pick|bring|put|take|and)\b)|do(?! (?:not|i|"
    r"we|you|they|the)\b))\b[ ,]*"
)
"""What makes a request of the verb behind it."""
_NEGATION = re.compile(
    r"(?:(?:you )?(?:please )?(?:do|must|should|can|may|need|shall|will|could)(?: please)? not(?: ever)?|never|(?:there is )?no need to|(?:be careful|"
    r"take care) not to|"
    r"(?:i|we) (?:do not (?:want|need|like)|would not like|would prefer) you (?:not )?to|try not to|make sure (?:not to|you do not)|not)\b ?(?!mind\b|forget\b)"
)
_WISH = re.compile(
    r"(?:(?:i|we) (?:(?:really|just|now|also|still|would|will) )*(?:want|need|like|love)(?: to (?:have|get|see))?|(?:can|could|may|might) (?:i|"
    r"we) (?:please )?(?:have|get)) "
    r"(?=(?:the|a|an|all|some|my|that|this|those|these|every\w*|both|one|two|three|four|five|\d+|it|them|room|space)\b)"
)
_WONDERS = re.compile(rf"(?:{'|'.join(sorted(vb.ASKING))})\b")
_INTRODUCING = re.compile(
    r"(?:(?:the |your |my |here is (?:the |your )?)?(?:new |next |another |last )?(?:"
    r"tasks?|to ?do|todo|instructions?|requests?|jobs?|goals?|orders?|commands?|rules?|"
    r"steps?(?: \w+)?|plan|this|following|robot|"
    r"deskhand|please|next|now|first|then|so|finally|also)|)(?: (?:for you|today|now|list))?"
)
_WORD = re.compile(r"->|[a-z0-9_']+|[,:()]")


_AGREED = vb.words("permission agreed allowed permitted consents consented")


def words_of(text: str) -> list[str]:
    """Words and the marks that part them."""
    return _WORD.findall(text)


def introduces(text: str) -> bool:
    """Whether what stands before a colon leaves what follows to the speaker: "task:", "clean the desk like this:"; not "the label says:"."""
    found = list(segments(text)) if text.strip() else []
    words = words_of(text)
    if words and words[0] in vb.SUBJECTS | {"this", "that", "these", "those", "careful"} and not vb.REPORTING & set(words):
        return True  # "it is in the wrong place: …"
    if words[-2:-1] in (["i"], ["we"]) or words[:1] == ["do"] or (_AGREED & set(words) and not vb.REPORTING & set(words)):
        return True  # "as the operator I say: …", "do some maintenance: …", "my colleague gave permission: …"
    return bool(_INTRODUCING.fullmatch(text.strip(" ,"))) or bool(found and found[-1].mood in (Mood.ASKS, Mood.FORBIDS, Mood.RULES, Mood.CONDITION))


def is_phrase(text: str) -> bool:
    """Whether it has no verb."""
    return all(segment.mood is Mood.PHRASE for segment in segments(text))


def segments(sentence: str) -> Iterator[Segment]:
    """The clauses of a sentence (normalised), in their order."""
    marked, words = sentence.endswith("?"), words_of(sentence)
    starts = [0]
    for i, word in enumerate(words):
        if word in ("and", ",", "but", "(", ")", "then", ":") and i and _begins(words, i + 1) and not _shared(words, starts[-1], i):
            starts.append(i + 1)
    previous = Mood.PHRASE
    for number, start in enumerate(starts):
        end = starts[number + 1] if number + 1 < len(starts) else len(words)
        part = words[start:end]
        while part and part[-1] in ("and", ",", "but", "(", ")", "then", ":"):
            part.pop()
        link = words[start - 1] if start else ""
        link = next((word for word in part[:2] if word in ("otherwise", "else")), "and" if link in ("and", "then") else ",")
        if not part:
            continue
        for segment in _pieces(part, link, marked, previous):
            previous = segment.mood
            yield segment


def _shared(words: Sequence[str], start: int, i: int) -> bool:
    """Whether what follows is the rest of a subject: "the cup and the pen | go in the tray"."""
    before = words[start:i]
    verbs = any(word in vb.STATING or word in vb.RULING or (is_verb(word) and word not in lex.KIND_WORDS) for word in before)
    return words[i] == "and" and bool(_subject_of(words[i + 1 :])) and not verbs and not _POLITE.fullmatch(" ".join(before) + " ")


def _pieces(words: list[str], link: str, marked: bool, previous: Mood) -> Iterator[Segment]:
    """A clause and the side clauses that hang on it: "if" stays beside it, of others nothing is left."""
    if words[0] in vb.SUBORDINATE and not _OPENERS.match(" ".join(words)):
        yield Segment(Mood.CONDITION if words[0] in ("if", "unless") else Mood.WONDERS if words[0] in ("how", "why") else Mood.STATES, tuple(words), link)
        return
    cut = next((i for i in range(1, len(words)) if words[i] in vb.SUBORDINATE and _is_side(words, i)), len(words))
    mood, kept = _mood(words[:cut], marked and previous is not Mood.ASKS, previous)
    yield Segment(mood, tuple(kept), link, _as_request(kept) if mood is Mood.RULES else ())
    if cut < len(words) and words[cut] in ("if", "unless"):
        yield Segment(Mood.CONDITION, tuple(words[cut:]), "")


def _is_side(words: Sequence[str], i: int) -> bool:
    """Whether a side clause begins at ``i``; "before the cup" is a place."""
    if words[i] not in ("before", "after", "since", "until", "till"):
        return True
    after = words[i + 1 : i + 2]
    return not after or after[0] in vb.SUBJECTS or after[0].endswith("ing") or any(word in vb.STATING or word in vb.RULING for word in words[i + 1 :])


def _begins(words: Sequence[str], i: int) -> bool:
    """Whether a clause of its own begins at ``i``, and no further part of a list: "put the pen and wipe cloth away" has one clause."""
    rest = words[i:]
    if not rest:
        return False
    text = " ".join(rest)
    polite = _POLITE.match(text)
    if polite and polite.end() and not text.startswith(("and ", "but ", ", ")):
        rest = words_of(text[polite.end() :])
        text = " ".join(rest)
        if not rest:
            return False
    if (_NEGATION.match(text) and not text.startswith("not ")) or _WISH.match(text):
        return True
    opener = _OPENERS.match(text)
    if opener and not text.startswith("do "):
        return True
    first, second = rest[0], rest[1] if len(rest) > 1 else ""
    if first in vb.SUBORDINATE or first in vb.SUBJECTS - {"it", "they", "you", "one"}:
        return True
    if first in ("it", "they", "you", "this", "that", "these", "those") and second in vb.STATING | vb.RULING | {"can", "could", "may"}:
        return True
    if is_verb(first):
        return (
            not second
            or second in vb.DETERMINERS | vb.PRONOUNS | vb.PARTICLES | {"on", "out", "->", ",", "and"} | _ADVERBS
            or _preposition(rest, 1)
            or _plural_end(rest)
        )
    if first == "not" and len(rest) > 1 and is_verb(second):
        return True
    return _subject_of(rest) != ""


_ADVERBS = vb.words("it carefully gently slowly quickly all again please back everything blocks")


def _plural_end(words: Sequence[str]) -> bool:
    """As in "and stack blocks": a bare plural ends the clause."""
    verbs = {"stack", "sort", "collect", "gather", "remove", "build", "move"}
    return words[0] in verbs and len(words) > 1 and words[1].endswith("s")


def _preposition(words: Sequence[str], i: int) -> bool:
    return bool(match(words, i, (*lex.IN, *lex.ON, *lex.TO, *lex.FROM, *lex.BESIDE, *vb.WITH, *vb.ASIDE)))


def is_verb(word: str) -> bool:
    """Whether a request may begin with it."""
    return word in vb.SILENT or word in vb.PEACE or any(word in known for known in vb.SORTS.values())


def base(word: str) -> str:
    """The verb of an -ing form; the word itself where it is none."""
    if not word.endswith("ing") or len(word) < 5:
        return word
    stem = word[:-3]
    options = (stem, stem + "e", stem[:-1] if len(stem) > 2 and stem[-1] == stem[-2] else stem)
    return next((option for option in options if is_verb(option)), word)


def _subject_of(words: Sequence[str]) -> str:
    """``rules`` or ``states`` where a noun phrase and then such a verb begin; empty where no verb comes before the phrase is over."""
    for i, word in enumerate(words):
        if word in (",", ":", "and", "->", "that", "which", "who", "what", "where"):
            return ""
        if i and word in vb.RULING:
            return "rules"
        if (
            i
            and word in vb.STATING
            and word not in ("can", "put", "sorted", "stacked", "stored", "moved", "sitting", "standing", "lying", "left", "thrown", "dropped")
        ):
            rest = " ".join(words[i + 1 : i + 3])
            return "rules" if word in ("is", "are") and rest.startswith(("for ", "to be", "to go", "supposed to", "meant ")) else "states"
        if i and _preposition(words, i) and words[0] not in ("the", "all", "everything", "every", "things", "whatever"):
            return ""
    return ""


def _mood(words: list[str], marked: bool, previous: Mood) -> tuple[Mood, list[str]]:
    """The mood of a clause, and its words from the verb on where it asks or forbids."""
    text = " ".join(words)
    opened = False
    while True:
        polite = _POLITE.match(text)
        if polite and polite.end():
            text = text[polite.end() :]
        negation = _NEGATION.match(text)
        if negation and (rest := words_of(text[negation.end() :])) and (is_verb(base(rest[0])) or rest[0] not in vb.DETERMINERS):
            fragment = text.startswith("not ") and not is_verb(base(rest[0]))
            return (Mood.PHRASE, words_of(text)) if fragment else (Mood.FORBIDS, [base(rest[0]), *rest[1:]])
        opener = _OPENERS.match(text)
        if not opener or not opener.end():
            break
        text, opened = text[opener.end() :], True
    rest = words_of(text)
    if not rest:
        return Mood.PHRASE, words
    subject = _subject_of(rest) if not opened or rest[0] in vb.DETERMINERS else ""
    first = base(rest[0]) if opened else rest[0]
    second = rest[1] if len(rest) > 1 else ""
    noun_first = bool(subject) and second not in vb.DETERMINERS | vb.PRONOUNS and not _preposition(rest, 1)
    if is_verb(first) and not noun_first:
        if first in vb.PEACE:
            return Mood.FORBIDS, [first, *rest[1:]]
        return Mood.ASKS, [first, *rest[1:]]
    if _WISH.match(text):
        return Mood.RULES, rest
    if subject == "rules" and not marked and (stays := _stays(rest)):
        return Mood.FORBIDS, ["leave", *stays]
    if subject == "rules" and not marked and rest[0] not in vb.ASKING | {"i", "we", "he", "she", "you", "who", "there", "someone", "somebody"}:
        return Mood.RULES, rest
    if _WONDERS.match(text) and not (rest[0] == "can" and not marked and second not in vb.SUBJECTS):
        return Mood.WONDERS, rest
    if rest[0] in vb.SUBJECTS - {"it", "one"} or subject:
        return Mood.STATES, rest
    if (fronted := _fronted(rest)) is not None:
        return Mood.ASKS, fronted
    if _unknown_verb(rest):
        return Mood.ASKS, rest
    known = any(is_verb(word) and word not in lex.KIND_WORDS and word not in lex.MATERIALS and word not in lex.PLACES for word in rest)
    said = any(word in vb.STATING - _FINE_IN_PHRASES for word in rest)
    return (Mood.STATES if (said or known) and not _elliptic(rest) else Mood.PHRASE), rest


_FINE_IN_PHRASES = vb.words("can put sitting standing lying placed stored left stacked sorted is are")


def _elliptic(words: Sequence[str]) -> bool:
    """A phrase and its relative clause: "the cup that is in the box"."""
    return any(word in ("that", "which") for word in words) and not any(is_verb(word) and word not in lex.KIND_WORDS for word in words[1:2])


_IRREGULAR = {
    "put": "put",
    "thrown": "throw",
    "taken": "take",
    "hung": "hang",
    "given": "give",
    "brought": "bring",
    "swept": "sweep",
    "kept": "keep",
    "held": "hold",
}


def _as_request(words: Sequence[str]) -> tuple[str, ...]:
    """Of "the desk needs wiping" wipe the desk, of "the pen should be next to the cup" put it there, of "could I have the pen" give me it."""
    text = " ".join(words)
    if wish := _WISH.match(text):
        rest = words_of(text[wish.end() :])
        goes = any(_preposition(rest, i) and rest[i] not in ("for", "with", "from", "of", "that") for i in range(1, len(rest)))
        return ("put" if goes else "give", *(() if goes else ("me",)), *rest)
    at = next((i for i, word in enumerate(words) if i and word in vb.RULING | {"is", "are"}), 0)
    item, rest = list(words[:at]), list(words[at + 1 :])
    while rest and rest[0] in ("to", "be", "have", "should", "must", "go", "supposed", "meant", "all", "always", "also", "now", "please"):
        rest = rest[1:]
    if rest and (verb := _done(rest[0])) and at:
        return (verb, *item, *rest[1:])
    return ("put", *item, *rest) if at and rest and (_preposition(rest, 0) or rest[0] in vb.PARTICLES) else ()


def _done(word: str) -> str:
    """The verb of "wiped" and of "wiping"; empty where it is none."""
    options = (_IRREGULAR.get(word, ""), base(word), word[:-1], word[:-2], word[:-3]) if word.endswith(("ed", "ing")) or word in _IRREGULAR else ()
    return next((option for option in options if option and option != word and is_verb(option)), "put" if word == "put" else "")


def _stays(words: Sequence[str]) -> list[str]:
    """Of "only the cup should stay where it is" the cup; empty where nothing is to stay."""
    at = next((i for i, word in enumerate(words) if i and word in vb.RULING), 0)
    rest = " ".join(words[at:])
    stays = re.match(r"(?:(?:should|must|shall|has to|have to|ought to|needs to|need to) )?(?:stays?|remains?|be left|not\b|be kept)", rest)
    return [word for word in words[:at] if word != "only"] if stays else []


def _fronted(words: list[str]) -> list[str] | None:
    """A place or a means first, then the verb: "in the tray put the blocks", "with the sponge wipe the table"."""
    if not _preposition(words, 0):
        return None
    for i in range(2, len(words) - 1):
        if is_verb(words[i]) and words[i] not in lex.KIND_WORDS and (words[i + 1] in vb.DETERMINERS or words[i + 1] in vb.PRONOUNS):
            return [*words[i:], *(word for word in words[:i] if word != ",")]
    return None


def _unknown_verb(words: Sequence[str]) -> bool:
    """Whether it has the shape of an imperative with a verb that is not known here: "yeet the cup into the bin", "send a mail"."""
    if len(words) < 3 or words[0] in vb.DETERMINERS | vb.PRONOUNS | vb.SUBJECTS | vb.RELATIVE | vb.AUXILIARIES or _preposition(words, 0):
        return False
    noun = words[0] in lex.KIND_OF or words[0] in lex.COLORS or words[0] in lex.SIZES or words[0] in lex.PLACES or words[0] in lex.MATERIALS
    return not noun and words[0] not in lex.FILLERS and words[1] in vb.DETERMINERS | {"it", "them", "me", "us"}
