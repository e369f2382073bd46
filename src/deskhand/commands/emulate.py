"""``deskhand emulate rrc|lx16a|feetech|dynamixel``: a pseudo-terminal that behaves like an arm's controller and servos."""

from __future__ import annotations

import signal
import threading
from enum import Enum
from typing import Annotated

import typer

from deskhand.errors import DeskhandError


class Kind(str, Enum):
    """What is emulated."""

    rrc = "rrc"
    lx16a = "lx16a"
    feetech = "feetech"
    dynamixel = "dynamixel"


DRIVERS = {Kind.rrc: "hiwonder_rrc"}
"""Kinds of drivers that are called otherwise."""


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("emulate")(emulate)


def emulate(
    kind: Annotated[Kind, typer.Argument(help="rrc: Hiwonder's controller board. lx16a, feetech, dynamixel: servos on a bus adapter.")],
    arm: Annotated[str, typer.Option(help="Arm whose servos there are, at its pose home. Default: the first that has such servos.")] = "",
    noise: Annotated[float, typer.Option(min=0, max=1, help="Share of the frames that are damaged on their way back: a byte changed, lost or doubled.")] = 0.0,
    seed: Annotated[int, typer.Option(min=0, help="Of the noise and of the latencies.")] = 0,
    echo: Annotated[bool, typer.Option("--echo", help="lx16a: the adapter gives back what is sent.")] = False,
    volts: Annotated[float, typer.Option(help="Supply [V].")] = 11.8,
    degrees: Annotated[float, typer.Option(help="Temperature of the servos at the start [degrees C].")] = 28.0,
    stall: Annotated[list[int] | None, typer.Option(help="Servo that something holds; may be given again.")] = None,
    silent: Annotated[list[int] | None, typer.Option(help="Servo that does not answer; may be given again.")] = None,
    link: Annotated[str, typer.Option(help="Symbolic link to make to the terminal.")] = "",
) -> None:
    """Emulate until Ctrl-C. The first line of output is the path of the port.

    Servos take their time to move, are told one after the other, sag, get hot when they are held, and let go when they are too hot. Those of Feetech and
    Dynamixel have their control tables: ids, offsets, limits and modes are kept, and refused where the real ones refuse them.
    """
    from deskhand.arms.config import load_arm
    from deskhand.arms.emulate.bank import make_servos
    from deskhand.arms.emulate.choice import check_emulated, make_emulator, standing
    from deskhand.arms.emulate.faults import WireFaults

    driver = DRIVERS.get(kind, kind.value)
    config = load_arm(arm or _first_arm(driver))
    check_emulated(config, driver)
    if echo and kind is not Kind.lx16a:
        raise DeskhandError("config_error", f"--echo is for lx16a, not for {kind.value}.")
    servos = make_servos(standing(config))
    for servo in servos:
        servo.supply, servo.temperature = volts, degrees
        servo.answers = servo.number not in (silent or ())
        if servo.number in (stall or ()):
            servo.shaft.stop_low = servo.shaft.stop_high = servo.shaft.position
    options = {"echo": True} if echo else {}
    emulator = make_emulator(driver, servos, config, link=link, faults=WireFaults.share(noise, seed), seed=seed, **options)
    stop = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stop.set())
    with emulator:
        typer.echo(emulator.path)
        typer.echo(f"{config.name}: servos {', '.join(map(str, emulator.servos))}; Ctrl-C ends")
        while not stop.wait(0.2):
            pass


def _first_arm(driver: str) -> str:
    from deskhand.arms.config import list_arms, load_arm

    arms = [name for name in list_arms() if driver in load_arm(name).driver.kinds]
    if not arms:
        raise DeskhandError("config_error", f"no arm in config/arms has the driver {driver!r}.", hint="Give one of your own as --arm FILE.")
    return arms[0]
