"""``deskhand calibrate …``: what differs from unit to unit, measured with the user's help. One function a thing; the logic is elsewhere."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer

group = typer.Typer(help="Measure what differs from unit to unit.", no_args_is_help=True)


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.add_typer(group, name="calibrate")


class _Terminal:
    """The user at the terminal; see deskhand.arms.unit.Talk."""

    def say(self, text: str) -> None:
        typer.echo(text)

    def confirm(self, text: str) -> bool:
        return typer.confirm(text, default=False)

    def number(self, text: str, default: float | None) -> float:
        return float(typer.prompt(text, default=default, type=float))


@group.command("arm")
def arm(
    output: Annotated[Path, typer.Argument(help="File to write, for example my_arm.yaml; give it as --arm from then on.")],
    arm: Annotated[str, typer.Option(help="Arm, a name in config/arms or a YAML file.")] = "jetarm",
    driver: Annotated[str, typer.Option(help="Driver. Default: the arm's usual one.")] = "",
    port: Annotated[str, typer.Option(help="Port. Default: as in the arm's file.")] = "",
    force: Annotated[bool, typer.Option("--force", help="Write over an existing file.")] = False,
) -> None:
    """Servo offsets, link lengths and the gripper's widths of one arm.

    Asks before anything moves or lets go; only the gripper is moved, slowly. No other program may use the arm meanwhile.
    """
    from deskhand.arms.bus.choice import make_bus
    from deskhand.arms.config import load_arm
    from deskhand.arms.driver import ArmDriver
    from deskhand.arms.model import RobotModel
    from deskhand.arms.unit import UnitCalibration
    from deskhand.errors import DeskhandError

    if output.exists() and not force:
        raise DeskhandError("config_error", f"{output} exists.", hint="Give --force to write over it.")
    config = load_arm(arm)
    talk = _Terminal()
    unit = ArmDriver(RobotModel.load(config), make_bus(config.driver, driver, port), hold=False)
    unit.start()
    try:
        unit.wait_connected(5.0)
        for name, health in unit.status().health.items():
            talk.say(f"{name}: {health.voltage or float('nan'):.1f} V, {health.temperature or float('nan'):.0f} degrees C")
        UnitCalibration(unit, talk, time.sleep).run().write(config, output)
    finally:
        unit.close()
    load_arm(str(output))
    talk.say(f"written: {output}. Use it: deskhand up robot --arm {output}")
