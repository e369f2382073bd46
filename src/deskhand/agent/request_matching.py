"""Which motions requests ask for, and which objects their phrases mean."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from deskhand.etp.words import near, stems
from deskhand.language import lexicon as lex
from deskhand.language import verbs as vb
from deskhand.language.intents import Ref
from deskhand.language.phrases import parse_ref
from deskhand.language.requests import BESIDE, INTO, OBJECT, Request
from deskhand.language.resolve import Seen, resolve

TIDYING = frozenset(words[0] for words, meaning in lex.VERBS.items() if meaning in ("tidy", "sort", "empty")) | {"rearrange", "free", "make"}
CLEARING = TIDYING | vb.words("throw discard get dispose toss chuck trash dump recycle bin stow store clean put pack")
"""Where no place is said, objects go into containers."""
STACKING = vb.words("stack pile build make construct erect form line align arrange group order sort")
_ABOUT_ACTS = vb.words("last step move act action change motion thing what that this it everything all")
_UNITS = vb.words("metre meter m centimetre centimeter cm millimetre millimeter mm degree step")
_DOING = vb.words("use run call start do make perform execute play begin trigger invoke activate")
ALL = frozenset(("*",))
"""Stands for every object on the desk."""


def moves(request: Request) -> bool:
    """Whether it asks for objects to be moved; "clean the cup" does not, "clean up the cups" does."""
    if request.verb in vb.SORTS[vb.MOVE] or not request.verb:
        return True
    if request.verb == "let":
        return _lets_go(request)
    if request.verb in ("clean", "sweep", "brush", "wipe"):
        tidied = request.verb == "clean" and (_particle(request, "up", "away", "out", "off") or any(_table(words) for words in request.of(OBJECT)))
        return tidied or (request.verb != "clean" and bool(request.of(INTO)))
    known = request.verb in vb.SILENT or any(request.verb in known for known in vb.SORTS.values())
    return not known and _particle(request, "into", "onto", "away", "aside")  # "yeet the cup into the bin"


def acts_on(request: Request, sort: str) -> list[tuple[str, ...]]:
    """The phrases that a motion of the sort may be about."""
    if sort == vb.MOVE:
        return request.of(OBJECT) if moves(request) else _means(request)
    return request.of(OBJECT) if request.verb in vb.SORTS[sort] else []


def _means(request: Request) -> list[tuple[str, ...]]:
    """What one works with: "wipe the table with the sponge"."""
    return request.of(OBJECT)[1:] if request.verb in vb.SORTS[vb.WIPE] and ("with" in request.words or "using" in request.words) else []


def goes_to(request: Request, beside: bool) -> list[tuple[str, ...]]:
    """The phrases that say where objects go."""
    if not moves(request):
        return []
    own = request.of(OBJECT) if request.verb in STACKING else []
    said = request.of(INTO, *([BESIDE] if beside else []))
    fitting = [("the", "container")] if request.verb in CLEARING and not any(request.goal(words) for words in request.of(INTO, BESIDE)) else []
    return [*said, *own, *fitting]


def named(words: Sequence[str], verb: str, objects: Sequence[Seen], held: str, target: bool) -> frozenset[str]:
    """Ids of the objects that a phrase means; :data:`ALL` for any."""
    words = _inner([word for word in words if word not in (",", "please")])
    if any(str(item["id"]) in words for item in objects):
        return frozenset(str(item["id"]) for item in objects if item["id"] in words)
    if words and set(words) <= vb.PRONOUNS - {"all", "everything", "anything", "something", "both"}:
        return frozenset((held,)) if held else frozenset()
    if not target and verb in TIDYING and (_table(words) or any(word in vb.ROOMS for word in words)):
        return ALL
    ref = phrase(words)
    if ref is None:
        return frozenset()
    if ref.rest or (ref.anything and not (ref.colors or ref.shapes)):
        return ALL
    found = {str(item["id"]) for item in resolve(widened(ref), objects, "any").objects}
    head = {words[-1], lex.singular(words[-1])}
    labelled = {str(item["id"]) for item in objects if head & set(str(item["label"]).lower().replace("_", " ").split()) and _fits(ref, item)}
    return frozenset(found | labelled)


def phrase(words: Sequence[str]) -> Ref | None:
    """The longest end of the words that is a noun phrase: "the chipped red cup" -> the red cup."""
    for start in range(len(words)):
        said = list(words[start:]) if start == 0 else ["the", *words[start:]]
        for text in (said, ["the", *said]):
            found = parse_ref(text, 0)
            if found is not None and found[1] == len(text):
                return found[0]
    return None


def widened(ref: Ref) -> Ref:
    """Every object of that kind and colour: which of them is the biggest or the left one is not settled here."""
    return replace(ref, count=0, size=None, place="", where=None, definite=False)


def _inner(words: list[str]) -> list[str]:
    """Of "a pile of blocks" the blocks, of "the lid of the box" the lid."""
    if "of" not in words[1:]:
        return words
    at = words.index("of", 1)
    many = lex.singular(words[at - 1]) in vb.QUANTITIES or words[at - 1].isdigit()
    return _inner(words[at + 1 :]) if many else words[:at]


def _fits(ref: Ref, item: Seen) -> bool:
    return not ref.colors or lex.color_of(str(item.get("color", ""))) in ref.colors


def _table(words: Sequence[str]) -> bool:
    return bool(words) and (words[-1] in lex.TABLE_NOUNS or " ".join(words[-2:]) in lex.TABLE_NOUNS)


def _particle(request: Request, *words: str) -> bool:
    return any(word in words for word in request.words[1:])


def _head(request: Request, nouns: frozenset[str]) -> bool:
    """Whether it acts on one of these: the head of a phrase, not a word in it ("the arm", not "the arm of the chair" or "the robot toy")."""
    for words in request.of(OBJECT):
        at = words.index("of") if "of" in words else len(words)
        whole = at == len(words) or words[-1] in ("robot", "you", "yours")
        head = [word for word in words[:at] if not word.isdigit()]
        if head and whole and lex.singular(head[-1]) in nouns:
            return True
    return False


# ---------------------------------------------------------------- motions without an object of their own


def asks_for(tool: str, request: Request, objects: Sequence[Seen], held: str) -> bool:
    """Whether a request asks for a motion that is not about an object by its arguments, or for a certain way of moving one."""
    verb, acted = request.verb, request.of(OBJECT)
    bare = not acted

    def holds() -> bool:
        return bare or any(held in (found := named(words, verb, objects, held, False)) or found == ALL for words in acted)

    if tool == "open_gripper":
        if verb in vb.SORTS[vb.OPEN]:
            return _head(request, vb.HAND_NOUNS) or (bare and set(request.words) <= {verb, "up", "wide", "again", "please", "now"})
        if verb == "let":
            return _lets_go(request)
        return (verb in ("release", "drop") or (verb in vb.SORTS[vb.RELEASE] and "down" in request.words) or _hands_over(request)) and holds()
    if tool == "handover":
        return _hands_over(request) and holds()
    if tool in ("wipe", "touch_down", "push"):
        return verb in vb.SORTS[{"wipe": vb.WIPE, "touch_down": vb.TOUCH, "push": vb.PUSH}[tool]]
    if tool in ("move_joints", "execute_plan"):
        gesture = verb in ("wave", "point", "nod", "bow", "dance", "stretch")
        return (gesture and not (verb == "point" and not request.phrases)) or (
            (verb in vb.SORTS[vb.ARM] | vb.SORTS[vb.OPEN] | {"put", "bring", "set"}) and _head(request, vb.ARM_NOUNS)
        )
    if tool == "navigate_to_goal_pose":
        return (verb in vb.SORTS[vb.DRIVE] and (bare or all(_amount(words) for words in acted) or _head(request, vb.BASE_NOUNS))) or (
            verb in ("move", "bring", "turn") and _head(request, vb.BASE_NOUNS - {"robot", "yourself"})
        )
    if tool == "undo_last_act":
        direct = verb in ("undo", "revert", "reverse", "cancel", "restore")
        return (direct or (verb in vb.SORTS[vb.UNDO] and request.aside and "back" in request.words)) and (
            bare or any(set(words) & _ABOUT_ACTS for words in acted) or holds()
        )
    return _of_others(tool, request)


def _amount(words: Sequence[str]) -> bool:
    """As in "drive one metre forward"."""
    return bool(_UNITS & set(words)) and all(word in _UNITS | {"a", "one", "half", "about"} or word in lex.NUMBERS or word.isdecimal() for word in words)


def _lets_go(request: Request) -> bool:
    return bool({"go", "loose", "fall", "drop"} & set(request.words))


def _hands_over(request: Request) -> bool:
    """As in "give me …", "hand it over", "pass the pen to Tom", "hold it out"."""
    to = bool(request.of(INTO)) and (request.words[1:2] == ("me",) or "me" in request.words or "us" in request.words or "to" in request.words)
    if request.verb in ("give", "hand", "pass"):
        return to or "over" in request.words or request.verb != "give"
    return (request.verb == "hold" and "out" in request.words) or (
        request.verb in ("bring", "fetch", "get", "reach") and ("me" in request.words or "us" in request.words)
    )


def _of_others(tool: str, request: Request) -> bool:
    """A tool that is not ours: its name holds the verb, and what the verb is about where the name says something of that."""
    name = set(stems(tool.replace("_", " ").replace("/", " ")))
    verb = set(stems(request.verb))
    verb |= {other for word in verb for other in near(word)}
    about = {word for words in request.of(OBJECT, INTO) for word in stems(" ".join(words))}
    rest = name - verb
    if verb & name:
        return not about or not rest or bool(about & rest) or not request.of(OBJECT) or rest <= _DOING | {"send", "write"}  # "mail Tom …": send_mail
    return request.verb in _DOING and bool(about & name)


def sort_of(name: str) -> str:
    """The sort of motion whose words may name the objects of a call of the tool."""
    return {"wipe": vb.WIPE, "touch_down": vb.TOUCH}.get(name, vb.MOVE)
