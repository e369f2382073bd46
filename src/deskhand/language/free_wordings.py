"""Freer ways of asking, said plainly. Tried only on what the grammar has refused, so that nothing is read another way than before.

Each rule names a way of speaking, not a sentence: adverbs of manner, parts of speech that stand for a verb ("give it a wipe"), places told behind a noun
("furthest to the right"), one of several told first ("of the stars take the left one"), a destination told apart ("its destination is …").
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from deskhand.language import lexicon as lex
from deskhand.language.asides import without_asides
from deskhand.language.motion_steps import placed_by_steps
from deskhand.language.shape_words import plain_shapes

_RESTRICTING = (
    "only|early|family|daily|weekly|monthly|yearly|barely|hardly|scarcely|nearly|partly|partially|supposedly|allegedly|reportedly|rarely|seldomly|fly|"
    "apply|reply|supply|multiply|jelly|belly|lily|ally|rely|imply|assembly|separately|individually|alternately|originally|previously|formerly|recently|"
    "halfway|completely|entirely|wholly|fully|exactly|mostly|mainly|partly|temporarily|briefly|virtually|hypothetically|theoretically|horizontally|"
    "vertically|diagonally|secondly|thirdly|lastly|finally|equally|directly|likely|unlikely|ugly|silly|holy|oily|curly|friendly|lonely|lovely"
)
_MANNER = re.compile(rf"(?:\b(?:very|so|quite|rather|as) )?\b(?!(?:{_RESTRICTING})\b)[a-z]{{3,}}ly\b(?: as possible)?,? ?")
"""How something is done the robot knows best; what restricts is not taken for it."""
_START = r"(?P<start>(?:^|[.;!,:] ?)(?:(?:and|please|kindly|now|just|so|first|next|then|ok|okay|well)[ ,]+)*)"
_NP = r"(?:the|that|this|my|your)(?: (?!(?:and|but|or|then|it|them|which|who|is|are|must|should|not)\b)[a-z0-9']+){1,9}?"
_END = r"(?= *(?:$|[,;.!?]))"
_SIDE = r"(?P<side>left|right|front|rear|back)"
_PIECES = r"(?:thing|object|shape|piece|item|toy|block|one)"
_SORTER = r"the (?:[a-z]+ )?sorter"
_HOLE = r"(?:its|the|a|an) (?:(?:own|matching|right|correct|fitting|proper|corresponding|suitable|respective) )*(?:hole|opening|slot|cut ?out|gap)"
_INSIDE = r"(?:in|into|inside|through)"
_SLIPPED = r"(?:slip|tuck|post|ease|slot|plonk|plop|park|house|lodge|sling|lob|pop|get|send|stash|feed|guide)"
_DUTY = r"(?:should|must|shall|has to|have to|needs? to|is to|ought to|is (?:meant|supposed) to|will|may|can)"
_WIPING = r"(?:wipe|scrub|rub|clean|cleaning|wash|mop|polish|rubbing|scrubbing|wiping)"
_BESIDE_IT = rf"(?:(?:the |that |this )?(?:[a-z]+ ){{0,2}}?(?:area|one|stain|patch|stripe|strip|mark)s? {_DUTY}|(?:the )?(?:others?|rest) {_DUTY})"

_Plain = str | Callable[[re.Match[str]], str]


def _one_of(found: re.Match[str]) -> str:
    """ "of the stars take the left one" -> "take the left star"."""
    return f"{found['start']}{found['before']}the {found['which']} {lex.singular(found['noun'])}"


def _single(found: re.Match[str]) -> str:
    return f"the {lex.singular(found['noun'])} {found['where']}"


def _sideways(found: re.Match[str]) -> str:
    side = "rear" if found["side"] == "back" else found["side"]
    return f"the {side}most {found['what']}"


def _stacked(found: re.Match[str]) -> str:
    lower, upper = (name if re.match(r"(?:the|my|your|that|this) ", name) else f"the {name}" for name in (found["a"], found["b"]))
    return f"{found['start']}put {upper} on {lower}"


_RULES: list[tuple[re.Pattern[str], _Plain]] = [
    (re.compile(pattern), plain)
    for pattern, plain in (
        (rf"\b(?P<side>left|right) hand side\b", r"\g<side> side"),
        # ---- which one is meant
        (
            rf"{_START}(?:of|among|from among|out of|from|amongst) (?:all )?(?:the|these|those)(?: {'|'.join(lex.NUMBERS)})? (?P<noun>[a-z]+s)"
            r"(?: (?:on|that|which|you)[^,;.:]*)?,? (?P<before>[^,;.:]*?)the (?P<which>[a-z]+) one\b",
            _one_of,
        ),
        (  # "whichever of the two areas is on the left"
            rf"\b(?:whichever|whatever|the one)(?: one)?(?: out)? of the (?:(?:two|three|four|five|both) )?(?:[a-z]+ )?(?P<noun>[a-z]+s) (?:(?:that|which) )?"
            r"(?:is|lies|stands|sits|runs) (?P<where>(?:on|at|in|to|nearest|closest|furthest|farthest) [^,;.:]+?)(?= *(?:$|[,;.!?]| and\b| into\b))",
            _single,
        ),
        (  # "the moon furthest to the right", "the cube that is closest to the left edge"
            rf"\bthe (?P<what>(?:[a-z]+ ){{0,2}}?[a-z]+) (?:(?:that|which) (?:is|lies|stands|sits) |lying |standing |sitting |placed )?(?:the )?"
            rf"(?:furthest|farthest|most|outermost|closest|nearest|all the way|way)(?: (?:over|out|far))? (?:(?:to|on|at|towards|in) the )?{_SIDE}"
            r"(?: (?:side|edge|end|hand side))?(?: of (?:the|my) (?:desk|table))?(?! [a-z]+most\b)\b",
            _sideways,
        ),
        # ---- who speaks of one object first
        (  # "one piece is still lying about, namely the white cube"
            rf"{_START}(?![^.;!?]*\b(?:not|never|only)\b)(?:(?:just|exactly) )?(?:there is |i want |i need )?(?:just |exactly |still )*one {_PIECES}[^,;:.!?]*?"
            rf"(?:, (?:namely )?|: |; )(?:and )?(?:that is |it is |namely )?(?P<np>{_NP})(?=[,;.] )",
            r"\g<start>there is \g<np>",
        ),
        (  # "the moon, and its destination is the violet container"
            rf"\b(?:there is )?(?P<a>{_NP})(?:,| ;|\.)? (?:and )?(?:its|the) (?:new )?(?:destination|target|goal|final place|new home|new place) "
            rf"(?:is|will be|should be|shall be|would be) (?:in |inside )?(?P<b>{_NP}){_END}",
            r"put \g<a> into \g<b>",
        ),
        (  # "blue container: drop the star in"
            rf"(?P<start>^|[.;!] )(?:into |in )?(?P<b>(?:the )?(?:[a-z]+ ){{0,3}}[a-z]+): (?:please )?(?P<verb>put|drop|place|set|lay) (?P<a>{_NP}) (?:in|inside|"
            rf"into it|in there){_END}",
            lambda found: f"{found['start']}{found['verb']} {found['a']} in {found['b'] if found['b'].startswith('the ') else 'the ' + found['b']}",
        ),
        # ---- who is asked how
        (
            rf"{_START}(?:(?:all|the only thing|what|everything)(?: that)? (?:you|i|we) (?:have|need|want|ask|are asked|would like)(?: of you| you)?"
            r"(?: to do)? is(?: that you)?(?: to)?|it is your (?:job|task|turn) to|you are (?:asked |requested |expected |supposed |meant )?to|"
            r"i (?:must |have to |would |will )?(?:ask|request|beg|tell|trouble) (?:of )?you to|would you (?:be willing|care|like|agree) to|i challenge you to|"
            r"feel free to|try and|how about you|why do not you|be a (?:good |dear |nice )?(?:robot|friend|sport|helper) and|"
            r"(?:could|can|would|will) you be a (?:good |dear |nice )?(?:robot|friend|sport|helper) and|what about you) ",
            r"\g<start>",
        ),
        (r",?(?: so)? ?: ", ": "),
        (r"^(?P<said>[^:;.]*\b(?:will|is|are|has|have|was|were|am)\b[^:;.]*): (?=[a-z]+ (?:the|it|that|this)\b)", r"\g<said> ; "),
        (r"(?P<start>^|[.;!] )(?:out of|of|among|from) (?:everything|all)\b[^,;.:]*?(?=(?:i|we|there) )", r"\g<start>"),
        # ---- verbs
        (r"\b(?:reach|lean|stretch) (?:over|out|across|down)(?: there)?(?:,| and|, and) (?=[a-z]+ )", ""),
        (rf"\b(?:let|allow) (?P<a>it|{_NP}) (?:to )?(?:drop|fall|go|slide|sink|slip|land) (?=(?:in|into|inside|on|onto)\b)", r"drop \g<a> "),
        (rf"\breach (?:over |out |across |down )*(?:for|to) (?=(?:{_NP})(?:,| and))", "pick up "),
        (r"\b(?P<do>put|drop|place|set|lay|leave|pick up|take|grab|slide|push|fit|insert|move) (?P<a>the [a-z0-9 ]+?) in (?P<side>front|the front|back) (?=(?:in|into|inside|through|on|onto|and)\b)",
         lambda found: f"{found['do']} the {found['side'].removeprefix('the ')} {found['a'].removeprefix('the ')} "),
        (r"\braise (?=(?:the|it|that|this) )", "lift "),
        (rf"\b{_INSIDE} {_HOLE}(?: (?:of|in|on|at|for) (?P<s>{_SORTER}))", r"into \g<s>"),
        (rf"\b{_INSIDE} (?:the|a) (?:[a-z]+ )?(?:hole|opening|slot) (?:that|which) (?:fits|matches|suits)(?: it)? (?:of|in|on) (?P<s>{_SORTER})", r"into \g<s>"),
        (rf"\b(?:push|slide|press|squeeze|shove|guide|fit|feed) (?P<a>it|{_NP}) (?:through|into|in|inside) (?P<s>{_SORTER})", r"put \g<a> into \g<s>"),
        (rf"\b{_SLIPPED} (?P<a>it|{_NP}) (?P<in>in|into|inside|onto|on|on top of|atop) (?=the |my )", r"put \g<a> \g<in> "),
        (rf"\b(?:see(?: to it)?|make sure|take care|check|ensure)(?: that)? (?P<a>it|{_NP}) (?:lands|goes|gets|ends up|is put|is placed|comes to (?:rest|lie|stand))"
         r" (?=in|into|inside|on|onto)", r"put \g<a> "),
        # ---- stacks
        (  # "lime cube first, navy cube on top"
            rf"{_START}(?P<a>(?:the )?(?:[a-z]+ ){{1,3}}[a-z]+) (?:first|at the bottom|below|underneath|goes first|as the base|down first)(?:,|;)? (?:and )?(?:then )?"
            rf"(?P<b>(?:the )?(?:[a-z]+ ){{1,3}}[a-z]+) (?:goes |comes )?(?:second|next|last|above|(?:on|at the) top(?: of (?:it|that|the (?:first|other)(?: one)?))?|"
            rf"on it|over it){_END}",
            _stacked,
        ),
        (  # "the black cube is at the bottom, and the azure cube has to sit on it"
            rf"{_START}(?P<a>{_NP}) (?:is|goes|comes|belongs|stays|{_DUTY} (?:be|go|stay|come)) (?:at the (?:bottom|base)|below|underneath|first|the base|"
            rf"the bottom one)(?:,| ;|\.)? (?:and |while |with )?(?P<b>{_NP}) (?:(?:is|goes|comes|belongs|sits|stands|{_DUTY}(?: (?:be|go|come|sit|stand|rest|lie))?)"
            rf"(?: placed| put)? )?(?:on (?:it|that|top(?: of it| of that)?)|above(?: it)?|second){_END}",
            _stacked,
        ),
        (  # "i need two cubes on each other. the black …"
            r"(?:^|(?<=[.;!] ))[^.;!?]*\b(?:two|a pair of|both) [a-z]+ (?:stacked )?(?:on(?: top of)? (?:each other|one another|the other)|one on(?: top of)? the other)"
            r"[.;:!] (?=[^.;!]*\b(?:on|onto|atop|bottom|base)\b)",
            "",
        ),
    )
]  # fmt: skip
_WIPED = re.compile(r"\b(?:area|stripe|strip|patch|mark|stain|spot|spill|smear|smudge|streak|region)\b")
_WIPING_RULES: list[tuple[re.Pattern[str], _Plain]] = [
    (re.compile(pattern), plain)
    for pattern, plain in (
        (rf"\bgive (?P<a>{_NP}) an? (?:(?!once)[a-z]+ )?{_WIPING}\b", r"wipe \g<a>"),
        (rf"\b(?:make|get|have) (?P<a>{_NP}) (?:all )?(?:clean|spotless|wiped|cleaned|scrubbed|dirt free)(?: again)?\b", r"wipe \g<a>"),
        (rf"\bkeep (?:on )?(?:wip|rubb|scrubb|mopp)ing\b", "wipe"),
        (rf"\b(?:use|apply|take|run|go|pull|drag|move|rub) (?:the|a|your) sponge (?:on|to|over|along|across|against) (?P<a>{_NP})(?= *(?:$|[,;.!?]| until| and))",
         r"wipe \g<a> with the sponge"),
        (rf"\b(?:go|pass) (?:over|along|across) (?P<a>{_NP}) with (?:the|a|your) sponge\b", r"wipe \g<a> with the sponge"),
        (r"\b(?:sponge|scour|swipe|wipe|scrub|rub|mop|swab|clean) (?:down|off|away|out|over|up) (?=the )", "wipe "),
        (r"\b(?:sponge|scour|swipe) (?=the [a-z ]*(?:area|stripe|strip|patch|mark|stain|spot|one)\b)", "wipe "),
        (rf",? (?:until|till|so that|such that|to the point where) (?:it|they|(?:no|nothing|not|none|all|every|the) ?[a-z ]*?) ?(?:(?:is|are|has|have|can|shows?|remains?|looks?|be)\b)"
         rf"[a-z ]*?(?:gone|clean|disappeared|vanished|spotless|left|seen|visible|remaining|removed|off|away|wiped|dirt|free|remains?|any ?more)*{_END}", ""),
        (r"\bone of the (?:two )?(?:[a-z]+ )?(?:areas|stains|marks|patches|stripes), (?P<which>the [a-z ]+?), ", r"\g<which> "),
        (rf"(?:;|,|\.)? ?(?:and |but |while )?{_BESIDE_IT} (?:stay|remain|wait|be left|be spared|keep)[^.;!?,]*{_END}", ""),
        (rf"{_START}nothing (?:else )?(?:but|except|other than) (?P<a>{_NP}) (?:matters|counts|is of interest|interests me)(?: to me| for me)?(?:,|;|\.)? ?(?:and |so )*"
         r"(?P<rest>[^.;!?]*?)\b(?:it|that one)\b", r"\g<start>\g<rest>\g<a>"),
    )
]  # fmt: skip


def freely(text: str) -> str:
    """``text`` in lower case, contractions written out, with its freer ways of speaking said plainly; as it is where it has none."""
    said = plain_shapes(re.sub(r"(?<=\w)-(?=\w)", " ", text))
    said = re.sub(r"\s+", " ", _MANNER.sub("", said)).strip()
    for pattern, plain in (*_RULES, *(_WIPING_RULES if _WIPED.search(said) else ())):
        said = pattern.sub(plain, said)
    return re.sub(r"\s+", " ", said).strip(" ,;")


def rewritings(text: str) -> Iterator[str]:
    """What a refused text (lower case, contractions written out) may be said like, the nearest first."""
    seen = {text, ""}
    free = freely(text)
    for said in (lambda: without_asides(text), lambda: placed_by_steps(free), lambda: free, lambda: without_asides(free)):
        if (plain := said()) not in seen:
            seen.add(plain)
            yield plain
