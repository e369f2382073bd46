"""The words that the grammar knows, as data. Everything is lower case and singular; plurals are folded by :func:`singular`."""

from __future__ import annotations

from deskhand.types.colors import NAMED


def phrases(text: str) -> tuple[tuple[str, ...], ...]:
    """``throw away, discard`` -> (("throw", "away"), ("discard",))."""
    return tuple(tuple(phrase.split()) for phrase in text.split(","))


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# kind -> the words for it; the kind itself is one of them
KIND_WORDS: dict[str, tuple[str, ...]] = {
    "block": ("block", "cube", "brick", "building block", "toy block", "lego brick", "dice", "die"),
    "ball": ("ball", "sphere", "marble", "tennis ball", "ping pong ball", "orb"),
    "cup": ("cup", "mug", "beaker", "tumbler", "coffee cup", "coffee mug", "tea cup", "teacup", "drinking glass", "glass"),
    "can": ("can", "tin", "soda can", "tin can", "drink can", "drinks can", "beer can", "cola can", "coke can", "pop can", "soda"),
    "pen": ("pen", "ballpoint", "ballpoint pen", "ball pen", "biro", "pencil", "fountain pen"),
    "marker": ("marker", "felt tip", "felt tip pen", "felt pen", "marker pen", "highlighter", "sharpie", "whiteboard marker"),
    "box": ("box", "carton", "package", "packet", "parcel", "cardboard box"),
    "eraser": ("eraser", "rubber"),
    "sponge": ("sponge", "scrubber"),
    "bin": (
        "bin", "trash can", "garbage can", "trash bin", "garbage bin", "rubbish bin", "waste bin", "waste basket", "waste paper basket",
        "wastepaper basket", "wastebasket", "paper basket", "dustbin", "basket", "bucket", "trashcan", "recycling bin", "wastebin",
    ),
    "cabinet": ("cabinet", "drawer", "chest of drawers", "cupboard", "dresser"),
    "tray": ("tray", "dish", "plate", "platter", "saucer"),
    "compartment": ("compartment",),
    "shape_sorter": ("shape sorter", "sorter", "shape sorting box", "sorting box", "shape sorting toy", "shape box"),
}  # fmt: skip

# words that stand for several kinds
HYPERNYMS: dict[tuple[str, ...], tuple[str, ...]] = {
    ("block", "ball"): ("toy", "plaything"),
    ("cup", "can"): ("drinkware", "drink", "beverage", "drinking vessel", "drink container", "drinking thing"),
    ("cup",): ("crockery", "dishware", "tableware"),
    ("pen", "marker", "eraser"): ("stationery", "office supply", "school supply", "desk supply", "office thing", "office stuff"),
    ("pen", "marker"): (
        "writing thing", "writing tool", "writing utensil", "writing implement", "writing instrument", "writing stuff", "writing material",
        "crayon", "coloured pencil", "colored pencil",
    ),
    ("sponge",): ("cleaning thing", "cleaning tool", "cleaning stuff", "cleaning supply", "cleaning utensil"),
}  # fmt: skip

USES: dict[str, frozenset[str]] = {
    use: frozenset(kinds.split())
    for uses, kinds in (("drink sip", "cup can"), ("write draw sketch sign scribble note", "pen marker"), ("clean wipe scrub wash mop", "sponge"),
                        ("erase rub", "eraser"), ("play build", "block ball"), ("throw roll", "ball"))
    for use in uses.split()
}  # fmt: skip
"""What objects are good for: "anything to drink", "something to write with"."""
ANYTHING = frozenset(("thing", "object", "item", "stuff", "piece", "belonging", "clutter", "mess", "stuffs", "shape"))
CONTAINER_NOUNS = frozenset(
    (
        "container",
        "receptacle",
        "crate",
        "vessel",
        "open box",
        "open carton",
        "storage box",
        "storage bin",
        "storage container",
        "toy box",
        "bowl",
        "open container",
    )
)
TABLEWARE = frozenset(("bowl", "plate", "saucer", "ramekin", "dish"))
"""Containers that are carried themselves, where somebody names them."""
CONTAINER_KINDS = frozenset(("bin", "tray", "compartment", "shape_sorter"))
TABLE_NOUNS = frozenset(
    " ".join(phrase)
    for phrase in phrases(
        "desk, table, tabletop, table top, desktop, desk top, worktop, surface, workspace, work space, work surface, workbench, work area, counter"
    )
)
TOWER_NOUNS = frozenset(("tower", "stack", "pile", "column"))
WASTE_NOUNS = frozenset(("trash", "garbage", "rubbish", "waste"))
"""As a target these mean the bin; as objects they name nothing that can be seen."""

