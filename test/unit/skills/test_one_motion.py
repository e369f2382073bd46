"""Picked and brought in one motion, and on to the next from there: in physics, against what is true."""

from contextlib import contextmanager

import numpy as np
import pytest

from deskhand.errors import DeskhandError
from deskhand.recording.episode.writer import EpisodeWriter
from deskhand.sim.worldfile import world_from_dict
from deskhand.skills import pick as pick_module
from deskhand.skills import place as place_module
from deskhand.skills.base import SkillContext
from deskhand.skills.belief import Belief
from deskhand.skills.bring import Then
from deskhand.skills.onward import Onward
from deskhand.skills.pick import pick
from deskhand.skills.place import place_in
from deskhand.trials.local import local_robot

THINGS = [
    {"kind": "can", "name": "can", "color": "red", "pose": {"x": 0.1, "y": 0.02}},
    {"kind": "block", "name": "block", "color": "blue", "size": 0.03, "pose": {"x": 0.14, "y": -0.12}},
    {"kind": "tray", "name": "tray", "color": "green", "pose": {"x": -0.02, "y": 0.24}},
    {"kind": "bin", "name": "bin", "color": "yellow", "pose": {"x": -0.06, "y": -0.27}},
]


@contextmanager
def desk(tmp_path):
    world = world_from_dict({"objects": THINGS, "reality": "mild", "seed": 4})
    with EpisodeWriter(tmp_path) as writer, local_robot(world, writer, tmp_path / "memory.sqlite") as parts:
        parts.wait(0.5)
        ctx = SkillContext(parts.robot, Belief())
        ctx.look()
        yield ctx, parts.simulation


def named(ctx, color):
    return next(item.id for item in ctx.belief.scene.objects if item.color == color)


@pytest.fixture
def motions(monkeypatch):
    """What was executed, one entry a motion."""
    made = []
    execute = SkillContext.execute

    def counted(self, plan, watch=None):
        made.append(plan)
        return execute(self, plan, watch)

    monkeypatch.setattr(SkillContext, "execute", counted)
    return made


def test_an_object_goes_to_its_container_and_the_hand_to_the_next_in_two_motions(tmp_path, motions):
    with desk(tmp_path) as (ctx, simulation):
        can, block, tray = named(ctx, "red"), named(ctx, "blue"), named(ctx, "green")
        looks, looked = [], ctx.belief.look
        ctx.belief.look = lambda robot: (looks.append(robot.now()), looked(robot))[1]
        picked = pick(ctx, can, then=Then(tray))
        assert picked.ok and picked.data["second_look"] == "gone", picked.message
        assert len(motions) == 2  # to it, and with it to the tray
        assert simulation.truth().in_hand == ("can",) or list(simulation.truth().in_hand) == ["can"]
        placed = place_in(ctx, tray, next_object_id=block)
        assert placed.ok and placed.data["seen"], placed.message
        assert len(motions) == 3 and not looks
        truth = simulation.truth()
        assert np.linalg.norm(truth.get("can").pose[:2, 3] - np.asarray(placed.data["position"])[:2]) < 0.01
        assert np.linalg.norm(ctx.robot.tcp_pose()[:2, 3] - truth.get("block").pose[:2, 3]) < 0.01
        again = pick(ctx, block)
        assert again.ok and len(motions) == 4, again.message  # closed where it was, and lifted


def test_who_thinks_better_of_it_may_put_it_elsewhere(tmp_path):
    with desk(tmp_path) as (ctx, simulation):
        can, tray, other = named(ctx, "red"), named(ctx, "green"), named(ctx, "yellow")
        assert pick(ctx, can, then=Then(tray)).ok
        placed = place_in(ctx, other)
        assert placed.ok, placed.message
        assert np.linalg.norm(simulation.truth().get("can").pose[:2, 3] - simulation.truth().get("bin").pose[:2, 3]) < 0.08


def test_what_is_lost_on_the_way_is_not_said_to_be_held(tmp_path, motions, monkeypatch):
    with desk(tmp_path) as (ctx, simulation):
        can, tray = named(ctx, "red"), named(ctx, "green")
        width = SkillContext.width
        begun = []

        def opened(self):
            if len(motions) == 2 and not begun and self.robot.tcp_pose()[2, 3] > 0.12:
                begun.append(self.robot.now())
            return 0.0 if begun and self.robot.now() < begun[0] + 0.5 else width(self)

        monkeypatch.setattr(SkillContext, "width", opened)
        picked = pick(ctx, can, attempts=1, then=Then(tray))
        assert begun and not picked.ok and picked.code in ("grasp_failed", "object_lost")
        assert ctx.belief.held is None or ctx.belief.brought is None
        assert not list(simulation.truth().in_hand)


def test_a_name_that_nobody_knows_is_no_harm(tmp_path):
    with desk(tmp_path) as (ctx, _):
        can, tray = named(ctx, "red"), named(ctx, "green")
        assert pick(ctx, can, then=Then("shelf_7")).ok
        assert place_in(ctx, tray, next_object_id="cup_99").ok


