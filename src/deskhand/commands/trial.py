"""``deskhand trial``: the same task over many seeds, measured."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from deskhand.errors import DeskhandError


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("trial")(trial)


def trial(
    task: Annotated[str, typer.Argument(help="Name of a task, for example desk_cleaning.")],
    trials: Annotated[int, typer.Option(min=1, help="How many; each has the next seed.")] = 1,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the first.")] = 0,
    arm: Annotated[str, typer.Option(help="Arm, a name in config/arms or a YAML file.")] = "wx250s",
    brain: Annotated[str, typer.Option(help="Language model; offline needs none.")] = "offline",
    mode: Annotated[
        str,
        typer.Option(
            help="How the model acts: tools (it calls them), code (it writes Python that does) or direct (no tools: seven-number actions, the baseline). "
            "The offline brain has tools only."
        ),
    ] = "tools",
    local: Annotated[bool, typer.Option("--local", help="Everything in this process, without ROS: faster.")] = False,
    fault: Annotated[str, typer.Option(help="What goes wrong: slip, moved_object, knocked_tower, stale_frames or depth_holes.")] = "",
    driver: Annotated[
        str,
        typer.Option(
            help="Move the simulated arm by this driver over an emulated bus: one of the arm's file, for example hiwonder_rrc (jetarm) or feetech (so101)."
        ),
    ] = "",
    servos: Annotated[str, typer.Option(help="With --driver: what is wrong with the servos: real, worn or a YAML file (config/servos).")] = "",
    sim: Annotated[str, typer.Option(help="The simulation: mujoco (built in) or gazebo (Harmonic, where it is installed).")] = "mujoco",
    timeout: Annotated[float, typer.Option(help="Wall clock for one trial [s].")] = 900.0,
    json_file: Annotated[Path | None, typer.Option("--json", help="Write the results; also after every trial.")] = None,
    episodes: Annotated[Path | None, typer.Option(help="Folder for the records. Default: a new one in ./episodes.")] = None,
) -> None:
    """Run a task over many seeds and say how often it succeeds, how long it takes and where the time goes.

    The exit code is 0 when every trial ran to an outcome, good or bad; 1 when one was cut short (a node died, a time limit, a fault of deskhand).
    """
    from deskhand.trials.base import TrialOptions, prepare
    from deskhand.trials.console import Display, TrialProgress, interruptible
    from deskhand.trials.trial import episode_folder, run_trial
    from deskhand.trials.trials import ran_to_an_outcome, summarise

    options = [TrialOptions(task, number, None, None, arm, brain, mode, local, timeout, fault, driver, servos, sim) for number in range(seed, seed + trials)]
    prepare(options[0])
    root = episodes or episode_folder(options[0], f"{trials}_trials")
    results: list[dict[str, Any]] = []
    display = Display()

    def write() -> None:
        if json_file is not None:
            json_file.parent.mkdir(parents=True, exist_ok=True)
            json_file.write_text(json.dumps(summarise(task, brain, mode, results), indent=1))

    write()
    with interruptible(), TrialProgress(trials) as bar:
        for each in options:
            folder = root / f"seed_{each.seed}"
            try:
                results.append(run_trial(each, folder, bar.step))
            except DeskhandError as error:
                raise DeskhandError(error.code, f"seed {each.seed}: {error.message}", hint=error.hint) from error
            except KeyboardInterrupt:
                if (folder / "result.json").is_file():
                    results.append(json.loads((folder / "result.json").read_text()))
                    write()
                raise
            bar.done(results[-1])
            write()
    display.table(summarise(task, brain, mode, results))
    if not all(ran_to_an_outcome(result) for result in results):
        raise typer.Exit(1)
