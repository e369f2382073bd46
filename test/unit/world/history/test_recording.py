import numpy as np
import pytest
from remembered import Clock, an_object, at, scene

from deskhand.geometry import make_transform
from deskhand.world.history.recorder import GONE, Memory

BLOCK, CUP, BIN = an_object("block_1", "red", 0.0, 0.1), an_object("cup_1", "white", 0.1, -0.1), an_object("bin_1", "black", 0.1, 0.3)


@pytest.fixture
def memory():
    with Memory(clock=Clock()) as memory:
        yield memory


def kinds(events):
    return [(event.object_id, event.kind) for event in events]


def test_a_first_look_adds_and_a_second_one_confirms(memory):
    assert kinds(memory.looked(scene(1.0, BLOCK, CUP))) == [("block_1", "added"), ("cup_1", "added")]
    assert memory.looked(scene(2.0, at(BLOCK, 0.003, 0.1), CUP)) == []  # 3 mm is noise
    state = memory.state("block_1")
    assert state.status == "seen" and state.object.support == "table"
    assert (memory.moment(state.begun).stamp, memory.moment(state.last).stamp) == (1.0, 2.0)


def test_a_object_that_creeps_is_found_to_have_moved_although_no_two_looks_differ_much(memory):
    events = [event for n in range(5) for event in memory.looked(scene(float(n), at(BLOCK, 0.005 * n, 0.1)))]
    assert kinds(events) == [("block_1", "added"), ("block_1", "moved")]
    assert events[1].detail["distance"] == pytest.approx(0.015, abs=1e-6)


def test_a_move_keeps_where_it_was_and_how_long(memory):
    memory.looked(scene(1.0, BLOCK))
    (moved,) = memory.looked(scene(5.0, at(BLOCK, 0.2, 0.1)))
    assert moved.kind == "moved" and moved.detail["from"]["position"][0] == 0.0 and moved.detail["distance"] == pytest.approx(0.2)
    before, now = memory.history("block_1")
    assert before.ended == now.begun == moved.moment.id and now.ended is None and now.object.position[0] == pytest.approx(0.2)


def test_a_object_on_another_is_moved_even_at_the_same_place(memory):
    memory.looked(scene(1.0, BLOCK, CUP))
    assert kinds(memory.looked(scene(2.0, at(BLOCK, 0.0, 0.1, support="cup_1"), CUP))) == [("block_1", "moved")]


@pytest.mark.parametrize(("found", "status"), [("hidden", "occluded"), ("gone", "vanished"), ("there", "unseen")])
def test_what_a_look_misses_is_judged_by_the_picture(memory, found, status):
    memory.looked(scene(1.0, BLOCK, CUP))
    events = memory.looked(scene(2.0, CUP), lambda item: found)
    assert kinds(events) == [("block_1", status)]
    state = memory.state("block_1")
    assert state.status == status and state.object.position == pytest.approx(BLOCK.position)
    assert state.confidence == GONE if status == "vanished" else state.confidence < 0.9
    before = state.confidence
    assert memory.looked(scene(3.0, CUP), lambda item: found) == []  # told once
    assert memory.state("block_1").confidence <= before


def test_without_a_picture_a_missed_object_is_unseen_not_gone(memory):
    memory.looked(scene(1.0, BLOCK, CUP))
    (event,) = memory.looked(scene(2.0, CUP))
    assert event.kind == "unseen" and "nobody looked" in event.detail["reason"]


def test_what_comes_back_has_appeared_or_moved(memory):
    memory.looked(scene(1.0, BLOCK, CUP))
    memory.looked(scene(2.0), lambda item: "hidden" if item.id == "cup_1" else "gone")
    events = memory.looked(scene(3.0, BLOCK, at(CUP, 0.3, 0.0)))
    assert kinds(events) == [("block_1", "appeared"), ("cup_1", "moved")]
    assert {state.status for state in memory.states_now()} == {"seen"}


