"""The hand is brought above a block that somebody pushes meanwhile, on a simulated desk."""

import numpy as np
import pytest

from deskhand.bench.tools.desk import ScenarioDesk
from deskhand.bench.tools.worlds import objects
from deskhand.tools.base import load_tools


@pytest.mark.long
def test_the_hand_follows_a_block_that_is_moved_and_stays_above_it():
    moves = []
    with ScenarioDesk(objects(np.random.default_rng(11)), load_tools(others=False)[0], 11) as desk:
        desk.begin("servo")
        ids = desk.look()

        def push(fraction, text):
            if "off" in text and not moves:
                moves.append(desk.free_shift("red", 0.05, 0.08))
                desk.shift("red", moves[0])

        result = desk.session.invoke("servo_to_target", {"object_id": ids["red"]}, push)
        assert result.ok, result
        tips, block = desk.simulation.tcp(), desk.truth("red")
        assert np.linalg.norm(tips[:2] - block.pose[:2, 3]) < 0.008
        assert result.data["travelled"] == pytest.approx(np.linalg.norm(moves[0]), abs=0.008)
        assert tips[2] - block.pose[2, 3] - block.size[2] / 2 == pytest.approx(result.data["height"] + desk.robot.arm.gripper.finger_depth, abs=0.008)
        assert desk.session.invoke("servo_to_target", {"object_id": "ghost_9"}).code == "unknown_object"
