"""Scenarios of the unit representation_and_similarity."""

from __future__ import annotations

import cv2
import numpy as np

from deskhand.bench.tools.base import Measured, scenario
from deskhand.bench.tools.desk import ScenarioDesk
from deskhand.bench.tools.drawing import Random, drawn
from deskhand.bench.tools.worlds import BLUE, RED, block, upright
from deskhand.sim.spec import WorldSpec, pose_at


def pairs(random: Random) -> WorldSpec:
    """Three pairs of like objects; names: red_a, red_b, blue_a, blue_b, can_a, can_b."""
    can = (0.05, 0.05, 0.08)
    made = (
        block("red_a", 0.0, 0.12, RED),
        block("red_b", 0.08, -0.1, RED),
        block("blue_a", -0.08, 0.0, BLUE, 0.045),
        block("blue_b", 0.1, 0.08, BLUE, 0.045),
        upright("can", "can_a", can, -0.02, -0.15, RED),
        upright("can", "can_b", can, 0.02, 0.0, RED),
    )
    return drawn(random, WorldSpec(made), sizes=False)


@scenario(tool="compare_objects", name="partners", situation="Three pairs of like objects: is each object's partner told the most alike?", world=pairs)
def partners(desk: ScenarioDesk) -> Measured:
    ids = desk.look()
    right = 0
    for name, found in ids.items():
        partner = ids[name[:-1] + ("b" if name.endswith("a") else "a")]
        right += desk.call("compare_objects", {"object_id": found})["object_ids"][0] == partner
    return Measured(right / len(desk.names), "share of objects", at_least=0.99)


@scenario(tool="compare_objects", name="margin", situation="The same: how much more alike are partners than others, at the least?", world=pairs)
def margin(desk: ScenarioDesk) -> Measured:
    ids = desk.look()
    gaps = []
    for name, found in ids.items():
        likeness = desk.call("compare_objects", {"object_id": found})["likeness"]
        gaps.append(likeness[0]["similarity"] - likeness[1]["similarity"])
        assert name in desk.names
    return Measured(min(gaps), "smallest lead of the most alike", at_least=0.15)


@scenario(
    tool="compare_pictures",
    name="what_moved",
    situation="A block is moved between two pictures: how much of its true pixels, before and after, does the mask cover?",
)
def what_moved(desk: ScenarioDesk) -> Measured:
    first, before = desk.frame().color, desk.mask("red")
    desk.shift("red", desk.free_shift("red", 0.06, 0.15))
    second, after = desk.frame().color, desk.mask("red")
    given = desk.call("compare_pictures", {"first": desk.keep(first), "second": desk.keep(second)})
    mask, true = desk.fetch(given["mask"])[..., 0] > 0, before | after
    return Measured(float((mask & true).sum()) / float((mask | true).sum()), "intersection over union, shadows count against", at_least=0.6)


@scenario(tool="compare_pictures", name="nothing_changed", situation="Two pictures of the same still desk: the share of pixels that are told to differ.")
def nothing_changed(desk: ScenarioDesk) -> Measured:
    given = desk.call("compare_pictures", {"first": desk.keep(desk.frame().color), "second": desk.keep(desk.frame().color)})
    return Measured(given["changed"], "share of pixels", equal=0)


@scenario(
    tool="compare_pictures", name="shift", situation="The second picture is the first, shifted by up to 9 px each way: the error of the shift that is told."
)
def shift(desk: ScenarioDesk) -> Measured:
    image, (right, down) = desk.frame().color, desk.random.uniform(-9, 9, 2)
    other = cv2.warpAffine(image, np.array([[1, 0, right], [0, 1, down]]), (image.shape[1], image.shape[0]), borderMode=cv2.BORDER_REPLICATE)
    given = desk.call("compare_pictures", {"first": desk.keep(image), "second": desk.keep(np.asarray(other, np.uint8))})
    return Measured(float(np.abs(np.array(given["shift"]) - [right, down]).max()), "px", at_most=0.5)


def kept(desk: ScenarioDesk, names: tuple[str, ...]) -> dict[str, str]:
    """Uris of the appearances of objects."""
    ids = desk.look()
    return {name: desk.call("describe_appearance", {"object_id": ids[name]})["appearance"]["uri"] for name in names}


@scenario(tool="recognise_again", name="moved", situation="Six objects are described, then each is put where another stood: how many are recognised?")
def recognised_moved(desk: ScenarioDesk) -> Measured:
    names = ("red", "green", "blue", "can", "box", "cup")
    known = kept(desk, names)
    poses = [desk.truth(name).pose[:2, 3].copy() for name in names]
    for name, place in zip(names, poses[2:] + poses[:2], strict=True):
        pose = desk.truth(name).pose.copy()
        pose[:2, 3] = place
        desk.put(name, pose, settle=0.0)
    desk.simulation.step(0.5)
    for _ in range(2):
        ids = desk.look()
    return Measured(sum(desk.call("recognise_again", {"appearance": known[name]})["object_id"] == ids[name] for name in names), "of 6", at_least=5)


@scenario(tool="recognise_again", name="gone", situation="The can is described and taken away: no other object may be taken for it.")
def recognised_gone(desk: ScenarioDesk) -> Measured:
    known = kept(desk, ("can",))
    desk.put("can", pose_at(3.0, 0.0, 0.0))
    desk.look()
    return Measured(float(desk.call("recognise_again", {"appearance": known["can"]})["object_id"] == ""), "1 when none is", equal=1)


@scenario(
    tool="describe_appearance", name="steady", situation="Each of six objects is described twice: the largest distance to itself over the smallest to another."
)
def steady_vectors(desk: ScenarioDesk) -> Measured:
    names = ("red", "green", "blue", "can", "box", "cup")
    first, second = ({name: desk.session.resources.get(uri).array() for name, uri in kept(desk, names).items()} for _ in range(2))
    own = max(float(np.linalg.norm(first[name] - second[name])) for name in names)
    other = min(float(np.linalg.norm(first[a] - first[b])) for a in names for b in names if a != b)
    return Measured(own / other, "of the distance to the nearest other", at_most=0.5)


@scenario(tool="describe_appearance", name="sides", situation="The sides in the vector of a box against its real ones.")
def vector_sides(desk: ScenarioDesk) -> Measured:
    vector = desk.session.resources.get(kept(desk, ("box",))["box"]).array()
    return Measured(1000 * float(np.abs(vector[:3] - np.sort(desk.truth("box").size)[::-1]).max()), "mm", at_most=6.0)
