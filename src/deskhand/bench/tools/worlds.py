"""Desks that scenarios stand on. A world is a function that draws one; each scenario that names it gets one that is drawn alike."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from deskhand.bench.tools.drawing import Random, can_slide, drawn
from deskhand.errors import DeskhandError
from deskhand.geometry import make_transform, rotation_rpy
from deskhand.sim.camera import mounted
from deskhand.sim.fixtures.pegs import pegs_of
from deskhand.sim.fixtures.spec import RGB, FixtureSpec, Recess
from deskhand.sim.spec import ObjectSpec, StainSpec, WorldSpec, pose_at

Rgb = tuple[float, float, float]
RED, GREEN, BLUE, YELLOW = (0.8, 0.1, 0.1), (0.1, 0.55, 0.15), (0.1, 0.2, 0.75), (0.9, 0.75, 0.1)
WHITE, BLACK, BROWN, ORANGE = (0.9, 0.9, 0.9), (0.06, 0.06, 0.06), (0.45, 0.28, 0.12), (0.92, 0.42, 0.05)
DENSITY = 500.0  # [kg/m3]
EDGE = 0.035  # [m] of a block
PLACES = 200  # at which a stain is tried to be
FREE = 0.13  # [m] of its middle to the middles of objects


def block(name: str, x: float, y: float, rgb: Rgb, edge: float = EDGE, bottom: float = 0.0, yaw: float = 0.0) -> ObjectSpec:
    """A cube of ``edge`` [m], its lower side at height ``bottom`` [m]."""
    return ObjectSpec(name, "block", (edge, edge, edge), rgb, DENSITY * edge**3, pose_at(x, y, bottom + edge / 2, yaw))


def upright(kind: str, name: str, size: tuple[float, float, float], x: float, y: float, rgb: Rgb, yaw: float = 0.0, bottom: float = 0.0) -> ObjectSpec:
    """A box, can, cup or the like that stands with its lower side at height ``bottom`` [m]."""
    mass = DENSITY * size[0] * size[1] * size[2] * (0.3 if kind in ("cup", "bin") else 0.7)
    return ObjectSpec(name, kind, size, rgb, mass, pose_at(x, y, bottom + size[2] / 2, yaw))


def lying(name: str, x: float, y: float, length: float, rgb: Rgb, diameter: float = 0.0088, yaw: float = 0.0) -> ObjectSpec:
    """A pen of ``length`` [m] on the table, along ``yaw`` [rad]."""
    pose = make_transform(rotation_rpy(0.0, np.pi / 2, yaw), (x, y, diameter / 2))
    return ObjectSpec(name, "pen", (diameter, diameter, length), rgb, 0.012, pose)


def bin_at(x: float, y: float, yaw: float = 0.0) -> ObjectSpec:
    """A dark bin, open at the top."""
    size = (0.17, 0.14, 0.07)
    return ObjectSpec("bin", "bin", size, BLACK, 0.2, pose_at(x, y, size[2] / 2, yaw), wall=0.004)


def objects(random: Random) -> WorldSpec:
    """Six well separated objects and a bin; names: red, green, blue (blocks), can, box, cup, bin. The blocks and the can have room to slide 9 cm some way."""
    world = WorldSpec(
        (
            block("red", 0.00, 0.10, RED),
            block("green", 0.08, -0.05, GREEN),
            block("blue", -0.06, -0.12, BLUE),
            upright("can", "can", (0.05, 0.05, 0.08), 0.10, 0.06, YELLOW),
            upright("box", "box", (0.09, 0.05, 0.04), -0.08, 0.02, ORANGE),
            upright("cup", "cup", (0.07, 0.07, 0.08), 0.14, -0.14, WHITE),
            bin_at(0.03, 0.30),
        )
    )
    for _ in range(50):
        made = drawn(random, world)
        if all(can_slide(made, name, 0.09) for name in ("red", "green", "blue", "can")):
            return made
    raise DeskhandError("invalid_input", "no layout was found in which the blocks and the can have room to move.")


def bare(random: Random) -> WorldSpec:
    """A desk with nothing on it."""
    return WorldSpec(())


def rolling(random: Random) -> WorldSpec:
    """A ball that can roll along y, to the right, a block far from its way and a can at its end; names: ball, block, can."""
    lane, start, end = random.uniform(-0.05, 0.05), random.uniform(0.17, 0.22), random.uniform(-0.27, -0.23)
    ball = ObjectSpec("ball", "ball", (0.04, 0.04, 0.04), RED, 0.03, pose_at(lane, start, 0.021))
    far = block("block", lane + 0.15, random.uniform(-0.12, 0.1), GREEN, yaw=random.uniform(-1.5, 1.5))
    return WorldSpec((ball, far, upright("can", "can", (0.06, 0.06, 0.09), lane, end, WHITE)))


def beside(random: Random) -> WorldSpec:
    """A block, a can and, outside of the desk, what has the size and colour of a person's forearm; names: block, can, arm."""
    arm = ObjectSpec("arm", "box", (0.07, 0.5, 0.06), (0.78, 0.57, 0.44), 1.0, pose_at(0.0, 3.0, 0.0))
    return drawn(random, WorldSpec((block("block", 0.05, -0.1, GREEN), upright("can", "can", (0.06, 0.06, 0.09), 0.0, 0.05, WHITE), arm)))


