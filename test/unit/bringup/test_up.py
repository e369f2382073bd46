"""``deskhand up`` as a person meets it: a real terminal command whose nodes are small scripts."""

from __future__ import annotations

import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from test_supervisor import WAIT, eventually, gone

HOST = """
    import sys
    from pathlib import Path
    import typer
    from deskhand.commands import cli
    from deskhand.commands import up
    from test_supervisor import GOOD, script
    app = typer.Typer()
    app.command()(lambda: up.run([script("good", GOOD + "; print('bye')"), script("other", {other!r})], Path({log!r})))
    cli.app = app
    cli.main()
"""
STAYS = WAIT + "print('ready other', flush=True); print('working', flush=True); signal.sigwait([signal.SIGINT])"
FAILS = "import sys, time; print('ready other', flush=True); time.sleep(0.5); print('servo 3 does not answer', flush=True); sys.exit(4)"


def start(other: str, log: Path) -> subprocess.Popen[str]:
    code = textwrap.dedent(HOST.format(other=other, log=str(log)))
    told = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    return subprocess.Popen([sys.executable, "-c", code], cwd=Path(__file__).parent, start_new_session=True, **told)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_ends_quietly_and_leaves_nothing_when_it_is_asked_to(number: signal.Signals, tmp_path: Path) -> None:
    host = start(STAYS, tmp_path)
    assert host.stdout is not None
    lines = []
    for line in host.stdout:
        lines.append(line)
        if "all 2 nodes ready" in line:
            break
    pids = [int(pid) for pid in Path(f"/proc/{host.pid}/task/{host.pid}/children").read_text().split()]
    assert len(pids) >= 3  # two nodes and the reaper
    host.send_signal(number)
    rest = host.stdout.read()
    assert host.wait() == 0, rest
    assert rest.rstrip().endswith("stopped") and "Traceback" not in rest
    assert eventually(lambda: all(gone(pid) for pid in pids))
    assert "other working\n" in "".join(lines) + rest
    assert (tmp_path / "other.log").read_text() == "ready other\nworking\n"


def test_a_node_that_ends_is_told_with_its_last_lines_and_ends_the_rest(tmp_path: Path) -> None:
    host = start(FAILS, tmp_path)
    output, _ = host.communicate(timeout=60)
    assert host.returncode == 1
    assert "node_unavailable" in output and "other: exit code 4" in output
    assert output.rindex("servo 3 does not answer") > output.index("stopped")
