"""How likely an object has an outline once somebody has named it: of outlines that look alike people speak of the common ones."""

from __future__ import annotations

from collections.abc import Mapping

RARE = {"rectangle": 0.7, "ellipse": 0.5, "plus": 0.5, "heart": 0.4, "hexagon": 0.3, "l_shape": 0.3, "t_shape": 0.3, "u_shape": 0.3, "pentagon": 0.25}
"""How often an outline is met where nobody speaks of it, over that of discs, squares, triangles, stars and crescents: judged, not counted. At 3 cm a disc, a
hexagon and an ellipse look alike to the camera, and who says "cylinder" means the disc."""
UNTOLD = 0.3
"""The same for all that is not told of an object."""


def named_likelihood(outline: str, likely: Mapping[str, float]) -> float:
    """Of an object for which a look tells how ``likely`` it has each outline; 0 where it does not tell this one."""
    if outline not in likely:
        return 0.0
    weights = {name: float(share) * (1.0 if name == outline else RARE.get(name, 1.0)) for name, share in likely.items()}
    return weights[outline] / (sum(weights.values()) + UNTOLD * max(0.0, 1.0 - sum(map(float, likely.values()))))