def stained(random: Random) -> WorldSpec:
    """A block, a can, and a stain as long as a finger at a free place; names: block, can, stain."""
    world = drawn(random, WorldSpec((block("block", 0.05, -0.1, GREEN), upright("can", "can", (0.06, 0.06, 0.09), 0.0, 0.05, WHITE))))
    taken = [item.pose[:2, 3] for item in world.objects]
    for _ in range(PLACES):
        middle, yaw = random.uniform((-0.10, -0.18), (0.14, 0.18)), random.uniform(0.0, np.pi)
        if all(np.linalg.norm(middle - place) > FREE for place in taken):
            break
    along, across = 0.05 * np.array([np.cos(yaw), np.sin(yaw)]), 0.02 * np.array([-np.sin(yaw), np.cos(yaw)])
    outline = middle + np.array([along + across, across - along, -along - across, along - across])
    return replace(world, stains=(StainSpec("stain", outline, (0.25, 0.12, 0.05)),))


def two_pens(random: Random) -> WorldSpec:
    """Two pens against each other, lengthwise; names: pen, other."""
    world = WorldSpec((lying("pen", 0.02, 0.05, 0.12, RED, yaw=0.9), lying("other", 0.0127, 0.0558, 0.13, YELLOW, yaw=0.9)))
    return drawn(random, world, [("pen", "other")])


def behind(random: Random) -> WorldSpec:
    """A low block half behind a tall box, seen from the camera; and a can apart. Names: block, tall, can."""
    world = WorldSpec(
        (
            block("block", -0.02, 0.03, RED),
            upright("box", "tall", (0.05, 0.09, 0.10), 0.08, 0.02, ORANGE),
            upright("can", "can", (0.05, 0.05, 0.08), -0.02, -0.18, YELLOW),
        )
    )
    return drawn(random, world, [("block", "tall")], turn=0.1, facing=True)


def behind_from_the_wrist(random: Random) -> WorldSpec:
    """The same, with the camera on the arm."""
    return replace(behind(random), camera=mounted("wrist"))


def stacked(random: Random) -> WorldSpec:
    """Two blocks on each other, a third, a box with its short side up, and a bin. Names: low, high, third, box, bin."""
    world = WorldSpec(
        (
            block("low", 0.02, 0.02, RED),
            block("high", 0.02, 0.02, BLUE, bottom=EDGE),
            block("third", 0.05, -0.12, GREEN),
            upright("box", "box", (0.05, 0.04, 0.03), -0.06, 0.12, ORANGE),
            bin_at(0.03, 0.30),
        )
    )
    return drawn(random, world, [("low", "high")], sizes=False)


def alike(random: Random) -> WorldSpec:
    """Two red blocks of one size, a smaller blue one, and a can. Names: left, right, small, can; left is left of right."""
    world = WorldSpec(
        (
            block("left", 0.02, 0.14, RED),
            block("right", 0.04, -0.12, RED),
            block("small", 0.12, 0.02, BLUE, edge=0.025),
            upright("can", "can", (0.05, 0.05, 0.08), -0.06, 0.02, YELLOW),
        )
    )
    made = drawn(random, world, sizes=False)
    left, right, *others = made.objects
    if left.pose[1, 3] < right.pose[1, 3]:
        left, right = replace(left, pose=right.pose), replace(right, pose=left.pose)
    return replace(made, objects=(left, right, *others))


def scales(random: Random) -> WorldSpec:
    """A balance with a block on each pan, the left one heavier, and a block beside; names: left, right, spare."""
    blocks = (
        block("left", 0.12, 0.11, RED, 0.03, bottom=0.0715),
        block("right", 0.12, -0.130, BLUE, 0.03, bottom=0.0715),
        block("spare", -0.05, 0.18, YELLOW, 0.03),
    )
    masses = {"left": random.uniform(0.026, 0.032), "right": random.uniform(0.016, 0.022), "spare": random.uniform(0.012, 0.018)}
    balance = FixtureSpec("balance", "balance", (0.09, 0.31, 0.07), BROWN, pose_at(0.12, 0.0, 0.0), apart=0.22)
    made = drawn(random, WorldSpec(blocks, fixtures=(balance,)), [("left", "right", "balance")], sizes=False)
    return replace(made, objects=tuple(replace(item, mass=masses[item.name]) for item in made.objects))


SORTER_HOLES = (("star", (1.0, 0.951), (-0.03, -0.05)), ("circle", (1.0, 1.0), (-0.03, 0.05)), ("square", (1.0, 1.0), (0.03, 0.0)))
"""Outline, its size over the width of the pieces, its place on the board."""


