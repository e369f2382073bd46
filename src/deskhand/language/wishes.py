"""Wishes said as an act: "what I need is for the cube to end up in the bin", "it would be great if the moon could be put …", "prove him wrong by putting …"."""

from __future__ import annotations

import re
from collections.abc import Callable

from deskhand.language import lexicon as lex
from deskhand.language import verbs as vb

_FIRST = sorted(frozenset().union(*vb.SORTS.values(), {verb[0] for verb in lex.VERBS}, {"find", "choose", "fit", "select"}) - {"make", "form"})
VERB = rf"(?:{'|'.join(_FIRST)})"
"""What a request may begin with."""
_BASE_OF = {"took": "take", "put": "put", "set": "set", "laid": "lay", "brought": "bring", "got": "get", "held": "hold", "stuck": "stick", "threw": "throw",
            "built": "build", "left": "leave", "kept": "keep",
            "dropped": "drop", "stacked": "stack"}  # fmt: skip
_NP = r"(?:(?:the|a|an|that|this|my|your|both) [a-z]+[^,;]*?|it|them|both|that|this)"
_MODAL = r"(?:(?:to|can|could|would|should|will|may|might|must|shall|were|was|is|are|be|being|get|gets|got|has to|have to|just|please|all|both) )*"
_DONE = r"(?P<done>put|placed|moved|set|laid|dropped|brought|inserted|fitted|stacked|stored|carried|transferred|positioned|deposited|lowered)"
_WIPED = r"(?P<wiped>wiped|cleaned|clean|scrubbed)"
_GOES = (
    r"(?:end(?:s|ed)? up|gets?|got|go|goes|went|land|lands|sit|sits|sat|stand|stands|rest|rests|lie|lies|(?:be )?(?:resting|standing|sitting|lying)|"
    r"finish|f(?:ind|inds|ound) (?:its|a) (?:way|place|home)|make its way|be|come|belong)"
)
_TO = r"(?P<to>(?:in|into|on|onto|inside|atop|upon|on top of|over to|to|where)\b.*)"
_STATE = (
    re.compile(rf"(?P<what>{_NP}) {_MODAL}{_DONE}(?: down| over)? {_TO}$"),
    re.compile(rf"(?P<what>{_NP}) {_MODAL}{_WIPED}(?P<with>(?: (?:off|with|using|by) .*)?)$"),
    re.compile(rf"(?P<what>{_NP}) {_MODAL}{_GOES} {_TO}$"),
)
_SCENE = re.compile(rf"(?P<what>{_NP}) (?P<to>(?:in|into|inside|on|onto|on top of|atop) (?:the|my) .*)$")
_HOW_MUCH = r"(?:(?:really|very|so|just|only|most|also|now|still|do|would|will|much|greatly|all|am|are|have) )*"
_GLAD = r"(?:(?:very|so|most|really|extremely|truly|only) )*(?:much obliged|grateful|glad|happy|thankful|pleased|obliged|delighted)"
_WANT = (
    r"(?:want|need|ask(?:ing)?(?: for| of you)?|request|insist|suggest|propose|wish(?: for)?|(?<=would )(?:(?:really|very much|so|just|also|most) )*"
    rf"(?:like|love|prefer|appreciate|rather|ask for|be {_GLAD}))"
)
_GOOD = (
    r"(?:(?:really|very|so|just|quite|also|most) )*(?:be (?:(?:really|very|so|just|quite|most|absolutely) )*(?:nice|great|good|lovely|helpful|kind|"
    r"fantastic|perfect|"
    r"wonderful|best|better|ideal|splendid|super|brilliant|marvellous|delightful|a (?:(?:great|big|real|huge|good|massive) )?(?:help|favou?r|relief|"
    r"pleasure|joy|"
    r"delight))|make (?:my (?:day|morning|evening|week)|(?:me|us|him|her|them|my [a-z]+) (?:(?:very|so|really) )*(?:happy|glad|proud|smile))|help|mean a lot|"
    r"please (?:me|us)|save (?:me|us))"
)
_NOW = r"(?: (?:most|from you|of you|of all|right now|now|today|here|done|to (?:see|have|get)|you to do|at the moment))*"
_FRAMES = (
    re.compile(rf"(?:what|all|the (?:only )?(?:one|thing))(?: that)? (?:i|we) {_HOW_MUCH}(?:{_WANT}|care about){_NOW} (?:is|would be|:)(?: (?:for|that|"
        rf"to))?(?: you)?(?: to)? "
               r"(?P<rest>.+)"),
    re.compile(rf"what would {_GOOD}\b[^,;]*? (?:is|would be)(?: (?:for|that|to|if))?(?: you(?: to| could)?)? (?P<rest>.+)"),
    re.compile(rf"(?:it|that) (?:would|will|might|could) {_GOOD}\b[^,;]*? (?:if|to have|to see) (?P<rest>.+)"),
    re.compile(rf"(?:i|we) (?:would|will) {_HOW_MUCH}(?:appreciate it|love it|like it|be {_GLAD})(?: very much| a lot)? if (?P<rest>.+)"),
    re.compile(rf"(?:i|we) {_HOW_MUCH}{_WANT}(?: to)?(?: (?:see|have|watch|get))?(?: that| for)? (?P<rest>.+)"),
    re.compile(r"my (?:only )?(?:wish|request) (?:is|would be)(?: (?:for|that|to))?(?: you)?(?: to)? (?P<rest>.+)"),
    re.compile(r"the (?:[a-z]+ )?(?:[a-z]+ )?thing (?:to do )?(?:is|would be|will be) (?:for you )?(?P<rest>to .+)"),
    re.compile(r"(?:would|will|is) it (?:be )?(?:too much(?: to ask)?|possible|ok|okay|all right|alright|a problem|(?:much |any |too much )?trouble)(?: "
        r"for you)? (?:that|if|to ask that|to ask you to) "
               r"(?P<rest>.+)"),
    re.compile(r"(?:can|could|may|might|must|would|will|have to) (?:i|we) (?:please |just )?(?:ask|trouble|bother|get|beg|request|persuade) you "
        r"(?P<rest>to .+)"),
    re.compile(r"(?:i|we) (?:must|have to|would|will|need to|am|want to|would like to|may|do) (?:just )?(?:ask|asking|beg|request|trust|trouble) you "
        r"(?P<rest>to .+)"),
    re.compile(r"nothing would (?:please|delight|help) (?:me|us)(?: more| better)? than (?:to see|seeing|if) (?P<rest>.+)"),
    re.compile(r"(?:how|what) about (?P<rest>[a-z]+ing .+)"),
    re.compile(r"(?:(?:can|could|would|will) you (?:please |kindly )*)?(?:see(?: to it)?|make sure|ensure|arrange(?: it)?|take care|manage it)(?: so)? "
        r"that (?P<rest>.+)"),
)  # fmt: skip
_TURNED = re.compile(
    r"\b(?:not|never|no|nobody|nothing|none|neither|nor|hardly|without|instead|unless|until|that|which|who|whose|where|when|while|before|after)\b"
)
"""In the words for an object these make another object of it, or another wish."""
_WANTED_ONE = re.compile(
    rf"(?:what|the (?:one|thing|object|area|shape))(?: that)? (?:i|we) {_HOW_MUCH}{_WANT} (?:(?:you )?to (?P<verb>{VERB})|(?P<done>wiped|cleaned|moved|"
    rf"put|placed|stacked|taken))"
    r"(?P<how>(?: [a-z ]+?)?) (?:is|would be) (?P<what>.+)"
)  # fmt: skip
_NEGATED = re.compile(r"\b(?:not|never|no|nobody|nothing|hardly)\b")
_BY_DOING = re.compile(
    r"(?:please )?(?:let us )?(?:prove|show|surprise|impress|help|please|cheer|delight|complete|start|begin|finish)\b[^,;]*? by (?P<doing>[a-z]+ing) "
    r"(?P<rest>.+)"
)
_BE_GOOD = re.compile(rf"(?:can|could|would|will) you (?:please )?be (?:[a-z]+ ){{1,4}}?(?:and|to|as to|enough to) (?=(?:please )?{VERB} )")
_OPINION = re.compile(
    r"(?:i|we) (?:have decided|decided|think|believe|would say|feel|am convinced|reckon|am sure|am of the opinion|agree) (?:that )?"
    r"(?=(?:the|my) [^,]*\b(?:should|must|has to|needs to|ought to|belongs?|goes)\b)"
)
_IS_WHAT = re.compile(
    rf"(?P<what>(?:the|my) [^,;]+?)(?:, [^,]*,)? (?:is|are) (?:what|the ones?(?: that)?) (?:i|we) {_HOW_MUCH}{_WANT} you to (?P<verb>{VERB}) (?P<rest>.+)"
)
_BELONGS = re.compile(
    r"what (?:belongs|goes|should go|must go|has to go) (?P<to>(?:in|into|on|onto|inside) [^,]+?) is (?P<what>(?:the|my) [^,]+?)(?:, not [^,]*)?"
)
_NEVER_MIND = re.compile(r"(?:please )?do not (?:bother|worry|trouble)(?: yourself)? (?:with|about) (?P<what>(?:the|my) .+)")
_YOU = re.compile(r"(?:you )(?:could |would |can |might |please |just |kindly |to |try to )*(?P<verb>[a-z]+) (?P<rest>.+)")
_DOING = re.compile(r"(?:to (?=[a-z]+ )|(?=[a-z]+ing ))(?P<verb>[a-z]+) (?P<rest>.+)")
_A_WIPE = re.compile(r"give (?P<what>(?:the|that|this) .+?) an? (?:[a-z]+ ){0,2}(?:wipe|clean|scrub|rub|wiping|scrubbing)(?P<rest>(?: (?:with|using) .+)?)$")
_GET = re.compile(rf"(?:(?:get|have|let|make) (?P<what>{_NP}) (?:to )?(?:be |{_GOES} )|get (?P<got>{_NP}) ){_TO}$")


