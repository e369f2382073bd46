"""A desk is put back with all that its robot knows: two ways are tried from one state, and neither knows of the other."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from deskhand.bench.tools.desk import ScenarioDesk
from deskhand.errors import DeskhandError
from deskhand.sim.spec import ObjectSpec, WorldSpec, pose_at
from deskhand.tools.base import load_tools

WORLD = WorldSpec(
    (
        ObjectSpec("red", "block", (0.04, 0.04, 0.04), (0.8, 0.1, 0.1), 0.05, pose_at(0.0, 0.08, 0.02)),
        ObjectSpec("blue", "block", (0.03, 0.03, 0.03), (0.1, 0.2, 0.8), 0.03, pose_at(0.02, -0.10, 0.015)),
    )
)


@pytest.fixture(scope="module")
def desk() -> Iterator[ScenarioDesk]:
    with ScenarioDesk(WORLD, load_tools(others=False)[0]) as made:
        made.begin("going back")
        yield made


def test_a_pick_is_taken_back_and_made_again(desk: ScenarioDesk) -> None:
    ids = desk.look()
    before, events = desk.snapshot(), len(desk.call("scene_changes")["events"])
    desk.call("pick", {"object_id": ids["red"]})
    lifted = desk.truth("red").pose.copy()
    assert lifted[2, 3] > 0.05
    assert desk.belief.held is not None
    desk.restore(before)
    assert desk.truth("red").pose[2, 3] == pytest.approx(0.02, abs=0.001)
    assert desk.belief.held is None
    assert desk.belief.scene is not None
    assert {item.id for item in desk.belief.scene.objects} == set(ids.values())
    assert len(desk.call("scene_changes")["events"]) == events, "the memory knows of no pick"
    plan = desk.call("plan_motion", {"named": "home"})["plan_id"]
    desk.restore(before)
    assert desk.result("execute_plan", {"plan_id": plan}).code == "unknown_plan"
    desk.call("pick", {"object_id": ids["blue"]})
    assert desk.truth("blue").pose[2, 3] > 0.05
    desk.restore(before)


def test_pictures_come_with_the_same_noise_or_with_other(desk: ScenarioDesk) -> None:
    before = desk.snapshot()
    first = desk.frame()
    desk.restore(before)
    assert np.array_equal(desk.frame().color, first.color)
    desk.restore(before, noise=1)
    assert not np.array_equal(desk.frame().color, first.color)
    desk.restore(before)


def test_not_while_a_watch_runs(desk: ScenarioDesk) -> None:
    heard = desk.watch("watch_picture", settle=0.1)
    with pytest.raises(DeskhandError, match="still runs") as caught:
        desk.snapshot()
    assert caught.value.code == "busy"
    heard.stop()
