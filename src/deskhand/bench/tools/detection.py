"""Scenarios of the unit detection."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from difflib import SequenceMatcher
from importlib.util import find_spec
from pathlib import Path

import cv2
import numpy as np
import numpy.typing as npt

from deskhand.bench.perception.measure import compare
from deskhand.bench.tools.base import Measured, scenario
from deskhand.bench.tools.desk import ScenarioDesk
from deskhand.bench.tools.drawing import Random, drawn
from deskhand.bench.tools.worlds import BLUE, GREEN, ORANGE, RED, YELLOW, bare, upright
from deskhand.geometry import Array, transform_points
from deskhand.perception.detectors.config import SHIPPED, detector_list, users_file
from deskhand.perception.fiducials import FAMILIES
from deskhand.perception.taught.recogniser import Recogniser
from deskhand.sim.reality.labels import label_of
from deskhand.sim.reality.spec import RealitySpec, SurfaceReality
from deskhand.sim.spec import ObjectSpec, WorldSpec, pose_at
from deskhand.types.resources import resource_path
from deskhand.world.taught import TaughtStore, store_path


@scenario(tool="detect_objects", name="all_found", situation="Six well separated objects and a bin stand on the desk: how many of them does a look find?")
def all_found(desk: ScenarioDesk) -> Measured:
    found = desk.look()
    return Measured(len(found) / len(desk.names), "share of the objects found", at_least=1.0)


@scenario(tool="detect_objects", name="position", situation="Six objects and a bin: how far are their centres from where they really are?")
def position(desk: ScenarioDesk) -> Measured:
    desk.look()
    assert desk.belief.scene is not None
    rows, _ = compare(desk.belief.scene, desk.seen_truth())
    return Measured(1000 * float(np.max([row["position_error"] for row in rows if row["found"]])), "mm largest error", at_most=8.0)


def overlap(a: npt.NDArray[np.bool_], b: npt.NDArray[np.bool_]) -> float:
    """Intersection over union of two masks."""
    return float((a & b).sum()) / max(1, int((a | b).sum()))


WORDS = {"the red cube": "red", "a can": "can", "the mug": "cup", "an orange box": "box", "the biggest container": "bin"}


@scenario(tool="detect_by_words", name="right_things", situation="Seven objects are described in free words; each description fits one of them.")
def right_objects(desk: ScenarioDesk) -> Measured:
    leftmost = max(("red", "green", "blue"), key=lambda name: float(desk.truth(name).pose[1, 3]))
    words = WORDS | {"the leftmost block": leftmost}
    given = desk.call("detect_by_words", {"phrases": list(words)})
    ids = {name: item for item, name in named(desk).items()}
    first = {phrase: next((item for item in given["found"] if item["phrase"] == phrase), None) for phrase in words}
    right = sum(item is not None and item["object_id"] == ids[words[phrase]] for phrase, item in first.items())
    return Measured(right / len(words), "share of descriptions whose best hit is right", at_least=0.99)


@scenario(tool="detect_by_words", name="nothing_made_up", situation="Objects are asked for that are not on the desk: none of them may be found.")
def nothing_made_up(desk: ScenarioDesk) -> Measured:
    given = desk.call("detect_by_words", {"phrases": ["a stapler", "the purple block", "two pens", "a ball"]})
    return Measured(len(given["found"]), "objects found", equal=0)


def named(desk: ScenarioDesk) -> dict[str, str]:
    """Name in the world of every id of the session's last look."""
    return {found: name for name, found in desk.recognised().items()}


@scenario(tool="color_grounding", name="green_region", situation="One block is green: how well does the largest green region cover the pixels that show it?")
def green_region(desk: ScenarioDesk) -> Measured:
    given = desk.call("color_grounding", {"color": "green"})
    return Measured(overlap(desk.fetch(given["mask"])[..., 0] > 0, desk.mask("green")), "intersection over union", at_least=0.8)


