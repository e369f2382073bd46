"""Real child processes that work, die, hang, ignore signals or leave children of their own."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from deskhand.bringup.spec import NodeSpec
from deskhand.bringup.supervisor import Supervisor
from deskhand.errors import DeskhandError

WAIT = "import signal; signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT]); "
GOOD = WAIT + "print('ready good', flush=True); signal.sigwait([signal.SIGINT])"


@dataclass(frozen=True)
class Script(NodeSpec):
    """A node that is a few lines of Python."""

    code: str = ""

    def command(self) -> list[str]:
        return [sys.executable, "-I", "-S", "-c", textwrap.dedent(self.code), *self.arguments]


def script(name: str, code: str, **kwargs: object) -> Script:
    return Script(name=name, executable=name, code=code, **kwargs)  # type: ignore[arg-type]


def gone(pid: int) -> bool:
    """No such process, or only its zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] == "Z"
    except (FileNotFoundError, ProcessLookupError):
        return True


def eventually(condition: Callable[[], bool], limit: float = 10.0) -> bool:
    end = time.monotonic() + limit
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.02)
    return condition()


def test_waits_until_every_node_says_that_it_is_ready() -> None:
    slow = "import time; time.sleep(0.3); print('ready slow', flush=True); time.sleep(60)"
    with Supervisor([script("good", GOOD), script("slow", slow)]) as supervisor:
        supervisor.wait_ready(20)
        assert supervisor.died() == []


def test_names_the_node_that_is_not_ready_in_time_and_shows_what_it_said() -> None:
    with (
        Supervisor([script("good", GOOD), script("mute", "import time; print('looking for a camera', flush=True); time.sleep(60)")]) as supervisor,
        pytest.raises(DeskhandError) as caught,
    ):
        supervisor.wait_ready(1.0)
    assert caught.value.code == "timeout"
    assert "not ready within 1 s: mute" in caught.value.message
    assert "looking for a camera" in caught.value.message


def test_a_node_that_dies_at_start_is_reported_at_once_with_its_exit_code_and_last_lines() -> None:
    bad = "import sys; print('line 1'); print('no such arm', file=sys.stderr); sys.exit(7)"
    with Supervisor([script("good", GOOD), script("bad", bad)]) as supervisor, pytest.raises(DeskhandError) as caught:
        supervisor.wait_ready(30)
    assert caught.value.code == "node_unavailable"
    assert "bad: exit code 7" in caught.value.message
    assert "no such arm" in caught.value.message


def test_a_killed_node_is_noticed_and_named() -> None:
    with Supervisor([script("good", GOOD)]) as supervisor:
        supervisor.wait_ready(20)
        os.kill(supervisor.pid("good"), signal.SIGKILL)
        (death,) = supervisor.wait_death(10)
        assert (death.name, death.exit_code, death.cause) == ("good", -signal.SIGKILL, "killed by SIGKILL")


def test_what_a_node_prints_is_kept_echoed_and_logged(tmp_path: Path) -> None:
    heard: list[tuple[str, str]] = []
    talker = script("talker", "for i in range(300): print('line', i)\nprint('no newline at the end', end='')")
    with Supervisor([talker], log_folder=tmp_path / "log", echo=lambda name, line: heard.append((name, line))) as supervisor:
        (death,) = supervisor.wait_death(20)
    assert death.lines[-1] == "no newline at the end"
    assert heard[0] == ("talker", "line 0") and len(heard) == 301
    assert (tmp_path / "log/talker.log").read_text().splitlines()[:2] == ["line 0", "line 1"]


@pytest.mark.parametrize(
    "ignored",
    [(), (signal.SIGINT,), (signal.SIGINT, signal.SIGTERM)],
    ids=["obedient", "ignores SIGINT", "ignores SIGINT and SIGTERM"],
)
def test_stop_ends_every_kind_of_node(ignored: tuple[signal.Signals, ...]) -> None:
    names = ", ".join(str(int(number)) for number in ignored)
    code = f"""
        import signal, time
        for number in [{names}]:
            signal.signal(number, signal.SIG_IGN)
        print("ready stubborn", flush=True)
        time.sleep(60)
    """
    supervisor = Supervisor([script("stubborn", code), script("good", GOOD)])
    supervisor.start()
    supervisor.wait_ready(20)
    pids = [supervisor.pid("stubborn"), supervisor.pid("good")]
    supervisor.stop()
    assert all(gone(pid) for pid in pids)
    assert supervisor.died() == []  # asked to end, so not a death
    supervisor.stop()


