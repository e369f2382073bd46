"""Bodies that a program makes from a seed, of families that people have on desks: more to find faults on than packages hold, and nobody drew them for us.

A body is convex pieces that overlap. Families differ in how pieces meet: turned profiles, handles, limbs, studs, corners, shafts. Sizes are drawn so that the
longest side is 6 to 16 cm.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from deskhand.errors import DeskhandError
from deskhand.geometry import Array, rotation_about, rotation_rpy
from deskhand.sim.convex import bar, block, circle, lying, prism, revolved, surface_of, tube
from deskhand.sim.model_file import Part

Random = np.random.Generator
Group = list[Array]
"""Convex pieces of one colour."""
PLAIN = 0.6  # share of the bodies that have one colour
PRINTED = 0.2  # share that are printed


def made_parts(family: str, seed: int) -> tuple[list[Part], list[Array]]:
    """What is seen of a body, and its convex pieces.

    Raises:
        DeskhandError: ``invalid_input`` for an unknown family.
    """
    if family not in FAMILIES:
        raise DeskhandError("invalid_input", f"there is no family {family!r} of bodies; valid: {', '.join(FAMILIES)}.")
    random = np.random.default_rng([sum(map(ord, family)), seed])
    groups = FAMILIES[family](random)
    everything = np.vstack([piece for group in groups for piece in group])
    scale = random.uniform(0.06, 0.16) / float(np.ptp(everything, axis=0).max())
    groups = [[piece * scale for piece in group] for group in groups]
    plain, printed = random.random() < PLAIN, random.random() < PRINTED
    first = _color(random)
    colors = [first if plain or number == 0 else _color(random) for number in range(len(groups))]
    picture = _print(random) if printed else np.zeros((0, 0, 3), np.uint8)
    parts = []
    for group, color in zip(groups, colors, strict=True):
        vertices, faces = surface_of(group)
        parts.append(Part(vertices, faces, color, picture, repeat=(6.0, 6.0), uniform=True))
    return parts, [piece for group in groups for piece in group]


def _color(random: Random) -> tuple[float, float, float]:
    r, g, b = map(float, random.uniform(0.05, 0.95, 3))
    return r, g, b


def _print(random: Random) -> np.ndarray:
    """Patches of a few colours, as on a label (128, 128, 3)."""
    palette = random.integers(20, 236, (5, 3))
    return np.asarray(np.kron(palette[random.integers(0, 5, (16, 16))], np.ones((8, 8, 1))), dtype=np.uint8)


def _moved(pieces: Group, by: tuple[float, float, float], turn: Array | None = None) -> Group:
    return [piece @ (np.eye(3) if turn is None else turn).T + np.asarray(by) for piece in pieces]


def _ball(x: float, y: float, z: float) -> Array:
    """Corners of an ellipsoid with these half axes (Fibonacci's spiral)."""
    k = np.arange(90) + 0.5
    height, angle = 1 - 2 * k / 90, k * np.pi * (3 - 5**0.5)
    flat = np.sqrt(1 - height**2)
    return np.column_stack([x * flat * np.cos(angle), y * flat * np.sin(angle), z * height])


def _arc(radius: float, begin: float, end: float, thick: float, centre: tuple[float, float], squash: float = 1.0) -> Group:
    """A bar round a part of a circle in the plane of x and z."""
    angle = np.linspace(begin, end, 9)
    line = np.column_stack([centre[0] + radius * np.cos(angle), np.zeros(9), centre[1] + squash * radius * np.sin(angle)])
    return bar(line.tolist(), thick, thick, (0.0, 1.0, 0.0))


# ---------------------------------------------------------------- families


def _turned(random: Random) -> list[Group]:
    """Vases, bells, hourglasses, pawns, tops: three to six rings of changing width."""
    heights = np.cumsum(np.concatenate([[0.0], random.uniform(0.1, 0.6, int(random.integers(3, 7)))]))
    radii = random.uniform(0.15, 0.55, len(heights))
    sides = int(random.choice([6, 8, 24, 24, 24]))
    pieces = revolved(list(zip(map(float, radii), map(float, heights), strict=True)), sides)
    cut = int(random.integers(1, len(pieces)))
    return [pieces[:cut], pieces[cut:]]


def _bottle(random: Random) -> list[Group]:
    """Body, shoulder, neck and cap, round or flat."""
    body, neck, cap = random.uniform(0.25, 0.4), random.uniform(0.08, 0.15), random.uniform(0.1, 0.2)
    shoulder, length = random.uniform(0.05, 0.3), random.uniform(0.05, 0.3)
    profile = [(body, 0.0), (body, 0.8), (neck, 0.8 + shoulder), (neck, 0.8 + shoulder + length)]
    flat = np.diag([1.0, random.uniform(0.5, 1.0), 1.0])
    top = 0.8 + shoulder + length
    return [[piece @ flat for piece in revolved(profile)], revolved([(cap, top), (cap, top + random.uniform(0.06, 0.2))])]


def _handled(random: Random) -> list[Group]:
    """Cups, jugs, cases, kettles, pans: a body with a handle at its side, or over it."""
    radius, height = random.uniform(0.3, 0.5), random.uniform(0.3, 1.0)
    top = radius * random.uniform(0.7, 1.3)
    kind = int(random.integers(4))
    if kind == 0:
        body = [*tube((radius, 0.0), (top, height), 0.05), *revolved([(radius - 0.02, 0.0), (radius - 0.02, 0.05)])]
    elif kind == 1:
        body = revolved([(radius, 0.0), (top, height), (top / 2, height * 1.2)], int(random.choice([8, 24])))
    elif kind == 2:
        body = [block((2 * radius, radius * random.uniform(0.6, 2.0), height), (0, 0, height / 2))]
    else:
        body = revolved([(radius, 0.0), (top, height * 0.4)])
    wide, thick = max(radius, top), random.uniform(0.06, 0.14)
    way = int(random.integers(3))
    if way == 0:
        handle = _arc(height * random.uniform(0.25, 0.4), -np.pi / 2, np.pi / 2, thick, (min(radius, top) * 0.95, height * 0.5))
    elif way == 1:
        handle = _arc(radius * 0.8, 0.0, np.pi, thick, (0.0, height * 0.98), random.uniform(0.5, 1.2))
    else:
        handle = [block((random.uniform(0.5, 1.2), thick * 1.4, thick), (wide + 0.3, 0, height * random.uniform(0.3, 0.38)))]
    return [body, handle]


def _limbed(random: Random) -> list[Group]:
    """Plush animals and dolls: a round body with head, limbs and ears."""
    body = _ball(*random.uniform(0.3, 0.5, 3))
    head = random.uniform(0.2, 0.35)
    pieces = [body, np.add(_ball(head, head, head), (0.0, random.uniform(-0.1, 0.2), 0.35 + head * 0.8))]
    limb, size = [], random.uniform([0.08, 0.08, 0.2], [0.16, 0.16, 0.35])
    for sign in (-1, 1):
        limb += _moved([_ball(*size)], (0.36 * sign, 0.05, 0.2), rotation_rpy(random.uniform(-0.6, 0.6), sign * random.uniform(0.5, 1.6), 0.0))
        limb += _moved([_ball(*size)], (0.22 * sign, 0.1, -0.4), rotation_rpy(random.uniform(-1.4, 0.0), sign * random.uniform(0.0, 0.6), 0.0))
        pieces += [np.add(_ball(0.1, 0.05, 0.1), (sign * head * 0.8, 0.0, 0.35 + head * 1.5))] if size[0] > 0.1 else []
    return [pieces, limb]


def _studded(random: Random) -> list[Group]:
    """Bricks with studs, gears, knobs: a plain body and small ones in a row."""
    if random.random() < 0.5:
        columns, rows = (int(value) for value in random.integers(1, 5, 2))
        tall, high = random.uniform(0.3, 1.2), random.uniform(0.15, 0.3)
        studs = [np.add(prism(circle(0.3), tall, tall + high), (i + 0.5, j + 0.5, 0.0)) for i in range(columns) for j in range(rows)]
        return [[block((columns, rows, tall), (columns / 2, rows / 2, tall / 2)), *studs]]
    count, tall = int(random.integers(5, 13)), random.uniform(0.2, 0.7)
    teeth = [block((0.25, 0.2, tall * 0.9), (0.5 * np.cos(a), 0.5 * np.sin(a), tall / 2), float(a)) for a in 2 * np.pi * np.arange(count) / count]
    return [[prism(circle(0.45), 0.0, tall), *teeth], [prism(circle(random.uniform(0.1, 0.25)), tall, tall * random.uniform(1.3, 2.5))]]


def _cornered(random: Random) -> list[Group]:
    """Letters, stairs, crosses, chairs: two to four blocks at right angles."""
    pieces = [block((1.0, random.uniform(0.2, 0.5), random.uniform(0.2, 0.5)))]
    for _ in range(int(random.integers(1, 4))):
        size = random.uniform(0.15, 0.5, 3)
        size[int(random.integers(3))] = random.uniform(0.4, 0.9)
        pieces.append(block(size.tolist(), (random.uniform(-0.4, 0.4, 3) * [1.0, 0.6, 0.8]).tolist()))
    return [pieces[:1], pieces[1:]]


def _tool(random: Random) -> list[Group]:
    """Hammers, brushes, spoons, dumbbells, torches, triggers: a shaft with something at its ends."""
    thick, kind = random.uniform(0.05, 0.12), int(random.integers(4))
    shaft = lying(revolved([(thick, -0.5), (thick * random.uniform(0.7, 1.3), 0.5)]))
    if kind == 0:
        head = [block((random.uniform(0.15, 0.3), random.uniform(0.4, 0.7), random.uniform(0.15, 0.3)), (0.5, 0, 0))]
    elif kind == 1:
        head = [_ball(random.uniform(0.15, 0.3), random.uniform(0.12, 0.25), thick * random.uniform(1.0, 2.0)) + np.array([0.6, 0, 0])]
    elif kind == 2:
        weight = lying(revolved([(random.uniform(0.15, 0.35), -0.1), (random.uniform(0.15, 0.35), 0.15)]))
        head = [*_moved(weight, (0.5, 0, 0)), *_moved(weight, (-0.5, 0, 0))]
    else:
        head = [*_moved(lying(revolved([(thick, -0.1), (thick * 2.2, 0.2)])), (0.5, 0, 0)), block((0.2, 0.06, 0.2), (0.2, 0, -thick - 0.06))]
    return [shaft, head]


def _profile(random: Random) -> list[Group]:
    """Stars, houses, arches, nuts, wedges: one outline drawn through."""
    tall, kind = random.uniform(0.15, 0.8), int(random.integers(4))
    if kind == 0:
        points, inner = int(random.integers(4, 8)), random.uniform(0.2, 0.35)
        angle = 2 * np.pi * np.arange(points) / points
        step = np.pi / points
        spikes = [np.array([[0.0, 0.0], *(([r * np.cos(a + d), r * np.sin(a + d)]) for r, d in ((inner, -step), (0.5, 0.0), (inner, step)))]) for a in angle]
        return [[prism(spike, 0.0, tall) for spike in spikes]]
    if kind == 1:
        roof = np.array([[-0.5, 0.45], [0.5, 0.45], [0.0, random.uniform(0.7, 1.0)]])
        turn = rotation_about((1.0, 0.0, 0.0), np.pi / 2)
        return [[block((0.8, tall, 0.5), (0, -tall / 2, 0.25))], [prism(roof, 0.0, tall) @ turn.T]]
    if kind == 2:
        return [tube((0.5, 0.0), (0.5, tall), random.uniform(0.12, 0.3), int(random.choice([6, 18])))]
    arch = tube((0.5, 0.0), (0.5, tall), random.uniform(0.12, 0.25))[:9]
    return [[*arch, *(block((0.2, random.uniform(0.2, 0.5), tall), (sign * 0.42, -0.15, tall / 2)) for sign in (-1, 1))]]


FAMILIES: dict[str, Callable[[Random], list[Group]]] = {
    "turned": _turned,
    "bottle": _bottle,
    "handled": _handled,
    "limbed": _limbed,
    "studded": _studded,
    "cornered": _cornered,
    "tool": _tool,
    "profile": _profile,
}