@scenario(tool="color_grounding", name="place_of_red", situation="One block is red: how far is the grounded region's middle in space from the block's centre?")
def place_of_red(desk: ScenarioDesk) -> Measured:
    desk.look()
    region = desk.call("color_grounding", {"color": "crimson"})["regions"][0]
    off = np.linalg.norm(np.array(region["position"]) - desk.truth("red").pose[:3, 3])
    right = named(desk).get(region["object_id"]) == "red"
    return Measured(1000 * float(off) if right else float("nan"), "mm to the centre of the block, its upper side seen", at_most=25.0)


# ---------------------------------------------------------------- taught objects


@contextmanager
def _own_store() -> Iterator[None]:
    """A store of taught objects for this scenario alone; the user's is not touched."""
    before = os.environ.get("DESKHAND_TAUGHT")
    with tempfile.TemporaryDirectory() as folder:
        os.environ["DESKHAND_TAUGHT"] = str(Path(folder) / "taught.sqlite")
        try:
            yield
        finally:
            if before is None:
                del os.environ["DESKHAND_TAUGHT"]
            else:
                os.environ["DESKHAND_TAUGHT"] = before


def _teach(desk: ScenarioDesk, **names: str) -> dict[str, str]:
    """Teach objects by their name in the world; their ids."""
    ids = desk.look()
    for name, taught in names.items():
        desk.call("teach_object", {"name": taught, "object_id": ids[name], "views": 1})
    return ids


@scenario(tool="teach_object", name="size", situation="A block is taught by two calls: how far off is the size that is kept of it, and are there two views?")
def taught_size(desk: ScenarioDesk) -> Measured:
    with _own_store():
        ids = _teach(desk, red="my die")
        given = desk.call("teach_object", {"name": "my die", "object_id": ids["red"], "views": 1})
    off = np.abs(np.array(given["size"]) - np.sort(desk.truth("red").size)[::-1]).max()
    return Measured(1000 * float(off) if given["views"] == 2 else 1000.0, "mm", at_most=5.0)


@scenario(
    tool="teach_object", name="known_again", situation="A block and a can are taught; in a new picture each of the two is shown: how many get their name?"
)
def taught_known_again(desk: ScenarioDesk) -> Measured:
    wanted = {"red": "my die", "can": "my soup"}
    with _own_store():
        _teach(desk, **wanted)
        with TaughtStore(store_path()) as store:
            recogniser = Recogniser(store.everything())
    frame = desk.robot.observe()
    named = {name: recogniser.recognise(frame.color, desk.mask(name), tuple(desk.truth(name).size)) for name in wanted}
    return Measured(sum(bool(found) and found[0][0] == wanted[name] for name, found in named.items()), "of 2", equal=2)


@scenario(tool="list_taught_objects", name="all", situation="Two objects are taught: how many names that are wrong or missing does the list have?")
def taught_listed(desk: ScenarioDesk) -> Measured:
    with _own_store():
        _teach(desk, red="my die", can="my soup")
        told = {line["name"] for line in desk.call("list_taught_objects")["taught"]}
    return Measured(len(told ^ {"my die", "my soup"}), "names", equal=0)


@scenario(tool="list_taught_objects", name="none", situation="Nobody has taught anything: how many names are told?")
def taught_none(desk: ScenarioDesk) -> Measured:
    with _own_store():
        return Measured(len(desk.call("list_taught_objects")["taught"]), "names", equal=0)


@scenario(tool="forget_taught_object", name="gone", situation="Of two taught objects one is forgotten: how many names that are wrong or missing are left?")
def taught_forgotten(desk: ScenarioDesk) -> Measured:
    with _own_store():
        _teach(desk, red="my die", can="my soup")
        left = {line["name"] for line in desk.call("forget_taught_object", {"name": "my die"})["taught"]}
    return Measured(len(left ^ {"my soup"}), "names", equal=0)


@scenario(tool="forget_taught_object", name="unknown", situation="A name is to be forgotten that nobody taught: is it refused, and does the other stay?")
def taught_unknown(desk: ScenarioDesk) -> Measured:
    with _own_store():
        _teach(desk, red="my die")
        refused = desk.result("forget_taught_object", {"name": "the holy grail"}).code == "unknown_object"
        kept = [line["name"] for line in desk.call("list_taught_objects")["taught"]] == ["my die"]
    return Measured(float(refused and kept), "1 when so", equal=1)