COLORS: dict[str, str] = {
    "red": "red", "crimson": "red", "scarlet": "red", "green": "green", "lime": "green", "blue": "blue", "navy": "blue", "yellow": "yellow", "golden": "yellow",
    "orange": "orange", "purple": "purple", "violet": "purple", "lilac": "purple", "magenta": "pink", "pink": "pink", "brown": "brown", "beige": "brown",
    "black": "black", "white": "white", "gray": "gray", "grey": "gray", "silver": "gray", "cyan": "cyan", "turquoise": "cyan", "teal": "cyan",
    "maroon": "red", "burgundy": "red", "olive": "yellow", "azure": "blue", "rose": "pink", "fuchsia": "pink", "indigo": "purple",
    "aqua": "cyan", "aquamarine": "cyan", "chartreuse": "green", "gold": "yellow", "ivory": "white", "khaki": "brown", "lavender": "purple", "tan": "brown",
    "mauve": "purple", "taupe": "brown", "ochre": "yellow", "charcoal": "black", "cerulean": "blue", "vermillion": "red", "emerald": "green", "cobalt": "blue",
    "ultramarine": "blue", "jade": "green", "cerise": "pink",
}  # fmt: skip
COLORS |= {name: COLORS[name.split()[-1]] for name in NAMED if " " in name}
LIKE_COLORS: dict[str, str] = {
    "mustard": "yellow", "peach": "orange", "salmon": "pink", "coral": "orange", "plum": "purple", "chocolate": "brown", "lemon": "yellow", "rust": "brown",
    "sand": "brown", "cream": "white", "mint": "green", "wine": "red", "copper": "brown", "cherry": "red", "grass": "green", "sky": "blue",
}  # fmt: skip
"""What has a colour of its own, before "coloured"."""
SHAPES: dict[str, frozenset[str]] = {  # what :func:`deskhand.language.resolve.forms_of` says
    "round": frozenset(("round",)),
    "spherical": frozenset(("sphere",)),
    "cylindrical": frozenset(("cylinder",)),
    "cubic": frozenset(("cube",)),
    "square": frozenset(("square",)),
    "rectangular": frozenset(("box",)),
}
SOLIDS = {"round": frozenset(("sphere", "cylinder")), "square": frozenset(("box",)), "cube": frozenset(("box",))}
"""Of those the shapes that perception tells, for what only that is known of."""
# word -> (measure, sign, superlative)
SIZES: dict[str, tuple[str, int, bool]] = {
    "big": ("volume", 1, False), "large": ("volume", 1, False), "huge": ("volume", 1, False), "bigger": ("volume", 1, True), "larger": ("volume", 1, True),
    "biggest": ("volume", 1, True), "largest": ("volume", 1, True), "small": ("volume", -1, False), "little": ("volume", -1, False),
    "tiny": ("volume", -1, False), "smaller": ("volume", -1, True), "smallest": ("volume", -1, True), "littlest": ("volume", -1, True),
    "tall": ("height", 1, False), "taller": ("height", 1, True), "tallest": ("height", 1, True), "highest": ("height", 1, True),
    "shortest": ("length", -1, True), "longest": ("length", 1, True), "long": ("length", 1, False), "short": ("length", -1, False),
}  # fmt: skip
SIZES |= dict.fromkeys(("enormous", "giant", "gigantic", "massive"), ("volume", 1, False))
SIZES |= dict.fromkeys(("mini", "miniature", "wee"), ("volume", -1, False))
# word -> where, from the robot's view: left is +y, front (away from the robot) is +x
PLACES: dict[str, str] = {
    "left": "left", "leftmost": "left", "left-most": "left", "right": "right", "rightmost": "right", "right-most": "right", "front": "front",
    "foremost": "front", "frontmost": "front", "back": "back", "rear": "back", "rearmost": "back", "nearest": "near", "closest": "near", "near": "near",
    "close": "near", "nearer": "near", "closer": "near", "farthest": "far", "furthest": "far", "far": "far", "farther": "far", "middle": "middle",
    "central": "middle", "centre": "middle", "center": "middle", "distant": "far", "hindmost": "back", "backmost": "back", "nearmost": "near",
    "farthermost": "far", "furthermost": "far", "midmost": "middle", "middlemost": "middle", "remotest": "far",
}  # fmt: skip
SIDES = ({"front", "back"}, {"left", "right"})
"""Places that go together: "the back left one"."""
MATERIALS = _words(
    "wooden plastic metal paper cardboard foam glass rubber tin aluminium aluminum ceramic empty full open closed old new dirty clean dark light "
    "bright pale shiny glossy matte matt dull reflective metallic polished smooth glittering colored coloured scattered loose single nice same first last"
)
"""Adjectives that nothing on the desk is known by; a phrase that has one is not read wholly, but for those of :data:`DECORATION`."""
DECORATION = _words("single nice scattered loose coloured colored same")
"""Adjectives that leave no object out."""
SHADES = _words("dark light bright pale")
SURFACES = _words("shiny glossy matte matt dull reflective metallic polished smooth glittering")
"""Words for surfaces: like shades they decide nothing beside a colour, and where two have that colour it is asked."""

