import json
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

import numpy as np
import pytest

from deskhand.arms.config import load_arm
from deskhand.bench.grasp.fit import calibration, fit, write
from deskhand.bench.grasp.report import interval, summarise
from deskhand.errors import DeskhandError
from deskhand.geometry import rotation_rpy
from deskhand.grasping.features import NAMES
from deskhand.grasping.generator import GraspGenerator
from deskhand.grasping.remote import RemoteGraspGenerator, make_generator
from deskhand.grasping.success import load_success_model
from deskhand.testing.desk_scene import desk, one_of_each
from deskhand.testing.desk_scene import scene_object as an_object

ARM = load_arm("wx250s")
DOWN = np.diag([1.0, -1.0, -1.0])


# ---------------------------------------------------------------- probability


def test_scores_are_the_probability_of_the_features():
    scene = desk(*one_of_each())
    generator = GraspGenerator(ARM)
    for grasp in generator.generate(scene, "block_1", 5):
        features = generator.features(scene, grasp)
        assert grasp.score == pytest.approx(load_success_model().probability(features[None])[0], abs=0.02)
        assert 0 < grasp.score < 1 and 0 < grasp.force <= ARM.gripper.force_max


def test_a_fit_finds_the_weights_that_made_the_outcomes(tmp_path):
    rng = np.random.default_rng(0)
    features = rng.uniform(0, 1, (4000, len(NAMES)))
    true = np.zeros(len(NAMES))
    true[[1, 3]] = 3.0, 2.0
    probability = 1 / (1 + np.exp(-(3.0 - features @ true)))
    outcomes = (rng.random(4000) < probability).astype(float)
    write(fit(features, outcomes), tmp_path / "model.yaml", "made up")
    model = load_success_model(tmp_path / "model.yaml")
    assert model.weights[1] == pytest.approx(3.0, abs=0.6) and model.weights[3] == pytest.approx(2.0, abs=0.6)
    assert np.all(model.weights >= 0)
    numbers = calibration(model.probability(features), outcomes)
    assert numbers["brier"] < numbers["brier_of_mean"]
    assert all(abs(row["predicted"] - row["success"]) < 0.1 for row in numbers["curve"] if row["picks"] > 200)


def test_hard_scenes_tell_the_weights_but_not_how_often_a_usual_pick_succeeds():
    rng = np.random.default_rng(1)
    features = rng.uniform(0, 1, (4000, len(NAMES)))
    true = np.zeros(len(NAMES))
    true[3] = 3.0
    hard = (rng.random(4000) < 0.5).astype(float)
    usual = 1 / (1 + np.exp(-(4.0 - features @ true)))
    outcomes = (rng.random(4000) < 1 / (1 + np.exp(-(4.0 - 3.0 * hard - features @ true)))).astype(float)
    model = fit(features, outcomes, hard)
    assert model.weights[3] == pytest.approx(3.0, abs=0.6)
    assert np.mean(model.probability(features)) == pytest.approx(usual.mean(), abs=0.03)
    with pytest.raises(DeskhandError, match="hard scenes"):
        fit(features, outcomes, np.ones(4000))


def test_a_fit_needs_failures_too():
    with pytest.raises(DeskhandError, match="at least 60"):
        fit(np.zeros((100, len(NAMES))), np.ones(100))


def test_a_broken_model_file_is_named(tmp_path):
    file = tmp_path / "grasping.yaml"
    file.write_text("success: {bias: 1, weights: {leans: 1}}")
    with pytest.raises(DeskhandError, match=r"grasping.yaml.*friction") as caught:
        load_success_model(file)
    assert caught.value.code == "config_error"


def test_numbers_of_a_campaign():
    def pick(success, code, predicted, tried=True):
        return {
            "seed": 1, "subject": "mug", "size": [0.1, 0.1, 0.1], "success": success, "code": code, "message": "", "tried": tried, "predicted": predicted,
            "grasp_ms": 10.0, "false_success": success is False and not code,
        }  # fmt: skip

    results = [
        {"job": {"kind": "single"}, "picks": [pick(True, "", 0.9)]},
        {"job": {"kind": "single"}, "picks": [pick(False, "", 0.8)]},
        {"job": {"kind": "clutter"}, "objects": 2, "cleared": 1, "all_ms": [20.0], "picks": [pick(True, "", 0.9), pick(False, "no_grasp", None, tried=False)]},
    ]
    summary = summarise("wx250s", results)
    assert summary["single"]["success_rate"] == 0.5 and summary["false_successes"] == 1
    assert summary["clutter"]["success_per_attempt"] == 1.0 and summary["clutter"]["cleared_rate"] == 0.5 and summary["clutter"]["not_tried"] == 1
    low, high = interval(97, 100)
    assert low == pytest.approx(0.915, abs=0.003) and high == pytest.approx(0.990, abs=0.003)


