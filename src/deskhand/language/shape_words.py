"""Words for outlines and solids, what they remind of and how they look: rewritten into the plain noun before an instruction is read.

What reminds of an outline is everyday knowledge of what people liken shapes to, begun with WordNet 3.1 (Fellbaum, 1998), nouns whose gloss gives the whole
object that shape ("croissant: very rich flaky crescent-shaped roll"), from pages that teach shapes (enchantedlearning.com, slideplayer.com/slide/2603187),
and from the prompts by which EmbodiedBench made its wordings (candle, battery, telescope tube). How many corners, edges and faces a solid has is geometry.
"""

from __future__ import annotations

import re
from collections.abc import Callable


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


OUTLINE_WORDS: dict[str, tuple[str, ...]] = {
    "star": ("star", "pentagram", "pentacle", "pentangle"),
    "crescent": ("crescent", "moon", "crescent moon", "half moon", "sickle", "lune"),
    "triangle": ("triangle", "triangular prism", "prism", "triangular block", "wedge", "trigon"),
    "circle": ("cylinder", "disc", "disk", "circle"),
    "square": ("square",),
    "heart": ("heart",),
    "plus": ("cross", "plus sign"),
    "hexagon": ("hexagon", "hexagonal prism"),
    "pentagon": ("pentagon", "pentagonal prism"),
}
"""Outline (perception/outline_match.py) -> the nouns for an object that has it."""
OUTLINE_OF = {word: outline for outline, words in OUTLINE_WORDS.items() for word in words}
PLAIN = {"star": "star", "crescent": "crescent", "triangle": "triangle", "circle": "cylinder", "square": "cube", "heart": "heart", "plus": "cross"}
PLAIN |= {"hexagon": "hexagon", "pentagon": "pentagon"}
"""Outline -> the one noun that descriptions are rewritten into."""
_PIECE = "(?:slice|piece|wedge|segment|sliver)s? of (?:an? |the )?"
REMINDS: dict[str, str] = {
    "star": "starfish|sea star|star anise|asterisk|what twinkles in the night sky|what twinkles at night|a sun with rays|(?:sheriff(?: is)? |sheriffs )?badge|"
    "christmas tree topper|tree topper|ninja star|throwing star|shuriken|pentagram|(?:top|tip) of an? (?:christmas tree|(?:magic |fairy )?wand)|"
    "christmas star|gold star|magic wand|compass rose|slice of (?:star ?fruit|carambola)|"
    "rating symbol|fallen star|shooting star|caltrop|starburst|hollywood walk of fame tile|twinkling light",
    "crescent": "banana|croissant|crescent roll|almond crescent|boomerang|sickle|scythe blade|crescent moon|half moon|(?:new |waxing |waning )?moon(?: "
    "(?:in|on) the (?:night )?sky| at night)?|lunula|"
    "slice of melon|melon slice|smile|smiling mouth|grin|cashew(?: nut)?|claw|tusk|eyebrow|fingernail|nail clipping|horseshoe|letter c|gondola|scimitar|"
    "(?:orange|lemon|lime) (?:segment|wedge)|(?:segment|wedge) of (?:an? )?(?:orange|lemon|lime)|quarter moon|toenail|parenthesis|bracket|neck pillow|"
    "travel pillow|melon rind|rind|fortune cookie|gyoza|dumpling|empanada|pierogi|pasty|rainbow|"
    "crescent wrench|orange slice|shrimp|macaroni|what (?:shines|glows|rises|comes out) at night|"
    "what (?:lights(?: up)?|brightens(?: up)?|illuminates|shines (?:in|through)|glows in|rises in) the (?:night(?: sky)?|dark)|what the night is lit by|"
    "earth is satellite",
    "triangle": f"tent|pup tent|{_PIECE}(?:pizza|cake|pie|cheese|watermelon|tart|quiche)|(?:pizza|cake|pie|cheese|watermelon) (?:slice|wedge|piece)|toblerone"
    "(?: bar)?|roof|gable roof|sail|jib|spinnaker|tortilla chip|nacho|corn chip|dorito|samosa|onigiri|rice ball|doorstop|door wedge|door stop|ramp|"
    "tepee|teepee|tipi|"
    "sandwich half|half a sandwich|play button|roof of a house|house roof|rooftop|tricorn(?: hat)?|volcano|hill|traffic warning sign|boat sail|paper plane|"
    "wigwam|a frame(?: house)?|pyramid|arrowhead|spearhead|arrow tip|pennant|bunting flag|guitar pick|plectrum|coat hanger|clothes hanger|hang glider|"
    "mountain|(?:yield|warning|give way) (?:traffic |road )?sign|triangle|sandwich (?:cut diagonally|half)|party hat|delta|wedge|gable|pediment|kerchief|"
    "delta wing|(?:glass |optical )?prism|set square|shark fin|christmas tree|fir tree|billiards? rack",
    "circle": "(?:tin |soda |drinks? |beer |soup |cola |coke )?can|(?:can|tin) of \\w+|drum|barrel|cask|keg|coin|penny|cookie|biscuit|cracker|wheel|tire|tyre|"
    "tower|tube|"
    "pipe|log|cylinder|plate|clock(?: face)?|disc|disk|column|pillar|jar|bucket|canister|silo|(?:hockey )?puck|(?:poker |casino )?chip|token|washer|millstone|"
    "grindstone|frisbee|discus|wafer|roller|rolling pin|spool|bobbin|reel|baton|compact dis[ck]|cd|dvd|candle|tea ?light|battery|telescope tube|button|medal|"
    "pill|tablet|bottle cap|(?:jar|bottle) (?:lid|top)|lid|coaster|checkers? piece|(?:draughts|checker) (?:piece|man)|checker|roll of (?:tape|toilet paper|"
    "paper towels?|coins|mints)|(?:toilet|paper|tape) roll|tree (?:trunk|stump)|stump|trunk|hat ?box|cheese wheel|wheel of cheese|pancake|pizza|burger|"
    "full moon|"
    "marshmallow|(?:wine )?cork|lipstick|flashlight|torch|cake|birthday cake|sushi roll|maki|slice of (?:cucumber|tomato|carrot|salami|sausage)|"
    "manhole cover|salt shaker|pepper mill|(?:paint|oil|trash|tennis ball|tuna|spray) (?:can|drum|bucket|tin)|"
    "petri dish|film canister|cup|mug|glass|beaker|round table|gas tank|water tank|water heater|thermos",
    "square": "dice|die|(?:sugar|bouillon|stock|ice|rubiks|rubik is|story) cube|(?:sugar )?lump(?: of sugar)?|(?:toy |building |wooden |alphabet |minecraft |"
    "ice )?block|square tile|cube|square block|(?:gift|cardboard|moving|shipping|packing|storage|wooden|jewelry|ring) box|box|present|gift|crate|parcel|"
    "tofu|block of (?:cheese|tofu|butter|ice|wood)|crouton|(?:cheese|feta|tofu) cube|cube of (?:cheese|tofu|sugar|ice|meat)|pouf|ottoman|footstool|"
    "(?:music|jewel|toy|milk|tissue) (?:box|crate)|"
    "chess ?board square|pixel|voxel|sticky note|caramel|brick|safe|what you (?:roll|throw) in (?:a )?board games?",
    "heart": "heart|valentine",
    "plus": "cross|plus sign|medical cross|crucifix|first aid sign|red cross|letter x|x",
    "hexagon": "honeycomb(?: cell)?|beehive cell|(?:metal |hex |bolt |screw )?nut|bolt head|hexagon|snowflake|bathroom tile",
    "pentagon": "house|home plate|pentagon|birdhouse|bird house",
}
"""Outline -> what has it, as alternatives of a pattern."""
ADJECTIVES: dict[str, str] = {
    "star": "star shaped|starlike|star like|stellate",
    "crescent": "crescent|crescent shaped|moon shaped|half moon shaped|sickle shaped|lunate|semilunar",
    "triangle": "triangular|wedge shaped|cuneate|cuneiform|deltoid|trilateral",
    "circle": "circular|disc shaped|disk shaped|disklike|disclike|discoid",
    "square": "cubic|cubical|cube shaped|cubelike",
    "heart": "heart shaped|cordate",
    "plus": "cross shaped|cruciform|plus shaped",
    "hexagon": "hexagonal|hexangular",
    "pentagon": "pentagonal|pentangular",
}
"""Outline -> words for it before a noun (WordNet 3.1)."""
ROUND_AND_SQUARE = {"circle": f"{ADJECTIVES['circle']}|round|cylindrical", "square": f"{ADJECTIVES['square']}|square"}
"""Of a part these tell an outline; of an object they tell more than one (lexicon.SHAPES)."""
IMPLIED: dict[str, str] = {
    "star": "pointy|pointed|spiky|jagged|five pointed|five cornered|five armed|five rayed",
    "crescent": "curved|bent|arched|thin",
    "triangle": "triangular|angular|pointed|pointy|three sided|three cornered",
    "cylinder": "cylindrical|circular",
    "cube": "square|cubic|cubical|six sided",
    "prism": "triangular|three sided",
}
"""What a noun says already: left out before it."""
_POINTS, _CORNERS = {2: "crescent", 3: "triangle", 4: "plus", 5: "star"}, {3: "triangle", 4: "square", 5: "pentagon", 6: "hexagon"}
_FACES = {3: "circle", 5: "triangle", 6: "square", 7: "pentagon", 8: "hexagon"}
_OF_SOLID = {6: "triangle", 8: "square", 10: "pentagon", 12: "hexagon", 20: "star"}
"""Corners of the prism, twice those of its outline: meant where its faces or edges are counted too."""
COUNTED: dict[str, dict[int, str]] = {
    **dict.fromkeys(_words("points tips spikes rays arms peaks prongs horns"), _POINTS),
    **dict.fromkeys(_words("corners angles vertices sides"), _CORNERS | {10: "star"}),
    "edges": _CORNERS | {9: "triangle", 10: "star", 12: "square"},
    "faces": _FACES,
    "square sides": {6: "square"},
    "square faces": {6: "square"},
    "rectangular faces": {3: "triangle", 5: "pentagon", 6: "hexagon"},
    "pointed edges": {5: "star"},
}
"""Parts of an outline, or of the prism on it -> how many there are -> the outline."""
WHOLE = frozenset(
    _words("top tops base bases bottom outline shape form face surface surfaces section footprint profile silhouette contour ends end faces sides body curve")
)
"""What is round, triangular … as the object is."""
NEUTRAL = frozenset(
    _words(
        "sharp pointed pointy straight equal identical even evenly spaced long short flat distinct smooth consistent uniform regular clean slender a an the "
        "its both cross parallel one single opposite"
    )
)
"""Words before a part that tell no outline from another."""
MANY = frozenset(_words("several multiple many few pointed pointy sharp spiky radiating outward tapering"))
"""With points that nobody counts a star is meant."""
CURVED = frozenset(("circle", "crescent"))
"""What is rounded or curved."""
NUMBERS = {word: number for number, name in enumerate(_words("two three four five six seven eight nine ten eleven twelve"), 2) for word in (name, str(number))}
_SOLID_EDGES = frozenset(("eight", "8", "nine", "9", "twelve", "12"))
"""Numbers of corners or edges that a prism has and no outline."""
_TAPERED = frozenset(_words("pointed pointy sharp tapered tapering thin narrow"))
SIDED = {"pointed": "points", "tipped": "points", "spiked": "points", "armed": "points", "rayed": "points", "pronged": "points", "cornered": "corners"}
SIDED |= {"sided": "sides", "angled": "angles", "edged": "edges", "faced": "faces"}