def base_of(verb: str) -> str:
    """Of "took", "placed", "putting": take, place, put; the word itself where it is none of the known verbs."""
    if verb in _BASE_OF:
        return _BASE_OF[verb]
    stems = (verb, verb[:-3], verb[:-3] + "e", verb[:-4], verb[:-2], verb[:-1], verb[:-3]) if verb.endswith(("ing", "ed")) else (verb,)
    return next((stem for stem in stems if stem in _FIRST), verb)


def asked_plainly(clause: str) -> str:
    """A wish as the act that makes it true; any other clause as it is."""
    clause = _OPINION.sub("", _BE_GOOD.sub("", re.sub(r"^(?:please|kindly) (?=see|make sure|take care|ensure)", "", clause)))
    for _ in range(3):
        plain = _once(clause)
        if plain == clause:
            return clause
        clause = plain
    return clause


def _once(clause: str) -> str:
    if found := _NEVER_MIND.fullmatch(clause):
        return f"leave {found['what']}"
    if found := _IS_WHAT.fullmatch(clause):
        return f"{found['verb']} {found['what']} {found['rest']}"
    if found := _BELONGS.fullmatch(clause):
        return f"put {found['what']} {found['to']}"
    if found := _A_WIPE.fullmatch(clause):
        return f"wipe {found['what']}{found['rest']}"
    for read in (_wanted_one, _by_doing, _framed):
        if (plain := read(clause)) is not None:
            return plain
    return clause


