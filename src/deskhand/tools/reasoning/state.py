"""The desk as symbols, from what the robot believes."""

from __future__ import annotations

from collections.abc import Iterable

from deskhand.planning.symbolic import ROLLS, State
from deskhand.skills.belief import Belief
from deskhand.types import SceneObject
from deskhand.world.relations import TABLE


def state_of(belief: Belief) -> State:
    """What the last look, and what was done since, say of the desk."""
    assert belief.scene is not None  # the precondition scene_known
    items = [item for item in (*belief.scene.objects, *belief.hidden) if item.relation != "held"]
    where = {item.id: ("in" if item.relation == "in" else "on", item.support or TABLE) for item in items}
    held = belief.held.object if belief.held else None
    every = [*items, *([held] if held else [])]
    return State(where, held.id if held else "", frozenset(item.id for item in every if item.is_container), frozenset(_round(every)), home=True, looked=True)


def _round(items: Iterable[SceneObject]) -> list[str]:
    return [item.id for item in items if not item.is_container and (item.shape == "sphere" or item.label in ROLLS)]
