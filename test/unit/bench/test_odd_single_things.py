"""Single objects that no box or cylinder explains, picked in physics: curved insides, handles, parts that a look takes for several objects."""

import numpy as np
import pytest

from deskhand.bench.grasp.picks import bench
from deskhand.bench.grasp.run import single, single_world
from deskhand.sim.simulation import Simulation


@pytest.mark.parametrize(("subject", "seed"), [("bowl", 12), ("bowl", 30), ("basket", 43), ("dumbbell", 47), ("pyramid", 7), ("tri_prism", 6)])
def test_it_is_picked_at_once(subject, seed):
    with bench(single_world("wx250s", seed, subject)) as desk:
        record = single(desk)
        assert record.success and not record.code, record.message


@pytest.mark.xfail(strict=True, reason="since shape comes first the basket and its handle are one cylinder as high as the handle")
def test_the_inside_of_a_bowl_is_no_object_and_its_handle_is_a_part_of_a_basket():
    with bench(single_world("wx250s", 12, "bowl")) as desk:
        (bowl,) = desk.context().look().objects
        assert bowl.is_container
    with bench(single_world("wx250s", 43, "basket")) as desk:
        (basket,) = desk.context().look().objects
        true = desk.simulation.truth().objects[0].size
        assert basket.top < 0.6 * true[2] < np.max(basket.points[:, 2])


@pytest.mark.xfail(strict=True, reason="its object is seen as one since shape comes first; another that is seen in parts has to be found")
def test_parts_that_come_along_are_held_as_one_object():
    with bench(single_world("wx250s", 7, "pyramid")) as desk:
        scene = desk.context().look()
        assert len(scene.objects) > 1
        record = single(desk)
        held = desk.belief.held
        assert record.success and held is not None
        names = {record.data["id"], *record.data["along"]}
        assert {item.id for item in scene.objects} == names
        assert held.object.bottom == pytest.approx(0.0, abs=0.003)
        assert held.object.top == pytest.approx(desk.simulation.truth().objects[0].size[2], abs=0.005)
        assert not desk.belief.scene.objects


def test_a_object_on_an_empty_desk_is_clear_of_the_open_hand_at_home():
    world = single_world("so101", 40023)  # drawn anywhere, it would stand in the hand
    assert Simulation(world).truth().get("thing").pose[2, 3] > 0.0