_WHOLE = "|".join(sorted(WHOLE))
_THING = r"(?P<thing>object|thing|item|shape|piece|block|one|toy|part|solid|body|figure)(?P<many>s?)"
_A = r"(?:an? |the )?(?:(?:small|little|big|large|tiny|toy|metal|plastic|wooden|real) )?"
_EXACT = r"(?:(?:perfectly|completely|entirely|fully|quite|exactly|all|roughly|nearly|almost|a perfect) )?"
_HAS = r"(?:with|having|of|(?:that|which) (?:has|have|shows|features)|whose shape has)"
_LIKE = (
    r"(?:(?:that|which) )?(?:is |are )?(?:shaped|formed|looking)(?: (?:just|exactly|a bit|a little|somewhat))? like|(?:(?:that|which) (?:has|have)|having|"
    r"of|with) the same (?:shape|form|outline) as|"
    r"(?:that|which) (?:looks?|is|are) (?:a bit |a little |somewhat |just |most )?like|"
    r"(?:(?:that|which) (?:is|are) )?(?:curved|bent|arched|rounded|pointed|tapered) like|like(?= an? )|"
    r"(?:that|which) resembles?|resembling|similar to|(?:that|which) (?:is|are) similar to|(?:that|which) reminds? (?:me |one |you )?of|reminiscent of|"
    r"(?:that|which) (?:could|might|may|would|can) (?:be|pass for|pass as|be (?:mistaken|taken) for|remind (?:me |one |you )?of|be called)|"
    r"(?:(?:that|which) (?:has|have)|having|with|in|of) the (?:shape|form|look|outline|silhouette|profile) of|in (?:the )?shape of|in (?:the )?form of|"
    r"whose (?:shape|outline|form) (?:is like|resembles|is that of|looks like|is)"
)
_SEEN = (
    r"(?: (?:on|at) (?:the |its )?top(?! of)|,? (?:(?:when|if|as) )?(?:it is )?(?:seen|viewed|looked at) from (?:above|the top)| from above|"
    r" in (?:shape|outline))?"
)
_PARTS = "|".join(sorted({word.split()[-1] for word in COUNTED} | WHOLE, key=len, reverse=True))
_NO_PART = (
    r"(?:(?:object|thing|item|piece|block|one(?! (?:curved|round|flat|smooth)\b)|toy|solid|figure)s?|then|on|onto|upon|in|into|to|over|under|with|that|"
    r"which|put|place|stack|take|pick|lay|set|is|"
    r"goes)"
)
_PART = rf"(?:(?!{_NO_PART}\b)[a-z0-9]+,? ){{0,5}}?(?:{_PARTS})"
_FEATURES = re.compile(rf"\b{_THING} {_HAS} (?P<features>{_PART}(?:,? and (?:with )?{_PART}|, {_PART})*){_SEEN}\b")
_N_SIDED = re.compile(rf"\b(?P<number>{'|'.join(NUMBERS)}) (?P<sided>{'|'.join(SIDED)}) {_THING}\b")


