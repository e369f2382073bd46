"""``deskhand trial``: the same task over many seeds, measured."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from deskhand.commands.options import TIMEOUT, AnswerTimeout, Arm, Brain, Fault, Images, Instruction, Local, Mode, Reality, Scene, Timeout
from deskhand.errors import DeskhandError


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("trial")(trial)


def trial(
    task: Annotated[str, typer.Argument(help="Name of a task, for example desk_cleaning; may be left out with --scene.")] = "",
    trials: Annotated[int, typer.Option(min=1, help="How many; each has the next seed.")] = 1,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the first.")] = 0,
    instruction: Instruction = None,
    scene: Scene = None,
    arm: Arm = "wx250s",
    brain: Brain = "offline",
    mode: Mode = "tools",
    images: Images = None,
    local: Local = False,
    fault: Fault = "",
    reality: Reality = "",
    driver: Annotated[
        str,
        typer.Option(
            help="Move the simulated arm by this driver over an emulated bus: one of the arm's file, for example hiwonder_rrc (jetarm) or feetech (so101)."
        ),
    ] = "",
    servos: Annotated[str, typer.Option(help="With --driver: what is wrong with the servos: real, worn or a YAML file (config/servos).")] = "",
    sim: Annotated[str, typer.Option(help="The simulation: mujoco (built in) or gazebo (Harmonic, where it is installed).")] = "mujoco",
    timeout: Timeout = TIMEOUT,
    answer_timeout: AnswerTimeout = 0.0,
    json_file: Annotated[Path | None, typer.Option("--json", help="Write the results; also after every trial.")] = None,
    episodes: Annotated[Path | None, typer.Option(help="Folder for the records. Default: a new one in ./episodes.")] = None,
) -> None:
    """Run a task over many seeds and say how often it succeeds, how long it takes and where the time goes.

    With --instruction the robot's own word on success is all there is; the scene of the task, or of --scene, is as ever.

    The exit code is 0 when every trial ran to an outcome, good or bad; 1 when one was cut short (a node died, a time limit, a fault of deskhand).
    """
    from deskhand.trials.base import TrialOptions, prepare
    from deskhand.trials.console import Display, TrialProgress, interruptible
    from deskhand.trials.trial import episode_folder, run_trial
    from deskhand.trials.trials import ran_to_an_outcome, summarise

    if bool(task) == bool(scene):
        raise DeskhandError("invalid_input", "give the name of a task, such as desk_cleaning, or --scene FILE, and not both.")
    one = TrialOptions(task, seed, scene, instruction, arm, brain, mode, local, timeout, fault, driver, servos, sim)
    one = replace(one, answer_timeout=answer_timeout, images=images, reality=reality)
    options = [replace(one, seed=number) for number in range(seed, seed + trials)]
    name = task or str(scene)
    prepare(options[0])
    root = episodes or episode_folder(options[0], f"{trials}_trials")
    results: list[dict[str, Any]] = []
    display = Display()

    def write() -> None:
        if json_file is not None:
            json_file.parent.mkdir(parents=True, exist_ok=True)
            json_file.write_text(json.dumps(summarise(name, brain, mode, results), indent=1))

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
    display.table(summarise(name, brain, mode, results))
    if not all(ran_to_an_outcome(result) for result in results):
        raise typer.Exit(1)