PARENT = """
    import os, subprocess, sys, time
    child = subprocess.Popen([sys.executable, "-I", "-S", "-c", "import signal, time; signal.signal(2, signal.SIG_IGN); time.sleep(60)"])
    print("child", child.pid, flush=True)
    print("ready parent", flush=True)
    {then}
"""


@pytest.mark.parametrize("then", ["time.sleep(60)", "os._exit(3)"], ids=["at stop", "when the node dies"])
def test_children_of_a_node_end_with_it(then: str) -> None:
    with Supervisor([script("parent", PARENT.format(then=then))]) as supervisor:
        assert eventually(lambda: bool(supervisor.tail("parent")))
        grandchild = int(supervisor.tail("parent")[0].split()[1])
        if "exit" in then:
            assert supervisor.wait_death(10)
            assert eventually(lambda: gone(grandchild))
    assert eventually(lambda: gone(grandchild))


def test_nothing_is_left_when_the_supervisor_itself_is_killed(tmp_path: Path) -> None:
    code = """
        import sys, time
        from test_supervisor import GOOD, Supervisor, script
        ignoring = "import signal, time; signal.signal(2, signal.SIG_IGN); signal.signal(15, signal.SIG_IGN); "
        stubborn = ignoring + "print('ready stubborn', flush=True); time.sleep(60)"
        supervisor = Supervisor([script("good", GOOD), script("stubborn", stubborn)])
        supervisor.start()
        supervisor.wait_ready(20)
        print(supervisor.pid("good"), supervisor.pid("stubborn"), flush=True)
        time.sleep(60)
    """
    host = subprocess.Popen([sys.executable, "-c", textwrap.dedent(code)], cwd=Path(__file__).parent, stdout=subprocess.PIPE, text=True)
    assert host.stdout is not None
    pids = [int(pid) for pid in host.stdout.readline().split()]
    assert len(pids) == 2 and not any(gone(pid) for pid in pids)
    host.kill()
    host.wait()
    host.stdout.close()
    assert eventually(lambda: all(gone(pid) for pid in pids))


def test_an_inherited_descriptor_reaches_its_node_and_no_other() -> None:
    code = """
        import os, sys
        try:
            os.write(int(sys.argv[1]), b"here")
            print("open")
        except OSError:
            print("closed")
    """
    read, write = os.pipe()
    try:
        specs = [script("truth", code, arguments=(str(write),), pass_fds=(write,)), script("other", code, arguments=(str(write),))]
        with Supervisor(specs) as supervisor:
            assert eventually(lambda: len(supervisor.died()) == 2)
            assert supervisor.tail("truth") == ["open"]
            assert supervisor.tail("other") == ["closed"]
        assert os.read(read, 16) == b"here"
    finally:
        os.close(read)
        os.close(write)


def test_a_program_that_does_not_exist_is_a_clear_error_and_stops_the_others() -> None:
    @dataclass(frozen=True)
    class Missing(NodeSpec):
        def command(self) -> list[str]:
            return ["no-such-program-anywhere"]

    supervisor = Supervisor([script("good", GOOD), Missing(name="driver", executable="x")])
    with pytest.raises(DeskhandError) as caught:
        supervisor.start()
    assert caught.value.code == "missing_dependency"
    assert "driver" in caught.value.message
    assert gone(supervisor.pid("good"))


def test_the_environment_given_reaches_the_nodes() -> None:
    code = "import os; print(os.environ['ROS_DOMAIN_ID'])"
    with Supervisor([script("node", code)], environment={"ROS_DOMAIN_ID": "77"}) as supervisor:
        supervisor.wait_death(20)
        assert supervisor.tail("node") == ["77"]
