import threading
import time

import pytest
from protocol_objects import Bare, Bench, bench_session, in_thread

from deskhand.errors import DeskhandError
from deskhand.etp.approval import Approval, PendingApprovals
from deskhand.etp.locks import Locks
from deskhand.etp.runner import ThreadRunner


@pytest.fixture
def bench():
    bench = Bench()
    yield bench
    bench.go.set()


def test_the_arm_is_for_one_call_at_a_time_and_the_others_wait_in_turn(bench):
    with bench_session(bench, lock_wait=20.0) as session:
        calls = [in_thread(session.invoke, "hold", {}) for _ in range(4)]
        assert bench.entered.acquire(timeout=10)
        assert not bench.entered.acquire(timeout=0.1)
        bench.go.set()
        for thread, _ in calls:
            thread.join(20)
    assert [results[0].code for _, results in calls] == [""] * 4
    assert bench.most == 1 and len(bench.ended) == 4


def test_a_call_that_waits_too_long_for_the_arm_is_told_who_has_it(bench):
    with bench_session(bench, lock_wait=0.05) as session:
        thread, results = in_thread(session.invoke, "hold", {})
        assert bench.entered.acquire(timeout=10)
        result = session.invoke("hold", {})
        assert result.code == "busy" and result.retry
        assert "in use by hold" in result.message
        bench.go.set()
        thread.join(20)
        assert results[0].ok
        assert session.invoke("hold", {}).ok


def test_calls_that_need_different_devices_or_none_run_side_by_side(bench):
    with bench_session(bench, lock_wait=0.0) as session:
        calls = [in_thread(session.invoke, name, {}) for name in ("hold", "look", *["think"] * 14)]
        for _ in calls:
            assert bench.entered.acquire(timeout=10)
        assert bench.most == 16
        bench.go.set()
        for thread, results in calls:
            thread.join(20)
            assert results[0].ok


def test_the_queue_is_fair_and_nobody_overtakes():
    locks, order = Locks(), []
    first = locks.acquire(frozenset({"arm"}), "first", 0)
    threads = []
    for number, resources in enumerate(({"arm", "gripper"}, {"gripper"}, {"arm"})):

        def wait(number=number, resources=resources):
            hold = locks.acquire(frozenset(resources), str(number), 20)
            order.append(number)
            hold.release()

        threads.append(threading.Thread(target=wait))
        threads[-1].start()
        while len(locks._queue) <= number:
            time.sleep(0.002)
    with pytest.raises(DeskhandError, match="others wait"):
        locks.acquire(frozenset({"gripper"}), "late", 0)
    first.release()
    for thread in threads:
        thread.join(20)
    assert order[0] == 0 and sorted(order) == [0, 1, 2]
    assert locks.holder("arm") == locks.holder("gripper") == ""


def test_a_tool_that_takes_too_long_ends_with_timeout(bench):
    with bench_session(bench) as session:
        result = session.invoke("polite", {})
    assert result.code == "timeout" and "0.1 s" in result.message and result.retry


def test_a_moving_tool_that_does_not_stop_gets_the_robot_stopped_and_keeps_its_devices(bench):
    robot = Bare()
    with bench_session(bench, robot, lock_wait=0.05, runner=ThreadRunner(grace=0.1)) as session:
        result = session.invoke("stubborn", {})
        assert result.code == "timeout" and "the robot was stopped" in result.message
        assert "stubborn" in robot.stopped
        assert session.invoke("hold", {}).code == "busy"  # the stray thread may still move the arm
        bench.go.set()
        for _ in range(500):
            if "at last" in bench.ended:
                break
            time.sleep(0.01)
        assert session.invoke("hold", {}).ok


def test_a_cancelled_call_says_so_and_frees_the_arm(bench):
    stop = threading.Event()
    with bench_session(bench) as session:
        thread, results = in_thread(session.invoke, "hold", {}, None, stop.is_set)
        assert bench.entered.acquire(timeout=10)
        stop.set()
        thread.join(20)
        assert results[0].code == "cancelled"
        assert bench.ended == ["cancelled"]
        bench.go.set()
        assert session.invoke("hold", {}).ok


def test_a_call_can_be_cancelled_while_it_waits_for_the_arm(bench):
    stop = threading.Event()
    with bench_session(bench, lock_wait=20.0) as session:
        holder, _ = in_thread(session.invoke, "hold", {})
        assert bench.entered.acquire(timeout=10)
        thread, results = in_thread(session.invoke, "hold", {}, None, stop.is_set)
        stop.set()
        thread.join(20)
        assert results[0].code == "cancelled"
        bench.go.set()
        holder.join(20)
    assert len(bench.ended) == 1


