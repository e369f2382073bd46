"""What each object lies on, in or against."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from deskhand.geometry import Array
from deskhand.perception.containers.hollow import Hollow
from deskhand.perception.fit.solids import Solid, SolidFits, at_height, surface_distance
from deskhand.perception.fit.upright_fit import top_height
from deskhand.perception.footprint import Rectangle
from deskhand.perception.quantiles import quantile
from deskhand.perception.segment.segmentation import Segment
from deskhand.perception.support.circles import without_circles
from deskhand.perception.support.settings import SUPPORT
from deskhand.perception.view import Mask, View
from deskhand.perception.visibility import FREE, HIDDEN, SEEN, UNKNOWN, States, Taken, is_hidden, states

_GRID = np.stack(np.meshgrid(np.linspace(-0.45, 0.45, 7), np.linspace(-0.45, 0.45, 7)), axis=-1).reshape(-1, 2)


@dataclass(frozen=True)
class Placed:
    """An object of this look; ``support`` is the index of what carries it, -1 for the table; ``unmeasured``: a glass, which the depth does not show."""

    segment: Segment
    solid: Solid
    hollow: Hollow | None = None
    support: int = -1
    relation: str = "on"
    unmeasured: bool = False


def find_supports(view: View, fits: SolidFits, placed: list[Placed]) -> list[Placed]:
    """Objects in containers, on and against other objects, each fitted again between what carries it and what it carries, as far as it is seen."""
    result = list(placed)
    containers = [i for i, item in enumerate(placed) if item.hollow is not None and item.hollow.for_sorting]
    floors = dict.fromkeys(range(len(placed)), 0.0)
    for i, item in enumerate(placed):
        around = [c for c in containers if i not in containers or _stands_in(_hollow(item), _hollow(placed[c]))]
        inside = next((c for c in around if is_in(item.segment, _hollow(placed[c]))), None)
        if inside is not None:
            hollow = _hollow(placed[inside])
            floors[i] = hollow.floor
            result[i] = _refit(fits, replace(item, support=inside, relation="in"), hollow.floor, None)
    lows = {i: quantile(item.segment.points[:, 2], 0.025) for i, item in enumerate(result) if i not in containers}
    lows |= {i: _hollow(placed[i]).bottom for i in containers if _hollow(placed[i]).bottom > 0 and not _hollow(placed[i]).drawer}  # those hang in their case
    highs = {i: quantile(result[i].segment.points[:, 2], 0.95) for i in lows}
    carriers = {i: _carriers(view, fits, i, result, lows, highs, floors) for i in lows if not _leans(result[i].solid)}
    owner = _owners(view, result)
    for i in lows:
        if not carriers.get(i, [i]) and lows[i] > floors[i] + SUPPORT.gap:
            found, there = _below(view, result[i], lows[i], owner)
            # What rises above where an object seems to end, or is round and lies, is not below it but before it, and hides how it goes on.
            before = [j for j in highs if j != i and (highs[j] > lows[i] + SUPPORT.above or _is_rod(result[j].solid))]
            found[np.isin(there, before)] = HIDDEN
            there = np.where(found == SEEN, there, -1)
            carriers[i] = _seen_below(i, result, lows, there)
            if not carriers[i] and _ends_there(i, found, there):
                floors[i] = lows[i]
                carriers[i] = _hidden_below(i, result, lows, highs)
    carriers = without_circles(carriers, lows)
    carried: dict[int, list[int]] = {}
    for i, below in carriers.items():
        for j in below:
            carried.setdefault(j, []).append(i)
    for i in sorted(lows, key=lambda i: _depth(i, carriers)):
        above = carried.get(i, [])
        if not above and not carriers.get(i) and floors[i] != lows[i]:
            continue
        below = carriers.get(i, [])
        floor = float(np.mean([_top(result[j].solid) for j in below])) if below else floors[i]
        if below and abs(floor - lows[i]) > SUPPORT.gap:
            floor = lows[i]  # of what is below too little is seen to tell how high it is
        result[i] = _refit(
            fits,
            replace(result[i], support=below[0]) if below else result[i],
            floor,
            _own_top(view, result[i], [result[k] for k in above], [lows[k] for k in above]) if above else None,
        )
        if below and result[i].relation == "in":
            result[i] = replace(result[i], relation="on")
    return result


def complete(fits: SolidFits, placed: list[Placed]) -> list[Placed]:
    """Objects with what is hidden of them, and what those lean against that neither stand nor lie."""
    containers = [i for i, item in enumerate(placed) if item.hollow is not None and item.hollow.for_sorting]
    result = [
        item if item.hollow is not None else replace(item, solid=fits.best(item.segment, item.solid, _taken(i, placed), _free(i, placed)))
        for i, item in enumerate(placed)
    ]
    for i, item in enumerate(result):
        if item.hollow is not None and item.support >= 0 and item.relation == "on":
            floor = _top(result[item.support].solid)  # its height is better known now
            if abs(floor - _bottom(item.solid)) < SUPPORT.gap:
                result[i] = replace(item, solid=at_height(item.solid, floor, _top(item.solid)))
        if i not in containers and _leans(item.solid) and item.relation == "on":
            against = _leans_against(i, result, containers)
            result[i] = replace(item, support=against, relation="leaning") if against is not None else item
    return result


def _hollow(item: Placed) -> Hollow:
    assert item.hollow is not None
    return item.hollow


def _free(i: int, placed: list[Placed]) -> tuple[bool, bool]:
    """Whether bottom and top of object ``i`` are less sure than what is seen of it: what stands on others or carries some."""
    return placed[i].support >= 0 and placed[i].relation == "on", any(item.support == i for item in placed)


def _taken(i: int, placed: list[Placed]) -> Taken:
    """Where object ``i`` cannot be: within the others, as far as they are seen, and through the walls of containers."""
    own = placed[i].solid
    reach = float(np.linalg.norm(own.size)) / 2 + SUPPORT.goes_on
    others = [item for j, item in enumerate(placed) if j != i]
    near = [item for item in others if np.linalg.norm(item.solid.pose[:2, 3] - own.pose[:2, 3]) < reach + float(np.linalg.norm(item.solid.size[:2])) / 2]
    solids = [item.solid for item in near if item.hollow is None]
    hollows = [(item.hollow, _bottom(item.solid), bool(item.hollow.holds(own.pose[None, :3, 3])[0])) for item in near if item.hollow is not None]

    def taken(points: Array) -> Mask:
        hit = np.zeros(len(points), bool)
        for solid in solids:
            hit |= surface_distance(solid, points) < -SUPPORT.within
        for hollow, bottom, inside in hollows:
            height = points[:, 2]
            hit |= (hollow.holds(points, hollow.wall if inside else 0.0) != inside) & (bottom - SUPPORT.within < height) & (height < hollow.height)
        return hit

    return taken


def _depth(i: int, carriers: dict[int, list[int]]) -> int:
    """How many objects are below."""
    depth = 0
    while carriers.get(i) and depth < len(carriers):
        i, depth = carriers[i][0], depth + 1
    return depth


def _top(solid: Solid) -> float:
    return float(solid.pose[2, 3] + np.abs(solid.pose[2, :3]) @ solid.size / 2)


def _bottom(solid: Solid) -> float:
    return float(solid.pose[2, 3] - np.abs(solid.pose[2, :3]) @ solid.size / 2)


def _own_top(view: View, item: Placed, above: list[Placed], lows: list[float]) -> float:
    """Height [m] of an object that carries others: as seen beside them, else where they begin; between two cans in the middle of their rims."""
    begins = float(np.mean(lows))
    z = item.segment.points[item.segment.measured, 2]
    if len(z) >= 40:
        top = top_height(z)
        if abs(top - begins) < SUPPORT.fit and int((np.abs(z - top) < max(0.002, 1.5 * view.noise)).sum()) > 0.2 * len(z):
            return top
    if all(_is_standing_round(each) for each in (item, *above)):
        below, over = (
            quantile(_painted(view, item), SUPPORT.uppermost),
            float(np.mean([quantile(_painted(view, each), 1 - SUPPORT.uppermost) for each in above])),
        )
        if SUPPORT.rim < over - below < 2 * SUPPORT.widest_rim:
            return (below + over) / 2
    return begins


def _is_standing_round(item: Placed) -> bool:
    return item.solid.shape == "cylinder" and not item.solid.lying


def _painted(view: View, item: Placed) -> Array:
    """Heights (N,) [m] of what has an object's own colour."""
    return np.asarray(view.points.reshape(-1, 3)[item.segment.paint, 2], dtype=float)


