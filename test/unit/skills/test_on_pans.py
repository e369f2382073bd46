"""What stands on pans that move: its pose follows the pan's height, in the pictures of a simulated balance, whatever ids a look gives the blocks."""

from dataclasses import replace

import numpy as np
import pytest

from deskhand.perception.balance import find_balance, follow
from deskhand.sim.devices import SimCamera
from deskhand.sim.simulation import Simulation
from deskhand.sim.worldfile import world_from_dict
from deskhand.skills.belief import Belief
from deskhand.skills.on_pans import is_piece, standing_on
from deskhand.testing.desk_scene import desk, scene_object


def world(masses, taken_off=False):
    """A balance with a block on each pan, and one beside it, all alike; ``taken_off``: the left one stands on the desk."""
    places = [(0.15, 0.25, 0.015) if taken_off else (0.02, 0.11, 0.086), (0.02, -0.11, 0.086), (0.12, 0.0, 0.015)]
    blocks = [
        {"kind": "block", "name": f"b{number}", "color": "red", "size": 0.03, "mass": mass, "pose": {"x": x, "y": y, "z": z}}
        for number, (mass, (x, y, z)) in enumerate(zip((*masses, 0.02), places, strict=True))
    ]
    return world_from_dict({"fixtures": [{"kind": "balance", "pose": [0.02, 0.0], "color": "green"}], "objects": blocks, "seed": 3}, reality="none")


def rim(plate):
    """A piece of the left pan, at this height, that a look has taken for an object."""
    return scene_object("object_1", "box", (0.02, 0.084, 0.014), (0.05, 0.11, plate - 0.001), color="white", label="object")


class Robot:
    """What a belief asks of a robot, in a simulation at rest; ``turn`` shows it another one. Its looks name the blocks as ``names`` says."""

    def __init__(self, masses):
        self.camera, self.names = None, ("block_1", "block_2", "block_3")
        self.turn(masses)

    def turn(self, masses, taken_off=False):
        self.close()
        self.simulation = Simulation(world(masses, taken_off))
        self.camera = SimCamera(self.simulation)
        self.simulation.step(1.5)

    def close(self):
        if self.camera is not None:
            self.camera.close()

    @property
    def arm(self):
        return self.simulation.arm

    def joint_state(self):
        return self.simulation.joint_state()

    def now(self):
        return self.simulation.time

    def observe(self, newer_than=None):
        return self.camera.capture()

    def detect_objects(self):
        joints = self.simulation.truth().joints
        blocks = [self.simulation.truth().get(f"b{number}") for number in range(3)]
        return desk(
            *(scene_object(name, "box", (0.03, 0.03, 0.03), item.pose[:3, 3]) for name, item in zip(self.names, blocks, strict=True)),
            rim(0.07 - joints["balance/left"]),
        )

    def camera_mount(self):
        return None


@pytest.fixture
def tilted():
    robot = Robot((0.03, 0.02))
    yield robot
    robot.close()


def test_blocks_on_the_pans_follow_them_and_no_rim_is_an_object(tilted):
    belief = Belief()
    scene = belief.look(tilted)
    balance = find_balance(tilted.observe())
    for side in ("left", "right"):
        (item,) = standing_on(scene, getattr(balance, side))
        belief.pans.put(item, side)
    before = {name: item for name, (_, item) in belief.pans.items.items()}
    joints = tilted.simulation.truth().joints
    tilted.turn((0.006, 0.02))  # the left one is lighter now than the right one
    sunk = tilted.simulation.truth().joints["balance/left"] - joints["balance/left"]
    assert abs(sunk) > 0.006
    tilted.names = ("block_2", "block_3", "block_1")  # the look has changed them round
    again = belief.look(tilted)
    for name, item in before.items():
        side = belief.pans.items[name][0]
        after = again.get(name)
        assert np.linalg.norm(after.position[:2] - item.position[:2]) < 0.004
        assert after.position[2] - item.position[2] == pytest.approx(-sunk if side == "left" else sunk, abs=0.003)
    assert again.get("block_3").position[2] < 0.02
    balance = find_balance(tilted.observe())
    assert belief.pans.on("left") == ["block_1"] and belief.pans.on("right") == ["block_2"]
    assert not standing_on(again, balance.left, ("block_1",)) and not standing_on(again, balance.right, ("block_2",))
    assert is_piece(again.get("object_1"), balance.left)


def test_what_is_taken_off_by_somebody_is_not_there_any_more(tilted):
    belief = Belief()
    scene, balance = belief.look(tilted), find_balance(tilted.observe())
    (item,) = standing_on(scene, balance.left)
    belief.pans.put(item, "left")
    tilted.turn((0.03, 0.02), taken_off=True)
    for _ in range(2):
        seen = belief.look(tilted)
    assert belief.pans.on("left") == []
    assert not standing_on(seen, find_balance(tilted.observe()).left)


def test_a_balance_that_was_found_is_followed_where_its_outline_is_hidden(tilted):
    frame = tilted.observe()
    known = find_balance(frame)
    depth = frame.depth.copy()
    rows, columns = np.nonzero(np.isfinite(depth))
    points = np.stack([(columns - frame.intrinsics.cx) / frame.intrinsics.fx, (rows - frame.intrinsics.cy) / frame.intrinsics.fy], axis=1)
    world_points = (
        np.column_stack([points * depth[rows, columns][:, None], depth[rows, columns]]) @ frame.world_T_camera[:3, :3].T + frame.world_T_camera[:3, 3]
    )
    hidden = (np.abs(world_points[:, 1] - known.left.centre[1]) < 0.06) & (world_points[:, 0] > known.left.centre[0])
    depth[rows[hidden], columns[hidden]] = np.nan
    cut = replace(frame, depth=depth)
    followed = follow(cut, known)
    assert followed.left.height == pytest.approx(known.left.height, abs=0.001)
    assert followed.right.height == pytest.approx(known.right.height, abs=0.001)