def test_a_tool_that_succeeds_although_it_was_cancelled_is_a_success(bench):
    bench.go.set()
    with bench_session(bench) as session:
        assert session.invoke("stubborn", {}, None, lambda: True).ok


def test_closing_the_session_cancels_what_runs(bench):
    session = bench_session(bench)
    thread, results = in_thread(session.invoke, "hold", {})
    assert bench.entered.acquire(timeout=10)
    session.close()
    thread.join(20)
    assert results[0].code == "cancelled"
    assert session.invoke("hold", {}).code == "cancelled"


@pytest.mark.parametrize("what", ["wrong", "extra", "nothing", "nan", "set"])
def test_a_result_that_does_not_fit_the_card_is_not_passed_on(bench, what):
    with bench_session(bench) as session:
        result = session.invoke("give", {"what": what})
    assert result.code == "invalid_output" and result.data is None


def test_faults_of_a_tool_and_its_own_codes_become_results(bench):
    with bench_session(bench) as session:
        fault = session.invoke("give", {"what": "raise"})
        assert (fault.code, fault.retry) == ("tool_failed", False) and "ZeroDivisionError" in fault.message
        own = session.invoke("give", {"what": "own"})
        assert (own.code, own.retry) == ("grasp_failed", True) and "detect_objects" in own.hint
        unknown = session.invoke("gibe", {})
        assert unknown.code == "unknown_tool" and "give" in unknown.hint
        assert session.invoke("ask_model", {}).code == "precondition_failed"
        assert session.search("language model")[0].unavailable_reason == "no language model is configured"


def test_preconditions_are_checked_before_anything_runs(bench):
    robot = Bare()
    with bench_session(bench, robot) as session:
        result = session.invoke("let_go", {})
        assert result.code == "precondition_failed" and result.details["precondition"] == "holding"
        robot.stop("a person came near")
        stopped = session.invoke("let_go", {})
        assert stopped.code == "safety_stop" and "a person came near" in stopped.message and "operator" in stopped.hint
    assert bench.ended == []


def test_without_an_operator_nothing_that_moves_runs_in_mode_motion(bench):
    bench.go.set()
    with bench_session(bench, approval=Approval("motion")) as session:
        denied = session.invoke("hold", {})
        assert denied.code == "permission_denied" and "operator" in denied.message and not denied.retry
        assert session.invoke("think", {}).ok
    with bench_session(bench, approval=Approval("always")) as session:
        assert session.invoke("think", {}).code == "permission_denied"
    assert bench.ended == ["thought"]


def wait_for(what, limit=20.0):
    end = time.monotonic() + limit
    while not what():
        assert time.monotonic() < end, "it did not come"
        time.sleep(0.01)


def test_the_operator_decides_and_silence_is_a_no(bench):
    bench.go.set()
    asked = threading.Semaphore(0)
    pending = PendingApprovals(20.0, lambda request: asked.release())
    with bench_session(bench, approval=Approval("motion", pending)) as session:
        for approve, code in ((True, ""), (False, "permission_denied")):
            thread, results = in_thread(session.invoke, "hold", {})
            assert asked.acquire(timeout=10)
            assert pending.decide(approve).tool == "hold"
            thread.join(20)
            assert results[0].code == code
        assert pending.decide(True) is None
    with bench_session(bench, approval=Approval("motion", PendingApprovals(0.1))) as session:
        assert session.invoke("hold", {}).code == "permission_denied"
    assert bench.ended == ["done"]


def test_the_operator_decides_about_the_request_that_was_shown_and_hears_how_each_ended(bench):
    bench.go.set()
    asked, ends = [], []
    pending = PendingApprovals(20.0, asked.append, lambda request, how: ends.append((request.id, how)))
    gone = threading.Event()
    with bench_session(bench, approval=Approval("always", pending)) as session:
        first, first_results = in_thread(session.invoke, "hold", {}, None, gone.is_set)
        wait_for(lambda: len(asked) == 1)
        second, second_results = in_thread(session.invoke, "think", {})
        wait_for(lambda: len(asked) == 2)
        assert pending.decide(True, asked[1].id).tool == "think"
        second.join(20)
        assert second_results[0].ok and first.is_alive()
        assert pending.decide(True, asked[1].id) is None, "it was answered already"
        gone.set()
        first.join(20)
        assert first_results[0].code == "cancelled"
    assert ends == [(asked[1].id, "approved"), (asked[0].id, "cancelled")]
    assert bench.ended == ["thought"]


