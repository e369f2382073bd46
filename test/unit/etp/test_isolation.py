import os
import signal
import threading
import time

import numpy as np
import pytest
from isolated_tools import add, double, hang, misbehave
from protocol_objects import PLACE, Bare, in_thread

from deskhand.errors import DeskhandError
from deskhand.etp.isolation.landlock import version
from deskhand.etp.isolation.seccomp import filter_program
from deskhand.etp.registry import Registry
from deskhand.etp.resources import ResourceStore
from deskhand.etp.session import Session
from deskhand.etp.tool import ToolContext, tool, tool_of
from deskhand.skills.belief import Belief


@pytest.fixture(scope="module")
def session():
    registry = Registry()
    for item in (add, double, hang, misbehave):
        registry.add(item)
    with Session(registry, lambda: ToolContext(Bare(), Belief())) as session:
        yield session


def at_module_level(ctx: ToolContext) -> dict[str, int]:
    """Stand in a module, where a worker process can import it."""
    return {}


def misbehaving(session, deed, place=""):
    return session.invoke("hang", {}) if deed == "loop" else session.invoke("misbehave", {"deed": deed, "place": str(place)})


def test_an_isolated_tool_answers_reports_and_is_read(session):
    heard = []
    result = session.invoke("add", {"numbers": [1.0, 2.5]}, lambda fraction, text: heard.append((fraction, text)))
    assert result.ok and result.data == {"total": 3.5}
    assert [line for line in heard if "print" not in line[1]] == [(0.5, "added 1.0"), (1.0, "added 2.5"), (1.0, "warning: mind the cup")]
    assert "print: the sum is 3.5" in result.details["log"]


def test_arrays_go_to_an_isolated_tool_and_back_by_reference(session):
    points = np.random.default_rng(0).normal(size=(500, 3))
    result = session.invoke("double", {"uri": session.resources.put(points)["uri"]})
    assert np.array_equal(session.resource(result.data["doubled"]["uri"]).array(), 2 * points)
    assert session.invoke("double", {"uri": "deskhand://gone"}).code == "unknown_resource"


@pytest.mark.parametrize(
    ("deed", "code", "words"),
    [
        ("loop", "timeout", "1.5 s"), ("allocate", "limit_exceeded", "memory"), ("die", "tool_failed", "signal 9"), ("exit", "tool_failed", "exit code 3"),
        ("print", "limit_exceeded", "printed"), ("wrong", "invalid_output", "sum"), ("unix socket", "access_denied", ""), ("run", "access_denied", ""),
        ("fork", "access_denied", ""), ("raise", "tool_failed", "ZeroDivisionError"), ("own", "impossible", "cannot be done"),
        ("robot", "access_denied", "robot"), ("huge result", "limit_exceeded", "MB"), ("limits", "tool_failed", "limit"),
        ("recurse", "tool_failed", "RecursionError"),
        ("thread", "", ""),
    ],
)  # fmt: skip
def test_a_misbehaving_tool_is_contained_and_the_error_says_what_it_did(session, deed, code, words):
    result = misbehaving(session, deed)
    assert result.code == code and words in result.message
    assert session.invoke("add", {"numbers": [1.0]}).data == {"total": 1.0}


def test_files_sockets_and_other_processes_are_out_of_reach(session, tmp_path):
    import socket

    kept = tmp_path / "kept"
    kept.write_text("secret")
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0.05)
        assert misbehaving(session, "socket", server.getsockname()[1]).code == "access_denied"
        with pytest.raises(TimeoutError):
            server.accept()
    assert misbehaving(session, "write", tmp_path / "new").code == "access_denied"
    assert misbehaving(session, "remove", kept).code == "access_denied"
    assert [file.name for file in tmp_path.iterdir()] == ["kept"]
    told = []
    before = signal.signal(signal.SIGTERM, lambda *_: told.append(1))
    try:
        assert misbehaving(session, "kill parent", os.getpid()).code == "access_denied"
        time.sleep(0.05)
        assert not told
    finally:
        signal.signal(signal.SIGTERM, before)
    if version():
        assert misbehaving(session, "read home", kept).code == "access_denied"


