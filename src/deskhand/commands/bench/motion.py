"""``deskhand bench motion``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer


def motion(
    arm: Annotated[list[str] | None, typer.Option(help="Arm, a name in config/arms or a YAML file; may be given more than once. Default: all.")] = None,
    queries: Annotated[int, typer.Option(min=1, help="Planning queries in each situation.")] = 50,
    poses: Annotated[int, typer.Option(min=1, help="Poses for inverse kinematics.")] = 1000,
    seed: Annotated[int, typer.Option(min=0, help="Of all random numbers.")] = 0,
    trust: Annotated[int, typer.Option(min=0, help="Also make so many plans and look at them again at 1 mrad by MuJoCo.")] = 0,
    execute: Annotated[int, typer.Option(min=0, help="Also execute so many plans in simulation, and stop a quarter as many in mid-motion.")] = 0,
    ros: Annotated[int, typer.Option(min=0, help="Also call the service motion/solve_ik so many times, through real nodes.")] = 0,
    json_file: Annotated[Path | None, typer.Option("--json", help="Write {arms: [...]}; see docs/motion-benchmark.md.")] = None,
    plot_file: Annotated[Path | None, typer.Option("--plot", help="Write a picture (PNG, SVG or PDF).")] = None,
) -> None:
    """Inverse kinematics, collision checks, planning and straight lines, beside OMPL with pinocchio and coal, and MoveIt, where they are installed.

    Exit code 1 when a plan turned out not to be safe.
    """
    from rich.console import Console

    from deskhand.arms.config import list_arms, load_arm
    from deskhand.bench.motion.report import plot, show, show_trust
    from deskhand.bench.motion.run import Options, run

    console = Console(highlight=False)
    results: list[dict[str, Any]] = []
    bad = False
    for name in arm or list_arms():
        config = load_arm(name)
        with console.status(name) as status:

            def told(text: str, name: str = name, status: Any = status) -> None:
                status.update(f"{name}: {text}")

            result = run(config, Options(name, queries, poses, seed=seed), told)
            if trust or execute:
                from deskhand.bench.motion.trust import campaign

                result["trust"] = campaign(config, trust, execute, seed, told)
                bad = bad or not result["trust"]["safe"]
            if ros:
                from deskhand.bench.motion.ros import measure_ros_ik

                told(f"{ros} calls of motion/solve_ik")
                result["ik_service"] = measure_ros_ik(config, ros, seed)
        results.append(result)
        show(result, console)
        show_trust(result.get("trust", {}), console)
        if json_file:
            json_file.parent.mkdir(parents=True, exist_ok=True)
            json_file.write_text(json.dumps({"arms": results}, indent=1))
    if plot_file:
        plot(results, plot_file)
    if bad:
        raise typer.Exit(1)