def _wanted_one(clause: str) -> str | None:
    found = _WANTED_ONE.fullmatch(clause)
    return f"{base_of(found['verb'] or found['done'])} {found['what']}{found['how']}" if found else None


def _by_doing(clause: str) -> str | None:
    found = _BY_DOING.fullmatch(clause)
    if found and _NEGATED.search(clause[: found.start("doing")]):
        return None
    if not found or base_of(found["doing"]) == found["doing"]:
        return None
    inverted = re.fullmatch(r"(in|on) (the [^,]*)", found["rest"])  # "by putting in the cube"
    return f"{base_of(found['doing'])} {f'{inverted[2]} {inverted[1]} it' if inverted else found['rest']}"


def _framed(clause: str) -> str | None:
    for frame in _FRAMES:
        if (
            (found := frame.fullmatch(clause))
            and not _NEGATED.search(clause[: found.start("rest")].removeprefix("nothing"))
            and (plain := _act(found["rest"]) or _tower(found["rest"]) or _seen(clause, found["rest"]))
        ):
            return plain
    return None


def _seen(clause: str, said: str) -> str | None:
    """Of "to see the cube on top of the box" to put it there."""
    found = _SCENE.fullmatch(said) if re.search(r"\b(?:see|seeing|have|get|watch)\b", clause.removesuffix(said)) else None
    return f"put {found['what']} {found['to']}" if found and not _TURNED.search(found["what"]) else None


def _tower(said: str) -> str | None:
    return f"i want {said}" if re.match(rf"(?:a|one) (?:[a-z]+ )?(?:{'|'.join(lex.TOWER_NOUNS)})\b", said) else None


def _act(said: str) -> str | None:
    """Of "the cube could be put in the tray", "you took the cube", "putting it there" the request; None where it is none of these."""
    if (found := _DOING.fullmatch(said)) and base_of(found["verb"]) in _FIRST:
        return f"{base_of(found['verb'])} {found['rest']}"
    if found := _YOU.fullmatch(said):
        said = f"{base_of(found['verb'])} {found['rest']}"
        if said.split(" ", 1)[0] not in _FIRST:
            return None
        rest = _GET.fullmatch(said)
        return f"put {rest['what'] or rest['got']} {rest['to']}" if rest else _chained(said)
    if re.match(f"{VERB} ", said):
        return None if not (rest := _GET.fullmatch(said)) else f"put {rest['what'] or rest['got']} {rest['to']}"
    for pattern in _STATE:
        if (found := pattern.fullmatch(said)) and not _TURNED.search(re.sub(r"^that ", "", found["what"])):
            return f"wipe {found['what']}{found['with']}" if "wiped" in found.re.groupindex else f"put {found['what']} {found['to']}"
    return None


def _chained(said: str) -> str:
    """In "take the cube, took it there and placed it" each verb in its base form."""
    link: Callable[[re.Match[str]], str] = lambda found: f"{found[1]}{base_of(found[2])}{found[3]}"  # noqa: E731
    return re.sub(r"((?:,|,? and) )([a-z]+)( (?:the|it|them|down)\b)", link, said)
