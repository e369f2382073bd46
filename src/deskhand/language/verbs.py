"""Verbs that ask for a motion, by the sort of motion; and the closed classes of English words by which a clause is read."""

from __future__ import annotations

from deskhand.language import lexicon as lex


def words(text: str) -> frozenset[str]:
    """The words of a text, as a set."""
    return frozenset(text.split())


MOVE, PUSH, HAND, RELEASE, WIPE, TOUCH, DRIVE, UNDO, ARM, OPEN = "move", "push", "hand", "release", "wipe", "touch", "drive", "undo", "arm", "open"

_MOVING = words(
    " ".join(said[0] for said, meaning in lex.VERBS.items() if meaning != "leave")
    + " push shove slide nudge scoot hand give pass swap exchange switch trade interchange line align arrange group order rank divide split turn "
    "rotate flip tip "
    "spread space center centre restore reposition grip seize snatch hold retrieve reach tuck slot rest lean raise lower drag pull haul scoop dispose bin "
    "trash recycle undo revert reverse free evacuate consolidate cluster classify rearrange reorganize reorganise square straighten neaten unstack "
    "squeeze balance park"
) - {"let", "clean"}
SORTS: dict[str, frozenset[str]] = {
    MOVE: _MOVING,
    PUSH: words("push shove slide move nudge shift scoot"),
    HAND: words("give hand pass bring fetch get reach hold"),
    RELEASE: words("release drop let put set lay"),
    WIPE: words("wipe clean dust polish scrub sponge mop swab brush sweep"),
    TOUCH: words("touch press feel weigh tap poke palpate"),
    DRIVE: words("drive navigate"),
    UNDO: words("undo revert reverse cancel restore take put go roll bring move change"),
    ARM: words("move turn rotate raise lower lift bend extend stretch wave point swing tilt shake nod straighten wiggle set twist flex bow dance retract"),
    OPEN: words("open loosen spread widen"),
}
"""Sort of motion -> first words of what asks for it. What stands beside the verb decides further (see the clauses of requests.py)."""
OPERATING: dict[str, frozenset[str]] = {
    "open_drawer": words("open pull slide draw unlatch"),
    "close_drawer": words("close shut push slide press"),
    "open_lid": words("open lift raise flip swing pull uncover"),
    "close_lid": words("close shut push flip lower swing cover fold"),
    "turn_knob": words("turn rotate twist switch set put screw"),
}
"""Tool that moves what stands fixed by its handle -> first words of what asks for it."""
SILENT = words(
    "look see watch tell say show describe explain count find locate check read ask answer let know remember recall learn imagine pretend name list report "
    "inspect examine scan observe guess estimate measure compare recognise recognize identify detect photograph think consider wait stop pause halt avoid "
    "leave keep ignore skip spare beware mind note notice help translate call write draw sing speak talk forget suppose assume protect save watch verify "
    "confirm test try plan simulate warn remind hear listen smell admire mention suggest refuse finish hope stay"
)
"""Verbs of seeing, knowing and saying, and of leaving in peace: their clause moves nothing, whatever it names."""
KEEPING = words("leave keep skip ignore spare avoid touch move protect take pick remove grab disturb bother lift clear tidy mind shift grasp push relocate")
"""Verbs whose objects stay in peace: "leave the cup"; the ones of moving when they are negated."""
PEACE = words("leave keep skip ignore spare avoid protect")
DROPPING = words("drop break spill tip throw scratch damage crush squeeze hit bump tilt shake knock topple rush hurry")
"""Negated, these say how, not what: "do not drop the cup"."""

DETERMINERS = (
    lex.DEFINITE
    | words("a an all every each both any some another one several many few most no other various whichever what whatever no")
    | frozenset(lex.NUMBERS)
)
SUBJECTS = words("i we he she they it you there someone somebody nobody everybody everyone who one")
PRONOUNS = words("it them this that these those they him her me us you both everything anything something nothing all itself yourself")
PARTICLES = words("up away down off out back over aside apart together on around round along forward forwards backwards in")
AUXILIARIES = words("is are was were am be been has have had do does did will would can could may might shall should must")
ASKING = words("what which who whom whose where when why how is are was were am has have had does did do will would can could may might shall should must")
"""A sentence that begins so asks, unless it asks "can you …"."""
STAYING = words("stay stays remain remains")
RULING = STAYING | words("go goes belong belongs should must shall needs need ought has have gets get")
"""Between an object and where it belongs: "cans go in the bin", "the desk needs wiping"."""
STATING = (
    (
        AUXILIARIES
        | lex.LINKING
        | words("says said tells told asks asked wants wanted likes shows reads means lies used seems looks went came fell broke makes made")
    )
    - RULING
    - {"to"}
)
SUBORDINATE = words("if when whenever while before after until till unless because since although though once whether how why")
RELATIVE = words("that which who whose whom where what")
EXCLUDING = (
    *lex.EXCEPT,
    ("besides",),
    *lex.phrases("instead of, rather than, in place of, never, excluding, leaving, leaving out, ignoring, avoiding, no, in lieu of, not even, as opposed to"),
)
WITH = lex.phrases("with, using, by means of, by using, with the help of")
ASIDE = lex.phrases(
    "for, about, regarding, as, like, than, per, against, at, during, toward, towards, through, across, past, along, via, concerning, from the perspective of"
)
ARM_NOUNS = words("arm hand gripper finger joint robot wrist elbow shoulder claw jaw manipulator")
BASE_NOUNS = words("base robot yourself platform")
HAND_NOUNS = words("gripper hand finger claw jaw grip grasp")
ROOMS = words("room space way place area spot")
QUANTITIES = words(
    "all some one any both each most few half pile stack set group bunch lot heap couple pair row tower rest remainder piece two three four kind every several"
)
REPORTING = words(
    "say says said read reads wrote writes write written tell tells told ask asks asked states stated mention mentions label labels labelled sign note message "
    "mail email sticker text card letter printed marked named called titled inscription poster screen voice heard caption ocr quote claims claimed suggests"
)
"""Before a colon: what follows is somebody else's."""
