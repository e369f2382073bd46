"""Words for the search over tools: stems and what means the same on a desk."""

from __future__ import annotations

import re

_SAYS_NOTHING = """
a an the of to in on at for from with by and or but is are be was were it its this that these those as what which who how do does did can could
i me my you your we our us will would should may might must there here some any not no if then than so up out into onto please want need have has had
when where whether something thing things tool let s
"""
_STOP = frozenset(_SAYS_NOTHING.split())

# Each line: words that ask for the same. A query word finds the others too, with less weight.
_GROUPS = """
pick grasp grab take lift hold fetch seize clutch
place put set lay drop deposit release stow insert
look see detect perceive observe view picture camera scan image notice recognise recognize spot
find locate search where which
object item piece stuff
container bin box tray basket bucket bowl
move go drive travel bring transport motion
stop halt abort freeze emergency cancel interrupt danger
home rest park retract ready retreat back
gripper hand finger jaw
open loosen spread
close shut squeeze tighten
reachable reach range far accessible feasible possible able
check verify test confirm validate assess
goal done complete finish success satisfied achieve task outcome
left right beside side relation relative spatial near behind front next between
describe summarise summarize explain tell report text overview
scene desk table world surroundings
state status joint position posture configuration pose
ik inverse kinematics angles
plan path trajectory route collision free
execute run follow perform carry
stack top above
memory remember last known recall earlier
coordinate xy spot location point
hypothesis candidate proposal option
"""
_NEAR: dict[str, frozenset[str]] = {}

_ENDINGS = (("ational", "ate"), ("ization", "ize"), ("fulness", "ful"), ("iveness", "ive"), ("ies", "y"), ("sses", "ss"), ("ing", ""), ("edly", ""))
_IRREGULAR = {
    "took": "take", "taken": "take", "held": "hold", "saw": "see", "seen": "see", "found": "find", "went": "go", "gone": "go", "laid": "lay",
    "ran": "run", "bins": "bin", "axes": "axis", "left": "left", "bodies": "body", "grippers": "gripper", "told": "tell", "grabbed": "grab",
}  # fmt: skip


def stem(word: str) -> str:
    """A word's stem: plural, -ing, -ed, -ly and a final e are taken off."""
    word = _IRREGULAR.get(word, word)
    for ending, instead in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            word = word[: len(word) - len(ending)] + instead
            break
    else:
        if word.endswith("ed") and len(word) > 4:
            word = word[:-2]
        elif word.endswith("s") and not word.endswith(("ss", "us", "is")) and len(word) > 3:
            word = word[:-1]
    if word.endswith("ly") and len(word) > 4:
        word = word[:-2]
    if len(word) > 3 and word[-1] == word[-2] and word[-1] in "bdgmnprt":
        word = word[:-1]
    return word[:-1] if word.endswith("e") and len(word) > 3 else word


def stems(text: str) -> list[str]:
    """The stems of a text in order, words that say nothing left out."""
    return [stem(word) for word in re.findall(r"[a-z0-9]+", text.lower()) if word not in _STOP]


def near(word_stem: str) -> frozenset[str]:
    """Stems that ask for the same as this one, itself left out."""
    return _NEAR.get(word_stem, frozenset())


for _line in _GROUPS.strip().splitlines():
    _stems = {stem(_word) for _word in _line.split()}
    for _one in _stems:
        _NEAR[_one] = _NEAR.get(_one, frozenset()) | (_stems - {_one})
