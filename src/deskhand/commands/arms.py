"""``deskhand arms``: is an arm's file right, and what does the arm do that it describes?"""

from __future__ import annotations

import json
import time
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from deskhand.errors import DeskhandError

if TYPE_CHECKING:
    from rich.console import Console

    from deskhand.arms.config import ArmConfig
    from deskhand.arms.model import RobotModel
    from deskhand.bench.arm_check.measure import Findings

POSES = 100
SOLVED_ENOUGH = 0.9  # of the drawn poses, and of the work radius
PLAN_ENOUGH = 5.0  # [s]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    group = typer.Typer(help="Arms, and the files that describe them.", no_args_is_help=True)
    group.command("check")(check)
    group.callback()(_group)
    app.add_typer(group, name="arms")


def _group() -> None:
    """Keep ``check`` a command of its own while it is the only one."""


def check(
    arm: Annotated[str, typer.Argument(metavar="FILE", help="YAML file of an arm, or a name in config/arms.")],
    out: Annotated[Path | None, typer.Option(help="Picture to write (PNG, SVG or PDF). Default: arm-check-NAME.png here.")] = None,
    picture: Annotated[bool, typer.Option("--picture/--no-picture", help="Draw the arm and where it reaches.")] = True,
    reach: Annotated[bool, typer.Option("--reach/--no-reach", help="Measure reach, inverse kinematics and a plan; without it only the files are read.")] = True,
    safety: Annotated[Path | None, typer.Option(help="Envelope for the plan. Default: config/safety.yaml.")] = None,
    seed: Annotated[int, typer.Option(help="Seed of the drawn poses.")] = 0,
    json_file: Annotated[Path | None, typer.Option("--json", help="Write {ok, problems: [{file, field, said, do}], and what was measured}.")] = None,
) -> None:
    """Say everything that is wrong with an arm's file, its URDF and SRDF; then draw the arm, and measure where it reaches. Nothing moves.

    Every problem comes with its field and what to do. Exit code 0 when there is none, 1 when there is any, 2 for wrong arguments.
    """
    from rich.console import Console

    from deskhand.arms.config import load_arm
    from deskhand.arms.problems import ArmFileError, Problem

    console, began = Console(highlight=False), time.monotonic()
    result: dict[str, Any] = {"ok": False, "problems": []}
    try:
        config = load_arm(arm)
    except ArmFileError as error:
        _tell(console, error.problems, error.path)
        _write(json_file, {**result, "problems": [_json(problem) for problem in error.problems]})
        raise typer.Exit(1) from None
    problems: list[Problem] = []
    console.print(f"[green]OK[/]   {arm}: {config.name}, {len(config.joints)} joints; its fields, URDF and SRDF fit ({time.monotonic() - began:.1f} s)")
    if reach:
        model, findings, problems = _measured(console, config, safety, seed)
        result |= _numbers(findings)
        _say(console, config, findings)
        if picture:
            from deskhand.bench.arm_check.picture import draw

            file = out or Path(f"arm-check-{config.name}.png")
            draw(model, findings, file)
            console.print(f"[green]OK[/]   picture: {file}", soft_wrap=True)
            result["picture"] = str(file)
    _tell(console, problems, Path(arm))
    _write(json_file, {**result, "ok": not problems, "problems": [_json(problem) for problem in problems]})
    if problems:
        raise typer.Exit(1)


def _measured(console: Console, config: ArmConfig, safety: Path | None, seed: int) -> tuple[RobotModel, Findings, list[Any]]:
    from deskhand.arms.model import RobotModel
    from deskhand.bench.arm_check.measure import measure
    from deskhand.safety.settings import load_safety

    settings = load_safety(safety)
    with console.status("the model") as status:
        model = RobotModel.load(config)
        findings = measure(model, settings, seed, POSES, lambda text: status.update(f"{text} …"))
    return model, findings, _problems(findings)