def test_32_calls_side_by_side_do_not_disturb_each_other(session):
    deeds = {"loop": "timeout", "allocate": "limit_exceeded", "die": "tool_failed", "print": "limit_exceeded", "wrong": "invalid_output",
             "unix socket": "access_denied"}  # fmt: skip
    calls = [(code, in_thread(misbehaving, session, deed)) for deed, code in deeds.items() for _ in range(2)]
    good = [(float(number), in_thread(session.invoke, "add", {"numbers": [float(number)] * 3})) for number in range(20)]
    for code, (thread, results) in calls:
        thread.join()
        assert results[0].code == code
    for number, (thread, results) in good:
        thread.join()
        assert results[0].data == {"total": 3 * number}


def test_a_cancelled_call_ends_its_process_and_the_next_one_goes_on(session):
    stop = threading.Event()
    thread, results = in_thread(session.invoke, "misbehave", {"deed": "loop", "place": ""}, None, stop.is_set)
    time.sleep(0.1)
    stop.set()
    thread.join(30)
    assert results[0].code == "cancelled"
    assert session.invoke("add", {"numbers": [2.0]}).ok


def test_when_the_process_that_forks_workers_dies_another_is_started(session):
    assert session.invoke("add", {"numbers": [2.0]}).ok
    zygote = session._processes.pool()._zygote
    zygote.kill()
    zygote.wait(10)
    deadline = time.monotonic() + 20
    while not session.invoke("add", {"numbers": [4.0]}).ok:  # a worker that was idle dies with it
        assert time.monotonic() < deadline
    assert session._processes.pool()._zygote is not zygote


def test_sessions_of_a_process_share_their_workers_which_outlive_them(session):
    assert session.invoke("add", {"numbers": [1.0]}).ok
    zygote = session._processes.pool()._zygote.pid
    with Session(session.registry, lambda: ToolContext(Bare(), Belief())) as other:
        assert other.invoke("add", {"numbers": [1.0, 2.0]}).data == {"total": 3.0}
        assert other._processes.pool()._zygote.pid == zygote
    assert other.invoke("add", {"numbers": [1.0]}).code == "cancelled"
    assert session.invoke("add", {"numbers": [1.0]}).ok and session._processes.pool()._zygote.pid == zygote


def test_what_only_reads_is_isolated_unless_it_says_why_not_or_cannot_be_imported():
    def inside(**about):
        @tool(**{**PLACE, **about}, examples=[("Hide", {})])
        def hidden(ctx: ToolContext) -> dict[str, int]:
            """Hide inside of another function."""
            return {}

        return tool_of(hidden).card

    def isolated(**about):
        return tool(**{**PLACE, **about}, examples=[("Call", {})])(at_module_level) and tool_of(at_module_level).card.isolated

    assert isolated() and isolated(needs=("camera",), preconditions=("scene_known",))
    assert not inside().isolated and not isolated(in_process="It shares what is here.")
    assert not isolated(needs=("arm",)) and not isolated(effects="memory") and not isolated(effects="motion")


def test_the_filter_of_the_robots_processor_is_made_of_the_same_rules():
    intel, arm = (filter_program(machine, 42) for machine in ("x86_64", "aarch64"))
    assert len(intel) > len(arm) > 150 and max(len(intel), len(arm)) < 4096
    for program in (intel, arm):
        for index, (code, if_true, if_false, _) in enumerate(program):
            assert index + 1 + max(if_true, if_false) < len(program) or code == 0x06
    with pytest.raises(DeskhandError, match="riscv"):
        filter_program("riscv64", 42)


def test_a_store_given_to_a_session_is_the_one_that_isolated_tools_write_to(tmp_path):
    registry = Registry()
    registry.add(double)
    store = ResourceStore(tmp_path)
    with Session(registry, lambda: ToolContext(Bare(), Belief()), resources=store) as session:
        ref = session.invoke("double", {"uri": store.put(np.arange(4))["uri"]}).data["doubled"]
        assert store.get(ref["uri"]).array().tolist() == [0, 2, 4, 6]