def sorter(random: Random) -> WorldSpec:
    """A shape sorter with three holes, and a cube and a disc of 29 mm that go through two of them; the pieces lie where the seed says."""
    width = 0.030
    holes = tuple(Recess(name, (width * of[0], width * of[1]), at) for name, of, at in SORTER_HOLES)
    box = FixtureSpec("sorter", "shape_sorter", (0.12, 0.15, 0.06), BROWN, pose_at(-0.01, -0.21, 0.0, 0.1), recesses=holes, clearance=0.003)
    disc = ObjectSpec("disc", "mesh", (0.029, 0.029, 0.03), GREEN, 0.02, pose_at(0.06, 0.12, 0.015), shape="disc_prism")
    return drawn(random, WorldSpec((block("cube", 0.0, 0.05, RED, 0.029), disc), fixtures=(box,)), [("sorter",)], sizes=False)


def pegs(random: Random) -> WorldSpec:
    """A stand with three pegs, two rings on the first and one on the last; the seed draws its place and turn; names: large, small, other."""
    place = pose_at(random.uniform(-0.02, 0.02), random.uniform(-0.03, 0.03), 0.0, random.uniform(-0.3, 0.3))
    stand = FixtureSpec("stand", "peg_stand", (0.09, 0.26, 0.012), BROWN, place, peg=(0.008, 0.036))
    feet = pegs_of(stand)
    rings = [
        ObjectSpec(name, "mesh", (wide, wide, 0.012), rgb, 0.015, feet[peg] @ pose_at(0.0, 0.0, 0.0065 + 0.0125 * level), shape="peg_ring")
        for name, wide, rgb, peg, level in (("large", 0.042, RED, 0, 0), ("small", 0.03, BLUE, 0, 1), ("other", 0.036, GREEN, 2, 0))
    ]
    return WorldSpec(tuple(rings), fixtures=(stand,))


def _turned(random: Random, name: str, kind: str, size: tuple[float, float, float], rgb: RGB, x: float, y: float, yaw: float) -> FixtureSpec:
    """A fixture whose size, place and turn the seed changes a little."""
    size = (size[0] * random.uniform(0.95, 1.1), size[1] * random.uniform(0.95, 1.1), size[2] * random.uniform(0.95, 1.1))
    place = pose_at(x + random.uniform(-0.015, 0.015), y + random.uniform(-0.02, 0.02), 0.0, yaw + random.uniform(-0.2, 0.2))
    return FixtureSpec(name, kind, size, rgb, place)


def furniture(random: Random) -> WorldSpec:
    """A drawer whose front is on the robot's far side, a box with a hinged lid, a knob; names: drawer, lid_box, knob."""
    return WorldSpec(
        (),
        fixtures=(
            _turned(random, "drawer", "drawer", (0.14, 0.14, 0.075), BROWN, -0.09, 0.16, np.pi),
            _turned(random, "lid_box", "lid_box", (0.11, 0.13, 0.065), BLUE, -0.09, -0.17, 0.0),
            _turned(random, "knob", "knob", (0.09, 0.09, 0.04), YELLOW, 0.09, -0.02, 0.3),
        ),
    )


def open_furniture(random: Random) -> WorldSpec:
    """A drawer that stands open towards the robot's far side, a box whose lid stands open, and a block beside; names: drawer, lid_box, block."""
    drawer = _turned(random, "drawer", "drawer", (0.15, 0.14, 0.075), BROWN, -0.10, 0.16, np.pi)
    lid_box = _turned(random, "lid_box", "lid_box", (0.11, 0.13, 0.065), BLUE, -0.09, -0.17, 0.0)
    opened = (replace(drawer, opened=0.62 * drawer.size[0]), replace(lid_box, opened=1.9))
    red = block("block", 0.11 + random.uniform(-0.02, 0.02), 0.0 + random.uniform(-0.02, 0.02), RED, 0.03, yaw=random.uniform(-1.5, 1.5))
    return WorldSpec((red,), fixtures=opened)


def plates_and_blocks(random: Random) -> WorldSpec:
    """Three plates side by side, the lightest, the middle and the darkest brown, and three blocks: red, green, blue."""
    x, y, yaw = random.uniform(-0.02, 0.04), random.uniform(-0.03, 0.03), random.uniform(-1.2, 1.2)
    browns = ((0.78, 0.60, 0.42), (0.54, 0.35, 0.20), (0.30, 0.18, 0.10))
    base = pose_at(x, y, 0.0, yaw)
    plates = tuple(
        FixtureSpec(f"plate_{number}", "stand", (0.044, 0.044, 0.004), rgb, base @ pose_at(0.0, 0.044 * (number - 1), 0.0)) for number, rgb in enumerate(browns)
    )
    side = random.choice([-1.0, 1.0])
    blocks = (
        block("red", x, y + 0.17, RED, 0.032),
        block("green", x + 0.02, y - 0.17, GREEN, 0.032),
        block("blue", x - 0.06, y + 0.18 * side + 0.05, BLUE, 0.032),
    )
    return WorldSpec(blocks, fixtures=plates)