def test_pick_and_place_are_told_with_the_place_it_came_from(memory):
    clock = memory._clock
    memory.looked(scene(1.0, BLOCK, CUP, BIN))
    clock.now = 2.0
    assert memory.held(BLOCK).detail["from"]["support"] == "table"
    state = memory.state("block_1")
    assert state.status == "held" and state.object.relation == "held"
    assert memory.looked(scene(3.0, CUP, BIN), lambda item: "gone") == []  # what is in the hand is not missed
    clock.now = 4.0
    memory.released("block_1")
    assert memory.state("block_1").status == "unseen"
    assert kinds(memory.looked(scene(5.0, at(BLOCK, 0.1, 0.3, support="bin_1", relation="in"), CUP, BIN))) == [("block_1", "placed")]


def test_what_was_put_where_nobody_sees_it_stays_there_and_moves_with_its_container(memory):
    memory.looked(scene(1.0, BLOCK, BIN))
    memory.held(BLOCK)
    memory.released("block_1")
    memory.looked(scene(2.0, BIN), lambda item: pytest.fail("its old place says nothing"))
    memory.put_away(at(BLOCK, 0.12, 0.3, support="bin_1", relation="in"))
    state = memory.state("block_1")
    assert state.status == "occluded" and (state.object.relation, state.object.support) == ("in", "bin_1")
    memory.looked(scene(3.0, BIN), lambda item: "gone")  # it rolled away from under the camera's gaze, inside
    assert memory.state("block_1").status == "occluded"
    shifted = at(BIN, 0.1, 0.0)
    events = memory.looked(scene(4.0, shifted), lambda item: "hidden")
    assert kinds(events) == [("bin_1", "moved"), ("block_1", "moved")]
    assert memory.state("block_1").object.position[:2] == pytest.approx([0.12, 0.0])


def test_a_drop_is_no_placement(memory):
    memory.looked(scene(1.0, BLOCK))
    memory.held(BLOCK)
    assert memory.released("block_1", dropped=True).kind == "dropped"
    assert kinds(memory.looked(scene(2.0, at(BLOCK, 0.15, 0.0)))) == [("block_1", "moved")]


def test_another_name_for_the_same_object_is_followed(memory):
    memory.looked(scene(1.0, BLOCK))
    memory.held(BLOCK)
    memory.released("block_1")
    again = an_object("block_2", "red", 0.2, 0.2)
    memory.looked(scene(2.0, again))
    memory.renamed("block_1", "block_2")
    assert memory.state("block_1").object_id == "block_2"
    assert {state.object_id for state in memory.states_now()} == {"block_2"}


def test_a_changed_look_is_told(memory):
    from dataclasses import replace

    memory.looked(scene(1.0, BLOCK))
    (event,) = memory.looked(scene(2.0, replace(BLOCK, label="box", color="orange")))
    assert event.kind == "changed" and event.detail == {"label": ["block", "box"], "color": ["red", "orange"]}


def test_states_come_back_as_they_went_in(memory):
    turned = at(CUP, 0.1, 0.1)
    turned = turned.__class__(**{**turned.__dict__, "pose": make_transform([[0, -1, 0], [1, 0, 0], [0, 0, 1]], (0.1, 0.1, 0.02))})
    memory.looked(scene(1.0, turned))
    back = memory.state("cup_1").object
    assert np.allclose(back.pose, turned.pose) and np.allclose(back.size, turned.size)
    assert (back.label, back.color, back.shape, back.label_source, back.material) == ("cup", "white", "cylinder", "geometry", "unknown")


def test_the_past_can_be_walked_through(memory):
    rng = np.random.default_rng(3)
    places, looks = {"block_1": BLOCK, "cup_1": CUP, "bin_1": BIN}, []
    for stamp in range(40):
        name = str(rng.choice(list(places)))
        places[name] = at(places[name], *rng.uniform(-0.3, 0.3, 2))
        memory.looked(scene(float(stamp), *places.values()))
        looks.append((memory.last_moment().id, {key: item.position.copy() for key, item in places.items()}))
    for moment, truth in looks:
        then = memory.scene_at(moment)
        assert {item.id for item in then.objects} == set(truth)
        assert all(np.linalg.norm(then.get(name).position - place) <= 0.012 for name, place in truth.items())
    assert memory.moment_at(7.5).stamp == 7.0 and memory.moment_at(-1.0) is None
