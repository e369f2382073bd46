"""Stands with pegs: where pegs and rings are is seen, in any light; what is none of them is not taken for one; and which end of a row is the lighter one."""

import numpy as np
import pytest

from deskhand.arms.config import load_arm
from deskhand.perception.desk_view import view_of
from deskhand.perception.pegs import find_peg_stands
from deskhand.perception.ranks import rank_of, row_ranks
from deskhand.sim.camera import RgbdRenderer
from deskhand.sim.fixtures.pegs import pegs_of
from deskhand.sim.fixtures.spec import FixtureSpec
from deskhand.sim.reality.file import load_reality
from deskhand.sim.reality.world import with_reality
from deskhand.sim.simulation import Simulation
from deskhand.sim.spec import ObjectSpec, WorldSpec, pose_at
from deskhand.tasks.cliport.hanoi import CliportHanoi


def seen(world, seed):
    simulation = Simulation(with_reality(world, load_reality("mild", seed)))
    simulation.step(0.5)
    with RgbdRenderer(simulation) as renderer:
        return find_peg_stands(view_of(renderer.render(), simulation.joint_state(), load_arm("wx250s")))


@pytest.mark.parametrize("seed", [40, 41, 42])
def test_pegs_and_the_rings_on_them_are_found(seed):
    task = CliportHanoi()
    world = task.world(seed)
    (stand,) = seen(world, seed)
    feet = pegs_of(world.fixtures[0])
    for foot in feet:
        assert min(np.linalg.norm(peg.position - foot[:2, 3]) for peg in stand.pegs) < 0.006
    assert len(stand.pegs) == 3 and sorted(len(peg.rings) for peg in stand.pegs) == [0, 0, 3]
    full = next(peg for peg in stand.pegs if peg.rings)
    ranks = dict(zip(map(id, stand.pegs), row_ranks([peg.lightness for peg in stand.pegs]), strict=True))
    assert np.linalg.norm(full.position - feet[0][:2, 3]) < 0.006 and ranks[id(full)] == "lightest"
    assert [ring.color for ring in full.rings] == [move.text.split()[2] for move in (task.setting(seed).moves[index] for index in (3, 1, 0))]
    for ring, wide, high in zip(full.rings, (0.042, 0.033, 0.024), (0.024, 0.036, 0.048), strict=True):
        assert ring.diameter == pytest.approx(wide, abs=0.005) and ring.top == pytest.approx(high, abs=0.003)


def test_a_ring_beside_a_peg_and_blocks_on_a_board_are_no_rings_on_pegs():
    stand = FixtureSpec("stand", "peg_stand", (0.09, 0.26, 0.012), (0.55, 0.36, 0.2), pose_at(0.0, 0.0, 0.0, 0.1), peg=(0.008, 0.036))
    ring = ObjectSpec("ring", "mesh", (0.033, 0.033, 0.012), (0.1, 0.24, 0.75), 0.015, pose_at(0.0, 0.035, 0.0185), shape="peg_ring")
    (found,) = seen(WorldSpec((ring,), fixtures=(stand,), seed=3), 3)
    assert not any(peg.rings for peg in found.pegs)
    board = FixtureSpec("board", "stand", (0.09, 0.26, 0.012), (0.55, 0.36, 0.2), pose_at(0.0, 0.0, 0.0, 0.1))
    block = ObjectSpec("block", "block", (0.03, 0.03, 0.03), (0.1, 0.24, 0.75), 0.02, pose_at(0.0, 0.035, 0.0275))
    assert not seen(WorldSpec((block,), fixtures=(board,), seed=3), 3)


def test_a_row_is_ranked_by_what_is_seen_of_its_lightness():
    assert row_ranks([60.0, 40.0, 20.0]) == ["lightest", "middle", "darkest"]
    assert row_ranks([np.nan, 20.0, 40.0]) == ["darkest", "middle", "lightest"]
    assert row_ranks([np.nan, 20.0, 21.0]) == ["", "", ""] and row_ranks([np.nan, 20.0, np.nan]) == ["", "", ""]
    assert [rank_of(number, 2) for number in range(2)] == ["lighter", "darker"]
