"""``deskhand service``: the robot at start-up, as files that systemd and udev read, filled in for this machine."""

from __future__ import annotations

import getpass
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Annotated

import typer

from deskhand.commands.which_arm import ArmOption, require_arm
from deskhand.errors import DeskhandError

UNIT, ENVIRONMENT, RULE = "deskhand.service", "robot.env", "99-deskhand-arm.rules"
ARM_PORT = "/dev/deskhand_arm"
SHORT = ("ID_SERIAL_SHORT", "ID_PATH")
"""Properties by which udev knows an adapter again: its serial number, or the socket that it is in."""


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("service")(service)


def service(
    arm: ArmOption = "",
    driver: Annotated[str, typer.Option(help="As for `deskhand up robot`. Default: the arm's usual one.")] = "",
    port: Annotated[str, typer.Option(help="Where the arm is now, for example /dev/ttyUSB0. Default: as in the arm's file.")] = "",
    camera: Annotated[str, typer.Option(help="As for `deskhand up robot`.")] = "ros",
    camera_mount: Annotated[str, typer.Option(help="As for `deskhand up robot`: a name or a YAML file.")] = "",
    distro: Annotated[str, typer.Option(help="ROS 2 below /opt/ros. Default: the one that is sourced, or the only one there is.")] = "",
    user: Annotated[str, typer.Option(help="Who runs it. Default: you.")] = "",
    write: Annotated[Path | None, typer.Option(help="Folder to write the files into. Default: they are printed.")] = None,
) -> None:
    """The robot's nodes when the machine starts: a systemd unit, its environment, and a udev rule that gives this arm's adapter a name that stays.

    Nothing is installed: the lines that do so, which need root, are printed.
    """
    files = service_files(require_arm(arm), driver, port, camera, camera_mount, distro or found_distro(), user or getpass.getuser())
    for name, text in files.items():
        if write is None:
            typer.echo(f"# ---- {name}\n{text}")
        else:
            write.mkdir(parents=True, exist_ok=True)
            (write / name).write_text(text)
    typer.echo("\n".join(install_lines(files, write or Path())))


def service_files(arm: str, driver: str, port: str, camera: str, camera_mount: str, distro: str, user: str) -> dict[str, str]:
    """Text by file name.

    Raises:
        DeskhandError: ``config_error`` for what `deskhand up robot` would refuse.
    """
    from deskhand.arms.config import load_arm
    from deskhand.arms.driver_config import SERVO_BUSES
    from deskhand.bringup.spec import StackOptions
    from deskhand.bringup.stack import robot_nodes
    from deskhand.types.resources import resource_path

    config = load_arm(arm)
    driver = driver or config.driver.kinds[0]
    robot_nodes(StackOptions(arm=arm, driver=driver, port=port, camera=camera, camera_mount=camera_mount, memory="unused"))
    now = (port or config.driver.port) if driver in SERVO_BUSES else ""
    rule = udev_rule(now) if now else ""
    stays = ARM_PORT if rule else now
    words = {"arm": _whole(arm), "driver": driver, "port": stays, "camera": camera, "camera-mount": _whole(camera_mount)}
    command = " ".join([_deskhand(), "up", "robot", *(f"--{name} {value}" for name, value in words.items() if value)])
    environment = {"DISTRO": distro, "WORKSPACE": _workspace(), "COMMAND": command, "PORT": stays}
    environment |= {name: os.environ[name] for name in ("ROS_DOMAIN_ID", "RMW_IMPLEMENTATION", "CYCLONEDDS_URI") if os.environ.get(name)}
    unit = resource_path(f"config/jetson/{UNIT}").read_text().replace("User=robot\n", f"User={user}\n")
    text = "\n".join(f"{name}={value}" for name, value in environment.items())
    return {UNIT: unit, ENVIRONMENT: f"{text}\n", **({RULE: f"{rule}\n"} if rule else {})}


def udev_rule(port: str, properties: dict[str, str] | None = None) -> str:
    """The rule by which the adapter that is at ``port`` now is :data:`ARM_PORT` from then on; empty when udev knows nothing to tell it by."""
    told = udev_properties(port) if properties is None else properties
    by = next((name for name in SHORT if told.get(name)), "")
    if not by:
        return ""
    ids = "".join(f', ENV{{{name}}}=="{told[name]}"' for name in ("ID_VENDOR_ID", "ID_MODEL_ID") if told.get(name))
    symlink = f'SYMLINK+="{Path(ARM_PORT).name}", TAG+="systemd", ENV{{ID_MM_DEVICE_IGNORE}}="1"'
    return f'SUBSYSTEM=="tty"{ids}, ENV{{{by}}}=="{told[by]}", MODE="0660", GROUP="dialout", {symlink}'


def udev_properties(port: str) -> dict[str, str]:
    """What udev knows of a port; nothing without udev."""
    if shutil.which("udevadm") is None:
        return {}
    done = subprocess.run(["udevadm", "info", "--query=property", f"--name={Path(port).resolve()}"], capture_output=True, text=True, timeout=10)
    return dict(line.split("=", 1) for line in done.stdout.splitlines() if "=" in line)


def install_lines(files: dict[str, str], folder: Path) -> list[str]:
    """What puts the files in place."""
    lines = ["# To install:", f"sudo install -D -m 644 {folder / ENVIRONMENT} /etc/deskhand/{ENVIRONMENT}"]
    if RULE in files:
        lines += [f"sudo install -m 644 {folder / RULE} /etc/udev/rules.d/{RULE}", "sudo udevadm control --reload && sudo udevadm trigger"]
    else:
        lines += ["# No rule gives the arm's adapter a name that stays: it was not plugged in, or udev cannot tell it from others."]
    lines += [
        f"sudo install -m 644 {folder / UNIT} /etc/systemd/system/{UNIT}",
        "sudo systemctl daemon-reload && sudo systemctl enable --now deskhand",
        "journalctl -u deskhand -b -f   # what it says",
        "# A JetArm's own programs first: sudo systemctl disable --now start_app_node.service",
    ]
    return lines


def found_distro(root: Path = Path("/opt/ros")) -> str:
    """The ROS 2 that is sourced, or the only one below ``root``.

    Raises:
        DeskhandError: ``config_error`` when that is not clear.
    """
    there = sorted(setup.parent.name for setup in root.glob("*/setup.bash"))
    chosen = os.environ.get("ROS_DISTRO") or (there[0] if len(there) == 1 else "")
    if not chosen:
        raise DeskhandError("config_error", f"which ROS 2? Below {root}: {', '.join(there) or 'none'}.", hint="Give --distro humble or jazzy.")
    return chosen


def _deskhand() -> str:
    beside = Path(sys.executable).parent / "deskhand"
    return str(beside) if beside.is_file() else "ros2 run deskhand deskhand"


def _workspace() -> str:
    """The colcon workspace that is sourced; empty: none."""
    prefixes = os.environ.get("COLCON_PREFIX_PATH", "").split(os.pathsep)
    return str(Path(prefixes[0]).parent) if prefixes[0] else ""


def _whole(name_or_file: str) -> str:
    return str(Path(name_or_file).resolve()) if name_or_file.endswith((".yaml", ".yml")) else name_or_file
