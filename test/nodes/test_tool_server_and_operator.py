"""Who may let a tool server move the robot: the operator, the rules of the safety file; and what the audit log keeps of it."""

import json
import time

import pytest

pytest.importorskip("rclpy")
from rclpy.qos import DurabilityPolicy, QoSProfile
from std_msgs.msg import Bool, String
from std_srvs.srv import Trigger
from tool_graph import Graph, ros_domain

from deskhand.nodes.approvals import ApprovalClient
from deskhand.nodes.node import EVENTS, call_service
from deskhand.safety.audit import verify
from deskhand.types.resources import resource_path
from deskhand_interfaces.msg import SafetyStatus
from deskhand_interfaces.srv import CallTool


@pytest.fixture(scope="module", autouse=True)
def ros():
    with ros_domain():
        yield


def test_the_operator_approves_by_a_service(tmp_path):
    graph = Graph(tmp_path, approval="motion")
    try:
        approve, deny = (graph.node.create_client(Trigger, f"tools/{name}", callback_group=graph.node.reentrant) for name in ("approve", "deny"))
        assert not call_service(approve, Trigger.Request()).success
        for client, code in ((deny, "permission_denied"), (approve, "")):
            graph.events.clear()
            thread, results = graph.start("open_gripper", {})
            assert graph.event(event="approval")["tool"] == "open_gripper"
            assert "open_gripper" in call_service(client, Trigger.Request()).message
            thread.join(20)
            assert results[0].code == code
    finally:
        graph.close()


def test_the_operator_decides_about_the_call_that_was_shown(tmp_path):
    graph = Graph(tmp_path, approval="always")
    decide = graph.node.create_publisher(String, "tools/decide", 10)
    try:
        first, first_results = graph.start("open_gripper", {})
        waits = graph.event(event="approval", tool="open_gripper")
        second, second_results = graph.start("get_robot_state", {})
        shown = graph.event(event="approval", tool="get_robot_state")
        for text in ("no JSON", "[]", json.dumps({"approve": True}), json.dumps({"id": "", "approve": True}), json.dumps({"id": "nobody", "approve": True})):
            decide.publish(String(data=text))
        decide.publish(String(data=json.dumps({"id": shown["id"], "approve": True})))
        second.join(20)
        assert second_results[0].ok and first.is_alive()
        assert graph.event(event="approval_end", id=shown["id"])["end"] == "approved"
        decide.publish(String(data=json.dumps({"id": waits["id"], "approve": "yes"})))
        first.join(20)
        assert first_results[0].code == "permission_denied", "only true is a yes"
    finally:
        graph.close()


@pytest.fixture(scope="class")
def strict(tmp_path_factory):
    """Everybody has to ask for everything."""
    graph = Graph(tmp_path_factory.mktemp("strict"), approval="always", others="always")
    yield graph
    graph.close()


class TestStop:
    @pytest.mark.parametrize("text", ["", "{}", "no JSON", "[]", '{"reason": ""}', '{"reason": 7}', json.dumps({"reason": "x" * 5000}), '{"cause": "fire"}'])
    def test_nothing_that_is_said_with_it_keeps_the_stop_from_stopping(self, strict, text):
        strict.robot.reset_stop()
        stop = strict.node.create_client(CallTool, "tools/call", callback_group=strict.node.reentrant)
        answer = call_service(stop, CallTool.Request(tool="stop_motion", arguments_json=text))
        assert answer.error_code == 0, answer.error_message
        assert strict.robot.safety_status().stopped