# ---------------------------------------------------------------- markers, counts


def with_marker(desk: ScenarioDesk, number: int, world_T_marker: Array, edge: float) -> str:
    """The uri of a picture of the desk into which a marker is drawn as it would look at a pose; its truth is that pose."""
    frame, side = desk.frame(), 160
    drawn = cv2.aruco.generateImageMarker(cv2.aruco.getPredefinedDictionary(FAMILIES["apriltag_36h11"]), number, side)
    white = np.full((side + 40, side + 40), 235, np.uint8)  # the paper around it
    white[20:-20, 20:-20] = np.where(drawn > 127, 235, 25)
    half = edge / 2 * (side + 40) / side
    corners = frame.project(transform_points(world_T_marker, np.array([[-half, half, 0], [half, half, 0], [half, -half, 0], [-half, -half, 0]])))
    fine = 4  # drawn so much larger, so that its edges are mixed as a camera mixes them
    paper_edge = np.array([[0, 0], [1, 0], [1, 1], [0, 1]], np.float32) * (side + 40) - 0.5
    warp = cv2.getPerspectiveTransform(paper_edge.astype(np.float32), (fine * (corners + 0.5) - 0.5).astype(np.float32))
    height, width = frame.color.shape[:2]
    large = [cv2.warpPerspective(one, warp, (fine * width, fine * height)) for one in (white, np.full_like(white, 255))]
    paper, there = (cv2.resize(one, (width, height), interpolation=cv2.INTER_AREA) for one in large)
    there = there > 200
    image = frame.color.copy()
    noise = np.random.default_rng(number).normal(0, 3, paper.shape)
    image[there] = np.clip(paper + noise, 0, 255).astype(np.uint8)[there][:, None]
    return desk.keep(image)


@scenario(tool="detect_fiducials", name="pose", situation="An AprilTag of 5 cm lies at three places of the desk: the largest error of its told position.")
def marker_pose(desk: ScenarioDesk) -> Measured:
    errors = []
    for number, (x, y, yaw) in enumerate(desk.random.uniform([-0.1, -0.22, -3.1], [0.15, 0.22, 3.1], (3, 3)).tolist(), 5):
        pose = pose_at(x, y, 0.0, yaw)
        found = desk.call("detect_fiducials", {"edge": 0.05, "picture": with_marker(desk, number, pose, 0.05)})["markers"]
        errors.append(float(np.linalg.norm(np.array(found[0]["position"]) - pose[:3, 3])) if [one["number"] for one in found] == [number] else float("nan"))
    return Measured(1000 * float(np.max(errors)), "mm largest error", at_most=12.0)


@scenario(tool="detect_fiducials", name="other_family", situation="An AprilTag where ArUco 4x4 is asked for, and a desk without any: nothing is told.")
def marker_of_none(desk: ScenarioDesk) -> Measured:
    x, y = desk.random.uniform([-0.1, -0.2], [0.15, 0.2]).tolist()
    uri = with_marker(desk, int(desk.random.integers(0, 500)), pose_at(x, y, 0.0), 0.05)
    found = [desk.call("detect_fiducials", given)["markers"] for given in ({"family": "aruco_4x4", "picture": uri}, {"family": "apriltag_36h11"})]
    return Measured(sum(map(len, found)), "markers", equal=0)


@scenario(tool="count_objects", name="kinds", situation="Six objects and a bin: the number in all, of blocks, of red ones, and in the bin.")
def counted(desk: ScenarioDesk) -> Measured:
    asked: list[tuple[dict[str, str], int]] = [({}, 7), ({"label": "block"}, 3), ({"color": "red"}, 1), ({"inside": desk.look()["bin"]}, 0)]
    return Measured(sum(desk.call("count_objects", given)["count"] == real for given, real in asked), "right counts of 4", equal=4)


@scenario(tool="count_objects", name="after_taking", situation="The can is taken off the desk: the count must follow.")
def counted_after(desk: ScenarioDesk) -> Measured:
    before = desk.call("count_objects")["count"]
    desk.put("can", pose_at(3.0, 0.0, 0.0))
    for _ in range(2):
        desk.look()
    return Measured(before - desk.call("count_objects")["in_view"], "fewer", equal=1)


