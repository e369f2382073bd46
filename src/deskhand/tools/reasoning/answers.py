"""What an answer says of objects, sentence by sentence, against the last look."""

from __future__ import annotations

import re
from collections.abc import Iterator

from typing_extensions import TypedDict

from deskhand.errors import DeskhandError
from deskhand.language import lexicon as lex
from deskhand.language.referring import fitting, read_phrase
from deskhand.skills.belief import Belief
from deskhand.tools.objects import objects_data
from deskhand.types import Scene
from deskhand.world.relations import DIRECTIONS
from deskhand.world.spatial import relation_holds

_ID = r"[a-z]+(?:_[a-z]+)*_\d+"
_HOW = r"in front of|inside|in|into|on top of|on|onto|(?:to the )?left of|(?:to the )?right of|behind|near|next to"
_RELATION = re.compile(rf"\b(?P<a>{_ID}) (?:is|are|lies|stands|was put) (?P<no>not )?(?:now )?(?P<how>{_HOW}) (?:the )?(?P<b>{_ID}|table|desk)\b")
_COUNT = re.compile(r"\bthere (?:is|are) (?P<n>\w+) (?P<what>[a-z ]+?)(?= (?:on|in|here|left)\b|[.,;!]|$)")
_HELD = re.compile(rf"\b(?:i hold|i am holding|the gripper holds|the hand holds) (?:the )?(?P<a>{_ID}|nothing)\b")
_NAMES = {"inside": "in", "into": "in", "on top of": "on", "onto": "on", "next to": "near"}


class Unsupported(TypedDict):
    """Something that was said and is not borne out."""

    said: str
    reason: str


def unsupported(answer: str, belief: Belief) -> list[Unsupported]:
    """All that can be read in ``answer`` and is wrong, or cannot be judged because nobody looked."""
    text = re.sub(r"\s+", " ", answer.lower())
    return list(_wrong(text, belief))


def _wrong(text: str, belief: Belief) -> Iterator[Unsupported]:
    scene, held = belief.scene, belief.held.object.id if belief.held else ""
    known = _known(belief)
    for name in dict.fromkeys(re.findall(rf"\b{_ID}\b", text)):
        if name not in known:
            yield Unsupported(said=name, reason="no such object was seen" if scene is not None else "nobody has looked yet")
    for found in _HELD.finditer(text):
        if (found["a"] if found["a"] != "nothing" else "") != held:
            yield Unsupported(said=found[0], reason=f"the gripper holds {held or 'nothing'}")
    if scene is None:
        return
    for found in _RELATION.finditer(text):
        if found["a"] in known and (found["b"] in known or found["b"] in ("table", "desk")):
            yield from _relation(found, scene, belief)
    for found in _COUNT.finditer(text):
        yield from _count(found, scene)


def _known(belief: Belief) -> set[str]:
    """Ids of the last look, of what is held or hidden, and of the memory."""
    items = list(belief.scene.objects) if belief.scene is not None else []
    names = {item.id for item in (*items, *belief.hidden, *([belief.held.object] if belief.held else []))}
    return names | (set(belief.memory.ids()) if belief.memory is not None else set())


def _relation(found: re.Match[str], scene: Scene, belief: Belief) -> Iterator[Unsupported]:
    objects = {item.id: item for item in (*belief.hidden, *scene.objects)}
    item, other = objects.get(found["a"]), objects.get(found["b"])
    if item is None or (other is None and found["b"] not in ("table", "desk")):
        yield Unsupported(said=found[0], reason=f"{found['a'] if item is None else found['b']} is not on the desk now")
        return
    how = found["how"].removeprefix("to the ").replace(" ", "_") if found["how"].replace("to the ", "").replace(" ", "_") in DIRECTIONS else found["how"]
    holds, reason = relation_holds(scene, item, _NAMES.get(how, how), other)
    if holds == bool(found["no"]):
        yield Unsupported(said=found[0], reason=reason)


def _count(found: re.Match[str], scene: Scene) -> Iterator[Unsupported]:
    number = 0 if found["n"] == "no" else 1 if found["n"] in ("a", "an") else lex.NUMBERS.get(found["n"]) or (int(found["n"]) if found["n"].isdigit() else None)
    if number is None:
        return
    try:
        objects = fitting(read_phrase(f"all {found['what']}" if not found["what"].startswith("all") else found["what"]), objects_data(scene), scene)
    except DeskhandError:
        return  # about objects that have no name here: nothing that can be judged
    least = found["n"] in ("a", "an", "one")
    if len(objects) != number and not (least and len(objects) > number):
        yield Unsupported(said=found[0], reason=f"the last look shows {len(objects)}: {', '.join(str(item['id']) for item in objects) or 'none'}")