def _stands_in(hollow: Hollow, other: Hollow) -> bool:
    """Whether a container is known to stand below the rim of another."""
    return hollow is not other and 0.0 < hollow.bottom < other.height < hollow.height


def is_in(item: Segment, hollow: Hollow) -> bool:
    """Whether what is seen of an object lies in a container."""
    within = hollow.holds(item.points).mean()
    below = hollow.bottom + SUPPORT.inferred if hollow.bottom > 0 else 0.0  # what carries it is not in it
    z = item.points[:, 2]
    return bool(within > 0.55 and quantile(z, 0.05) < hollow.height + 0.004 and (not below or quantile(z, 0.5) > below))


def _carriers(
    view: View, fits: SolidFits, i: int, placed: list[Placed], lows: dict[int, float], highs: dict[int, float], floors: dict[int, float]
) -> list[int]:
    """Indices of the objects that ``i`` stands on, the one with most of it above first."""
    low, item = lows[i], placed[i]
    if low < floors[i] + SUPPORT.gap:
        return []
    above = SUPPORT.above + (SUPPORT.inferred if item.hollow is not None and item.hollow.bottom > 0 else 0.0)
    z = item.segment.points[:, 2]
    lowest = item.segment.points[z < low + 0.005]
    unseen = is_hidden(view, lowest - [0.0, 0.0, 0.009])
    found = []
    for j, other in enumerate(placed):
        if j == i or j not in lows or _leans(other.solid) or other.solid.shape == "sphere" or (_is_rod(other.solid) and not item.solid.lying):
            continue
        highest = highs[j]
        if not (highest < low + above and (unseen or highest > low - SUPPORT.overhang)):
            continue
        if np.linalg.norm(other.solid.pose[:2, 3] - item.solid.pose[:2, 3]) > np.hypot(*item.solid.size[:2]) / 2 + np.hypot(*other.solid.size[:2]) / 2 + 0.03:
            continue
        below = other.solid if other.hollow is not None else fits.of(other.segment, floors[j], low)
        if below.error > other.solid.error + SUPPORT.worse:
            continue  # what is seen of it is no part of anything so high
        below = below if other.hollow is not None else fits.whole(below)
        share = _share(item.solid, below)
        if share > SUPPORT.overlap:
            found.append((share, j))
    if not found:
        return []
    best = max(share for share, _ in found)
    # Of objects on each other only the highest is directly below.
    highest = max(lows[j] for share, j in found if share > 0.3 * best)
    return [j for share, j in sorted(found, reverse=True) if share > 0.3 * best and lows[j] > highest - 0.012]


