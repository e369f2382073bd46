"""Small prisms told apart by `detect_outlines`, and fine colours by `color_grounding`, on a rendered desk."""

import pytest

from deskhand.trials.base import TrialOptions
from deskhand.trials.desk_session import desk_session

SCENE = """
objects:
  - { shape: star_prism, color: [0.5, 0, 0], pose: [-0.05, 0.12, 0.4] }
  - { shape: moon_prism, color: [1, 0, 0], pose: [0.05, 0.06, 2.0] }
  - { shape: triangle_prism, color: [0, 0.5, 0.5], pose: [-0.05, -0.02, 1.0] }
  - { shape: disc_prism, color: [0, 0, 1], pose: [0.05, -0.08] }
  - { kind: block, size: 0.03, color: [0, 0, 0.5], pose: [-0.05, -0.15, 0.7] }
"""
PLACES = {"star": 0.12, "crescent": 0.06, "triangle": -0.02, "circle": -0.08, "square": -0.15}


@pytest.fixture(scope="module")
def session(tmp_path_factory):
    scene = tmp_path_factory.mktemp("scene") / "scene.yaml"
    scene.write_text(SCENE)
    with desk_session(TrialOptions(scene=scene, instruction="look", reality="none")) as opened:
        yield opened


@pytest.fixture(scope="module")
def ids(session):
    seen = session.invoke("detect_objects", {}).data["objects"]
    return {name: min(seen, key=lambda item, y=y: abs(item["position"][1] - y) + 9 * (item["position"][0] < -0.15))["id"] for name, y in PLACES.items()}


def test_each_shape_is_the_likeliest_of_its_outline(session, ids):
    told = {row["object_id"]: row["likely"] for row in session.invoke("detect_outlines", {"object_ids": list(ids.values())}).data["outlines"]}
    for outline, name in ids.items():
        assert max(ids.values(), key=lambda other, outline=outline: told[other].get(outline, 0.0)) == name, (outline, told)
        assert sum(told[name].values()) <= 1.001


def test_candidates_are_ranked_by_a_fine_colour_word(session, ids):
    wanted = {"maroon": "star", "red": "crescent", "teal": "triangle", "blue": "circle", "navy": "square"}
    for word, name in wanted.items():
        found = session.invoke("color_grounding", {"color": word, "candidates": list(ids.values())})
        assert found.ok, found
        ranked = found.data["ranked"]
        assert ranked[0]["object_id"] == ids[name], (word, ranked)
        assert [row["distance"] for row in ranked] == sorted(row["distance"] for row in ranked)
        assert sum(row["confidence"] for row in ranked) == pytest.approx(1.0, abs=0.01)
    assert not session.invoke("color_grounding", {"color": "fast", "candidates": [ids["star"]]}).ok
    assert session.invoke("color_grounding", {"color": "red", "candidates": ["ghost_9"]}).code == "unknown_object"