# ---------------------------------------------------------------- outlines


def pieces(random: Random) -> WorldSpec:
    """Flat and low pieces of known outline; names are the kinds."""
    made = [
        upright("box", "square", (0.05, 0.05, 0.025), 0.05, 0.15, RED, 0.3),
        upright("box", "rectangle", (0.09, 0.04, 0.025), 0.12, -0.02, GREEN, -0.5),
        upright("can", "circle", (0.05, 0.05, 0.025), 0.02, -0.15, YELLOW),
    ]
    places = {"hexagon": ("hex_prism", (0.06, 0.052, 0.03), 0.14, 0.22), "cross": ("cross", (0.08, 0.08, 0.025), -0.06, -0.02)}
    shapes = [ObjectSpec(name, "mesh", size, BLUE, 0.04, pose_at(x, y, size[2] / 2 + 0.001, 0.2), shape=shape) for name, (shape, size, x, y) in places.items()]
    return drawn(random, WorldSpec((*made, *shapes)))


@scenario(tool="detect_outlines", name="pieces", situation="Low pieces of known outlines lie on the desk: the share that is told right.", world=pieces)
def outlines_of_pieces(desk: ScenarioDesk) -> Measured:
    ids = desk.look()
    told = {one["object_id"]: one["kind"] for one in desk.call("detect_outlines")["outlines"]}
    return Measured(sum(told.get(ids.get(name, ""), "") == name for name in desk.names) / len(desk.names), "share", at_least=0.8)


@scenario(
    tool="detect_outlines", name="drawn", situation="160 masks of ten outlines, drawn by formula at random turns and sizes: the share that is told right."
)
def outlines_drawn(desk: ScenarioDesk) -> Measured:
    random, right, count = desk.random, 0, 0
    for kind, corners in drawn_outlines().items():
        for _ in range(16):
            angle, size = random.uniform(0, 2 * np.pi), random.uniform(40, 110)
            turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
            image = np.zeros((260, 260), np.uint8)
            cv2.fillPoly(image, [np.round(130 + size * corners @ turn.T).astype(np.int32)], 255)
            told = desk.call("detect_outlines", {"mask": desk.keep(image)})["outlines"][0]["kind"]
            right, count = right + (told == kind), count + 1
    return Measured(right / count, "share", at_least=0.95)


def drawn_outlines() -> dict[str, Array]:
    """Kind -> corners (N, 2) within the unit circle."""

    def regular(count: int, radius: Array | float = 1.0) -> Array:
        angles = np.arange(count) * 2 * np.pi / count
        return np.asarray(np.column_stack([np.cos(angles), np.sin(angles)]) * np.reshape(radius, (-1, 1)), float)

    cross = np.array([[1, 3], [1, 1], [3, 1], [3, -1], [1, -1], [1, -3], [-1, -3], [-1, -1], [-3, -1], [-3, 1], [-1, 1], [-1, 3]]) / 3.2
    return {
        "circle": regular(90),
        "ellipse": regular(90) * (1.0, 0.6),
        "triangle": regular(3),
        "square": regular(4),
        "rectangle": np.array([[0.9, 0.4], [-0.9, 0.4], [-0.9, -0.4], [0.9, -0.4]]),
        "pentagon": regular(5),
        "hexagon": regular(6),
        "star": regular(10, np.tile([1.0, 0.45], 5)),
        "cross": cross,
        "l_shape": np.array([[-0.7, -0.7], [0.7, -0.7], [0.7, -0.2], [-0.2, -0.2], [-0.2, 0.7], [-0.7, 0.7]]),
    }


# ---------------------------------------------------------------- printed text

SIGNS = "ABCDEFGHJKLMNPRSTUVWXYZ23456789"  # those that no other looks like
TOP = 4  # face of a label


def reader_there() -> bool:
    """Whether the user's file of detectors uses a network that reads text."""
    use, known, _ = detector_list(users_file())
    return any(dict(known.get(name) or {}).get("kind") == "printed_text" for name in use) and find_spec("onnxruntime") is not None