def _owners(view: View, placed: list[Placed]) -> npt.NDArray[np.int64]:
    """Index (H * W,) of the object that each pixel shows, -1 for none."""
    owner = np.full(view.valid.size, -1)
    for i, item in enumerate(placed):
        owner[item.segment.pixels] = i
    return owner


def _below(view: View, item: Placed, low: float, owner: npt.NDArray[np.int64]) -> tuple[States, npt.NDArray[np.int64]]:
    """What the camera says of points (N,) below where an object ends, at height ``low`` [m], and which object is seen there, -1 for none."""
    points = item.segment.points
    below = points[points[:, 2] < low + 0.004] - [0.0, 0.0, 0.010]
    pixels = view.frame.project(below)
    height, width = view.valid.shape
    u, v = np.rint(np.nan_to_num(pixels, nan=-1.0)).astype(int).T
    inside = (u >= 0) & (v >= 0) & (u < width) & (v < height)
    found = states(view, below, SUPPORT.contact)
    there = np.where(inside & (found == SEEN), owner[np.where(inside, v * width + u, 0)], -1)
    return found, there


def _seen_below(i: int, placed: list[Placed], lows: dict[int, float], there: npt.NDArray[np.int64]) -> list[int]:
    """Index of the object that goes on below ``i`` where that ends, though too little of it is seen to tell how far it reaches."""
    others = there[(there >= 0) & (there != i)]
    if not len(others) or len(others) < 0.4 * len(there):
        return []
    j = int(np.bincount(others).argmax())
    return [j] if j in lows and not _leans(placed[j].solid) else []