def _rule(pattern: str, outline: str) -> tuple[re.Pattern[str], str]:
    return re.compile(rf"\b{pattern}\b"), outline


_RULES = [
    *(_rule(rf"{_THING} (?:{_LIKE}) {_A}(?:{'|'.join((words, *OUTLINE_WORDS[outline]))})s?{_SEEN}", outline) for outline, words in REMINDS.items()),
    *(_rule(rf"(?:{words}) (?:like|shaped) {_THING}", outline) for outline, words in REMINDS.items()),
    _rule(
        rf"{_THING} (?:without(?: any)?|with no|having no|(?:that|which) has no|lacking|(?:that|which) lacks) (?:sharp )?(?:corners|edges|points|angles)"
        r"(?: (?:at all|whatsoever|anywhere|of any kind))?",
        "circle",
    ),
    *(
        _rule(
            rf"{_THING} (?:{_HAS} {_A}(?:{nouns}) on top|whose (?:(?:top|upper|flat|front) )?(?:{'|'.join(sorted(WHOLE))}) (?:is|are|forms?|looks like|"
            rf"looks|shows) "
            rf"{_EXACT}{_A}(?:{nouns}|{ROUND_AND_SQUARE.get(outline, ADJECTIVES[outline])})s?)",
            outline,
        )
        for outline, nouns in ((outline, "|".join(words)) for outline, words in OUTLINE_WORDS.items())
    ),
    *(
        _rule(
            rf"{_THING} (?:that|which) (?:is|looks|appears) {_EXACT}(?:{words}),? (?:when|if|as)? ?(?:it is )?(?:seen|viewed|looked at) from (?:above|the top)",
            outline,
        )
        for outline, words in (ADJECTIVES | ROUND_AND_SQUARE).items()
    ),
    _rule(
        rf"{_THING} (?:that|which) (?:is )?(?:just |exactly )?as (?:tall|high|wide|long|deep) as it is (?:tall|high|wide|long|deep)(?: and (?:tall|high|"
        rf"wide|long|"
        rf"deep))?",
        "square",
    ),
    _rule(
        rf"{_THING} (?:whose|with (?:the )?same|with equal) (?:length|width|height|depth),? (?:and )?(?:length|width|height|depth)(?:,? and (?:length|"
        rf"width|height|"
        rf"depth))?(?: are (?:all )?(?:the same|equal|identical|alike))?",
        "square",
    ),
    _rule(
        rf"{_THING} (?:with|having|that has|which has) (?:an?|one) (?:concave|hollow|inward curving) (?:side|edge|curve)(?: and (?:an?|one) (?:convex|rounded|"
        rf"outward curving) (?:side|edge|curve))?",
        "crescent",
    ),
    _rule(rf"{_THING} (?:that|which) (?:usually |often |typically |always )?twinkles?(?: (?:at night|in the (?:night )?sky))?", "star"),
    _rule(
        rf"{_THING} (?:that|which) (?:usually |often |traditionally |typically )?(?:tops|crowns|(?:sits|goes|stands|belongs|is (?:put|placed|found)|you (?:put|"
        rf"place|find|see)|people put) (?:on|at|atop)(?: the)?(?: (?:very )?(?:top|tip) of)?) (?:an? |the )?(?:christmas|xmas) trees?",
        "star",
    ),
    _rule(
        rf"{_THING} (?:that|which) (?:splits?|bends?|refracts?|separates?|breaks?|disperses?) (?:white |sun)?light(?: (?:up )?into (?:an? |the |its )?"
        rf"(?:rainbows?|colou?rs|spectrum)(?: of (?:colou?rs|the rainbow))?)?",
        "triangle",
    ),
    _rule(
        rf"{_THING} (?:(?:that|which) is )?(?:associated with|used (?:in|for)|known (?:for|from)) (?:[a-z]+ ){{0,4}}?(?:refraction|dispersion)(?: and "
        rf"(?:[a-z]+ )?"
        rf"(?:refraction|dispersion))?(?: of (?:white )?light)?",
        "triangle",
    ),
    _rule(
        rf"{_THING} (?:that|which) (?:can |could |would |may |will )?(?:easily )?rolls?(?: away| easily| around)?(?: (?:on|(?:when|if) (?:it (?:is|"
        rf"lies)|lying|laid|"
        rf"put|placed|tipped)(?: down)? on|along) its (?:curved |round )?(?:side|surface|edge))?",
        "circle",
    ),
    _rule(
        rf"{_THING} (?:with|having|that has|which has) (?:an?|one) (?:curved|round|rounded) (?:surface|side|face) (?:wrapping|going|running|that "
        rf"(?:wraps|goes|runs)) "
        rf"(?:all )?(?:the way )?(?:around|round)(?: (?:the middle|it|its middle))?",
        "circle",
    ),
    _rule(rf"{_THING} whose (?:sides|faces|edges) are all (?:equal|squares|the same(?: squares| length| size)?|equal squares)", "square"),
    *(_rule(rf"(?:{'|'.join(words)}) shaped {_THING}", outline) for outline, words in OUTLINE_WORDS.items()),
    *(_rule(rf"(?:{words}) {_THING}", outline) for outline, words in ADJECTIVES.items()),
]
_IMPLIED = [re.compile(rf"\b(?:{words}),? (?={noun}s?\b)") for noun, words in IMPLIED.items()]


