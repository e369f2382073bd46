"""Nothing is carried by what it carries itself."""

from dataclasses import replace

from deskhand.perception.fusion import _on_each_other
from deskhand.perception.support.circles import without_circles
from deskhand.testing.desk_scene import scene_object


def test_of_a_circle_the_lowest_stands_on_none_of_it_and_what_is_no_circle_stays():
    lows = {"a": 0.0, "b": 0.02, "c": 0.04, "d": 0.06}
    assert without_circles({"a": ["b"], "b": ["a"]}, lows) == {"a": [], "b": ["a"]}
    assert without_circles({"b": ["a"], "a": ["c"], "c": ["b"]}, lows) == {"a": [], "b": ["a"], "c": ["b"]}
    assert without_circles({"a": ["a"], "d": ["c", "b"], "c": []}, lows) == {"a": [], "d": ["c", "b"], "c": []}


def test_two_that_are_each_on_the_other_in_different_views_are_not_in_the_scene_of_both():
    below, above = (scene_object(name, "box", (0.02, 0.02, 0.01), (0.1, 0.0, z)) for name, z in (("object_1", 0.005), ("object_2", 0.015)))
    seen = _on_each_other((replace(below, support="object_2"), replace(above, support="object_1")))
    assert [(item.id, item.support) for item in seen] == [("object_1", "table"), ("object_2", "object_1")]