def test_the_way_on_is_planned_while_the_fingers_move(tmp_path, monkeypatch):
    """How far they are apart when it is planned: wider than they close to, and narrower than they open to."""
    closing, opening = [], []
    course, plan = pick_module.course, Onward.plan

    def while_closing(ctx, *arguments):
        closing.append(ctx.width())
        return course(ctx, *arguments)

    def while_opening(self, touch, opened):
        opening.append((self._ctx.width(), opened))
        plan(self, touch, opened)

    monkeypatch.setattr(pick_module, "course", while_closing)
    monkeypatch.setattr(Onward, "plan", while_opening)
    with desk(tmp_path) as (ctx, _):
        can, block, tray = named(ctx, "red"), named(ctx, "blue"), named(ctx, "green")
        picked = pick(ctx, can, then=Then(tray))
        assert picked.ok and len(closing) == 1 and closing[0] > picked.data["closed_width"] + 0.002
        placed = place_in(ctx, tray, next_object_id=block)
        assert placed.ok and len(opening) == 1 and opening[0][0] < opening[0][1] - 0.002
        assert ctx.belief.approached is not None and ctx.belief.approached.item.id == block


def test_the_way_on_is_planned_while_it_is_brought(tmp_path, motions, monkeypatch):
    """For a desk on which it lies where it will: nothing is planned once it is there, and the fingers open as wide as the next grasp wants."""
    planned, release = [], place_module.release
    plan = SkillContext.plan_line

    def counted(self, waypoints, options=None):
        planned.append(self.robot.now())
        return plan(self, waypoints, options)

    monkeypatch.setattr(SkillContext, "plan_line", counted)
    with desk(tmp_path) as (ctx, simulation):
        can, block, tray = named(ctx, "red"), named(ctx, "blue"), named(ctx, "green")
        assert pick(ctx, can, then=Then(tray, block)).ok
        way = ctx.belief.brought.on
        assert way.there.item.id == block and ctx.belief.attached == can  # held still, for the planner too
        assert np.linalg.norm(way.rest.position[:2] - ctx.belief.scene.get(tray).position[:2]) < 0.08
        arrived, wide = ctx.robot.now(), []
        monkeypatch.setattr(place_module, "release", lambda *given, **named: (wide.append(named["onward"].opened), release(*given, **named))[1])
        placed = place_in(ctx, tray, next_object_id=block)
        assert placed.ok and len(motions) == 3 and planned and max(planned) < arrived
        assert wide == [way.opened] and ctx.width() > way.there.grasp.width
        assert ctx.belief.approached.item.id == block and not ctx.belief.attached
        assert np.linalg.norm(ctx.robot.tcp_pose()[:2, 3] - simulation.truth().get("block").pose[:2, 3]) < 0.01


def test_a_planner_that_cannot_be_told_what_comes_stops_nothing(tmp_path, motions, monkeypatch):
    detach, refused = SkillContext.detach, []

    def refusing(self, lies=None):
        if lies is not None:
            refused.append(lies)
            raise DeskhandError("scene_error", "no")
        detach(self)

    monkeypatch.setattr(SkillContext, "detach", refusing)
    with desk(tmp_path) as (ctx, simulation):
        can, block, tray = named(ctx, "red"), named(ctx, "blue"), named(ctx, "green")
        picked = pick(ctx, can, attempts=1, then=Then(tray, block))
        assert refused and picked.ok and len(motions) == 2 and simulation.truth().in_hand
        assert ctx.belief.brought.on is None and ctx.belief.attached == can


def test_who_thinks_better_of_what_comes_next_goes_there(tmp_path, motions):
    with desk(tmp_path) as (ctx, simulation):
        can, block, tray, other = named(ctx, "red"), named(ctx, "blue"), named(ctx, "green"), named(ctx, "yellow")
        assert pick(ctx, can, then=Then(tray, block)).ok
        assert place_in(ctx, other).ok and not ctx.belief.attached
        assert np.linalg.norm(simulation.truth().get("can").pose[:2, 3] - simulation.truth().get("bin").pose[:2, 3]) < 0.08


def test_fingers_that_do_not_open_still_hold_for_the_planner(tmp_path, monkeypatch):
    with desk(tmp_path) as (ctx, _):
        can, block, tray = named(ctx, "red"), named(ctx, "blue"), named(ctx, "green")
        assert pick(ctx, can, then=Then(tray)).ok
        gripper = ctx.robot.gripper

        def stuck(width, force=None, cancelled=None):
            cancelled()
            return gripper(ctx.width(), force, cancelled)

        monkeypatch.setattr(ctx.robot, "gripper", stuck)
        placed = place_in(ctx, tray, next_object_id=block)
        assert placed.code == "gripper_failed" and ctx.belief.held is not None and ctx.belief.attached == can


@pytest.mark.parametrize("when", ["as it is brought", "as the hand goes on"])
def test_a_plan_that_holds_no_more_is_made_otherwise(tmp_path, monkeypatch, when):
    """What is gripped or let go may shift the arm from where the plan begins: nothing has moved, and it is planned again, or goes the longer way."""
    execute, expired = SkillContext.execute, []

    def once(self, plan, watch=None):
        if watch is not None and not expired:
            expired.append(plan)
            raise DeskhandError("plan_expired", "waist is not where the plan begins")
        return execute(self, plan, watch)

    with desk(tmp_path) as (ctx, simulation):
        can, block, tray = named(ctx, "red"), named(ctx, "blue"), named(ctx, "green")
        if when == "as it is brought":
            monkeypatch.setattr(SkillContext, "execute", once)
            picked = pick(ctx, can, attempts=1, then=Then(tray))
            assert expired and picked.ok and ctx.belief.brought is None and simulation.truth().in_hand
        else:
            assert pick(ctx, can, then=Then(tray)).ok
            monkeypatch.setattr(SkillContext, "execute", once)
            placed = place_in(ctx, tray, next_object_id=block)
            assert expired and placed.ok and ctx.belief.approached.item.id == block and not simulation.truth().in_hand
