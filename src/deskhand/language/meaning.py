"""What one clause means, once all its words are sorted into verb, objects, exceptions and target."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from deskhand.language import lexicon as lex
from deskhand.language.coverage import unread
from deskhand.language.intents import Hand, Impossible, Intent, Leave, Pick, Place, Ref, Release, Tidy, Tower, Unclear

EVERYTHING = Ref("everything", count=0)
BIN = Ref("the bin", kinds=frozenset(("bin",)), definite=True)
_ALL_OF_THEM = frozenset(("all of them", "all of it", "them all", "it all", "all of these", "all of those", "each of them"))
"""What was named before, where something was."""
_FORBIDDEN = frozenset(("", "leave", "pick", "put", "remove", "discard", "tidy", "release"))
"""Verbs of which "do not" means that the objects stay where they are."""
_REGIONS = frozenset(f"the {place}" for place in lex.PLACES)
TABLE = Ref("the desk", table=True, definite=True)
HELD = Ref("it", count=0, pronoun=True, definite=True)
"""Nobody was named: what the gripper holds."""


@dataclass
class Clause:
    """What has been read of a clause so far."""

    verb: str = ""
    refs: list[Ref] = field(default_factory=list)
    excepts: list[Ref] = field(default_factory=list)
    in_except: bool = False
    negated: bool = False
    relation: str = ""
    target: Ref | None = None
    fronted: tuple[str, Ref] | None = None
    flags: set[str] = field(default_factory=set)
    words: list[str] = field(default_factory=list)
    unknown: list[str] = field(default_factory=list)

    @property
    def empty(self) -> bool:
        """True when nothing that matters was read."""
        return not ((self.verb and "inherited" not in self.flags) or self.refs or self.target or self.fronted or self.unknown or self.excepts)


@dataclass
class Context:
    """What earlier clauses left behind: for "it", for "the blue one", for "… and the blue one (too)"."""

    last: tuple[Ref, ...] = ()
    noun: Ref | None = None
    placed: tuple[str, Ref] | None = None
    container: Ref | None = None
    """What something was last put into."""


def container_like(ref: Ref) -> bool:
    """True when the phrase names something that objects go into."""
    return ref.container or (bool(ref.kinds) and ref.kinds <= lex.CONTAINER_KINDS | {"box"})


def _meant_by_it(relation: str, context: Context) -> Ref:
    """Where an object goes: "if the tray is empty, put the sponge in it"; "move the can into the bin, then put the block into it"."""
    before = [context.container] if relation == "in" and context.container else []
    return next((ref for ref in (*reversed(context.last), *before) if container_like(ref)), context.last[-1])


def meaning(clause: Clause, context: Context) -> list[Intent]:
    """The intents of a clause; ``context`` is brought up to date."""
    text = " ".join(clause.words).strip(" ,:")
    refs = _heads(clause.refs, clause.target, context)
    if clause.target is not None and clause.target.pronoun and context.last:
        clause.target = _meant_by_it(clause.relation, context)
    if clause.target is None and clause.fronted is None and "top" in clause.flags and clause.verb in {"put", "stack"} and len(context.last) == 1:
        clause.relation, clause.target = "on", context.last[0]  # "…, then put the green one on top"
    if not context.last and any(not ref.pronoun for ref in refs):  # "move the cup so that it is in the tray"
        refs = [ref for ref in refs if not ref.pronoun]
    objects: list[Ref] = []
    if clause.verb == "leave" and len(refs) > 1:  # "leave the cup where it is"
        refs = [ref for ref in refs if not ref.pronoun]
    for ref in refs:
        objects += context.last if (ref.pronoun or ref.words in _ALL_OF_THEM) and context.last else (ref,)
    excepts = tuple(_heads(clause.excepts, None, context))
    objects = [replace(ref, excluded=(*ref.excluded, *excepts)) if excepts else ref for ref in objects]
    if any(not (ref.table or ref.pronoun) for ref in objects):
        context.last = tuple(ref for ref in objects if not (ref.table or ref.pronoun))
    if clause.verb == "pick" and clause.fronted is not None and clause.target is None:  # "in the tray, pick up the cup": from there, or to there?
        clause.unknown += [word for word in clause.words[:1] if word]
    if clause.target is None and clause.fronted is not None:
        clause.relation, clause.target = clause.fronted
    if clause.target is not None and clause.target.bare and clause.target.words in _REGIONS:  # "pile them up in the middle": no block in the middle
        clause.unknown.append(clause.target.words.split()[-1])
    if clause.target is not None and clause.target.bare:
        clause.target = _heads([clause.target], None, context)[0]
    if excepts and clause.verb != "leave" and not clause.negated:
        clause.unknown += _taken_from_nothing(clause, refs)
    if clause.unknown and clause.verb != "impossible":  # half an instruction is another instruction
        return [Unclear(text, unread(clause.unknown))]
    if clause.negated or clause.verb == "leave":
        if clause.verb not in _FORBIDDEN:  # "do not use the bin", "do not stack them"
            return [Unclear(text, f"I cannot tell what {text!r} forbids")]
        return [Leave(tuple(objects), elsewhere=clause.target is not None and clause.verb != "leave")] if objects else [Unclear(text, "leave what?")]
    result = _by_verb(clause, objects, excepts, text, context)
    for item in result:
        if isinstance(item, Place):
            context.placed = (item.relation, item.target)
            context.container = item.target if item.relation == "in" else context.container
    return result


def _taken_from_nothing(clause: Clause, refs: list[Ref]) -> list[str]:
    """Of what is no collection nothing can be left out: "the cup without the lid"; "the cup, not the can" says which one is meant."""
    said = [word for word in clause.words if word in ("except", "excluding", "without", "apart", "aside", "save", "exception", "other")]
    if not refs:
        return [] if clause.verb in ("tidy", "sort", "") else (said or ["not"])
    return [] if any(ref.count != 1 or ref.table for ref in refs) else said


def _heads(refs: list[Ref], target: Ref | None, context: Context) -> list[Ref]:
    """Give "the red (one)" the noun of a neighbour: the next phrase in the list, else the one before, else the sentence before."""
    out: list[Ref] = []
    for index, ref in enumerate(refs):
        if ref.bare:
            listed = not ref.words.endswith(("one", "ones"))
            later = next((other for other in refs[index + 1 :] if not other.bare and not other.pronoun), None) if listed else None
            earlier = next((other for other in reversed(out) if not other.pronoun), None)
            head = later or earlier or context.noun
            if head is not None and not (head.table or head.rest):
                count = 0 if later is not None and later.count == 0 else ref.count
                ref = replace(ref, kinds=head.kinds, noun=head.noun, outline=head.outline, container=head.container, count=count)
        if not ref.pronoun and not ref.table:
            context.noun = ref
        out.append(ref)
    return out


def _by_verb(clause: Clause, items: list[Ref], excepts: tuple[Ref, ...], text: str, context: Context) -> list[Intent]:
    verb, target, relation = clause.verb, clause.target, clause.relation
    objects = tuple(ref for ref in items if not ref.table)
    if verb == "impossible":
        return [Impossible(text)]
    if verb == "put" and target is None and "me" in clause.words:
        throws = clause.words[0] in {"throw", "toss"} or len(objects) != 1
        return [Impossible(text, "I hand over one object at a time, and throw none")] if throws else [Hand(objects[0])]
    if verb == "pick" and clause.words[0] == "take" and target is None and objects and all(ref.where and ref.where[0] == "at" for ref in objects):
        verb = "remove"
    if verb == "remove":
        return _removing(objects, target, relation, text)
    if verb == "put" and clause.flags & {"away", "out"} and target is None:
        verb = "discard" if clause.words[0] in ("throw", "toss", "chuck", "drop") else "tidy"
    if verb == "put" and "down" in clause.flags and target is None:
        verb = "release"
    if verb == "pick" and target is not None and not objects:
        return [Impossible(text)]
    if verb in {"tidy", "sort"}:
        return _tidying(verb, objects, items, excepts, clause, text)
    if verb == "empty" and not objects:
        return [Place((replace(EVERYTHING, excluded=excepts),), relation, _bin(target))] if target is not None and not target.table else [Tidy()]
    if verb == "empty":
        goal = (relation, target) if target is not None and not target.table else ("on", TABLE)  # "empty the box into the tray"
        return [Place((replace(EVERYTHING, where=("in", ref)),), *goal) for ref in objects]
    if verb in {"stack", "build"}:
        return _building(clause, objects, text)
    if verb == "release":
        return [Release(objects or context.last or (HELD,))]
    if verb == "pick" and target is None:
        return [Pick(ref) for ref in objects if not ref.pronoun] or [Unclear(text, "pick up what?")]
    if verb == "discard":
        return [Place(objects or context.last, relation or "in", _bin(target))] if objects or context.last else [Unclear(text, "throw away what?")]
    if target is not None:
        objects = objects or (context.last or (HELD,) if verb == "put" else ())
        if not objects:
            return [Unclear(text, "put what there?" if verb or clause.fronted else "")]
        return [Place(objects, "on" if target.table else relation, _bin(target))]
    if objects and context.placed is not None and not clause.unknown and not any(container_like(ref) for ref in objects):
        return [Place(objects, *context.placed)]
    if excepts and not objects and not verb:
        return [Leave(excepts)]
    if verb in {"put", "fill"}:
        return [Unclear(text, f"where shall {' and '.join(ref.words for ref in objects) or 'it'} go?" if objects else "put what where?")]
    return [Unclear(text, "" if all(ref.table or ref.anything for ref in items) else "what about it?")]  # "the desk is a mess" is a remark


def _removing(objects: tuple[Ref, ...], target: Ref | None, relation: str, text: str) -> list[Intent]:
    """Take objects out of a container: onto the desk; off the desk: into a container."""
    if not objects:
        return [Unclear(text, "remove what?")]
    if target is not None:
        return [Place(objects, relation, target)]
    if all(ref.where is not None and not ref.where[1].table for ref in objects):
        return [Place(objects, "on", TABLE)]
    return [Tidy(objects)]


def _bin(target: Ref | None) -> Ref:
    """The target; waste words and no target at all mean the bin."""
    return BIN if target is None or target.noun in lex.WASTE_NOUNS else target


def _tidying(verb: str, objects: tuple[Ref, ...], items: list[Ref], excepts: tuple[Ref, ...], clause: Clause, text: str) -> list[Intent]:
    target, relation = clause.target, clause.relation
    if verb == "sort" and "by" in clause.flags and "attribute" in clause.flags:
        return [Unclear(text, "which of them go where? For example: red ones in the tray, blue ones in the bin")]
    if target is not None and target.table and relation in {"on", "in", "auto"}:  # "clear up the things on the desk"
        objects, target = tuple(replace(ref, where=("on", target)) for ref in objects), None
    if verb == "tidy" and objects and all(container_like(ref) and not ref.where for ref in objects) and target is None and "away" not in clause.words:
        return [Place((replace(EVERYTHING, where=("in", ref)),), "on", TABLE) for ref in objects]
    if target is not None and (relation in {"in", "on", "auto"}):
        return [Place(objects or (replace(EVERYTHING, excluded=excepts),), relation, _bin(target))]
    left: list[Intent] = [Leave(excepts)] if excepts else []
    scope = tuple(ref for ref in objects if not _general(ref))
    return [Tidy(scope, strict=verb == "sort"), *left]


def _general(ref: Ref) -> bool:
    """True for "everything", "the things": it restricts nothing."""
    return ref.anything and ref.count == 0 and not (ref.colors or ref.shapes or ref.size or ref.place or ref.where)


def _building(clause: Clause, objects: tuple[Ref, ...], text: str) -> list[Intent]:
    target, relation = clause.target, clause.relation
    if clause.verb == "build" and "tower" not in clause.flags:
        if clause.flags & {"clean", "tidy", "clear"}:
            return [Tidy()]
        return [Impossible(text)]
    if target is not None and not target.table:
        if relation in {"on", "auto"} and not container_like(target) and len(objects) > 1 and "tower" not in clause.flags:
            return [Tower((target, *objects), ordered=True)]
        if len(objects) == 1 and objects[0].count == 1 and "tower" not in clause.flags:
            return [Place(objects, relation, target)]
        return [Unclear(text, f"I build towers where there is room; I cannot tell how {target.words!r} goes with it")]
    if "top" in clause.flags:  # "the biggest on top": of one that is not named from the bottom up
        return [Unclear(text, unread(["top"]))]
    if not objects and clause.verb == "build":
        return [Tower((Ref("the blocks", kinds=frozenset(("block",)), count=0, definite=True),))]
    return [Tower(objects)] if objects else [Unclear(text, "stack what?")]
