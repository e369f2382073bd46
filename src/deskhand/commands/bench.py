"""``deskhand bench NAME``: measurements on this machine."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer


def register(app: typer.Typer) -> None:
    """Add the commands."""
    bench = typer.Typer(help="Measure on this machine.", no_args_is_help=True)
    bench.command("motion")(motion)
    bench.command("perception")(perception)
    bench.command("grasp")(grasp)
    bench.command("tools")(tools)
    bench.command("brains")(brains)
    bench.command("driver")(driver)
    bench.command("loop")(loop)
    bench.command("handeye")(handeye)
    app.add_typer(bench, name="bench")


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


def perception(
    arm: Annotated[str, typer.Option(help="Arm whose reach the desks are laid out for.")] = "wx250s",
    scenes: Annotated[int, typer.Option(min=4, help="Cluttered desks: spread, touching, stacked, in containers, a quarter each.")] = 200,
    noise_scenes: Annotated[int, typer.Option(min=0, help="Desks at each level of noise and of holes in the depth.")] = 24,
    looks: Annotated[int, typer.Option(min=1, help="Pictures of each desk; before the last of several one thing is moved.")] = 3,
    seed: Annotated[int, typer.Option(min=0, help="Of the first desk.")] = 0,
    failures: Annotated[Path | None, typer.Option(help="Folder for annotated pictures of the looks where something is wrong.")] = None,
    json_file: Annotated[Path | None, typer.Option("--json", help="Write all numbers; see docs/perception.md.")] = None,
    plot_file: Annotated[Path | None, typer.Option("--plot", help="Write a picture (PNG, SVG or PDF).")] = None,
) -> None:
    """What perception finds on simulated cluttered desks, against the truth: found, where, how large, called what, on what, ids, processor time."""
    from rich.console import Console

    from deskhand.bench.perception.report import plot, show
    from deskhand.bench.perception.run import Options, run

    console = Console(highlight=False)
    with console.status("perception") as status:
        result = run(Options(arm, scenes, noise_scenes, looks, seed, failures), lambda text: status.update(f"perception: {text}"))
    show(result, console)
    if json_file:
        json_file.parent.mkdir(parents=True, exist_ok=True)
        json_file.write_text(json.dumps(result, indent=1))
    if plot_file:
        plot(result, plot_file)


def grasp(
    arm: Annotated[list[str] | None, typer.Option(help="Arm, a name in config/arms; may be given more than once. Default: all.")] = None,
    trials: Annotated[int, typer.Option(min=0, help="Single objects, each picked once.")] = 300,
    desks: Annotated[int, typer.Option(min=0, help="Cluttered desks to clear.")] = 20,
    objects: Annotated[int, typer.Option(min=1, max=30, help="Things on a cluttered desk.")] = 10,
    stacked: Annotated[float, typer.Option(min=0.0, max=1.0, help="Share of them that stands on others.")] = 0.0,
    explore: Annotated[int, typer.Option(min=0, help="Single objects of which random grasps are tried, five each: for the calibration, and for --fit.")] = 0,
    hard: Annotated[bool, typer.Option(help="Explore each object once more: thin or wide, heavy, slippery, seen with more noise.")] = False,
    seed: Annotated[int, typer.Option(min=0, help="Of the first scene; the others follow.")] = 1000,
    shape: Annotated[list[str] | None, typer.Option(help="Only these single objects; may be given more than once.")] = None,
    workers: Annotated[int, typer.Option(min=1, help="Processes.")] = 1,
    resume: Annotated[Path | None, typer.Option(help="File of results (JSON lines): what is in it is not done again, what is done is added.")] = None,
    fit_file: Annotated[Path | None, typer.Option("--fit", help="Write a success model, fitted on the explored picks, as config/grasping.yaml is.")] = None,
    json_file: Annotated[Path | None, typer.Option("--json", help="Write {arms: [...]}; see docs/grasping.md.")] = None,
    plot_file: Annotated[Path | None, typer.Option("--plot", help="Write a picture (PNG, SVG or PDF).")] = None,
) -> None:
    """Pick single objects of many shapes and clear cluttered desks in simulation, judged by ground truth.

    Exit code 1 when a pick said that it holds what it does not.
    """
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    from deskhand.arms.config import list_arms
    from deskhand.bench.console import interruptible
    from deskhand.bench.grasp import fit as fitting
    from deskhand.bench.grasp.report import plot, show, summarise
    from deskhand.bench.grasp.run import Job, campaign
    from deskhand.bench.grasp.subjects import SUBJECTS

    unknown = sorted(set(shape or ()) - set(SUBJECTS))
    if unknown:
        raise typer.BadParameter(f"there is no shape {', '.join(unknown)}; valid: {', '.join(SUBJECTS)}", param_hint="--shape")
    console = Console(highlight=False)
    summaries: list[dict[str, Any]] = []
    everything: list[dict[str, Any]] = []
    for name in arm or list_arms():
        subjects = [shape[number % len(shape)] if shape else "" for number in range(max(trials, explore))]
        jobs = [Job("single", name, seed + number, subjects[number]) for number in range(trials)]
        jobs += [Job("clutter", name, seed + number, count=objects, stacked=stacked) for number in range(desks)]
        jobs += [Job("explore", name, seed + number, subjects[number], count=5, hard=harder) for number in range(explore) for harder in sorted({False, hard})]
        columns = (TextColumn(name), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TextColumn("[dim]{task.fields[last]}"))
        with interruptible(), Progress(*columns, console=console) as bar:
            task = bar.add_task(name, total=len(jobs), last="")
            done: list[dict[str, Any]] = []

            def told(result: dict[str, Any], bar: Progress = bar, task: Any = task, done: list[dict[str, Any]] = done) -> None:
                done.append(result)
                good = sum(pick["success"] for one in done for pick in one["picks"])
                bar.update(task, advance=1, last=f"{good} of {sum(len(one['picks']) for one in done)} picks held")

            results = campaign(jobs, workers, resume, told)
        summaries.append(summarise(name, results))
        everything += results
        show(summaries[-1], console)
        if json_file:
            json_file.parent.mkdir(parents=True, exist_ok=True)
            json_file.write_text(json.dumps({"arms": summaries}, indent=1))
    if plot_file:
        plot(summaries, plot_file)
    if fit_file:
        features, outcomes, harder = fitting.samples([result for result in everything if result["job"]["kind"] == "explore"])
        arms = ", ".join(arm or list_arms())
        fitting.write(
            fitting.fit(features, outcomes, harder), fit_file, f"{len(outcomes)} picks of random grasps, {arms}, seeds {seed} to {seed + explore - 1}"
        )
        console.print(f"success model of {len(outcomes)} picks written to {fit_file}")
    if any(summary["false_successes"] for summary in summaries):
        raise typer.Exit(1)


def tools(
    calls: Annotated[int, typer.Option(min=10, help="Calls on each way to a tool.")] = 200,
    ros: Annotated[bool, typer.Option("--ros/--no-ros", help="Also over ROS, through a real tool server.")] = True,
    missed: Annotated[bool, typer.Option("--missed", help="Show the queries of the half `dev` whose tool did not come first.")] = False,
    json_file: Annotated[Path | None, typer.Option("--json", help="Write {calls: [...], discovery: [...], good}; see docs/tools.md.")] = None,
) -> None:
    """What the call of a tool costs beyond the plain function, and how often a search finds the right tool.

    Exit code 1 when something is beyond its bar.
    """
    from rich.console import Console
    from rich.table import Table

    from deskhand.bench.calls.run import measure as measure_calls
    from deskhand.bench.discovery.run import AMONG_FIVE, FIRST, HALVES, load_queries
    from deskhand.bench.discovery.run import measure as measure_discovery
    from deskhand.tools.base import load_tools

    console = Console(highlight=False)
    with console.status("tools") as status:
        rows = list(measure_calls(calls, ros, lambda text: status.update(f"tools: {text}")))
        status.update("tools: discovery")
        registry = load_tools(others=False)[0]
        found = [measure_discovery(registry, load_queries(), half) for half in HALVES]
    table = Table("way to a tool", "calls", "median [ms]", "p95 [ms]", "over the plain one", "bar")
    for row in rows:
        over = f"[{'green' if row.good else 'red'}]{row.over:.2f} {row.unit}[/]"
        table.add_row(row.way, str(row.calls), f"{row.median:.3f}", f"{row.p95:.3f}", over, f"{row.bar:g} {row.unit}")
    console.print(table)
    table = Table("queries", "number", "first", "among five")
    for each in found:
        table.add_row(each.half, str(each.queries), f"{each.first:.3f}", f"{each.among_five:.3f}")
    console.print(table, f"{len(registry)} tools; bars for the half `test`: first {FIRST}, among five {AMONG_FIVE}.")
    if missed:
        for text, tool, hits in found[0].missed:
            console.print(f"  {text!r}: {tool}, found {', '.join(hits) or 'nothing'}")
    good = all(row.good for row in rows) and found[-1].good
    if json_file:
        json_file.parent.mkdir(parents=True, exist_ok=True)
        data = {"calls": [row.to_json() for row in rows], "discovery": [each.to_json() for each in found], "tools": len(registry), "good": good}
        json_file.write_text(json.dumps(data, indent=1))
    if not good:
        raise typer.Exit(1)


def brains(
    episodes: Annotated[int, typer.Option(min=1, help="How many; each has the next seed.")] = 500,
    seed: Annotated[int, typer.Option(min=0, help="Of the first.")] = 0,
    json_file: Annotated[Path | None, typer.Option("--json", help="Write all counts and the episodes where something is wrong; see docs/models.md.")] = None,
) -> None:
    """Language models that misbehave on purpose, over real HTTP, against the agent and the tool session on a desk without physics.

    Exit code 1 when the agent crashed, moved unsafely, called done what was not, overran its budget or ended without a code.
    """
    import logging

    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    from deskhand.bench.brains.campaign import Episode, run_campaign, summarise
    from deskhand.bench.brains.report import show

    logging.disable(logging.WARNING)  # hundreds of faults that are made on purpose
    console = Console(highlight=False)
    columns = (TextColumn("episodes"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TextColumn("[dim]{task.fields[wrong]}"))
    with Progress(*columns, console=console) as bar:
        task = bar.add_task("episodes", total=episodes, wrong="")
        wrong: list[int] = []

        def told(each: Episode) -> None:
            wrong.extend([] if each.good else [each.seed])
            bar.update(task, advance=1, wrong=f"wrong: {', '.join(map(str, wrong))}" if wrong else "")

        summary = summarise(run_campaign(episodes, seed, told))
    show(summary, console)
    if json_file:
        json_file.parent.mkdir(parents=True, exist_ok=True)
        json_file.write_text(json.dumps(summary, indent=1))
    if not summary["good"]:
        raise typer.Exit(1)


def driver(
    arm: Annotated[str, typer.Option(help="Arm with LX servos, a name in config/arms or a YAML file.")] = "jetarm",
    frames: Annotated[int, typer.Option(min=100, help="Frames on the noisy wire, for each bus.")] = 10000,
    replugs: Annotated[int, typer.Option(min=0, help="How often the cable is pulled; this runs in real time.")] = 50,
    picks: Annotated[int, typer.Option(min=1, help="Planned picks, four motions each, for each bus.")] = 10,
    stops: Annotated[int, typer.Option(min=1, help="Cancels at full speed, for each bus.")] = 20,
    seed: Annotated[int, typer.Option(min=0, help="Of all random numbers.")] = 0,
    json_file: Annotated[Path | None, typer.Option("--json", help="Write {rows: [...], good}; see docs/hardware.md.")] = None,
) -> None:
    """The driver of bus servos on emulated ones: noise, pulled cables, tracking along picks, stops.

    Exit code 1 when something is beyond its bar.
    """
    from rich.console import Console

    from deskhand.arms.model import RobotModel
    from deskhand.bench import driver as measured

    console, model = Console(highlight=False), RobotModel.load(arm)
    results: list[Any] = []
    with console.status("driver") as status:
        for kind in model.arm.driver.kinds:
            results.append(measured.measure_noise(model, kind, frames, seed, status.update))
            results.append(measured.measure_pick(model, kind, picks, seed, status.update))
            results.append(measured.measure_stops(model, kind, stops, seed))
        if replugs:
            results.append(measured.measure_replug(model, replugs, status.update))
    rows = measured.to_json(results)
    for row in rows:
        good = "[green]good[/]" if row["good"] else "[red]beyond its bar[/]"
        console.print(row["measured"], good, {key: round(value, 4) if isinstance(value, float) else value for key, value in row.items() if key != "measured"})
    if json_file:
        json_file.parent.mkdir(parents=True, exist_ok=True)
        json_file.write_text(json.dumps({"rows": rows, "good": all(row["good"] for row in rows)}, indent=1))
    if not all(row["good"] for row in rows):
        raise typer.Exit(1)


def loop(
    episodes: Annotated[int, typer.Option(min=1, help="How many; each has the next seed.")] = 50,
    seed: Annotated[int, typer.Option(min=0, help="Of the first.")] = 0,
    json_file: Annotated[Path | None, typer.Option("--json", help="Write the numbers; see docs/agent.md.")] = None,
) -> None:
    """What the agent's loop itself takes a decision, outside of model and tools (CPU time), and how long the prompts are.

    Exit code 1 when the mean is above 20 ms.
    """
    from rich.console import Console
    from rich.progress import track

    from deskhand.bench.loop import BAR, measure

    console = Console(highlight=False)
    progress = iter(track(range(episodes + 1), "episodes", console=console))
    next(progress)

    def told() -> None:
        next(progress)

    found = measure(episodes, seed, told)
    for _ in progress:
        pass
    took, size = found["overhead_ms"], found["prompt_chars"]
    console.print(f"loop: {took['mean']:.1f} ms CPU a decision, 95 % within {took['p95']:.1f} ms, at most {took['max']:.1f} ms (bar {BAR:.0f} ms on average)")
    console.print(f"prompt: {size['mean']} characters on average, at most {size['max']}")
    console.print(f"{found['episodes']} tasks, {found['right']} ended rightly, {found['refused']} of {found['decisions']} decisions refused")
    if json_file:
        json_file.parent.mkdir(parents=True, exist_ok=True)
        json_file.write_text(json.dumps(found, indent=1))
    if not found["good"]:
        raise typer.Exit(1)


def handeye(
    trials: Annotated[int, typer.Option(min=1, help="Calibrations of each mounting, each with the next seed.")] = 10,
    seed: Annotated[int, typer.Option(min=0, help="Of the first.")] = 0,
    pictures: Annotated[int, typer.Option(min=8, help="In each.")] = 30,
    joint_noise: Annotated[float, typer.Option(min=0, help="Standard deviation of what each joint tells [degrees].")] = 0.1,
    json_file: Annotated[Path | None, typer.Option("--json", help="Write {mountings: {fixed, wrist: [{seed, shift_mm, turn_deg, refused}]}}.")] = None,
) -> None:
    """Hand-eye calibration on rendered boards, with joints that are not where they say: how far the camera is from where it really is."""
    from rich.console import Console

    from deskhand.bench.calibration.handeye import told

    console = Console(highlight=False)
    results: dict[str, list[dict[str, Any]]] = {"fixed": [], "wrist": []}
    for mounting, rows in results.items():
        for number in range(seed, seed + trials):
            rows.append(told(mounting, number, pictures, joint_noise))
            row = rows[-1]
            console.print(f"{mounting} {number}: {row['refused'] or '{shift_mm:.2f} mm, {turn_deg:.3f} degrees'.format(**row)}", markup=False)
    if json_file:
        json_file.parent.mkdir(parents=True, exist_ok=True)
        json_file.write_text(json.dumps({"mountings": results}, indent=1))