def cartons(random: Random) -> WorldSpec:
    """Three cartons with print on them, a word of four letters or more on top; names: first, second, third."""
    sizes = [(0.12, 0.12, 0.06), (0.13, 0.11, 0.05), (0.11, 0.13, 0.07)]
    boxes = [upright("box", name, size, 0.0, y, ORANGE) for name, size, y in zip(("first", "second", "third"), sizes, (-0.2, 0.0, 0.2), strict=True)]
    world = drawn(random, WorldSpec(tuple(boxes)), turn=0.3)
    while True:
        seed = int(random.integers(1_000_000))
        labels = [label_of(item, seed) for item in world.objects]
        if all(label.faces[TOP] and len(label.word) > 3 and label.word.isalpha() for label in labels):
            return replace(world, reality=RealitySpec(seed, surfaces=SurfaceReality(printed=1.0)))


@scenario(
    tool="read_text",
    name="codes",
    situation="Eight codes of five signs are drawn on a picture, turned by up to 20 degrees: how many of the signs are read right?",
    world=bare,
    possible=reader_there,
)
def codes(desk: ScenarioDesk) -> Measured:
    places = [(160 + 320 * (number % 2), 60 + 120 * (number // 2)) for number in range(8)]
    wanted = {place: "".join(desk.random.choice(list(SIGNS), 5)) for place in places}
    picture = np.full((480, 640, 3), 225, np.uint8)
    for place, code in wanted.items():
        drawn_on = np.full_like(picture, 225)
        cv2.putText(drawn_on, code, (place[0] - 65, place[1] + 12), cv2.FONT_HERSHEY_DUPLEX, 1.2, (20, 20, 60), 2, cv2.LINE_AA)
        turn = cv2.getRotationMatrix2D(place, float(desk.random.uniform(-20, 20)), 1.0)
        picture = np.minimum(picture, cv2.warpAffine(drawn_on, turn, (640, 480), borderValue=(225, 225, 225)))
    lines = desk.call("read_text", {"picture_uri": desk.keep(picture)})["lines"]
    right = 0
    for place, code in wanted.items():
        near = [line["text"] for line in lines if np.linalg.norm(np.mean(line["corners"], axis=0) - place) < 30]
        right += max((sum(block.size for block in SequenceMatcher(None, text, code).get_matching_blocks()) for text in near), default=0)
    return Measured(right / (5 * len(wanted)), "share of the signs", at_least=0.9)


@scenario(
    tool="read_text",
    name="on_cartons",
    situation="Three cartons with a drawn word on top of each, some on their heads: how many of the words are read, and said to be on the right one?",
    world=cartons,
    possible=reader_there,
)
def on_cartons(desk: ScenarioDesk) -> Measured:
    spec, lines = desk.simulation.built.spec, desk.call("read_text")["lines"]
    ids = desk.recognised()
    assert spec.reality is not None
    said = {item.name: [line["text"].lower() for line in lines if line["object_id"] == ids.get(item.name, "-")] for item in spec.objects}
    right = [label_of(item, spec.reality.seed).word.lower() in said[item.name] for item in spec.objects]
    return Measured(float(np.mean(right)), "share of the words", at_least=0.6)


@scenario(tool="read_text", name="says_what_is_missing", situation="No network that reads text is configured: is it said what to install?", world=bare)
def says_what_is_missing(desk: ScenarioDesk) -> Measured:
    with shipped_detectors():
        refused = desk.result("read_text")
    return Measured(float(refused.code == "missing_dependency" and "rapidocr" in refused.hint), "1 when refused so", equal=1)


@contextmanager
def shipped_detectors() -> Iterator[None]:
    """The robot has the detectors of config/detectors.yaml, not those of the user."""
    before = os.environ.get("DESKHAND_DETECTORS")
    os.environ["DESKHAND_DETECTORS"] = str(resource_path(SHIPPED))
    try:
        yield
    finally:
        if before is None:
            del os.environ["DESKHAND_DETECTORS"]
        else:
            os.environ["DESKHAND_DETECTORS"] = before