# ---------------------------------------------------------------- remote


@pytest.fixture
def predictor():
    """A server whose answer is set by the test; ``asked`` keeps the requests."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            self.server.asked.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            code, body = self.server.answer
            self.send_response(code)
            self.end_headers()
            self.wfile.write(body.encode())

        def log_message(self, *_args):
            """Quiet."""

    server = HTTPServer(("127.0.0.1", 0), Handler)
    server.asked = []
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


def at(x, y, z, yaw=0.0):
    pose = np.eye(4)
    pose[:3, :3], pose[:3, 3] = rotation_rpy(0, 0, yaw) @ DOWN, (x, y, z)
    return pose.tolist()


def generator_of(server):
    return make_generator(ARM, None, f"http://127.0.0.1:{server.server_port}/grasps")


def test_remote_grasps_pass_the_same_tests(predictor):
    block = an_object("block_1", "box", (0.03, 0.03, 0.03), (0.05, 0.0, 0.015))
    wall = an_object("box_1", "box", (0.1, 0.02, 0.03), (0.05, 0.03, 0.015), color="blue")
    good, off = at(0.05, 0, 0.015, np.pi / 2), at(0.05, 0.004, 0.015, np.pi / 2)
    blocked, below, empty = at(0.05, 0, 0.015), at(0.05, 0, 0.003, np.pi / 2), at(0.05, 0.15, 0.015)
    predictor.answer = 200, json.dumps({"grasps": [{"pose": pose, "score": 0.9} for pose in (blocked, below, empty, good, off)]})
    grasps = generator_of(predictor).generate(desk(block, wall), "block_1", 10)
    assert all(np.allclose(np.abs(grasp.pose[:3, 1]), [1, 0, 0], atol=1e-6) for grasp in grasps)  # closing towards the wall is not among them
    assert all(abs(grasp.pose[2, 3] - 0.015) < 1e-6 and abs(grasp.width - 0.03) < 0.003 for grasp in grasps) and len(grasps) == 2
    sent = predictor.asked[0]
    assert sent["object"]["id"] == "block_1" and len(sent["scene"]) > 50 and np.array(sent["completed"]).shape[1] == 3


def test_nothing_useful_is_no_grasp(predictor):
    predictor.answer = 200, '{"grasps": []}'
    with pytest.raises(DeskhandError) as caught:
        generator_of(predictor).generate(desk(an_object("block_1", "box", (0.03, 0.03, 0.03), (0, 0, 0.015))), "block_1")
    assert caught.value.code == "no_grasp"


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        ((500, "out of memory"), "500: out of memory"),
        ((200, "hello"), "JSON"),
        ((200, "[]"), "grasps"),
        ((200, '{"grasps": [{"pose": [1, 2]}]}'), r"grasps\[0\]"),
    ],
)
def test_a_broken_predictor_is_told(predictor, answer, says):
    predictor.answer = answer
    with pytest.raises(DeskhandError, match=says) as caught:
        generator_of(predictor).generate(desk(an_object("block_1", "box", (0.03, 0.03, 0.03), (0, 0, 0.015))), "block_1")
    assert caught.value.code == "model_failed"


def test_a_predictor_that_is_away_is_told_and_without_one_ours_is_used():
    remote = RemoteGraspGenerator(ARM, "http://127.0.0.1:9/", timeout=0.5)
    with pytest.raises(DeskhandError, match="cannot be asked"):
        remote.generate(desk(an_object("block_1", "box", (0.03, 0.03, 0.03), (0, 0, 0.015))), "block_1")
    with pytest.raises(DeskhandError, match="http://"):
        make_generator(ARM, None, "ftp://somewhere")
    assert type(make_generator(ARM)) is GraspGenerator
