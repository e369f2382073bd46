"""What is drawn and written: shapes of objects and of the arm, escaped text, whose connections are taken."""

import html
import re
from dataclasses import replace

import numpy as np
import pytest

from deskhand.arms.config import load_arm
from deskhand.arms.model import RobotModel
from deskhand.geometry import make_transform, rotation_rpy, transform_points
from deskhand.types import SafetyStatus, SceneObject, Trajectory
from deskhand.view import markup
from deskhand.view.moment import DONE, FAILED, Moment, Question, Row, Task, Waiting
from deskhand.view.origin import is_own

INJECTION = "<script>alert(1)</script><img src=x onerror='fetch(`/x`)'>"


def an_object(**changes):
    plain = SceneObject("block_1", "block", "red", "box", np.array([0.04, 0.05, 0.06]), make_transform(translation=[0.1, 0.2, 0.03]), np.zeros((0, 3)), 1.0)
    return replace(plain, **changes)


def corners(item):
    """Lowest and highest corner of what is drawn, in the object's frame."""
    pytest.importorskip("trimesh", reason="the page's shapes need trimesh (extra: view)")
    from deskhand.view.body import mesh_of
    from deskhand.view.desk import shapes_of

    points = np.vstack([mesh_of(shape, (0, 0, 0)).vertices for shape in shapes_of(item)])
    return points.min(axis=0), points.max(axis=0)


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"is_container": True, "wall": 0.004, "size": np.array([0.2, 0.15, 0.06])},
        {"shape": "cylinder", "size": np.array([0.05, 0.05, 0.11])},
        {"shape": "cylinder", "size": np.array([0.14, 0.012, 0.012])},
        {"shape": "cylinder", "size": np.array([0.012, 0.14, 0.012])},
        {"shape": "sphere", "size": np.array([0.05, 0.05, 0.05])},
    ],
)
def test_what_is_drawn_of_an_object_fills_its_oriented_box(changes):
    item = an_object(**changes)
    low, high = corners(item)
    assert np.allclose(high - low, item.size, atol=1e-3) and np.allclose(high + low, 0.0, atol=1e-3)


@pytest.mark.parametrize("name", ["wx250s", "jetarm"])
def test_the_arm_is_drawn_where_its_links_are(name):
    pytest.importorskip("trimesh", reason="the page's shapes need trimesh (extra: view)")
    from deskhand.view.body import body_of, mesh_of

    model = RobotModel.load(load_arm(name))
    body = body_of(model)
    assert set(model.shapes) <= set(body)
    for link, shapes in model.shapes.items():  # what these arms show is what they collide with
        drawn = np.vstack([mesh.vertices for mesh in body[link]])
        solid = np.vstack([mesh_of(shape, (0, 0, 0)).vertices for shape in shapes])
        assert np.allclose(drawn.min(axis=0), solid.min(axis=0), atol=2e-3) and np.allclose(drawn.max(axis=0), solid.max(axis=0), atol=2e-3)
    for meshes in body.values():
        assert all(mesh.faces.max() < len(mesh.vertices) for mesh in meshes)


def test_the_previewed_path_is_that_of_the_tcp():
    from deskhand.view.desk import path_of

    model = RobotModel.load("wx250s")
    home = model.arm_joints(model.arm.named_poses["home"])
    ends = np.array([list(home.values()), [0.5, *list(home.values())[1:]]])
    zeros = np.zeros((2, len(home)))
    path = path_of(model, Trajectory(tuple(home), np.array([0.0, 2.0]), ends, zeros, zeros), {"left_finger": 0.02})
    assert np.allclose(path[0], model.tcp_pose(home)[:3, 3]) and np.allclose(path[-1], model.tcp_pose({**home, "waist": 0.5})[:3, 3])
    base = model.arm.world_T_base[:3, 3]
    radii = np.linalg.norm(path[:, :2] - base[:2], axis=1)
    assert np.ptp(radii) < 1e-6, "only the waist turns"


def test_words_of_models_tools_and_objects_are_never_markup():
    row = Row(INJECTION, {"object_id": INJECTION, "more": [INJECTION]}, caller=INJECTION, why=INJECTION, state=FAILED, code=INJECTION, message=INJECTION)
    moment = Moment(
        rows=(row, replace(row, state="runs", progress=INJECTION)),
        waiting=(Waiting(INJECTION, INJECTION, {"a": INJECTION}, INJECTION, INJECTION),),
        task=Task(INJECTION, False, False, INJECTION, INJECTION),
        question=Question(INJECTION, (INJECTION,)),
        safety=SafetyStatus(True, INJECTION, INJECTION),
    )
    texts = [markup.status(moment), markup.status(replace(moment, safety=None)), markup.task(moment), markup.question(moment)]
    texts += [markup.steps(moment.rows), markup.request(moment.waiting[0])]
    for text in texts:
        assert "alert(1)" in html.unescape(text), "it is shown"
        assert not re.search(r"<\s*(script|img)", text)


def test_the_step_list_is_short_and_newest_first():
    rows = [Row("pick", {"object_id": f"block_{number}"}, state=DONE, seconds=1.0) for number in range(150)]
    text = markup.steps(rows)
    assert text.index("block_149") < text.index("block_148") and "block_10<" not in text and "and 90 earlier ones" in text
    assert len(markup.steps([Row("say", {"text": "word " * 5000}, why="why " * 5000)])) < 2500


def test_the_status_names_the_worst_first():
    stopped = Moment(safety=SafetyStatus(True, "watchdog", "node sim is dead"), paused=True, waiting=(Waiting("r", "pick", {}),))
    assert "node sim is dead" in markup.status(stopped)
    assert "pick" in markup.status(replace(stopped, safety=None)) and "paused" in markup.status(replace(stopped, safety=None))
    assert "paused" in markup.status(Moment(paused=True, task=Task("x", True))) and "works" in markup.status(Moment(task=Task("x", True)))


@pytest.mark.parametrize(
    ("origin", "host", "own"),
    [
        (None, "127.0.0.1:8080", True),
        ("http://127.0.0.1:8080", "127.0.0.1:8080", True),
        ("http://localhost:8080", "localhost:8080", True),
        ("http://[::1]:8080", "[::1]:8080", True),
        ("http://127.0.0.1:5000", "127.0.0.1:8080", False),
        ("https://example.org", "127.0.0.1:8080", False),
        ("http://example.org:8080", "example.org:8080", False),
        ("http://localhost.example.org:8080", "localhost.example.org:8080", False),
        ("null", "127.0.0.1:8080", False),
        ("", "127.0.0.1:8080", False),
        ("http://127.0.0.1:8080", None, False),
    ],
)
def test_only_pages_that_the_server_gave_out_may_talk_to_it(origin, host, own):
    assert is_own(origin, host) is own


def test_points_of_a_turned_object_are_placed_by_its_pose():
    from deskhand.view.desk import _edges

    item = an_object(pose=make_transform(rotation_rpy(0.0, 0.0, 0.7), [0.1, 0.2, 0.03]))
    local = transform_points(np.linalg.inv(item.pose), _edges(item).reshape(-1, 3))
    assert np.allclose(np.abs(local), item.size / 2 + 0.004)
