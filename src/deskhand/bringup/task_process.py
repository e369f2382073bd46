"""A task sent to a running robot by a process of its own, so that who sends it needs no ROS."""

from __future__ import annotations

import contextlib
import json
import queue
import signal
import subprocess
import sys
import threading
from collections.abc import Mapping
from typing import Any

CANCEL_WAIT = 1.0  # [s]


class TaskProcess:
    """``deskhand.nodes.task_client`` as a child; its lines come through a queue. ``answer_timeout`` [s]: as in RunTask.action."""

    def __init__(
        self, instruction: str, mode: str, environment: Mapping[str, str], listen: bool = False, namespace: str = "", answer_timeout: float = 0.0
    ) -> None:
        # "=": an instruction may begin with a dash
        self._command = [sys.executable, "-m", "deskhand.nodes.task_client", f"--instruction={instruction}", "--mode", mode, *(["--listen"] if listen else [])]
        self._command += [f"--answer-timeout={answer_timeout:g}"] if answer_timeout else []
        self._command += ["--ros-args", "-r", f"__ns:={namespace}"] if namespace else []
        self._listen = listen
        self._environment = dict(environment)
        self._lines: queue.Queue[dict[str, Any]] = queue.Queue()
        self._output: list[str] = []

    def __enter__(self) -> TaskProcess:
        self._process = subprocess.Popen(
            self._command,
            stdin=subprocess.PIPE if self._listen else subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env=self._environment,
            start_new_session=True,  # Ctrl-C in the terminal is for us alone
        )
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._process.poll() is None:
            self.cancel()
        self._process.kill()
        self._process.wait()
        self._reader.join(1.0)

    def _read(self) -> None:
        assert self._process.stdout is not None
        for text in self._process.stdout:
            if text.startswith("{"):
                with contextlib.suppress(ValueError):
                    self._lines.put(json.loads(text))
                    continue
            self._output.append(text.rstrip())

    def next_line(self, timeout: float) -> dict[str, Any] | None:
        """The next line, None when there is none within ``timeout`` [s]."""
        try:
            return self._lines.get(timeout=timeout)
        except queue.Empty:
            return None

    def tell(self, words: str) -> None:
        """Words of the user for the task; lost where it has ended."""
        if self._process.stdin is not None:
            with contextlib.suppress(OSError, ValueError):
                self._process.stdin.write(" ".join(words.split()) + "\n")
                self._process.stdin.flush()

    def ended(self) -> bool:
        """True when the process has ended and every line was taken."""
        return self._process.poll() is not None and not self._reader.is_alive() and self._lines.empty()

    def cancel(self) -> None:
        """Ask for the end, and wait a moment for it."""
        self._process.send_signal(signal.SIGINT)
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(CANCEL_WAIT)

    def errors(self) -> str:
        """What it printed besides."""
        return " | ".join(self._output[-5:]) or f"exit code {self._process.returncode}"