def _problems(findings: Findings) -> list[Any]:
    """What the measurement shows to be wrong."""
    from deskhand.arms.problems import Problem

    found = []
    for pose, contacts in findings.contacts.items():
        if contacts:
            said = ", ".join(f"{a} and {b} ({1000 * depth:.0f} mm)" for a, b, depth in contacts[:4])
            do = "Change the pose or the shapes; links that are always in each other belong into the SRDF (disable_collisions)."
            found.append(Problem(f"named_poses.{pose}", f"these are in each other: {said}", do))
    if findings.share < SOLVED_ENOUGH:
        ring = "in no ring" if findings.measured is None else f"from {findings.measured[0]:.2f} to {findings.measured[1]:.2f} m"
        do = f"All of it is reached {ring}: give that, or change `mount`, the limits or the tcp."
        found.append(Problem("work_radius", f"only {findings.share:.0%} of it is reached from above and lifted", do))
    if findings.drawn and findings.solved < SOLVED_ENOUGH * findings.drawn:
        said = f"inverse kinematics finds only {findings.solved} of {findings.drawn} poses that the arm has"
        found.append(Problem("joints", said, "Are the axes and limits of the URDF right, and the shapes no larger than the links?"))
    if findings.plan_problem:
        found.append(
            Problem("named_poses.home", f"there is no plan from it to the work radius: {findings.plan_problem}", "See the picture: what is in the way?")
        )
    return found


def _say(console: Console, config: ArmConfig, findings: Findings) -> None:
    """The numbers, a line each."""
    low, high = config.work_radius
    lines = [(findings.share >= SOLVED_ENOUGH, f"reach: {findings.share:.0%} of work_radius {low:g} to {high:g} m is grasped straight from above and lifted")]
    if findings.measured is not None:
        lines.append((True, f"reach: all directions from {findings.measured[0]:.2f} to {findings.measured[1]:.2f} m (measured, in steps of 2 cm)"))
    good = findings.solved >= SOLVED_ENOUGH * findings.drawn
    median, most = (1000 * value for value in findings.ik)
    lines.append((good, f"inverse kinematics: {findings.solved} of {findings.drawn} drawn poses, {median:.0f} ms (median), {most:.0f} ms (95 %)"))
    free = [name for name, contacts in findings.contacts.items() if not contacts]
    lines.append((len(free) == len(findings.contacts), f"poses free of contact: {', '.join(free) or 'none'}"))
    if not findings.plan_problem:
        text = f"a plan from home to the middle of the work radius: {findings.plan:.2f} s to plan, {findings.plan_duration:.1f} s to move"
        lines.append((findings.plan < PLAN_ENOUGH, text))
    for fine, text in lines:
        console.print(f"[green]OK[/]   {text}" if fine else f"[yellow]LOOK[/] {text}", soft_wrap=True)


def _tell(console: Console, problems: Any, file: Path) -> None:
    for problem in problems:
        console.print("[red]FAIL[/] ", end="")
        console.print(f"{problem.file or file}: {problem.field}: {problem.said}", markup=False, soft_wrap=True)
        console.print(f"     {problem.do}", markup=False, soft_wrap=True)
    if problems:
        console.print(f"{len(problems)} {'problem' if len(problems) == 1 else 'problems'}; docs/adding-an-arm.md says what each field is.")


def _json(problem: Any) -> dict[str, str]:
    return {name: str(value) for name, value in asdict(problem).items() if value is not None}


def _numbers(findings: Findings) -> dict[str, Any]:
    return {
        "reach": {"work_radius_solved": findings.share, "measured": findings.measured, "places": [asdict(place) for place in findings.places]},
        "ik": {"solved": findings.solved, "drawn": findings.drawn, "median_s": findings.ik[0], "p95_s": findings.ik[1]},
        "plan": None if findings.plan_problem else {"planning_s": findings.plan, "duration_s": findings.plan_duration},
        "contacts": {name: [list(item) for item in contacts] for name, contacts in findings.contacts.items()},
    }


def _write(file: Path | None, data: Any) -> None:
    if file is None:
        return
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(data, indent=1) + "\n")
    except OSError as error:
        raise DeskhandError("config_error", f"{file} cannot be written: {error}.") from error
