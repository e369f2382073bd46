"""Recorded frames against their labels: what is counted, and a folder from end to end."""

import cv2
import numpy as np
import pytest

from deskhand.bench.frames import lccp
from deskhand.bench.frames.measure import compare, total
from deskhand.bench.frames.methods import make_method
from deskhand.bench.frames.run import Options, run
from deskhand.errors import DeskhandError

FOCAL, WIDTH, HEIGHT = 300.0, 320, 240


def labels_of(*boxes):
    picture = np.ones((60, 80), np.int32)
    for number, (top, left, bottom, right) in enumerate(boxes, start=2):
        picture[top:bottom, left:right] = number
    return picture


def test_a_perfect_answer_and_one_that_merges_and_one_that_splits():
    truth, everywhere = labels_of((5, 5, 25, 25), (5, 40, 25, 60)), np.ones((60, 80), bool)
    perfect = total([compare(np.where(truth > 1, truth, 0), truth, everywhere)])
    assert (perfect["f1_50"], perfect["f1_75"], perfect["weighted_overlap"], perfect["over_segmentation"]) == (1.0, 1.0, 1.0, 0.0)
    merged = total([compare((truth > 1).astype(np.int32), truth, everywhere)])
    assert (merged["recall_50"], merged["under_segmentation"], merged["over_segmentation"]) == (0.0, 1.0, 0.0)
    halves = np.where(truth > 1, truth, 0)
    halves[5:9, 5:25] = 9
    split = total([compare(halves, truth, everywhere)])
    assert (split["recall_50"], split["precision_50"], split["over_segmentation"]) == (1.0, round(2 / 3, 4), round(80 / 800, 4))


def test_what_lies_mostly_outside_of_the_region_does_not_count():
    truth, inside = labels_of((5, 5, 25, 25), (5, 40, 25, 60)), np.zeros((60, 80), bool)
    inside[:, :35] = True
    score = compare(np.where(truth > 1, truth, 0), truth, inside)
    assert (score.objects, score.segments) == (1, 1)


def write_frame(folder, labelled=True):
    """A table seen from 45 degrees above, and a box of 60 x 60 x 50 mm on it."""
    v, u = np.mgrid[0:HEIGHT, 0:WIDTH]
    rays = np.stack([(u - WIDTH / 2) / FOCAL, (v - HEIGHT / 2) / FOCAL, np.ones(u.shape)], axis=-1)
    c = np.sqrt(0.5)
    world = rays @ np.array([[1, 0, 0], [0, -c, c], [0, -c, -c]]).T
    eye, half = np.array([0, -0.5, 0.5]), np.array([0.03, 0.03, 0.025])
    with np.errstate(divide="ignore"):
        one, other = (-half - (eye - [0, 0, 0.025])) / world, (half - (eye - [0, 0, 0.025])) / world
        ground = np.where(world[..., 2] < 0, -eye[2] / world[..., 2], np.inf)
    near, far = np.minimum(one, other).max(axis=-1), np.maximum(one, other).min(axis=-1)
    box = np.where((near < far) & (near > 0), near, np.inf)
    depth = np.minimum(ground, box)
    depth[~(depth < 1.0)] = 0
    for name in ("color", "depth", "seg"):
        (folder / name).mkdir()
    (folder / "camera.yaml").write_text(f"width: {WIDTH}\nheight: {HEIGHT}\nfx: {FOCAL}\nfy: {FOCAL}\ncx: {WIDTH / 2}\ncy: {HEIGHT / 2}\n")
    color = np.where((box < ground)[..., None], (40, 40, 190), (190, 200, 205)).astype(np.uint8)
    cv2.imwrite(str(folder / "color/7.png"), color)
    cv2.imwrite(str(folder / "depth/7.png"), np.rint(1000 * depth).astype(np.uint16))
    if labelled:
        cv2.imwrite(str(folder / "seg/7.png"), np.where(depth > 0, np.where(box < ground, 2, 1), 0).astype(np.uint8))


@pytest.mark.parametrize("method", ["deskhand", "euclidean"])
def test_a_labelled_folder_is_measured_and_drawn(tmp_path, method):
    write_frame(tmp_path)
    result = run(Options(tmp_path, method, tmp_path / "drawn"), lambda text: None)
    assert (result["frames"], result["objects"], result["f1_50"], result["f1_75"]) == (1, 1, 1.0, 1.0)
    picture = cv2.imread(str(tmp_path / "drawn/7.png"))
    assert picture.shape == (HEIGHT, 2 * WIDTH, 3)


def test_without_labels_the_segments_are_counted(tmp_path):
    write_frame(tmp_path, labelled=False)
    result = run(Options(tmp_path), lambda text: None)
    assert result["segments"] == 1 and "f1_50" not in result


def test_a_method_that_is_missing_says_what_to_install(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    with pytest.raises(DeskhandError, match="libpcl-dev") as error:
        lccp.compiled()
    assert error.value.code == "missing_dependency"
    with pytest.raises(DeskhandError, match="deskhand, euclidean, lccp"):
        make_method("magic")