def test_on_a_real_robot_others_need_leave_to_move_and_the_operator_can_grant_a_session(tmp_path):
    """Nothing but the safety file says so: the modes of the tool server are those of config/safety.yaml."""
    graph = Graph(tmp_path, approval="", others="")
    approvals = ApprovalClient(graph.node)
    try:
        task = graph.client.invoke("open_gripper", {}, caller="orchestrator/offline")
        assert task.ok, "the operator's own task needs no leave"
        assert graph.client.invoke("get_robot_state", {}, caller="mcp/agent#1").ok, "what moves nothing neither"
        thread, results = graph.start("open_gripper", {}, caller="mcp/agent#1")
        waits = approvals.next(10.0)
        assert (waits["tool"], waits["caller"]) == ("open_gripper", "mcp/agent#1")
        assert approvals.decide(waits["id"], True, grant=True) == "approved"
        thread.join(20)
        assert results[0].ok
        assert graph.event(event="granted")["callers"] == ["mcp/agent#1"]
        assert graph.client.invoke("open_gripper", {}, caller="mcp/agent#1").ok, "the rest of its session is granted"
        other, denied = graph.start("open_gripper", {}, caller="mcp/agent#2")
        assert approvals.decide(approvals.next(10.0)["id"], False) == "denied"
        other.join(20)
        assert denied[0].code == "permission_denied"
        assert approvals.revoke("mcp/agent#1") == ["mcp/agent#1"] and approvals.revoke() == []
        again, results = graph.start("open_gripper", {}, caller="mcp/agent#1")
        assert approvals.decide(approvals.next(10.0)["id"], False) == "denied"
        again.join(20)
        assert results[0].code == "permission_denied"
    finally:
        graph.close()
    kept = [json.loads(line) for line in (tmp_path / "audit.jsonl").read_text().splitlines()]
    told = [entry["data"]["event"] for entry in kept if entry["event"] == "approval"]
    assert told.count("approval") == told.count("approval_end") == 3 and {"granted", "revoked"} <= set(told)


def test_rules_of_the_safety_file_bind_other_callers(tmp_path):
    text = resource_path("config/safety.yaml").read_text().replace("rules: []", "rules: [do not touch the pen]")
    (tmp_path / "safety.yaml").write_text(text)
    graph = Graph(tmp_path, settings=tmp_path / "safety.yaml")
    try:
        early = graph.client.invoke("open_gripper", {}, caller="mcp/agent#1")
        assert early.code == "precondition_failed" and "safety rules" in early.message
        graph.ok("detect_objects")
        broken = graph.client.invoke("pick", {"object_id": "pen_1"}, caller="mcp/agent#1")
        assert broken.code == "impossible" and "do not touch the pen" in broken.message
        assert graph.client.invoke("open_gripper", {}, caller="mcp/agent#1").ok
    finally:
        graph.close()


def test_instructions_stops_resets_and_pauses_are_in_the_audit_log_once_each(tmp_path):
    graph = Graph(tmp_path)
    latched = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
    words = graph.node.create_publisher(String, "agent/events", EVENTS)
    safety = graph.node.create_publisher(SafetyStatus, "safety/status", 10)
    paused = graph.node.create_publisher(Bool, "motion/paused", latched)
    file = tmp_path / "audit.jsonl"

    def noted(event):
        return [entry["data"] for entry in map(json.loads, file.read_text().splitlines()) if entry["event"] == event]

    def until(publish, event, count):
        end = time.monotonic() + 15
        while len(noted(event)) < count:
            assert time.monotonic() < end, f"{event} is not there"
            publish()
            time.sleep(0.05)

    try:
        words.publish(String(data=json.dumps({"event": "instruction", "text": "put the cup into the bin", "mode": ""})))
        until(lambda: None, "instruction", 1)
        for count, stopped in enumerate((False, True, False, True), 1):
            until(lambda stopped=stopped: safety.publish(SafetyStatus(stopped=stopped, code="safety_stop" if stopped else "")), "safety", count)
            for _ in range(5 if count < 4 else 0):  # the last one comes after all that must not be noted again
                safety.publish(SafetyStatus(stopped=stopped, code="safety_stop" if stopped else ""))
        for count, value in enumerate((True, False), 1):
            until(lambda value=value: paused.publish(Bool(data=value)), "paused", count)
    finally:
        graph.close()
    assert [data["stopped"] for data in noted("safety")] == [False, True, False, True]
    assert [data["paused"] for data in noted("paused")] == [True, False]
    assert noted("instruction") == [{"text": "put the cup into the bin", "mode": ""}]
    verify(file)