PARTS = _words("layer shelf drawer compartment level")
PART_PLACES = _words("top upper uppermost topmost middle bottom lower lowest bottommost first second third open opened")
"""Parts of furniture, as in "the top layer of the cabinet"."""
DRAWERS = _words("drawer layer")
"""Of these, what opens."""
WHICH_DRAWER = {
    **dict.fromkeys(("top", "upper", "uppermost", "topmost"), "top"),
    "middle": "middle",
    **dict.fromkeys(("bottom", "lower", "lowest", "bottommost"), "bottom"),
}

ORDINALS: dict[str, int] = {word: n for n, word in enumerate(("second", "third", "fourth", "fifth"), start=2)}
ORDINALS |= {word: n for n, word in enumerate(("2nd", "3rd", "4th", "5th"), start=2)}
NUMBERS: dict[str, int] = {word: n for n, word in enumerate(("two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"), start=2)}
DEFINITE = frozenset(("the", "this", "that", "these", "those", "my", "your", "our", "his", "her", "their", "its"))
PRONOUNS = frozenset(("it", "them", "they", "these", "those", "this", "that", "both"))
IN = phrases("inside of, in to, in side, in, into, inside, within")
ON = phrases("on to the top of, on the top of, to the top of, on top of, on to, on, onto, upon, atop, over")
TO = phrases("to, towards, ->")
FROM = phrases("out of, off of, away from, from, off")
BESIDE: dict[tuple[str, ...], str] = {
    **dict.fromkeys(phrases("to the left of, on the left of, left of"), "left_of"),
    **dict.fromkeys(phrases("to the right of, on the right of, right of"), "right_of"),
    **dict.fromkeys(phrases("in front of, before"), "in_front_of"),
    ("behind",): "behind",
    **dict.fromkeys(phrases("next to, beside, near to, near, close to, by, around"), "near"),
    **dict.fromkeys(phrases("under, underneath, below, beneath"), "under"),
    ("between",): "between",
}
EXCEPT = phrases(
    "except for, with the exception of, apart from, aside from, other than, but not, not, except, excluding, without, save for, all but, "
    "instead of, rather than"
)

# verb -> what it asks for; several words first
VERBS: dict[tuple[str, ...], str] = {
    **dict.fromkeys(phrases("throw away, throw out, get rid of, dispose of, discard, chuck out, chuck away, chuck, toss, dump"), "discard"),
    **dict.fromkeys(phrases("pick up, pick, grab, grasp, lift, lift up, take, fetch, get, hold"), "pick"),
    **dict.fromkeys(
        phrases(
            "put, place, move, drop, lay, set, transfer, bring, carry, deposit, insert, throw, stick, store, stow, return, pack, "
            "relocate, position, stash, shift, pop, collect, gather"
        ),
        "put",
    ),
    **dict.fromkeys(phrases("remove"), "remove"),
    **dict.fromkeys(phrases("stack, pile, pile up, stack up"), "stack"),
    **dict.fromkeys(phrases("build, make, construct, erect, form"), "build"),
    **dict.fromkeys(
        phrases(
            "clean, tidy, clear, clean up, tidy up, clear up, clear away, clear off, declutter, clean off, tidy away, straighten up, organize, organise, "
            "put away, neaten"
        ),
        "tidy",
    ),
    **dict.fromkeys(phrases("sort, separate, sort out, distribute, arrange"), "sort"),
    **dict.fromkeys(phrases("leave, keep, skip, ignore, touch, spare"), "leave"),
    **dict.fromkeys(phrases("fill, use, load"), "fill"),
    **dict.fromkeys(phrases("empty, unload, empty out"), "empty"),
    **dict.fromkeys(phrases("release, let go of, let go, put down, set down, lay down"), "release"),
}
LINKING = _words(
    "go goes going belong belongs be is are should must shall have has to needs need gets get come comes ends end land lands fits fit live lives "
    "lie lies sit sits lying sitting standing stands put placed moved will wants want sorted stored located ought supposed stacked thrown dropped"
)
"""Words between an object and where it belongs."""

