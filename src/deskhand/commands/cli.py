"""The command line: one file a command in this package, loaded when it is called, so that ``--help`` is quick."""

from __future__ import annotations

import os
import sys
from importlib import import_module

import typer
from rich.console import Console
from rich.markup import escape

from deskhand.errors import DeskhandError

app = typer.Typer(name="deskhand", help="Let a language model use a real tabletop arm.", no_args_is_help=True, pretty_exceptions_enable=False)

COMMANDS = (
    *("demo", "trial", "merge", "up", "do", "approve", "view", "tools", "mcp", "bench", "report", "export"),
    *("first_day", "service", "record", "record_demonstration", "replay", "audit", "arms", "calibrate", "emulate", "doctor", "detectors", "teach", "train"),
)
"""Modules of ``deskhand.commands``; each has ``register(app)``."""

for _name in COMMANDS:
    import_module(f"deskhand.commands.{_name}").register(app)


def main() -> None:
    """Entry point: a DeskhandError is one clear line and exit code 1; Ctrl-C is 130."""
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # the matrices here are small: more threads only wait for each other, and for other processes' ones
    try:
        app()
    except DeskhandError as error:
        Console(stderr=True).print(f"[red]error[/red] {escape(f'{error.code}: {error}')}", highlight=False)
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    main()