def plain_shapes(text: str) -> str:
    """Descriptions rewritten: "the object shaped like a tent" becomes "the triangle"; ``text`` in lower case, hyphens as spaces."""
    text = re.sub(r"\bshape[ -]sort(?:er|ing (?:box|toy))\b", "sorter", text)  # no shape that something has
    text = re.sub(rf"\b(?:whichever|whatever) {_THING} (?=has|looks|is|resembles)", r"the \g<thing>\g<many> that ", text)
    text = re.sub(rf"\b{_THING} whose (?:{'|'.join(sorted(WHOLE))}) (?:has|have|shows?|is made of) ", r"\g<thing>\g<many> with ", text)
    for pattern, plain in _TOLD_OF_PARTS:
        text = pattern.sub(plain, text)
    text = _FEATURES.sub(_described, text)
    text = _N_SIDED.sub(_sided, text)
    for pattern, outline in _RULES:
        text = pattern.sub(_noun(PLAIN[outline]), text)
    for pattern in _IMPLIED:
        text = pattern.sub("", text)
    return _same_shape(text)


_TOLD_OF_PARTS = [
    (re.compile(pattern), plain)
    for pattern, plain in (
        (rf"\b(?P<number>{'|'.join(NUMBERS)}) or more (?=(?:{_PARTS})\b)", r"\g<number> "),
        (
            rf"(?<=\b)(?P<part>(?!corners|angles|edges)(?:{_PARTS})) (?:radiating|pointing|spreading|sticking|jutting|poking|extending|reaching|going|"
            rf"coming|spread)(?: out| outwards?)?(?: (?:from|around) "
            rf"(?:the|its|a) "
            rf"(?:cent(?:er|re)|middle|core))?(?= )",
            r"\g<part>",
        ),
        (rf"\b(?P<part>{_PARTS}) (?:that|which) are (?:all )?(?:the same|equal|identical|alike|flat)(?: (?:size|length|shape))?(?= )", r"\g<part>"),
        *(
            (rf"\b(?:an? |the |its )?(?P<part>{_WHOLE}) (?:that|which) is (?:an? |the )?{noun}(?= )", rf"a {adjective} \g<part>")
            for noun, adjective in (("circle", "circular"), ("square", "square"), ("triangle", "triangular"))
        ),
        (
            rf"\b{_THING} (?P<has>with|having|that has|which has) (?P<part>points|tips|spikes|rays|arms) (?:all (?:the way )?(?:around|round)(?: it)?|"
            rf"on all sides|in (?:all|"
            rf"every) directions?)(?= )",
            r"\g<thing>\g<many> \g<has> several \g<part>",
        ),
        (
            rf"\b{_THING} whose (?P<number>two|three|four|five) (?P<ends>(?:[a-z]+ ){{0,2}}?(?:tips|ends|points|horns)) (?:curve|point|bend|face|turn|"
            rf"reach|come)"
            rf"(?: (?:towards|toward|to|at) (?:each other|one another|the same side)| inwards?| together)?(?= )",
            r"\g<thing>\g<many> with \g<number> \g<ends>",
        ),
        (
            r"\b(?P<lead>find|take|get|choose|pick|pick up|put|place|move|and|the|for) (?:whatever|whichever|what) (?=(?:looks|resembles|reminds|"
            r"is shaped|has the (?:shape|form|outline)|(?:is )?most (?:like|similar))\b)",
            r"\g<lead> the object that ",
        ),
        (r"\b(?:corners|tips|angles|edges) (?:sticking|jutting|pointing|reaching|spreading|standing) (?:out|outward|outwards)\b", "points"),
        (  # "the piece that tapers to a tip at both ends"
            rf"\b{_THING} (?:that|which) (?:tapers|narrows|runs|ends|comes|goes|thins)(?: out| off| down)? (?:to|in|into) (?:a |an )?(?:(?:sharp|fine|thin) )?"
            r"(?:tip|point)s? (?:at|on|towards) (?:both|either|each|its two) (?:end|side)s?\b",
            r"\g<thing>\g<many> with two tips",
        ),
        (  # "the block with a square on every side"
            rf"\b{_THING} (?:with|having|that has|which has|that shows|which shows) an? (?P<what>square) (?:on|at|for) (?:every|each|all|"
            rf"any) (?:one )?(?:of its )?(?:side|face)s?\b",
            r"\g<thing>\g<many> with six equal faces",
        ),
    )
]


