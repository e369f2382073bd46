"""Scenarios of the unit detection."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from deskhand.bench.perception.measure import compare
from deskhand.bench.tools.base import Measured, scenario
from deskhand.bench.tools.desk import Desk


@scenario(tool="detect_objects", name="all_found", situation="Six well separated things and a bin stand on the desk: how many of them does a look find?")
def all_found(desk: Desk) -> Measured:
    found = desk.look()
    return Measured(len(found) / len(desk.names), "share of the things found", at_least=1.0)


@scenario(tool="detect_objects", name="position", situation="Six things and a bin: how far are their centres from where they really are?")
def position(desk: Desk) -> Measured:
    desk.look()
    assert desk.belief.scene is not None
    rows, _ = compare(desk.belief.scene, desk.seen_truth())
    return Measured(1000 * float(np.max([row["position_error"] for row in rows if row["found"]])), "mm largest error", at_most=8.0)


def overlap(a: npt.NDArray[np.bool_], b: npt.NDArray[np.bool_]) -> float:
    """Intersection over union of two masks."""
    return float((a & b).sum()) / max(1, int((a | b).sum()))


WORDS = {"the red cube": "red", "a can": "can", "the mug": "cup", "an orange box": "box", "the biggest container": "bin", "block near the cup": "green"}


@scenario(tool="detect_by_words", name="right_things", situation="Seven things are described in free words; each description fits one of them.")
def right_things(desk: Desk) -> Measured:
    given = desk.call("detect_by_words", {"phrases": list(WORDS)})
    ids = {name: item for item, name in named(desk).items()}
    first = {phrase: next((item for item in given["found"] if item["phrase"] == phrase), None) for phrase in WORDS}
    right = sum(item is not None and item["object_id"] == ids[WORDS[phrase]] for phrase, item in first.items())
    return Measured(right / len(WORDS), "share of descriptions whose best hit is right", at_least=0.99)


@scenario(tool="detect_by_words", name="nothing_made_up", situation="Things are asked for that are not on the desk: none of them may be found.")
def nothing_made_up(desk: Desk) -> Measured:
    given = desk.call("detect_by_words", {"phrases": ["a stapler", "the purple block", "two pens", "a ball"]})
    return Measured(len(given["found"]), "things found", equal=0)


def named(desk: Desk) -> dict[str, str]:
    """Name in the world of every id of the session's last look."""
    return {found: name for name, found in desk.recognised().items()}


@scenario(tool="color_grounding", name="green_region", situation="One block is green: how well does the largest green region cover the pixels that show it?")
def green_region(desk: Desk) -> Measured:
    given = desk.call("color_grounding", {"color": "green"})
    return Measured(overlap(desk.fetch(given["mask"])[..., 0] > 0, desk.mask("green")), "intersection over union", at_least=0.8)


@scenario(tool="color_grounding", name="place_of_red", situation="One block is red: how far is the grounded region's middle in space from the block's centre?")
def place_of_red(desk: Desk) -> Measured:
    desk.look()
    region = desk.call("color_grounding", {"color": "crimson"})["regions"][0]
    off = np.linalg.norm(np.array(region["position"]) - desk.truth("red").pose[:3, 3])
    right = named(desk).get(region["object_id"]) == "red"
    return Measured(1000 * float(off) if right else float("nan"), "mm to the centre of the block, its upper side seen", at_most=25.0)
