"""What the picture says about boxes whose place is known: standing, shifted, gone, hidden; and what that makes of a scene."""

from dataclasses import replace

import numpy as np
import pytest

from deskhand.perception.fit.pose_verification import evidence_for, locate
from deskhand.perception.picture import load_picture, save_picture
from deskhand.sim.camera import RgbdRenderer
from deskhand.sim.simulation import Simulation
from deskhand.sim.spec import ObjectSpec, WorldSpec, pose_at
from deskhand.skills.placed_objects import with_known
from deskhand.types import Scene, SceneObject, Table

EDGE = 0.03
RED, BLUE, GREEN = (0.78, 0.08, 0.08), (0.08, 0.20, 0.72), (0.08, 0.52, 0.15)


def _cube(name, rgb, x, y, level):
    return ObjectSpec(name, "block", (EDGE,) * 3, rgb, 0.016, pose_at(x, y, EDGE * (level + 0.5) + 0.0002 * level, 0.3))


def _seen(item: ObjectSpec, color: str) -> SceneObject:
    return SceneObject(item.name, "block", color, "box", np.asarray(item.size), item.pose.copy(), np.zeros((0, 3), np.float32), 1.0)


@pytest.fixture(scope="module")
def tower():
    items = [_cube("low", RED, 0.0, 0.05, 0), _cube("mid", BLUE, 0.0, 0.05, 1), _cube("top", GREEN, 0.0, 0.05, 2)]
    with RgbdRenderer(Simulation(WorldSpec(tuple(items)))) as renderer:
        frame = renderer.render()
    return frame, {item.name: _seen(item, color) for item, color in zip(items, ("red", "blue", "green"), strict=True)}


def test_every_block_of_a_tower_is_proved_with_its_colour(tower):
    frame, boxes = tower
    for name, color in (("low", "red"), ("mid", "blue"), ("top", "green")):
        found = evidence_for(frame, boxes[name], list(boxes.values()))
        assert found.there and found.color == color, (name, found)


def test_a_block_that_is_not_there_is_denied(tower):
    frame, boxes = tower
    missing = replace(boxes["top"], id="fourth", pose=pose_at(0.0, 0.05, 3.5 * EDGE, 0.3))
    assert evidence_for(frame, missing, list(boxes.values())).gone
    assert evidence_for(frame, replace(boxes["low"], pose=pose_at(0.0, -0.15, EDGE / 2))).gone


def test_a_shift_is_measured_to_some_millimetres(tower):
    frame, boxes = tower
    for shift in ((0.008, 0.0), (0.0, -0.009), (-0.006, 0.006)):
        pose = boxes["top"].pose.copy()
        pose[:2, 3] -= shift
        found, evidence = locate(frame, replace(boxes["top"], pose=pose), [boxes["low"], boxes["mid"]])
        assert evidence.there and np.linalg.norm(found - shift) < 0.004


def test_what_is_known_takes_the_place_of_what_runs_together(tower):
    frame, boxes = tower
    points = np.array([boxes["low"].position + np.array([0.015, 0, z]) for z in np.linspace(-0.01, 0.06, 30)], np.float32)
    pile = SceneObject("sponge_1", "sponge", "red", "box", np.array([0.03, 0.03, 0.09]), pose_at(0, 0.05, 0.045), points, 0.4)
    other = SceneObject("low", "ball", "red", "sphere", np.full(3, 0.03), pose_at(0.1, 0.2, 0.015), points + np.float32(0.15), 0.9)
    scene = Scene((pile, other), Table(np.eye(4), (0.9, 1.1)), 0.0)
    gone = replace(boxes["top"], id="gone", pose=pose_at(0.0, 0.05, 3.5 * EDGE))
    seen, proved = with_known(scene, frame, {**boxes, "gone": gone})
    assert set(proved) == {"low", "mid", "top"}
    assert {item.id for item in seen.objects} == {"low", "mid", "top", "low_10"}


def test_a_picture_keeps_colour_and_depth(tower, tmp_path):
    frame, _ = tower
    save_picture(frame, tmp_path / "seen.png")
    back = load_picture(tmp_path / "seen.png", frame)
    assert np.array_equal(back.color, frame.color)
    assert np.array_equal(np.isnan(back.depth), np.isnan(frame.depth))
    assert np.nanmax(np.abs(back.depth - frame.depth)) < 0.0006
