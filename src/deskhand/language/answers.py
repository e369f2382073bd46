"""Answers to questions about the desk, from what a look showed and from nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from deskhand.language.comparing import COMPARISONS, compared
from deskhand.language.intents import Ask, Ref
from deskhand.language.resolve import DEPTH, MIDDLE, Seen, beside, inside, is_receptacle, listing, name_of, resolve

CAPABILITIES = (
    "I can look at the desk and say what is there, where it is and how many there are; put objects into containers, on other objects or on the desk; "
    "stack them, sort them by colour or kind, lay them in a row, swap them, make room; tidy the desk by rules (for example: put the blocks in the tray and "
    "everything else into the bin); build with blocks; pick something up or hand it to you; open and close drawers, open hinged lids, turn knobs; undo what I "
    "did; open or close the gripper; go home; and stop."
)
_WORDS = {"left_of": "to the left of", "right_of": "to the right of", "in_front_of": "in front of", "near": "next to"}


def answer(ask: Ask, objects: Sequence[Seen]) -> str:
    """The answer, in one or two sentences."""
    if ask.kind == "clean":
        left = [item for item in objects if not is_receptacle(item) and not inside(item, objects)]
        return f"No, these are not in a container: {listing(left)}." if left else "Yes, nothing lies about."
    if ask.kind == "describe" or ask.about is None:
        return describe(objects)
    if ask.kind in COMPARISONS:
        return compared(ask, objects)
    found = _about(ask.about, ask, objects)
    words = ask.about.words
    place = f" {_WORDS.get(ask.relation, ask.relation)} {ask.target.words}" if ask.target else ""
    if ask.kind == "count":
        return f"I see {len(found)}: {listing(found)}." if found else f"I see none ({words}){place}. I see {listing(objects)}."
    if ask.kind == "holds":
        return _holds(ask, objects)
    if not found:
        if ask.kind == "exists" and ask.about.anything and not (ask.about.colors or ask.about.shapes) and place:
            return f"{'' if words == 'objects' else 'No, '}I see nothing{place}."  # "objects": asked by "what is in it?"
        none = {"exists": f"No, I see no such object ({words}){place}", "which": f"None ({words}){place}"}.get(ask.kind, f"I do not see {words}{place}")
        return f"{none}. I see {listing(objects)}."
    if ask.kind == "exists":
        return f"Yes{place}: {listing(found)}."
    if ask.kind == "color":
        if ask.target is not None:
            same = all(str(item.get("color")) in ask.target.colors for item in found)
            return f"{'Yes' if same else 'No'}: {_colors(found)}."
        return f"{_colors(found)}."
    return f"{_places(found, objects)}."


def not_seen(ask: Ask, objects: Sequence[Seen]) -> Ref | None:
    """The phrase that the question takes for granted and that nothing fits: then there is no answer, whatever is said.

    Whether something is there, how many there are and where they are can be told of what is not there too.
    """
    if ask.about is None or ask.kind in ("more", "describe"):
        return None
    target = ask.target if ask.kind != "color" or ask.relation else None
    if target is not None and not target.table and not resolve(replace(target, count=0, size=None, place=""), objects, "any").objects:
        return target
    if ask.kind in ("exists", "count", "where"):
        return None
    there = _about(ask.about, ask, objects) if ask.kind == "color" else resolve(replace(ask.about, count=0, size=None, place=""), objects, "any").objects
    return None if there else ask.about


def unheard_of(ask: Ask, objects: Sequence[Seen]) -> str:
    """The noun of a question that is no word of the lexicon and no name of anything seen; empty for none. What it means may lie there under another name."""
    refs = [ref for ref in (ask.about, ask.target) if ref is not None and ref.noun]
    return next((ref.noun for ref in refs if not resolve(Ref(ref.noun, noun=ref.noun, count=0), objects, "any").objects), "")


def is_so(ask: Ask, objects: Sequence[Seen]) -> bool | None:
    """Whether the answer is yes; None when the question is none that yes or no answers."""
    text = answer(ask, objects)
    if ask.kind in ("where", "count", "describe", "which", "measure", "distance", "nearest") or (ask.kind == "color" and ask.target is None):
        return None
    return text.startswith("Yes") != ask.negated


def _places(found: Sequence[Seen], objects: Sequence[Seen]) -> str:
    return "; ".join(f"the {name_of(item)} ({item['id']}) is {where(item, objects)}" for item in found)


def _colors(found: Sequence[Seen]) -> str:
    return ", ".join(f"{item['id']} is {item.get('color')}" for item in found)


def describe(objects: Sequence[Seen]) -> str:
    """Everything on the desk."""
    if not objects:
        return "I see nothing on the desk."
    return f"I see {len(objects)} object{'s' if len(objects) > 1 else ''}: " + "; ".join(f"{listing([item])} {where(item, objects)}" for item in objects) + "."


def where(item: Seen, objects: Sequence[Seen]) -> str:
    """Where an object is, from the robot's view."""
    support = str(item.get("support", "table"))
    if support == "gripper":
        return "in the gripper"
    if support != "table":
        below = next((other for other in objects if other["id"] == support), None)
        return f"{item.get('relation', 'on')} the {name_of(below)} ({support})" if below else f"{item.get('relation', 'on')} {support}"
    x, y = float(item["position"][0]), float(item["position"][1])
    side = "on the left" if y > MIDDLE else "on the right" if y < -MIDDLE else "in the middle"
    depth = ", at the front" if x > DEPTH[1] else ", at the back" if x < DEPTH[0] else ""
    return f"{side}{depth} (x {x:.2f} m, y {y:.2f} m)"


def _about(ref: Ref, ask: Ask, objects: Sequence[Seen]) -> list[Seen]:
    """The objects asked about; where a place is given, only those there."""
    several = ask.kind in {"count", "exists"} or (ref.definite and ref.size is None and not ref.place)  # "where is the cup?": all that it may mean
    wide = replace(ref, count=0 if several else ref.count)
    if ask.relation and ask.target is not None and ask.kind != "holds":
        if ask.target.table:
            return [item for item in resolve(wide, objects, "any").objects if not inside(item, objects)]
        wide = replace(wide, where=(ask.relation, ask.target))
    return list(resolve(wide, objects, "any").objects)


def _holds(ask: Ask, objects: Sequence[Seen]) -> str:
    if ask.about is None or ask.target is None:
        return describe(objects)
    items, targets = resolve(ask.about, objects, "any").objects, resolve(replace(ask.target, count=0), objects, "any").objects
    if not items:
        return f"I do not see {ask.about.words}. I see {listing(objects)}."
    if ask.target.table:
        there = all(not inside(item, objects) for item in items)
    elif not targets:
        return f"I do not see {ask.target.words}. I see {listing(objects)}."
    elif ask.relation in {"in", "on"}:
        ids = {target["id"] for target in targets}
        there = all(item.get("support") in ids for item in items)
    else:
        there = all(any(beside(ask.relation, item, target) for target in targets) for item in items)
    return f"{'Yes' if there else 'No'}: {_places(items, objects)}."
