"""Instructions to open and close drawers and lids and to turn knobs: whole clauses, as those to weigh and to wipe are read."""

from __future__ import annotations

import re

import numpy as np

from deskhand.language import lexicon as lex
from deskhand.language.intents import Operate, Ref
from deskhand.language.phrases import parse_whole

_WHICH = {
    "top": "top|upper|uppermost|topmost|highest",
    "middle": "middle|central|centre|center|second",
    "bottom": "bottom|lower|lowest|lowermost|bottommost|undermost",
}
_DRAWERS = "drawers?|cabinet|chest of drawers|chest|cupboard|dresser|commode|filing cabinet|nightstand"
_PARTS = "drawer|layer|compartment"
_LIDS = "lid|cover|hatch|flap"
_KNOBS = "knob|dial|switch|control|valve"
_APPLIANCES = "stove|burner|cooker|hob|hot ?plate|heater|oven|tap|faucet|radio|lamp|light|machine|appliance"
_SIDES = "|".join(f"(?P<{name}>{words})" for name, words in _WHICH.items())
_ADJECTIVES = rf"(?:(?:{'|'.join(sorted(lex.COLORS, key=len, reverse=True))}|wooden|small|big|large|little|metal|plastic|closed|open|shut) )*"
_OF = r"(?: (?:of|in|on|from) (?:the|that|this) (?P<of>(?:(?!and\b|then\b|put\b)[a-z]+ ?){1,4}?))?"
_WHAT = rf"(?:the|that|this|your|its|a) (?:(?:{_SIDES}) )?(?P<what>{_ADJECTIVES}(?:{_DRAWERS}|{_PARTS}|{_LIDS}|box|case|casket|tin)){_OF}"
_MANNER = r"(?: (?:fully|completely|all the way|wide|a (?:little|bit)|slightly|again|please|up|out|open|shut|in|halfway|as far as it goes|for me|now))*"
_FAR = r"(?: by (?:about )?(?P<far>\d+(?:\.\d+)?) ?(?P<unit>cm|centimet(?:re|er)s?|mm|millimet(?:re|er)s?))?"
_OPENS = "open|pull open|pull out|pull|slide open|slide out|draw out|lift|lift up|raise|flip open|flip up|swing open|uncover"
_OPEN = re.compile(rf"(?:{_OPENS})(?: up)? {_WHAT}{_MANNER}{_FAR}{_MANNER}")
_CLOSE = re.compile(rf"(?:close|shut|push in|push shut|push|slide shut|slide in|slide back)(?: up)? {_WHAT}{_MANNER}{_FAR}{_MANNER}")
_KNOB = rf"(?:the|that|this|a) (?P<what>{_ADJECTIVES}(?:{_KNOBS}|{_APPLIANCES})(?: (?:knob|dial|switch))?){_OF}"
_TURN_ON = re.compile(rf"(?:turn|switch|put) (?:(?P<on>on|off) {_KNOB}|{_KNOB.replace('<what>', '<what2>').replace('<of>', '<of2>')} (?P<on2>on|off))")
_TURN = re.compile(
    rf"(?:turn|rotate|twist) {_KNOB}(?: (?:to the |towards the )?(?P<way>left|right|clockwise|anti-?clockwise|counter-?clockwise))?"
    r"(?: by (?:about )?(?P<angle>\d+) ?(?:degrees?|deg|°)| by (?:a|one) (?P<part>quarter|half)(?: of a)?(?: turn)?|"
    r" (?P<part2>a quarter|half a|a half)(?: turn)?)?"
    r"(?: (?:to the )?(?P<way2>left|right|clockwise|anti-?clockwise|counter-?clockwise))?"
)
_LEAVE = re.compile(r"(?: ?,? ?please)$|^please,? ")
USUAL = 1.2  # [rad] that a knob is turned where no angle is told: past the mark of most that have two positions


def parse_operating(text: str) -> Operate | None:
    """One clause: what is opened, closed or turned; None where it asks for something else."""
    said = _LEAVE.sub("", re.sub(r"\s+", " ", text.lower()).strip(" .!?")).strip()
    for pattern, act in ((_OPEN, "open"), (_CLOSE, "close")):
        if found := pattern.fullmatch(said):
            return _opened(found, act, said)
    if found := _TURN_ON.fullmatch(said):
        on = (found["on"] or found["on2"]) == "on"
        return Operate("turn", _ref(found["of"] or found["of2"] or found["what"] or found["what2"]), "knob", angle=USUAL if on else -USUAL, either=on)
    if found := _TURN.fullmatch(said):
        way = found["way"] or found["way2"] or ""
        part = (found["part"] or found["part2"] or "").strip("a ")
        angle = np.deg2rad(float(found["angle"])) if found["angle"] else {"quarter": np.pi / 2, "half": np.pi}.get(part, USUAL)
        sign = -1.0 if way in ("right", "clockwise") else 1.0
        return Operate("turn", _ref(found["of"] or found["what"]), "knob", angle=sign * min(float(angle), 3.1), either=not way)
    return None


def _opened(found: re.Match[str], act: str, said: str) -> Operate | None:
    what, of = found["what"], found["of"]
    noun = what.split()[-1]
    lid = bool(re.fullmatch(rf"(?:{_LIDS}|box|case|casket|tin)", noun))
    if said.startswith(("lift", "raise", "flip", "uncover")) and not lid:
        return None
    if said.startswith(("lift", "raise", "push", "pull")) and noun in ("box", "case", "casket", "tin"):
        return None  # the box itself is moved
    which = next((name for name in _WHICH if found[name]), "")
    far = float(found["far"]) / (1000 if found["unit"].startswith("m") else 100) if found["far"] else 0.0
    return Operate(act, _ref(of or what), "lid" if lid else "drawer", which=which, distance=far)


def _ref(words: str) -> Ref:
    """The phrase; its kind alone where it is no phrase that is known."""
    found = parse_whole(f"the {words}")
    return found if found is not None else Ref(f"the {words}", noun=words.rsplit(maxsplit=1)[-1], definite=True)
