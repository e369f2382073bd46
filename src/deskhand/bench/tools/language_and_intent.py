"""Scenarios of the unit language_and_intent."""

from __future__ import annotations

from itertools import permutations

from deskhand.bench.tools.base import Measured, scenario
from deskhand.bench.tools.desk import ScenarioDesk
from deskhand.bench.tools.worlds import alike
from deskhand.errors import DeskhandError
from deskhand.world.relations import DIRECTIONS


@scenario(tool="parse_instruction", name="goals", situation="Eight instructions about seven objects: are the goals those that are meant?")
def goals(desk: ScenarioDesk) -> Measured:
    ids = desk.look()
    red, green, blue, can, bin_ = (ids[name] for name in ("red", "green", "blue", "can", "bin"))
    rows = {
        "put the red block into the bin": {(red, "in", bin_)},
        "please drop the green block and the blue block in the bin": {(green, "in", bin_), (blue, "in", bin_)},
        "stack the red block on the green block": {(red, "on", green)},
        "put all blocks into the bin": {(red, "in", bin_), (green, "in", bin_), (blue, "in", bin_)},
        "put everything except the can and the cup and the box into the bin": {(red, "in", bin_), (green, "in", bin_), (blue, "in", bin_)},
        "move the yellow can into the bin, then put the red block into it": {(can, "in", bin_), (red, "in", bin_)},
        "what do you see?": set(),
        "stop!": set(),
    }
    right = 0
    for text, wanted in rows.items():
        said = desk.call("parse_instruction", {"instruction": text})
        found = {(goal["object_id"], goal["relation"], goal["target_id"]) for goal in said["goals"]}
        right += found == wanted and said["question"] == text.endswith("?") and said["stop"] == (text == "stop!")
    return Measured(right / len(rows), "share that is understood", at_least=0.99)


@scenario(tool="parse_instruction", name="says_what_is_wrong", situation="Six instructions that are unclear, impossible or about objects that are not there.")
def says_what_is_wrong(desk: ScenarioDesk) -> Measured:
    desk.look()
    rows = (
        "put the banana into the bin",
        "frobnicate the widget",
        "put the red block into the can opener",
        "sing a song",
        "put the purple block into the bin",
        "put the red block into the green block",
    )
    told = [bool(desk.call("parse_instruction", {"instruction": text})["problems"]) for text in rows]
    return Measured(sum(told) / len(rows), "share for which a problem is named", equal=1.0)


def _only_one(desk: ScenarioDesk) -> tuple[str, str, str]:
    """(relation in words, block, block): of the other two blocks only the second stands so to the first, and clearly."""

    def clear(name: str, way: tuple[float, float], to: str, wide: float, least: float) -> bool:
        x, y = (desk.truth(name).pose[:2, 3] - desk.truth(to).pose[:2, 3]).tolist()
        along, across = x * way[0] + y * way[1], abs(y * way[0] - x * way[1])
        return bool(along > least and across < wide * along)

    for one, two, three in permutations(("red", "green", "blue")):
        for relation, way in DIRECTIONS.items():
            if clear(two, way, one, 0.8, 0.02) and not clear(three, way, one, 1.25, 0.0):
                return relation.replace("_", " "), one, two
    raise DeskhandError("invalid_input", "no block stands clearly beside another.")


@scenario(tool="resolve_reference", name="one_is_meant", situation="Ten phrases with colours, kinds, sizes and relations, each true of one object.")
def one_is_meant(desk: ScenarioDesk) -> Measured:
    ids = desk.look()
    blocks = sorted(("red", "green", "blue"), key=lambda name: float(desk.truth(name).pose[1, 3]))
    relation, middle, other = _only_one(desk)
    rows = {
        "the red block": "red",
        "the green block": "green",
        "the can": "can",
        "the bin": "bin",
        "the orange box": "box",
        "the leftmost block": blocks[-1],
        "the rightmost block": blocks[0],
        "the blue thing": "blue",
        f"the block {relation} the {middle} block": other,
        ids["cup"]: "cup",
    }
    right = [desk.call("resolve_reference", {"phrase": phrase})["object_ids"] == [ids[name]] for phrase, name in rows.items()]
    return Measured(sum(right) / len(rows), "share that is resolved", equal=1.0)


@scenario(tool="resolve_reference", name="ambiguous_or_not", situation="Two red blocks alike: four phrases mean both, four mean one.", world=alike)
def ambiguous_or_not(desk: ScenarioDesk) -> Measured:
    desk.look()
    rows = {
        "the red block": True,
        "the block": True,
        "the big red block": True,
        "the red thing": True,
        "the left red block": False,
        "the blue block": False,
        "a red block": False,
        "all red blocks": False,
    }
    right = [desk.call("resolve_reference", {"phrase": phrase})["ambiguous"] == many for phrase, many in rows.items()]
    return Measured(sum(right) / len(rows), "share of the verdicts that are right", equal=1.0)


