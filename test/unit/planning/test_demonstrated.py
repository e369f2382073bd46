"""Roles of a demonstration in another scene: who plays them, where they go, and what is said where that is not clear."""

from deskhand.planning.demonstrated import Post, Surface, steps_for_scene
from deskhand.types.demonstration import Role, Step
from deskhand.world.relations import TABLE

PLATES = [Surface((0.0, 0.04 * number), 0.1, 0.004) for number in range(3)]


def seen(name, color, x=0.0, y=0.0, label="block", container=False):
    return {"id": name, "label": label, "color": color, "shape": "box", "position": [x, y, 0.016], "size": [0.032] * 3, "yaw": 0.3, "is_container": container}


def put(color, relation, *where):
    return Step(Role("block", color), relation, where)


def on_plate(color, rank):
    return put(color, "on", Role("plate", "brown", rank))


def test_a_block_goes_to_the_plate_of_the_rank_that_was_shown():
    found = steps_for_scene([on_plate("red", "darkest"), on_plate("blue", "lightest")], [seen("a", "blue"), seen("b", "red")], PLATES)
    assert [(act.object_id, (act.x, act.y), act.yaw, act.level, act.on, act.target_id) for act in found.acts] == [
        ("b", (0.0, 0.08), 0.1, 0.004, (), TABLE),
        ("a", (0.0, 0.0), 0.1, 0.004, (), TABLE),
    ]
    assert not found.ambiguities and not found.missing


def test_what_lies_across_two_goes_between_the_places_where_they_will_be():
    steps = [on_plate("red", "lightest"), on_plate("blue", "middle"), put("green", "on", Role("block", "red"), Role("block", "blue"))]
    found = steps_for_scene(steps, [seen("a", "red", 0.3), seen("b", "blue", 0.3), seen("c", "green", 0.3)], PLATES)
    top = found.acts[2]
    assert (top.object_id, top.on, (top.x, top.y), top.yaw) == ("c", ("a", "b"), (0.0, 0.02), 0.1)


def test_what_lies_on_one_that_is_not_moved_goes_where_that_is_seen():
    (act,) = steps_for_scene([put("green", "on", Role("block", "red"))], [seen("a", "red", 0.2, 0.1), seen("c", "green")], []).acts
    assert (act.x, act.y, act.yaw, act.on) == (0.2, 0.1, 0.3, ("a",))


def test_a_bowl_is_a_container_whatever_it_is_called():
    objects = [seen("a", "red"), seen("bowl", "red", label="object", container=True), seen("other", "blue", label="tray", container=True)]
    (act,) = steps_for_scene([put("red", "in", Role("bowl", "red"))], objects, []).acts
    assert (act.object_id, act.relation, act.target_id) == ("a", "in", "bowl")


def test_several_that_fit_are_named():
    found = steps_for_scene([on_plate("red", "middle")], [seen("a", "red"), seen("b", "red")], PLATES)
    assert found.acts[0].object_id == "a" and "2 objects fit 'red block': a, b" in found.ambiguities[0]


def test_the_only_one_that_is_left_is_taken_and_named_but_never_one_of_several():
    steps = [on_plate("red", "middle"), on_plate("pink", "lightest")]
    found = steps_for_scene(steps, [seen("a", "red"), seen("b", "purple")], PLATES)
    assert [act.object_id for act in found.acts] == ["a", "b"] and "the only block that is left" in found.ambiguities[0]
    found = steps_for_scene(steps, [seen("a", "red"), seen("b", "purple"), seen("c", "orange")], PLATES)
    assert [act.object_id for act in found.acts] == ["a"] and found.missing == ["no 'pink block' is seen."]


def test_what_stands_on_something_missing_is_no_act():
    steps = [put("green", "on", Role("block", "red"), Role("block", "blue"))]
    found = steps_for_scene(steps, [seen("a", "red"), seen("c", "green"), seen("d", "yellow"), seen("e", "orange")], [])
    assert not found.acts and found.missing == ["no 'blue block' is seen."]


def test_a_plate_that_is_not_there_is_missing():
    found = steps_for_scene([on_plate("red", "middle")], [seen("a", "red")], PLATES[:2])
    assert not found.acts and found.missing == ["no 'middle brown plate' among the 2 plates that are seen."]


def test_a_plate_is_a_part_of_the_table_also_where_a_look_takes_it_for_an_object():
    thin = seen("eraser_1", "brown", 0.1, label="eraser") | {"size": [0.04, 0.12, 0.006]}
    (act,) = steps_for_scene([on_plate("red", "")], [seen("a", "red"), thin], [Surface((0.1, 0.0), 0.0, 0.004)]).acts
    assert (act.on, act.target_id, act.level) == ((), TABLE, 0.004)


def test_where_on_the_table_is_open():
    found = steps_for_scene([put("red", "on", Role("table"))], [seen("a", "red")], [])
    assert not found.acts and "leaves open" in found.ambiguities[0]


def test_steps_go_through_json_and_say_themselves():
    steps = [on_plate("red", "middle"), put("green", "on", Role("block", "red"), Role("block", "blue")), put("red", "in", Role("bowl", "cyan"))]
    assert [Step.from_json(step.to_json()) for step in steps] == steps
    assert [step.text for step in steps] == [
        "put the red block on the middle brown plate",
        "put the green block on the red and blue blocks",
        "put the red block in the cyan bowl",
    ]


def hang(color, rank):
    return Step(Role("ring", color), "on", (Role("peg", "brown", rank),))


def test_rings_are_taken_from_where_they_are_by_then():
    posts = [Post((0.0, 0.1), "darkest"), Post((0.0, 0.0), "middle"), Post((0.0, -0.1), "lightest", ("red", "blue"))]
    found = steps_for_scene([hang("blue", "middle"), hang("red", "darkest"), hang("blue", "darkest")], [], [], posts)
    assert [(act.relation, act.take, (act.x, act.y)) for act in found.acts] == [
        ("hang", (0.0, -0.1), (0.0, 0.0)),
        ("hang", (0.0, -0.1), (0.0, 0.1)),
        ("hang", (0.0, 0.0), (0.0, 0.1)),
    ]
    assert not found.missing


def test_a_ring_under_another_or_a_peg_that_is_not_told_apart_ends_the_transfer():
    posts = [Post((0.0, 0.0), "", ()), Post((0.0, -0.1), "", ("red", "blue"))]
    assert "no pegs fit" in steps_for_scene([hang("blue", "darkest")], [], [], posts).missing[0]
    ranked = [Post((0.0, 0.0), "darker", ()), Post((0.0, -0.1), "lighter", ("red", "blue"))]
    under = steps_for_scene([hang("red", "darker"), hang("blue", "darker")], [], [], ranked)
    assert not under.acts and "lies under the blue one" in under.missing[0] and len(under.missing) == 1
    assert "no rings on pegs fit" in steps_for_scene([hang("green", "darker")], [], [], ranked).missing[0]
