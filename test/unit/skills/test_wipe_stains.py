"""Wiping a stain in physics: with a sponge it goes and is said gone; bare fingers leave it, and that is told."""

import numpy as np
import pytest

from deskhand.geometry import make_transform, rotation_about
from deskhand.recording.episode.writer import EpisodeWriter
from deskhand.sim.worldfile import world_from_dict
from deskhand.skills.belief import Belief
from deskhand.skills.wipe import _lying
from deskhand.tools.base import load_tools, make_session
from deskhand.trials.local import local_robot

WORLD = {
    "objects": [{"kind": "sponge", "color": "yellow", "pose": [0.02, 0.0, 0.3]}],
    "stains": [{"name": "blue", "color": "blue", "size": [0.10, 0.045], "pose": [0.04, 0.17, 0.2]}],
    "reality": "mild",
    "seed": 1,
}


@pytest.mark.parametrize("tilt", [0.0, 0.5, -0.5])
def test_what_sinks_onto_the_table_lies_on_the_face_that_was_lowest(tilt: float) -> None:
    size = np.array([0.075, 0.038, 0.026])
    turned = rotation_about([0, 0, 1], 0.7)
    held = make_transform(turned @ rotation_about([0, 1, 0], tilt), [0.1, -0.2, 0.035])
    lies = _lying(held, size, 0.01)
    assert np.allclose(lies[:3, 2], [0, 0, 1]) and np.allclose(lies[:3, :3], turned) and np.allclose(lies[:3, 3], [0.1, -0.2, 0.01 + 0.013])
    on_end = _lying(make_transform(rotation_about([0, 1, 0], np.pi / 2 + tilt / 2), [0.1, -0.2, 0.05]), size, 0.0)
    assert np.allclose(np.abs(on_end[:3, 0]), [0, 0, 1]) and on_end[2, 3] == pytest.approx(0.0375)


@pytest.mark.long
def test_a_stain_is_wiped_by_a_sponge_and_not_by_bare_fingers(tmp_path) -> None:
    with EpisodeWriter(tmp_path) as writer, local_robot(world_from_dict(WORLD), writer, tmp_path / "memory.sqlite") as parts:
        parts.wait(1.0)
        with make_session(parts.robot, Belief(), registry=load_tools(others=False)[0]) as session:
            session.invoke("detect_objects", {})
            (stain,) = [one for one in session.invoke("find_stains", {}).data["stains"] if one["color"] == "blue"]
            assert stain["direction"] == "front-back"
            x, y, length, width = stain["box"]
            area = {"x": x, "y": y, "length": length, "width": width}
            bare = session.invoke("wipe", area)
            assert bare.code == "wipe_failed" and bare.data["left"] > 0.9
            assert parts.simulation.truth().spots["blue"] == pytest.approx(1.0)
            assert session.invoke("pick", {"object_id": "sponge_1"}).ok
            wiped = session.invoke("wipe", area)
            assert wiped.ok and wiped.data["left"] < 0.3, wiped
            assert parts.simulation.truth().spots["blue"] < 0.3


@pytest.mark.long
def test_a_second_area_is_wiped_with_the_same_grasp(tmp_path) -> None:
    areas = {"blue": {"pose": [0.05, 0.2, -0.1]}, "green": {"pose": [0.02, -0.21, 1.6]}}
    stains = [{"name": color, "color": color, "size": [0.16, 0.045], **where} for color, where in areas.items()]
    world = world_from_dict({**WORLD, "stains": stains, "seed": 4})
    with EpisodeWriter(tmp_path) as writer, local_robot(world, writer, tmp_path / "memory.sqlite") as parts:
        parts.wait(1.0)
        with make_session(parts.robot, Belief(), registry=load_tools(others=False)[0]) as session:
            session.invoke("detect_objects", {})
            boxes = {one["color"]: one["box"] for one in session.invoke("find_stains", {}).data["stains"]}
            assert session.invoke("pick", {"object_id": "sponge_1"}).ok
            for color in areas:
                wiped = session.invoke("wipe", dict(zip(("x", "y", "length", "width"), boxes[color], strict=True)))
                assert wiped.ok, wiped
                assert parts.simulation.truth().spots[color] < 0.5
