"""What a person says while the robot works: "no, the other cup", "in the tray instead", "not the pen", "and the ball too", "never mind"."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from deskhand.language import lexicon as lex
from deskhand.language.coverage import unread_words
from deskhand.language.intents import Hand, Intent, Leave, MoveTo, Pick, Place, Ref, Undo
from deskhand.language.meaning import container_like
from deskhand.language.parser import normalise, parse, understood
from deskhand.language.phrases import match, parse_list, parse_whole

_LEAD = re.compile(
    r"^(?:(?:no|nope|wait|hold on|hang on|sorry|oops|actually|hey|ah|oh|hm+|but|rather|better|instead|"
    r"i (?:mean|meant|said|want|wanted|would (?:prefer|rather|like))(?: it)?|make (?:it|that)|take|use|it should (?:be|go)|please|"
    r"not (?:that|this|the wrong)(?: one)?|"
    r"that is (?:the )?wrong(?: one)?|wrong(?: one)?)\b[ ,.!:;]*)+"
)
_ALSO = re.compile(r"^(?:and(?: also)?|also|plus|as well as) +")
_TOO = re.compile(r"[ ,]+(?:too|as well|also)$")
_TAIL = re.compile(r"[ ,]+(?:instead|rather|please|not (?:that|this|the other)(?: one)?)$")
_NOT = re.compile(
    r"^(?:not|do not (?:touch|take|move|pick up|put)|leave(?: out)?|except(?: for)?|without|but not|skip|keep) (?P<a>.+?)(?: (?:alone|out|there|where it is))?$"
)
_INSTEAD_OF = re.compile(r"^(?P<a>.+?),? (?:and )?(?:not|instead of|rather than) (?P<b>.+)$")
_ABANDON = re.compile(
    r"^(?:neither|none(?: of them)?$|nothing$|never mind|nevermind|forget (?:it|about it|that)|leave it(?: be)?|"
    r"do not bother|that is enough|cancel (?:it|that)|do not do (?:it|that)|abort)\b.*"
)
_WHERE = {**dict.fromkeys(lex.IN, "in"), **dict.fromkeys(lex.ON, "on"), **dict.fromkeys(lex.TO, "auto"), **lex.BESIDE}


@dataclass(frozen=True)
class Corrected:
    """The intents from now on; objects that go ``back`` to where they were; ``abandon``: nothing more is wanted. ``understood``: whether it meant anything."""

    intents: tuple[Intent, ...]
    back: tuple[Ref, ...] = ()
    abandon: bool = False
    understood: bool = True


def correct(text: str, intents: Sequence[Intent], pins: Mapping[Ref, tuple[str, ...]]) -> Corrected:
    """What ``text`` makes of the intents that the robot works at; ``pins`` are the ids that it chose for phrases."""
    said = normalise(text).strip(" .!?,;")
    rest = _TAIL.sub("", _LEAD.sub("", said)).strip(" ,")
    marked = rest != said
    if _ABANDON.match(said) or _ABANDON.match(rest):
        return Corrected((), abandon=True)
    last = next((item for item in reversed(intents) if isinstance(item, Place | Pick | Hand | MoveTo)), None)
    if last is not None:
        for read in (_other, _not, _elsewhere, _objects):
            if (found := read(rest, intents, last, pins)) is not None:
                half = any(unread_words(item) for item in found.intents if item not in intents)
                return Corrected(tuple(intents), understood=False) if half else found
    return _whole(said, rest, marked, intents, last)


def _replaced(intents: Sequence[Intent], old: Intent, *new: Intent) -> tuple[Intent, ...]:
    return tuple(each for item in intents for each in (new if item is old else (item,)))


def _objects_of(item: Intent) -> tuple[Ref, ...]:
    return (item.item,) if isinstance(item, Pick | Hand) else item.objects if isinstance(item, Place | MoveTo) else ()


def _with_objects(item: Intent, objects: tuple[Ref, ...]) -> Intent:
    if isinstance(item, Pick | Hand):
        return replace(item, item=objects[0])
    return replace(item, objects=objects) if isinstance(item, Place | MoveTo) else item


def _other(rest: str, intents: Sequence[Intent], last: Intent, pins: Mapping[Ref, tuple[str, ...]]) -> Corrected | None:
    """Another object that the same words fit: "the other one", or nothing but "not that one"."""
    if rest not in ("", "one", "another", "another one", "a different one", "the other", "the other one") and not re.fullmatch(
        r"(?:the other|another) \w+(?: \w+)?", rest
    ):
        return None
    old = _objects_of(last)[-1]
    head = parse_whole(re.sub(r"^(?:the other|another|a different)\b", "the", rest)) if rest else None
    wanted = head if head is not None and not head.bare else old
    if head is not None and head.colors and not head.noun:
        wanted = replace(wanted, colors=head.colors)
    not_it = tuple(Ref(name, id=name) for name in pins.get(old, (old.id,) if old.id else ()))
    if old.id and wanted is old:  # the person was asked, and has been asked about a kind of object
        wanted = replace(old, id="", kinds=frozenset((lex.kind_of_label(old.id.rsplit("_", 1)[0]),)))
    new = replace(wanted, count=1, definite=True, rest=False, excluded=(*wanted.excluded, *not_it))
    return Corrected(_replaced(intents, last, _with_objects(last, (*_objects_of(last)[:-1], new))), (old,))


def _not(rest: str, intents: Sequence[Intent], last: Intent, pins: Mapping[Ref, tuple[str, ...]]) -> Corrected | None:
    found = _NOT.match(rest)
    refs = parse_list(found["a"]) if found else ()
    refs = tuple(_headed(ref, _objects_of(last)[-1]) for ref in refs)
    if not refs or found is None:
        return None
    kept = tuple(item for item in intents if not (isinstance(item, Place) and all(ref in refs for ref in item.objects)))
    return Corrected((*kept, Leave(refs)), refs)


def _elsewhere(rest: str, intents: Sequence[Intent], last: Intent, pins: Mapping[Ref, tuple[str, ...]]) -> Corrected | None:
    """Another target: "the tray", "into the tray", "next to the can"."""
    if not isinstance(last, Place):
        return None
    rest = re.sub(r"^(?:(?:put|place|move) (?:it|them|that|those|these) )", "", rest)
    words = re.findall(r"[a-z0-9_]+", rest)
    length = match(words, 0, tuple(_WHERE))
    target = parse_whole(" ".join(words[length:])) if words else None
    if target is None or (not length and not (container_like(target) and not any(map(container_like, last.objects)))):
        return None
    relation = _WHERE[tuple(words[:length])] if length else last.relation
    return Corrected(_replaced(intents, last, replace(last, relation="on" if target.table else relation, target=_headed(target, last.target))))


def _objects(rest: str, intents: Sequence[Intent], last: Intent, pins: Mapping[Ref, tuple[str, ...]]) -> Corrected | None:
    """Other objects ("the green one", "the cup, not the can"), or more of them ("and the ball too")."""
    also = bool(_ALSO.match(rest) or _TOO.search(rest))
    text = _TOO.sub("", _ALSO.sub("", rest))
    if found := _INSTEAD_OF.match(text):
        text = found["a"]
    old = _objects_of(last)
    refs = tuple(_headed(ref, old[-1]) for ref in parse_list(text))
    if not refs or any(ref.pronoun or ref.table for ref in refs) or (isinstance(last, Pick | Hand) and (also or len(refs) > 1)):
        return None
    if also:
        return Corrected(_replaced(intents, last, _with_objects(last, (*old, *refs))))
    return Corrected(_replaced(intents, last, _with_objects(last, refs)), tuple(ref for ref in old if ref not in refs))


def _headed(ref: Ref, old: Ref) -> Ref:
    """As in "the green one": it is of the kind that was spoken of."""
    if not ref.bare:
        return ref
    kinds = old.kinds or (frozenset((lex.kind_of_label(old.id.rsplit("_", 1)[0]),)) if old.id else frozenset())
    return replace(ref, kinds=kinds, noun=old.noun, container=old.container, bare=False)


def _whole(said: str, rest: str, marked: bool, intents: Sequence[Intent], last: Intent | None) -> Corrected:
    """An instruction of its own: instead of the last one when it says no, else after it."""
    for text in (rest, said):
        new = parse(_TOO.sub("", _ALSO.sub("", text)))
        if not (text and understood(new)):
            continue
        old = _objects_of(last) if last is not None else ()
        told = tuple(
            _with_objects(item, tuple(named for ref in _objects_of(item) for named in (old if ref.pronoun and old else (ref,)))) if _objects_of(item) else item
            for item in new.intents
        )
        if any(isinstance(item, Undo) for item in told):
            return Corrected(told)
        if not marked or last is None:
            return Corrected((*intents, *told))
        again = {ref for item in told for ref in _objects_of(item)}
        return Corrected(_replaced(intents, last, *told), tuple(ref for ref in old if ref not in again))
    return Corrected(tuple(intents), understood=False)
