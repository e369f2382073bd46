"""A placement told as the motions that make it up: "reach for the cube, close your fingers around it, carry it over to the box and let go".

Every step must be one of the motions below, all of one object and one destination, with a grasp and a release among them; else nothing is read.
"""

from __future__ import annotations

import re

from deskhand.language import lexicon as lex
from deskhand.language.phrases import parse_ref

_ONE = r"(?:the|that|this|my|your) [a-z0-9' ]+?"
_OBJECT = rf"(?P<object>{_ONE}|it|this one|that one)"
_THERE = rf"(?P<place>{_ONE}|it|that|that one)"
_HAND = r"(?:(?:your|the) )?(?:gripper|hand|fingers|claw|jaws|grip)"
_OVER = r"(?:(?:across|over|up|along|back|high|right|directly|straight) )*"
_UNTIL = r"(?: (?:until|till) (?:it|they) (?:touch(?:es)?|rests?|sits?|lies?|stands?|is (?:down|there|inside|safe|in))(?: (?:it|there|firm|the bottom))?)?"
_WHEN = (
    rf"(?:(?:once|when|as soon as|while) (?:it|you) (?:is|are|hangs|hovers|has|have)(?: (?:arrived|reached|got(?:ten)?|come|safe|exact))* "
    rf"(?:{_OVER}(?:above|over|at|inside|in|on|to) )?(?P<over>{_ONE}))"
)
_STEPS = tuple(
    re.compile(pattern)
    for pattern in (
        rf"(?:reach|go|move|stretch|head) {_OVER}(?:down |out )?(?:for|to|towards|and) {_OBJECT}",
        rf"(?:move|bring|take|drive|steer) {_HAND} {_OVER}(?:above|over|to|towards) (?P<target>{_ONE})",
        rf"(?:find|locate|spot|look for|identify) {_OBJECT}",
        rf"(?P<grasps>grasp|grab|grip|take|seize|clasp|catch|fetch|get|pick up|get hold of|take hold of|grab hold of) {_OBJECT}(?: up)?(?: from the "
        r"(?:desk|table))?",
        rf"(?P<grasps>pick|lift|take) {_OBJECT} (?:up|off the (?:desk|table)|from the (?:desk|table))",
        rf"(?P<grasps>close|shut|wrap|put) {_HAND} (?:around|on|about|over) {_OBJECT}",
        rf"(?P<grasps>lift|raise|hoist|hold) {_OBJECT}(?: up| high| off the (?:desk|table)| from the (?:desk|table)| a (?:little|bit))*",
        rf"(?:carry|bring|move|swing|transport|take|hold|position|keep|guide|shift|transfer) {_OBJECT} {_OVER}(?:above|over|to|towards|next to) {_THERE}",
        rf"(?:carry|bring|move|swing|transport|take) {_OBJECT} (?:across|over|there)",
        rf"(?:swing|move|turn|go|travel|drive|fly|head) {_OVER}(?:above|over|to|towards) {_THERE}",
        rf"(?P<sets>lower|set|put|place|lay|ease|bring) {_OBJECT}(?: down)?(?: (?P<how>in|into|inside|on|onto|upon|on top of|to) {_THERE})?{_UNTIL}",
        rf"(?P<releases>release|let go of|let|drop|free|lower|set|put|place) {_OBJECT}(?: (?:go|fall|drop))?(?: down)? "
        rf"(?P<how>in|into|inside|on|onto|upon|on top of|over|above) {_THERE}",
        rf"(?P<releases>release|let go of|drop|free) {_OBJECT}(?: (?:there|inside|{_WHEN}))?",
        rf"(?P<releases>let) {_OBJECT} (?:go|fall|drop)(?: (?:there|inside|in|down|{_WHEN}))?",
        rf"(?P<releases>let go|release)(?: {_WHEN})?",
        rf"(?P<releases>open) (?:{_HAND}|them)(?: (?:above|over|inside|in|there)(?: {_THERE})?| {_WHEN})?",
    )
)
_NAMED_BEFORE = ("it", "that", "that one", "this one")
_POLITE = re.compile(
    r"(?:(?:please|kindly|now|first|second|third|next|then|finally|lastly|after that|afterwards|and|so|ok|okay|just|to|begin by|start by|"
    r"(?:can|could|would|will) you)\b[ ,]*)+"
)
_PARTED = re.compile(r"\s*(?:[.;!?]\s*|,? (?:and )?then,? |,? and (?=[a-z]+ )|, )\s*")


def placed_by_steps(text: str) -> str:
    """As in "put the cube into the box" for a text (lower case, shapes as plain nouns) that tells only motions; empty for any other."""
    objects: set[str] = set()
    places: set[str] = set()
    done: set[str] = set()
    how = ""
    for part in _PARTED.split(text):
        step = _POLITE.sub("", part, count=1).strip(" ,") if _POLITE.match(part) else part.strip(" ,")
        if not step or step in ("thank you", "thanks", "please"):
            continue
        found = next((match for match in (pattern.fullmatch(step) for pattern in _STEPS) if match is not None and _plain(match)), None)
        if found is None:
            return ""
        said = {name: value for name, value in found.groupdict().items() if value}
        if "target" in said:
            said["place" if "grasps" in done else "object"] = said["target"]
        if (what := said.get("object", "")).split(" ")[0] in ("the", "that", "this", "my", "your") and what not in _NAMED_BEFORE:
            objects.add(what)
        places |= {said[name] for name in ("place", "over") if said.get(name, "it") not in _NAMED_BEFORE}
        how = said.get("how", how)
        done |= {"releases" if name == "sets" and "how" in said else name for name in said}
    if len(objects) != 1 or len(places) != 1 or not {"grasps", "releases"} <= done or objects == places:
        return ""
    place = places.pop()
    return f"put {objects.pop()} {_relation(how, place)} {place}"


def _plain(found: re.Match[str]) -> bool:
    """Whether its phrases are noun phrases and nothing more."""
    for name in ("object", "place", "over", "target"):
        words = (found.groupdict().get(name) or "").split()
        if words and " ".join(words) not in _NAMED_BEFORE and ((ref := parse_ref(words, 0)) is None or ref[1] != len(words) or ref[0].unread):
            return False
    return True


def _relation(how: str, place: str) -> str:
    ref = parse_ref(place.split(), 0)
    if how in ("in", "into", "inside") or (ref is not None and (ref[0].container or ref[0].kinds & lex.CONTAINER_KINDS)):
        return "into"
    return "on"
