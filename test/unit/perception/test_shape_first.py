"""What shape tells apart and what it holds together, whatever the colours: print, bowls, both sides of what stands before an object, a table's noise."""

from dataclasses import dataclass, replace

import numpy as np
import pytest
from cast import Bowl, Box, cast
from looked_at import an_object, look

from deskhand.bench.rehearsal.unit import Unit
from deskhand.geometry import make_transform, rotation_about
from deskhand.perception.pipeline import Perception
from deskhand.perception.temporal_filter import steady
from deskhand.sim.camera import RgbdRenderer
from deskhand.sim.reality.spec import RealitySpec, SurfaceReality
from deskhand.sim.simulation import Simulation
from deskhand.tasks import world_of


def overlaps(frame, labels):
    """The best overlap of each solid with an object that is found, and how many are found."""
    perception = Perception(detectors=())
    perception.detect(frame)
    found = np.zeros(labels.size, np.int32)
    for number, pixels in enumerate(perception.pixels, start=1):
        found[pixels] = number
    found = found.reshape(labels.shape)
    best = []
    for solid in range(1, labels.max() + 1):
        own = labels == solid
        best.append(max((own & (found == number)).sum() / (own | (found == number)).sum() for number in range(1, len(perception.pixels) + 1)))
    return best, len(perception.pixels)


def check(*solids, **options):
    best, count = overlaps(*cast(*solids, **options))
    assert min(best) > 0.8
    assert count == len(solids)


@dataclass(frozen=True)
class Drawer:
    """An open box at the origin: four walls and a floor, as high as a bowl of ``radius`` that stands in it [m]."""

    radius: float
    color: tuple[int, int, int] = (90, 60, 40)

    def hit(self, eye, rays):
        x, y, z, wall = 3.0 * self.radius, 4.0 * self.radius, self.radius + 0.004, 0.006
        parts = [Box((0, 0, 0), (x, y, 0.004))]
        parts += [Box((side * (x - wall) / 2, 0, 0), (wall, y, z)) for side in (-1, 1)] + [Box((0, side * (y - wall) / 2, 0), (x, wall, z)) for side in (-1, 1)]
        return np.minimum.reduce([part.hit(eye, rays) for part in parts])

    def paint(self, points, random):
        return np.broadcast_to(self.color, points.shape)


@dataclass(frozen=True)
class Raised:
    """A solid that stands ``height`` [m] above the table."""

    solid: Bowl
    height: float

    def hit(self, eye, rays):
        return self.solid.hit(eye - [0, 0, self.height], rays)

    def paint(self, points, random):
        return self.solid.paint(points, random)


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("size", [0.008, 0.03])
def test_a_printed_box_is_one_object(seed, size):
    check(Box((0, 0, 0), (0.06, 0.16, 0.2), 0.5, print=size), seed=seed)


def test_printed_boxes_that_touch_are_as_many_objects():
    check(Box((0, 0.05, 0), (0.08, 0.14, 0.16), 0.2, print=0.012), Box((-0.02, -0.10, 0), (0.1, 0.1, 0.07), 0.9, print=0.012))


def test_a_printed_box_on_another_is_two_objects():
    check(Box((0, 0, 0), (0.16, 0.22, 0.06), 0.3, print=0.012), Box((0.01, 0, 0.06), (0.09, 0.12, 0.05), 0.5, print=0.012))


@pytest.mark.parametrize("radius", [0.05, 0.08])
def test_a_bowl_is_one_object(radius):
    check(Bowl((0, 0), radius))


def test_a_bowl_of_which_a_box_hides_half_the_rim_is_one_object():
    best, count = overlaps(*cast(Bowl((0.1, 0), 0.08), Box((-0.02, 0.07, 0), (0.05, 0.14, 0.12), 0.0, print=0.012)))
    assert min(best) > 0.8 and count == 2


def test_a_slit_of_three_millimetres_between_printed_boxes_parts_them():
    check(Box((0, 0.0515, 0), (0.1, 0.1, 0.16), 0.0, print=0.012), Box((0.002, -0.0515, 0), (0.1, 0.1, 0.15), 0.0, print=0.012), distance=0.6)


def test_a_bowl_in_a_drawer_is_an_object_of_its_own():
    best, _ = overlaps(*cast(Drawer(0.055), Raised(Bowl((0.02, 0.03), 0.055), 0.004), distance=0.7))
    assert best[1] > 0.8


@pytest.mark.parametrize("x", [-0.03, -0.01])
def test_what_is_seen_below_a_bowl_and_past_it_is_not_its_floor(x):
    check(Box((x, 0, 0), (0.03, 0.04, 0.014)), Raised(Bowl((0, 0), 0.055), 0.03))


def test_a_block_in_a_bowl_is_an_object_of_its_own():
    check(Bowl((0, 0), 0.09), Box((0, 0, 0.014), (0.035, 0.035, 0.035), 0.4, (200, 60, 30)))


