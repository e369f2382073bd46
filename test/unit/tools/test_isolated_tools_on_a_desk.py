import os

import pytest
from reading_tools import change_world, read_world

from deskhand.etp.registry import Registry
from deskhand.testing.desk_robot import DeskRobot
from deskhand.testing.desk_scene import one_of_each
from deskhand.tools.base import load_tools, make_session


@pytest.fixture(scope="module")
def desk():
    registry, robot = Registry(), DeskRobot(one_of_each())
    for item in (read_world, change_world, load_tools(others=False)[0].get("detect_objects").tool):
        registry.add(item)
    with make_session(robot, registry=registry) as session:
        assert session.invoke("detect_objects", {}).ok
        yield session, robot


def test_an_isolated_tool_reads_a_copy_of_the_world_in_another_process(desk):
    session, robot = desk
    for _ in range(2):  # what the first call did to its copy is not seen by the second
        data = session.invoke("read_world", {}).data
        assert set(data["ids"]) == set(data["remembered"]) == set(robot.objects)
    assert data["shape"] == list(robot.observe().color.shape) and data["arm"] == robot.arm.name
    assert data["joints"] == robot.joint_state().positions.tolist()
    assert data["process"] != os.getpid()


@pytest.mark.parametrize("deed", ["execute", "stop", "look", "remember"])
def test_an_isolated_tool_can_neither_move_the_robot_nor_change_what_is_known(desk, deed):
    session, robot = desk
    events = len(session.invoke("read_world", {}).data["remembered"])
    result = session.invoke("change_world", {"deed": deed})
    assert result.code == "access_denied" and "no reading" in result.message
    assert not robot.safety_status().stopped and len(session.invoke("read_world", {}).data["remembered"]) == events
    assert session.invoke("change_world", {"deed": "hasattr"}).data == {"has": False}


@pytest.mark.parametrize("deed", ["sleep", "nan", "future"])
def test_an_isolated_tool_cannot_keep_the_robot_s_process_waiting(desk, deed):
    session, robot = desk
    before = robot.now()
    assert session.invoke("change_world", {"deed": deed}).code in ("invalid_input", "tool_failed")
    assert robot.now() - before < 1e3


def test_what_only_reads_is_isolated_or_says_why_not():
    cards = load_tools(others=False)[0].cards()
    reading = [card for card in cards if card.effects == "none" and card.mode == "on_demand" and not set(card.needs) - {"camera"}]
    assert len(reading) > 50
    assert [card.name for card in reading if card.isolated is bool(card.in_process)] == []
    assert [card.name for card in cards if card.isolated and card not in reading] == []