def test_progress_and_log_lines_reach_the_caller_and_a_broken_callback_does_no_harm(bench):
    heard = []
    with bench_session(bench) as session:
        result = session.invoke("tell", {}, lambda fraction, text: heard.append((fraction, text)))
        assert heard == [(0.5, "half way"), (0.5, "warning: mind the cup"), (1.0, "beyond")]
        assert result.details["log"] == ["warning: mind the cup"]
        assert session.invoke("tell", {}, lambda fraction, text: 1 / 0).ok


def test_a_log_line_is_heard_once_where_a_process_has_two_sessions(bench):
    heard = []
    with bench_session(bench), bench_session(bench) as session:
        assert session.invoke("tell", {}, lambda fraction, text: heard.append(text)).details["log"] == ["warning: mind the cup"]
    assert heard == ["half way", "warning: mind the cup", "beyond"]


def test_every_call_is_recorded_before_and_after_and_measured(bench):
    audit, events = [], []
    with bench_session(bench, audit=audit.append, events=events.append, clock=lambda: 42.0) as session:
        session.invoke("give", {"what": "right"}, caller="me")
        session.invoke("give", {"what": "own"})
        session.invoke("give", {"wat": 1})
        session.invoke("nothing_like_this", {"x": float("nan")})
        measured = session.describe("give")["measured"]
    assert audit == events
    assert [(record["event"], record["tool"]) for record in audit[:2]] == [("start", "give"), ("end", "give")]
    assert audit[0]["id"] == audit[1]["id"] and audit[0]["arguments"] == {"what": "right"} and audit[0]["caller"] == "me" and audit[0]["sim_time"] == 42.0
    assert [record["code"] for record in audit if record["event"] == "end"] == ["", "grasp_failed", "invalid_arguments", "unknown_tool"]
    assert audit[1]["data"] == {"total": 1.0}
    assert "unreadable" in audit[6]["arguments"]
    assert (measured["calls"], measured["success_rate"]) == (2, 0.5) and measured["latency_median"] > 0


def test_when_the_audit_log_cannot_be_written_nothing_runs(bench):
    bench.go.set()

    def full(record):
        raise OSError("no space left")

    with bench_session(bench, audit=full) as session:
        result = session.invoke("hold", {})
    assert result.code == "internal_error" and "audit" in result.message
    assert bench.ended == []


def test_other_callers_than_the_operators_task_may_need_more_leave_and_a_grant_is_for_one_caller(bench):
    bench.go.set()
    approval = Approval("never", others="motion")
    with bench_session(bench, approval=approval) as session:
        assert session.invoke("hold", {}, caller="orchestrator/offline").ok
        for caller in ("", "mcp/agent#1", "orchestratorx", "mcp/orchestrator/"):
            assert session.invoke("hold", {}, caller=caller).code == "permission_denied"
            assert session.invoke("think", {}, caller=caller).ok
        approval.grant("mcp/agent#1")
        assert approval.granted == ("mcp/agent#1",)
        assert session.invoke("hold", {}, caller="mcp/agent#1").ok and not session.invoke("hold", {}, caller="mcp/agent#2").ok
        assert approval.revoke() == ("mcp/agent#1",)
        assert session.invoke("hold", {}, caller="mcp/agent#1").code == "permission_denied"
    with pytest.raises(DeskhandError, match="without a name"):
        approval.grant("")
    assert Approval("always", others="motion").others == "always", "the stricter holds"
    with pytest.raises(DeskhandError, match="approval mode"):
        Approval("never", others="sometimes")


def test_a_tool_that_tries_to_end_the_process_only_fails(bench):
    with bench_session(bench) as session:
        for how, name in (("exit", "SystemExit"), ("interrupt", "KeyboardInterrupt")):
            result = session.invoke("leave", {"how": how})
            assert result.code == "tool_failed" and name in result.message
        bench.go.set()
        assert session.invoke("think", {}).ok


@pytest.mark.parametrize(
    "arguments", [{}, {"reason": "now"}, {"reason": "far too long"}, {"reason": 5}, {"cause": "fire"}, {"reason": "now", "x": [1]}, None, [1], "now"]
)
def test_a_lenient_tool_runs_whatever_is_said_with_it(bench, arguments):
    with bench_session(bench) as session:
        assert session.invoke("halt", arguments).ok
    said = isinstance(arguments, dict) and arguments.get("reason") == "now"
    assert bench.ended == ["halt now" if said else "halt"]