def _noun(word: str) -> Callable[[re.Match[str]], str]:
    return lambda found: word + found["many"]


def _described(found: re.Match[str]) -> str:
    """The noun for "object with three rectangular faces and triangular ends"; the words themselves where they leave another number of outlines than one."""
    left = set(PLAIN)
    features = _split(found["features"])
    solid = any(feature.split()[-1] == "faces" or set(feature.split()) & _SOLID_EDGES for feature in features)
    for feature in features:
        left &= _outlines_of(feature, solid)
    return PLAIN[left.pop()] + found["many"] if len(left) == 1 else found[0]


def _split(features: str) -> list[str]:
    """Feature by feature: "six faces, twelve edges and eight corners", but "five sharp, equal points" as one."""
    found = re.split(r",? and (?:with )?", features)
    return [feature for part in found for feature in re.split(rf"(?<=s), (?=(?:{'|'.join(NUMBERS)})\b)", part)]


def _sided(found: re.Match[str]) -> str:
    outline = COUNTED[SIDED[found["sided"]]].get(NUMBERS[found["number"]], "")
    return PLAIN[outline] + found["many"] if outline else found[0]


def _outlines_of(feature: str, solid: bool) -> set[str]:
    """The outlines of which "five sharp points" or "a round top" may be told; none where a word of it is not known. ``solid``: its corners are the prism's."""
    *words, part = re.findall(r"[a-z0-9]+", feature)
    number = next((NUMBERS[word] for word in words if word in NUMBERS), 0)
    says = " ".join(word for word in words if word not in NEUTRAL and word not in NUMBERS)
    if solid and number and part in ("corners", "vertices") and not says:
        return {_OF_SOLID[number]} if number in _OF_SOLID else set()
    if number == 2 and part == "ends" and set(words) & _TAPERED:
        return {"crescent"}
    if number and part in COUNTED and says in ("", "square", "rectangular", "rounded"):
        by_number = COUNTED.get(f"{says} {part}") or COUNTED.get(f"pointed {part}" if "pointed" in words else "") or COUNTED[part]
        return {by_number[number]} if number in by_number else set()
    if part in COUNTED and COUNTED[part] is _POINTS and words and set(words) <= MANY | NEUTRAL:
        return {"star"}
    if part not in WHOLE:
        return set()
    if not says:
        return set(CURVED) if part == "curve" else set(PLAIN)
    if says in ("rounded", "curved"):
        return set(CURVED)
    return {outline for outline, known in (ADJECTIVES | ROUND_AND_SQUARE).items() if re.fullmatch(known, says)}


def _same_shape(text: str) -> str:
    """In "the teal triangle on the green object with the same shape" the object is a triangle too."""
    nouns = re.findall(rf"\b(?:{'|'.join(PLAIN.values())})\b", text)
    same = rf"\b{_THING} (?:with|of|having|in|that has) the same (?:shape|form|outline)\b"
    return re.sub(same, nouns[0], text) if len(set(nouns)) == 1 else text