def test_a_printed_box_behind_a_post_is_one_object():
    check(Box((0.10, 0, 0), (0.06, 0.24, 0.12), 0.0, print=0.012), Box((-0.02, 0, 0), (0.05, 0.05, 0.22), 0.0, (40, 90, 190)))


def test_flush_blocks_of_plain_colours_are_an_object_each():
    check(*(Box((0, 0, 0.04 * n), (0.04, 0.04, 0.04), 0.4, color) for n, color in enumerate([(190, 40, 40), (40, 90, 190), (220, 190, 40)])), distance=0.6)


@pytest.mark.parametrize("seed", range(3))
def test_what_the_sensor_bends_of_a_far_table_is_no_object(seed):
    check(Box((0, 0, 0), (0.08, 0.08, 0.08), 0.3), seed=seed, distance=1.0, bend=0.006)


def test_a_camera_that_is_a_tenth_of_a_degree_off_sees_the_tray_as_open(tmp_path):
    unit = Unit("jetarm", tmp_path, 0)
    one = look(*unit.objects, camera=unit.camera("fixed"))
    rng = np.random.default_rng(0)
    for _ in range(6):
        off = make_transform(rotation_about(rng.normal(size=3), np.radians(rng.uniform(0.0, 0.3))), rng.uniform(-0.003, 0.003, 3))
        scene = replace(one, frame=replace(one.frame, world_T_camera=off @ one.frame.world_T_camera)).detect()
        assert [item.is_container for item in sorted(scene.objects, key=lambda item: item.label)] == [False, True], scene.objects


@pytest.mark.parametrize("seed", [1, 4])
def test_what_is_printed_with_little_is_one_object(seed):
    """Erasers, cans and markers whose print has too few edges to be told as print: one solid explains all of each."""
    places = {"eraser": (0.05, -0.15), "can": (-0.10, 0.12), "marker": (-0.02, 0.02), "box": (-0.08, -0.18)}
    sizes = {"eraser": (0.05, 0.02, 0.012), "can": (0.04, 0.04, 0.08), "marker": (0.016, 0.016, 0.12), "box": (0.04, 0.056, 0.026)}
    objects = [an_object(kind, "blue", sizes[kind], x, y, 0.4 * seed) for kind, (x, y) in places.items()]
    scene = look(*objects, seed=seed, reality=RealitySpec(seed, surfaces=SurfaceReality(printed=1.0))).detect()
    assert sorted(item.label for item in scene.objects) == sorted(places)


def test_blocks_of_plain_colours_in_a_row_or_on_each_other_stay_apart():
    row = [an_object("block", color, (0.03,) * 3, 0.05, 0.0302 * n - 0.1) for n, color in enumerate(("red", "blue", "yellow"))]
    tower = [an_object("block", color, (0.03,) * 3, 0.05, 0.15, z=0.0301 * n, name=f"tower {n}") for n, color in enumerate(("green", "orange"))]
    assert [item.label for item in look(*row, *tower).detect().objects] == ["block"] * 5


def test_a_printed_marker_whose_panel_parts_it_is_one_and_two_pens_end_to_end_are_two():
    marker = an_object("marker", "green", (0.017, 0.017, 0.118), -0.02, -0.03, 7.0)
    scene = look(marker, seed=14, reality=RealitySpec(14, surfaces=SurfaceReality(printed=1.0))).detect()
    assert [item.label for item in scene.objects] == ["marker"]
    pens = [an_object("pen", color, (0.01, 0.01, 0.13), 0.05, y, np.pi / 2) for color, y in (("blue", -0.066), ("red", 0.066))]
    assert [item.label for item in look(*pens).detect().objects] == ["pen", "pen"]


@pytest.mark.parametrize("seed", [4, 7])
def test_printed_markers_that_lie_against_each_other_are_two(seed):
    """No colours tell printed objects apart; that no one solid explains both, and two of usual sizes do, tells it."""
    markers = [
        an_object("marker", "purple", (0.017, 0.017, 0.128), 0.0556, 0.1609, -0.344),
        an_object("marker", "red", (0.017, 0.017, 0.126), 0.0335, 0.0915, 1.2266),
    ]
    scene = look(*markers, seed=seed, reality=RealitySpec(seed, surfaces=SurfaceReality(printed=1.0))).detect()
    assert sorted((item.label, item.color) for item in scene.objects) == [("marker", "purple"), ("marker", "red")]


def test_a_label_on_a_cup_is_a_part_of_it():
    """The strip of another colour on its wall was an eraser that no later look found."""
    simulation = Simulation(world_of("wx250s", "desk_cleaning", 422, None, "mild"))
    with RgbdRenderer(simulation) as renderer:
        frame = steady([renderer.render() for _ in range(3)])
    scene = Perception().detect(frame, simulation.built.robot, simulation.joint_state())
    truth = sorted(item.kind for item in simulation.truth().objects)
    assert sorted(item.label for item in scene.objects) == truth
