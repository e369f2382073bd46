"""What changes from picture to picture, on pictures made by formula: a plane with boxes on it, seen from above at an angle, with a stereo camera's noise."""

import numpy as np
import pytest

from deskhand.geometry import look_at
from deskhand.perception.monitor.cells import CellMonitor
from deskhand.perception.monitor.intruder import IntruderMonitor
from deskhand.perception.monitor.moves import MoveMonitor
from deskhand.perception.monitor.sample import PictureThinner
from deskhand.perception.monitor.target import TargetTracker
from deskhand.types import CameraIntrinsics, Frame

K = CameraIntrinsics(320, 240, 300.0, 300.0, 159.5, 119.5)
POSE = look_at((0.55, 0.0, 0.6), (0.03, 0.0, 0.0))
RED, GREEN = (190, 40, 40), (40, 150, 60)


def render(boxes, stamp, seed=0):
    """A frame of boxes (low corner, high corner, colour) on a grey plane z = 0."""
    v, u = np.mgrid[0 : K.height, 0 : K.width]
    rays = np.stack([(u - K.cx) / K.fx, (v - K.cy) / K.fy, np.ones(u.shape)], -1) @ POSE[:3, :3].T
    eye = POSE[:3, 3]
    depth, color = -eye[2] / np.minimum(rays[..., 2], -1e-6), np.full((*u.shape, 3), 140, np.uint8)
    for low, high, paint in boxes:
        with np.errstate(divide="ignore"):
            a, b = (np.array(low) - eye) / rays, (np.array(high) - eye) / rays
        near, far = np.minimum(a, b).max(-1), np.maximum(a, b).min(-1)
        hit = (near < far) & (near > 0) & (near < depth)
        depth[hit], color[hit] = near[hit], paint
    random = np.random.default_rng((seed, int(1000 * stamp)))
    depth = depth + random.normal(0, 0.0008 * depth**2)
    color = np.clip(color + random.normal(0, 3, color.shape), 0, 255).astype(np.uint8)
    return Frame(color, depth.astype(np.float32), K, POSE, stamp)


def block(x, y, paint=RED, edge=0.04, bottom=0.0):
    return (x - edge / 2, y - edge / 2, bottom), (x + edge / 2, y + edge / 2, bottom + edge), paint


def samples(scenes):
    frames = [render(boxes, 0.1 * number) for number, boxes in enumerate(scenes)]
    sampler = PictureThinner(frames[0])
    return [sampler.take(frame) for frame in frames], sampler


def mask_of(sample, paint):
    return (np.linalg.norm(sample.chroma - (np.array(paint) + 8) / (sum(paint) + 24), axis=-1) < 0.05) & np.isfinite(sample.depth)


def events(scenes, paints=(RED, GREEN)):
    seen, _ = samples(scenes)
    monitor = MoveMonitor(seen[0], {f"block_{number}": mask_of(seen[0], paint) for number, paint in enumerate(paints)})
    return [(number, move) for number, sample in enumerate(seen[1:], 1) for move in monitor.update(sample)]


STILL = [block(0.0, 0.1), block(0.05, -0.1, GREEN)]


def test_nothing_is_told_of_a_desk_on_which_nothing_moves():
    assert events([STILL] * 30) == []


@pytest.mark.parametrize("by", [(0.03, 0.0), (-0.1, 0.05), (0.0, 0.2), (0.0, -0.025)])
def test_a_moved_object_is_told_in_its_second_picture_with_its_new_place(by):
    found = events([STILL] * 3 + [[block(by[0], 0.1 + by[1]), STILL[1]]] * 6)
    assert [(number, move.kind, move.object_id) for number, move in found] == [(4, "moved", "block_0")]
    move = found[0][1]
    assert (move.after - move.before)[:2] == pytest.approx(by, abs=0.012)


def test_what_is_taken_away_and_what_is_put_down_are_told():
    found = events([STILL] * 2 + [STILL[:1]] * 4 + [[STILL[0], block(-0.1, -0.1, (220, 200, 60))]] * 4)
    assert [(move.kind, move.object_id) for _, move in found] == [("taken", "block_1"), ("appeared", "")]
    assert found[1][1].after[:2] == pytest.approx((-0.1, -0.1), abs=0.03)


def test_what_is_put_before_an_object_does_not_move_it():
    found = events([STILL] * 2 + [[*STILL, block(0.1, 0.1, (90, 90, 200), 0.06)]] * 5)
    assert [move.kind for _, move in found] == ["appeared"]


def test_an_arm_that_reaches_in_is_a_person_and_an_object_on_the_desk_is_not():
    arm = ((-0.05, 0.05, 0.1), (0.03, 0.9, 0.17), (200, 150, 120))
    seen, sampler = samples([STILL] * 2 + [[*STILL, block(0.1, 0.0, GREEN, 0.07)]] * 3 + [[*STILL, arm]] * 3 + [STILL] * 3)
    monitor = IntruderMonitor(seen[0], sampler.fit.table)
    tcp = np.array([0.0, 0.0, 0.13])
    told = [(number, monitor.present is not None) for number, sample in enumerate(seen[1:], 1) if monitor.update(sample, tcp)]
    assert told == [(6, True), (9, False)]


def test_the_nearest_point_of_a_person_is_told():
    arm = ((-0.05, 0.05, 0.1), (0.03, 0.9, 0.17), (200, 150, 120))
    seen, sampler = samples([STILL] * 2 + [[*STILL, arm]] * 3)
    monitor, tcp = IntruderMonitor(seen[0], sampler.fit.table), np.array([0.0, 0.0, 0.13])
    for sample in seen[1:]:
        monitor.update(sample, tcp)
    assert monitor.present is not None and monitor.present.distance == pytest.approx(0.05, abs=0.02)


def test_a_target_is_followed_lost_and_found_again():
    way = [[block(0.0, 0.1 - 0.02 * step), STILL[1]] for step in range(6)]
    seen, _ = samples([*way, *[STILL[1:]] * 2, *[[block(-0.1, 0.15), STILL[1]]] * 2])
    tracker = TargetTracker(seen[0], mask_of(seen[0], RED))
    start = tracker.now.center
    told = [tracker.update(sample) for sample in seen[1:]]
    for step in range(5):
        assert told[step].center[:2] - start[:2] == pytest.approx((0.0, -0.02 * (step + 1)), abs=0.006)
    assert [one.lost for one in told] == [False] * 5 + [True] * 2 + [False] * 2
    assert told[-1].center[:2] - start[:2] == pytest.approx((-0.1, 0.05), abs=0.01)


def test_cells_become_occupied_and_free_again():
    seen, _sampler = samples([STILL[1:]] * 2 + [STILL] * 3 + [STILL[1:]] * 3)
    monitor = CellMonitor((-0.06, 0.04, 0.005), (0.06, 0.16, 0.06), 0.02)
    counts = []
    for sample in seen:
        monitor.update(sample, POSE[:3, 3])
        counts.append(int(monitor.occupied.sum()))
    assert counts[:3] == [0, 0, 0] and counts[3] >= 5 and counts[4] >= counts[3] and counts[-1] == 0
