"""Asking the person which object is meant, and taking the answer. Part of the offline brain's script."""

from __future__ import annotations

import re
from collections.abc import Collection, Generator, Sequence
from dataclasses import fields, replace
from typing import Any, TypeVar

from deskhand.agent.controls import ASK_USER
from deskhand.errors import DeskhandError
from deskhand.language.answers import where
from deskhand.language.intents import Intent, Ref
from deskhand.language.named_outlines import named_likelihood
from deskhand.language.phrases import parse_whole
from deskhand.language.resolve import AS_LIKELY, OUTLINES, Seen, name_of, order_near, resolve
from deskhand.offline.script import Call, CallResult, TaskEnd
from deskhand.offline.task_executive import TaskExecutive

QUESTIONS = 3
"""How often one phrase is asked about."""
_ANY = re.compile(
    r"\b(?:any(?: one| of them)?|either(?: one| of them)?|whichever|does not matter|doesn't matter|don't care|do not care|you choose|no matter)\b"
)
_ALL = re.compile(r"\b(?:both|all(?: of them)?|each of them|all (?:two|three|four))\b")
_NONE = re.compile(r"\b(?:neither|none|never mind|nevermind|forget (?:it|about it)|cancel|no one|nothing|stop)\b")
_LEAD = re.compile(r"^(?:(?:i (?:mean|meant|want)|it is|that is|take|use|please|well|hm+|oh|the one (?=the )|no|yes|sorry)[ ,]+)+")
I = TypeVar("I", bound=Intent)  # noqa: E741


class Asking:
    """Methods are generators of calls."""

    def __init__(self, executive: TaskExecutive) -> None:
        self._executive = executive

    def settled(self, intent: I, named: Collection[str] = ()) -> Generator[Call, CallResult, I]:
        """The intent with every phrase that means one object and fits several replaced by what the person says; ``named``: ids that "the other" is not."""
        changed: dict[str, Any] = {}
        for item in fields(intent):
            value = getattr(intent, item.name)
            if isinstance(value, Ref):
                onto = getattr(intent, "relation", "") == "on"  # "on the box": on one that is closed, or into an open one?
                changed[item.name] = (yield from self._which(value, ("any" if onto else "into") if item.name == "target" else "object", named))[0]
            elif isinstance(value, tuple) and value and all(isinstance(ref, Ref) for ref in value):
                refs: list[Ref] = []
                for ref in value:
                    refs += yield from self._which(ref, "object", named)
                changed[item.name] = tuple(refs)
        return replace(intent, **changed) if changed else intent

    def _which(self, ref: Ref, role: str, named: Collection[str]) -> Generator[Call, CallResult, tuple[Ref, ...]]:
        if ref.second is not None:
            return (ref,)
        left = candidates(ref, self._executive.objects, role, named)
        asked = 0
        while len(left) > 1:
            if asked >= QUESTIONS:
                raise DeskhandError("not_understood", f"I do not know which of these '{ref.words}' is: {', '.join(str(item['id']) for item in left)}.")
            asked += 1
            text, options = _question(ref, left, self._executive.objects)
            heard = yield Call(ASK_USER, {"question": text, "options": options[:9]})
            if not heard.ok:
                raise DeskhandError(heard.code, heard.message)
            chosen = understood_answer(str(heard.data["answer"]), left, self._executive.objects)
            if chosen is None:
                raise TaskEnd((str(heard.data["answer"]),))
            left = chosen or left
            if chosen and _ALL.search(str(heard.data["answer"]).lower()):
                return tuple(_pinned(ref, item) for item in left)
        return (_pinned(ref, left[0]),) if left and asked else (ref,)


def candidates(ref: Ref, objects: Sequence[Seen], role: str, named: Collection[str] = ()) -> list[Seen]:
    """All objects that a phrase may mean which means one of them, "the other one" none that is ``named``; empty where nothing has to be asked."""
    plain = ref.definite and ref.count == 1 and not (ref.size or ref.place or ref.id or ref.pronoun or ref.table or ref.container)
    if not plain:
        return []
    found = resolve(replace(ref, count=0), objects, role)
    if role == "into" and not found.objects:
        found = resolve(replace(ref, count=0), objects, "any")
    left = _as_likely(ref, [item for item in found.objects if not ref.rest or item["id"] not in named])
    return left if len(left) > 1 else []


def _as_likely(ref: Ref, items: list[Seen]) -> list[Seen]:
    """Without those that have the outline that was said much less likely than another one, where nothing but that tells which is meant."""
    if not ref.outline or ref.colors or ref.where is not None:
        return items
    shares = [named_likelihood(ref.outline, item.get(OUTLINES, {})) for item in items]
    return [item for item, share in zip(items, shares, strict=True) if share >= AS_LIKELY * max(shares)]


def _question(ref: Ref, left: Sequence[Seen], objects: Sequence[Seen]) -> tuple[str, list[str]]:
    from deskhand.language.referring import best_question

    head = f"I see {len(left)} objects that '{ref.words}' may mean."
    try:
        question = best_question(left)
    except DeskhandError:
        options = [f"{item['id']}, {where(item, objects)}" for item in left]
        return f"{head} Which one: {'; '.join(options)}?", [str(item["id"]) for item in left]
    return f"{head} {question.text}", list(question.answers)


def understood_answer(answer: str, left: Sequence[Seen], objects: Sequence[Seen]) -> list[Seen] | None:
    """What an answer leaves of the candidates; empty when it says nothing that helps, None when it is no answer but other words."""
    from deskhand.language.referring import answered, best_question

    text = _LEAD.sub("", answer.lower().strip(" .!?"))
    if _NONE.search(text):
        return None
    if _ALL.search(text):
        return list(left)
    if _ANY.search(text):
        return order_near(left, {"position": (-0.30, 0.0)})[:1]
    named = [item for item in left if re.search(rf"\b{re.escape(str(item['id']))}\b", text)]
    ref = None if named else parse_whole(text)
    if ref is not None:
        ids = {item["id"] for item in resolve(replace(ref, rest=False), left if ref.where is None else objects, "any").objects}
        named = [item for item in left if item["id"] in ids]
    if not named:
        try:
            ids = set(answered(best_question(left), text))
        except DeskhandError:
            ids = set()
        named = [item for item in left if item["id"] in ids]
    return named or (None if len(text.split()) > 4 else [])


def _pinned(ref: Ref, item: Seen) -> Ref:
    return replace(ref, words=f"the {name_of(item)}", id=str(item["id"]), kinds=frozenset(), noun="", colors=frozenset(), where=None, excluded=(), bare=False)
