"""``deskhand trial``: the same task over many seeds, measured."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from deskhand.commands.campaign import CampaignOptions, campaign_options
from deskhand.commands.options import (
    TIMEOUT,
    AnswerTimeout,
    Arm,
    Brain,
    Composed,
    Fault,
    Images,
    Instruction,
    Local,
    Mode,
    Pace,
    Planner,
    Reality,
    RecordRate,
    Scene,
    Timeout,
    Without,
)
from deskhand.errors import DeskhandError

EXPERT_RATE = 10.0
"""[Hz] of demonstrations where no other rate is given."""


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("trial")(trial)


@campaign_options
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
    planner: Planner = "embedded",
    composed: Composed = False,
    pace: Pace = 0.0,
    without: Without = None,
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
    json_file: Annotated[Path | None, typer.Option("--json", help="Write the results; also while it runs.")] = None,
    episodes: Annotated[Path | None, typer.Option(help="Folder for the records. Default: a new one in ./episodes.")] = None,
    record_rate: RecordRate = 0.0,
    expert: Annotated[
        bool, typer.Option("--expert", help=f"Make demonstrations: offline brain, samples at {EXPERT_RATE:.0f} Hz, records of successes alone are kept.")
    ] = False,
    *,
    how: CampaignOptions,
) -> None:
    """Run a task over many seeds and say how often it succeeds, how long it takes and where the time goes.

    With --instruction the robot's own word on success is all there is; the scene of the task, or of --scene, is as ever.

    The exit code is 0 when every trial ran to an outcome, good or bad; 1 when one was cut short (a node died, a time limit, a fault of deskhand).
    """
    from deskhand.trials.base import TrialOptions, prepare
    from deskhand.trials.campaign import trial_campaign
    from deskhand.trials.console import Display, describe
    from deskhand.trials.trial import episode_folder
    from deskhand.trials.trials import ran_to_an_outcome

    if bool(task) == bool(scene):
        raise DeskhandError("invalid_input", "give the name of a task, such as desk_cleaning, or --scene FILE, and not both.")
    one = TrialOptions(task, seed, scene, instruction, arm, brain, mode, local, timeout, fault, driver, servos, sim)
    one = replace(one, answer_timeout=answer_timeout, images=images, reality=reality, planner=planner, composed=composed, pace=pace)
    one = replace(one, without=tuple(without or ()))
    if expert:
        one = replace(one, record_rate=record_rate or EXPERT_RATE)
        if brain != "offline":
            raise DeskhandError("invalid_input", "--expert makes demonstrations with the offline brain; leave --brain out.")
    else:
        one = replace(one, record_rate=record_rate)
    prepare(one)
    root = episodes or episode_folder(one, f"{trials}_trials")
    campaign = trial_campaign(one, range(seed, seed + trials), root, only_successes=expert)
    known = episodes is not None or not how.resume
    ran = how.run(campaign, json_file, describe, root / f"results{how.part}.jsonl" if known else None)
    if ran.results:
        Display().table(ran.summary)
    if ran.failed or not all(ran_to_an_outcome(result) for result in ran.results):
        raise typer.Exit(1)