IMPOSSIBLE_VERBS = _words(
    "fly sing dance walk run drive cook bake swim jump speak talk eat drink write draw paint call phone email buy order sleep sweep wash wipe mop "
    "cut break smash open pour juggle teleport climb play read marry kill hit kick print download hack vacuum iron knit sew hover levitate shoot "
    "bend burn melt solve translate tell brew push give hand pass rotate turn spin flip shake stir slide pull balance wave point squeeze press"
)
"""Verbs that are understood and that no tool of the robot does."""

FILLERS = _words(
    "please kindly now just also too quickly carefully gently robot hey hi hello ok okay thanks thank you well so once again up over there here "
    "back together first all only that which who whatever for me us i we like want would could can will shall do does am being as of where sure "
    "see properly neatly nicely respectively instead still directly straight them at way this following rule rules follows own accordingly "
    "somewhere right lets the a by every it done job kind colour color type"
)
"""Words that are no nouns."""
FUNCTION_WORDS = FILLERS - _words(
    "only just instead still once first who whatever every as at way being where which that who of for to on by like i we job kind colour color type"
)
"""The closed list of words that may stand anywhere and ask for nothing."""

_IRREGULAR = {
    "boxes": "box", "dishes": "dish", "brushes": "brush", "dice": "dice", "glasses": "glass", "supplies": "supply", "stationary": "stationery",
    "toys": "toy", "trays": "tray", "this": "this", "its": "its", "is": "is", "has": "has", "goes": "goes", "belongs": "belongs", "us": "us", "as": "as",
    "knives": "knife", "pieces": "piece", "batteries": "battery", "stuff": "stuff", "vs": "vs", "always": "always", "wristwatches": "watch", "watches": "watch",
}  # fmt: skip


def singular(word: str) -> str:
    """The word without a plural ending; words that only look plural stay."""
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    if len(word) > 4 and word.endswith(("ches", "shes", "xes", "sses")):
        return word[:-2]
    if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word


KIND_OF: dict[str, frozenset[str]] = {word: frozenset((kind,)) for kind, words in KIND_WORDS.items() for word in words} | {
    word: frozenset(kinds) for kinds, words in HYPERNYMS.items() for word in words
}
NEAR_COLORS: dict[str, frozenset[str]] = {
    color: frozenset(near.split())
    for color, near in {
        "cyan": "blue green", "purple": "pink blue", "pink": "purple red", "orange": "red yellow brown", "brown": "orange red", "gray": "white black",
        "black": "gray", "white": "gray", "yellow": "orange", "red": "orange pink", "green": "cyan", "blue": "cyan purple",
    }.items()
}  # fmt: skip
"""Colours that light and cameras mistake for each other."""


def kind_of_label(label: str) -> str:
    """The kind that a perception label means: ``mug`` -> ``cup``, ``open_box`` -> ``box``; the label itself where the lexicon has none."""
    words = label.lower().replace("_", " ").replace("-", " ").strip()
    if words in KIND_OF and len(KIND_OF[words]) == 1:
        return next(iter(KIND_OF[words]))
    for word in words.split():
        if word in KIND_WORDS:
            return word
    last = words.split()[-1] if words else ""  # "my mug" is a mug
    if last in KIND_OF and len(KIND_OF[last]) == 1:
        return next(iter(KIND_OF[last]))
    return words


def color_of(name: str) -> str:
    """One name for the names of a colour; the last word counts (``dark blue``)."""
    word = name.lower().replace("_", " ").split()[-1] if name.strip() else ""
    return COLORS.get(word, word)
