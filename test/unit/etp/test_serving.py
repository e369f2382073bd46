from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from deskhand.errors import DeskhandError
from deskhand.etp.predicates import PREDICATES, broken_promises, check_preconditions, check_predicates, unmet
from deskhand.etp.resources import ResourceStore
from deskhand.etp.serving import ways_to
from deskhand.skills.belief import Belief
from deskhand.tools.base import load_tools
from deskhand.types import Scene

CARDS = load_tools(others=False)[0].cards()
CARD = {card.name: card for card in CARDS}


def context(scene: Scene | None = None, held: str = "", stopped: bool = False) -> Any:
    belief = Belief()
    belief.scene = scene
    belief.held = SimpleNamespace(object=SimpleNamespace(id=held)) if held else None  # type: ignore[assignment]
    robot = SimpleNamespace(safety_status=lambda: SimpleNamespace(stopped=stopped, reason="", code="safety_stop"))
    return SimpleNamespace(belief=belief, robot=robot, resources=ResourceStore(), watches=None)


def scene_of(*names: str) -> Any:
    def get(name: str) -> Any:
        if name not in names:
            raise DeskhandError("unknown_object", f"there is no object {name!r}.", hint="Look again.")
        return SimpleNamespace(id=name)

    return SimpleNamespace(objects=(), get=get)


def ways(state: str, ctx: Any) -> dict[str, tuple[tuple[str, ...], tuple[str, ...]]]:
    return {way.tool: (way.before, way.missing) for way in ways_to(CARDS, state, lambda card: unmet(card, ctx))}


def test_a_tool_whose_preconditions_hold_can_be_called_at_once() -> None:
    assert ways("holding", context(scene_of("a")))["pick"] == ((), ())


def test_what_is_lacking_comes_first_in_its_order() -> None:
    before, missing = ways("holding", context(held="a"))["pick"]
    given = [text for name in before for text in CARD[name].postconditions]
    assert not missing and len(before) <= 2 and {"not_holding", "scene_known"} <= set(given)


def test_a_latched_stop_is_told_as_what_no_tool_can_change() -> None:
    found = ways("holding", context(scene_of("a"), stopped=True))
    assert all("not_stopped" in missing for _, missing in found.values())


def test_ways_that_move_nothing_come_before_those_that_do() -> None:
    names = list(ways("scene_known", context()))
    assert CARD[names[0]].effects != "motion" and all(CARD[name].effects == "motion" for name in names[-1:])


@pytest.mark.parametrize("held", ["", "a"])
def test_every_way_is_sound(held: str) -> None:
    """Called in its order, each tool finds what it needs: given by those before it, or true from the beginning."""
    ctx = context(scene_of("a"), held=held)
    for state in PREDICATES:
        for way in ways_to(CARDS, state, lambda card: unmet(card, ctx)):
            if way.missing:
                continue
            given: set[str] = set()
            for name in (*way.before, way.tool):
                assert set(unmet(CARD[name], ctx)) <= given, (state, way)
                given |= {text.split("(")[0] for text in CARD[name].postconditions}


def test_an_object_that_nobody_has_seen_is_refused_with_its_own_code() -> None:
    with pytest.raises(DeskhandError) as caught:
        check_preconditions(CARD["crop_object"].model_copy(update={"preconditions": ("object_known(object_id)",)}), context(scene_of("a")), {"object_id": "b"})
    assert caught.value.code == "unknown_object" and caught.value.hint


def test_a_promise_that_is_not_kept_is_found() -> None:
    card = CARD["pick"].model_copy(update={"postconditions": ("holding(object_id)",)})
    assert broken_promises(card, context(held="a"), {"object_id": "a"}, {}) == []
    assert broken_promises(card, context(held="a"), {"object_id": "b"}, {}) == ["holding(object_id)"]
    assert broken_promises(card, context(), {"object_id": "a"}, {}) == ["holding(object_id)"]


@pytest.mark.parametrize(
    ("where", "text", "word"),
    [
        ("preconditions", "happy", "unknown predicate"),
        ("preconditions", "object_known(nobody)", "no argument"),
        ("postconditions", "stored(nothing)", "no field"),
    ],
)
def test_a_card_that_speaks_of_what_there_is_not_is_refused(where: str, text: str, word: str) -> None:
    with pytest.raises(DeskhandError, match=word):
        check_predicates(CARD["pick"].model_copy(update={where: (text,)}))
