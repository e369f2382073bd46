"""Reads the clauses of one sentence from left to right: verbs, noun phrases, prepositions, exceptions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from deskhand.language import lexicon as lex
from deskhand.language.coverage import OPERATORS
from deskhand.language.intents import NOT, Ask, Intent, Place, Ref
from deskhand.language.meaning import EVERYTHING, Clause, Context, container_like, meaning
from deskhand.language.phrases import SEPARATORS, at, match, parse_ref, second_of

_PICK_MODIFIERS = frozenset(("in", "on", "left_of", "right_of", "in_front_of", "behind", "near", "under", "between"))

_STAYING = frozenset(("stay", "stays", "remain", "remains"))


def _acts(words: Sequence[str], start: int) -> bool:
    """Whether a verb stands between ``start`` and the next separator: a clause of its own."""
    end = next((i for i in range(start, len(words)) if words[i] in SEPARATORS), len(words))
    return any(match(words, i, tuple(lex.VERBS)) and words[i] not in lex.MATERIALS | lex.KIND_WORDS.keys() for i in range(start, end))


class ClauseReader:
    """Keeps what "it" and "the blue one" mean from one sentence to the next."""

    def __init__(self) -> None:
        self._last: tuple[Ref, ...] = ()
        self._noun: Ref | None = None
        self._placed: tuple[str, Ref] | None = None
        self._container: Ref | None = None
        self._clause = Clause()
        self._out: list[Intent] = []
        self._phrase_end = -1
        self._open = True
        """Whether a noun phrase may stand here: none right behind another."""

    def remember(self, intents: Sequence[Intent]) -> None:
        """A question names objects too ("Is there a cup? Put it in the bin")."""
        for item in intents:
            if isinstance(item, Ask) and item.about is not None:
                self._last = (item.about,)

    def mention(self, refs: Sequence[Ref]) -> None:
        """These were named: "it" is one of them from now on."""
        named = tuple(ref for ref in refs if not (ref.table or ref.pronoun))
        self._last = named or self._last
        if self._noun is None and len(named) == 1 and named[0].count != 1:  # "there are four stars": then "the red one" is a star
            self._noun = named[0]

    def named(self, ref: Ref) -> Ref:
        """What a pronoun stands for, where one object was named before; else the phrase itself."""
        return self._last[0] if ref.pronoun and len(self._last) == 1 else ref

    def read(self, words: Sequence[str]) -> list[Intent]:
        """The intents of a sentence. Without a verb it goes on with what the one before did ("put the cup in the tray, then the pen")."""
        self._clause, self._out, self._phrase_end, self._open = Clause(), [], -1, True
        if any(match(words, i, tuple(lex.VERBS)) or words[i] in lex.LINKING for i in range(len(words))):
            self._placed = None
        i = 0
        while i < len(words):
            i = self._step(words, i)
        self._emit()
        return self._out

    # ------------------------------------------------------------ one step

    def _step(self, words: Sequence[str], i: int) -> int:
        clause, word = self._clause, words[i]
        start = i
        if word in SEPARATORS:
            i, self._open = self._separator(words, i), True
        elif clause.verb == "impossible":
            i += 1
        elif (
            word == "not"
            and (match(words, i + 1, tuple(lex.VERBS)) or at(words, i + 1) in lex.IMPOSSIBLE_VERBS)
            and not (clause.refs and at(words, i + 1) in {"go", "belong"})
        ):
            self._emit()
            self._clause.negated = self._open = True
            i += 1
        elif word == "but" and clause.refs and clause.refs[-1].count == 0 and not clause.in_except and parse_ref(words, i + 1) and not _acts(words, i + 1):
            clause.in_except = self._open = True  # "everything but the cup"
            i += 1
        elif (length := match(words, i, lex.EXCEPT)) and self._excepts(words, i):
            clause.in_except = self._open = True
            i += length
        elif (found := self._preposition(words, i)) is not None or (found := self._verb(words, i)) is not None:
            i = found
        elif phrase := parse_ref(words, i):
            if not self._open and not (
                phrase[0].pronoun and clause.verb == "leave"
            ):  # "everything that rolls", "the heavy block": what stands beside a noun says something about it
                clause.unknown += self._said_beside(phrase[0], i)
            if phrase[0].words == "all" and clause.verb and "inherited" in clause.flags:  # "put the balls in the tray, all but the blue one": all of them
                clause.unknown.append("all")
            self._phrase_end, self._open = phrase[1], False
            (clause.excepts if clause.in_except else clause.refs).append(phrase[0])
            i = phrase[1]
        else:
            i = self._other(words, i)
        self._clause.words += words[start:i]
        return i

    def _excepts(self, words: Sequence[str], i: int) -> bool:
        """Whether what stands here leaves something out; "that is not a block", "is not for blocks" say something else."""
        return words[i] != "not" or i == self._phrase_end or (words[i - 1] if i else ",") in {"but", *SEPARATORS}

    def _said_beside(self, ref: Ref, i: int) -> list[str]:
        """The words that nobody knows of two phrases of which one stands behind the other."""
        before = [last.noun for last in self._clause.refs[-1:] if last.noun and i == self._phrase_end and not ref.noun]
        return before or ([ref.noun] if ref.noun else ref.words.split())

    def _separator(self, words: Sequence[str], i: int) -> int:
        clause, word = self._clause, words[i]
        if word == ":":
            return self._colon(words, i)
        if clause.verb == "impossible":
            if match(words, i + 1, tuple(lex.VERBS)):
                self._emit()
        elif clause.target is not None and not clause.in_except:
            verb = clause.verb
            if not (at(words, i + 1) in SEPARATORS or match(words, i + 1, lex.EXCEPT) or at(words, i + 1) in {"but"}):
                self._emit()
                self._inherit(verb)
        elif clause.fronted is not None and clause.refs and clause.target is None and match(words, i + 1, (*lex.IN, *lex.ON)):
            verb = clause.verb  # "in the tray put the blocks and in the bin the balls"
            self._emit()
            self._inherit(verb)
        elif clause.in_except and clause.target is not None:
            clause.flags.add(f"break{len(clause.excepts)}")
        elif clause.verb in {"tidy", "sort"} and clause.refs and all(ref.table for ref in clause.refs):
            self._emit()
        return i + 1

    def _inherit(self, verb: str) -> None:
        if verb in {"put", "stack", "discard"}:
            self._clause.verb = verb
            self._clause.flags.add("inherited")

    def _colon(self, words: Sequence[str], i: int) -> int:
        clause = self._clause
        if clause.verb in {"tidy", "sort", "build"}:
            self._emit()
        elif clause.refs and not clause.verb and clause.target is None:
            after = parse_ref(words, i + 1)
            if after and container_like(after[0]) and not container_like(clause.refs[0]):
                clause.relation, clause.target = "auto", after[0]  # "balls: the bin"
                return after[1]
            if container_like(clause.refs[-1]) and len(clause.refs) == 1:
                clause.fronted, clause.refs = ("auto", clause.refs[0]), []  # "bin: cans and cups"
        elif clause.target is not None:
            self._emit()
        return i + 1

    # ------------------------------------------------------------ prepositions

    def _preposition(self, words: Sequence[str], i: int) -> int | None:
        clause = self._clause
        if words[i] in {"for", "with", "using"} and (clause.refs or clause.verb == "build"):
            return self._reversal(words, i)
        if words[i] == "of" and clause.verb in {"build", "tidy"}:
            return i + 1
        options: list[tuple[int, str]] = [
            (match(words, i, lex.IN), "in"),
            (match(words, i, lex.ON), "on"),
            (match(words, i, lex.TO), "auto"),
            (match(words, i, lex.FROM), "from"),
        ]
        options += [(len(phrase), relation) for phrase, relation in lex.BESIDE.items() if match(words, i, (phrase,))]
        length, relation = max(options, key=lambda option: option[0])
        if not length:
            return None
        phrase = parse_ref(words, i + length)
        if phrase is None:
            return None
        if relation == "on" and words[i] == "over" and clause.verb == "":
            return None
        if relation == "on" and words[i] == "over":  # on it, above it, or round it?
            clause.unknown.append("over")
        if words[i] in {"to"} and match(words, i + 1, tuple(lex.VERBS)):
            return None
        ref, end = second_of(words, *phrase) if relation == "between" else phrase
        self._attach("in" if words[i] == "into" else relation, ref, clear=words[i] in {"into", "onto", "to"})
        self._phrase_end, self._open = end, self._clause.fronted is not None and not self._clause.refs
        return end

    def _reversal(self, words: Sequence[str], i: int) -> int | None:
        """What turns objects round: "the tray is for blocks", "fill the tray with blocks"."""
        clause = self._clause
        if clause.verb == "build":
            return i + 1
        phrase = parse_ref(words, i + 1)
        if phrase is None or not (clause.verb == "fill" or (words[i] == "for" and container_like(clause.refs[-1]))):
            return None
        container = clause.refs.pop()
        if clause.fronted is not None and clause.refs:
            self._emit()
        self._clause.fronted, self._clause.refs, self._clause.verb = ("in", container), [phrase[0]], "fill"
        return phrase[1]

    def _attach(self, relation: str, ref: Ref, clear: bool) -> None:
        """A prepositional phrase: where an object is now, or where it shall go."""
        clause = self._clause
        if relation == "from":
            if clause.refs:
                clause.refs[-1] = replace(clause.refs[-1], where=("at", ref))
            elif clause.verb == "tidy":
                clause.refs.append(replace(EVERYTHING, where=("at", ref)))
            return
        if clause.in_except and not clause.excepts and clause.target is not None:
            clause.flags.add("not there")
            return  # "on the tray, not on the cup"
        if clause.in_except and not clause.excepts and clause.refs and clause.verb == "pick" and relation in _PICK_MODIFIERS and clause.words[-1:] == ["not"]:
            clause.in_except = False  # "pick the cup not next to the tray"
            clause.refs[-1] = replace(clause.refs[-1], where=(f"{NOT}{relation}", ref))
            return
        if clause.in_except and not clause.excepts and clause.refs:
            clause.unknown.append("not")  # "the cup not in the tray"
            return
        if clause.in_except and clause.target is not None and clause.excepts:
            if {f"break{len(clause.excepts) - 1}", f"break{len(clause.excepts)}"} & clause.flags:
                moved = clause.excepts[-1]  # "… except the cup, which goes on the tray"
                self._emit()
                self._clause.refs, self._clause.relation, self._clause.target = [moved], relation, ref
            else:
                clause.excepts[-1] = replace(clause.excepts[-1], where=(relation, ref))
                clause.unknown += ["but"] if "but" in clause.words else []  # "the blocks in the tray but the cup in the bin"
            return
        if not clause.refs:
            clause.fronted = (relation, ref)
        elif clause.verb == "leave" or (clause.verb == "pick" and relation in _PICK_MODIFIERS and not clear):
            clause.refs[-1] = replace(clause.refs[-1], where=(relation, ref))
        elif clause.target is None:
            clause.relation, clause.target = relation, ref
        elif clause.verb == "stack" and clause.relation == relation == "on":
            self._out.append(Place(tuple(clause.refs), "on", clause.target))
            clause.refs, clause.target = [clause.target], ref
        else:
            clause.refs[-1] = replace(clause.refs[-1], where=(clause.relation, clause.target))
            clause.relation, clause.target = relation, ref

    # ------------------------------------------------------------ verbs and the rest

    def _verb(self, words: Sequence[str], i: int) -> int | None:
        clause = self._clause
        length = match(words, i, tuple(lex.VERBS))
        if clause.refs and not clause.verb and words[i] in lex.LINKING:
            clause.flags.add("linking")
            self._open = True
            return i + 1
        if clause.refs and words[i] in _STAYING and (not clause.verb or "inherited" in clause.flags):  # "the rest stays where it is"
            clause.verb = "leave"
            return i + 1
        if not length:
            return None
        if words[i] in lex.MATERIALS and parse_ref(words, i) and (clause.verb or clause.refs):
            return None
        if words[i] in {"can", "box", "bin", "form"}:
            return None
        verb = lex.VERBS[tuple(words[i : i + length])]
        if clause.verb == "build" and words[i] in {*lex.TOWER_NOUNS, "clean", "tidy", "clear", "empty"}:
            return None
        only_where = clause.fronted is not None and not (clause.refs or clause.verb)
        if not clause.empty and not only_where:
            self._emit()
        self._clause.verb, self._open = verb, True
        self._clause.flags.discard("inherited")
        if verb == "build":
            return self._build(words, i + length)
        return i + length

    def _build(self, words: Sequence[str], i: int) -> int:
        """Skip "a tall tower of": the noun decides whether it can be built."""
        j = i
        while at(words, j) in {"a", "an", "the", "one", "single", "me", "us", "tall", "high", "big", "nice", "small"}:
            j += 1
        if at(words, j) in lex.TOWER_NOUNS:
            self._clause.flags.add("tower")
            return j + 1
        return i

    def _other(self, words: Sequence[str], i: int) -> int:
        clause, word = self._clause, words[i]
        if word in {"away", "out", "down", "clean", "tidy", "clear", "by", "top"} or (word == "alone" and clause.verb == "leave"):
            clause.flags.add(word)
        elif (word in lex.IMPOSSIBLE_VERBS and not clause.refs and not clause.verb) or (
            word in lex.LINKING and not clause.refs and not clause.verb and word in {"go", "come", "get"}
        ):
            clause.verb = "impossible"
        elif "by" in clause.flags and (word in lex.COLORS or word in {"color", "colour", "size", "kind", "type"}):
            clause.flags.add("attribute")
        elif not self._says_nothing(words, i):
            clause.unknown.append(word)
        return i + 1

    def _says_nothing(self, words: Sequence[str], i: int) -> bool:
        """A word of the closed list, or one that only leads to what is read next."""
        clause, word, after = self._clause, words[i], at(words, i + 1)
        if word in lex.FUNCTION_WORDS:
            return True
        if word == "but":  # "… but leave the cup"
            return bool(match(words, i + 1, (*lex.VERBS, *lex.EXCEPT, ("do",), ("please",)))) or (at(words, i - 1) in SEPARATORS and bool(after))
        if word == "where":  # "leave it where it is"
            return clause.verb == "leave"
        if word in {"i", "we"}:
            return clause.empty
        if word == "whatever":
            return tuple(words[i + 1 : i + 3]) == ("is", "there")
        if word in {"that", "which"}:  # "the cup, which goes on the tray"; right behind a noun it says which one is meant
            return i != self._phrase_end and after in lex.LINKING and after not in ("is", "are")  # "the box, which is brown" tells boxes apart
        if word in {"on", "at"}:
            return after == "top"
        if word == "to":
            return after in lex.LINKING or bool(match(words, i + 1, tuple(lex.VERBS)))
        if word in {"for", "of"}:
            return after in {"me", "us"} or (word == "of" and clause.verb in {"empty", "stack"})
        return word in lex.LINKING

    def _emit(self) -> None:
        clause, self._clause = self._clause, Clause()
        if clause.in_except and not clause.excepts and "not there" not in clause.flags:
            clause.unknown.append(next((word for word in reversed(clause.words) if word in OPERATORS), "except"))
        if clause.empty and not clause.negated:
            return
        context = Context(self._last, self._noun, self._placed, self._container)
        intents = meaning(clause, context)
        self._last, self._noun, self._placed, self._container = context.last, context.noun, context.placed, context.container
        self._out += intents
