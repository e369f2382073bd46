"""How objects look, kept so that they are known again."""

from __future__ import annotations

from typing import Annotated

import numpy as np
import numpy.typing as npt
from pydantic import Field
from typing_extensions import TypedDict

from deskhand.errors import DeskhandError
from deskhand.etp.resources import ARRAY, ResourceRef
from deskhand.etp.tool import ToolContext, tool
from deskhand.perception.taught.descriptor import describe
from deskhand.tools.looking import look
from deskhand.tools.objects import ObjectId
from deskhand.tools.viewing import desk_view, owners
from deskhand.types import SceneObject

SIZES = 3  # numbers of the vector that are sides
UNLIKE, RATIO = 3.0, 0.25  # distance of pictures, and log ratio of sides, at which likeness has fallen to 1/e; chosen on rendered scenes
SAME = 0.5  # likeness from which it is told to be the same
Vector = npt.NDArray[np.float32]


class AppearanceVector(TypedDict):
    """How an object looks from here."""

    appearance: Annotated[ResourceRef, Field(description="vector (3 + D,): its sides [m], then its picture's descriptor; give its uri to recognise_again")]
    pixels: Annotated[int, Field(description="that it was made from")]


class Recognised(TypedDict):
    """One object beside the kept appearance."""

    object_id: str
    likeness: Annotated[float, Field(description="0 to 1")]
    picture: Annotated[float, Field(description="distance of the descriptors; 0 for the same picture")]
    sides: Annotated[float, Field(description="mean absolute log ratio of the sides; 0 for the same size")]


class RecognisedAll(TypedDict):
    """Which object it is."""

    object_id: Annotated[str, Field(description="of the one that is like it; empty: none is, or two are as much")]
    candidates: Annotated[list[Recognised], Field(description="most alike first")]


@tool(
    group="cognition",
    unit="representation_and_similarity",
    effects="memory",
    needs=("camera",),
    postconditions=("scene_known",),
    timeout=30.0,
    when_to_use="To keep an embedding (feature vector) of how one object looks, before it is moved, covered or handed over, so that it can be "
    "re-identified later.",
    limits="Of one view, by colours, edges and size (no learned network): seen from another side an object with print may look different. Kept as "
    "long as resources are.",
    examples=[("Store a feature vector of this box for later", {"object_id": "box_1"})],
    failures=[("The object is not on the desk", {"object_id": "ghost_9"}, "unknown_object")],
)
def describe_appearance(ctx: ToolContext, object_id: ObjectId) -> AppearanceVector:
    """Describe how an object looks as a vector of its sides, colours and edges, kept as a resource."""
    vectors = _vectors(ctx, [object_id])
    vector, pixels = vectors[object_id]
    return AppearanceVector(appearance=ctx.resources.put(vector, ARRAY, f"appearance of {object_id}"), pixels=pixels)


@tool(
    group="cognition",
    unit="representation_and_similarity",
    effects="memory",
    needs=("camera",),
    postconditions=("scene_known",),
    timeout=30.0,
    when_to_use="To re-identify an object by a stored feature vector: which of the objects that are in view now is it, if any?",
    limits="Needs the vector of describe_appearance. Two objects that look the same cannot be told apart by it; where they were, object_history knows.",
    examples=[("Which one is the box whose feature vector was stored?", {"appearance": "deskhand://v"})],
    failures=[("The vector is no longer kept", {"appearance": "deskhand://gone"}, "unknown_resource")],
)
def recognise_again(
    ctx: ToolContext,
    appearance: Annotated[str, Field(min_length=1, max_length=200, description="uri of the vector")],
    object_ids: Annotated[list[ObjectId] | None, Field(max_length=60, description="among which; null: all in view")] = None,
) -> RecognisedAll:
    """Recognise an object again by its kept appearance among those in view, with how alike each is."""
    kept = ctx.resources.get(appearance).array()
    if kept.ndim != 1 or len(kept) < SIZES + 10:
        raise DeskhandError("invalid_input", f"{appearance} is no appearance.", hint="Give the uri that describe_appearance gave.")
    found = []
    for name, (vector, _) in _vectors(ctx, object_ids).items():
        if len(vector) != len(kept):
            raise DeskhandError("invalid_input", f"{appearance} is no appearance of this kind of camera picture.")
        picture = float(np.linalg.norm(vector[SIZES:] - kept[SIZES:]))
        sides = float(np.abs(np.log(np.maximum(vector[:SIZES], 1e-3) / np.maximum(kept[:SIZES], 1e-3))).mean())
        likeness = float(np.exp(-((picture / UNLIKE) ** 2) - (sides / RATIO) ** 2))
        found.append(Recognised(object_id=name, likeness=round(likeness, 4), picture=round(picture, 4), sides=round(sides, 4)))
    found.sort(key=lambda one: -one["likeness"])
    sure = bool(found) and found[0]["likeness"] >= SAME and (len(found) < 2 or found[1]["likeness"] < 0.8 * found[0]["likeness"])
    return RecognisedAll(object_id=found[0]["object_id"] if sure else "", candidates=found)


def _vectors(ctx: ToolContext, names: list[str] | None) -> dict[str, tuple[Vector, int]]:
    """Of objects in a new look, all for None: the vector and how many pixels it comes from."""
    scene, _ = look(ctx)
    chosen: list[SceneObject] = list(scene.objects) if names is None else [scene.get(name) for name in names]
    view = desk_view(ctx)
    own = owners(view, scene)
    result = {}
    for item in chosen:
        mask = own == [other.id for other in scene.objects].index(item.id)
        if mask.sum() >= 40 and min(mask.any(axis=0).sum(), mask.any(axis=1).sum()) >= 4:
            vector = np.concatenate([np.sort(item.size)[::-1], describe(view.frame.color, mask)]).astype(np.float32)
            result[item.id] = vector, int(mask.sum())
    if names is not None and (missing := [name for name in names if name not in result]):
        raise DeskhandError("object_lost", f"too little is seen of {', '.join(missing)}.", hint="Bring it into view.")
    return result