def _ends_there(i: int, found: States, there: npt.NDArray[np.int64]) -> bool:
    """True when the camera sees past what is below the lowest points of an object, or another object there, so that it goes no further."""
    said = found != UNKNOWN
    ends = (found == FREE) | ((there >= 0) & (there != i))
    return bool(said.sum() >= 5 and ends[said].mean() > 0.6)


def _hidden_below(i: int, placed: list[Placed], lows: dict[int, float], highs: dict[int, float]) -> list[int]:
    """Index of the highest object below ``i``, of which the top may be hidden by it."""
    found = []
    for j in lows:
        if j != i and not _leans(placed[j].solid) and highs[j] < lows[i] + SUPPORT.above and _share(placed[i].solid, placed[j].solid) > SUPPORT.overlap:
            found.append((highs[j], j))
    return [max(found)[1]] if found else []


def _share(upper: Solid, lower: Solid) -> float:
    """Share of the smaller footprint that lies within the other."""
    small, large = sorted((upper, lower), key=lambda solid: float(np.prod(solid.size[:2])))
    grid = (_GRID * small.size[:2]) @ small.pose[:2, :2].T + small.pose[:2, 3]
    return float(_outline(large).inside(grid).mean())


def _outline(solid: Solid) -> Rectangle:
    yaw = float(np.arctan2(solid.pose[1, 0], solid.pose[0, 0]))
    return Rectangle(solid.pose[:2, 3], solid.size[:2], yaw)


def _leans(solid: Solid) -> bool:
    return bool(solid.lying and abs(solid.pose[2, 0]) > SUPPORT.leans)


def _is_rod(solid: Solid) -> bool:
    """Whether it is long and round and lies: nothing stands on such an object."""
    return bool(solid.lying and solid.size[0] > SUPPORT.rod * solid.size[1])


def _leans_against(i: int, placed: list[Placed], containers: list[int]) -> int | None:
    """Index of the object whose edge the upper part of a leaning cylinder touches."""
    solid = placed[i].solid
    axis = solid.pose[:3, 0] * np.sign(solid.pose[2, 0])
    line = solid.pose[:3, 3] + np.linspace(-0.3, 0.5, 25)[:, None] * solid.size[0] * axis
    under = line[:, 2] - solid.size[1] / 2 / max(0.3, float(np.hypot(*axis[:2])))
    best, nearest = None, 0.012
    for j, other in enumerate(placed):
        if j == i or _leans(other.solid):
            continue
        inside = _outline(other.solid).inside(line[:, :2], -0.004)
        if not inside.any():
            continue
        gap = float(np.abs(under[inside] - _top(other.solid)).min())
        if gap < nearest:
            best, nearest = j, gap
    return best


def _refit(fits: SolidFits, item: Placed, support: float, top: float | None) -> Placed:
    if item.hollow is not None:
        return replace(item, solid=at_height(item.solid, support, _top(item.solid)))
    return replace(item, solid=fits.of(item.segment, support, top))
