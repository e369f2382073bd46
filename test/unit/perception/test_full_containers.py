"""Containers that are heaped full are still known by a look that knew them before; those that are gone are gone."""

from dataclasses import dataclass, replace

import numpy as np
import pytest
from cast import Bowl, cast

from deskhand.perception.containers.containers import _is_inside
from deskhand.perception.containers.hollow import Hollow
from deskhand.perception.footprint import rectangle
from deskhand.perception.pipeline import Perception
from deskhand.perception.segment.segmentation import Segment
from deskhand.sim.camera import RgbdRenderer
from deskhand.sim.simulation import Simulation
from deskhand.sim.spec import CONTAINER_KINDS
from deskhand.tasks.clutter import cluttered_desk


def look(perception, world, settle=0.0):
    simulation = Simulation(world)
    simulation.step(settle)
    with RgbdRenderer(simulation) as renderer:
        scene = perception.detect(renderer.render(), simulation.built.robot, simulation.joint_state())
    return [item for item in scene.objects if item.is_container], scene


def desk(seed):
    """Thirteen objects heaped in one container, and the same container alone."""
    full = cluttered_desk("wx250s", seed, 13, containers=1, filled=1.0)
    return full, replace(full, objects=tuple(item for item in full.objects if item.kind in CONTAINER_KINDS))


@pytest.mark.parametrize("seed", [pytest.param(0, marks=pytest.mark.long), 19, 23])
def test_a_heap_hides_no_container_that_was_seen_before(seed):
    full, empty = desk(seed)
    alone = look(Perception(), full, 1.0)[0]
    perception = Perception()
    (before,), _ = look(perception, empty)
    (after,), scene = look(perception, full, 1.0)
    assert after.id == before.id
    # 2 mm for what is seen, and 2 for the heap, which pushes it while it settles, by how much differs between releases of MuJoCo
    assert np.linalg.norm(after.position - before.position) < 0.004 and np.allclose(after.size, before.size, atol=0.002)
    inside = [item for item in scene.objects if item.support == after.id and item.relation == "in"]
    assert len(inside) >= 3, "of a heap of 13; how it settles, and so what of it is seen, differs between machines"
    if alone:  # other releases of MuJoCo and OpenCV (those beside numpy 1, or on Python 3.10) settle and see this heap otherwise
        pytest.skip("a look alone finds the rim of this heap: what was seen before makes no difference")


def test_a_container_that_was_taken_away_or_moved_is_not_seen_where_it_was():
    full, empty = desk(19)
    perception = Perception()
    look(perception, empty)
    obj = next(item for item in full.objects if item.kind not in CONTAINER_KINDS)
    alone = replace(obj, pose=obj.pose + np.array([[0, 0, 0, 0.05], [0, 0, 0, -0.2 - obj.pose[1, 3]], [0, 0, 0, 0], [0, 0, 0, 0]]))
    assert not look(perception, replace(full, objects=(alone,)), 0.5)[0]
    look(perception, empty)
    pose = empty.objects[0].pose.copy()
    pose[0, 3] += 0.09
    (moved,), _ = look(perception, replace(empty, objects=(replace(empty.objects[0], pose=pose),)))
    assert moved.position[0] == pytest.approx(pose[0, 3], abs=0.005)


@pytest.mark.parametrize("by", [0.008, 0.012])
def test_a_bowl_that_was_pushed_a_little_is_where_it_is_seen(by):
    """Its leaning wall is near to where its rim was."""
    perception = Perception()
    (before,), (after,) = ([item for item in perception.detect(cast(Bowl((x, 0.0), 0.055), noise=0.0)[0]).objects if item.is_container] for x in (0.0, by))
    assert after.id == before.id and after.position[0] - before.position[0] == pytest.approx(by, abs=0.003)


@dataclass(frozen=True)
class Saucer:
    """A low open cylinder at the origin [m]: of one colour with the bowl that stands in it."""

    radius: float = 0.07
    height: float = 0.016
    color: tuple[int, int, int] = (60, 140, 150)

    def hit(self, eye, rays):
        with np.errstate(divide="ignore", invalid="ignore"):
            rim = self._level(eye, rays, self.height, self.radius - 0.006, self.radius)
            floor = self._level(eye, rays, 0.004, 0.0, self.radius - 0.006)
        return np.minimum(rim, floor)

    def _level(self, eye, rays, height, inner, outer):
        t = (height - eye[2]) / rays[..., 2]
        away = np.hypot(eye[0] + t * rays[..., 0], eye[1] + t * rays[..., 1])
        return np.where((t > 0) & (away >= inner) & (away < outer), t, np.inf)

    def paint(self, points, random):
        return np.broadcast_to(self.color, points.shape)


def test_a_saucer_is_still_there_when_a_bowl_stands_in_it():
    perception = Perception()
    (saucer,) = [item for item in perception.detect(cast(Saucer(), noise=0.0)[0]).objects if item.is_container]
    for _ in range(2):
        after = perception.detect(cast(Saucer(), Bowl((0.0, 0.0), 0.055), noise=0.0)[0]).objects
        assert len(after) == 2 and all(item.is_container for item in after)
        low, high = sorted(after, key=lambda item: item.top)
        assert low.id == saucer.id and np.allclose(low.size[:2], 0.14, atol=0.006)
        assert np.allclose(high.size[:2], 0.11, atol=0.006)
        assert (high.relation, high.support) == ("in", saucer.id)


def piece(points, chroma=(1 / 3, 1 / 3, 1 / 3)):
    pixels = np.arange(len(points))
    return Segment(pixels, points, np.ones(len(points), bool), np.array(chroma), 100.0, pixels)


def test_the_inside_of_a_bowl_goes_round_and_rises_wherever_it_stands():
    x, y = np.random.default_rng(4).uniform(-0.04, 0.04, (2, 4000))
    x, y = x[np.hypot(x, y) < 0.04], y[np.hypot(x, y) < 0.04]
    bowl = Hollow(piece(np.zeros((1, 3))), rectangle(np.zeros(2), np.array([0.11, 0.11]), 0.0), True, 0.07, 0.003, 0.003)
    inside = piece(np.column_stack([x, y, 0.025 + 16 * (x**2 + y**2)]))
    assert _is_inside(bowl, inside)
    half = inside.points[:, 0] > 0  # the rest is hidden
    assert _is_inside(bowl, piece(inside.points[half]))
    assert not _is_inside(bowl, piece(inside.points, (0.5, 0.3, 0.2)))
    ball = np.column_stack([x, y, 0.03 + np.sqrt(0.041**2 - x**2 - y**2)])
    tilted = np.column_stack([x, y, 0.04 + 0.4 * x])
    block = np.column_stack([x, y, np.where(np.abs(x) < 0.015, 0.045, 0.025)])
    assert not any(_is_inside(bowl, piece(points)) for points in (ball, tilted, block))
