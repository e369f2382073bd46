"""The agent against models that misbehave: a few episodes of the campaign, and that the campaign would notice what must not be."""

import numpy as np
import pytest

from deskhand.agent.loop import AgentLoop
from deskhand.agent.records import Budgets
from deskhand.bench.brains.campaign import Episode, run_episode, summarise
from deskhand.bench.brains.desk import LightDesk, light_session, real_tools
from deskhand.bench.brains.model_faults import MODEL_FAULTS, Answer, sample
from deskhand.bench.brains.scenes import make_scene
from deskhand.bench.brains.server import StandIn
from deskhand.llm.base import Reply, ToolCall
from deskhand.llm.scripted import ScriptedModel


@pytest.fixture(scope="module")
def tools():
    return real_tools()


def test_episodes_against_models_that_misbehave_end_well_or_with_a_code(tools):
    with StandIn().serving() as server:
        results = [run_episode(server, tools, seed) for seed in range(12)]
    summary = summarise(results)
    assert summary["good"], summary["bad"]
    assert len({each.kind for each in results}) >= 4
    assert sum(len(each.faults) for each in results) >= 10
    assert any(each.success for each in results)


def talk(tools, seed, *calls):
    desk, wanted = make_scene(seed)
    replies = [Reply("", (ToolCall(name, dict(arguments)),)) for name, arguments in calls]
    with light_session(desk, tools) as session:
        outcome = AgentLoop(ScriptedModel(replies), session, Budgets(seconds=20)).run(wanted.instruction)
    return desk, wanted, outcome


def test_the_light_desk_tells_truth_and_what_is_seen_apart(tools):
    desk, _ = make_scene(3)
    before = {name: obj.place for name, obj in desk.objects.items()}
    scene = desk.detect_objects()
    assert {item.id for item in scene.objects} == set(before)
    off = [float(np.linalg.norm(item.position[:2] - before[item.id])) for item in scene.objects]
    assert 0 < max(off) < 0.006


def test_letting_go_in_the_air_and_moving_after_the_end_are_noted(tools):
    desk, _ = make_scene(1)
    item = next(name for name, each in desk.objects.items() if not each.is_container)
    with light_session(desk, tools) as session:
        assert session.invoke("detect_objects", {}).ok
        assert session.invoke("pick", {"object_id": item}).ok
        session.invoke("open_gripper", {})
        desk.over = True
        session.invoke("move_home", {})
    assert desk.unsafe == [f"open_gripper lets {item} fall", "move_home after the task had ended"]


def test_a_claim_without_a_deed_is_not_success(tools):
    for name in ("move_home", "open_gripper"):
        desk, wanted, outcome = talk(tools, 5, (name, {}), *[("finish", {"status": "done", "summary": "All done."})] * 5)
        assert not outcome.success and not wanted.holds(desk)


def test_objects_that_must_not_be_make_an_episode_bad():
    good = Episode(0, "good", "", code="model_failed")
    assert good.good
    assert not Episode(0, "good", "").good  # neither done nor a code
    for bad in ({"success": True}, {"crash": "KeyError"}, {"unsafe": ["pick"]}, {"overrun": True}, {"code": "weird"}):
        assert not Episode(0, "good", "", **{"code": "model_failed", **bad}).good


@pytest.mark.parametrize("stream", [True, False])
@pytest.mark.parametrize("name", sorted(MODEL_FAULTS))
def test_every_fault_makes_something_else_of_an_answer(name, stream):
    reply = Reply("", (ToolCall("pick", {"object_id": "cup_1"}, "call_1"),))
    good = Answer.of(reply, stream, decision=False)
    made = MODEL_FAULTS[name](good, np.random.default_rng(0), 1.0)
    assert (made.body, made.status, made.pause, made.drip, made.cut) != (good.body, 200, 0.0, 0.0, 1.0)


def test_random_decisions_fit_their_schema():
    import jsonschema

    random = np.random.default_rng(0)
    schema = {
        "type": "object",
        "properties": {
            "a": {"type": "integer", "minimum": 2, "maximum": 5},
            "b": {"anyOf": [{"type": "null"}, {"enum": ["x", "y"]}]},
            "c": {"type": "array", "items": {"type": "string"}, "minItems": 1, "maxItems": 3},
        },
        "required": ["a", "c"],
    }
    for _ in range(50):
        jsonschema.validate(sample(schema, random, ["cup_1"]), schema)


def test_seeds_make_different_desks_that_can_be_told_apart():
    desks = [make_scene(seed) for seed in range(8)]
    assert len({wanted.instruction for _, wanted in desks}) >= 5
    assert all(isinstance(desk, LightDesk) and len(desk.objects) >= 5 for desk, _ in desks)
    assert not any(wanted.goal and wanted.holds(desk) for desk, wanted in desks)
