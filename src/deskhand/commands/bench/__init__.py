"""``deskhand bench NAME``: measurements on this machine; one file each."""

from __future__ import annotations

import typer

from deskhand.commands.bench.balance import balance
from deskhand.commands.bench.brains import brains
from deskhand.commands.bench.cliport import cliport
from deskhand.commands.bench.cluster import cluster
from deskhand.commands.bench.driver import driver
from deskhand.commands.bench.eb import eb
from deskhand.commands.bench.foreign import foreign
from deskhand.commands.bench.gain import gain
from deskhand.commands.bench.grasp import grasp
from deskhand.commands.bench.handeye import handeye
from deskhand.commands.bench.instructions import instructions
from deskhand.commands.bench.libero import libero, robosuite
from deskhand.commands.bench.loop import loop
from deskhand.commands.bench.motion import motion
from deskhand.commands.bench.perception import perception
from deskhand.commands.bench.soak import soak
from deskhand.commands.bench.speed import speed
from deskhand.commands.bench.toolbench import toolbench
from deskhand.commands.bench.tools import tools


def register(app: typer.Typer) -> None:
    """Add the commands."""
    bench = typer.Typer(help="Measure on this machine.", no_args_is_help=True)
    for command in (motion, speed, soak, perception, grasp, tools, brains, driver, loop, handeye, cluster, robosuite):
        bench.command(command.__name__)(command)
    bench.add_typer(libero, name="libero")
    bench.add_typer(instructions, name="instructions")
    bench.add_typer(balance, name="balance")
    bench.add_typer(eb, name="eb")
    bench.add_typer(cliport, name="cliport")
    bench.add_typer(toolbench, name="toolbench")
    bench.add_typer(gain, name="gain")
    bench.add_typer(foreign, name="foreign")
    app.add_typer(bench, name="bench")