@scenario(
    tool="ask_which",
    name="one_question_is_enough",
    situation="Pairs and triples among two red blocks, a blue one and a can: does one true answer leave the right one?",
    world=alike,
)
def one_question_is_enough(desk: ScenarioDesk) -> Measured:
    ids = desk.look()
    groups = (("left", "right"), ("left", "small"), ("right", "can"), ("left", "small", "can"))
    right = count = 0
    for group in groups:
        candidates = [ids[name] for name in group]
        asked = desk.call("ask_which", {"candidates": candidates})
        left = [desk.call("ask_which", {"candidates": candidates, "answer": answer})["object_ids"] for answer in asked["answers"]]
        right += sorted(name for one in left for name in one) == sorted(candidates) and all(len(one) == 1 for one in left)
        count += 1
    true = desk.call("ask_which", {"candidates": [ids["left"], ids["right"]], "answer": "the left one"})["object_ids"] == [ids["left"]]
    return Measured((right + true) / (count + 1), "share of the groups that one answer settles", equal=1.0)


@scenario(tool="ask_which", name="other_words", situation="The person answers in words that were not offered.", world=alike)
def other_words(desk: ScenarioDesk) -> Measured:
    ids = desk.look()
    candidates = [ids[name] for name in ("left", "right", "small")]
    answers = {"the blue block": "small", "the leftmost": "left", "the rightmost one": "right", ids["right"]: "right"}
    right = [desk.call("ask_which", {"candidates": candidates, "answer": answer})["object_ids"] == [ids[name]] for answer, name in answers.items()]
    return Measured(sum(right) / len(right), "share of the answers that are understood", at_least=0.75)


@scenario(
    tool="grounding_repair",
    name="nearly_meant",
    situation="Seven phrases that are misspelt or a shade off: is the object that is meant among the first two proposals?",
)
def nearly_meant(desk: ScenarioDesk) -> Measured:
    ids = desk.look()
    rows = {
        "the red blok": "red",
        "the gren block": "green",
        "the orange can": "can",
        "the yelow can": "can",
        "the red box": "box",
        "the blue bloc": "blue",
        "the wite cup": "cup",
    }
    found = [[item["object_ids"] for item in desk.call("grounding_repair", {"phrase": phrase})["proposals"][:2]] for phrase in rows]
    right = [[ids[name]] in proposals for proposals, name in zip(found, rows.values(), strict=True)]
    return Measured(sum(right) / len(rows), "share that is repaired", at_least=0.85)


@scenario(tool="grounding_repair", name="decides_nothing_wild", situation="Four phrases that nothing on the desk comes near: none may be taken for settled.")
def decides_nothing_wild(desk: ScenarioDesk) -> Measured:
    desk.look()
    wild = [
        desk.call("grounding_repair", {"phrase": phrase})["repaired"]
        for phrase in ("the banana", "a wooden spoon", "the purple elephant", "the remote control")
    ]
    return Measured(float(sum(wild)), "phrases that were settled", at_most=0.0)


def _side_by_side(desk: ScenarioDesk, ids: dict[str, str]) -> tuple[str, str]:
    """Ids of two objects of which the first is clearly left of the second."""
    for one, two in permutations([name for name in ids if name != "bin"], 2):
        x, y = (desk.truth(one).pose[:2, 3] - desk.truth(two).pose[:2, 3]).tolist()
        if y > 0.03 and abs(x) < 0.8 * y:
            return ids[one], ids[two]
    raise DeskhandError("invalid_input", "no object is clearly left of another.")


@scenario(tool="final_answer", name="true_and_false", situation="Seven true and seven false statements about counts, places and the hand.")
def true_and_false(desk: ScenarioDesk) -> Measured:
    ids = desk.look()
    red, green, bin_ = ids["red"], ids["green"], ids["bin"]
    first, second = _side_by_side(desk, ids)
    rows = {
        "There are three blocks.": True,
        f"{red} is on the table.": True,
        f"{first} is left of {second}.": True,
        "The hand holds nothing.": True,
        "There is a can on the desk.": True,
        f"{red} is not in {bin_}.": True,
        "I like tidy desks.": True,
        "There are five blocks.": False,
        f"{red} is in {bin_}.": False,
        f"{second} is left of {first}.": False,
        f"The hand holds {red}.": False,
        "There are no cans.": False,
        "pen_77 is on the table.": False,
        f"{green} is on {red}.": False,
    }
    right = [desk.call("final_answer", {"answer": text})["supported"] == true for text, true in rows.items()]
    return Measured(sum(right) / len(rows), "share of the verdicts that are right", equal=1.0)


@scenario(tool="final_answer", name="nothing_known", situation="Nobody has looked: an answer about an object is not borne out, one about nothing seen is.")
def nothing_known(desk: ScenarioDesk) -> Measured:
    about = desk.call("final_answer", {"answer": "block_1 is in bin_1."})["supported"]
    plain = desk.call("final_answer", {"answer": "I could not do it."})["supported"]
    return Measured(float(not about and plain), "1 when both are right", equal=1.0)
