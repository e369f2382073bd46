"""``deskhand emulate rrc|lx16a``: a pseudo-terminal that behaves like an arm's controller and servos."""

from __future__ import annotations

import signal
import threading
import time
from enum import Enum
from typing import Annotated

import typer

from deskhand.errors import DeskhandError


class Kind(str, Enum):
    """What is emulated."""

    rrc = "rrc"
    lx16a = "lx16a"


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("emulate")(emulate)


def emulate(
    kind: Annotated[Kind, typer.Argument(help="rrc: Hiwonder's controller board. lx16a: LX servos on a bus adapter.")],
    arm: Annotated[str, typer.Option(help="Arm whose servos there are, at its pose home.")] = "jetarm",
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

    Servos take their time to move, are told one after the other at 115200 baud, sag, get hot when they are held, and let go when they are too hot.
    """
    from deskhand.arms.config import load_arm
    from deskhand.arms.emulate.bank import Emulator
    from deskhand.arms.emulate.faults import WireFaults
    from deskhand.arms.emulate.lx16a import LxEmulator
    from deskhand.arms.emulate.rrc import RrcEmulator
    from deskhand.arms.emulate.servo import Servo

    config = load_arm(arm)
    if config.driver.gripper is None or not {"hiwonder_rrc", "lx16a"} & set(config.driver.kinds):
        raise DeskhandError("config_error", f"{config.name} has no servos of this kind.", hint="jetarm has.")
    places = {servo.id: servo.pulse_of(angle) for servo, angle in zip(config.driver.servos.values(), config.named_poses["home"], strict=True)}
    places[config.driver.gripper.id] = config.driver.gripper.ticks_of(config.gripper.width_max)
    servos = [Servo(number, time.monotonic, place) for number, place in places.items()]
    for servo in servos:
        servo.supply, servo.temperature = volts, degrees
        servo.answers = servo.number not in (silent or ())
        if servo.number in (stall or ()):
            servo.shaft.stop_low = servo.shaft.stop_high = servo.shaft.position
    faults = WireFaults.share(noise, seed)
    emulator: Emulator = (
        RrcEmulator(servos, link=link, faults=faults, seed=seed) if kind is Kind.rrc else LxEmulator(servos, echo=echo, link=link, faults=faults, seed=seed)
    )
    stop = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stop.set())
    with emulator:
        typer.echo(emulator.path)
        typer.echo(f"{config.name}: servos {', '.join(map(str, emulator.servos))}; Ctrl-C ends")
        while not stop.wait(0.2):
            pass
